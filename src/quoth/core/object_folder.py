"""Storage of files that several machines share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


class ObjectFolder(Protocol):
    """Files on storage that several machines share, by name; calls block, raise BackendError."""

    def below(self, name: str) -> ObjectFolder:
        """Return a folder in this one."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return a file's content, None where there is none."""
        ...

    def put(self, name: str, content: bytes) -> None:
        """Write a file in one step."""
        ...

    def upload(self, name: str, path: Path) -> None:
        """Write a local file; it is there once it is complete."""
        ...

    def download(self, name: str, path: Path) -> bool:
        """Write a file to a local path, complete or not at all; False if there is none."""
        ...

    def has(self, name: str) -> bool:
        """Return whether there is a file of this name, by one request."""
        ...

    def names(self) -> list[str]:
        """Return the names of all files, those in folders with their path."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; one that is not there is no error."""
        ...

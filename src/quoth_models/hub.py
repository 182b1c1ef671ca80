"""The protocol of the Hugging Face hub, as far as fetching a repository's files needs it.

``/api/models/NAME/revision/main?blobs=true`` lists the files with their sizes and checksums, and
``/NAME/resolve/COMMIT/FILE`` gives one, often by a redirect to another host.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quoth.core.errors import ConfigError
from quoth.ingest.sources.download import Server, get_json


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository.

    ``sha256`` is that of its content where it is large; small ones have git's ``blob`` id (SHA-1).
    """

    name: str
    size: int
    sha256: str | None
    blob: str | None

    def matches(self, path: Path) -> bool:
        """Return whether a file on disk has this file's size and checksum."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        with path.open("rb") as file:
            if self.sha256 is not None:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256
            content = b"blob %d\0" % self.size + file.read()
        return hashlib.sha1(content, usedforsecurity=False).hexdigest() == self.blob


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A repository at one commit, with its files by name; ``licence`` is what its card says."""

    name: str
    commit: str
    licence: str | None
    files: dict[str, HubFile]

    def path(self, file: str) -> str:
        """Return the path of a file at the hub."""
        return f"/{self.name}/resolve/{self.commit}/{quote(file)}"


async def read_repository(server: Server, name: str) -> HubRepository:
    """Ask a hub for the files of a repository; raises DocumentError, InputError and ConfigError."""
    found = await get_json(server, f"/api/models/{name}/revision/main?blobs=true")
    try:
        files = [_file(each) for each in found["siblings"]]
        card = found.get("cardData")
        return HubRepository(
            name=name,
            commit=str(found["sha"]),
            licence=str(card["license"]) if card and card.get("license") else None,
            files={file.name: file for file in files},
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise ConfigError(
            f"The server {server.url} does not list the files of {name} as a hub does. Check the "
            "address in QUOTH_MODELS_HUB."
        ) from None


def _file(entry: dict[str, Any]) -> HubFile:
    large = entry.get("lfs") or {}
    size = int(large.get("size", entry["size"]))
    if size < 0:
        raise ValueError(entry["rfilename"])
    sha256 = large.get("sha256")
    return HubFile(
        str(entry["rfilename"]),
        size,
        None if sha256 is None else str(sha256),
        None if entry.get("blobId") is None else str(entry["blobId"]),
    )

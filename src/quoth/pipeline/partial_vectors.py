"""Vectors of a large document while it is embedded, so that a stop costs one part at most.

They are derived: a part that is missing or damaged is embedded again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from quoth.core.protocols import Matrix, TokenRows
from quoth.core.replace_file import replacing
from quoth.core.settings import Settings
from quoth.core.types import Chunk
from quoth.store.rows import digest, tokens_folder

STALE_DAYS = 7.0
"""Days after which the parts of a document that was never completed are deleted."""

Embedded = tuple[Matrix, list[TokenRows]]


class PartialVectors:
    """The embedded parts of one document; ``model`` names what embeds them."""

    def __init__(self, settings: Settings, document_id: str, *, model: str) -> None:
        self._folder = _folder(settings) / document_id
        self._model = model

    def load(self, chunks: Sequence[Chunk]) -> Embedded | None:
        """Return the vectors of these chunks and their tokens' if they were saved."""
        try:
            path = self._path(chunks)
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                rows, ends = saved["rows"], saved["ends"]
                tokens = np.split(saved["tokens"], ends[:-1]) if len(ends) else []
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None
        return (rows, tokens) if len(rows) == len(chunks) else None

    def save(self, chunks: Sequence[Chunk], embedded: Embedded) -> None:
        """Save the vectors of these chunks; without room they are embedded again after a stop."""
        rows, tokens = embedded
        path = self._path(chunks)
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(path) as draft, draft.open("wb") as file:
                np.savez(
                    file,
                    rows=rows,
                    ends=np.cumsum([len(each) for each in tokens], dtype=np.int64),
                    tokens=np.concatenate(tokens) if tokens else np.zeros(0, np.uint8),
                )

    def delete(self) -> None:
        """Delete all parts of the document."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, chunks: Sequence[Chunk]) -> Path:
        return self._folder / f"{digest(self._model, *(chunk.chunk_id for chunk in chunks))}.npz"


def delete_stale_vectors(settings: Settings) -> None:
    """Delete the parts of a tenant's documents that were not completed in `STALE_DAYS`."""
    with suppress(OSError):
        for folder in list(_folder(settings).iterdir()):
            if time.time() - folder.stat().st_mtime > STALE_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)


def _folder(settings: Settings) -> Path:
    return tokens_folder(settings) / "partial"

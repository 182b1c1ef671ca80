"""Token vectors on disk, in few bytes each, for rerankers that compare tokens.

One file holds a document's chunks and appears in one step. What is here is derived: a file that
is missing, damaged or made by another model only means that its vectors are computed again. A
document's id follows from its content, so a file never grows old.

A file is: "QTOK2", three zero bytes, the number of chunks, the bytes of a token, the CRC-32 of
what follows before the tokens; then the end of each chunk counted in tokens, the CRC-32 of each
chunk's tokens (all uint32, little-endian), and the tokens, row after row. What is read is checked
when it is read: a look at whole files would cost more than the search. Files of the time before
the checksums ("QTOK1") lack them, and are read as they are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from quoth.errors import RerankError, StorageFull
from quoth.types import Chunk

MAGIC = b"QTOK2\0\0\0"
UNCHECKED = b"QTOK1\0\0\0"
ENDING = ".tokens"
OPEN_FILES = 256
"""Documents whose file stays mapped."""

Packed = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint32]
Held = tuple[Numbers, Packed, Numbers | None]
"""A document as it is mapped: the end of each chunk, the rows of all, the checksum of each."""


class TokenStore:
    """The token vectors of documents, ``width`` bytes each.

    ``folder`` is for one model: another model's vectors belong into another folder. It is safe
    to use from several threads, and from processes that read while one writes.
    """

    def __init__(self, folder: Path, *, width: int) -> None:
        self._folder = folder
        self._width = width
        self._open: OrderedDict[str, Held] = OrderedDict()
        self._alone = Lock()

    def put(self, document_id: str, chunks: Mapping[int, Packed]) -> None:
        """Add a document's chunks by ordinal to those that are there, in one step.

        Raises StorageFull and RerankError.
        """
        held = self._document(document_id)
        count = max(max(chunks, default=-1) + 1, len(held[0]) if held else 0)
        rows = [chunks[at] if at in chunks else self._rows(held, at) for at in range(count)]
        ends = np.cumsum([0, *(len(each) for each in rows)], dtype=np.uint32)[1:]
        whole = [np.ascontiguousarray(each).tobytes() for each in rows]
        checks = np.array([zlib.crc32(each) for each in whole], np.uint32)
        head = ends.astype("<u4").tobytes() + checks.astype("<u4").tobytes()
        about = MAGIC + np.array([count, self._width, zlib.crc32(head)], "<u4").tobytes()
        path = self._path(document_id)
        draft = path.with_suffix(f".{os.getpid()}.draft")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                file.write(about + head)
                file.writelines(whole)
            draft.replace(path)
        except OSError as error:
            raise _failure(error, path) from error
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        with self._alone:
            self._open.pop(path.name, None)

    def get(self, chunks: Sequence[Chunk]) -> dict[str, Packed]:
        """Give the stored rows of those chunks that are there, by chunk id."""
        found = {}
        for chunk in chunks:
            rows = self._rows(self._document(chunk.document_id), chunk.ordinal)
            if len(rows):
                found[chunk.chunk_id] = rows
        return found

    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove documents; those that are not there are gone already."""
        for document_id in document_ids:
            path = self._path(document_id)
            with self._alone:
                self._open.pop(path.name, None)
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def has(self, document_id: str) -> bool:
        """Say whether a document has its vectors here."""
        return self._document(document_id) is not None

    def keep_only(self, document_ids: Iterable[str], *, all_models: bool = False) -> int:
        """Remove all other documents and give their number; of this model, or of all beside it."""
        kept = {self._path(each).name for each in document_ids}
        folders = self._folder.parent.glob("*") if all_models else (self._folder,)
        files = (path for folder in folders for path in folder.glob(f"*/*{ENDING}"))
        strangers = [path for path in files if path.name not in kept]
        for path in strangers:
            with self._alone:
                self._open.pop(path.name, None)
            path.unlink(missing_ok=True)
        return len(strangers)

    def size(self) -> int:
        """Count the bytes of all files."""
        return sum(path.stat().st_size for path in self._folder.glob(f"*/*{ENDING}"))

    def drop(self) -> None:
        """Remove everything."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Let go of the files."""
        with self._alone:
            self._open.clear()

    def _path(self, document_id: str) -> Path:
        name = blake2b(document_id.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return self._folder / name[:2] / f"{name}{ENDING}"

    def _rows(self, held: Held | None, ordinal: int) -> Packed:
        """Give one chunk's rows, none where it is not there."""
        if held is None or ordinal >= len(held[0]):
            return np.zeros((0, self._width), np.uint8)
        ends, rows, checks = held
        found = rows[int(ends[ordinal - 1]) if ordinal else 0 : int(ends[ordinal])]
        if checks is not None and zlib.crc32(found.tobytes()) != checks[ordinal]:
            return np.zeros((0, self._width), np.uint8)
        return found

    def _document(self, document_id: str) -> Held | None:
        path = self._path(document_id)
        with self._alone:
            if path.name in self._open:
                self._open.move_to_end(path.name)
                return self._open[path.name]
        held = self._map(path)
        if held is not None:
            with self._alone:
                self._open[path.name] = held
                while len(self._open) > OPEN_FILES:
                    self._open.popitem(last=False)
        return held

    def _map(self, path: Path) -> Held | None:
        try:
            content = np.memmap(path, np.uint8, "r")
        except (OSError, ValueError):  # ValueError: an empty file cannot be mapped
            return None
        magic = content[: len(MAGIC)].tobytes()
        checked = magic == MAGIC
        start = len(MAGIC) + (12 if checked else 8)
        if len(content) < start or magic not in (MAGIC, UNCHECKED):
            return None
        count, width, *check = np.frombuffer(content[len(MAGIC) : start], "<u4").tolist()
        middle = start + 4 * count
        body = middle + 4 * count if checked else middle
        if width != self._width or len(content) < body:
            return None
        if checked and zlib.crc32(content[start:body].tobytes()) != check[0]:
            return None
        ends = np.frombuffer(content[start:middle], "<u4").copy()
        checks = np.frombuffer(content[middle:body], "<u4").copy() if checked else None
        tokens = int(ends[-1]) if count else 0
        if (
            len(content) != body + tokens * self._width
            or (np.diff(ends.astype(np.int64)) < 0).any()
        ):
            return None
        return ends, np.asarray(content[body:]).reshape(tokens, self._width), checks


def _failure(error: OSError, path: Path) -> StorageFull | RerankError:
    reason = f"The token vectors could not be written to {path.parent}: {error.strerror}."
    if error.errno in (28, 122):  # no space left on the device, quota exceeded
        return StorageFull(f"{reason} Free some space there, or set QUOTH_TOKEN_VECTORS=false.")
    return RerankError(f"{reason} Look at the folder, or set QUOTH_TOKEN_VECTORS=false.")

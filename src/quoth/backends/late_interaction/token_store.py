"""Files of token vectors, one per document."""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from quoth.backends.late_interaction.encoding import Packed
from quoth.core.errors import RerankError, StorageFull
from quoth.core.replace_file import replacing
from quoth.core.types import Chunk

MAGIC = b"QTOK2\0\0\0"
UNCHECKED = b"QTOK1\0\0\0"
ENDING = ".tokens"
FIRST_BYTES = 4096
"""What is read of a file at once: the head of all but long documents."""
Numbers = npt.NDArray[np.uint32]


class TokenFileHeader(NamedTuple):
    """File header: end of each chunk, offset of the tokens, checksum of each chunk."""

    ends: Numbers
    body: int
    checks: Numbers | None


@dataclass(frozen=True, slots=True)
class TokenStore:
    """The token vectors of documents, ``width`` bytes each.

    ``folder`` is for one model only. Safe for concurrent threads, and for processes that read while
    one writes.
    """

    folder: Path
    width: int

    def put(self, document_id: str, chunks: Mapping[int, Packed]) -> None:
        """Add a document's chunks by ordinal to those that are there, in one step.

        Raises StorageFull and RerankError.
        """
        kept = self._read(document_id)
        count = max((at + 1 for at in (*chunks, *kept)), default=0)
        none = np.zeros((0, self.width), np.uint8)
        rows = [chunks[at] if at in chunks else kept.get(at, none) for at in range(count)]
        ends = np.cumsum([0, *(len(row) for row in rows)], dtype=np.uint32)[1:]
        whole = [np.ascontiguousarray(row).tobytes() for row in rows]
        checks = np.array([zlib.crc32(each) for each in whole], np.uint32)
        head = ends.astype("<u4").tobytes() + checks.astype("<u4").tobytes()
        about = MAGIC + np.array([count, self.width, zlib.crc32(head)], "<u4").tobytes()
        path = self._path(document_id)
        try:
            with replacing(path) as draft, draft.open("wb") as file:
                file.write(about + head)
                file.writelines(whole)
        except OSError as error:
            raise _failure(error, path) from error

    def get(self, chunks: Sequence[Chunk]) -> dict[str, Packed]:
        """Return the stored rows of those chunks that are there, by chunk id."""
        wanted: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            wanted.setdefault(chunk.document_id, []).append(chunk)
        found: dict[str, Packed] = {}
        for document_id, of_it in wanted.items():
            rows = self._read(document_id, [chunk.ordinal for chunk in of_it])
            found.update(
                (chunk.chunk_id, rows[chunk.ordinal]) for chunk in of_it if chunk.ordinal in rows
            )
        return found

    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove documents; missing ones are ignored."""
        for document_id in document_ids:
            with contextlib.suppress(FileNotFoundError):
                self._path(document_id).unlink()

    def damaged(self) -> list[str]:
        """Return the names of the files of this model whose bytes are not as they were written."""
        return sorted(
            path.name for path in self.folder.glob(f"*/*{ENDING}") if not self._is_whole(path)
        )

    def _is_whole(self, path: Path) -> bool:
        with path.open("rb", buffering=0) as file:
            head = self._head(file)
            if head is None:
                return False
            if head.checks is None:
                return True
            lengths = np.diff(head.ends, prepend=0)
            rows = (len(self._rows(file, head, ordinal=at)) for at in range(len(lengths)))
            size = head.body + int(lengths.sum()) * self.width
            return [*rows] == lengths.tolist() and path.stat().st_size == size

    def keep_only(self, document_ids: Iterable[str]) -> int:
        """Remove all other documents, of other models too; return their number."""
        kept = {self._path(document_id).name for document_id in document_ids}
        files = self.folder.parent.glob(f"*/*/*{ENDING}")
        strangers = [path for path in files if path.name not in kept]
        for path in strangers:
            path.unlink(missing_ok=True)
        return len(strangers)

    def _path(self, document_id: str) -> Path:
        name = blake2b(document_id.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return self.folder / name[:2] / f"{name}{ENDING}"

    def _read(self, document_id: str, ordinals: Sequence[int] | None = None) -> dict[int, Packed]:
        """Return the stored rows of these chunks of a document; None means all chunks.

        No file stays open: mapping a file takes longer than reading a chunk, and the passages of a
        query come from many documents.
        """
        found: dict[int, Packed] = {}
        try:
            with self._path(document_id).open("rb", buffering=0) as file:
                head = self._head(file)
                if head is None:
                    return found
                for at in range(len(head.ends)) if ordinals is None else ordinals:
                    rows = self._rows(file, head, ordinal=at)
                    if len(rows):
                        found[at] = rows
        except OSError:
            return found
        return found

    def _rows(self, file: BinaryIO, head: TokenFileHeader, *, ordinal: int) -> Packed:
        """Read one chunk's rows; empty where they are missing or damaged."""
        if ordinal >= len(head.ends):
            return np.zeros((0, self.width), np.uint8)
        first = int(head.ends[ordinal - 1]) if ordinal else 0
        wanted = (int(head.ends[ordinal]) - first) * self.width
        file.seek(head.body + first * self.width)
        content = file.read(wanted)
        spoilt = head.checks is not None and zlib.crc32(content) != head.checks[ordinal]
        if spoilt or len(content) != wanted:
            content = b""
        return np.frombuffer(content, np.uint8).reshape(-1, self.width)

    def _head(self, file: BinaryIO) -> TokenFileHeader | None:
        """Read the header of a file, None for a damaged one."""
        size = os.fstat(file.fileno()).st_size
        begin = file.read(FIRST_BYTES)
        magic = begin[: len(MAGIC)]
        checked = magic == MAGIC
        start = len(MAGIC) + (12 if checked else 8)
        if len(begin) < start or magic not in (MAGIC, UNCHECKED):
            return None
        count, width, *check = struct.unpack(f"<{(start - len(MAGIC)) // 4}I", begin[8:start])
        middle = start + 4 * count
        body = middle + 4 * count if checked else middle
        if width != self.width or size < body:
            return None
        if body > len(begin):
            begin += file.read(body - len(begin))
        if len(begin) < body or (checked and zlib.crc32(begin[start:body]) != check[0]):
            return None
        ends = np.frombuffer(begin, "<u4", count, offset=start)
        checks = np.frombuffer(begin, "<u4", count, offset=middle) if checked else None
        tokens = int(ends[-1]) if count else 0
        if size != body + tokens * width or (ends[1:] < ends[:-1]).any():
            return None
        return TokenFileHeader(ends, body, checks)


def _failure(error: OSError, path: Path) -> StorageFull | RerankError:
    reason = f"The token vectors could not be written to {path.parent}: {error.strerror}."
    if error.errno in (28, 122):  # no space left on the device, quota exceeded
        return StorageFull(f"{reason} Free some space there, or set QUOTH_TOKEN_VECTORS=false.")
    return RerankError(f"{reason} Look at the folder, or set QUOTH_TOKEN_VECTORS=false.")

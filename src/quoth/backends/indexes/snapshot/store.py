"""Segments on disk: one file for each, and a manifest that names those of the active snapshot.

Segments are derived data: where one is missing or damaged the table answers, until the next write
or build replaces it.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import shutil
import uuid
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from quoth.backends.indexes.checksum import file_checksum
from quoth.backends.indexes.snapshot.search import Part, Snapshot
from quoth.backends.indexes.snapshot.segment import Numbers, Segment

FORMAT = 4
SEGMENT_ROWS = 250_000
"""Rows of a full segment: it is not merged any more."""
ALIGNED = 64
"""Each array of a file begins at a multiple of so many bytes."""
SIGNED = 32
"""Characters of the manifest's digest, its first line."""
TRIES = 3

Version = tuple[int, int]
"""The version of a table and its number of rows."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A segment of the manifest: its file, size, CRC-32, and the mask of rows that are there."""

    name: str
    size: int
    crc: int
    alive: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The active segments, and the version of the table that they were made of."""

    version: Version
    segments: tuple[Stored, ...]


class SegmentStore:
    """The segments of one table in a folder; whoever writes holds the writer lock of the table."""

    def __init__(self, root: Path, table: str) -> None:
        self._root = root
        self._table = table
        self._seen: bytes | None = None
        self._loaded: dict[str, Segment] = {}
        self._lock = asyncio.Lock()
        self.latest: Snapshot | None = None
        """The snapshot that was searched last, found without looking at the disk."""

    # --- reading ------------------------------------------------------------------------------

    async def current(self) -> Snapshot | None:
        """Return the active snapshot, None where there is none; read again when it has changed."""
        if self._signature() != self._seen:
            async with self._lock:
                # Looked at before reading: a write meanwhile makes the next call read again.
                seen = self._signature()
                if seen != self._seen:
                    self.latest = await asyncio.to_thread(self._open) if seen else None
                    self._seen = seen
        return self.latest

    def manifest(self) -> Manifest | None:
        """Return the manifest, None where there is none that can be read."""
        try:
            digest, _, text = self.manifest_path.read_bytes().partition(b"\n")
            if digest != _digest(text):
                return None
            found = json.loads(text)
            if found["format"] != FORMAT:
                return None
            segments = tuple(Stored(**each) for each in found["segments"])
            return Manifest((found["version"][0], found["version"][1]), segments)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def parts(self, manifest: Manifest) -> list[Part]:
        """Return those segments of a manifest that are whole."""
        loaded = [(self._segment(each), each.alive) for each in manifest.segments]
        self._loaded = {segment.name: segment for segment, _ in loaded if segment}
        return [Part(each, _unpacked(alive, each.rows)) for each, alive in loaded if each]

    @property
    def manifest_path(self) -> Path:
        """The path of the manifest."""
        return self._root / f"{self._table}.scan.json"

    def close(self) -> None:
        """Release the segments."""
        self._seen, self._loaded, self.latest = None, {}, None

    # --- writing ------------------------------------------------------------------------------

    def write(self, arrays: Mapping[str, Numbers]) -> Segment:
        """Write a segment to a new file; it is active once a manifest names it."""
        name = f"{self._table}.{uuid.uuid4().hex[:12]}.scan"
        try:
            _write_arrays(self._root / name, arrays)
            checksum = file_checksum(self._root / name)
            segment = _map_segment(self._root / name, checksum=checksum)
        except BaseException:
            (self._root / name).unlink(missing_ok=True)
            raise
        self._loaded = {**self._loaded, name: segment}
        return segment

    def activate(self, parts: Sequence[Part], *, version: Version) -> None:
        """Replace the manifest in one step, and remove the files that it does not name."""
        named = [
            Stored(part.segment.name, *part.segment.checksum, _packed(part.alive)) for part in parts
        ]
        content = {"format": FORMAT, "version": version, "segments": [asdict(one) for one in named]}
        text = json.dumps(content, separators=(",", ":")).encode()
        draft = self.manifest_path.with_suffix(".tmp")
        draft.write_bytes(_digest(text) + b"\n" + text)
        draft.replace(self.manifest_path)
        self._remove_except({each.name for each in named})

    def remove(self) -> None:
        """Remove the manifest and every segment of the table."""
        self.manifest_path.unlink(missing_ok=True)
        self._remove_except(set())

    # --- files --------------------------------------------------------------------------------

    def _signature(self) -> bytes | None:
        """Return the digest of the manifest, which changes with every write."""
        # Called three times per query: building paths would take longer than reading.
        try:
            with open(f"{self._root}{os.sep}{self._table}.scan.json", "rb", buffering=0) as file:
                return file.read(SIGNED)
        except OSError:
            return None

    def _open(self) -> Snapshot | None:
        """Read the snapshot; a segment that a writer has just removed has a newer manifest."""
        for _ in range(TRIES):
            manifest = self.manifest()
            if manifest is None:
                break
            parts = self.parts(manifest)
            if len(parts) == len(manifest.segments):
                return Snapshot(parts)
        return None

    def _segment(self, stored: Stored) -> Segment | None:
        """Map a segment's file into memory after checking it; None for one that is damaged."""
        if stored.name in self._loaded:
            return self._loaded[stored.name]
        path, checksum = self._root / stored.name, (stored.size, stored.crc)
        try:
            if path.stat().st_size != stored.size or file_checksum(path) != checksum:
                return None
            return _map_segment(path, checksum=checksum)
        except (OSError, ValueError, KeyError):
            return None

    def _remove_except(self, kept: set[str]) -> None:
        for path in self._root.glob(f"{self._table}.*.scan"):
            if path.name not in kept:
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():  # of an earlier format
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):  # some systems keep files that a search still reads
        path.unlink()


def _write_arrays(path: Path, arrays: Mapping[str, Numbers]) -> None:
    """Write arrays to a file: the size of a JSON header, the header, the arrays."""
    at, header = 0, {}
    for name, array in arrays.items():
        header[name] = (array.dtype.str, array.shape, at)
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGNED)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
            file.write(b"\0" * (-array.nbytes % ALIGNED))


def _map_segment(path: Path, *, checksum: tuple[int, int]) -> Segment:
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    whole = np.frombuffer(mapped, np.uint8)
    begin = 8 + int.from_bytes(mapped[:8], "little")
    arrays: dict[str, Any] = {}
    for name, (kind, shape, at) in json.loads(mapped[8:begin]).items():
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        arrays[name] = whole[begin + at : begin + at + size].view(kind).reshape(shape)

    def release() -> None:
        if hasattr(mapped, "madvise"):
            mapped.madvise(mmap.MADV_DONTNEED)

    return Segment(arrays, name=path.name, checksum=checksum, release=release)


def _packed(alive: Numbers | None) -> str:
    return "" if alive is None else b64encode(zlib.compress(np.packbits(alive).tobytes())).decode()


def _unpacked(text: str, rows: int) -> Numbers | None:
    if not text:
        return None
    bits = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8)
    return np.unpackbits(bits, count=rows).view(np.bool_)


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=SIGNED // 2).hexdigest().encode()

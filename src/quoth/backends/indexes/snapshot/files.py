"""The files of a snapshot: one of arrays for each segment, and the manifest that names them."""

from __future__ import annotations

import json
import mmap
import shutil
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from quoth.backends.indexes.snapshot.search import Part
from quoth.backends.indexes.snapshot.segment import Numbers, Segment

FORMAT = 4
BLOCK_BYTES = 1 << 20
ALIGNED = 64
"""Each array of a file begins at a multiple of so many bytes."""
SIGNED = 32
"""Characters of the manifest's digest, its first line."""

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


def file_checksum(path: Path) -> tuple[int, int]:
    """Return a file's size in bytes and its CRC-32; raises OSError."""
    size, crc = 0, 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(BLOCK_BYTES):
            size, crc = size + len(block), zlib.crc32(block, crc)
    return size, crc


def read_manifest(content: bytes) -> Manifest | None:
    """Return a manifest, None for a damaged one or that of another format."""
    try:
        digest, _, text = content.partition(b"\n")
        if digest != _digest(text):
            return None
        found = json.loads(text)
        if found["format"] != FORMAT:
            return None
        segments = tuple(Stored(**each) for each in found["segments"])
        return Manifest((found["version"][0], found["version"][1]), segments)
    except (ValueError, KeyError, TypeError):
        return None


def write_manifest(parts: Sequence[Part], *, version: Version) -> bytes:
    """Return the content of a manifest: its digest, and JSON."""
    named = [
        asdict(Stored(part.segment.name, *part.segment.checksum, _packed(part.alive)))
        for part in parts
    ]
    whole = {"format": FORMAT, "version": version, "segments": named}
    text = json.dumps(whole, separators=(",", ":")).encode()
    return _digest(text) + b"\n" + text


def remove_file(path: Path) -> None:
    """Remove a segment, or the folder that one was in an earlier format."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):  # some systems keep files that a search still reads
        path.unlink()


def write_arrays(path: Path, arrays: Mapping[str, Numbers]) -> None:
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


def map_segment(path: Path, *, checksum: tuple[int, int]) -> Segment:
    """Map a file of arrays into memory; raises OSError, ValueError and KeyError."""
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


def unpack_mask(text: str, rows: int) -> Numbers:
    """Return for each row whether it is there."""
    bits = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8)
    return np.unpackbits(bits, count=rows).view(np.bool_)


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=SIGNED // 2).hexdigest().encode()

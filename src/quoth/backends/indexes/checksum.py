"""The checksum of a file."""

from __future__ import annotations

import zlib
from pathlib import Path

BLOCK_BYTES = 1 << 20


def file_checksum(path: Path) -> tuple[int, int]:
    """Return a file's size in bytes and its CRC-32; raises OSError."""
    size, crc = 0, 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(BLOCK_BYTES):
            size, crc = size + len(block), zlib.crc32(block, crc)
    return size, crc

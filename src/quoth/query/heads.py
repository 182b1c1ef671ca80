"""Two small linear classifiers: query intents and follow-ups.

Their features are hashed n-grams of words, cues from phrase tables and, where the default embedder
computed it, the query's vector. `scripts/train_query_heads.py` trains them from the ``dev`` rows of
``eval`` and writes ``data/heads.npz``.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from quoth.core.protocols import Matrix
from quoth.query.tokens import FUNCTION_WORDS

BUCKETS = 4096
DIMENSION = 384
"""Dimension of the default embedder's vectors; vectors of other lengths are not used."""
VECTOR_WEIGHT, CUE_WEIGHT = 6.0, 1.5
MODEL = "multilingual-e5-small"
CHECKSUM = "e07abff0b32e7a696944a4a0189fbf7b0c1cffaaa6d43aa61abc160dccc2ea20"
"""SHA-256 of ``data/heads.npz``, which ``python scripts/train_query_heads.py`` makes."""

Array = npt.NDArray[np.float32]


def scores(
    head: str, words: Sequence[str], *, cues: Sequence[bool], vector: Matrix | None = None
) -> Array:
    """Return a score for each class; without a vector the n-gram variant is used."""
    weights = _weights()
    if vector is None or vector.shape != (DIMENSION,):
        return embed_features(words, cues) @ weights[f"{head}_words"]
    features = np.concatenate((scale_vector(vector), embed_features(words, cues)))
    return features @ weights[head]


def embed_features(words: Sequence[str], cues: Sequence[bool]) -> Array:
    """Return the hashed n-grams (unit length), the cues and a constant."""
    found = np.zeros(BUCKETS, np.float32)
    numbers = ["0" if word.isdecimal() else word for word in words]
    # Content words become one placeholder, so that only the form of a query counts.
    form = [word if word in FUNCTION_WORDS else "_" for word in numbers]
    for prefix, sequence in (("", numbers), ("~", form)):
        padded = ["^", *sequence, "$"]
        for size in (1, 2, 3):
            for at in range(len(padded) - size + 1):
                code = zlib.crc32((prefix + " ".join(padded[at : at + size])).encode())
                found[code % BUCKETS] += 1.0 if code & 0x10000 else -1.0
    length = float(np.linalg.norm(found))
    rest = np.array([*(CUE_WEIGHT * cue for cue in cues), 1.0], np.float32)
    return np.concatenate((found / length if length else found, rest))


def scale_vector(vector: Matrix) -> Array:
    """Return the embedding relative to the mean of the training queries."""
    return ((vector - _weights()["mean"]) * VECTOR_WEIGHT).astype(np.float32)


@cache
def _weights() -> dict[str, Array]:
    with (files("quoth.query") / "data" / "heads.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        return {name: stored[name].astype(np.float32) for name in stored.files}

"""Lexical weights of BGE-M3: a linear layer over the token vectors, beside the ONNX model.

After Chen et al., 2024, https://arxiv.org/abs/2402.03216: the weight of a token is the positive
part of its linear score, and a token that occurs repeatedly has its largest.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np
from cachetools import LRUCache

from quoth.backends.onnx.session import open_tokenizer
from quoth.core.errors import ConfigError
from quoth.core.protocols import Matrix, SparseWeights

HEAD = "sparse_linear.pt"
REMEMBERED = 4096
"""Texts whose weights are kept from the pass that embedded them, until they are asked for."""


class RecentWeights:
    """Weights of recently embedded texts, by their token ids; safe for concurrent threads."""

    def __init__(self) -> None:
        self._kept: LRUCache[bytes, SparseWeights] = LRUCache(REMEMBERED)
        self._lock = Lock()

    def get(self, ids: Sequence[int]) -> SparseWeights | None:
        """Return the weights of a text, None where they are not known."""
        with self._lock:
            return self._kept.get(_key(ids))

    def put(self, ids: Sequence[int], weights: SparseWeights) -> None:
        """Keep the weights of a text."""
        with self._lock:
            self._kept[_key(ids)] = weights


@dataclass(frozen=True, slots=True)
class LexicalHead:
    """The layer: a weight per number of a token vector, a bias, and the tokens without weights."""

    weight: Matrix
    bias: float
    special: frozenset[int]
    recent: RecentWeights = field(default_factory=RecentWeights)

    def weigh(self, ids: Sequence[int], states: Matrix) -> SparseWeights:
        """Return the weights of a text's tokens; ``states`` has the shape (tokens, width)."""
        scores = states @ self.weight + self.bias
        found: dict[int, float] = {}
        for token, score in zip(ids, scores.tolist(), strict=True):
            if score > found.get(token, 0.0) and token not in self.special:
                found[token] = score
        return found


def read_head(folder: Path) -> LexicalHead:
    """Return the layer in a model's folder; raises ConfigError.

    The file is a ZIP archive of torch. Only its tensors are read, as plain numbers: nothing in it
    is unpickled.
    """
    path = folder / HEAD
    try:
        with zipfile.ZipFile(path) as archive:
            parts = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
        half = b"BFloat16Storage" not in parts["data.pkl"]
        tensors = [content for name, content in parts.items() if name.startswith("data/")]
        bias, weight = sorted(tensors, key=len)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ConfigError(
            f"The lexical layer {path} cannot be read ({error}). Save the model's own file there, "
            "or remove it to search without it."
        ) from error
    width = len(bias)  # bytes of its one number
    if width not in (2, 4) or len(weight) % width:
        raise ConfigError(f"The lexical layer {path} does not hold one weight per number.")
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    special = tokenizer.get_added_tokens_decoder().items()
    return LexicalHead(
        _floats(weight, width, half),
        float(_floats(bias, width, half)[0]),
        frozenset(at for at, token in special if token.special),
    )


def _floats(data: bytes, width: int, half: bool) -> Matrix:
    if width == 4:
        return np.frombuffer(data, "<f4").astype(np.float32)
    if half:
        return np.frombuffer(data, "<f2").astype(np.float32)
    raised: Matrix = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    return raised


def _key(ids: Sequence[int]) -> bytes:
    return np.asarray(ids, np.int32).tobytes()

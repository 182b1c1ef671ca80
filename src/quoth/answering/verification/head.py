"""Probability of support from the features: boosted trees of `scripts/train_support.py`."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from quoth.core.errors import ConfigError

CHECKSUM = "02f672222eee1813da83fbaa413c64666bbb7baeb57ba79979f3a1362f747cff"
"""SHA-256 of the file of weights."""
FILE = "data/support.npz"


@dataclass(frozen=True, slots=True)
class SupportHead:
    """Boosted trees over named features; a claim is supported from ``threshold`` on.

    All nodes are in one row each: ``feature``, ``limit``, ``left`` and ``right``, a leaf having
    itself as both; ``roots`` are the first nodes of the trees.
    """

    names: tuple[str, ...]
    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    limit: npt.NDArray[np.float64]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    bias: float
    depth: int
    threshold: float

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability that a claim with these features is supported."""
        row = np.array([features[name] for name in self.names])
        node = self.roots
        for _ in range(self.depth):
            low = row[self.feature[node]] <= self.limit[node]
            node = np.where(low, self.left[node], self.right[node])
        return float(1 / (1 + np.exp(-(self.bias + self.value[node].sum()))))


@cache
def support_head() -> SupportHead:
    """Read the weights of the package; raises ConfigError for a damaged file."""
    content = files(__package__).joinpath(FILE).read_bytes()
    if hashlib.sha256(content).hexdigest() != CHECKSUM:
        raise ConfigError(f"The weights {FILE} are damaged. Install quoth again.")
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        arrays = {name: data[name] for name in data.files}
    return SupportHead(
        names=tuple(map(str, arrays.pop("names"))),
        bias=float(arrays.pop("bias")),
        depth=int(arrays.pop("depth")),
        threshold=float(arrays.pop("threshold")),
        **arrays,
    )

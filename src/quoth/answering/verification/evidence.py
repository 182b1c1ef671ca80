"""Chooses the sentences that may support a claim together, and scores the claim with them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from quoth.answering.verification.claim import Claim, read_claim
from quoth.answering.verification.features import FAULTS, support_features
from quoth.answering.verification.source_index import Sources, SourceSentence, read_line
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


MAX_EVIDENCE_SENTENCES = 3
"""Maximum number of sentences that support one claim together."""
MIN_ADDED = 0.12
"""Minimum share of a claim's weight that a further sentence must add."""


MIN_RECALL = 0.7
"""Minimum share of a claim's weight, related words included, that its evidence must have."""
MIN_SHARED_WORDS = 2
"""Minimum number of content words that a claim shares with its evidence."""
FAULT_FACTOR = 0.1
"""Factor applied to the probability of a claim with a fault."""


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """A claim with the sentences that decide on it, the best first.

    ``score`` is the probability of support, ``missing`` what the sentences do not have, such as
    "number 45".
    """

    lines: tuple[SourceSentence, ...]
    score: float
    missing: tuple[str, ...]
    covered: bool
    """Whether the sentences have enough of its words for a decision without a judge."""


def score_claim(
    statement: str, lines: Sequence[SourceSentence], *, sources: Sources
) -> ScoredClaim | None:
    """Score a claim with sentences of its language; None where they share no word."""
    if not lines:
        return None
    claim = read_claim(statement, language=lines[0].language, sources=sources)
    chosen = choose_evidence(claim, lines)
    if not chosen:
        return None
    read = [read_line(line) for line in chosen]
    features, missing = support_features(claim, read, sources=sources)
    score = support_head().probability(features)
    score *= FAULT_FACTOR if has_fault(features) else 1.0
    return ScoredClaim(chosen, score, missing, is_covered(features))


def has_fault(features: Mapping[str, float]) -> bool:
    """Return whether the features rule out that a claim is supported."""
    few = features["shared"] < MIN_SHARED_WORDS
    return few or any(features[name] > 0 for name in FAULTS)


def is_covered(features: Mapping[str, float]) -> bool:
    """Return whether the evidence has enough of a claim's words, related ones included."""
    return max(features["kin"], features["cover"]) >= MIN_RECALL


def choose_evidence(claim: Claim, lines: Sequence[SourceSentence]) -> tuple[SourceSentence, ...]:
    """Choose the sentence with the highest recall, and up to two that add to it.

    One word in common is no evidence: a further sentence adds two, or a number or a name.
    """
    chosen: list[SourceSentence] = []
    wanted = frozenset(claim.weights)
    values = {claim.tokens[value.first].stem for value in claim.values if value.sure}
    least = 1e-9
    while len(chosen) < MAX_EVIDENCE_SENTENCES and wanted:
        gains = [sum(claim.weights[stem] for stem in wanted & line.stems) for line in lines]
        best = max(range(len(lines)), key=gains.__getitem__)
        new = wanted & lines[best].stems
        if gains[best] < least or (chosen and len(new) < 2 and not new & values):
            break
        chosen.append(lines[best])
        wanted -= new
        least = MIN_ADDED * claim.weight
    return tuple(chosen)

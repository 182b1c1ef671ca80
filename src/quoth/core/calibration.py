"""What a collection was calibrated to: retriever weights and the probability of an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model: P = 1 / (1 + exp(−(bias + Σ weight · signal))), signals by name.

    ``questions`` is the number it was fitted on; ``source`` says on what.
    """

    bias: float
    weights: Mapping[str, float]
    questions: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What `quoth tune` fitted on a collection, for one index identity.

    ``dense_weight`` is vector search's share by language of the query ("" for any other).
    ``answerable`` models the probability that the collection answers a question, ``answer_from`` is
    its threshold; None means the default.
    """

    dense_weight: Mapping[str, float] = field(default_factory=dict)
    answerable: Calibration | None = None
    answer_from: float | None = None
    questions: int = 0
    made_at: str = ""


def logistic(odds: float) -> float:
    """Return the probability of log-odds, without overflow."""
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    return math.exp(odds) / (1 + math.exp(odds))

"""Calibration of a collection: retriever weights and score-to-probability models."""

from __future__ import annotations

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
    ``relevance`` models the probability that a ranked chunk is relevant, ``answerable`` that the
    collection answers the question at all; ``answer_from`` is the threshold of the latter. None
    means the default model.
    """

    dense_weight: Mapping[str, float] = field(default_factory=dict)
    relevance: Calibration | None = None
    answerable: Calibration | None = None
    answer_from: float | None = None
    questions: int = 0
    made_at: str = ""

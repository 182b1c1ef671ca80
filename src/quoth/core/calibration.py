"""What a collection has taught about itself: the weight of its legs and what its scores mean."""

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
    """What `quoth tune` learnt from a collection, for one index identity.

    ``dense_weight`` is the semantic leg's share by language of the question ("" for any other).
    ``relevance`` gives the probability that a ranked chunk is relevant, ``answerable`` that the
    collection answers the question at all; ``answer_from`` is the probability of the latter from
    which a question is answered. None means the shipped one.
    """

    dense_weight: Mapping[str, float] = field(default_factory=dict)
    relevance: Calibration | None = None
    answerable: Calibration | None = None
    answer_from: float | None = None
    questions: int = 0
    made_at: str = ""

"""Calibrated support probability from alignment features; figures: docs/decisions/024."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from quoth.core.calibration import Calibration

SUPPORTED = 0.7
"""The probability from which a statement without faults is supported."""
MIN_RECALL = 0.6
"""Minimum share of a statement's words, by weight, that its evidence must contain for more than
"partly": paraphrases with lower recall are never marked as supported."""
SURE = 0.8
"""The same where cosines decide: they reflect the topic of a sentence more than its claim."""
PARTLY = 0.4
"""The probability from which it is partly supported."""
FEATURES = (
    *("best", "cover", "pairs", "order", "kin", "rarest"),
    *("values", "names", "parity", "changes"),
)
"""The features of the model (`quoth.answering.verification.align.signals`)."""
MIN_SHARED_WORDS = 2
"""Minimum number of content words shared with the evidence for any support."""
FAULT_FACTOR = 0.1
"""Factor applied to the probability of a statement with a fault."""

SOURCE = "half of the claims of SciFact, quotations of their evidence, and others beside them"
WORDS = Calibration(
    bias=-2.716,
    weights=MappingProxyType(
        {
            "cover": 0.853,
            "pairs": 4.181,
            "order": 0.213,
            "kin": 1.45,
            "rarest": 1.911,
            "names": 0.31,
            "parity": 1.372,
        }
    ),
    questions=930,
    source=SOURCE,
)
FOREIGN = Calibration(
    bias=-5.8,
    weights=MappingProxyType({"stands_out": 1.685, "leads": 0.737}),
    questions=4419,
    source="sentences of XQuAD in four languages against the English passages",
)
"""The same across languages, from cosines."""


def support_probability(signs: Mapping[str, float], *, model: Calibration = WORDS) -> float:
    """Return the probability that the statement is supported."""
    total = model.bias + sum(
        weight * signs.get(name, 0.0) for name, weight in model.weights.items()
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

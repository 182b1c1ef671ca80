"""Calibrated support probability from alignment features; figures: docs/decisions/024."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from quoth.core.calibration import Calibration

SUPPORTED = 0.7
"""The probability from which a statement without faults is supported."""
HELD = 0.6
"""The part of a statement's words, by weight, that its proofs must hold for more than "partly":
what is likely and half said in other words has no green mark."""
SURE = 0.8
"""The same where cosines must tell: they see what a sentence is about before what it says of it."""
PARTLY = 0.4
"""The probability from which it is supported in part."""
SIGNS = (
    *("best", "cover", "pairs", "order", "kin", "rarest"),
    *("values", "names", "parity", "changes"),
)
"""What the model looks at (`quoth.answering.verification.align.signals`)."""
SHARED = 2
"""Words with a meaning that a statement must share with its proofs for any support."""
WRONG = 0.1
"""What is left of the probability where something in a statement is wrong."""

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
"""The same for a statement in another language than its source, from cosines."""


def support_probability(signs: Mapping[str, float], *, model: Calibration = WORDS) -> float:
    """Return the probability that the statement is supported."""
    total = model.bias + sum(
        weight * signs.get(name, 0.0) for name, weight in model.weights.items()
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

"""Combines an entailment judge's probability with the lexical one."""

from __future__ import annotations

import math

SHARE = 0.5
"""The judge's weight relative to the lexical probability."""
SUREST = 0.99


def combine_with_judge(words: float, judge: float, *, share: float = SHARE) -> float:
    """Return the mean of two probabilities in logit space, weighted by the judge's share.

    A logarithmic opinion pool (Genest and Zidek, 1986).
    """
    odds = (1 - share) * _log_odds(words) + share * _log_odds(judge)
    return 1 / (1 + math.exp(-odds))


def _log_odds(probability: float) -> float:
    held = min(SUREST, max(1 - SUREST, probability))
    return math.log(held / (1 - held))

"""How far the semantic leg can be trusted, told from its scores alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quoth.core.types import Scored

FULL_SPREAD = 0.05
"""Cosine between the first and the last of `FULL_LIST` hits, from which a leg keeps its weight."""
FULL_LIST = 100
LEAST = 0.1
"""What is left to a list whose hits are all alike: it still says which chunks were near."""


def score_separation(ranking: Sequence[Scored]) -> float:
    """Say how far a semantic ranking tells its chunks apart, from `LEAST` to 1.

    Fusion spreads the cosines of a list over 0 to 1, however near they are to each other; where
    they lie within less than `FULL_SPREAD`, most of what the spreading shows is noise. The trust
    is the list's spread over the one expected of its length, which grows with the logarithm of
    the length. A list of one tells nothing against itself. Measured: docs/decisions/014.
    """
    if len(ranking) < 2:
        return 1.0
    scores = [score for _chunk_id, score in ranking]
    expected = FULL_SPREAD * math.log(len(ranking)) / math.log(FULL_LIST)
    return min(1.0, max(LEAST, (max(scores) - min(scores)) / expected))

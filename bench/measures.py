"""The formulas of the bench: fusion, ranking quality, percentiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", str, int)


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[Key]], *, limit: int, k: int = 60
) -> list[tuple[Key, float]]:
    """Sum 1 / (k + rank) over the rankings, best first (Cormack et al., SIGIR 2009)."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])[:limit]


def ndcg(ranking: Sequence[str], judged: Mapping[str, int], *, depth: int = 10) -> float:
    """Discounted gain over the ideal one, log2 discount, linear gain (Järvelin, TOIS 2002)."""
    gain = sum(judged.get(key, 0) / math.log2(at + 2) for at, key in enumerate(ranking[:depth]))
    ideal = sorted(judged.values(), reverse=True)[:depth]
    return gain / sum(grade / math.log2(at + 2) for at, grade in enumerate(ideal))


def recall(ranking: Sequence[str], judged: Mapping[str, int], *, depth: int = 10) -> float:
    """Return the share of the relevant keys among the first `depth`."""
    return sum(key in judged for key in ranking[:depth]) / len(judged)


def percentile(values: Sequence[float], share: float) -> float:
    """Interpolate linearly between the two nearest ranks; `share` is from 0 to 1."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

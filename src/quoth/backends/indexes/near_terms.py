"""The known terms that an unknown term of a query may misspell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

NEAR_WEIGHT = 0.5
"""Weight of all terms together that take the place of an unknown one (docs/decisions/042)."""
MAX_NEAR = 3
MIN_LETTERS = 4


def near_terms(term: str, *, known: Sequence[str], limit: int | None = MAX_NEAR) -> list[str]:
    """Return up to ``limit`` terms at edit distance one (F. Damerau, 1964), in their order.

    One letter too few, too many or another one, or two exchanged; none for short terms and numbers.
    """
    if len(term) < MIN_LETTERS or any(character.isdigit() for character in term):
        return []
    found = process.extract(term, known, scorer=OSA.distance, score_cutoff=1, limit=limit)
    return [near for near, _distance, _place in found]


def weigh_terms(terms: Sequence[str], *, known: Sequence[str]) -> dict[str, float]:
    """Return the terms to search for with their weights: how often each stands in the query.

    In place of an unknown term stand its nearest known ones, with `NEAR_WEIGHT` together.
    """
    weights: dict[str, float] = {}
    there = frozenset(known)
    for term, times in Counter(terms).items():
        near = [term] if term in there else near_terms(term, known=known)
        share = 1.0 if term in there else NEAR_WEIGHT / max(1, len(near))
        for each in near:
            weights[each] = weights.get(each, 0.0) + times * share
    return weights

"""Exact cosine, BM25 and filters over the segments of one version of an index.

Comparison with approximate (graph) indexes: docs/decisions/012.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from quoth.backends.indexes.snapshot.segment import FEW_ROWS, Numbers, Segment, encode_key
from quoth.core.protocols import Matrix
from quoth.core.types import Filter, Scored
from quoth.text.near_terms import MAX_NEAR, NEAR_WEIGHT, near_terms

K1 = 1.2
B = 0.75
OVERSAMPLING = 2.2
"""Rows per result that the 4-bit product passes to the 16-bit vectors."""

GROUP = 64
"""Rows of which the highest score is looked at first; they lie apart, as neighbours are alike."""

_SEARCHERS = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="segments")
"""Search the vectors of several segments at once: half the time on two cores."""

Ranked = tuple[Numbers, Numbers]
"""Rows and their scores."""


@dataclass(frozen=True, slots=True)
class Part:
    """A segment, and for each of its rows whether it is still there; None: all of them."""

    segment: Segment
    alive: Numbers | None = None

    @property
    def count(self) -> int:
        """Return how many rows are there."""
        return self.segment.rows if self.alive is None else int(np.count_nonzero(self.alive))

    def mask(self) -> Numbers:
        """Return for each row whether it is there."""
        return np.ones(self.segment.rows, np.bool_) if self.alive is None else self.alive

    def without(self, rows: Numbers) -> Part:
        """Return the part after rows were removed."""
        if not len(rows):
            return self
        alive = self.mask().copy()
        alive[rows] = False
        return replace(self, alive=alive)

    def frequency(self, key: int) -> int:
        """Return how many rows have a term."""
        rows, _ = self.segment.terms(key)
        return len(rows) if self.alive is None else int(np.count_nonzero(self.alive[rows]))

    def nearest(self, vector: Matrix, *, limit: int, filters: Sequence[Filter]) -> Ranked:
        """Return the rows with the highest cosines."""
        mask = self._mask(filters)
        rows = np.arange(self.segment.rows) if mask is None else np.flatnonzero(mask)
        if len(rows) > FEW_ROWS:
            rough = self.segment.rough_cosines(vector)
            if mask is not None:
                rough[~mask] = -np.inf
            rows = top_k(rough, int(limit * OVERSAMPLING) + 20)
            rows = rows if mask is None else rows[mask[rows]]
        scores = self.segment.vectors(rows) @ vector
        best = top_k(scores, limit)
        return rows[best], scores[best]

    def match(
        self, weights: Mapping[int, float], *, mean: float, limit: int, filters: Sequence[Filter]
    ) -> Ranked:
        """Return the rows with the highest BM25 scores; ``weights`` are those of term keys."""
        sums = np.zeros(self.segment.rows, np.float32)
        for key, weight in weights.items():
            rows, counts = self.segment.terms(key)
            often = counts.astype(np.float32)
            norm = self.segment.arrays["lengths"][rows] * np.float32(K1 * B / mean)
            norm += np.float32(K1 * (1 - B))
            sums[rows] += often * np.float32(weight * (K1 + 1)) / (often + norm)
        mask = self._mask(filters)
        found = np.flatnonzero(sums > 0 if mask is None else (sums > 0) & mask)
        best = found[top_k(sums[found], limit)]
        return best, sums[best]

    def _mask(self, filters: Sequence[Filter]) -> Numbers | None:
        """Return for each row whether it is there and meets every filter; None: all do."""
        mask = self.alive
        for condition in filters:
            met = self.segment.meets(condition)
            mask = met if mask is None else mask & met
        return mask


class Snapshot:
    """An immutable snapshot of one version of an index: what its segments hold together."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        self.count = sum(part.count for part in self.parts)
        terms = 0
        for part in self.parts:
            lengths = part.segment.arrays["lengths"]
            terms += int((lengths if part.alive is None else lengths[part.alive]).sum())
        self._mean = max(1.0, terms / max(1, self.count))

    def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        search = partial(Part.nearest, vector=vector, limit=limit, filters=filters)
        each = _SEARCHERS.map if len(self.parts) > 1 else map
        found = list(each(search, self.parts))
        return self._best(found, limit=limit)

    def match(
        self, terms: Sequence[str], *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first; a repeated term counts as often as it is repeated.

        The weight of a term is its IDF. An unknown one is searched as its nearest known ones
        (`near_terms`).
        """
        weights: dict[int, float] = defaultdict(float)
        for term, times in Counter(terms).items():
            known = self._known(term)
            share = times if term in known else times * NEAR_WEIGHT / max(1, len(known))
            for each, often in known.items():
                idf = math.log(1 + (self.count - often + 0.5) / (often + 0.5))
                weights[encode_key("", each)] += share * idf
        found = [
            part.match(weights, mean=self._mean, limit=limit, filters=filters)
            for part in self.parts
        ]
        return self._best(found, limit=limit)

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of the chunks that are here, right to about 1e-5 of a cosine."""
        keys = np.array([encode_key("id", chunk_id) for chunk_id in chunk_ids], np.uint64)
        found: dict[str, Matrix] = {}
        for part in self.parts:
            which, rows = part.segment.find(keys)
            if part.alive is not None:
                there = part.alive[rows]
                which, rows = which[there], rows[there]
            ids = (chunk_ids[at] for at in which.tolist())
            found.update(zip(ids, part.segment.vectors(rows), strict=True))
        return found

    def _known(self, term: str) -> dict[str, int]:
        """Return a term, else its nearest known ones, with the number of rows that have each."""
        if often := self._frequency(term):
            return {term: often}
        near = near_terms(term)
        keys = np.array([encode_key("", each) for each in near], np.uint64)
        there = {at for part in self.parts for at in part.segment.known_terms(keys)}
        counted = ((near[at], self._frequency(near[at])) for at in sorted(there))
        return dict(islice(((known, often) for known, often in counted if often), MAX_NEAR))

    def _frequency(self, term: str) -> int:
        key = encode_key("", term)
        return sum(part.frequency(key) for part in self.parts)

    def _best(self, found: Sequence[Ranked], *, limit: int) -> list[Scored]:
        """Return the best of what each part has found."""
        if not found:
            return []
        scores = np.concatenate([scores for _, scores in found])
        owners = np.repeat(np.arange(len(found)), [len(rows) for rows, _ in found])
        rows = np.concatenate([rows for rows, _ in found])
        best = np.argsort(-scores, kind="stable")[:limit]
        ids = [""] * len(best)
        for number, part in enumerate(self.parts):
            places = np.flatnonzero(owners[best] == number)
            for place, chunk_id in zip(
                places.tolist(), part.segment.ids(rows[best[places]]), strict=True
            ):
                ids[place] = chunk_id
        return list(zip(ids, scores[best].tolist(), strict=True))


def top_k(scores: Numbers, limit: int) -> Numbers:
    """Return the indices of the highest scores, best first; ties in index order.

    Those looked at reach the ``limit``-th highest group maximum, which at least ``limit`` scores do
    and few more. Computing maxima is ten times as fast as partitioning all scores.
    """
    groups = len(scores) // GROUP
    least = -math.inf
    if groups >= limit:
        highest = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
        least = float(np.partition(highest, -limit)[-limit])
    elif len(scores) > limit:
        least = float(np.partition(scores, -limit)[-limit])
    among = np.flatnonzero(scores >= least)
    order: Numbers = among[np.argsort(-scores[among], kind="stable")[:limit]]
    return order

"""Searching one state of an index in memory: exact cosine, BM25 and filters over plain arrays.

A `Segment` is a set of rows that never changes. The arrays of a large one lie in a file that is
mapped into memory (`file`); they are made by `build`. How
it compares with a graph of neighbours: docs/decisions/012.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from quoth.core.protocols import Matrix
from quoth.core.types import Scored

K1 = 1.2
B = 0.75
FEW_ROWS = 1000
"""Up to so many rows are measured one by one; above, the rough product of all rows is quicker."""
SPARE = 2.2
"""Rows that the rough product hands on to the 16-bit vectors, for each that is wanted."""
PRODUCT = ("codes", "code_scales")

GROUP = 64
"""Rows of which the highest score is looked at first; they lie apart, as neighbours are alike."""

Numbers = npt.NDArray[Any]
Arrays = dict[str, Numbers]
Found = tuple[Numbers, Numbers]
"""Rows and their scores, best first."""


@dataclass(frozen=True, slots=True)
class SegmentFilter:
    """A filter in the terms of a segment: one of `keys`, or numbers that overlap `low` … `high`."""

    keys: tuple[int, ...] = ()
    first: str = ""
    last: str = ""
    low: float = 0.0
    high: float = 0.0


class Segment:
    """Rows that never change, as arrays (`quoth.backends.indexes.snapshot.build`)."""

    def __init__(self, arrays: Mapping[str, Numbers]) -> None:
        self._arrays = arrays
        self.stamps = arrays["stamps"]
        self.count = len(self.stamps)
        self.mean_terms = float(arrays["mean_terms"][0])
        self._product = QuantizedMatrix(arrays) if "model" in arrays else None

    def mask(self, conditions: Sequence[SegmentFilter]) -> Numbers:
        """Say of each row whether it meets every condition."""
        passed = np.ones(self.count, np.bool_)
        for each in conditions:
            passed &= self._meets(each)
        return passed

    def nearest(self, vector: Matrix, *, limit: int, among: Numbers | None) -> Found:
        """Rank rows by cosine; ``among`` says which rows take part, None means all."""
        rows = None if among is None else np.flatnonzero(among)
        if self._product is not None and (self.count if rows is None else len(rows)) > FEW_ROWS:
            rough = self._product(vector)
            kept = top_k(rough if rows is None else rough[rows], int(limit * SPARE) + 20)
            rows = kept if rows is None else rows[kept]
        elif rows is None:
            rows = np.arange(self.count)
        scores = self.vectors(rows) @ vector
        order = top_k(scores, limit)
        return rows[order], scores[order]

    def vectors(self, rows: Numbers) -> Matrix:
        """Give the vectors of rows; those of a file are right to about 1e-5 of a cosine."""
        stored = self._arrays["vectors"][rows]
        if stored.dtype == np.float32:
            return stored
        exact: Matrix = stored.astype(np.float32)
        exact *= self._arrays["scales"][rows, None]
        return exact

    def holders(self, term: int) -> tuple[Numbers, Numbers]:
        """Give the rows that hold a term, and what it counts in each before its idf."""
        found = self._slice("term", term)
        return self._arrays["term_rows"][found], self._arrays["term_weights"][found]

    def match(self, terms: Mapping[int, float], *, limit: int, among: Numbers | None) -> Found:
        """Rank the rows that hold one of the terms by BM25; ``terms`` gives the weight of each."""
        sums = np.zeros(self.count, np.float32)
        for term, idf in terms.items():
            rows, weights = self.holders(term)
            sums[rows] += weights * np.float32(idf)
        held = sums > 0
        found = np.flatnonzero(held if among is None else held & among)
        scores = sums[found]
        order = top_k(scores, limit)
        return found[order], scores[order]

    def names(self, rows: Numbers) -> list[str]:
        """Give the chunk ids of rows."""
        text, at = self._arrays["id_text"], self._arrays["id_at"]
        begins, ends = at[rows].tolist(), at[rows + 1].tolist()
        return [
            text[begin:end].tobytes().decode("utf-8", "surrogatepass")
            for begin, end in zip(begins, ends, strict=True)
        ]

    def rows_of(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        """Give the row of each chunk that is here."""
        keys = self._arrays["id_keys"]
        if not self.count:
            return {}
        wanted = np.array([encode_key("id", each) for each in chunk_ids], np.uint64)
        at = np.minimum(np.searchsorted(keys, wanted), self.count - 1)
        rows = self._arrays["id_rows"][at].tolist()
        there = (keys[at] == wanted).tolist()
        return {
            each: row for each, row, is_here in zip(chunk_ids, rows, there, strict=True) if is_here
        }

    def _meets(self, condition: SegmentFilter) -> Numbers:
        if condition.first:
            first, last = self._arrays[condition.first], self._arrays[condition.last]
            overlaps: Numbers = (first <= condition.high) & (last >= condition.low) & (first >= 0)
            return overlaps
        met = np.zeros(self.count, np.bool_)
        keys, at = self._arrays["tag_keys"], self._arrays["tag_at"]
        wanted = np.unique(np.array(condition.keys, np.uint64))
        there = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        there = there[keys[there] == wanted] if len(keys) else there[:0]
        for begin, end in zip(at[there].tolist(), at[there + 1].tolist(), strict=True):
            met[self._arrays["tag_rows"][begin:end]] = True
        return met

    def _slice(self, name: str, key: int) -> slice:
        keys, at = self._arrays[f"{name}_keys"], self._arrays[f"{name}_at"]
        found = int(np.searchsorted(keys, np.uint64(key)))
        if found == len(keys) or int(keys[found]) != key:
            return slice(0, 0)
        return slice(int(at[found]), int(at[found + 1]))


class QuantizedMatrix:
    """Multiplies a question by the 4-bit form of all rows at once: rough cosines of every row.

    They are off by the same amount for all rows. It costs 8 ms for a million rows of 384.
    """

    def __init__(self, arrays: Mapping[str, Numbers]) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        # The session works on these very arrays, or packs them for its own use.
        self._given = [onnxruntime.OrtValue.ortvalue_from_numpy(arrays[key]) for key in PRODUCT]
        options.add_external_initializers(list(PRODUCT), self._given)
        self._session = onnxruntime.InferenceSession(
            arrays["model"].tobytes(), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, vector: Matrix) -> Matrix:
        """Give one rough cosine per row."""
        rough: Matrix = self._session.run(None, {"question": vector[None]})[0][0]
        return rough


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows of one state of an index: those of a file that are still valid, and later ones."""

    base: Segment
    alive: Numbers | None = None
    """Which rows of the file are valid, None for all."""
    tail: Segment | None = None

    @property
    def changes(self) -> int:
        """How many rows differ from the file's."""
        gone = 0 if self.alive is None else self.base.count - int(np.count_nonzero(self.alive))
        return gone + (0 if self.tail is None else self.tail.count)

    @property
    def count(self) -> int:
        """How many rows there are."""
        alive = self.base.count if self.alive is None else int(np.count_nonzero(self.alive))
        return alive + (0 if self.tail is None else self.tail.count)

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[SegmentFilter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        return self._merged(
            [
                (segment, segment.nearest(vector, limit=limit, among=among))
                for segment, among in self._parts(conditions)
            ],
            limit=limit,
        )

    def match(
        self, words: Sequence[str], *, limit: int, conditions: Sequence[SegmentFilter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first; a repeated word counts as often as it stands there.

        Invalid rows of the file still count for the idf.
        """
        segments = [self.base] if self.tail is None else [self.base, self.tail]
        total = sum(segment.count for segment in segments)
        terms = {}
        for word, times in Counter(words).items():
            key = encode_key("", word)
            holders = sum(len(segment.holders(key)[0]) for segment in segments)
            if holders:
                terms[key] = times * math.log(1 + (total - holders + 0.5) / (holders + 0.5))
        if not terms:
            return []
        return self._merged(
            [
                (segment, segment.match(terms, limit=limit, among=among))
                for segment, among in self._parts(conditions)
            ],
            limit=limit,
        )

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Matrix]:
        """Give the vectors of those chunks that are there."""
        found: dict[str, Matrix] = {}
        for segment, among in self._parts(()):
            at = segment.rows_of(chunk_ids)
            here = {key: row for key, row in at.items() if among is None or among[row]}
            matrix = segment.vectors(np.array(list(here.values()), np.int64))
            found.update(zip(here, matrix, strict=True))
        return found

    def _parts(self, conditions: Sequence[SegmentFilter]) -> list[tuple[Segment, Numbers | None]]:
        """The segments and which of their rows take part."""
        passed = self.base.mask(conditions) if conditions else None
        if self.alive is not None:
            passed = self.alive if passed is None else passed & self.alive
        parts = [(self.base, passed)]
        if self.tail is not None:
            parts.append((self.tail, self.tail.mask(conditions) if conditions else None))
        return parts

    def _merged(self, found: Sequence[tuple[Segment, Found]], *, limit: int) -> list[Scored]:
        named = [
            each
            for segment, (rows, scores) in found
            for each in zip(segment.names(rows), scores.tolist(), strict=True)
        ]
        if len(found) > 1:
            named.sort(key=lambda scored: -scored[1])
        return named[:limit]


def encode_key(field: str, value: str | bytes) -> int:
    """Give the 64-bit digest under which a field's value is held."""
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    whole = field.encode() + b"\0" + text
    return int.from_bytes(blake2b(whole, digest_size=8).digest(), "little")


def top_k(scores: Numbers, limit: int) -> Numbers:
    """Give where the highest scores stand, best first; equal ones in their order."""
    among = np.flatnonzero(scores >= _min_score(scores, limit))
    order: Numbers = among[np.argsort(-scores[among], kind="stable")[:limit]]
    return order


def _min_score(scores: Numbers, limit: int) -> float:
    """Give a score that at least ``limit`` rows reach, and not many more.

    Each of the highest of the groups' maxima is one such row. Taking maxima is ten times as fast
    as parting all scores at one of them.
    """
    groups = len(scores) // GROUP
    if groups < limit:
        return -math.inf if len(scores) <= limit else float(np.partition(scores, -limit)[-limit])
    highest = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    return float(np.partition(highest, -limit)[-limit])

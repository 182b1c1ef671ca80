"""Exact cosine, BM25 and filters over the arrays of one version of an index.

The arrays are made by `build` and mapped into memory by `store`. Comparison with approximate
(graph) indexes: docs/decisions/012.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from quoth.backends.indexes.filter_columns import LISTS, RANGES, column_value
from quoth.backends.indexes.near_terms import NEAR_WEIGHT, near_terms
from quoth.core.protocols import Matrix
from quoth.core.types import Filter, Scored

K1 = 1.2
B = 0.75
FEW_ROWS = 1000
"""Up to so many rows are scored one by one; above, the 4-bit product of all rows is quicker."""
OVERSAMPLING = 2.2
"""Rows per result that the 4-bit product passes to the 16-bit vectors."""
PACKED = ("codes", "code_scales")

GROUP = 64
"""Rows of which the highest score is looked at first; they lie apart, as neighbours are alike."""

Numbers = npt.NDArray[Any]
Arrays = dict[str, Numbers]
Ranked = tuple[Numbers, Numbers]
"""Rows and their scores, best first."""


class Snapshot:
    """An immutable snapshot of one version of an index."""

    def __init__(self, arrays: Mapping[str, Numbers]) -> None:
        self._arrays = arrays
        self.count = len(arrays["id_at"]) - 1
        self._product = QuantizedMatrix(arrays)

    def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        rows = np.flatnonzero(self._mask(filters)) if filters else None
        if (self.count if rows is None else len(rows)) > FEW_ROWS:
            rough = self._product(vector)
            best = top_k(rough if rows is None else rough[rows], int(limit * OVERSAMPLING) + 20)
            rows = best if rows is None else rows[best]
        elif rows is None:
            rows = np.arange(self.count)
        return self._scored(rows, self._vectors(rows) @ vector, limit=limit)

    def match(
        self, terms: Sequence[str], *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first; a repeated term counts as often as it is repeated.

        An unknown term is searched as its nearest known ones (`near_terms`).
        """
        sums = np.zeros(self.count, np.float32)
        for term, times in Counter(terms).items():
            if self._add(sums, term, times):
                continue
            near = near_terms(term, known=self._dictionary)
            for known in near:
                self._add(sums, known, times * NEAR_WEIGHT / len(near))
        held = sums > 0
        found = np.flatnonzero(held & self._mask(filters) if filters else held)
        return self._scored(found, sums[found], limit=limit)

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of the chunks that are here, right to about 1e-5 of a cosine."""
        keys = self._arrays["id_keys"]
        if not self.count:
            return {}
        sought = np.array([encode_key("id", chunk_id) for chunk_id in chunk_ids], np.uint64)
        at = np.minimum(np.searchsorted(keys, sought), self.count - 1)
        there = keys[at] == sought
        found = [
            chunk_id for chunk_id, is_here in zip(chunk_ids, there.tolist(), strict=True) if is_here
        ]
        return dict(zip(found, self._vectors(self._arrays["id_rows"][at[there]]), strict=True))

    @cached_property
    def _dictionary(self) -> list[str]:
        """Every term of the index, sorted; read when a query has an unknown one."""
        return self._arrays["term_text"].tobytes().decode("utf-8", "surrogatepass").split()

    def _add(self, sums: Numbers, term: str, times: float) -> bool:
        """Add a term's BM25 scores to those of the rows; return whether the term is known."""
        postings = self._postings("term", encode_key("", term))
        rows = self._arrays["term_rows"][postings]
        if len(rows):
            idf = times * math.log(1 + (self.count - len(rows) + 0.5) / (len(rows) + 0.5))
            sums[rows] += self._arrays["term_weights"][postings] * np.float32(idf)
        return len(rows) > 0

    def _scored(self, rows: Numbers, scores: Numbers, *, limit: int) -> list[Scored]:
        order = top_k(scores, limit)
        text, at = self._arrays["id_text"], self._arrays["id_at"]
        starts, ends = at[rows[order]].tolist(), at[rows[order] + 1].tolist()
        return [
            (text[start:end].tobytes().decode("utf-8", "surrogatepass"), score)
            for start, end, score in zip(starts, ends, scores[order].tolist(), strict=True)
        ]

    def _vectors(self, rows: Numbers) -> Matrix:
        vectors: Matrix = self._arrays["vectors"][rows].astype(np.float32)
        vectors *= self._arrays["scales"][rows, None]
        return vectors

    def _mask(self, filters: Sequence[Filter]) -> Numbers:
        """Return for each row whether it meets every filter."""
        passed = np.ones(self.count, np.bool_)
        for condition in filters:
            passed &= self._meets(condition)
        return passed

    def _meets(self, condition: Filter) -> Numbers:
        if condition.operator != "in" and condition.field not in LISTS:
            first, last = (self._arrays[column] for column in RANGES[condition.field])
            low, high = (float(value) for value in condition.values)
            overlaps: Numbers = (first <= high) & (last >= low) & (first >= 0)
            return overlaps
        met = np.zeros(self.count, np.bool_)
        for value in condition.values:
            key = encode_key(condition.field, column_value(condition.field, value))
            met[self._arrays["tag_rows"][self._postings("tag", key)]] = True
        return met

    def _postings(self, name: str, key: int) -> slice:
        """Return the slice of the posting list of a key."""
        keys, at = self._arrays[f"{name}_keys"], self._arrays[f"{name}_at"]
        found = int(np.searchsorted(keys, np.uint64(key)))
        if found == len(keys) or int(keys[found]) != key:
            return slice(0, 0)
        return slice(int(at[found]), int(at[found + 1]))


class QuantizedMatrix:
    """Multiplies a query by the 4-bit codes of all rows: approximate cosines.

    They share one constant offset. A million rows of 384 take 8 ms.
    """

    def __init__(self, arrays: Mapping[str, Numbers]) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        # The session works on these very arrays, or packs them for its own use.
        self._given = [onnxruntime.OrtValue.ortvalue_from_numpy(arrays[key]) for key in PACKED]
        options.add_external_initializers(list(PACKED), self._given)
        self._session = onnxruntime.InferenceSession(
            arrays["model"].tobytes(), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, vector: Matrix) -> Matrix:
        """Return one rough cosine per row."""
        rough: Matrix = self._session.run(None, {"question": vector[None]})[0][0]
        return rough


def encode_key(field: str, value: str | bytes) -> int:
    """Return the 64-bit digest under which a field's value is stored."""
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    whole = field.encode() + b"\0" + text
    return int.from_bytes(blake2b(whole, digest_size=8).digest(), "little")


def top_k(scores: Numbers, limit: int) -> Numbers:
    """Return the indices of the highest scores, best first; ties in index order."""
    among = np.flatnonzero(scores >= _min_score(scores, limit))
    order: Numbers = among[np.argsort(-scores[among], kind="stable")[:limit]]
    return order


def _min_score(scores: Numbers, limit: int) -> float:
    """Return a score that at least ``limit`` rows reach, and few more.

    It is the ``limit``-th highest group maximum. Computing maxima is ten times as fast as
    partitioning all scores.
    """
    groups = len(scores) // GROUP
    if groups < limit:
        return -math.inf if len(scores) <= limit else float(np.partition(scores, -limit)[-limit])
    highest = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    return float(np.partition(highest, -limit)[-limit])

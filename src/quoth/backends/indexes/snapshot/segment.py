"""One segment of a snapshot: immutable rows with their vectors, posting lists and filter columns.

The arrays are made by `build` and mapped into memory by `store`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from quoth.backends.indexes.rows import LISTS, RANGES, column_value
from quoth.core.protocols import Matrix
from quoth.core.types import Filter

FEW_ROWS = 1000
"""Up to so many rows are scored one by one; above, the 4-bit product of all rows is quicker."""
PACKED = ("codes", "code_scales")

Numbers = npt.NDArray[Any]
Arrays = dict[str, Numbers]


class Segment:
    """Rows that never change; ``name`` and ``checksum`` are those of its file.

    ``release`` takes the pages of the file out of memory until they are read again.
    """

    def __init__(
        self,
        arrays: Mapping[str, Numbers],
        *,
        name: str = "",
        checksum: tuple[int, int] = (0, 0),
        release: Callable[[], object] = lambda: None,
    ) -> None:
        self.arrays = arrays
        self.name = name
        self.checksum = checksum
        self.rows = len(arrays["id_at"]) - 1
        self._release = release
        self._made: QuantizedMatrix | None = None
        self._making = threading.Lock()

    def rough_cosines(self, vector: Matrix) -> Matrix:
        """Return an approximate cosine per row; they share one constant offset."""
        with self._making:
            if self._made is None:
                self._made = QuantizedMatrix(self.arrays)
                # The product has packed the codes for its own use and hardly reads them any more.
                self._release()
        return self._made(vector)

    def vectors(self, rows: Numbers) -> Matrix:
        """Return the vectors of rows, right to about 1e-5 of a cosine."""
        vectors: Matrix = self.arrays["vectors"][rows].astype(np.float32)
        vectors *= self.arrays["scales"][rows, None]
        return vectors

    def ids(self, rows: Numbers) -> list[str]:
        """Return the chunk ids of rows."""
        text, at = self.arrays["id_text"], self.arrays["id_at"]
        return [
            text[start:end].tobytes().decode("utf-8", "surrogatepass")
            for start, end in zip(at[rows].tolist(), at[rows + 1].tolist(), strict=True)
        ]

    def find(self, id_keys: Numbers) -> tuple[Numbers, Numbers]:
        """Return which of the keys of chunk ids are here, as their indices, and their rows."""
        there, at = look_up(self.arrays["id_keys"], id_keys)
        return there, self.arrays["id_rows"][at]

    def terms(self, key: int) -> tuple[Numbers, Numbers]:
        """Return the rows with a term, and how often each has it."""
        found = self._postings("term", np.array([key], np.uint64))
        postings = found[0] if found else slice(0)
        return self.arrays["term_rows"][postings], self.arrays["term_counts"][postings]

    def known_terms(self, keys: Numbers) -> list[int]:
        """Return which of the keys of terms are here, as their indices."""
        which: list[int] = look_up(self.arrays["term_keys"], keys)[0].tolist()
        return which

    def meets(self, condition: Filter) -> Numbers:
        """Return for each row whether it meets a filter."""
        if condition.operator != "in" and condition.field not in LISTS:
            first, last = (self.arrays[column] for column in RANGES[condition.field])
            low, high = (float(value) for value in condition.values)
            overlaps: Numbers = (first <= high) & (last >= low) & (first >= 0)
            return overlaps
        met = np.zeros(self.rows, np.bool_)
        met[self.tagged(condition.field, condition.values)] = True
        return met

    def tagged(self, field: str, values: Sequence[object]) -> Numbers:
        """Return the rows with one of the values, those with several repeatedly."""
        keys = encode_keys(field, tuple(values))
        found = [self.arrays["tag_rows"][postings] for postings in self._postings("tag", keys)]
        return np.concatenate(found) if found else np.zeros(0, np.int32)

    def _postings(self, name: str, keys: Numbers) -> list[slice]:
        """Return the slices of the posting lists of the keys that are here."""
        _, found = look_up(self.arrays[f"{name}_keys"], keys)
        bounds = self.arrays[f"{name}_at"]
        starts, ends = bounds[found].tolist(), bounds[found + 1].tolist()
        return [slice(start, end) for start, end in zip(starts, ends, strict=True)]


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


def look_up(known: Numbers, wanted: Numbers) -> tuple[Numbers, Numbers]:
    """Return which numbers are among sorted ones, as their indices, and their places there."""
    at = np.searchsorted(known, wanted)
    there = np.flatnonzero(at < len(known))
    there = there[known[at[there]] == wanted[there]]
    return there, at[there]


@lru_cache(maxsize=16)
def encode_keys(field: str, values: tuple[object, ...]) -> Numbers:
    """Return the sorted keys of a filter's values; every segment looks for the same ones."""
    keys = [encode_key(field, column_value(field, value)) for value in values]
    return np.sort(np.array(keys, np.uint64))


def encode_key(field: str, value: str | bytes) -> int:
    """Return the 64-bit digest under which a field's value is stored."""
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    whole = field.encode() + b"\0" + text
    return int.from_bytes(blake2b(whole, digest_size=8).digest(), "little")

"""The names of an index's rows, kept beside it so that a search need not read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[Any]


class RowNames:
    """The chunk ids of a table's rows by row id, as of one version of the table.

    Row ids are never given anew, so an unknown one is the sign that the table has changed.
    """

    def __init__(self, rows: pa.Table | None = None) -> None:
        unsorted = rows["_rowid"].to_numpy() if rows else np.empty(0, np.uint64)
        order = np.argsort(unsorted)
        self._rows = unsorted[order]
        names = rows["id"].combine_chunks() if rows else pa.array([], pa.string())
        self._ids = names.take(pa.array(order))

    def know(self, rows: Numbers) -> bool:
        """Whether every one of these row ids is known."""
        return bool(np.isin(rows, self._rows, assume_unique=True).all())

    def of(self, rows: Numbers) -> list[str]:
        """Give the chunk id of each row; all of them are known."""
        found: list[str] = self._ids.take(pa.array(np.searchsorted(self._rows, rows))).to_pylist()
        return found

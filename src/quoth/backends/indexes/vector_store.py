"""What a vector store must do, and how it is reached.

A store keeps vectors with typed filters and nothing else: `PairedIndex` adds keyword search, counts
and the order of writes, and runs the store's blocking calls in threads. A package can bring a store
of its own by the entry point group ``quoth.stores``: a function that takes a `StoreAccess` and
returns a `VectorStore` (docs/own-parts.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from quoth.backends.indexes.rows import FIELDS, LISTS, RANGES, IndexRow, column_value
from quoth.core.protocols import Matrix
from quoth.core.types import Filter, Scored

if TYPE_CHECKING:
    from sqlalchemy import Engine

T = TypeVar("T")
Connect = Callable[[Path | str], "Engine"]
"""Opens a database: a file, or the address of a PostgreSQL server."""
BATCH_ROWS = 500
"""Rows or values in one call of a store."""
EXACT_ROWS = 20_000
"""Up to so many rows a store that can compute exactly does so."""


def search_effort(limit: int) -> int:
    """Return how many neighbours an HNSW graph compares for a search.

    Of 25,000 passages it finds .98 of the nearest twenty with 250, and .92 with 100
    (docs/decisions/064).
    """
    return max(250, 2 * limit)


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """Where one table is: the tenant's folder on this machine, or a server and its key.

    Names of local files begin with the name of the table. ``address`` is empty for a store in the
    folder. ``connect`` opens the databases of stores in SQL.
    """

    folder: Path
    table: str
    dimension: int
    connect: Connect
    address: str = field(default="", repr=False)
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 5.0


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column's text is one of the values."""

    column: str
    values: tuple[str, ...]
    kind: Literal["one_of"] = "one_of"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The column's list contains one of the values."""

    column: str
    values: tuple[str, ...]
    kind: Literal["any_of"] = "any_of"


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The row's range, from the column ``first`` to ``last``, is known and overlaps the limits."""

    first: str
    last: str
    low: float
    high: float
    kind: Literal["overlaps"] = "overlaps"


Condition = OneOf | AnyOf | Overlaps


class VectorStore(Protocol):
    """Vectors of the rows of one table. Calls block; several run at once, in threads.

    ``errors`` are the exceptions of the store's library; ``endpoint`` is the host that receives the
    rows, empty for this process. The table is made by the first `upsert`; before, it is empty.
    """

    name: str
    endpoint: str
    errors: tuple[type[Exception], ...]

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        ...

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        ...

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        ...

    def count(self) -> int | None:
        """Return the number of rows; None where the store tells it late."""
        ...

    def build(self, *, rows: int) -> bool:
        """Build an approximate index where that pays at this size; return whether it was built."""
        ...

    def drop(self) -> None:
        """Remove the table."""
        ...

    def close(self) -> None:
        """Release connections, files and memory."""
        ...


def conditions_of(filters: Sequence[Filter]) -> list[Condition]:
    """Return filters as conditions on columns, with values as the columns hold them."""
    return [_condition(each) for each in filters]


def in_batches(values: Iterable[T], size: int = BATCH_ROWS) -> Iterator[tuple[T, ...]]:
    """Yield the values some at a time, as `itertools.batched` of Python 3.12 does."""
    rest = iter(values)
    while part := tuple(islice(rest, size)):
        yield part


def storable(text: str) -> str:
    """Return a text that every database can store: without NUL and half surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _condition(filter_: Filter) -> Condition:
    if filter_.operator == "overlaps":
        low, high = (float(value) for value in filter_.values)
        return Overlaps(*RANGES[filter_.field], low=low, high=high)
    values = tuple(storable(column_value(filter_.field, value)) for value in filter_.values)
    if filter_.field in LISTS:
        return AnyOf(LISTS[filter_.field], values)
    return OneOf(FIELDS[filter_.field], values)

"""Vectors in Pinecone: one index per dimension, in it one namespace per table.

What is written is found some seconds later, so that counts are not to be relied on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from pinecone import NotFoundError, Pinecone, PineconeError, RetryConfig, ServerlessSpec

from quoth.backends.indexes.rows import LISTS, NUMBERS, TEXTS, IndexRow
from quoth.backends.indexes.vector_store import Condition, StoreAccess, in_batches
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

MAX_BYTES = 1_500_000
"""Of one request; the service takes two million."""
MAX_IDS = 100
"""Ids of one request, which is an address with all of them."""
CLOUD, REGION = "aws", "us-east-1"
"""Where an index is made that is not there yet."""


class PineconeStore:
    """The vectors of one table: a namespace of the index ``quoth-DIMENSION``."""

    name = "pinecone"
    errors = (PineconeError,)

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self.endpoint = urlsplit(access.address).netloc
        self._client: Pinecone | None = None
        self._index: Any = None
        self._opening = Lock()

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        index = self._opened(make=True)
        size = max(1, min(200, MAX_BYTES // (20 * self._access.dimension)))
        for part in in_batches(zip(rows, vectors.tolist(), strict=True), size):
            index.upsert(
                vectors=[
                    {"id": row.id, "values": values, "metadata": _metadata(row)}
                    for row, values in part
                ],
                namespace=self._access.table,
                show_progress=False,
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        if (index := self._opened()) is not None:
            for part in in_batches([each for each in ids if each.isascii()]):
                index.delete(ids=list(part), namespace=self._access.table)

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        if (index := self._opened()) is None:
            return []
        found = index.query(
            vector=vector.tolist(),
            top_k=limit,
            namespace=self._access.table,
            filter={"$and": [part for each in conditions for part in _condition(each)]}
            if conditions
            else None,
        )
        return [(match.id, match.score) for match in found.matches]

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        if (index := self._opened()) is None:
            return {}
        return {
            key: np.array(found.values, np.float32)
            for part in in_batches([each for each in ids if each.isascii()], MAX_IDS)
            for key, found in index.fetch(
                ids=list(part), namespace=self._access.table
            ).vectors.items()
        }

    def count(self) -> int | None:
        """Return None: the service counts late."""
        return None

    def build(self, *, rows: int) -> bool:
        """Do nothing: the service indexes by itself."""
        return False

    def drop(self) -> None:
        """Remove the namespace."""
        if (index := self._opened()) is not None:
            try:
                index.delete(delete_all=True, namespace=self._access.table)
            except NotFoundError:
                return  # nothing was written to it

    def close(self) -> None:
        """Close the connections."""
        for each in (self._index, self._client):
            if each is not None:
                each.close()
        self._client = self._index = None

    def _opened(self, *, make: bool = False) -> Any:
        """Return the index; None where there is none and none is to be made."""
        with self._opening:  # Searches of several threads share one client.
            if self._index is None:
                self._index = self._open(make=make)
            return self._index

    def _open(self, *, make: bool) -> Any:
        if self._client is None:
            self._client = Pinecone(
                api_key=self._access.key,
                host=self._access.address,
                timeout=self._access.timeout_s,
                retry_config=RetryConfig(max_retries=1),
            )
        name = f"quoth-{self._access.dimension}"
        try:
            about = self._client.describe_index(name)
        except NotFoundError:
            if not make:
                return None
            about = self._client.create_index(
                name,
                dimension=self._access.dimension,
                metric="cosine",
                spec=ServerlessSpec(cloud=CLOUD, region=REGION),
            )
        return self._client.Index(host=about.host or "")


def _metadata(row: IndexRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in (*TEXTS, *NUMBERS) if name != "id"}
    return values | {name: list(values[name]) for name in LISTS.values()}


def _condition(condition: Condition) -> list[dict[str, Any]]:
    if condition.kind == "overlaps":
        return [
            {condition.first: {"$lte": condition.high, "$gte": 0.0}},
            {condition.last: {"$gte": condition.low}},
        ]
    # Of a list, one of the values is enough.
    return [{condition.column: {"$in": list(condition.values)}}]

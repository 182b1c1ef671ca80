"""Vectors in Qdrant: on a server (http://HOST:6333), or in a folder for one process (its client's
own mode, which is for trying and for small collections).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import httpx
import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from quoth.backends.indexes.client_store import ClientStore
from quoth.backends.indexes.rows import LISTS, NUMBERS, TEXTS, IndexRow
from quoth.backends.indexes.vector_store import Condition, in_batches, search_effort
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

KEYWORD = models.PayloadSchemaType.KEYWORD


class QdrantStore(ClientStore[QdrantClient]):
    """The vectors of one table, which is a collection of Qdrant; a row's id is in its payload."""

    name = "qdrant"
    errors = (ApiException, httpx.HTTPError, ValueError, RuntimeError)
    ending = ".qdrant"

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        client = self._make()
        for part in in_batches(zip(rows, vectors.tolist(), strict=True)):
            points = [
                models.PointStruct(id=_point(row.id), vector=vector, payload=_payload(row))
                for row, vector in part
            ]
            client.upsert(self._access.table, points=points, wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        if self._exists():
            for part in in_batches(ids):
                points = models.PointIdsList(points=[_point(each) for each in part])
                self._connect().delete(self._access.table, points_selector=points, wait=True)

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        if not self._exists():
            return []
        found = self._connect().query_points(
            self._access.table,
            query=vector.tolist(),
            query_filter=models.Filter(must=[part for each in conditions for part in _must(each)]),
            search_params=self._effort(limit),
            limit=limit,
            with_payload=["id"],
        )
        return [(_payload_id(point), point.score) for point in found.points]

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        if not self._exists():
            return {}
        return {
            _payload_id(point): np.array(point.vector, np.float32)
            for part in in_batches(ids)
            for point in self._connect().retrieve(
                self._access.table,
                ids=[_point(each) for each in part],
                with_payload=["id"],
                with_vectors=True,
            )
        }

    def count(self) -> int:
        """Return the number of rows."""
        return self._connect().count(self._access.table).count if self._exists() else 0

    def _effort(self, limit: int) -> models.SearchParams | None:
        """Return how far a server looks; a folder is always searched exactly."""
        return models.SearchParams(hnsw_ef=search_effort(limit)) if self._access.address else None

    def _open(self) -> QdrantClient:
        if not self._access.address:
            return QdrantClient(path=str(self._folder), force_disable_check_same_thread=True)
        return QdrantClient(
            url=self._access.address,
            api_key=self._access.key,
            timeout=max(1, round(self._access.timeout_s)),
            check_compatibility=False,
        )

    def _has(self, client: QdrantClient) -> bool:
        return bool(client.collection_exists(self._access.table))

    def _drop(self, client: QdrantClient) -> None:
        client.delete_collection(self._access.table)

    def _create(self, client: QdrantClient) -> None:
        size = self._access.dimension
        client.create_collection(
            self._access.table,
            vectors_config=models.VectorParams(size=size, distance=models.Distance.COSINE),
        )
        if self._access.address:  # a folder has none, and says so
            for name in ("document_id", "kind", "language", *LISTS.values()):
                client.create_payload_index(self._access.table, name, field_schema=KEYWORD)


def _point(key: str) -> str:
    """Return the id of a row's point; Qdrant takes UUIDs only."""
    return str(uuid5(NAMESPACE_OID, key))


def _payload(row: IndexRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in (*TEXTS, *NUMBERS)}
    return values | {name: list(values[name]) for name in LISTS.values()}


def _payload_id(point: Any) -> str:
    return str(point.payload["id"])


def _must(condition: Condition) -> list[models.FieldCondition]:
    if condition.kind == "overlaps":
        return [
            models.FieldCondition(
                key=condition.first, range=models.Range(gte=0.0, lte=condition.high)
            ),
            models.FieldCondition(key=condition.last, range=models.Range(gte=condition.low)),
        ]
    # Of a list, one of the values is enough.
    any_of = models.MatchAny(any=list(condition.values))
    return [models.FieldCondition(key=condition.column, match=any_of)]

"""Vectors in Chroma: in a folder of this process, or on a server (http://HOST:PORT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import chromadb
import httpx
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from quoth.backends.indexes.client_store import ClientStore
from quoth.backends.indexes.rows import LISTS, NUMBERS, TEXTS, IndexRow
from quoth.backends.indexes.vector_store import Condition, in_batches
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 250}
"""Chroma's index is approximate; with these it misses few of the first hundred."""


class ChromaStore(ClientStore[Any]):
    """The vectors of one table, which is a collection of Chroma.

    A folder is for one process: another one would not see its writes. Use a server for several.
    """

    name = "chroma"
    errors = (ChromaError, httpx.HTTPError, ValueError)

    ending = ".chroma"
    _opened: Any = None

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        self._create(self._connect())
        collection = self._opened
        pairs = zip(rows, vectors, strict=True)
        for part in in_batches(pairs):
            ids = [row.id for row, _ in part]
            # Only what is removed first loses the values that it has no more.
            collection.delete(ids=ids)
            collection.add(
                ids=ids,
                embeddings=[vector for _, vector in part],
                metadatas=[_metadata(row) for row, _ in part],
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        if (collection := self._collection()) is not None:
            for part in in_batches(ids):
                collection.delete(ids=list(part))

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        if (collection := self._collection()) is None:
            return []
        found = collection.query(
            query_embeddings=[vector],
            n_results=limit,
            where=_where(conditions),
            include=["distances"],
        )
        return [
            (key, 1.0 - far)
            for key, far in zip(found["ids"][0], found["distances"][0], strict=True)
        ]

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        if (collection := self._collection()) is None:
            return {}
        rows: dict[str, Matrix] = {}
        for part in in_batches(ids):
            found = collection.get(ids=list(part), include=["embeddings"])
            rows.update(zip(found["ids"], np.asarray(found["embeddings"], np.float32), strict=True))
        return rows

    def count(self) -> int:
        """Return the number of rows."""
        collection = self._collection()
        return 0 if collection is None else int(collection.count())

    def close(self) -> None:
        """Close the client, with the connections to a server that Chroma itself leaves open."""
        servers = _servers(self._client)
        super().close()
        self._opened = None
        for server in servers:
            if not server._running:
                server._session.close()

    def _open(self) -> Any:
        quiet = Settings(anonymized_telemetry=False)  # a new one: the client writes into it
        if not self._access.address:
            return chromadb.PersistentClient(path=self._folder, settings=quiet)
        address, key = urlsplit(self._access.address), self._access.key
        limit_s = self._access.timeout_s
        # Chroma's own client would wait for ever, first of all when it is made.
        httpx.get(f"{address.scheme}://{address.netloc}/api/v2/heartbeat", timeout=limit_s)
        client = chromadb.HttpClient(
            host=address.hostname or "",
            port=address.port or (443 if address.scheme == "https" else 80),
            ssl=address.scheme == "https",
            headers={"x-chroma-token": key} if key else None,
            settings=quiet,
        )
        for server in _servers(client):
            server._session.timeout = limit_s
        return client

    def _has(self, client: Any) -> bool:
        try:
            self._opened = client.get_collection(self._access.table, embedding_function=None)
        except NotFoundError:
            return False
        return True

    def _create(self, client: Any) -> None:
        self._opened = client.get_or_create_collection(
            self._access.table, embedding_function=None, configuration={"hnsw": HNSW}
        )

    def _drop(self, client: Any) -> None:
        client.delete_collection(self._access.table)

    def _collection(self) -> Any:
        """Return the collection, None where there is none."""
        return self._opened if self._exists() else None


def _servers(client: Any) -> list[Any]:
    """Return what connects a client to a server, which Chroma does not show."""
    clients = (client, getattr(client, "_admin_client", None))
    servers = (getattr(each, "_server", None) for each in clients)
    return [each for each in servers if hasattr(each, "_session")]


def _metadata(row: IndexRow) -> dict[str, Any]:
    """Return a row's filter values; Chroma refuses empty lists."""
    values = {name: getattr(row, name) for name in (*TEXTS, *NUMBERS) if name != "id"}
    lists = {name: list(values.pop(name)) for name in LISTS.values()}
    return values | {name: found for name, found in lists.items() if found}


def _where(conditions: Sequence[Condition]) -> dict[str, Any] | None:
    made = [part for each in conditions for part in _condition(each)]
    return None if not made else made[0] if len(made) == 1 else {"$and": made}


def _condition(condition: Condition) -> list[dict[str, Any]]:
    if condition.kind == "one_of":
        return [{condition.column: {"$in": list(condition.values)}}]
    if condition.kind == "any_of":
        any_of = [{condition.column: {"$contains": value}} for value in condition.values]
        return any_of if len(any_of) == 1 else [{"$or": any_of}]
    return [
        {condition.first: {"$lte": condition.high}},
        {condition.last: {"$gte": condition.low}},
        {condition.first: {"$gte": 0.0}},
    ]

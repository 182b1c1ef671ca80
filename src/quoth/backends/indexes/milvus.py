"""Vectors in Milvus: on a server (http://HOST:19530), or in a folder for one process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from pymilvus import DataType, MilvusClient, MilvusException

from quoth.backends.indexes.client_store import ClientStore
from quoth.backends.indexes.rows import LISTS, NUMBERS, TEXTS, IndexRow
from quoth.backends.indexes.vector_store import Condition, in_batches, search_effort
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

MAX_TEXT = 65_535
MAX_LIST = 4096
"""Labels or sections of one chunk."""
MAX_GROWING = 4000
"""Rows up to which a server compares those that are not indexed one by one."""


class MilvusStore(ClientStore[MilvusClient]):
    """The vectors of one table, which is a collection of Milvus.

    A search sees all writes of this process, and those of others a moment later: to wait for them
    takes a server 300 ms. Every other read sees every write.
    """

    name = "milvus"
    errors = (MilvusException,)
    ending = ".milvus.db"
    _deletes = _waited = 0
    """Deletions by this process, and those that a search has waited for."""

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        client = self._make()
        for part in in_batches(zip(rows, vectors.tolist(), strict=True)):
            data = [{**_fields(row), "vector": vector} for row, vector in part]
            client.upsert(self._access.table, data)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        if self._exists():
            for part in in_batches(ids):
                self._connect().delete(self._access.table, ids=list(part))
            self._deletes += 1

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        if not self._exists():
            return []
        # The time that a server states for a deletion may lie before it: the next search waits.
        deletes = self._deletes
        (found,) = self._connect().search(
            self._access.table,
            data=[vector.tolist()],
            limit=limit,
            filter=_expression(conditions),
            search_params={"metric_type": "COSINE", "params": {"ef": search_effort(limit)}},
            consistency_level="Session" if deletes == self._waited else "Strong",
        )
        self._waited = deletes
        return [(hit["id"], hit["distance"]) for hit in found]  # of a cosine: the similarity

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Matrix]:
        """Return the stored vectors of the rows that exist."""
        if not self._exists():
            return {}
        return {
            row["id"]: np.array(row["vector"], np.float32)
            for part in in_batches(ids)
            for row in self._connect().query(
                self._access.table,
                filter=f"id in {_quoted(part)}",
                output_fields=["id", "vector"],
                consistency_level="Strong",
            )
        }

    def count(self) -> int:
        """Return the number of rows."""
        if not self._exists():
            return 0
        rows = self._connect().query(
            self._access.table, output_fields=["count(*)"], consistency_level="Strong"
        )
        return int(rows[0]["count(*)"])

    def build(self, *, rows: int) -> bool:
        """Have new rows indexed by the graph, where there are many.

        Until then a server compares them by a coarse index, which finds .71 of the nearest twenty
        among 25,000, and Milvus Lite one by one in Python.
        """
        if not self._exists():
            return False
        client, table = self._connect(), self._access.table
        # A server may refuse to do this often; it does so by itself some time later.
        with suppress(MilvusException):
            if self._access.address:
                indexed = sum(each.num_rows for each in client.list_persistent_segments(table))
                if rows - indexed < MAX_GROWING:
                    return False
            client.flush(table)
            return True
        return False

    def _open(self) -> MilvusClient:
        return MilvusClient(
            uri=self._access.address or str(self._folder),
            token=self._access.key or "",
            timeout=self._access.timeout_s,
        )

    def _has(self, client: MilvusClient) -> bool:
        if not client.has_collection(self._access.table):
            return False
        client.load_collection(self._access.table)  # a new process of Milvus Lite has not
        return True

    def _drop(self, client: MilvusClient) -> None:
        client.drop_collection(self._access.table)

    def _create(self, client: MilvusClient) -> None:
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        for name in TEXTS:
            if name in LISTS.values():
                schema.add_field(
                    name,
                    DataType.ARRAY,
                    element_type=DataType.VARCHAR,
                    max_length=MAX_TEXT,
                    max_capacity=MAX_LIST,
                )
            else:
                schema.add_field(
                    name, DataType.VARCHAR, max_length=MAX_TEXT, is_primary=name == "id"
                )
        for name in NUMBERS:
            schema.add_field(name, DataType.DOUBLE)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self._access.dimension)
        index = client.prepare_index_params()
        index.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
        client.create_collection(
            self._access.table, schema=schema, index_params=index, consistency_level="Strong"
        )


def _fields(row: IndexRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in (*TEXTS, *NUMBERS)}
    return values | {name: list(values[name]) for name in LISTS.values()}


def _expression(conditions: Sequence[Condition]) -> str:
    """Return the conditions in the language of Milvus; its placeholders need a server from 2.5."""
    parts: list[str] = []
    for condition in conditions:
        if condition.kind == "overlaps":
            first, last = condition.first, condition.last
            limits = f"{first} <= {condition.high!r} and {last} >= {condition.low!r}"
            parts.append(f"({limits} and {first} >= 0)")
        elif condition.kind == "any_of":
            held = _quoted(condition.values)
            parts.append(f"(array_contains_any({condition.column}, {held}))")
        else:
            parts.append(f"({condition.column} in {_quoted(condition.values)})")
    return " and ".join(parts)


def _quoted(values: Sequence[str]) -> str:
    """Return a list of texts in quotes; as in JSON, a quote within one is escaped."""
    return json.dumps(list(values), ensure_ascii=False)

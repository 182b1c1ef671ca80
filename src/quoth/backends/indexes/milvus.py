"""Vectors in Milvus: on a server (http://HOST:19530), or in a folder for one process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from pymilvus import DataType, MilvusClient, MilvusException

from quoth.backends.indexes.filter_columns import LISTS, NUMBERS, TEXTS
from quoth.backends.indexes.rows import IndexRow
from quoth.backends.indexes.vector_store import Condition, StoreAccess, in_batches
from quoth.core.protocols import Matrix
from quoth.core.types import Scored

MAX_TEXT = 65_535
MAX_LIST = 4096
"""Labels or sections of one chunk."""


class MilvusStore:
    """The vectors of one table, which is a collection of Milvus; every read sees every write."""

    name = "milvus"
    errors = (MilvusException,)

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self._folder = access.folder / f"{access.table}.milvus.db"
        self.endpoint = urlsplit(access.address).netloc
        self._client: MilvusClient | None = None
        self._there = False

    def upsert(self, rows: Sequence[IndexRow], *, vectors: Matrix) -> None:
        """Write rows with their unit vectors; writing a row again replaces it."""
        if not self._exists():
            self._create(self._connect())
            self._there = True
        for part in in_batches(zip(rows, vectors.tolist(), strict=True)):
            data = [{**_fields(row), "vector": vector} for row, vector in part]
            self._connect().upsert(self._access.table, data)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        if self._exists():
            for part in in_batches(ids):
                self._connect().delete(self._access.table, ids=list(part))

    def nearest(
        self, vector: Matrix, *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by cosine, best first, among those that meet every condition."""
        if not self._exists():
            return []
        (found,) = self._connect().search(
            self._access.table,
            data=[vector.tolist()],
            limit=limit,
            **self._filter(*_expression(conditions)),
            search_params={"metric_type": "COSINE"},
            consistency_level="Strong",
        )
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
                **self._filter("id in {ids}", {"ids": list(part)}),
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
        """Do nothing: Milvus builds its index by itself."""
        return False

    def drop(self) -> None:
        """Remove the collection, and its folder."""
        if self._exists():
            self._connect().drop_collection(self._access.table)
        self.close()
        if not self._access.address:
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            self._client.close()
        self._client, self._there = None, False

    def _connect(self) -> MilvusClient:
        """Return the client, connected on first use."""
        if self._client is None:
            self._client = MilvusClient(
                uri=self._access.address or str(self._folder),
                token=self._access.key or "",
                timeout=self._access.timeout_s,
            )
        return self._client

    def _filter(self, text: str, values: dict[str, Any]) -> dict[str, Any]:
        """Return a filter whose values are sent apart; a folder knows quoted ones only."""
        if self._access.address:
            return {"filter": text, "filter_params": values}
        quoted = {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}
        return {"filter": text.format(**quoted)}

    def _exists(self) -> bool:
        if not self._there and (self._access.address or self._folder.exists()):
            self._there = self._connect().has_collection(self._access.table)
        return self._there

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


def _expression(conditions: Sequence[Condition]) -> tuple[str, dict[str, Any]]:
    """Return an expression with placeholders, and their values, which thus are never code."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for at, condition in enumerate(conditions):
        if condition.kind == "overlaps":
            first, last = condition.first, condition.last
            parts.append(f"{first} <= {{high{at}}} and {last} >= {{low{at}}} and {first} >= 0")
            values |= {f"high{at}": condition.high, f"low{at}": condition.low}
            continue
        values[f"v{at}"] = list(condition.values)
        column = condition.column
        is_list = condition.kind == "any_of"
        parts.append(
            f"array_contains_any({column}, {{v{at}}})" if is_list else f"{column} in {{v{at}}}"
        )
    return " and ".join(f"({part})" for part in parts), values

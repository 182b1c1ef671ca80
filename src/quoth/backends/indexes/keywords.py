"""Keyword index in SQL: BM25 over the analyser's terms, with exact filters, for any vector store.

Its input is derived from chunks alone. It also knows which chunks a document has, which a vector
store on a server could only tell by listing everything. Calls block.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    Table,
    Text,
    case,
    delete,
    func,
    insert,
    not_,
    select,
)

from quoth.backends.indexes.rows import IndexRow
from quoth.backends.indexes.sql import filter_values, where
from quoth.backends.indexes.sql_rows import KEY, SqlRows
from quoth.backends.indexes.vector_store import BATCH_ROWS, Condition, in_batches
from quoth.core.types import Scored
from quoth.text.near_terms import MAX_NEAR, NEAR_WEIGHT, near_terms

K1 = 1.2
B = 0.75


class SqlKeywords(SqlRows):
    """The keyword index of one table, in a file of SQLite or on a server of PostgreSQL."""

    def __init__(self, connect: Callable[[], Engine], *, table: str, file: Path | None) -> None:
        length = Column("length", Integer, nullable=False, index=True)
        super().__init__(connect, table=table, file=file, columns=[length])
        self._terms = Table(
            f"{table}_terms",
            self._tables,
            Column("number", KEY, primary_key=True),
            Column("term", Text, nullable=False, unique=True),
        )
        self._postings = Table(
            f"{table}_postings",
            self._tables,
            Column("term", KEY, primary_key=True, autoincrement=False),
            Column("row", KEY, primary_key=True, autoincrement=False, index=True),
            Column("times", Integer, nullable=False),
            sqlite_with_rowid=False,
        )

    # --- writing ------------------------------------------------------------------------------

    def upsert(self, rows: Sequence[IndexRow]) -> None:
        """Write rows; writing a row again replaces it."""
        with self._replacing(rows) as connection:
            for part in in_batches(rows):
                connection.execute(
                    insert(self._chunks),
                    [{**filter_values(row), "length": len(row.terms)} for row in part],
                )
                numbers = self._numbers(connection, self._chunks.c.id, [row.id for row in part])
                terms = self._number_terms(connection, {term for row in part for term in row.terms})
                postings = [
                    {"term": terms[term], "row": numbers[row.id], "times": times}
                    for row in part
                    for term, times in Counter(row.terms).items()
                ]
                if postings:
                    connection.execute(insert(self._postings), postings)

    def _remove(self, connection: Connection, column: Column[Any], values: Sequence[str]) -> None:
        rows = list(self._numbers(connection, column, values, many=True).values())
        postings, terms = self._postings, self._terms
        for part in in_batches(rows):
            own = postings.c.row.in_(part)
            used = connection.scalars(select(postings.c.term).where(own).distinct()).all()
            connection.execute(delete(postings).where(own))
            connection.execute(delete(self._chunks).where(self._chunks.c.row.in_(part)))
            for numbers in in_batches(used):
                unused = not_(select(1).where(postings.c.term == terms.c.number).exists())
                connection.execute(delete(terms).where(terms.c.number.in_(numbers), unused))

    def _number_terms(self, connection: Connection, terms: set[str]) -> dict[str, int]:
        """Return the numbers of terms; new ones get one."""
        known = self._numbers(connection, self._terms.c.term, sorted(terms))
        fresh = sorted(terms - set(known))
        if fresh:
            connection.execute(insert(self._terms), [{"term": term} for term in fresh])
            known |= self._numbers(connection, self._terms.c.term, fresh)
        return known

    # --- reading ------------------------------------------------------------------------------

    def match(
        self, terms: Sequence[str], *, limit: int, conditions: Sequence[Condition]
    ) -> list[Scored]:
        """Rank rows by BM25, best first; a repeated term counts as often as it is repeated.

        An unknown term is searched as its nearest known ones (`near_terms`).
        """
        if not terms or not self.exists():
            return []
        with self._reading() as connection:
            chunks = self._chunks.c
            total, mean = connection.execute(
                select(func.count(), func.avg(chunks.length)).select_from(self._chunks)
            ).one()
            weights = self._weights(connection, terms, total=total)
            sums: dict[str, float] = {}
            for part in in_batches(weights.items()):
                score = self._score(dict(part), mean=max(1.0, float(mean)))
                joined = self._postings.join(self._chunks, chunks.row == self._postings.c.row)
                query = (
                    select(chunks.id, score)
                    .select_from(joined)
                    .where(self._postings.c.term.in_([number for number, _ in part]))
                    .where(where(self._chunks, conditions))
                    .group_by(chunks.row, chunks.id)
                    .order_by(score.desc(), chunks.row)
                )
                whole = len(weights) <= BATCH_ROWS
                rows = connection.execute(query.limit(limit) if whole else query)
                for chunk_id, part_score in rows:
                    sums[chunk_id] = sums.get(chunk_id, 0.0) + part_score
        return sorted(sums.items(), key=lambda scored: -scored[1])[:limit]

    def _score(self, weights: Mapping[int, float], *, mean: float) -> Any:
        times, length = self._postings.c.times, self._chunks.c.length
        norm = K1 * (1 - B) + length * (K1 * B / mean)
        weight = case(weights, value=self._postings.c.term, else_=0.0)
        return func.sum(weight * times * (K1 + 1) / (times + norm), type_=Float)

    def _weights(
        self, connection: Connection, terms: Sequence[str], *, total: int
    ) -> dict[int, float]:
        """Return the weight of each term to search for: its IDF, by how often it is asked for."""
        asked = Counter(terms)
        rows = self._frequencies(connection, list(asked))
        weights = {term: float(times) for term, times in asked.items() if term in rows}
        for term in [each for each in asked if each not in rows]:
            found = self._frequencies(connection, near_terms(term))
            near = sorted(found)[:MAX_NEAR]
            for known in near:
                weights[known] = weights.get(known, 0.0) + asked[term] * NEAR_WEIGHT / len(near)
                rows[known] = found[known]
        return {
            number: weights[term] * math.log(1 + (total - often + 0.5) / (often + 0.5))
            for term, (number, often) in rows.items()
        }

    def _frequencies(
        self, connection: Connection, terms: Sequence[str]
    ) -> dict[str, tuple[int, int]]:
        """Return number and document frequency of the terms that are there."""
        known, postings = self._terms.c, self._postings
        found: dict[str, tuple[int, int]] = {}
        for part in in_batches(terms):
            query = (
                select(known.term, known.number, func.count())
                .select_from(self._terms.join(postings, postings.c.term == known.number))
                .where(known.term.in_(part))
                .group_by(known.number, known.term)
            )
            found |= {term: (number, often) for term, number, often in connection.execute(query)}
        return found

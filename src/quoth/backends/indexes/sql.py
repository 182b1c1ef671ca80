"""Filter columns and conditions in SQL, for SQLite and PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sqlalchemy import Column, ColumnElement, Float, FromClause, Text, and_, false, or_, true

from quoth.backends.indexes.rows import NUMBERS, TEXTS, IndexRow, barred
from quoth.backends.indexes.vector_store import Condition

LISTED = ("labels", "sections")


def filter_columns() -> list[Column[Any]]:
    """Return new columns of the filters; a list is one text with its values between bars."""
    texts = [Column(name, Text, nullable=False) for name in TEXTS if name != "id"]
    return texts + [Column(name, Float(53), nullable=False) for name in NUMBERS]


def filter_values(row: IndexRow) -> dict[str, Any]:
    """Return a row's id and the values of its filter columns."""
    values: dict[str, Any] = {name: getattr(row, name) for name in (*TEXTS, *NUMBERS)}
    return values | {name: barred(values[name]) for name in LISTED}


def where(table: FromClause, conditions: Sequence[Condition]) -> ColumnElement[bool]:
    """Return one expression: all conditions must hold."""
    return and_(true(), *(_expression(table, each) for each in conditions))


def _expression(table: FromClause, condition: Condition) -> ColumnElement[bool]:
    columns = table.c
    match condition.kind:
        case "one_of":
            return columns[condition.column].in_(condition.values)
        case "any_of":
            column = columns[condition.column]
            among = (column.contains(f"|{each}|", autoescape=True) for each in condition.values)
            return or_(false(), *among)
        case "overlaps":
            first, last = columns[condition.first], columns[condition.last]
            return and_(first <= condition.high, last >= condition.low, first >= 0)
        case _:
            assert_never(condition.kind)

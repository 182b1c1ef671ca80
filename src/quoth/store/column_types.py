"""Column types with the same behaviour on every database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import String, Text
from sqlalchemy.types import TypeEngine


def words(most: int | None = None) -> TypeEngine[Any]:
    """Text that is compared and ordered by code points, whatever the server's language is.

    ``most`` is the length that writers respect; no database truncates or rejects longer values.
    """
    kind = Text() if most is None else String(most)
    return kind.with_variant(Text(collation="C"), "postgresql")

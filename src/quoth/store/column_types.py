"""The kinds of columns that mean the same on every database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import String, Text
from sqlalchemy.types import TypeEngine


def words(most: int | None = None) -> TypeEngine[Any]:
    """Text that is compared and ordered by code points, whatever the server's language is.

    ``most`` is the length that writers keep to; no database cuts or refuses what is longer.
    """
    kind = Text() if most is None else String(most)
    return kind.with_variant(Text(collation="C"), "postgresql")

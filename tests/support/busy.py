"""A catalogue that others write to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from quoth.store.database import MAX_WAITING, Database


@contextmanager
def writers(database: Database) -> Iterator[None]:
    """Take every place of those who write: other writers are refused at once."""
    with ExitStack() as places:
        for _ in range(MAX_WAITING):
            places.enter_context(database.line)
        yield

"""Questions about the small library of `small_library`, with the records that are kept of them."""

from __future__ import annotations

from quoth.engine import Engine
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request
from quoth.store.history import QueryRow, StoredRecord

NECTAR = "What is honey made from?"


async def record_of_asking(engine: Engine, request: Request | str = NECTAR) -> Record:
    """Ask, and give what would be kept of it."""
    kept: list[Record] = []
    async for _event in engine.stream(request, keep=kept.append):
        pass
    (record,) = kept
    return record


def row_of(kept: StoredRecord, *, created_at: str = "") -> QueryRow:
    """Give what is kept as it is read from the catalogue."""
    texts = (kept.plan, kept.answer, kept.version, kept.record)
    return QueryRow(kept.query_id, created_at, kept.collection, kept.text, *texts)

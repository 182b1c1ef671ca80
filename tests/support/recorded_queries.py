"""Questions about the small library of `small_library`, with the records that are kept of them."""

from __future__ import annotations

from quoth.engine import Engine
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request

NECTAR = "What is honey made from?"


async def record_of_asking(engine: Engine, request: Request | str = NECTAR) -> Record:
    """Ask, and give what would be kept of it."""
    kept: list[Record] = []
    async for _event in engine.stream(request, keep=kept.append):
        pass
    (record,) = kept
    return record

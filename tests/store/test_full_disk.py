"""A disk that fills up at any moment of an ingest: no half document, and questions go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.errors import StorageFull
from quoth.core.settings import Settings
from tests.support.full_disk import no_room
from tests.support.killed_process import left_behind
from tests.support.small_library import add, open_tour, write_sources

ROOMS = (1, *range(1000, 10_000, 1500), *range(10_000, 100_000, 9000), 120_000, 150_000, 200_000)
QUESTION = "What does a colony do in winter?"


@pytest.mark.parametrize(
    "room",
    [pytest.param(each, marks=pytest.mark.soak if at % 8 else []) for at, each in enumerate(ROOMS)],
)
async def test_a_disk_that_is_full_at_any_point(tmp_path: Path, room: int) -> None:
    home, sources = tmp_path / "home", write_sources(tmp_path / "sources")
    for number in range(6):
        lines = (f"Line {line} of file {number} speaks of word{line}." for line in range(40))
        (sources / f"more{number}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    settings = Settings(home=home, chunk_tokens=32)
    async with open_tour(home, stored=True, settings=settings) as engine:
        (first,) = await add(engine, sources / "notes.md")
        before = (await engine.answer(QUESTION)).text
        full = False
        with no_room(beyond=room):
            try:
                await add(engine, sources)
            except StorageFull as error:
                full = True
                told = error
            during = await engine.answer(QUESTION)
        assert during.status == "answered"
        if full:
            assert (told.code, told.status) == ("storage_full", 507)
        ready, stored = await left_behind(home)
        assert all(stored.get(key) == count for key, count in ready.items())
        assert first.document_id in ready
        again = await add(engine, sources)
        assert {each.status for each in again} <= {"ready", "unchanged"}
        assert before.split(" [")[0] in (await engine.answer(QUESTION)).text
    ready, stored = await left_behind(home)
    assert len(ready) == len(again) == 10
    assert stored == ready

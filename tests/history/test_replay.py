"""A question that is asked again gives the same answer, or says what is different."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.errors import Conflict
from quoth.core.types import Filter, Turn
from quoth.engine import Engine
from quoth.history.replay import (
    replay,
)
from quoth.pipeline.record import Record
from quoth.pipeline.record_codec import pack, unpack
from quoth.pipeline.retrieve import Request
from quoth.store.rows import now
from quoth.testing import MemoryIndex
from tests.support.cli import quoth
from tests.support.recorded_queries import NECTAR, record_of_asking, row_of
from tests.support.small_library import add, open_tour, write_sources


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as opened:
        await add(opened, write_sources(tmp_path / "sources"))
        yield opened


REQUESTS = {
    "plain": Request(NECTAR),
    "choices": Request(NECTAR, {"final_k": 2, "fusion": "rrf", "mode": "semantic"}),
    "filters": Request(NECTAR, {"filters": (Filter("kind", "in", ("transcript",)),)}),
    "filters in words": Request(NECTAR, filters=("language=en", "speaker=any")),
    "a comparison": Request("What is the difference between the queen and the workers?"),
    "a place": Request("What is on page 3 of the book?"),
    "a summary": Request("Summarize the notes on keeping bees"),
    "a follow-up": Request("And what does it say of it?", history=(Turn(NECTAR, "Of nectar."),)),
    "no answer": Request("Which opera did Verdi write in Cairo?"),
    "in French": Request("Quel goût a le miel de châtaignier ?"),
}


@pytest.mark.parametrize("name", REQUESTS)
async def test_nothing_is_different_on_the_same_library(engine: Engine, name: str) -> None:
    record = stored(await record_of_asking(engine, REQUESTS[name]))
    found = await replay(record, engine)
    assert found.changes == ()
    assert found.same, found
    assert [each.pinned for each in found.since] == [True]


async def test_several_collections_are_asked_again(engine: Engine, tmp_path: Path) -> None:
    other = write_sources(tmp_path / "other") / "notes.md"
    async for _step in engine.add([other], collection="more"):
        pass
    request = Request(NECTAR, collections=("default", "more"))
    found = await replay(stored(await record_of_asking(engine, request)), engine)
    assert found.same
    assert [each.collection for each in found.since] == ["default", "more"]


async def test_a_replay_is_not_kept(engine: Engine) -> None:
    record = await record_of_asking(engine)
    await replay(record, engine)
    assert engine.parts.catalogue.asked(limit=9) == []


async def test_what_was_removed_since_is_told(engine: Engine) -> None:
    record = stored(await record_of_asking(engine))
    cited = record.answer.citations[0]
    await engine.remove([cited.document_id])
    found = await replay(record, engine)
    (since,) = found.since
    assert not found.same
    assert not since.pinned
    assert not since.rebuilt
    assert since.gone >= 1
    assert any("nectar" in each for each in found.cited_before)
    assert found.text_before != found.text_now


async def test_what_was_added_since_is_named(engine: Engine, tmp_path: Path) -> None:
    record = stored(await record_of_asking(engine))
    new = tmp_path / "mead.md"
    new.write_text("# Mead\n\nMead is made from honey and water, and is left to stand.\n")
    await add(engine, new)
    found = await replay(record, engine)
    (since,) = found.since
    assert since.added == ("Mead",)
    assert since.gone == 0
    assert any(each.before is None and each.at.document == "Mead" for each in found.hits)


async def test_a_question_without_a_record_is_asked_again_by_its_plan(engine: Engine) -> None:
    record = await record_of_asking(engine, Request(NECTAR, {"final_k": 2}))
    kept = pack(record)
    old = unpack(row_of(replace(kept, record=None), created_at="2026-01-01"))
    found = await replay(old, engine)
    assert found.same
    assert found.candidates is None


async def test_a_question_of_which_a_hash_was_kept_cannot_be_asked_again(engine: Engine) -> None:
    record = stored(await record_of_asking(engine), hashed=True)
    with pytest.raises(Conflict, match="hash"):
        await replay(record, engine)


def stored(record: Record, *, hashed: bool = False) -> Record:
    """As it comes out of the catalogue."""
    kept = pack(replace(record, keeping="hash" if hashed else "full"))
    return unpack(row_of(kept, created_at=now()))


# --- differences, one at a time ---------------------------------------------------------------


# --- the command ------------------------------------------------------------------------------


def test_the_command_ends_well_if_nothing_is_different(home: Path) -> None:
    query_id = quoth(home, "ask", NECTAR, "--json").json["query_id"]
    said = quoth(home, "replay", query_id)
    assert said.code == 0
    assert "answer: the same, word for word" in said.out
    assert quoth(home, "replay", query_id, "--json").json["same"]


def test_the_command_fails_if_something_is_different(home: Path) -> None:
    answer = quoth(home, "ask", NECTAR, "--json").json
    quoth(home, "remove", answer["citations"][0]["document_id"])
    said = quoth(home, "replay", answer["query_id"][:6])
    assert said.code == 1
    assert "has changed since" in said.out
    assert "default" in said.out

"""What is kept of a question says how its answer came about, and no more than was allowed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text, update

from quoth.core.errors import InputError, NotFound
from quoth.core.plan import Plan
from quoth.core.settings import Settings
from quoth.core.types import Filter, Support, Turn
from quoth.engine import Engine
from quoth.pipeline.record import MAX_CANDIDATES, HistoryLevel, Record, measure
from quoth.pipeline.record_codec import StoredRecord, pack, unpack
from quoth.pipeline.retrieve import Request
from quoth.store.catalogue import Catalogue
from quoth.store.checksums import intact
from quoth.store.database import open_database
from quoth.store.schema import answers, queries
from quoth.testing import MemoryIndex
from quoth.text.json_codec import dump, to_json
from tests.support.databases import plain_engine, step
from tests.support.made_documents import open_catalogue
from tests.support.recorded_queries import NECTAR, record_of_asking, row_of
from tests.support.small_library import add, open_tour, write_sources
from tests.text.test_json_decode import answer


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MemoryIndex]:
    folder = tmp_path_factory.mktemp("asked")
    index = MemoryIndex()

    async def fill() -> None:
        async with open_tour(folder / "home", index=index) as engine:
            await add(engine, write_sources(folder / "sources"))

    asyncio.run(fill())
    return folder / "home", index


@pytest.fixture
async def engine(shelf: tuple[Path, MemoryIndex]) -> AsyncIterator[Engine]:
    async with open_tour(shelf[0], index=shelf[1]) as opened:
        yield opened


def again(kept: StoredRecord) -> Record:
    return unpack(row_of(kept))


# --- what a record holds ----------------------------------------------------------------------


async def test_sentences_that_were_not_verified_are_not_measured(engine: Engine) -> None:
    record = await record_of_asking(engine)
    (first, *_others), used = record.answer.sentences, set(record.answer.used_chunks)
    supports: tuple[Support, ...] = ("supported", "partly", "unsupported", "unverified")
    given = tuple(replace(first, support=support) for support in supports)
    measures = measure(replace(record, answer=replace(record.answer, sentences=given)))
    assert measures is not None
    assert (measures.sentences_checked, measures.sentences_supported) == (3, 1)
    assert measures.passages_in_context == sum(used >= {*each} for each in record.passages)
    beside = replace(record, passages=(*record.passages, ("never read",)))
    assert pack(beside).measures == pack(replace(beside, keeping="hash")).measures
    assert pack(beside).measures == measure(record)


async def test_a_record_tells_where_each_candidate_stood(engine: Engine) -> None:
    record = await record_of_asking(engine)
    (searched,) = record.searched
    assert searched.found == len(searched.candidates)
    assert [each.fused.rank for each in searched.candidates] == [*range(1, searched.found + 1)]
    best = next(each for each in searched.candidates if each.shown == 1)
    assert best.chunk_id == record.answer.citations[0].chunk_id
    assert best.pool is not None
    assert best.legs["keyword"].rank == 1


async def test_a_record_holds_the_request_as_it_was_made(engine: Engine) -> None:
    request = Request(
        NECTAR,
        {"final_k": 3, "filters": (Filter("kind", "in", ("transcript",)),)},
        filters=("language=en",),
        history=(Turn("What do bees do?", "They fly."),),
    )
    kept = pack(await record_of_asking(engine, request))
    assert again(kept).request == replace(request, collections=("default",))


async def test_a_packed_record_comes_back_but_for_the_last_digits(engine: Engine) -> None:
    record = await record_of_asking(engine)
    packed = pack(record)
    found = again(packed)
    assert again(pack(found)) == found
    assert replace(found, searched=(), spans_ms={}) == replace(record, searched=(), spans_ms={})
    (one,), (other,) = found.searched, record.searched
    assert [each.chunk_id for each in one.candidates] == [e.chunk_id for e in other.candidates]
    for each, was in zip(one.candidates, other.candidates, strict=True):
        assert each.legs.keys() == was.legs.keys()
        assert each.fused.score == pytest.approx(was.fused.score, rel=1e-4)


def test_a_wide_search_is_kept_in_part() -> None:
    from quoth.core.types import LegScore
    from quoth.pipeline.record import CandidateTrace, CollectionTrace

    legs = {"keyword": LegScore(1000, 12.34567), "semantic": LegScore(1000, 0.876543)}
    rows = tuple(
        CandidateTrace(f"{at:024x}", legs, LegScore(at, 0.54321), "convex", LegScore(at, 0.5), at)
        for at in range(1, MAX_CANDIDATES + 1)
    )
    record = Record(
        Request("Why?"), Plan(), answer(), searched=(CollectionTrace("default", "v", 2000, rows),)
    )
    assert len(pack(record).record) < 30_000


# --- what is kept of it -----------------------------------------------------------------------


async def asked_with(home: Path, history: HistoryLevel) -> tuple[Catalogue, str]:
    settings = Settings(home=home, chunk_tokens=32, history=history)
    async with open_tour(home, settings=settings) as engine:
        await add(engine, write_sources(home / "sources") / "hive.srt")
        found = await engine.answer(NECTAR)
    return Catalogue(open_database(home / "catalogue.sqlite"), tenant="local"), found.query_id


async def test_nothing_is_kept_if_the_history_is_off(tmp_path: Path) -> None:
    catalogue, query_id = await asked_with(tmp_path, "off")
    assert catalogue.asked(limit=9) == []
    with pytest.raises(NotFound):
        catalogue.answer(query_id)
    catalogue.close()


async def test_no_text_is_kept_but_a_hash_where_that_was_chosen(tmp_path: Path) -> None:
    catalogue, _query_id = await asked_with(tmp_path, "hash")
    (asked,) = catalogue.asked(limit=9)
    assert asked.text.startswith("#")
    catalogue.close()
    with sqlite3.connect(tmp_path / "catalogue.sqlite") as connection:
        rows = [
            str(row)
            for table in ("queries", "answers", "records")
            for row in connection.execute(f"SELECT * FROM {table}")
        ]
    assert not [word for word in ("honey", "nectar", "Ada", "hive") for row in rows if word in row]


def test_no_filter_is_kept_with_a_hash() -> None:
    ada = Filter("speaker", "in", ("Ada",))
    request = Request("Why?", {"filters": (ada,), "final_k": 3}, filters=("speaker=Ada",))
    kept = pack(Record(request, Plan(filters=(ada,)), answer(), keeping="hash"))
    assert not [each for each in (kept.plan, kept.record, kept.answer) if "Ada" in each]
    assert again(kept).request.choices == {"final_k": 3}


# --- the catalogue ----------------------------------------------------------------------------


def keep(catalogue: Catalogue, query_id: str, *, said: str | None = None) -> None:
    kept = answer() if said is None else replace(answer(), text=said)
    catalogue.record(
        StoredRecord(
            query_id=query_id,
            collection="default",
            text="Why?",
            plan=dump(to_json(Plan())),
            answer=json.dumps(to_json(kept)),
            version="t:1",
            status="answered",
        )
    )


def test_a_question_is_found_by_the_beginning_of_its_id(address: Path | str) -> None:
    catalogue, _collection = open_catalogue(address)
    for query_id in ("q_aa11", "q_ab22", "q_ab33"):
        keep(catalogue, query_id)
    assert catalogue.recorded("q_aa").query_id == "q_aa11"
    assert catalogue.recorded("aa1").query_id == "q_aa11"
    assert catalogue.recorded("q_ab33").query_id == "q_ab33"
    with pytest.raises(InputError, match="q_ab22, q_ab33"):
        catalogue.recorded("ab")
    for nothing in ("q_cc", "q_", "", "%", "q_a_", "q_ab22x"):
        with pytest.raises(NotFound, match="quoth history"):
            catalogue.recorded(nothing)
    catalogue.close()


def test_questions_of_others_are_not_there(address: Path | str) -> None:
    catalogue, _collection = open_catalogue(address)
    theirs, _their_collection = open_catalogue(address, tenant="theirs")
    keep(theirs, "q_theirs")
    assert catalogue.asked(limit=9) == []
    with pytest.raises(NotFound):
        catalogue.recorded("q_theirs")
    assert [each.query_id for each in theirs.asked(limit=9)] == ["q_theirs"]
    catalogue.close()
    theirs.close()


def test_the_newest_questions_come_first(address: Path | str) -> None:
    catalogue, _collection = open_catalogue(address)
    for query_id in ("q_1", "q_2", "q_3"):
        keep(catalogue, query_id)
    with catalogue.writing("set back") as connection:
        for at in (1, 2, 3):
            older = update(queries).where(queries.c.id == f"q_{at}")
            connection.execute(older.values(created_at=f"2026-01-0{at}"))
    assert [each.query_id for each in catalogue.asked(limit=2)] == ["q_3", "q_2"]
    catalogue.close()


def test_the_history_is_searched_without_its_answers(address: Path | str) -> None:
    catalogue, _collection = open_catalogue(address)
    keep(catalogue, "q_1", said="Le miel ne gèle pas, 100 % sûr.")
    keep(catalogue, "q_2", said="Damaged\0by a \ud800 model")
    with catalogue.writing("lose answers") as connection:
        connection.execute(delete(answers))
    for words, found in (
        ("GELE why", ["q_1"]),
        ("100 %", ["q_1"]),
        ("1_0", []),
        ("damaged by", ["q_2"]),
        ("why?", ["q_1", "q_2"]),
        ("gele damaged", []),
    ):
        assert sorted(each.query_id for each in catalogue.asked(limit=9, words=words)) == found
    assert catalogue.rename("q_1", "Winter")
    assert [each.title for each in catalogue.asked(limit=9, words="winter")] == ["Winter"]
    with catalogue.reading() as connection:
        assert len(list(intact(connection.execute(select(queries))))) == 2
    catalogue.close()


def test_questions_kept_before_there_were_records_can_be_read(new_address: Path | str) -> None:
    step(new_address, "0002")
    plan = Plan(filters=(Filter("kind", "in", ("pdf",)), *answer().query.filters))
    older = {
        "queries (id, tenant, collection, text, plan, index_version, created_at)": (
            *("q_old", "local", "default", "Why?", dump(to_json(plan)), "t:1", "2026-01-01"),
        ),
        "answers (query_id, tenant, answer)": ("q_old", "local", dump(to_json(answer()))),
    }
    with plain_engine(new_address) as engine, engine.begin() as connection:
        for table, values in older.items():
            given = {f"v{at}": value for at, value in enumerate(values)}
            places = ", ".join(f":{name}" for name in given)
            connection.execute(text(f"INSERT INTO {table} VALUES ({places})"), given)
    catalogue = Catalogue(open_database(new_address), tenant="local")
    (asked,) = catalogue.asked(limit=9)
    assert asked.status == "answered"
    record = unpack(catalogue.recorded("q_old"))
    filters = (Filter("kind", "in", ("pdf",)),)
    assert record.request == Request("Why?", {"filters": filters}, collections=("default",))
    assert record.searched == ()
    catalogue.close()

"""S17: after a purge no byte of a deleted document is left anywhere in the data folder."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.core.types import Answer, Document, Turn
from quoth.engine import Engine
from quoth.operations.purge import purge
from quoth.pipeline.components import OutlineCache
from quoth.pipeline.retrieve import Request
from quoth.store.blobs import Blobs
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database, open_database
from quoth.store.erase import StoredQuestions
from quoth.store.ingest_jobs import Jobs
from quoth.store.metadata import metadata
from quoth.store.rows import index_folder
from tests.support.cli import quoth_process
from tests.support.databases import Server

CANARY = "xylograph"
SECRET = f"""# The {CANARY} of Treviso

The {CANARY} of Treviso was carved by hand in the year 1523 from the wood of a pear tree.
Nobody knows who owned the {CANARY} before the town bought it for forty ducats.
"""
OTHER = """# The bridge of Bassano

The bridge of Bassano was built in the year 1569 by the architect Palladio from oak beams.
It was rebuilt three times after floods carried it away.
"""
FORMS = (
    CANARY.encode(),
    CANARY.encode("utf-16-le"),
    CANARY.encode("utf-16-be"),
    CANARY.capitalize().encode(),
)


@pytest.fixture
async def engine(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Engine]:
    """A library with real files: two documents, and for the copy many small parts beside them."""
    monkeypatch.setattr("quoth.operations.purge.DROP_AFTER_S", 0)  # nobody else is searching
    (tmp_path / "secret.md").write_text(SECRET, encoding="utf-8")
    (tmp_path / "other.md").write_text(OTHER, encoding="utf-8")
    sources = [tmp_path / "secret.md", tmp_path / "other.md"]
    if getattr(request, "param", "table") == "search copy":
        sections = (f"# Part {n}\n\nThe mill number {n} grinds corn.\n" for n in range(300))
        (tmp_path / "mills.md").write_text("\n".join(sections), encoding="utf-8")
        sources.append(tmp_path / "mills.md")
    settings = Settings(home=tmp_path / "home", embedder="fake", chunk_tokens=32)
    async with open_engine(settings) as opened:
        documents = [each async for each in opened.add(sources) if isinstance(each, Document)]
        assert {each.status for each in documents} == {"ready"}
        await opened.settle()
        yield opened


async def _remove_secret(engine: Engine) -> None:
    (key,) = [each.document_id for each in await engine.documents() if "secret" in each.source]
    assert await engine.remove([key]) == [key]


def _holding(home: Path, forms: tuple[bytes, ...] = FORMS) -> list[str]:
    return sorted(
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    )


async def _in_any_version(home: Path) -> list[str]:
    """Read every version of every table, decompressed: where the canary still is."""
    import lancedb

    found = []
    for folder in sorted(home.glob("index/*")):  # noqa: ASYNC240 - a test
        database = await lancedb.connect_async(folder)
        for name in (await database.list_tables()).tables:
            table = await database.open_table(name)
            versions: list[Any] = await table.list_versions()  # type: ignore[no-untyped-call]
            for each in versions:
                await table.checkout(each["version"])
                rows = (await table.query().to_arrow()).drop_columns(["vector"]).to_pylist()
                found += [name for row in rows if CANARY in str(row)]
    return found


BOTH = pytest.mark.parametrize("engine", ["table", "search copy"], indirect=True)


@BOTH
async def test_no_byte_of_a_deleted_document_is_left(engine: Engine) -> None:
    home = engine.parts.settings.home
    for question in (f"Who carved the {CANARY}?", "What did the town buy for forty ducats?"):
        assert CANARY in str(await engine.answer(question))
    assert _holding(home)
    assert await _in_any_version(home)

    await _remove_secret(engine)
    assert _holding(home), "only a purge goes so far"
    done = await purge(engine.parts)

    assert done.complete, done.left
    assert _holding(home) == []
    assert await _in_any_version(home) == []
    assert done.questions == 2


@BOTH
async def test_what_is_still_there_is_found_as_before(engine: Engine) -> None:
    question = "Who built the bridge of Bassano?"
    await _remove_secret(engine)
    before = await engine.search(question)
    vectors = await _vectors(engine, [each.chunk_id for each in before])

    await purge(engine.parts)

    after = await engine.search(question)
    assert [(e.chunk_id, e.text) for e in after] == [(e.chunk_id, e.text) for e in before]
    assert await _vectors(engine, [each.chunk_id for each in before]) == vectors
    assert (await engine.health()).ok


async def _vectors(engine: Engine, ids: list[str]) -> dict[str, list[float]]:
    table = engine.parts.catalogue.collection("default").table
    found = await engine.parts.open_index(table).vectors(ids, exact=True)
    return {key: row.tolist() for key, row in found.items()}


async def test_answers_from_what_is_still_there_stay_in_the_history(engine: Engine) -> None:
    kept = await engine.answer("Who built the bridge of Bassano?")
    await _remove_secret(engine)
    kept = await engine.answer("When was the bridge of Bassano built?")
    await purge(engine.parts)
    assert kept.text in engine.parts.catalogue.answer(kept.query_id)


async def test_a_conversation_that_was_told_deleted_words_is_blanked_too(engine: Engine) -> None:
    told = await engine.answer(f"Who carved the {CANARY}?")
    await engine.answer(
        Request(
            "When was the bridge of Bassano built?",
            history=(Turn("Who carved it?", f"The {CANARY} was carved by hand."),),
        )
    )
    assert isinstance(told, Answer)
    await _remove_secret(engine)
    await purge(engine.parts)
    assert _holding(engine.parts.settings.home) == []


async def test_a_second_purge_finds_nothing_to_do(engine: Engine) -> None:
    await engine.answer(f"Who carved the {CANARY}?")
    await _remove_secret(engine)
    await purge(engine.parts)
    again = await purge(engine.parts)
    assert (again.questions, again.files, again.left) == (0, 0, ())


async def test_a_question_that_cannot_be_read_goes_as_a_whole(engine: Engine) -> None:
    answer = await engine.answer("Who built the bridge of Bassano?")
    catalogue = engine.parts.catalogue
    (trace,) = StoredQuestions(catalogue.database, tenant=catalogue.tenant).all()
    assert trace.query_id == answer.query_id
    with catalogue.writing("damage") as connection:
        connection.exec_driver_sql("UPDATE answers SET answer = '[]'")
    await purge(engine.parts)
    assert catalogue.asked(limit=5) == []


async def test_files_and_indexes_that_belong_to_nothing_go(engine: Engine) -> None:
    settings = engine.parts.settings
    blobs = Blobs(settings.home, tenant=settings.tenant)
    deserted = [blobs.path("a" * 64, name="secret.md"), blobs.part("left-behind")]
    deserted.append(index_folder(settings) / "c_of_a_killed_rebuild.lance" / "data")
    for path in deserted:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET, encoding="utf-8")
        for each in (path, path.parent):
            os.utime(each, (1.0, 1.0))
    being_made = index_folder(settings) / "c_being_made.lance"
    being_made.mkdir()
    done = await purge(engine.parts)
    assert [path for path in deserted if path.exists()] == []
    assert being_made.exists()
    assert "c_being_made.lance" in str(done.left)
    being_made.rmdir()
    copy = settings.home / "catalogue.20260101-000000.damaged"  # as a repair keeps it
    copy.touch()
    assert copy.name in str((await purge(engine.parts)).left)
    copy.unlink()
    assert (await purge(engine.parts)).complete


async def test_rows_go_from_a_server_too(tmp_path: Path, server: Server) -> None:
    sources = [tmp_path / "secret.md", tmp_path / "other.md"]
    for path, text in zip(sources, (SECRET, OTHER), strict=True):
        path.write_text(text, encoding="utf-8")
    database = open_database(server.migrated())
    catalogue = Catalogue(database, tenant="local")
    jobs, outlines = Jobs(catalogue), OutlineCache(catalogue)
    try:
        async with open_engine(Settings(home=tmp_path / "home", embedder="fake")) as opened:
            engine = Engine(
                replace(opened.parts, catalogue=catalogue, jobs=jobs, outlines=outlines)
            )
            assert [each async for each in engine.add(sources) if isinstance(each, Document)]
            await engine.answer(f"Who carved the {CANARY}?")
            assert _rows_holding(database) > 0
            await _remove_secret(engine)
            done = await purge(engine.parts)
            assert (done.questions, done.left) == (1, ())
            assert _rows_holding(database) == 0
            assert _holding(engine.parts.settings.home) == []
    finally:
        database.close()


def _rows_holding(database: Database) -> int:
    with database.engine.connect() as connection:
        return sum(
            CANARY in str(row).casefold()
            for table in metadata.sorted_tables
            for row in connection.execute(table.select())
        )


@pytest.mark.soak
def test_a_killed_purge_loses_nothing_and_is_finished_by_the_next(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name, text in (("secret.md", SECRET), ("other.md", OTHER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    added = quoth_process(home, "add", str(tmp_path), "--json")
    assert added.code == 0, added.err
    (key,) = [each["document_id"] for each in added.json if "secret" in each["source"]]
    assert quoth_process(home, "ask", f"Who carved the {CANARY}?").code == 0
    assert quoth_process(home, "remove", key).code == 0
    killed = 0
    for step in range(1, 60):
        done = quoth_process(home, "purge", QUOTH_CRASH_AT=str(step))
        if done.code == 0:
            break
        killed += done.code == -9
        said = quoth_process(home, "ask", "Who built the bridge of Bassano?", "--json")
        assert "Palladio" in said.json["text"], step
        _grow_old(home)
    assert killed >= 5
    assert quoth_process(home, "purge").code == 0
    assert _holding(home) == []
    assert quoth_process(home, "doctor").code == 0


def _grow_old(home: Path) -> None:
    """Let what the killed process left be older than an index that is being made."""
    hour_ago = time.time() - 3600
    for path in home.glob("index/*/*"):
        for each in (path, *path.rglob("*")):
            os.utime(each, (hour_ago, hour_ago))

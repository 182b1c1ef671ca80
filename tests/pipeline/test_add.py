"""Adding, changing, removing and rebuilding: nothing is lost, nothing is there twice."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quoth.backends.indexes.lancedb.client import lancedb
from quoth.core.errors import IndexMismatch, StorageFull
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Document
from quoth.engine import Engine
from quoth.pipeline.commit import IngestProgress
from quoth.pipeline.retrieve import Request
from quoth.store.ingest_jobs import Jobs
from quoth.testing import HashEmbedder, MemoryIndex
from tests.support.full_disk import no_room
from tests.support.killed_process import left_behind
from tests.support.recording_embedder import RecordingEmbedder
from tests.support.small_library import FRENCH, NOTES, add, open_tour, write_sources

ALL_READY = ["ready"] * 4


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "sources")


async def chunk_ids(engine: Engine) -> set[str]:
    """The ids of all chunks; they must be the same in the catalogue and in the index."""
    collection = engine.parts.catalogue.collection("default")
    documents = [each for each in await engine.documents() if each.status == "ready"]
    found = {
        chunk.chunk_id
        for each in documents
        for chunk in engine.parts.catalogue.document_chunks(each.document_id)
    }
    index = engine.parts.open_index(collection.table)
    assert set(await index.vectors(sorted(found))) == found
    assert await index.document_ids() == {each.document_id: each.chunks for each in documents}
    return found


def by_name(documents: Sequence[Document]) -> dict[str, Document]:
    return {Path(each.source).name: each for each in documents}


# --- again ------------------------------------------------------------------------------------


async def test_adding_again_changes_nothing(tmp_path: Path, sources: Path) -> None:
    embedder = RecordingEmbedder()
    async with open_tour(tmp_path / "home", embedder=embedder, stored=True) as engine:
        first = await add(engine, sources)
        assert [each.status for each in first] == ALL_READY
        ids, embedded = await chunk_ids(engine), len(embedder.documents)
        assert embedded > len(ids)  # the titles above the chunks are embedded too
        version = engine.parts.catalogue.collection("default").version
        again = await add(engine, sources)
        assert [each.status for each in again] == ["unchanged"] * 4
        assert {each.document_id for each in again} == {each.document_id for each in first}
        assert await chunk_ids(engine) == ids
        assert len(embedder.documents) == embedded
        assert engine.parts.catalogue.collection("default").version == version


async def test_ids_are_the_same_in_another_home(tmp_path: Path, sources: Path) -> None:
    found = []
    for name in ("one", "other"):
        async with open_tour(tmp_path / name) as engine:
            await add(engine, sources)
            found.append(await chunk_ids(engine))
    assert found[0] == found[1]


async def test_a_changed_file_replaces_what_it_was(tmp_path: Path, sources: Path) -> None:
    async with open_tour(tmp_path / "home", stored=True) as engine:
        before = by_name(await add(engine, sources))["notes.md"]
        (sources / "notes.md").write_text(NOTES.replace("honey", "candy"), encoding="utf-8")
        after = by_name(await add(engine, sources))["notes.md"]
        assert after.status == "ready"
        assert after.document_id != before.document_id
        assert len(await engine.documents()) == 4
        assert engine.parts.catalogue.document_chunks(before.document_id) == []
        await chunk_ids(engine)
        assert not await engine.search(Request("kilograms of honey", filters=("language=zz",)))
        (top, *_) = await engine.search("fifteen kilograms of candy")
        assert "candy" in top.text


async def test_a_changed_sidecar_is_a_changed_file(tmp_path: Path, sources: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        (sources / "hive.meta.json").write_text('{"title": "The hive within"}', encoding="utf-8")
        again = by_name(await add(engine, sources))
        assert again["hive.srt"].status == "ready"
        assert again["hive.srt"].title == "The hive within"
        assert again["hive.srt"].url is None
        assert len(await engine.documents()) == 4


async def test_progress_counts_the_passages_of_each_document(tmp_path: Path, sources: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        steps = [step async for step in engine.add([sources])]
    counts = {each.title: each.chunks for each in steps if isinstance(each, Document)}
    said = [step for step in steps if isinstance(step, IngestProgress)]
    assert said[-1].in_batch == len(counts) > 1
    assert all(step.own[0] <= step.own[1] == counts[step.source] for step in said)
    assert said[-1].chunks == sum(counts.values())


async def test_the_language_is_that_of_the_text_unless_it_is_given(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    french = f"<html lang=en><title>Ruche</title><body>{'<p>' + FRENCH} "
    for name in ("ruche.html", "said.html"):
        (sources / name).write_text(french, encoding="utf-8")
    (sources / "said.meta.json").write_text('{"language": "de"}', encoding="utf-8")
    (sources / "short.html").write_text("<html lang=it><p>12 : 34", encoding="utf-8")
    (sources / "mixed.md").write_text(f"{NOTES}\n" * 30 + f"{FRENCH}\n" * 70, "utf-8")
    (sources / "polski.txt").write_text(
        "Pszczoły zbierają nektar z kwiatów i robią z niego miód, który zjadają zimą.\n" * 2,
        encoding="utf-8",
    )
    async with open_tour(tmp_path / "home") as engine:
        found = by_name(await add(engine, sources))
    assert {name: each.language for name, each in found.items()} == {
        "ruche.html": "fr",
        "said.html": "de",
        "short.html": "it",
        "mixed.md": "fr",
        "polski.txt": "pl",
    }


# --- the same thing twice ---------------------------------------------------------------------


async def test_a_copy_stays_when_the_first_of_two_changes(tmp_path: Path, sources: Path) -> None:
    shutil.copy(sources / "notes.md", sources / "zz-copy.md")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        (sources / "notes.md").write_text("# Wax\n\nWax is made by bees.\n", encoding="utf-8")
        await add(engine, sources)
        ready = by_name(await engine.documents())
        assert set(ready) == {"notes.md", "zz-copy.md", "hive.srt", "miel.md", "book.pdf"}
        await chunk_ids(engine)


async def test_links_follow_a_file_that_has_moved(tmp_path: Path, sources: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        ids = await chunk_ids(engine)
        (sources / "notes.md").rename(sources / "bees.md")
        await add(engine, sources)
        assert await chunk_ids(engine) == ids
        (hit, *_) = await engine.search("When does a colony swarm?")
        assert hit.link is not None
        assert "/bees.md" in hit.link


# --- removing and repairing -------------------------------------------------------------------


async def test_removing_leaves_nothing(tmp_path: Path, sources: Path) -> None:
    async with open_tour(tmp_path / "home", stored=True) as engine:
        gone = by_name(await add(engine, sources))["notes.md"].document_id
        assert await engine.remove([gone, "no-such-id", "\udce9"]) == [gone]
        assert gone not in {each.document_id for each in await engine.documents()}
        assert engine.parts.catalogue.document_chunks(gone) == []
        await chunk_ids(engine)
        hits = await engine.search("When does a colony swarm?")
        assert "Keeping bees" not in {hit.document for hit in hits}
        assert await engine.remove([gone]) == []


async def test_reconciling_deletes_what_leads_nowhere_and_nothing_else(
    tmp_path: Path, sources: Path
) -> None:
    async with open_tour(tmp_path / "home", stored=True) as engine:
        await add(engine, sources)
        ids = await chunk_ids(engine)
        index = engine.parts.open_index(engine.parts.catalogue.collection("default").table)
        some = engine.parts.catalogue.document_chunks((await engine.documents())[0].document_id)
        orphans = [orphan(each) for each in some]
        vectors = await HashEmbedder().embed([each.text for each in orphans], role="document")
        await index.upsert(orphans, vectors=vectors)
        health = await engine.health()
        assert "1 documents in the index are not in the catalogue" in str(health)
        await add(engine, sources / "notes.md")
        assert await chunk_ids(engine) == ids


def orphan(each: Chunk) -> Chunk:
    return Chunk(
        chunk_id=f"{each.chunk_id}x",
        document_id="f" * 24,
        ordinal=each.ordinal,
        start=each.start,
        end=each.end,
        text=each.text,
        locator=each.locator,
        kind=each.kind,
    )


async def test_rows_that_are_missing_from_the_index_are_made_again(
    tmp_path: Path, sources: Path
) -> None:
    async with open_tour(tmp_path / "home", stored=True) as engine:
        documents = await add(engine, sources)
        ids = await chunk_ids(engine)
        index = engine.parts.open_index(engine.parts.catalogue.collection("default").table)
        await index.delete([each.document_id for each in documents[:2]])
        assert not (await engine.health()).ok
        await add(engine, sources)
        assert await chunk_ids(engine) == ids
        assert (await engine.health()).ok


async def test_an_index_whose_making_was_cut_short_is_finished(
    tmp_path: Path, sources: Path
) -> None:
    async with open_tour(tmp_path / "home", stored=True) as engine:
        await add(engine, sources)
    (folder,) = (tmp_path / "home" / "index").iterdir()
    database = await lancedb.connect_async(folder)
    (name,) = (await database.list_tables()).tables
    with await database.open_table(name) as table:
        await table.drop_index("id_idx")
    async with open_tour(tmp_path / "home", stored=True) as engine:
        await add(engine, sources)
        await chunk_ids(engine)
        answer = await engine.answer("When does a colony swarm?")
        assert answer.citations
        assert answer.degraded == ()


async def test_a_rebuild_keeps_ids_and_searches_and_takes_in_what_is_added_meanwhile(
    tmp_path: Path, sources: Path
) -> None:
    late = tmp_path / "late.md"
    late.write_text("# Wax\n\nBees make wax from honey.\n", encoding="utf-8")
    async with open_tour(tmp_path / "home", stored=True) as engine:
        await add(engine, sources)
        before = await chunk_ids(engine)
        table = engine.parts.catalogue.collection("default").table
        seen = 0
        async for _step in engine.reindex():
            assert await engine.search("When does a colony swarm?")
            if seen == 1:
                await add(engine, late)
            seen += 1
        assert engine.parts.catalogue.collection("default").table != table
        after = await chunk_ids(engine)
        assert before < after
        assert (await engine.search("What is wax made from?"))[0].document == "Wax"
        assert await engine.parts.open_index(table).document_ids() == {}


async def test_a_rebuild_by_another_model_does_not_take_in_the_old_ones_vectors(
    tmp_path: Path, sources: Path
) -> None:
    class Other(HashEmbedder):
        revision = "2"

    class Switching(HashEmbedder):
        """While it embeds a document, another process rebuilds with the other model."""

        async def embed(self, texts: Sequence[str], *, role: Any) -> Matrix:
            async with open_tour(tmp_path / "home", embedder=Other(), index=index) as other:
                assert [step async for step in other.reindex()]
            return await super().embed(texts, role=role)

    index = MemoryIndex()
    async with open_tour(tmp_path / "home", index=index) as engine:
        await add(engine, sources / "miel.md")
    async with open_tour(tmp_path / "home", index=index, embedder=Switching()) as engine:
        with pytest.raises(IndexMismatch):
            await add(engine, sources / "notes.md")
        assert len(await engine.documents()) == 1


# --- side by side -----------------------------------------------------------------------------


async def test_a_document_in_other_hands_is_waited_for(tmp_path: Path, sources: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        path = sources / "notes.md"
        (document,) = await add(engine, path)
        key = document.document_id
        await engine.remove([key])
        catalogue = engine.parts.catalogue
        other = Jobs(catalogue)
        collection = catalogue.collection("default")
        assert other.claim(collection, key, source=str(path), title="notes") == "claimed"

        async def ready() -> list[Document]:
            return [each for each in await engine.documents() if each.status == "ready"]

        adding = asyncio.create_task(add(engine, sources))
        async with asyncio.timeout(30):
            while len(await ready()) < 3:  # noqa: ASYNC110 - the catalogue is asked
                await asyncio.sleep(0.05)
        done, _pending = await asyncio.wait([adding], timeout=0.6)
        assert not done
        assert len(await ready()) == 3
        other.release([key])  # as if it had been stopped
        assert by_name(await adding)["notes.md"].status == "ready"


async def test_two_adds_at_once_share_the_work(tmp_path: Path, sources: Path) -> None:
    index = MemoryIndex()
    home = tmp_path / "home"
    async with open_tour(home, index=index) as one, open_tour(home, index=index) as other:
        found = await asyncio.gather(add(one, sources), add(other, sources))
        for documents in zip(
            *(sorted(each, key=lambda d: d.source) for each in found), strict=True
        ):
            assert sorted(each.status for each in documents) == ["ready", "unchanged"]
        await chunk_ids(one)


@pytest.mark.parametrize("pause", [0.0, 0.001, 0.003, 0.01, 0.03])
async def test_an_add_may_be_cancelled_at_any_moment_and_done_again(
    tmp_path: Path, sources: Path, pause: float
) -> None:
    """Also while a thread is taking a lease, which nobody would give back."""
    async with open_tour(tmp_path / "home") as engine:
        for _ in range(3):
            adding = asyncio.create_task(add(engine, sources))
            await asyncio.sleep(pause)
            adding.cancel()
            await asyncio.wait([adding])
            assert {each.status for each in await engine.documents()} <= {"ready"}
        async with asyncio.timeout(20):
            again = await add(engine, sources)
        assert {each.status for each in again} <= {"ready", "unchanged"}


def write_many(folder: Path, *, files: int) -> Path:
    """Files that together take a moment to add."""
    folder.mkdir()
    for number in range(files):
        lines = (f"Line {line} of file {number} speaks of topic {line % 7}." for line in range(300))
        (folder / f"{number:02}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    return folder


def start_add(home: Path, source: Path, *options: str, **how: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "QUOTH_EMBEDDER": "fake", "QUOTH_CHUNK_TOKENS": "64"}
    return subprocess.Popen(
        [sys.executable, "-m", "quoth", "--home", str(home), *options, "add", str(source)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


@pytest.mark.soak
async def test_two_processes_adding_one_folder_to_a_new_home(tmp_path: Path) -> None:
    source = write_many(tmp_path / "files", files=6)
    both = [start_add(tmp_path / "home", source, "--json") for _ in range(2)]
    said = [each.communicate(timeout=120) for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    found = [{d["document_id"]: d["status"] for d in json.loads(out)} for out, _err in said]
    assert found[0].keys() == found[1].keys()
    assert all(sorted((found[0][key], found[1][key])) == ["ready", "unchanged"] for key in found[0])
    ready, stored = await left_behind(tmp_path / "home")
    assert len(ready) == 6
    assert stored == ready


async def test_control_c_in_the_middle_keeps_what_is_done_and_frees_the_rest(
    tmp_path: Path,
) -> None:
    home, source = tmp_path / "home", write_many(tmp_path / "files", files=12)
    adding = start_add(home, source)
    wait_for_leases(home)
    adding.send_signal(signal.SIGINT)
    out, err = adding.communicate(timeout=60)
    assert adding.returncode == 130, err
    assert "the same command continues from there" in err.replace("\n", " ")
    assert "Traceback" not in out + err
    assert leases(home) == 0
    async with open_tour(home, stored=True) as engine:
        before = {each.document_id for each in await engine.documents()}
        assert {each.status for each in await engine.documents()} <= {"ready"}
        again = await add(engine, source)
    assert len(again) == 12
    assert {each.document_id for each in again if each.status == "unchanged"} == before
    ready, stored = await left_behind(home)
    assert len(ready) == 12
    assert stored == ready


def wait_for_leases(home: Path) -> None:
    until = time.monotonic() + 60
    while leases(home) < 3:
        assert time.monotonic() < until, "nothing was ever claimed"
        time.sleep(0.01)


def leases(home: Path) -> int:
    file = home / "catalogue.sqlite"
    if not file.exists():
        return 0
    connection = sqlite3.connect(file, timeout=30)
    try:
        query = "SELECT count(*) FROM jobs WHERE state = 'running'"
        return int(connection.execute(query).fetchone()[0])
    except sqlite3.OperationalError:  # not migrated yet
        return 0
    finally:
        connection.close()


# --- a full disk ------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [1, 9000, 30_000, 110_000])
async def test_a_full_disk_loses_nothing(tmp_path: Path, sources: Path, room: int) -> None:
    home = tmp_path / "home"
    for number in range(12):
        (sources / f"more{number}.txt").write_text(NOTES * 4 + str(number), encoding="utf-8")
    async with open_tour(home, stored=True) as engine:
        before = [each.document_id for each in await add(engine, sources / "book.pdf")]
        with no_room(beyond=room), pytest.raises(StorageFull, match="Free some space"):
            await add(engine, sources)
        # The same process goes on, though it could not even give its leases back.
        again = await add(engine, sources)
        assert len(again) == 16
        assert {each.status for each in again} <= {"ready", "unchanged"}
        assert set(before) <= {e.document_id for e in again if e.status == "unchanged"}
        await chunk_ids(engine)
    ready, stored = await left_behind(home)
    assert len(ready) == 16
    assert stored == ready

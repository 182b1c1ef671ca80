"""Another embedder for a collection: its index beside the old one, in a service that goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.bootstrap import open_engine
from quoth.core.errors import Denied, IndexMismatch
from quoth.core.protocols import Matrix
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.evaluation.compare_embedders import compare_embedders
from quoth.operations.purge import _rewrite as rewrite
from quoth.operations.purge import purge
from quoth.pipeline.components import Components, components_of
from quoth.pipeline.egress import list_egress
from quoth.pipeline.maintain import drop_kept, reconcile
from quoth.store.catalogue import Catalogue
from quoth.store.privacy_settings import PrivacyStore
from quoth.store.rows import Collection, index_folder
from tests.support.embedding_server import Script, embedding_server
from tests.support.small_library import add

QUESTION = "When does a colony swarm?"


@pytest.fixture
def server() -> Iterator[Script]:
    with embedding_server() as script:
        script.dimension = 128
        yield script


@pytest.fixture
async def service(home: Path) -> AsyncIterator[Engine]:
    """An engine with the fake embedder that holds the small library, and stays open."""
    async with open_engine(Settings(home=home, embedder="fake")) as engine:
        yield engine


@asynccontextmanager
async def other_process(service: Engine, server: Script) -> AsyncIterator[Engine]:
    """An engine on the same library whose embedder is on a server."""
    settings = service.parts.settings.model_copy(
        update={"embedder": f"openai-compatible:m@{server.url}/v1", "embedder_dimensions": 128}
    )
    async with open_engine(settings) as engine:
        yield engine


async def rebuild(engine: Engine) -> None:
    async for _step in engine.reindex(change_embedder=True):
        pass


def collection(engine: Engine) -> Collection:
    return engine.parts.catalogue.collection("default")


def sent(server: Script) -> list[str]:
    """The texts that were embedded on the server, and forget them."""
    texts = [text for _path, body, _headers in server.asked for text in body["input"]]
    server.asked.clear()
    return texts


async def test_an_open_engine_switches_without_a_refused_question(
    service: Engine, server: Script, tmp_path: Path
) -> None:
    before, found = collection(service), []
    switched = asyncio.Event()

    async def ask() -> None:
        more = 3
        while more:
            found.append(await service.answer(f"{QUESTION} {len(found)}"))
            more -= switched.is_set()

    asking = asyncio.create_task(ask())
    async with other_process(service, server) as other:
        await rebuild(other)
    sent(server)
    switched.set()
    await asking
    assert len(found) > 3
    assert any(QUESTION in text for text in sent(server))
    assert not [each.degraded for each in found if each.degraded or not each.citations]
    now = collection(service)
    assert now.identity.embedder == "openai-compatible:m"
    assert (now.kept and now.kept.table, now.table != before.table) == (before.table, True)

    late = tmp_path / "late.md"
    late.write_text("# Wax\n\nBees make wax from honey.\n", encoding="utf-8")
    (wax,) = await add(service, late)
    assert any("Bees make wax" in text for text in sent(server))
    assert (await service.search("What is wax made from?"))[0].document == "Wax"
    assert (await service.health()).ok
    assert await service.remove([wax.document_id]) == [wax.document_id]
    counts = await components_of(service.parts, now).open_index(now.table).document_ids()
    assert wax.document_id not in counts


async def test_going_back_embeds_only_what_was_added_since(
    service: Engine, server: Script, tmp_path: Path
) -> None:
    async with other_process(service, server) as other:
        await rebuild(other)
        assert len(sent(server)) > 1
        await rebuild(service)
        late = tmp_path / "late.md"
        late.write_text("# Wax\n\nBees make wax from honey.\n", encoding="utf-8")
        (gone, *_rest) = await service.documents()
        await service.remove([gone.document_id])
        old = collection(service).kept
        assert old is not None
        assert gone.document_id not in await other.parts.open_index(old.table).document_ids()
        await add(service, late)
        sent(server)
        await rebuild(other)
        assert all("wax" in text.lower() for text in sent(server))
        stored = await other.parts.open_index(collection(other).table).document_ids()
        assert set(stored) == {each.document_id for each in await other.documents()}


async def test_the_old_index_is_there_until_it_is_dropped(service: Engine, server: Script) -> None:
    old = collection(service).table
    folder = index_folder(service.parts.settings)
    async with other_process(service, server) as other:
        assert not await other.drop_old()
        await rebuild(other)
        assert list(folder.glob(f"{old}.lance*"))
        assert await other.drop_old()
        assert collection(service).kept is None
        assert not list(folder.glob(f"{old}.lance*"))
        await rebuild(service)
        assert (await purge(service.parts)).complete
        assert collection(service).kept is None  # it may hold what was deleted


@pytest.mark.soak
async def test_an_index_that_is_dropped_while_a_rebuild_goes_back_to_it_is_made_anew(
    service: Engine, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch, loop = Catalogue.switch_index, asyncio.get_running_loop()
    async with other_process(service, server) as other:
        await rebuild(other)
        before = collection(other)

        def drop_and_switch(*given: Any) -> bool:
            monkeypatch.undo()
            assert asyncio.run_coroutine_threadsafe(other.drop_old(), loop).result()
            return switch(*given)

        monkeypatch.setattr(Catalogue, "switch_index", drop_and_switch)
        await rebuild(service)
        assert not await drop_kept(other.parts, before), "its index may serve again by now"
        assert collection(service).kept is not None
    assert await reconcile(service.parts, collection(service)) == ()
    assert (await service.health()).ok


async def test_two_rebuilds_that_go_back_at_once_leave_the_index_that_serves(
    service: Engine, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch, loop = Catalogue.switch_index, asyncio.get_running_loop()
    async with other_process(service, server) as other:
        await rebuild(other)
    async with open_engine(service.parts.settings) as twin:

        def be_second(*given: Any) -> bool:
            monkeypatch.undo()
            asyncio.run_coroutine_threadsafe(rebuild(twin), loop).result()
            return switch(*given)

        monkeypatch.setattr(Catalogue, "switch_index", be_second)
        await rebuild(service)
        assert await reconcile(twin.parts, collection(twin)) == ()
        assert (await twin.health()).ok


@pytest.mark.soak
async def test_a_purge_leaves_the_index_that_a_rebuild_keeps_meanwhile(
    service: Engine, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.operations.purge.BUILDING_S", 0)
    async with other_process(service, server) as other:

        async def rewrite_and_switch(parts: Components, found: Collection) -> list[str]:
            left = await rewrite(parts, found)
            await rebuild(other)
            return left

        monkeypatch.setattr("quoth.operations.purge._rewrite", rewrite_and_switch)
        report = await purge(service.parts)
        assert not report.complete, "the index that is kept may hold what was deleted"
        kept = collection(service).kept
        assert kept is not None
        assert await other.parts.open_index(kept.table).document_ids()


async def test_texts_may_be_added_where_the_collections_own_embedder_is_local(
    service: Engine, server: Script, tmp_path: Path
) -> None:
    """A tenant whose data may not leave, and settings whose embedder is elsewhere."""
    late = tmp_path / "late.md"
    late.write_text("# Wax\n\nBees make wax from honey.\n", encoding="utf-8")
    PrivacyStore.of(service.parts.catalogue).decide(
        history="full", retention_days=9, may_leave=False
    )
    async with other_process(service, server) as other:
        away = tuple(replace(each, local=False) for each in other.parts.remote)
        other.parts = replace(other.parts, remote=away)
        assert [each.status for each in await add(other, late)] == ["ready"]
        with pytest.raises(Denied, match="would receive the documents"):
            async for _step in other.add([late], collection="new"):
                pass
        assert other.parts.catalogue.find_collection("new") is None
    assert sent(server) == []


async def test_both_are_compared_on_questions_of_the_collection(
    service: Engine, server: Script
) -> None:
    assert await compare_embedders(service, progress=lambda *_: None) is None
    async with other_process(service, server) as other:
        await rebuild(other)
        compared = await compare_embedders(other, progress=lambda *_: None)
    assert compared is not None
    # The server's vectors are those of the fake embedder, repeated.
    assert compared.overlap > 0.8  # equal scores may come in another order
    assert replace(compared.before, embedder=compared.now.embedder) == compared.now
    assert compared.now.both > 0


async def test_an_embedder_that_cannot_be_opened_is_named_with_what_is_missing(
    service: Engine, server: Script
) -> None:
    async with other_process(service, server) as other:
        await rebuild(other)
    assert server.url.partition("//")[2] in {each.to for each in list_egress(service.parts)}
    lost = replace(collection(service), embedder="voyage:voyage-3.5")
    with pytest.raises(IndexMismatch, match="VOYAGE_API_KEY"):
        components_of(service.parts, lost)
    changed = replace(
        collection(service), identity=replace(collection(service).identity, revision="9")
    )
    with pytest.raises(IndexMismatch, match="reindex"):
        components_of(service.parts, changed)


async def test_a_document_that_was_embedded_before_the_switch_is_embedded_again(
    service: Engine, server: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = tmp_path / "late.md"
    late.write_text("# Wax\n\nBees make wax from honey.\n", encoding="utf-8")
    inner: Any = service.parts.embedder
    embed = inner.inner.embed

    async def switching(texts: Sequence[str], *, role: Any) -> Matrix:
        monkeypatch.undo()
        async with other_process(service, server) as other:
            await rebuild(other)
        rows: Matrix = await embed(texts, role=role)
        return rows

    monkeypatch.setattr(inner.inner, "embed", switching)
    assert [each.status for each in await add(service, late)] == ["ready"]
    assert (await service.search("What is wax made from?"))[0].document == "Wax"
    assert (await service.health()).ok

"""A store on a server that is slow or refuses: the answer goes on by keywords and says so."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from sqlalchemy.exc import SQLAlchemyError

from quoth.backends.indexes.sqlite_vec import SqliteVecStore
from quoth.backends.servers import require_servers
from quoth.bootstrap import open_engine
from quoth.core.errors import ConfigError, RetrievalError, StorageFull
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.operations.purge import purge
from quoth.pipeline.retrieve import Request
from tests.support.full_disk import no_room
from tests.support.pinecone_server import KEY, pinecone_server

QUESTION = Request("What does a blue whale eat?", choices={"cache": "none"})


async def fallback(engine: Engine) -> str:
    """Ask, and return what the answer says about the vector search."""
    answer = await engine.answer(QUESTION)
    assert "krill" in answer.text
    return "; ".join(line for line in answer.degraded if line.startswith("semantic"))


async def test_a_store_that_fails_is_replaced_by_keywords_and_repaired(tmp_path: Path) -> None:
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    with pinecone_server() as (address, state):
        async with open_engine(pinecone(tmp_path, address)) as engine:
            assert [step async for step in engine.add([tmp_path / "whales.txt"])]
            assert await fallback(engine) == ""
            state.status = 403
            assert "keyword" in await fallback(engine)
            state.status, state.wait_s = 200, 3.0
            assert "keyword" in await fallback(engine)
            state.wait_s = 0.0
            assert await fallback(engine) == ""
            for rows in state.rows.values():
                rows.clear()  # the store has lost its rows
            assert [step async for step in engine.reindex()]
            assert sum(map(len, state.rows.values())) == 1
            assert await fallback(engine) == ""


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "returned no ids with scores"),
        (["whales"], "returned no ids with scores"),
        ([("whales", None)], "returned no ids with scores"),
        ([("whales", float("nan"))], "returned a score that is not a finite number"),
    ],
)
async def test_what_is_no_ranking_is_a_failure_that_the_answer_names(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    found: object,
    words: str,
) -> None:
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    settings = Settings(home=tmp_path / "home", store="sqlite-vec", embedder="fake")
    async with open_engine(settings) as engine:
        assert [step async for step in engine.add([tmp_path / "whales.txt"])]
        monkeypatch.setattr(SqliteVecStore, "nearest", lambda _store, _vector, **_choices: found)
        assert await fallback(engine) == "semantic:retrieval_failed:keyword"
    assert f"The store sqlite-vec {words}" in caplog.text


async def test_a_store_that_is_full_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    (tmp_path / "seals.txt").write_text("A seal rests on the ice.")
    with pinecone_server() as (address, state):
        async with open_engine(pinecone(tmp_path, address)) as engine:
            assert [step async for step in engine.add([tmp_path / "whales.txt"])]
            state.full = True
            with pytest.raises(RetrievalError, match="storage limit"):
                assert [step async for step in engine.add([tmp_path / "seals.txt"])]
            assert [each.title for each in await engine.documents()] == ["whales"]
            assert await fallback(engine) == ""
            with pytest.raises(RetrievalError, match="storage limit"):
                assert [step async for step in engine.reindex()]
            assert await fallback(engine) == ""  # the index before is still the one in use
            state.full = False
            assert [step async for step in engine.add([tmp_path / "seals.txt"])]
            assert (await engine.search("Where does a seal rest?"))[0].document == "seals"
            assert (await engine.health()).ok


async def test_a_full_disk_below_a_store_in_a_folder_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    (tmp_path / "seals.txt").write_text("A seal rests on the ice.\n\n" * 400)
    settings = Settings(home=tmp_path / "home", embedder="fake", store="sqlite-vec")
    async with open_engine(settings) as engine:
        assert [step async for step in engine.add([tmp_path / "whales.txt"])]
        with no_room(beyond=50_000), pytest.raises(StorageFull):
            assert [step async for step in engine.add([tmp_path / "seals.txt"])]
        assert await fallback(engine) == ""
    async with open_engine(settings) as engine:
        assert [step async for step in engine.add([tmp_path / "seals.txt"])]
        assert len(await engine.documents()) == 2
        assert (await engine.health()).ok


async def test_documents_are_added_though_the_store_cannot_index_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_store: SqliteVecStore, *, rows: int) -> bool:
        raise SQLAlchemyError(f"no index of {rows} rows")

    monkeypatch.setattr(SqliteVecStore, "build", refuse)
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    settings = Settings(home=tmp_path / "home", embedder="fake", store="sqlite-vec")
    async with open_engine(settings) as engine:
        steps = [step async for step in engine.add([tmp_path / "whales.txt"])]
        assert steps[-1].status == "ready"  # type: ignore[union-attr]
        assert await fallback(engine) == ""
    assert "not_indexed" in caplog.messages


async def test_a_new_library_names_the_setting_of_its_moderation(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", moderation="openai@http://127.0.0.1:9")
    with pytest.raises(ConfigError, match="with QUOTH_MODERATION"):
        await require_servers(settings)


async def test_vectors_of_a_wrong_length_are_not_used_and_rebuilt(tmp_path: Path) -> None:
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    with pinecone_server() as (address, state):
        async with open_engine(pinecone(tmp_path, address)) as engine:
            assert [step async for step in engine.add([tmp_path / "whales.txt"])]
            state.short = True
            degraded = (await engine.answer(QUESTION)).degraded
            assert "vectors:retrieval_failed:fused order" in degraded
            with pytest.raises(RetrievalError, match="3 numbers where 64"):
                await purge(engine.parts)
            # A rebuild reads the texts of the catalogue, and no vector of the store.
            assert [step async for step in engine.reindex()]
            state.short = False
            assert (await engine.answer(QUESTION)).degraded == ()
            (about,) = state.indexes.values()
            (field,) = about["schema"]["fields"].values()
            field["dimension"] = 32  # the index was made anew with another length
            assert "keyword" in await fallback(engine)
            field["dimension"] = 64
            assert [step async for step in engine.reindex()]
            assert await fallback(engine) == ""


async def test_a_chroma_server_that_never_answers_holds_up_neither_a_question_nor_the_end(
    tmp_path: Path,
) -> None:
    pytest.importorskip("chromadb")
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = Settings(home=tmp_path / "home", embedder="fake", store_seconds=1)
        here = settings.model_copy(update={"store": "chroma"})
        async with open_engine(here) as engine:
            assert [step async for step in engine.add([tmp_path / "whales.txt"])]
        address = f"chroma@http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        async with open_engine(settings.model_copy(update={"store": address})) as engine:
            assert "keyword" in await fallback(engine)
            with pytest.raises(RetrievalError, match="chroma"):
                assert [step async for step in engine.reindex()]
        assert time.monotonic() - began < 20


def pinecone(folder: Path, address: str) -> Settings:
    return Settings(
        home=folder / "home",
        embedder="fake",
        store=f"pinecone@{address}",
        pinecone_api_key=KEY,
        store_seconds=2,
    )


@pytest.mark.soak
async def test_a_store_that_is_gone_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "whales.txt").write_text("A blue whale eats krill. It breathes air.")
    (tmp_path / "seals.txt").write_text("A seal rests on the ice.")
    settings = Settings(
        home=tmp_path / "home", embedder="fake", pinecone_api_key=KEY, store_seconds=2
    )
    with pinecone_server() as (address, _):
        gone = settings.model_copy(update={"store": f"pinecone@{address}"})
        async with open_engine(gone) as engine:
            assert [step async for step in engine.add([tmp_path / "whales.txt"])]
    async with open_engine(gone) as engine:
        assert "keyword" in await fallback(engine)
        with pytest.raises(RetrievalError, match="The store pinecone failed"):
            assert [step async for step in engine.add([tmp_path / "seals.txt"])]
        assert [each.title for each in await engine.documents()] == ["whales"]
    # Another store takes its place: the index is derived from the catalogue.
    async with open_engine(settings.model_copy(update={"store": "lancedb"})) as engine:
        assert [step async for step in engine.reindex()]
        assert await fallback(engine) == ""
        assert [step async for step in engine.add([tmp_path / "seals.txt"])]
        assert len(await engine.documents()) == 2

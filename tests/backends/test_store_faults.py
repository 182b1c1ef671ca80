"""A store on a server that is slow or refuses: the answer goes on by keywords and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.bootstrap import open_engine
from quoth.core.errors import RetrievalError
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.pipeline.retrieve import Request
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
        settings = Settings(
            home=tmp_path / "home",
            embedder="fake",
            store=f"pinecone@{address}",
            pinecone_api_key=KEY,
            store_seconds=2,
        )
        async with open_engine(settings) as engine:
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

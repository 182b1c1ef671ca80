"""ColBERT's token vectors are made when documents are added and read when they are reranked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quoth.backends.rerankers.colbert import ColbertModel
from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.pipeline.retrieve import Request
from tests.support.toy_rerankers import write_colbert

ASKED = Request("boat tide", choices={"rerank_weight": 1.0})


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The calls of the model: role and number of texts."""
    calls: list[tuple[str, int]] = []
    real = ColbertModel.embed_tokens

    async def counted(self: ColbertModel, texts: Any, *, role: Any) -> Any:
        calls.append((role, len(texts)))
        return await real(self, texts, role=role)

    monkeypatch.setattr(ColbertModel, "embed_tokens", counted)
    return calls


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "sea.md").write_text("The harbour has a wave, a sail and a fish.")
    (folder / "law.md").write_text("The court hears an appeal to the statute.")
    return folder


@asynccontextmanager
async def library(tmp_path: Path, **more: Any) -> AsyncIterator[Engine]:
    model = tmp_path / "colbert"
    if not model.exists():
        write_colbert(model)
    settings = Settings(
        home=tmp_path / "home", embedder="fake", reranker=str(model), threads=1, **more
    )
    async with open_engine(settings) as engine:
        yield engine


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "home").rglob("*.tokens"))


async def test_vectors_are_made_by_adding_and_read_by_asking(
    tmp_path: Path, sources: Path, computed: list[tuple[str, int]]
) -> None:
    async with library(tmp_path) as engine:
        added = [each async for each in engine.add([sources])]
        assert added
        assert len(stored(tmp_path)) == 2
        assert sum(count for role, count in computed if role == "document") == 2
        computed.clear()
        hits = await engine.search(ASKED)
        assert "harbour" in hits[0].text
        assert {role for role, _ in computed} == {"query"}

        (sources / "sea.md").write_text("The harbour has a wave, a sail and a boat.")
        assert [each async for each in engine.add([sources / "sea.md"])]
        assert len(stored(tmp_path)) == 2
        documents = await engine.documents()
        await engine.remove([documents[0].document_id])
        assert len(stored(tmp_path)) == 1


async def test_reindex_makes_what_is_missing_or_damaged(
    tmp_path: Path, sources: Path, computed: list[tuple[str, int]]
) -> None:
    async with library(tmp_path) as engine:
        assert [each async for each in engine.add([sources])]
        lost, damaged = stored(tmp_path)
        lost.unlink()
        damaged.write_bytes(damaged.read_bytes()[:-3] + b"???")
        health = await engine.health()
        assert [check.name for check in health.checks if not check.ok] == ["tokens"]
        computed.clear()
        assert [each async for each in engine.reindex()]
        assert sum(count for role, count in computed if role == "document") == 2
        assert len(stored(tmp_path)) == 2
        assert (await engine.health()).ok


async def test_without_stored_vectors_they_are_computed(
    tmp_path: Path, sources: Path, computed: list[tuple[str, int]]
) -> None:
    async with library(tmp_path, token_vectors=False) as engine:
        assert [each async for each in engine.add([sources])]
        assert not stored(tmp_path)
        assert not computed
        assert "harbour" in (await engine.search(ASKED))[0].text

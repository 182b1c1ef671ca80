"""Lexical weights of BGE-M3 as a third ranked list: stored, searched, fused, rebuilt."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from quoth.backends.embedders.lexical import HEAD, read_head
from quoth.backends.indexes.rows import index_row
from quoth.backends.indexes.sparse import SqlSparse
from quoth.bootstrap import open_engine
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.engine import Engine
from quoth.pipeline.retrieve import Request
from quoth.store.database import connect
from tests.backends.test_model_parity import converted
from tests.contracts.test_index import corpus
from tests.support.toy_rerankers import write_tokenizer

QUESTION = "which boat has a red sail ?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return converted("bge-m3", tmp_path_factory.mktemp("models"))[0]


@asynccontextmanager
async def library(home: Path, model: Path) -> AsyncIterator[Engine]:
    settings = Settings(home=home, embedder=str(model), threads=1)
    async with open_engine(settings) as engine:
        yield engine


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "sea.md").write_text("# Boats\n\nThe red sail of the boat and the boat.\n")
    (folder / "law.md").write_text("# Courts\n\nA judge reads the statute in the court.\n")
    return folder


async def fill(engine: Engine, sources: Path) -> None:
    async for _ in engine.add([sources]):
        pass


async def legs(engine: Engine, **choices: object) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    """The lists in which each document's passages were found, and what failed."""
    trace = Trace()
    retrieved = await engine.retrieve(Request(QUESTION, choices=choices), trace=trace)
    return {hit.document: set(hit.legs) for hit in retrieved.hits}, tuple(trace.failures)


async def test_the_third_list_is_stored_searched_and_fused(
    tmp_path: Path, model: Path, sources: Path
) -> None:
    async with library(tmp_path / "home", model) as engine:
        await fill(engine, sources)
        found, degraded = await legs(engine)
        assert "sparse" in found["Boats"]
        assert not degraded
        without, _ = await legs(engine, sparse_weight=0.0)
        assert not any("sparse" in each for each in without.values())
        semantic, _ = await legs(engine, mode="semantic")
        assert not any("sparse" in each for each in semantic.values())
        documents = {each.title: each.document_id for each in await engine.documents()}
        await engine.remove([documents["Boats"]])
        found, _ = await legs(engine)
        assert "Boats" not in found


async def test_missing_weights_are_told_and_reindex_makes_them(
    tmp_path: Path, model: Path, sources: Path
) -> None:
    home = tmp_path / "home"
    async with library(home, model) as engine:
        await fill(engine, sources)
    (file,) = home.glob("index/*/*.sparse.sqlite")
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()
    async with library(home, model) as engine:
        found, degraded = await legs(engine)
        assert found["Boats"] == {"keyword", "semantic"}
        assert any(each.startswith("sparse:") for each in degraded)
        async for _ in engine.reindex():
            pass
        found, degraded = await legs(engine)
        assert "sparse" in found["Boats"]
        assert not degraded
    assert len(list(home.glob("index/*/*.sparse.sqlite"))) == 1


# --- postings by hand -------------------------------------------------------------------------


def test_a_score_is_the_sum_of_products_over_shared_tokens(tmp_path: Path) -> None:
    file = tmp_path / "weights.sqlite"
    sparse = SqlSparse(lambda: connect(file), table="c_1", file=file)
    rows = [index_row(chunk) for chunk in corpus()[:3]]
    sparse.upsert(rows, weights=[{5: 1.0, 6: 0.5}, {6: 2.0}, {}])
    sparse.upsert(rows[:1], weights=[{5: 0.5, 6: 0.5}])
    found = sparse.match({5: 2.0, 6: 1.0, 9: 3.0}, limit=9, conditions=())
    assert found == [("book.1", 2.0), ("book.0", 1.5)]
    sparse.delete(["book"])
    assert sparse.match({5: 1.0}, limit=9, conditions=()) == []
    sparse.drop()
    assert not file.exists()
    sparse.close()


# --- the layer's file --------------------------------------------------------------------------


def archive(kind: str, layout: str) -> bytes:
    """A file of torch with the weights 1 and -2 and the bias 0.5."""
    shift = {"HalfStorage": "<e", "FloatStorage": "<f", "BFloat16Storage": "<f"}[kind]

    def packed(*numbers: float) -> bytes:
        raw = b"".join(struct.pack(shift, each) for each in numbers)
        if kind == "BFloat16Storage":
            raw = b"".join(raw[at + 2 : at + 4] for at in range(0, len(raw), 4))
        return raw

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        written.writestr("sparse/data.pkl", b"torch " + kind.encode())
        written.writestr(f"sparse/data/{layout}1", packed(1, -2))
        written.writestr(f"sparse/data/{layout}2", packed(0.5))
    return file.getvalue()


@pytest.mark.parametrize("kind", ["HalfStorage", "FloatStorage", "BFloat16Storage"])
def test_the_layer_is_read_in_every_precision(kind: str, tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    (tmp_path / HEAD).write_bytes(archive(kind, "94"))
    head = read_head(tmp_path)
    assert head is not None
    assert (head.weight.tolist(), head.bias) == ([1.0, -2.0], 0.5)
    states = np.array([[1, 0], [2, 0], [0, 1], [9, 0]], np.float32)
    assert head.weigh([20, 20, 21, 2], states) == {20: 2.5}


@pytest.mark.parametrize("content", [b"", b"damaged", archive("FloatStorage", "")[:-30]])
def test_a_damaged_layer_is_named(content: bytes, tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    (tmp_path / HEAD).write_bytes(content)
    with pytest.raises(ConfigError, match="lexical layer"):
        read_head(tmp_path)

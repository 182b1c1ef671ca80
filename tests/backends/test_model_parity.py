"""A converted model gives the numbers of its reference implementation, to 1e-4.

``scripts/make_model_fixtures.py`` made the small models and what the reference computes for them.
"""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quoth.backends.embedders.onnx import OnnxEmbedder
from quoth.backends.rerankers.colbert import ColbertReranker
from quoth.backends.rerankers.cross_encoder import OnnxReranker
from quoth.core.errors import ConfigError
from quoth_models.convert import convert_folder
from tests.support.toy_rerankers import chunks

MODELS = Path(__file__).parents[1] / "data" / "models"
QUERY = "which boat has a red sail"
TEXTS = [
    "the red sail of the boat , and the boat",
    "dough needs flour and salt",
    "a judge reads the statute . a witness waits in the court",
]
TOLERANCE = 1e-4


def converted(name: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Convert a copy of a fixture; return it with what is expected of it."""
    shutil.copytree(MODELS / name, folder / name)
    convert_folder(folder / name, progress=lambda _: None)
    expected: dict[str, Any] = json.loads((folder / name / "expected.json").read_text())
    (folder / name / "model.safetensors").unlink()
    return folder / name, expected


def assert_close(found: Any, expected: Any) -> None:
    assert np.allclose(np.asarray(found), np.asarray(expected), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(
    "name", ["ms-marco-minilm-l-6-v2", "bge-reranker-base", "qwen3-reranker-0.6b"]
)
async def test_a_cross_encoder(name: str, tmp_path: Path) -> None:
    folder, expected = converted(name, tmp_path)
    with closing(OnnxReranker(folder, threads=1)) as reranker:
        assert_close(await reranker.score(QUERY, chunks(TEXTS)), expected["scores"])


async def test_qwen3_embedding_takes_the_last_token_and_its_instruction(tmp_path: Path) -> None:
    folder, expected = converted("qwen3-embedding-0.6b", tmp_path)
    with closing(OnnxEmbedder(folder, threads=1)) as embedder:
        assert_close(await embedder.embed([QUERY], role="query"), expected["query"])
        assert_close(await embedder.embed(TEXTS, role="document"), expected["document"])


async def test_bge_m3_dense(tmp_path: Path) -> None:
    folder, expected = converted("bge-m3", tmp_path)
    with closing(OnnxEmbedder(folder, threads=1)) as embedder:
        assert_close(await embedder.embed([QUERY, *TEXTS], role="document"), expected["dense"])


async def test_bge_m3_sparse(tmp_path: Path) -> None:
    folder, expected = converted("bge-m3", tmp_path)
    truth = [{int(key): value for key, value in each.items()} for each in expected["sparse"]]
    assert any(truth)
    with closing(OnnxEmbedder(folder, threads=1)) as embedder:
        alone = await embedder.embed_sparse([QUERY, *TEXTS], role="document")
        await embedder.embed([QUERY, *TEXTS], role="document")
        after = await embedder.embed_sparse([QUERY, *TEXTS], role="document")
        query = (await embedder.encode(QUERY)).sparse
    assert query == pytest.approx(truth[0], abs=TOLERANCE)
    for found, again, right in zip(alone, after, truth, strict=True):
        assert found == again == pytest.approx(right, abs=TOLERANCE)


async def test_colbert(tmp_path: Path) -> None:
    folder, expected = converted("answerai-colbert-small-v1", tmp_path)
    with closing(ColbertReranker(folder, threads=1)) as reranker:
        _, (query,) = await reranker._model.embed_tokens([QUERY], role="query")
        _, (document,) = await reranker._model.embed_tokens(TEXTS[:1], role="document")
        assert_close(query, expected["query"])
        assert_close(document, expected["document"])
        # The token vectors of passages are rounded to a byte a number.
        scores = await reranker.score(QUERY, chunks(TEXTS))
        assert np.allclose(scores, expected["scores"], rtol=0.01)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "t5"}, "of the type t5"),
        ({"hidden_act": "relu"}, "hidden_act = relu"),
        ({"num_hidden_layers": 3}, "no tensor roberta.encoder.layer.2"),
    ],
)
def test_what_cannot_be_converted_is_named(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "bge-reranker-base", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ConfigError, match=words):
        convert_folder(folder, progress=lambda _: None)
    assert not list(folder.glob("*.onnx*")) + list(folder.glob(".*"))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "bge-reranker-base", folder)
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=f"has no {name}"):
        convert_folder(folder, progress=lambda _: None)


def test_a_model_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    folder, _ = converted("bge-reranker-base", tmp_path)
    with pytest.raises(ConfigError, match="holds an ONNX model already"):
        convert_folder(folder, progress=lambda _: None)

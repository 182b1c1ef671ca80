"""Sentences are scored by the model that reads them with the question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from quoth.backends.rerankers.sentences import MAX_TOKENS, OnnxSentenceScorer
from quoth.bootstrap import default_model, open_engine
from quoth.core.errors import RerankError
from quoth.core.load_settings import load_settings
from quoth.core.settings import Settings
from quoth.pipeline.retrieve import Request
from quoth_e5 import is_built, sentence_revision
from quoth_e5.sentences import load_trained, sentence_graph
from quoth_e5.weights import parse_weights
from tests.support.tiny_e5 import HIDDEN, build_tiny, forward, tiny_e5

QUESTION = "Who designed the tower?"
TOWER = [
    "The tower was built in 1889.",
    "Gustave Eiffel and his engineers designed it.",
    "Millions of people visit it every year.",
]
BEES = ["Bees have five eyes.", "They make honey from nectar."]
FOLDER, BUILT = default_model(load_settings())
needs_model = pytest.mark.skipif(not BUILT, reason="the models have not been built here")


@pytest.fixture
async def scorer() -> AsyncIterator[OnnxSentenceScorer]:
    opened = OnnxSentenceScorer(FOLDER, threads=1)
    yield opened
    opened.close()


def test_the_graph_computes_what_the_changed_matrices_say() -> None:
    tiny, random = tiny_e5(), np.random.default_rng(3)
    trained = {
        "l1.q.down": random.normal(size=(4, HIDDEN)),
        "l1.q.up": random.normal(size=(HIDDEN, 4)) / 10,
        "l1.oln.w": random.normal(1, 0.1, HIDDEN),
        "mark": np.zeros((2, HIDDEN)),
        "scores.w": random.normal(size=(2, HIDDEN)),
        "scores.b": np.array([0.5, -0.5]),
    }
    trained = {name: value.astype(np.float32) for name, value in trained.items()}
    graph = sentence_graph(parse_weights(tiny.data, source="tiny"), trained)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    ids = [0, 5, 9, 30, 41, 12, 77, 2]
    given = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, 8), np.int64)}
    given["token_type_ids"] = np.array([[0, 0, 0, 1, 1, 1, 1, 1]])
    matrices = {**tiny.matrices, "l1.oln.w": trained["l1.oln.w"]}
    matrices["l1.q.w"] = matrices["l1.q.w"] + trained["l1.q.up"] @ trained["l1.q.down"]
    states = forward(replace(tiny, matrices=matrices), ids)
    expected = states @ trained["scores.w"].T + trained["scores.b"]
    assert np.allclose(session.run(None, given)[0][0], expected, atol=1e-3)
    marked = sentence_graph(
        parse_weights(tiny.data, source="tiny"), {**trained, "mark": trained["mark"] + 1}
    )
    other = onnxruntime.InferenceSession(
        marked.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    assert not np.allclose(other.run(None, given)[0][0], expected, atol=1e-2)


def test_other_weights_have_no_scorer_and_old_folders_are_built_again(tmp_path: Path) -> None:
    tiny = tiny_e5()
    folder = build_tiny(tmp_path)
    assert sentence_revision(tiny.sha256) == ""
    assert is_built(folder, sha256=tiny.sha256)
    assert not (folder / "sentences.onnx").exists()
    card = (folder / "quoth-model.json").read_text("utf-8")
    (folder / "quoth-model.json").write_text(
        card.replace('"sentences": ""', '"sentences": "other"'), encoding="utf-8"
    )
    assert not is_built(folder, sha256=tiny.sha256)


def test_the_trained_numbers_are_finite_and_fit_the_layers() -> None:
    trained = load_trained()
    assert all(np.isfinite(value).all() for value in trained.values())
    assert trained["mark"].shape == trained["scores.w"].shape == (2, 384)
    assert {len(trained[name]) for name in trained if name.endswith(".down")} == {16}


@needs_model
async def test_the_sentence_that_answers_is_best_and_other_passages_change_nothing(
    scorer: OnnxSentenceScorer,
) -> None:
    alone = await scorer.score(QUESTION, [TOWER])
    assert int(np.argmax(alone[0])) == 1
    both = await scorer.score(QUESTION, [BEES, TOWER])
    assert both[1] == alone[0]
    assert max(both[0]) < 0 < max(both[1])
    assert await scorer.score(QUESTION, []) == []


@needs_model
async def test_what_is_too_long_is_not_read(scorer: OnnxSentenceScorer) -> None:
    long = [" ".join(["pollen"] * 300)] * 4
    (found,) = await scorer.score(QUESTION, [[*TOWER, "", *long]])
    assert len(found) == 8
    assert np.isfinite(found[:3]).all()
    assert np.isnan(found[3])
    assert np.isnan(found[-1])
    (cut,) = await scorer.score(" ".join(["pollen"] * 2 * MAX_TOKENS), [TOWER])
    assert np.isfinite(cut).all()


class Failing:
    """A scorer that is down."""

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float]]:
        raise RerankError("The scorer is down.")

    def close(self) -> None:
        """Do nothing."""


@needs_model
async def test_answers_are_read_and_without_the_scorer_they_say_so(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Towers\n\n" + " ".join(TOWER) + "\n\n# Bees\n\n" + " ".join(BEES), "utf-8")
    settings = Settings(home=tmp_path / "home", models=load_settings().models, threads=1)
    request = Request(QUESTION, {"cache": "none"})
    async with open_engine(settings) as engine:
        assert [step async for step in engine.add([notes])]
        answer = await engine.answer(request)
        assert not answer.degraded
        assert "Gustave Eiffel" in answer.text
        assert "sentences" in answer.timings_ms
        engine.parts = replace(engine.parts, sentence_scorer=Failing())
        without = await engine.answer(request)
        assert without.degraded == ("sentences:rerank_failed:vectors",)
        assert "Gustave Eiffel" in without.text
    off = settings.model_copy(update={"sentence_scorer": False})
    async with open_engine(off) as engine:
        assert engine.parts.sentence_scorer is None
        assert "Gustave Eiffel" in (await engine.answer(request)).text

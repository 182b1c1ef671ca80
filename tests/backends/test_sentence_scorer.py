"""Sentences are scored by the model that reads them with the question."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from quoth.backends.rerankers.sentences import MAX_TOKENS, OnnxSentenceScorer
from quoth.bootstrap import build_default_model, default_model, open_engine
from quoth.core.errors import ConfigError, RerankError, StorageFull
from quoth.core.load_settings import load_settings
from quoth.core.settings import Settings
from quoth.core.types import Answer
from quoth.pipeline import extract
from quoth.pipeline.retrieve import Request
from quoth.pipeline.scores import MAX_WINDOWS, READING_MS
from quoth_e5 import build, is_built, scorer_file
from quoth_e5.build import build_scorer
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
FOLDER, _ = default_model(load_settings())
needs_model = pytest.mark.skipif(
    not scorer_file(FOLDER).is_file(), reason="the models have not been built here"
)


@pytest.fixture
async def scorer() -> AsyncIterator[OnnxSentenceScorer]:
    opened = OnnxSentenceScorer(scorer_file(FOLDER), threads=1)
    yield opened
    opened.close()


IDS = [0, 5, 9, 30, 41, 12, 77, 2]
GIVEN = {
    "input_ids": np.array([IDS]),
    "attention_mask": np.ones((1, 8), np.int64),
    "token_type_ids": np.array([[0, 0, 0, 1, 1, 1, 1, 1]]),
}


def made_numbers() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    made = {
        "l1.q.down": random.normal(size=(4, HIDDEN)),
        "l1.q.up": random.normal(size=(HIDDEN, 4)) / 10,
        "l1.oln.w": random.normal(1, 0.1, HIDDEN),
        "mark": np.zeros((2, HIDDEN)),
        "scores.w": random.normal(size=(2, HIDDEN)) / 10,
        "scores.b": np.array([0.5, -0.5]),
    }
    return {name: value.astype(np.float32) for name, value in made.items()}


def expected(trained: dict[str, np.ndarray]) -> np.ndarray:
    """The scores by plain numpy, without a mark."""
    tiny = tiny_e5()
    matrices = {**tiny.matrices, "l1.oln.w": trained["l1.oln.w"]}
    matrices["l1.q.w"] = matrices["l1.q.w"] + trained["l1.q.up"] @ trained["l1.q.down"]
    states = forward(replace(tiny, matrices=matrices), IDS)
    return states @ trained["scores.w"].T + trained["scores.b"]


def test_the_graph_computes_what_the_changed_matrices_say() -> None:
    weights, trained = parse_weights(tiny_e5().data, source="tiny"), made_numbers()

    def scores(numbers: dict[str, np.ndarray]) -> np.ndarray:
        graph = sentence_graph(weights, numbers).SerializeToString()
        session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        return session.run(None, GIVEN)[0][0]

    assert np.allclose(scores(trained), expected(trained), atol=1e-4)
    marked = {**trained, "mark": np.eye(2, HIDDEN, dtype=np.float32)}
    assert not np.allclose(scores(marked), expected(trained), atol=1e-2)


def test_a_scorer_is_built_beside_the_embedder_once(tmp_path: Path) -> None:
    tiny, told = tiny_e5(), list[str]()
    folder = build_tiny(tmp_path)
    np.savez(tmp_path / "trained.npz", **made_numbers())
    weights = tiny.save(tmp_path / "tiny.bin")
    for _ in range(2):
        build_scorer(
            folder,
            weights=weights,
            sha256=tiny.sha256,
            trained=tmp_path / "trained.npz",
            progress=told.append,
        )
    assert told == ["Building the sentence scorer."]
    assert is_built(folder, sha256=tiny.sha256)
    assert sorted(each.name for each in tmp_path.iterdir() if "draft" in each.name) == []
    session = onnxruntime.InferenceSession(
        str(scorer_file(folder)), providers=["CPUExecutionProvider"]
    )
    assert np.allclose(session.run(None, GIVEN)[0][0], expected(made_numbers()), atol=0.1)


@pytest.mark.parametrize("error", [ConfigError("No weights."), StorageFull("No room.")])
def test_an_embedder_without_the_scorer_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(build, "build_e5", lambda *_, **__: None)
    monkeypatch.setattr(build, "build_scorer", fail)
    told: list[str] = []
    build_default_model(Settings(home=tmp_path, models=tmp_path), progress=told.append)
    assert told == [f"Doubtful answers are not read again. {error}"]


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


class Scripted:
    """A scorer that says the same of every sentence, or is down."""

    def __init__(self, *, score: float | None) -> None:
        self._score = score

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float]]:
        if self._score is None:
            raise RerankError("The scorer is down.")
        return [[self._score] * len(each) for each in passages]

    def close(self) -> None:
        """Do nothing."""


@needs_model
async def test_only_a_doubtful_answer_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes.md"
    parts = {"Towers": TOWER, "Bees": BEES}
    parts |= {f"Visit {n}": [f"The tower was full on day {n}."] for n in range(MAX_WINDOWS)}
    text = "\n\n".join(f"# {title}\n\n{' '.join(said)}" for title, said in parts.items())
    notes.write_text(text, "utf-8")
    settings = Settings(home=tmp_path / "home", models=load_settings().models, threads=1)
    chance = 0.3
    monkeypatch.setattr(extract, "estimate_probability", lambda *_, **__: (chance, 0.25))
    async with open_engine(settings) as engine:
        assert [step async for step in engine.add([notes])]
        assert isinstance(engine.parts.sentence_scorer, OnnxSentenceScorer)

        async def asked(score: float | None, **choices: object) -> Answer:
            engine.parts = replace(engine.parts, sentence_scorer=Scripted(score=score))
            return await engine.answer(Request(QUESTION, {"cache": "none", **choices}))

        answer = await engine.answer(Request(QUESTION, {"cache": "none"}))
        assert "Gustave Eiffel" in answer.text
        assert answer.confidence != chance
        assert "sentences" in answer.timings_ms
        surer, refused, down = await asked(5.0), await asked(-5.0), await asked(None)
        assert surer.confidence == pytest.approx(1 / (1 + math.exp(-(math.log(3 / 7) + 1))))
        assert refused.confidence == pytest.approx(1 / (1 + math.exp(-(math.log(3 / 7) - 1))))
        assert refused.status == "low_relevance"
        assert not refused.citations
        assert down.degraded == ("sentences:rerank_failed:vectors",)
        assert down.confidence == chance
        for doubtless in (
            await asked(-5.0, read_doubtful=False),
            await asked(-5.0, deadline_ms=READING_MS - 1),
        ):
            assert doubtless.confidence == chance
            assert not any(each.startswith("sentences") for each in doubtless.degraded)
        chance = 0.9
        assert (await asked(-5.0)).confidence == chance

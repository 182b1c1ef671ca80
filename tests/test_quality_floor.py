"""How well the shipped model finds and answers, on a small judged set; floors, not targets.

The set is described in ``tests/data/hf-course/README.md``. A floor lies two or three points below
what was measured, so that it holds on other machines and still falls with a real loss.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from quoth.answering.cite import Broken, check_spans
from quoth.engine import Engine
from quoth.evaluation.retrieval import RetrievalReport, evaluate_retrieval
from quoth.settings import Settings, load_settings
from quoth.types import Answer, Document
from quoth.wiring import default_model, open_engine
from tests.conftest import SAMPLES

DATA = Path(__file__).parent / "data" / "hf-course"

HYBRID_NDCG = 0.567
BELOW_BETTER_LEG = 0.01
"""How far the fusion may fall behind the better of its legs."""
ANSWERED_RIGHT = 0.428
REFUSED = 0.58

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        not default_model(load_settings())[1], reason="the embedding model has not been built here"
    ),
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what is known of its answer, and the answer that was given."""

    id: str
    sentences: tuple[str, ...]
    answerable: bool
    answer: Answer


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> RetrievalReport:
    return asyncio.run(
        evaluate_retrieval(
            DATA,
            queries=None,
            settings=settings_in(tmp_path_factory.mktemp("floor")),
            choices={},
            progress=lambda _what, _at, _of: None,
        )
    )


@pytest.fixture(scope="session")
def exam(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Asked], list[Broken]]:
    """Every question asked of the sample collection, and the citations that do not resolve."""
    return asyncio.run(sit_exam(settings_in(tmp_path_factory.mktemp("exam"))))


def settings_in(home: Path) -> Settings:
    return Settings(home=home, models=load_settings().models)


async def sit_exam(settings: Settings) -> tuple[list[Asked], list[Broken]]:
    lines = (DATA / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    async with open_engine(settings) as engine:
        steps = [step async for step in engine.add([SAMPLES])]
        documents = [step for step in steps if isinstance(step, Document)]
        asked = [await ask(engine, json.loads(line)) for line in lines]
        texts = stored_texts(engine, documents)
    citations = [citation for each in asked for citation in each.answer.citations]
    return asked, check_spans(citations, texts.__getitem__)


async def ask(engine: Engine, row: Mapping[str, Any]) -> Asked:
    answer = await engine.answer(row["text"])
    return Asked(row["id"], tuple(row.get("sentences", ())), row["answerable"], answer)


def stored_texts(engine: Engine, documents: list[Document]) -> dict[str, str]:
    catalogue = engine.parts.catalogue
    return {
        each.document_id: "".join(
            chunk.text for chunk in catalogue.document_chunks(each.document_id)
        )
        for each in documents
    }


def cites_the_answer(asked: Asked) -> bool:
    """Whether a citation is one of the sentences that answer, or a part of one, or holds one."""
    return any(
        fold(citation.snippet) in sentence or sentence in fold(citation.snippet)
        for citation in asked.answer.citations
        for sentence in map(fold, asked.sentences)
    )


def fold(text: str) -> str:
    return " ".join(text.split())


def test_the_fusion_finds_the_rows(report: RetrievalReport) -> None:
    assert report.legs["hybrid"]["ndcg@10"] >= HYBRID_NDCG


def test_the_fusion_keeps_up_with_its_better_leg(report: RetrievalReport) -> None:
    better = max(report.legs[leg]["ndcg@10"] for leg in ("keyword", "semantic"))
    assert report.legs["hybrid"]["ndcg@10"] >= better - BELOW_BETTER_LEG


def test_questions_are_answered_with_the_sentence_that_answers(
    exam: tuple[list[Asked], list[Broken]],
) -> None:
    answerable = [each for each in exam[0] if each.answerable]
    missed = [each.id for each in answerable if not cites_the_answer(each)]
    assert 1 - len(missed) / len(answerable) >= ANSWERED_RIGHT, missed


def test_questions_without_an_answer_get_none(exam: tuple[list[Asked], list[Broken]]) -> None:
    hopeless = [each for each in exam[0] if not each.answerable]
    answered = [each.id for each in hopeless if each.answer.status != "no_results"]
    assert 1 - len(answered) / len(hopeless) >= REFUSED, answered


def test_every_citation_resolves(exam: tuple[list[Asked], list[Broken]]) -> None:
    assert exam[1] == []

"""Whatever a provider does wrong, there is an answer in time: verbatim sentences, and a reason."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.core.types import Answer
from quoth.pipeline.retrieve import Request
from tests.support.fault_server import Fault, fault_server

QUESTION = "What is a tokenizer?"
UNCACHED = {"cache": "none"}
FAULTS: dict[Fault, str] = {
    "refused": "generate:llm_unavailable:extractive",
    "cut": "generate:llm_unavailable:truncated",
    "garbage": "generate:llm_unavailable:extractive",
    "html": "generate:llm_garbled:extractive",
    "empty": "generate:llm_garbled:extractive",
    "unknown_model": "generate:llm_unknown_model:extractive",
    "denied": "generate:llm_denied:extractive",
    "limited": "generate:llm_limited:extractive",
    "unavailable": "generate:llm_unavailable:extractive",
    "endless_words": "generate:llm_too_long:truncated",
    "reset": "generate:llm_unavailable:extractive",
}
Faults = pytest.mark.parametrize("fault", FAULTS)


@dataclass
class Outcome:
    answer: Answer
    seconds: float


OUTCOMES: dict[Fault, Outcome] = {}


async def ask(home: Path, fault: Fault, *, deadline_ms: float | None = None) -> Outcome:
    async with fault_server(fault) as server:
        settings = Settings(
            home=home,
            embedder="fake",
            generator="openai-compatible:tiny",
            llm_base_url=server.url,
        )
        async with open_engine(settings) as engine:
            began = time.monotonic()
            answer = await engine.answer(
                Request(QUESTION, choices={**UNCACHED, "deadline_ms": deadline_ms})
            )
            seconds = time.monotonic() - began
        assert await server.all_closed()
    return Outcome(answer, seconds)


@pytest.fixture
async def outcome(fault: Fault, sample_home: Path) -> Outcome:
    """What comes of a question under a fault; it is asked once and looked at from several sides."""
    if fault not in OUTCOMES:
        OUTCOMES[fault] = await ask(sample_home, fault)
    return OUTCOMES[fault]


@pytest.fixture(scope="module")
def plain(sample_home: Path) -> Answer:
    """The answer without a language model."""

    async def answer() -> Answer:
        async with open_engine(Settings(home=sample_home, embedder="fake")) as engine:
            return await engine.answer(Request(QUESTION, choices=UNCACHED))

    return asyncio.run(answer())


@Faults
def test_the_answer_is_in_the_sources_own_words(outcome: Outcome, plain: Answer) -> None:
    assert (outcome.answer.text, outcome.answer.grounded) == (plain.text, True)


@Faults
def test_the_answer_tells_what_failed(outcome: Outcome, fault: Fault) -> None:
    assert FAULTS[fault] in outcome.answer.degraded


@Faults
def test_the_answer_comes_in_time(outcome: Outcome) -> None:
    assert outcome.seconds < 3


@Faults
def test_nobody_is_said_to_have_written_it(outcome: Outcome) -> None:
    assert (outcome.answer.provider, outcome.answer.model) == (None, None)


@pytest.mark.parametrize("fault", ["hang_before_headers", "hang_after_headers", "drip"])
async def test_the_deadline_of_the_question_holds(fault: Fault, sample_home: Path) -> None:
    found = await ask(sample_home, fault, deadline_ms=800)
    assert "generate:deadline:extractive" in found.answer.degraded
    assert found.seconds < 1.5

"""Whatever a provider does wrong, there is an answer in time: verbatim sentences, and a reason."""

from __future__ import annotations

import asyncio
import time
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
    "denied": "generate:llm_denied:extractive",
    "endless_words": "generate:llm_too_long:truncated",
    "reset": "generate:llm_unavailable:extractive",
}


async def ask(
    home: Path, fault: Fault, *, deadline_ms: float | None = None
) -> tuple[Answer, float]:
    """The answer under a fault, and the seconds that it took."""
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
    return answer, seconds


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_answer_is_in_the_sources_own_words_in_time_and_says_what_failed(
    fault: Fault, sample_home: Path, plain: Answer
) -> None:
    answer, seconds = await ask(sample_home, fault)
    assert (answer.text, answer.grounded) == (plain.text, True)
    assert FAULTS[fault] in answer.degraded
    assert (answer.provider, answer.model) == (None, None)
    assert seconds < 10


@pytest.mark.parametrize("fault", ["hang_before_headers", "hang_after_headers", "drip"])
async def test_the_deadline_of_the_question_holds(fault: Fault, sample_home: Path) -> None:
    answer, seconds = await ask(sample_home, fault, deadline_ms=2500)
    assert "generate:deadline:extractive" in answer.degraded
    assert seconds < 8


@pytest.fixture(scope="module")
def plain(sample_home: Path) -> Answer:
    """The answer without a language model."""

    async def answer() -> Answer:
        async with open_engine(Settings(home=sample_home, embedder="fake")) as engine:
            return await engine.answer(Request(QUESTION, choices=UNCACHED))

    return asyncio.run(answer())

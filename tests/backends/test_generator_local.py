"""A real language model on a real server of this machine, behind each name of OpenAI's protocol.

`tests/support/fetch_models.py` brings the model; these tests are skipped where it is not there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from quoth.backends.generators.registry import open_generator
from quoth.core.errors import GenerationError
from quoth.core.protocols import (
    Finish,
    GenerationParams,
    Generator,
    Message,
    Written,
)
from quoth.core.settings import Settings
from tests.support.fetch_models import model_file

WINDOW = 512
TALK = [Message("system", "Answer in one sentence."), Message("user", "What is a tokenizer?")]
FEW = GenerationParams(temperature=0, max_tokens=12)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = pytest.importorskip("xllamacpp", reason="no llama.cpp server for this platform")
    file = model_file()
    if not file.is_file():
        pytest.skip(f"{file} is not there; fetch it with: python tests/support/fetch_models.py")
    settings = server.CommonParams()
    settings.model.path = str(file)
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_ctx, settings.n_parallel, settings.n_gpu_layers = WINDOW, 1, 0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.use_jinja = True
    settings.verbosity = -1
    running = server.Server(settings)
    yield f"{running.listening_address}/v1"
    del running


@asynccontextmanager
async def opened(name: str, url: str) -> AsyncIterator[Generator]:
    generator = open_generator(
        Settings(generator=name, llm_base_url=url, llm_window=WINDOW, openai_api_key="none")
    )
    assert generator is not None
    try:
        yield generator
    finally:
        await generator.close()


@pytest.fixture
async def generator(url: str) -> AsyncIterator[Generator]:
    async with opened("openai-compatible", url) as generator:
        yield generator


async def hear(generator: Generator) -> tuple[list[str], Finish]:
    written: list[Written] = [each async for each in generator.stream(TALK, writing=FEW)]
    finish = written.pop()
    assert isinstance(finish, Finish)
    return [str(each) for each in written], finish


@pytest.mark.parametrize("name", ["openai-compatible", "ollama:smollm2", "openai:gpt-4.1-mini"])
async def test_it_writes_piece_by_piece_up_to_its_limit(name: str, url: str) -> None:
    async with opened(name, url) as generator:
        pieces, finish = await hear(generator)
    assert len(pieces) > FEW.max_tokens // 2
    assert (finish.reason, finish.usage.output_tokens) == ("length", FEW.max_tokens)


async def test_a_text_longer_than_the_window_says_so(generator: Generator) -> None:
    with pytest.raises(GenerationError) as caught:
        await generator.complete("Reword it.", "word " * (2 * WINDOW), max_tokens=8)
    assert caught.value.code == "llm_too_long"


async def test_it_is_free_again_when_one_went_away(generator: Generator) -> None:
    # The server has one place for answers, and the first one would not end by itself in time.
    pieces = generator.stream(TALK, writing=GenerationParams(max_tokens=WINDOW))
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    assert (await hear(generator))[0]

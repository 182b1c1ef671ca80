"""What every generator must do, whoever serves the model, over real HTTP.

Each provider is asked for by a server on this machine that speaks its protocol.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from quoth.backends.generators.access import Access
from quoth.backends.registry import backend
from quoth.core.errors import GenerationError
from quoth.core.protocols import (
    Finish,
    GenerationParams,
    Generator,
    Message,
    Written,
)
from quoth.core.types import Usage
from tests.support.llm_servers import DIALECTS, MODELS, Asked, Dialect, Fault, Reply, Server

KEY = "key-of-the-tests"
PIECES = ("Gradients ", "point uphill", " [Source 3].")
TEXT = "".join(PIECES)
TALK = [
    Message("system", "Answer from the sources."),
    Message("user", "What is a gradient?"),
    Message("assistant", "A slope [Source 1]."),
    Message("user", "And where does it point?\nSource: “uphill”"),
]
WRITING = GenerationParams(temperature=0.25, max_tokens=77)


@dataclass(frozen=True)
class Provider:
    """One provider of the table: how it is opened, and what it speaks."""

    name: str
    dialect: Dialect

    @asynccontextmanager
    async def at(self, server: Server) -> AsyncIterator[Generator]:
        async with self.at_url(server.url) as generator:
            yield generator

    @asynccontextmanager
    async def at_url(self, url: str, **more: Any) -> AsyncIterator[Generator]:
        access = Access(
            provider=self.name,
            model=MODELS[self.name],
            url=url + self.dialect.path,
            window=8192,
            key=KEY,
        )
        generator: Generator = backend("generator", self.name)(replace(access, **more))
        try:
            yield generator
        finally:
            await generator.close()


@pytest.fixture(params=list(DIALECTS))
def provider(request: pytest.FixtureRequest) -> Provider:
    return Provider(request.param, DIALECTS[request.param])


@pytest.fixture(params=["streaming", "whole"])
def streaming(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "streaming")


async def written(generator: Generator, messages: list[Message] = TALK) -> list[Written]:
    return [each async for each in generator.stream(messages, writing=WRITING)]


async def ask(generator: Generator, *, streaming: bool) -> str:
    if not streaming:
        return await generator.complete("Answer.", "What is a gradient?", max_tokens=77)
    return "".join(each for each in await written(generator) if isinstance(each, str))


async def failure(
    provider: Provider, *replies: Reply, streaming: bool = True
) -> tuple[GenerationError, list[Asked]]:
    async with Server(*replies) as server, provider.at(server) as generator:
        with pytest.raises(GenerationError) as caught:
            await ask(generator, streaming=streaming)
    return caught.value, server.asked


# What is said, and what is asked for.


async def test_pieces_come_as_they_are_and_then_one_end(provider: Provider) -> None:
    reply = provider.dialect.stream(*PIECES)
    async with Server(reply) as server, provider.at(server) as generator:
        *pieces, finish = await written(generator)
    assert tuple(pieces) == PIECES
    assert finish == Finish("end", Usage(31, 7), provider.name, "served-model")


async def test_a_piece_is_given_before_the_next_is_written(provider: Provider) -> None:
    reply = provider.dialect.stream(*PIECES, hold=1)
    async with Server(reply) as server, provider.at(server) as generator:
        pieces = generator.stream(TALK, writing=WRITING)
        first = await anext(pieces)
        server.go_on.set()
        rest = [each async for each in pieces]
    assert (first, *rest[:-1]) == PIECES


async def test_a_task_is_done_without_streaming(provider: Provider) -> None:
    async with Server(provider.dialect.whole(TEXT)) as server, provider.at(server) as generator:
        assert await generator.complete("Reword it.", "What is it?", max_tokens=9) == TEXT
    assert not provider.dialect.streams(server.asked[0])


async def test_a_request_holds_roles_texts_options_and_key(provider: Provider) -> None:
    dialect = provider.dialect
    async with Server(dialect.stream(TEXT)) as server, provider.at(server) as generator:
        await written(generator)
    (asked,) = server.asked
    assert dialect.streams(asked)
    assert dialect.system(asked.body) == TALK[0].text
    assert dialect.said(asked.body) == [(each.speaker, each.text) for each in TALK[1:]]
    assert dialect.options(asked.body) == (0.25, 77)
    assert dialect.key(asked) == KEY


async def test_an_answer_that_met_its_limit_says_so(provider: Provider) -> None:
    reply = provider.dialect.stream(*PIECES, stop="length")
    async with Server(reply) as server, provider.at(server) as generator:
        finish = (await written(generator))[-1]
    assert isinstance(finish, Finish)
    assert finish.reason == "length"


async def test_thoughts_are_no_answer(provider: Provider, streaming: bool) -> None:
    say = provider.dialect.stream if streaming else provider.dialect.whole
    reply = say(TEXT, thoughts="Let me see.")
    async with Server(reply) as server, provider.at(server) as generator:
        assert await ask(generator, streaming=streaming) == TEXT


async def test_thoughts_within_the_text_are_no_answer(provider: Provider) -> None:
    reply = provider.dialect.stream("<thi", "nk>Let me", " see.</th", "ink>\n\n", *PIECES)
    async with Server(reply) as server, provider.at(server) as generator:
        assert await ask(generator, streaming=True) == TEXT


async def test_one_generator_writes_several_answers_at_once(provider: Provider) -> None:
    async with Server(provider.dialect.stream(*PIECES)) as server, provider.at(server) as generator:
        answers = await asyncio.gather(*(ask(generator, streaming=True) for _ in range(5)))
    assert set(answers) == {TEXT}


async def test_the_host_that_gets_the_texts_is_named(provider: Provider) -> None:
    async with provider.at_url("http://127.0.0.1:8123") as generator:
        assert (generator.endpoint, generator.local) == ("127.0.0.1:8123", True)
    async with provider.at_url("https://models.example.org") as generator:
        assert (generator.endpoint, generator.local) == ("models.example.org", False)


# Going away.


async def test_closing_ends_the_call(provider: Provider) -> None:
    reply = provider.dialect.stream(*PIECES, hold=1)
    async with Server(reply) as server, provider.at(server) as generator:
        pieces = generator.stream(TALK, writing=WRITING)
        assert await anext(pieces) == PIECES[0]
        await pieces.aclose()  # type: ignore[attr-defined]
        await asyncio.wait_for(server.left.wait(), 2)


async def test_cancelling_ends_the_call(provider: Provider, streaming: bool) -> None:
    say = provider.dialect.stream if streaming else provider.dialect.whole
    reply = replace(say(TEXT), hold=0)
    async with Server(reply) as server, provider.at(server) as generator:
        task = asyncio.create_task(ask(generator, streaming=streaming))
        await asyncio.wait_for(server.came.wait(), 2)
        task.cancel()
        await asyncio.wait_for(server.left.wait(), 2)
        with pytest.raises(asyncio.CancelledError):
            await task


# What goes wrong.

FAILURES: list[tuple[Fault, str, bool]] = [
    ("denied", "llm_denied", False),
    ("unknown_model", "llm_unknown_model", False),
    ("too_long", "llm_too_long", False),
    ("limited", "llm_limited", True),
    ("overloaded", "llm_unavailable", True),
    ("broken", "generation_failed", True),
]


async def test_a_fault_has_a_code_after_one_request_and_repeats_no_secret(
    provider: Provider, streaming: bool
) -> None:
    for fault, code, retryable in FAILURES:
        error, asked = await failure(provider, provider.dialect.fault(fault), streaming=streaming)
        assert (error.code, error.retryable, len(asked)) == (code, retryable, 1), fault
        chain = f"{error} {error.__cause__} {error.__suppress_context__}"
        assert KEY not in chain
        assert "SECRET" not in chain
        assert chain.endswith("None True")


async def test_how_long_to_wait_is_passed_on(provider: Provider) -> None:
    error, _ = await failure(provider, provider.dialect.fault("limited", **{"retry-after": "17"}))
    assert error.retry_after_s == 17


async def test_nobody_there(provider: Provider, streaming: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers here
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with provider.at_url(url) as generator:
            with pytest.raises(GenerationError) as caught:
                await ask(generator, streaming=streaming)
    assert (caught.value.code, caught.value.retryable) == ("llm_unavailable", True)


async def test_an_answer_without_text_is_none(provider: Provider, streaming: bool) -> None:
    empty = provider.dialect.stream() if streaming else provider.dialect.whole("")
    error, _ = await failure(provider, empty, streaming=streaming)
    assert (error.code, error.retryable) == ("llm_empty", True)
    error, _ = await failure(provider, provider.dialect.stream("\n", " "))
    assert error.code == "llm_empty"


async def test_thoughts_that_use_all_tokens_up_say_so(provider: Provider) -> None:
    reply = provider.dialect.stream(stop="length", thoughts="Let me see.")
    error, _ = await failure(provider, reply)
    assert error.code == "llm_empty"
    assert "max_tokens" in str(error)


async def test_a_refusal_before_the_first_word_is_an_error(
    provider: Provider, streaming: bool
) -> None:
    dialect = provider.dialect
    reply = dialect.stream(stop="refusal") if streaming else dialect.whole("", stop="refusal")
    error, _ = await failure(provider, reply, streaming=streaming)
    assert (error.code, error.retryable) == ("llm_refused", False)


async def test_a_refusal_amid_an_answer_is_its_end(provider: Provider) -> None:
    reply = provider.dialect.stream(PIECES[0], stop="refusal")
    async with Server(reply) as server, provider.at(server) as generator:
        piece, finish = await written(generator)
    assert piece == PIECES[0]
    assert isinstance(finish, Finish)
    assert finish.reason == "refusal"


async def test_a_model_without_streaming_answers_in_one_piece(provider: Provider) -> None:
    dialect = provider.dialect
    replies = dialect.fault("no_streaming"), dialect.whole(TEXT)
    async with Server(*replies) as server, provider.at(server) as generator:
        piece, finish = await written(generator)
        await written(generator)
    assert piece == TEXT
    assert isinstance(finish, Finish)
    assert [dialect.streams(each) for each in server.asked] == [True, False, False]


async def test_a_page_or_json_of_another_shape_is_no_answer(
    provider: Provider, streaming: bool
) -> None:
    page = Reply([b"<!doctype html><p>Sign in to the network</p>"], kind="text/html")
    for reply in (page, Reply([b'{"answer": 42}'])):
        error, _ = await failure(provider, reply, streaming=streaming)
        assert error.code == "llm_garbled"


@pytest.mark.parametrize(
    "data", [b'data: {"id": "x", "choices": [{\n\n', b"data: \xff\xfe\xfd\n\n"]
)
async def test_a_stream_that_cannot_be_read(provider: Provider, data: bytes) -> None:
    error, _ = await failure(provider, Reply([data], kind="text/event-stream"))
    assert error.code == "llm_garbled"


@pytest.mark.parametrize("how", ["unended", "cut", "error"])
async def test_a_stream_that_breaks_off_is_no_answer(provider: Provider, how: str) -> None:
    dialect = provider.dialect
    broken = dialect.stream(*PIECES, **{"unended": True, how: True}) if how != "error" else None
    pieces: list[Written] = []
    async with (
        Server(broken or dialect.fails_amid(*PIECES)) as server,
        provider.at(server) as generator,
    ):
        with pytest.raises(GenerationError) as caught:  # noqa: PT012
            async for piece in generator.stream(TALK, writing=WRITING):
                pieces.append(piece)
    assert "".join(str(each) for each in pieces) == TEXT
    assert caught.value.code in ("llm_garbled", "llm_unavailable")
    assert len(server.asked) == 1


async def test_half_a_character_is_no_obstacle(provider: Provider) -> None:
    async with Server(provider.dialect.stream(TEXT)) as server, provider.at(server) as generator:
        await written(generator, [Message("system", "\udfff"), Message("user", "a\ud800\x00b")])
    assert provider.dialect.said(server.asked[0].body) == [("user", "a?\x00b")]


async def test_a_redirect_is_not_followed(provider: Provider) -> None:
    async with Server(provider.dialect.stream(TEXT)) as elsewhere:
        moved = Reply([b""], 307, headers={"location": f"{elsewhere.url}/v1/chat/completions"})
        error, _ = await failure(provider, moved)
    assert error.code in ("llm_garbled", "llm_unavailable")
    assert not elsewhere.asked


async def test_a_proxy_of_the_environment_is_not_used(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with Server(provider.dialect.stream(TEXT)) as server, provider.at(server) as generator:
        assert await ask(generator, streaming=True) == TEXT


async def test_a_proxy_that_is_set_is_used(provider: Provider) -> None:
    async with (
        Server(provider.dialect.stream(TEXT)) as proxy,
        provider.at_url("http://models.example.org", proxy=proxy.url) as generator,
    ):
        assert await ask(generator, streaming=True) == TEXT
    assert proxy.asked[0].path.startswith("http://models.example.org/")

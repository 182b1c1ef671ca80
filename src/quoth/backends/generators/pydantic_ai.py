"""A language model of any provider as a `Generator`, through Pydantic AI."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, aclosing

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from quoth.backends.generators.access import Access, destination
from quoth.backends.generators.errors import (
    LIBRARY_ERRORS,
    Option,
    OptionUnsupported,
    empty_answer,
    refused_answer,
    translate_library_error,
    truncated_answer,
    unsupported_option,
)
from quoth.backends.generators.http_client import collect_responses
from quoth.backends.generators.messages import text_in, to_library
from quoth.backends.generators.reasoning import ReasoningStripper, without_reasoning
from quoth.core.errors import GenerationError
from quoth.core.prices import price
from quoth.core.protocols import Finish, FinishReason, GenerationParams, Message, Written
from quoth.core.types import Usage

_REASONS: dict[str | None, FinishReason] = {
    "stop": "end",
    "length": "length",
    "content_filter": "refusal",
}
_log = logging.getLogger("quoth.llm")


class ModelGenerator:
    """`Generator` for one model.

    ``dropped`` are options that the model turned out not to support: they are omitted from then on,
    which is logged once. Reasoning is disabled where possible: the evidence is in the prompt, and
    reasoning would use up the answer's tokens. With ``cold_when_thinking`` a model that always
    reasons gets no temperature.
    """

    def __init__(
        self,
        model: Model,
        access: Access,
        *,
        close: Callable[[], Awaitable[None]],
        lacks: Collection[Option] = (),
        cold_when_thinking: bool = False,
    ) -> None:
        self.provider = access.provider
        self.model = access.model
        self.window = access.window
        self.endpoint, self.local = destination(access)
        self.dropped: frozenset[Option] = frozenset()
        self._model = model
        self._count_tokens = access.count_tokens
        self._close = close
        self._cold_when_thinking = cold_when_thinking
        self._drop(frozenset(lacks))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text with the set tokenizer, or over-estimate them."""
        return self._count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the price in dollars by the dated price table, None where unknown."""
        return price(usage, provider=self.provider, model=self.model, local=self.local)

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer, then `Finish`; raises GenerationError.

        A refusal before the first token raises ``llm_refused``; a later one finishes with the
        reason ``refusal``. A server that cannot stream is called again without streaming, and its
        answer is one piece.
        """
        wire, without, begun = to_library(messages), self.dropped, False
        while True:
            work = self._written if "stream" in without else self._streamed
            try:
                async with aclosing(work(wire, self._settings(writing, without))) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
            except OptionUnsupported as error:
                if begun or error.option in without:
                    raise error.otherwise from None
                without |= {error.option}
            else:
                self._drop(without)
                return

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, without streaming; raises GenerationError."""
        wire = to_library([Message("system", instructions), Message("user", text)])
        writing, without = GenerationParams(temperature=0, max_tokens=max_tokens), self.dropped
        while True:
            try:
                response = await self._response(wire, self._settings(writing, without))
            except OptionUnsupported as error:
                if error.option in without:
                    raise error.otherwise from None
                without |= {error.option}
            else:
                self._drop(without)
                return self._answer_in(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._close()

    async def _streamed(
        self, wire: list[ModelMessage], settings: ModelSettings
    ) -> AsyncGenerator[Written]:
        said, heard, spoken = ReasoningStripper(), False, False
        responses: list[httpx2.Response] = []
        try:
            async with AsyncExitStack() as closing:
                with collect_responses(responses):
                    opening = model_request_stream(
                        self._model, wire, model_settings=settings, instrument=False
                    )
                    streamed = await closing.enter_async_context(opening)
                async for event in streamed:
                    heard = True
                    if piece := said.feed(text_in(event)):
                        spoken = True
                        yield piece
                response = streamed.get()
        except LIBRARY_ERRORS as error:
            # A server without streaming sends a complete answer, which is no valid stream.
            mute = isinstance(error, UnexpectedModelBehavior) and not heard
            raise self._ours(error, otherwise_lacks="stream" if mute else None) from None
        finally:
            for each in responses:
                await each.aclose()
        if piece := said.end():
            spoken = True
            yield piece
        finish = self._finish(response)
        if not spoken:
            raise self._speechless(finish.reason)
        yield finish

    async def _written(
        self, wire: list[ModelMessage], settings: ModelSettings
    ) -> AsyncGenerator[Written]:
        response = await self._response(wire, settings)
        yield self._answer_in(response)
        yield self._finish(response)

    async def _response(self, wire: list[ModelMessage], settings: ModelSettings) -> ModelResponse:
        try:
            return await model_request(self._model, wire, model_settings=settings, instrument=False)
        except LIBRARY_ERRORS as error:
            raise self._ours(error) from None

    def _ours(
        self, error: Exception, *, otherwise_lacks: Option | None = None
    ) -> GenerationError | OptionUnsupported:
        # Its name only: its text may repeat the question, or the key.
        _log.debug("%s:%s failed: %s", self.provider, self.model, type(error).__name__)
        ours = translate_library_error(error, provider=self.provider, model=self.model)
        option = unsupported_option(error) or otherwise_lacks
        return ours if option is None else OptionUnsupported(option, ours)

    def _settings(self, writing: GenerationParams, without: frozenset[Option]) -> ModelSettings:
        settings = ModelSettings(max_tokens=writing.max_tokens)
        thinking = "thinking" in without
        if not thinking:
            settings["thinking"] = False
        if "temperature" not in without and not (thinking and self._cold_when_thinking):
            settings["temperature"] = writing.temperature
        return settings

    def _answer_in(self, response: ModelResponse) -> str:
        parts = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        if text := without_reasoning(parts):
            return text
        raise self._speechless(self._finish(response).reason)

    def _speechless(self, reason: FinishReason) -> GenerationError:
        if reason == "refusal":
            return refused_answer(self.provider)
        return empty_answer(self.provider, used_up=reason == "length")

    def _finish(self, response: ModelResponse) -> Finish:
        if response.finish_reason is None and not _ended(response):
            raise truncated_answer(self.provider)
        return Finish(
            reason=_REASONS.get(response.finish_reason, "other"),
            usage=Usage(
                input_tokens=response.usage.input_tokens,
                output_tokens=response.usage.output_tokens,
            ),
            provider=self.provider,
            model=_bare(response.model_name or self.model),
        )

    def _drop(self, options: frozenset[Option]) -> None:
        for option in sorted(options - self.dropped):
            _log.info("%s:%s continues without '%s'", self.provider, self.model, option)
        self.dropped |= options


def _bare(name: str) -> str:
    """Return a model's name without the folders that some servers call it by."""
    return name.rpartition("/")[2] if name.startswith("/") else name


def _ended(response: ModelResponse) -> bool:
    """Return whether the provider gave a reason for its end, if only one that is its own."""
    return bool({"finish_reason", "block_reason"} & set(response.provider_details or {}))

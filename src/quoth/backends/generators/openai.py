"""Language models behind the chat completions API: OpenAI, OpenRouter, Ollama and others."""

from __future__ import annotations

from openai import AsyncOpenAI
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider

from quoth.backends.generators.access import Access
from quoth.backends.generators.errors import Option
from quoth.backends.generators.http_client import SILENCE_S, open_client
from quoth.backends.generators.pydantic_ai import ModelGenerator

NO_KEY = "none"
"""Stands where a server wants no key; the library insists on one."""

_ENDS = OpenAIModelProfile(
    # A stream that just stops was broken off; it is not the end of an answer.
    openai_chat_streaming_requires_finish_reason=True,
    # Never written: the library finds tags of reasoning only as pieces of their own, and loses the
    # answer where the closing one is not. `quoth.backends.generators.reasoning` finds them.
    thinking_tags=("\0think", "\0/think"),
)
_OLDER_WORD = OpenAIModelProfile(**_ENDS, openai_chat_supports_max_completion_tokens=False)
"""Servers of the protocol all know ``max_tokens``; few know the newer name."""
_OLLAMA = OpenAIModelProfile(
    **_OLDER_WORD, supports_thinking=True, openai_supports_reasoning_effort_none=True
)
"""Ollama's models that can think do so unless they are told not to."""


def open_openai(access: Access) -> ModelGenerator:
    """Open a model of OpenAI."""
    client = _client(access)
    model = OpenAIChatModel(
        access.model, provider=OpenAIProvider(openai_client=client), profile=_ENDS
    )
    known = model.profile
    reasons = known.get("openai_supports_reasoning", False)
    fixed = reasons and not known.get("openai_supports_reasoning_effort_none", False)
    lacks: tuple[Option, ...] = ("temperature",) if fixed else ()
    return ModelGenerator(
        model, access, close=client.close, lacks=lacks, cold_when_thinking=reasons
    )


def open_openrouter(access: Access) -> ModelGenerator:
    """Open a model through OpenRouter."""
    client = _client(access)
    provider = OpenRouterProvider(openai_client=client)
    model = OpenRouterModel(access.model, provider=provider, profile=_OLDER_WORD)
    return ModelGenerator(model, access, close=client.close)


def open_ollama(access: Access) -> ModelGenerator:
    """Open a model that Ollama serves."""
    client = _client(access)
    model = OllamaModel(
        access.model, provider=OllamaProvider(openai_client=client), profile=_OLLAMA
    )
    return ModelGenerator(model, access, close=client.close)


def open_compatible(access: Access) -> ModelGenerator:
    """Open a model of any server that speaks OpenAI's protocol."""
    client = _client(access)
    provider = OpenAICompatibleProvider(access.provider, openai_client=client)
    model = OpenAIChatModel(access.model, provider=provider, profile=_OLDER_WORD)
    return ModelGenerator(model, access, close=client.close)


def _client(access: Access) -> AsyncOpenAI:
    client = AsyncOpenAI(
        api_key=access.key or NO_KEY,
        base_url=access.url,
        http_client=open_client(access.proxy),
        max_retries=0,
        timeout=SILENCE_S,
    )
    # The library would send the organization in the environment variables to any server.
    client.organization = client.project = None
    return client

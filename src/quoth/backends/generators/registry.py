"""Opens the language models that the settings name; without a name there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from quoth.backends.generators.access import PROVIDERS, Access, CountTokens, destination, host_of
from quoth.backends.generators.fallback import FallbackGenerator
from quoth.backends.http_access import HTTP_PROVIDERS, split_name
from quoth.backends.registry import backend, open_plugin, plugin, require
from quoth.core.errors import ConfigError, GenerationError
from quoth.core.plan import profile
from quoth.core.prices import price
from quoth.core.protocols import GenerationParams, Generator, Message, Written
from quoth.core.types import Usage
from quoth.text.analyzer import estimate_tokens

if TYPE_CHECKING:
    from quoth.core.settings import Settings


class LazyGenerator:
    """Proxy for the model of an `Access`, which opens it on the first call.

    Installed packages are checked at once: raises ConfigError and MissingExtra.
    """

    def __init__(self, access: Access) -> None:
        require("generator", access.provider)
        self.provider = access.provider
        self.model = access.model
        self.window = access.window
        self.endpoint, self.local = destination(access)
        self._access = access
        self._inner: Generator | None = None
        self._alone = asyncio.Lock()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text with the set tokenizer, or over-estimate them."""
        return self._access.count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the price in dollars by the dated price table, None where unknown."""
        return price(usage, provider=self.provider, model=self.model, local=self.local)

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer, then `Finish`; raises GenerationError."""
        inner = await self.opened()
        pieces = cast(AsyncGenerator[Written, None], inner.stream(messages, writing=writing))
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, such as rewording it; raises GenerationError."""
        inner = await self.opened()
        return await inner.complete(instructions, text, max_tokens=max_tokens)

    async def close(self) -> None:
        """Close the connections."""
        if self._inner is not None:
            await self._inner.close()

    async def opened(self) -> Generator:
        """Return the model itself, with its packages loaded."""
        async with self._alone:
            if self._inner is None:
                make = await asyncio.to_thread(backend, "generator", self.provider)
                self._inner = cast(Generator, make(self._access))
            return self._inner


NONE = ("none", "extractive")
"""Names for answers in the sources' own words, which no language model takes part in."""
PROXIES = ("http", "https", "socks5", "socks5h")
Guard = Callable[[Generator], Generator]


def open_generator(
    settings: Settings, *, default: str = "none", guard: Guard = lambda generator: generator
) -> Generator | None:
    """Open the language models of the setting ``generator``, or of the profile's ``default``.

    ``guard`` wraps each of several separately, so that each has its own breaker. Return None where
    no language model is configured: then no text leaves this machine, even if API keys exist.
    Raises ConfigError and MissingExtra.
    """
    names = settings.generator or default
    if names.strip() in NONE:
        return None
    wanted = [each.strip() for each in names.split(",") if each.strip()]
    if not wanted or set(NONE) & set(wanted):
        raise ConfigError(
            f"'{names}' names no language models. Name one, such as ollama:qwen3:8b, or several "
            "separated by commas, or none."
        )
    accesses = {
        each: _access(each, settings, alone=len(wanted) == 1)
        for each in wanted
        if _brought(each) is None
    }
    if settings.llm_base_url and not any(
        access.url == settings.llm_base_url for access in accesses.values()
    ):
        raise ConfigError(
            "The setting 'llm_base_url' belongs to one language model, and none of those named "
            "takes it. Write the address after the name, as in openai:MODEL@https://HOST/v1."
        )
    opened = [
        guard(LazyGenerator(accesses[each]) if each in accesses else _open_brought(each, settings))
        for each in wanted
    ]
    return opened[0] if len(opened) == 1 else FallbackGenerator(*opened)


def open_named(
    settings: Settings, *, guard: Guard = lambda generator: generator
) -> tuple[Generator, ...]:
    """Open the language models that a request may name; raises ConfigError and MissingExtra."""
    names = [each.strip() for each in settings.request_llms.split(",") if each.strip()]
    opened = (
        open_generator(
            settings.model_copy(update={"generator": name, "llm_base_url": None}), guard=guard
        )
        for name in names
    )
    return tuple(each for each in opened if each is not None)


def model_addresses(settings: Settings, *, default: str = "none") -> list[tuple[str, str]]:
    """Return name and address of the models that write; raises ConfigError, MissingExtra."""
    names = settings.generator or default
    wanted = [each.strip() for each in names.split(",") if each.strip() not in ("", *NONE)]
    accesses = (
        _access(each, settings, alone=len(wanted) == 1) for each in wanted if _brought(each) is None
    )
    return [(f"{each.provider}:{each.model}", each.url) for each in accesses]


def _brought(name: str) -> EntryPoint | None:
    """Return what another package offers under the provider of a name."""
    return plugin("generator", name.partition(":")[0])


def _open_brought(name: str, settings: Settings) -> Generator:
    provider, _, model = name.partition(":")
    return cast(Generator, open_plugin("generator", provider, settings, model, protocol=Generator))


def open_small(
    settings: Settings, *, guard: Guard = lambda generator: generator
) -> Generator | None:
    """Open the language model of the setting ``small_llm``, or of the profile with its generator.

    Raises ConfigError and MissingExtra.
    """
    own = profile(settings.profile).small_llm if settings.generator is None else None
    name = settings.small_llm or own or "none"
    # An address in the settings belongs to the generator.
    other = settings.model_copy(update={"generator": name, "llm_base_url": None})
    return open_generator(other, guard=guard)


def _access(name: str, settings: Settings, *, alone: bool) -> Access:
    provider, model, address = split_name(name)
    if provider not in PROVIDERS:
        require("generator", provider)  # raises for what is not in the table
    known, server = PROVIDERS[provider], HTTP_PROVIDERS[provider]
    own = settings.llm_base_url if alone or not server.url else None
    url = address or own or server.url
    if not url:
        raise ConfigError(
            f"The generator '{provider}' needs an address. Set 'llm_base_url', such as "
            f"http://127.0.0.1:8080/v1, or write it after the name: {provider}@http://…"
        )
    host_of(url)
    secret = getattr(settings, server.key)
    if secret is None and server.needs_key:
        raise ConfigError(
            f"The generator '{provider}' needs a key, and there is none. Set {server.key.upper()}, "
            "or answer without a language model by --llm none."
        )
    if provider == "openrouter" and model and "/" not in model:
        raise ConfigError(
            f"OpenRouter names a model with its maker, such as openai/{model}. Name it so in the "
            "setting 'generator'."
        )
    proxy = None if settings.llm_proxy is None else settings.llm_proxy.get_secret_value()
    if proxy is not None and urlsplit(proxy).scheme not in PROXIES:
        raise ConfigError("The setting 'llm_proxy' is no address of a proxy.")
    return Access(
        provider=provider,
        model=model or known.model,
        url=url,
        window=settings.llm_window or known.window,
        key=None if secret is None else secret.get_secret_value(),
        proxy=proxy,
        count_tokens=_counter(settings.llm_tokenizer),
    )


def _counter(file: Path | None) -> CountTokens:
    """Return what counts tokens: the model's own tokenizer, or an over-estimate."""
    if file is None:
        return estimate_tokens
    from quoth.backends.onnx.session import encode_texts, open_tokenizer

    try:
        tokenizer = open_tokenizer(file)
    except ConfigError:
        raise ConfigError(
            f"The setting 'llm_tokenizer' names {file}, which is not there or is no "
            "tokenizer.json. Leave it out to over-estimate tokens."
        ) from None
    return lambda texts: [
        len(encoding.ids) for encoding in encode_texts(tokenizer, texts, error=GenerationError)
    ]

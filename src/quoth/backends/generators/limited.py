"""Limits of the calls of language models, and all those of the settings, opened with them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import BackendError, GenerationCode, GenerationError
from quoth.core.plan import profile
from quoth.core.protocols import Generator

if TYPE_CHECKING:
    from quoth.core.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call, in seconds and bytes of text.

    A local model gets the time to read the prompt in addition to the first token's and the total
    limit, as far as these are ``first_extends`` and ``total_extends``.

    The connect timeout belongs to the client (`http_client.CONNECT_S`). After a failure no retry
    begins later than ``retry_within_s`` after the start of the call, unless the provider gave the
    time in Retry-After.
    """

    first_token_s: float = 10.0
    between_tokens_s: float = 10.0
    total_s: float = 30.0
    first_extends: bool = True
    total_extends: bool = True
    max_bytes: int = 1 << 20
    retries: int = 2
    retry_within_s: float = 2.0


REACHABLE = frozenset[GenerationCode](
    {"llm_denied", "llm_empty", "llm_refused", "llm_too_long", "llm_unknown_model"}
)
"""Failures of a model that works; waiting does not help and would hide the reason."""


def model_breaker(
    generator: Generator, *, clock: Callable[[], float] = time.monotonic
) -> CircuitBreaker:
    """Return the breaker of a language model: opens for 15 s after 5 failures within 30 s."""
    return CircuitBreaker(
        f"The model {generator.model} of {generator.provider}",
        error=partial(GenerationError, code="llm_unavailable"),
        counts=is_failure,
        clock=clock,
    )


def is_failure(error: BackendError) -> bool:
    """Return whether an error shows that the provider is not well."""
    return error.code not in REACHABLE


class LanguageModels(NamedTuple):
    """The model that writes, the one for small tasks, and those that a request may name."""

    generator: Generator | None
    small: Generator | None
    named: tuple[Generator, ...]


NO_MODELS = LanguageModels(None, None, ())


def open_models(settings: Settings, *, breakers: list[CircuitBreaker]) -> LanguageModels:
    """Open the configured language models; adds each one's circuit breaker to ``breakers``.

    Raises ConfigError and MissingExtra.
    """
    # Imported here: without a language model none of it is loaded.
    from quoth.backends.generators.guarded import guard_generator, limit_chain
    from quoth.backends.generators.registry import open_generator, open_named, open_small

    limits = Limits(
        first_token_s=settings.llm_first_seconds,
        between_tokens_s=settings.llm_first_seconds,
        total_s=settings.llm_seconds,
        # A limit that was set holds as it is.
        first_extends="llm_first_seconds" not in settings.model_fields_set,
        total_extends="llm_seconds" not in settings.model_fields_set,
        retries=settings.llm_retries,
    )
    guard = partial(guard_generator, limits=limits, breakers=breakers)
    default = profile(settings.profile).generator
    writes = open_generator(settings, default=default, guard=guard)
    small = open_small(settings, guard=guard)
    return LanguageModels(
        None if writes is None else limit_chain(writes, limits=limits),
        None if small is None else limit_chain(small, limits=limits),
        tuple(limit_chain(each, limits=limits) for each in open_named(settings, guard=guard)),
    )

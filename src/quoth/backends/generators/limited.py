"""Opens all language models of the settings, each with time limits, retries and its breaker."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.plan import profile
from quoth.core.protocols import Generator

if TYPE_CHECKING:
    from quoth.core.settings import Settings


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
    from quoth.backends.generators.limits import Limits
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

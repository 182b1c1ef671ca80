"""Limits of the calls of a language model, and its circuit breaker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import BackendError, GenerationCode, GenerationError
from quoth.core.protocols import Generator


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

"""Translate errors of language models into `GenerationError` with safe messages.

Neither the provider's own text nor the key is ever repeated: the text may quote the question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal

import httpx2
from pydantic import ValidationError
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)

from quoth.backends.generators.http_client import is_too_long
from quoth.core.errors import GenerationCode, GenerationError

Option = Literal["stream", "temperature", "thinking"]

LIBRARY_ERRORS = (
    AgentRunError,
    ValidationError,
    json.JSONDecodeError,
    UnicodeDecodeError,
    httpx2.TransportError,
    httpx2.DecodingError,
    # The libraries do not validate the shape of an answer and fail on others.
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
)
"""What the layers below raise while they ask and read."""

_MEANINGS: tuple[tuple[type[ModelAPIError], GenerationCode, bool, str], ...] = (
    (ModelAuthenticationError, "llm_denied", False,
     "does not accept the key. Look at the key in the settings"),
    (ModelNotFoundError, "llm_unknown_model", False,
     "does not know the model '{model}'. Look at its name and address in the settings"),
    (ModelContextWindowExceededError, "llm_too_long", False,
     "says that the text is longer than the model's window. Set 'llm_window' to the "
     "window's tokens, or 'max_context_tokens' to less"),
    (ModelQuotaExceededError, "llm_limited", False,
     "says that the account has no credit left. Check its plan and credit"),
    (ModelRateLimitError, "llm_limited", True,
     "gets too many requests at the moment. Try again later"),
    (ModelTimeoutError, "llm_timeout", True, "did not answer in time. Try again"),
    (ModelRequestTimeout, "llm_timeout", True, "did not answer in time. Try again"),
    (ModelConnectionError, "llm_unavailable", True,
     "cannot be reached, or broke the connection off. Look at the address and the network"),
    (ModelUnavailableError, "llm_unavailable", True,
     "cannot serve the model at the moment. Try again later"),
    (ModelServerError, "generation_failed", True, "failed by itself. Try again later"),
)  # fmt: skip
"""What each error of the library means: our code, whether to retry, and the end of the sentence."""
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "exceed_context",
    "prompt is too long",
    "too many tokens",
    "input token count",
    "maximum number of tokens",
)
"""How servers without an agreed code word a text that is too long."""
_UNKNOWN_MODEL = ("model_not_found", "not_found_error", "model not found", "unknown model")
_LACKING = (
    *("not support", "unsupported", "not allowed", "not available", "not implemented"),
    *("deprecated", "must be disabled"),
)
_OPTIONS: Mapping[Option, re.Pattern[str]] = {
    "stream": re.compile(r"\bstream"),
    "temperature": re.compile(r"\btemperature"),
    "thinking": re.compile(r"\b(?:reasoning|thinking)"),
}
_TIME_OUTS = (408, 504, 524)


class OptionUnsupported(Exception):
    """The model or its server does not support an option of the request.

    ``otherwise`` is the error to raise where leaving the option out does not help.
    """

    def __init__(self, option: Option, otherwise: GenerationError) -> None:
        super().__init__(option)
        self.option = option
        self.otherwise = otherwise


def translate_library_error(error: Exception, *, provider: str, model: str) -> GenerationError:
    """Translate an error of `LIBRARY_ERRORS`."""
    if is_too_long(error):
        tells = "sends more than any answer is long. Look at the address in the settings"
        return _made("llm_too_long", provider, tells, False, None)
    if isinstance(error, httpx2.TimeoutException):
        error = ModelTimeoutError(model, "")
    elif isinstance(error, httpx2.TransportError):
        error = ModelConnectionError(model, "")
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    said = _said(error)
    wait = error.retry_after if isinstance(error, ModelAPIError) else None
    rejected = status is not None and status in range(400, 500) and status != 429
    if status in _TIME_OUTS:
        error = ModelTimeoutError(model, "")
    elif rejected and any(words in said for words in _TOO_LONG):
        error = ModelContextWindowExceededError(model, "")
    elif status == 400 and any(words in said for words in _UNKNOWN_MODEL):
        error = ModelNotFoundError(model, "")
    for kind, code, retryable, tells in _MEANINGS:
        if isinstance(error, kind):
            return _made(code, provider, tells.format(model=model), retryable, wait)
    if status is None:
        return unreadable_answer(provider)
    tells = f"refuses the request (HTTP {status}). Look at the model's name and the settings"
    return _made("generation_failed", provider, tells, False, wait)


def unreadable_answer(provider: str) -> GenerationError:
    """Return the error for a response that violates the provider's protocol."""
    tells = "sent something that cannot be read as an answer. Look at the address in the settings"
    return _made("llm_garbled", provider, tells, True, None)


def truncated_answer(provider: str) -> GenerationError:
    """Return the error for an answer that was cut off."""
    return _made("llm_garbled", provider, "broke its answer off. Try again", True, None)


def empty_answer(provider: str, *, used_up: bool) -> GenerationError:
    """Return the error for an answer without text; ``used_up`` when reasoning used its tokens."""
    if used_up:
        tells = "used all its tokens up before the first word. Allow more with 'max_tokens'"
    else:
        tells = "returned no text. Try again or choose another model"
    return _made("llm_empty", provider, tells, not used_up, None)


def refused_answer(provider: str) -> GenerationError:
    """Return the error for a refusal by the model or its content filter."""
    return _made("llm_refused", provider, "will not answer this. Ask in other words", False, None)


def unsupported_option(error: Exception) -> Option | None:
    """Return the unsupported option that caused a request to be refused, if any."""
    if not isinstance(error, ModelHTTPError) or error.status_code not in (400, 405, 422, 501):
        return None
    said = _said(error)
    if not any(words in said for words in _LACKING):
        return None
    return next((option for option, name in _OPTIONS.items() if name.search(said)), None)


def _said(error: Exception) -> str:
    body = error.body if isinstance(error, ModelAPIError) else None
    return str(body or "")[:4000].casefold()


def _made(
    code: GenerationCode, provider: str, tells: str, retryable: bool, wait: float | None
) -> GenerationError:
    return GenerationError(
        f"The language model of {provider} {tells}.",
        code=code,
        retryable=retryable,
        retry_after_s=wait,
    )

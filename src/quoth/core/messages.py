"""Messages, generation parameters and chunks exchanged with a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quoth.core.types import Usage

Speaker = Literal["system", "user", "assistant"]
FinishReason = Literal["end", "length", "refusal", "other"]
"""Why a model stopped: finished, out of tokens, refused, or other."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model; only the operator speaks as the system."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class GenerationParams:
    """Generation parameters; a provider ignores and logs unsupported ones."""

    temperature: float = 0.1
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Finish:
    """End of a generation: finish reason, usage and model.

    ``usage.usd`` is by the dated price table, 0 where the model is free or has no known price.
    """

    reason: FinishReason
    usage: Usage
    provider: str
    model: str


Written = str | Finish
"""A piece of text, or the end, which comes last."""

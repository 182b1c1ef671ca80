"""Environment variables that other designs of such a program have, and what they set here.

They count as the environment does, below quoth's own ``QUOTH_`` names. One that could not be
obeyed is refused, so that nobody believes in a setting that does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quoth.errors import ConfigError

PLAN: Mapping[str, tuple[str, type]] = {
    "GOOGLE_TEMPERATURE": ("temperature", float),
    "GOOGLE_MAX_TOKENS": ("max_tokens", int),
    "RAG_TOP_K": ("final_k", int),
    "RAG_MMR_LAMBDA": ("mmr_lambda", float),
    "RAG_MAX_CONTEXT_TOKENS": ("max_context_tokens", int),
    "RAG_TEMPERATURE": ("temperature", float),
    "RETRIEVAL_METHOD": ("mode", str),
    "RRF_K": ("rrf_k", int),
}
"""Names and the fields of the plan that they set; of two for one field the later one counts."""
SETTINGS: Mapping[str, str] = {
    "LLM_MAX_RETRIES": "llm_retries",
    "LLM_TIMEOUT_SECONDS": "llm_seconds",
}
"""Names and the settings that they set."""
FIXED: Mapping[str, float] = {"BM25_K1": 1.2, "BM25_B": 0.75}
"""Numbers that are part of every index; they may be named, and not changed."""


@dataclass(frozen=True, slots=True)
class Aliased:
    """What the variables set: settings and fields of the plan, both by our own names."""

    settings: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)


def read_aliases(environment: Mapping[str, str]) -> Aliased:
    """Read the variables that are there; raises ConfigError naming the one that is wrong."""
    found = Aliased()
    for name, (place, kind) in PLAN.items():
        if text := environment.get(name, "").strip():
            found.plan[place] = _read(name, text, kind=kind)
    for name, place in SETTINGS.items():
        if text := environment.get(name, "").strip():
            found.settings[place] = text
    for name, number in FIXED.items():
        text = environment.get(name, "").strip()
        if text and _read(name, text, kind=float) != number:
            raise ConfigError(
                f"The environment variable {name} asks for {text}, and quoth ranks words with "
                f"{number:g}, which is part of its indexes. Take the variable away."
            )
    return found


def _read(name: str, text: str, *, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise ConfigError(
            f"The environment variable {name} must be {wanted}, not '{text[:40]}'."
        ) from None

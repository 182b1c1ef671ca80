"""Applies a tenant's privacy settings and daily token limit to the components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from quoth.core.protocols import AsksModel, Generator
from quoth.pipeline.components import Components
from quoth.store.privacy_settings import PrivacySettings, PrivacyStore, TokenQuota


@dataclass(frozen=True, slots=True)
class EgressEntry:
    """A destination of texts; ``what`` names the texts, ``local`` means this machine."""

    to: str
    provider: str
    model: str
    what: tuple[str, ...]
    local: bool


BUDGET_EXHAUSTED = "budget_exhausted"
"""The reason in `Answer.degraded` when the daily token limit is reached."""
TOLD = ("the question", "the conversation so far", "the passages that were found for it")


def read_privacy(parts: Components) -> PrivacySettings:
    """Return the privacy settings of the tenant; reads one row."""
    return PrivacyStore.of(parts.catalogue).current(most=parts.settings.history)


def apply_privacy_settings(parts: Components) -> Components:
    """Return the components as restricted by the tenant's settings.

    If texts may not leave the machine, remote language models are removed, also from the judge;
    local ones stay. If the daily token limit is reached, all language models are removed. Blocks
    for one or two look-ups.
    """
    holds, settings = read_privacy(parts), parts.settings
    if holds.history != settings.history:
        parts = replace(parts, settings=settings.model_copy(update={"history": holds.history}))
    generator = parts.generator
    if generator is not None and not generator.local and not holds.may_leave:
        return _without_model(parts)
    if generator is not None and _quota_exceeded(parts):
        return replace(_without_model(parts), generation_disabled_reason=BUDGET_EXHAUSTED)
    return parts


def count_tokens(parts: Components, tokens: int) -> None:
    """Count tokens used by the tenant, if they are limited."""
    if tokens and parts.settings.tokens_per_day is not None:
        _spending(parts).add(tokens)


def _quota_exceeded(parts: Components) -> bool:
    most = parts.settings.tokens_per_day
    return most is not None and _spending(parts).today() >= most


def _spending(parts: Components) -> TokenQuota:
    return TokenQuota.of(parts.catalogue)


def _without_model(parts: Components) -> Components:
    judge = None if isinstance(parts.judge, AsksModel) else parts.judge
    return replace(parts, generator=None, judge=judge)


def list_egress(parts: Components) -> tuple[EgressEntry, ...]:
    """List destinations of texts if the tenant permits egress; empty if all is local."""
    if parts.generator is None:
        return ()
    return tuple(
        EgressEntry(model.endpoint, model.provider, model.model, TOLD, model.local)
        for model in unwrap_models(parts.generator)
        if model.endpoint
    )


def unwrap_models(generator: Generator) -> Iterator[Generator]:
    """Return the models behind a generator: a chain's, a guard's, or itself."""
    within: tuple[Generator, ...] = getattr(generator, "generators", ())
    inner: Generator | None = getattr(generator, "inner", None)
    for one in within or (() if inner is None else (inner,)):
        yield from unwrap_models(one)
    if not within and inner is None:
        yield generator

"""Which components a question may use: privacy settings, daily token limit, moderation.

Where the operator wants moderation and there is no verdict, no language model takes part. What a
model answers is checked in `quoth.pipeline.generate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from quoth.core.component_checks import EmbedderWrapper
from quoth.core.errors import ConfigError, Denied, EmbeddingError, Moderated
from quoth.core.protocols import AsksModel, EncodedQuery, Generator, Matrix, Moderator, Role
from quoth.core.trace import Trace
from quoth.core.types import Turn
from quoth.pipeline.components import Components
from quoth.store.privacy_settings import DailyUsage, PrivacySettings, PrivacyStore


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
UNMODERATED = "unmoderated"
"""The reason where the moderation may not be asked by the tenant's privacy settings."""
TOLD = ("the question", "the conversation so far", "the passages that were found for it")


def read_privacy(parts: Components) -> PrivacySettings:
    """Return the privacy settings of the tenant; reads one row."""
    return PrivacyStore.of(parts.catalogue).current(most=parts.settings.history)


def apply_privacy_settings(parts: Components) -> Components:
    """Return the components as restricted by the tenant's settings.

    If texts may not leave the machine, remote language models are removed, also from the judge,
    and a remote query transformer; local ones stay. If the daily token limit is reached, all
    language models are removed. Blocks for one or two look-ups.
    """
    holds, settings = read_privacy(parts), parts.settings
    if holds.history != settings.history:
        parts = replace(parts, settings=settings.model_copy(update={"history": holds.history}))
    if not holds.may_leave:
        parts = _without_remote_parts(parts)
    if parts.transformer is not None and not parts.transformer.local and not holds.may_leave:
        parts = replace(parts, transformer=None)
    if parts.small is not None and not parts.small.local and not holds.may_leave:
        parts = replace(parts, small=None)
    generator = parts.generator
    if generator is not None and not generator.local and not holds.may_leave:
        return _without_generator(parts)
    if parts.models and _quota_exceeded(parts):
        allowed = replace(_without_generator(parts), small=None)
        return replace(allowed, generation_disabled_reason=BUDGET_EXHAUSTED)
    return parts


def count_tokens(parts: Components, tokens: int) -> None:
    """Count tokens used by the tenant, if they are limited."""
    if tokens and parts.settings.tokens_per_day is not None:
        DailyUsage.of(parts.catalogue).add(tokens=tokens)


def _quota_exceeded(parts: Components) -> bool:
    most = parts.settings.tokens_per_day
    return most is not None and DailyUsage.of(parts.catalogue).tokens() >= most


def _without_generator(parts: Components) -> Components:
    judge = None if isinstance(parts.judge, AsksModel) else parts.judge
    return replace(parts, generator=None, judge=judge)


def require_egress(parts: Components) -> None:
    """Raise Denied if documents would be sent away and the tenant forbids it; one look-up."""
    away = [
        each
        for each in parts.remote
        if not each.local and each.part not in ("reranker", "moderator")
    ]
    if away and not read_privacy(parts).may_leave:
        raise Denied(
            f"The {away[0].part} {away[0].name} would receive the documents at "
            f"{away[0].endpoint}, and the privacy settings forbid it. Change them, or choose "
            f"another with --{away[0].part}."
        )


def list_egress(parts: Components) -> tuple[EgressEntry, ...]:
    """List destinations of texts if the tenant permits egress; empty if all is local.

    Blocks for a look-up of the collections, whose indexes may have embedders of their own.
    """
    remote, embedders = dict.fromkeys(parts.remote), parts.others
    for collection in parts.catalogue.collections() if embedders else ():
        if embedders and collection.embedder not in ("", parts.embedder_setting):
            with suppress(ConfigError):  # nothing is sent to what cannot be opened
                remote |= dict.fromkeys(embedders.remote(collection.build))
    models = (model for each in parts.models for model in unwrap_models(each))
    written = (
        EgressEntry(model.endpoint, model.provider, model.model, TOLD, model.local)
        for model in models
        if model.endpoint
    )
    others = (
        EgressEntry(part.endpoint, *_names(part.name), part.what, part.local)
        for part in remote
        if part.endpoint
    )
    rewords = parts.transformer
    if rewords is None or rewords.local:
        return (*written, *others)
    to = EgressEntry(rewords.name, *_names(rewords.name), TOLD[:2], local=False)
    return (*written, *others, to)


class WithheldEmbedder(EmbedderWrapper):
    """Stands for an embedder that may not be called: queries go on by keywords."""

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Raise EmbeddingError."""
        raise EmbeddingError("The privacy settings forbid that texts leave this machine.")

    async def encode(self, query: str) -> EncodedQuery:
        """Raise EmbeddingError."""
        return EncodedQuery(await self.embed([query], role="query"))


def _without_remote_parts(parts: Components) -> Components:
    away = {each.part for each in parts.remote if not each.local}
    if away & {"embedder", "store"}:  # a store on a server receives the vectors of questions
        parts = replace(parts, embedder=WithheldEmbedder(parts.embedder))
    if "moderator" in away:  # what cannot be checked is not written
        parts = replace(_without_generator(parts), moderator=None, small=None)
        parts = replace(parts, generation_disabled_reason=UNMODERATED)
    return replace(parts, reranker=None) if "reranker" in away else parts


def _names(name: str) -> tuple[str, str]:
    provider, _, model = name.partition(":")
    return provider, model


def unwrap_models(generator: Generator) -> Iterator[Generator]:
    """Return the models behind a generator: a chain's, a guard's, or itself."""
    within: tuple[Generator, ...] = getattr(generator, "generators", ())
    inner: Generator | None = getattr(generator, "inner", None)
    for one in within or (() if inner is None else (inner,)):
        yield from unwrap_models(one)
    if not within and inner is None:
        yield generator


async def moderate_question(
    parts: Components, question: str, *, history: Sequence[Turn], trace: Trace
) -> Components:
    """Return the components, without language models if the question could not be checked.

    Raises Moderated for a question that is flagged, by itself or by the turns before it.
    """
    if parts.moderator is None:
        return parts
    turns = (text for turn in history for text in (turn.question, turn.answer))
    verdict = await trace.attempt(
        "moderate",
        parts.moderator.check("\n".join((question, *turns))),
        otherwise=None,
        fallback="extractive",
    )
    if verdict is None:
        return replace(parts, generator=None, small=None)
    if verdict:
        raise Moderated(f"This question is not answered here: it was flagged ({verdict}).")
    return parts


async def require_unflagged(moderator: Moderator | None, text: str) -> None:
    """Raise Moderated for a text that is flagged, ModerationError where there is no verdict."""
    if moderator is not None and (verdict := await moderator.check(text)):
        raise Moderated(f"This text is left out: it was flagged ({verdict}).")

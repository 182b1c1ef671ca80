"""Makes an engine's parts obey what its tenant has decided about privacy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from quoth.catalogue.privacy import Decisions, Privacy
from quoth.parts import Parts
from quoth.protocols import AsksModel, Generator


@dataclass(frozen=True, slots=True)
class Leaving:
    """A place that texts are sent to; ``what`` are the texts, ``local`` says it is this machine."""

    to: str
    provider: str
    model: str
    what: tuple[str, ...]
    local: bool


TOLD = ("the question", "the conversation so far", "the passages that were found for it")


def privacy_of(parts: Parts) -> Privacy:
    """Give what holds for the tenant now; reads one row."""
    settings = parts.settings
    decisions = Decisions(parts.catalogue.database, tenant=settings.tenant)
    return decisions.holding(most=settings.history)


def obeyed(parts: Parts) -> Parts:
    """Give the parts as the tenant wants them used.

    A tenant whose texts may not leave the machine is answered without the language model, also
    by the judge that asks it; one that is computed here stays. Blocks for one look-up.
    """
    holds, settings = privacy_of(parts), parts.settings
    if holds.history != settings.history:
        parts = replace(parts, settings=settings.model_copy(update={"history": holds.history}))
    generator = parts.generator
    if generator is not None and not generator.local and not holds.may_leave:
        judge = None if isinstance(parts.judge, AsksModel) else parts.judge
        parts = replace(parts, generator=None, judge=judge)
    return parts


def leaving(parts: Parts) -> tuple[Leaving, ...]:
    """List where texts would be sent if the tenant lets them; empty where all is done here."""
    if parts.generator is None:
        return ()
    return tuple(
        Leaving(each.endpoint, each.provider, each.model, TOLD, each.local)
        for each in _each(parts.generator)
        if each.endpoint
    )


def _each(generator: Generator) -> Iterator[Generator]:
    # A chain leads to its models, and what guards one, or a chain, to that which it guards.
    within: tuple[Generator, ...] = getattr(generator, "generators", ())
    inner: Generator | None = getattr(generator, "inner", None)
    for one in within or (() if inner is None else (inner,)):
        yield from _each(one)
    if not within and inner is None:
        yield generator

"""Filters on a speaker: the passages in which this speaker speaks, alone or among others.

An index knows the speaker of a passage that has only one. Those with several are searched beside
them, and `said_by` keeps the right ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from quoth.core.types import Candidate, Chunk, Filter, Variant
from quoth.text.locators import SEVERAL, has_speakers


def without_speakers(filters: Sequence[Filter]) -> tuple[Filter, ...]:
    """Return the filters but those on a speaker."""
    return tuple(each for each in filters if each.field != "speaker")


def within_speakers(variants: Sequence[Variant], filters: Sequence[Filter]) -> list[Variant]:
    """Return each variant among what the speakers of the filters say alone, and among others."""
    alone = tuple(each for each in filters if each.field == "speaker")
    among = (Filter("speaker", "in", (SEVERAL,)),)
    return [
        replace(variant, name=name, filters=(*variant.filters, *found))
        for variant in variants
        for name, found in (
            (variant.name, alone),
            (f"{variant.name} several speakers".strip(), among),
        )
    ]


def said_by(
    candidates: Sequence[Candidate],
    filters: Sequence[Filter],
    *,
    fetch: Callable[[Sequence[str]], Mapping[str, Chunk]],
) -> list[Candidate]:
    """Return the candidates whose chunk, read by ``fetch``, passes the filters on a speaker."""
    chunks = fetch([each.chunk_id for each in candidates])
    return [
        each
        for each in candidates
        if (chunk := chunks.get(each.chunk_id)) and has_speakers(chunk, filters)
    ]

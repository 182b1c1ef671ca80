"""Filters on a speaker: the passages in which this speaker speaks, alone or among others.

An index knows the speaker of a passage that has only one. Those with several are searched beside
them, and `said_by` keeps the right ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from quoth.core.types import Candidate, Chunk, Filter, Variant
from quoth.text.locators import SEVERAL, has_speakers


def within_speakers(variants: Sequence[Variant], filters: Sequence[Filter]) -> list[Variant]:
    """Return each variant twice: for what the speakers of the filters say alone, and among others.

    ``filters`` are those on a speaker; without one the variants stay as they are.
    """
    if not filters:
        return list(variants)
    among = (Filter("speaker", "in", (SEVERAL,)),)
    return [
        replace(variant, name=name, filters=(*variant.filters, *found))
        for variant in variants
        for name, found in (
            (variant.name, filters),
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

"""Filters on a speaker: the passages in which this speaker speaks, alone or among others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from quoth.core.types import Candidate, Chunk, Filter
from quoth.text.locators import speakers_in

ANY_TIME = Filter("seconds", "overlaps", (0.0, 1e9))
"""Recordings: all that has seconds."""


def index_filters(filters: Sequence[Filter]) -> tuple[Filter, ...]:
    """Return the filters as an index can test them.

    It knows the speaker of a passage that has only one; those with several are found, too, and
    `said_by` keeps the right ones.
    """
    names = asked_speakers(filters)
    others = tuple(each for each in filters if each.field != "speaker")
    return (*others, Filter("speaker", "in", (*names, "")), ANY_TIME) if names else others


def asked_speakers(filters: Sequence[Filter]) -> tuple[str, ...]:
    """Return the speakers that filters name."""
    return tuple(
        str(name) for each in filters if each.field == "speaker" for name in each.values if name
    )


def said_by(
    candidates: Sequence[Candidate],
    names: Sequence[str],
    *,
    fetch: Callable[[Sequence[str]], Mapping[str, Chunk]],
) -> list[Candidate]:
    """Return the candidates in whose chunk, read by ``fetch``, one of the speakers speaks."""
    chunks = fetch([each.chunk_id for each in candidates])
    return [
        each
        for each in candidates
        if (chunk := chunks.get(each.chunk_id)) and not speakers_in(chunk).isdisjoint(names)
    ]

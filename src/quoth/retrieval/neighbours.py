"""Widens hits by the chunks around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

At = tuple[str, int]
"""A document id and the ordinal of one of its chunks."""

Span = tuple[str, int, int]
"""A document id, and the first and the last ordinal of consecutive chunks, both included."""


def widen(hits: Sequence[At], *, window: int, sections: Mapping[At, tuple[str, ...]]) -> list[Span]:
    """Take in up to ``window`` chunks on either side of every hit, as a union of intervals.

    Intervals of one section that overlap or touch become one; none crosses into another section.
    ``sections`` gives the section of every chunk that exists around the hits; a place it does not
    name is taken for the end of the document. The spans come in the order of their best hits.
    """
    spans: list[tuple[Span, int]] = []
    reach = [(_window(hit, window, sections), rank) for rank, hit in enumerate(hits)]
    for span, rank in sorted(reach):
        if spans and _joins(spans[-1][0], span, sections):
            (document, first, last), best = spans[-1]
            spans[-1] = ((document, first, max(last, span[2])), min(best, rank))
        else:
            spans.append((span, rank))
    return [span for span, _rank in sorted(spans, key=lambda each: each[1])]


def _window(hit: At, window: int, sections: Mapping[At, tuple[str, ...]]) -> Span:
    document, ordinal = hit
    section = sections.get(hit)
    first = last = ordinal
    while ordinal - first < window and _within(sections, (document, first - 1), section):
        first -= 1
    while last - ordinal < window and _within(sections, (document, last + 1), section):
        last += 1
    return document, first, last


def _within(
    sections: Mapping[At, tuple[str, ...]], place: At, section: tuple[str, ...] | None
) -> bool:
    return place in sections and sections[place] == section


def _joins(left: Span, right: Span, sections: Mapping[At, tuple[str, ...]]) -> bool:
    if left[0] != right[0] or right[1] > left[2] + 1:
        return False
    return sections.get((left[0], left[2])) == sections.get((right[0], right[1]))

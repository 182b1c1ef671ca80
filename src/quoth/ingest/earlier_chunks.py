"""Keep the chunks of an earlier version of a document where its text has not changed.

The borders of chunks are chosen for a whole section at once, so that one word can move many of
them. With the earlier ones kept, a correction changes the chunks that it touches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

Span = tuple[int, int]


def kept_spans(
    text: str,
    earlier: Sequence[str],
    *,
    starts: Sequence[int],
    tokens: Sequence[int],
    target: int,
    borders: Sequence[int],
) -> list[Span]:
    """Return the spans of a text that are earlier chunks, in order.

    ``starts`` are the beginnings of its sentences, with the end of the text; ``tokens`` counts the
    tokens before each. A chunk is kept where sentences begin and end as it does and none of the
    section ``borders`` is inside. A change that leaves less than half a chunk by itself takes the
    chunk after it along, or the one before.
    """
    whole = set(starts)
    spans: list[Span] = []
    position = 0
    for chunk in earlier:
        start = text.find(chunk, position) if chunk else -1
        end = start + len(chunk)
        if start < 0 or start not in whole or end not in whole:
            continue
        inside = bisect_left(borders, end) - bisect_left(borders, start + 1)
        if inside <= 0:
            spans.append((start, end))
            position = end
    before = dict(zip(starts, tokens, strict=True))
    return _with_room(spans, before=before, target=target, length=len(text))


def _with_room(
    spans: Sequence[Span], *, before: dict[int, int], target: int, length: int
) -> list[Span]:
    """Drop the neighbour of every gap that is too small for a chunk of its own."""
    dropped: set[int] = set()
    for number in range(len(spans) + 1):
        low = spans[number - 1][1] if number else 0
        high = spans[number][0] if number < len(spans) else length
        if low < high and before[high] - before[low] < target / 2:
            dropped.add(number if number < len(spans) else number - 1)
    return [span for number, span in enumerate(spans) if number not in dropped]

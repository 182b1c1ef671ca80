"""Locators of text spans: merge places, format labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import assert_never

from quoth.core.translations import translate
from quoth.core.types import (
    Box,
    Chars,
    Chunk,
    Citation,
    Filter,
    Locator,
    Pages,
    Seconds,
    SpanLocator,
)

ARROW = " ▸ "
"""What stands between the titles of a section's path."""
SEVERAL = "|"
"""What an index holds as the speaker of a passage in which others speak, too."""
SHORT_CUE = 3.0
"""Seconds up to which a cue is taken as a whole, since no person aims more exactly."""
LONG_CUE = 90.0
"""Seconds from which an interval is no cue but the gap between two time marks: its characters
are not spread evenly over it, so that nothing can be read off them."""

CELL_GAP = " | "
"""What stands between the cells of a table's row."""

_WITHIN = frozenset(("label", "page", "seconds"))


def locate(places: Sequence[SpanLocator], start: int, end: int) -> Locator:
    """Return the locator of the characters from `start` to `end`, merged from their places.

    A span that only touches white space takes the place before it. Raises ValueError when there
    are no places.
    """
    if not places:
        raise ValueError("A document without places has no locators.")
    inside = [
        clip(place, start, end) for place in places if max(place.start, start) < min(place.end, end)
    ]
    if not inside:
        before = [place for place in places if place.end <= start]
        inside = [before[-1] if before else places[0]]
    first = inside[0].locator
    match first:
        case Pages():
            pages = [place.locator for place in inside if isinstance(place.locator, Pages)]
            low, high = min(pages, key=attrgetter("first")), max(pages, key=attrgetter("last"))
            return replace(
                low,
                last=high.last,
                label_last=high.label_last,
                section=first.section,
                boxes=_merge_lines([box for each in pages for box in each.boxes]),
                speaker=_only_speaker(pages),
            )
        case Seconds():
            return _merge_seconds([p.locator for p in inside if isinstance(p.locator, Seconds)])
        case Chars():
            span = (start, end) if start < end else (first.start, first.end)
            return replace(
                first,
                start=span[0],
                end=span[1],
                label_last=_last_label(inside, first),
                speaker=_only_speaker([place.locator for place in inside]),
            )
        case _:
            assert_never(first)


def locate_in(chunks: Sequence[Chunk], start: int, end: int) -> Locator:
    """Return the locator of the characters from `start` to `end` of consecutive chunks.

    Where no chunk has places it is that of the chunk in which they begin.
    """
    places = [place for chunk in chunks for place in chunk.places]
    if places:
        return locate(places, start, end)
    return next((each for each in reversed(chunks) if each.start <= start), chunks[0]).locator


def clip(place: SpanLocator, start: int, end: int) -> SpanLocator:
    """Clip a place to the span, and its locator where that is possible.

    The seconds of a cue longer than SHORT_CUE and the width of a line are distributed evenly over
    the characters, and rounded outwards to a tenth.
    """
    low, high = max(place.start, start), min(place.end, end)
    if (low, high) == (place.start, place.end):
        return place
    hyphen = place.hyphen if high == place.end else ""
    length = place.end - place.start + len(place.hyphen)
    share = ((low - place.start) / length, (high - place.start + len(hyphen)) / length)
    locator = place.locator
    match locator:
        case Pages():
            if len(locator.boxes) == 1:
                (box,) = locator.boxes
                width = box.x1 - box.x0
                x0 = max(box.x0, math.floor((box.x0 + share[0] * width) * 10) / 10)
                x1 = min(box.x1, math.ceil((box.x0 + share[1] * width) * 10) / 10)
                locator = replace(locator, boxes=(replace(box, x0=x0, x1=x1),))
        case Seconds():
            locator = _spread(locator, share)
        case Chars():
            locator = replace(locator, start=low, end=high)
        case _:
            assert_never(locator)
    return SpanLocator(start=low, end=high, locator=locator, hyphen=hyphen)


def label(locator: Locator, *, language: str = "en") -> str:
    """Name a place for people: ``p. 142 (PDF page 170)``, ``slide 3``, ``12:05–12:31 · Ada``, a
    section path or ``Sheet1 ▸ rows 12–20``.
    """
    return " · ".join(filter(None, (_place_label(locator, language), locator.speaker)))


def _place_label(locator: Locator, language: str) -> str:
    match locator:
        case Pages():
            first, last = str(locator.first), str(locator.last)
            printed = (locator.label_first or first, locator.label_last or last)
            if locator.unit == "slide":
                return _units("slide", *printed, language)
            name = _range(*printed)
            if printed == (first, last) or locator.anchor:
                return f"p. {name}"
            return f"p. {name} ({_units('pdf_page', first, last, language)})"
        case Seconds():
            start, end = format_timestamp(locator.start), format_timestamp(locator.end)
            time = start if start == end else f"{start}–{end}"
            return f"≈{time}" if locator.estimated else time
        case Chars():
            return ARROW.join(filter(None, (locator.section, _counted(locator, language))))
        case _:
            assert_never(locator)


def format_timestamp(seconds: float) -> str:
    """Write seconds as m:ss, or as h:mm:ss from one hour on."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def cited_end(citation: Citation) -> int:
    """Return where the span that a citation proves ends in the document."""
    return max(citation.snippet_end, citation.span_end)


def _counted(locator: Chars, language: str) -> str:
    """Return "lines 12–20" of a place that is counted in its source."""
    first, last = locator.label_first, locator.label_last
    return "" if locator.unit is None or not first else _units(locator.unit, first, last, language)


def _units(unit: str, first: str, last: str, language: str) -> str:
    key = unit if first == last else f"{unit}s"
    return translate(f"text.{key}", language, name=_range(first, last))


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first}–{last}"


def _last_label(places: Sequence[SpanLocator], first: Chars) -> str:
    """Return the last label of what is counted with the first place.

    Rows begin anew in each sheet, and lines in each file of an archive, which is their anchor.
    """
    labels = [
        each.locator.label_last
        for each in places
        if isinstance(each.locator, Chars)
        and (each.locator.unit, each.locator.anchor) == (first.unit, first.anchor)
        and (first.unit != "row" or each.locator.section == first.section)
    ]
    return labels[-1]


def speakers_in(chunk: Chunk) -> set[str]:
    """Return those who speak in a chunk, as far as it names them."""
    locators = (chunk.locator, *(place.locator for place in chunk.places))
    return {each.speaker for each in locators if each.speaker}


def speaker_key(chunk: Chunk) -> str:
    """Return the only speaker of a chunk, `SEVERAL` where there are others, empty without one."""
    return chunk.locator.speaker or (SEVERAL if speakers_in(chunk) else "")


def speaker_filters(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """Return the filters on a speaker."""
    return tuple(each for each in filters if each.field == "speaker")


def has_speakers(chunk: Chunk, filters: Iterable[Filter], *, author: str = "") -> bool:
    """Return whether a chunk passes every filter on a speaker: one of those named speaks in it.

    Where the chunk names none, the ``author`` of its document speaks.
    """
    there = speakers_in(chunk) or {author}
    return all(not there.isdisjoint(map(str, each.values)) for each in speaker_filters(filters))


def _only_speaker(locators: Sequence[Locator]) -> str | None:
    return locators[0].speaker if len({each.speaker for each in locators}) == 1 else None


def _merge_seconds(locators: Sequence[Seconds]) -> Seconds:
    return Seconds(
        start=min(locator.start for locator in locators),
        end=max(locator.end for locator in locators),
        speaker=_only_speaker(locators),
        section=locators[0].section,
        estimated=any(locator.estimated for locator in locators),
    )


def _merge_lines(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Join neighbouring boxes of one printed line; a gap wider than two line heights parts them."""
    merged: list[Box] = []
    for box in boxes:
        previous = merged[-1] if merged else None
        on_line = previous is not None and previous.page == box.page
        if previous is not None and on_line:
            height = min(previous.y1 - previous.y0, box.y1 - box.y0)
            shared = min(previous.y1, box.y1) - max(previous.y0, box.y0)
            gap = max(previous.x0, box.x0) - min(previous.x1, box.x1)
            on_line = shared > 0.5 * height and gap <= 2 * height
        if previous is not None and on_line:
            merged[-1] = Box(
                page=box.page,
                x0=min(previous.x0, box.x0),
                y0=min(previous.y0, box.y0),
                x1=max(previous.x1, box.x1),
                y1=max(previous.y1, box.y1),
            )
        else:
            merged.append(box)
    return tuple(merged)


def _spread(locator: Seconds, share: tuple[float, float]) -> Seconds:
    length = locator.end - locator.start
    if not SHORT_CUE < length <= LONG_CUE:
        return locator
    start = math.floor((locator.start + share[0] * length) * 10) / 10
    end = math.ceil((locator.start + share[1] * length) * 10) / 10
    return replace(locator, start=max(locator.start, start), end=min(locator.end, end))


MOMENT_SECONDS = 60.0
"""Seconds from a moment on that a question about it asks for: one cue alone tells little."""


def filters_from_moment(filters: Sequence[Filter]) -> tuple[Filter, ...]:
    """Return the filters, one of a single moment as one of `MOMENT_SECONDS` from it on."""
    lengthened = []
    for each in filters:
        if each.field == "seconds" and each.values[0] == each.values[-1]:
            moment = float(each.values[0])
            each = replace(each, values=(moment, moment + MOMENT_SECONDS))
        lengthened.append(each)
    return tuple(lengthened)


def is_within_filters(locator: Locator, filters: Sequence[Filter]) -> bool:
    """Return whether a locator is within the pages and seconds of the filters.

    Other filters are ignored; a locator of another kind than the filter's does not match.
    """
    return all(_within(locator, filter_) for filter_ in filters if filter_.field in _WITHIN)


def _within(locator: Locator, condition: Filter) -> bool:
    if condition.field == "label":
        if not isinstance(locator, Pages):
            return False
        labels = {locator.label_first.casefold(), locator.label_last.casefold()}
        return not labels.isdisjoint(str(value).casefold() for value in condition.values)
    low, high = (float(value) for value in condition.values)
    if condition.field == "seconds":
        if not isinstance(locator, Seconds):
            return False
        return locator.start <= low < locator.end or (locator.start < high and locator.end > low)
    return isinstance(locator, Pages) and locator.first <= high and locator.last >= low

"""Extracts moments and segments of recordings from a query."""

from __future__ import annotations

import re

from quoth.core.translations import translate
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    bounding_range,
    restrict_to,
)
from quoth.query.filters.patterns import PatternMatch, find_matches, has_match, mapping, word_set
from quoth.query.tokens import TokenizedQuery
from quoth.text.locators import format_timestamp
from quoth.text.numbers import number_of

END_OF_RECORDING = 360_000.0
"""The end of an open time range."""
TOLERANCE = 30.0
"""Seconds on either side of an approximate moment."""
_BOUNDS = ("at", "about", "from", "until")
_WORD = re.compile(r"[a-z-]+|'+|\"|\d+")

Range = tuple[float, float]


def extract_times(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the moments named; only those within a recording's length filter."""
    spoken = context.entities.spoken
    lengths = [spoken[id_] for id_ in context.documents if id_ in spoken] if spoken else []
    matches = find_matches("moment", query.folded) if lengths else []
    if not matches:
        return NOTHING
    longest = max(lengths)
    length = longest if len(lengths) == 1 else 0.0
    ranges: list[Range] = []
    notes: tuple[str, ...] = ()
    for match in matches:
        if _is_clock(match) and not _is_of_recording(match, query, context):
            continue
        if "end" in match.groups and "unit" in match.groups and not length:
            notes = (translate("query.which_recording", context.language),)
            continue
        found = _range(match, length)
        if found:
            ranges.append(found)
    within = [(low, high) for low, high in ranges if low <= longest]
    if ranges and not within:
        asked, last = format_timestamp(min(low for low, _ in ranges)), format_timestamp(longest)
        notes += (translate("query.beyond_end", context.language, asked=asked, last=last),)
    return ExtractedFilters(bounding_range("seconds", within), notes=notes)


def _range(match: PatternMatch, length: float) -> Range | None:
    """Return the range of a match; ``length`` is the recording's, 0 where unknown."""
    groups = match.groups
    if "share" in groups:
        return _share(match, length) if length else None
    if "unit" in groups:
        return _first_or_last(match, length)
    if "half_hour" in groups or "hour" in groups:
        at = 1800.0 if "half_hour" in groups else 3600.0
        return at, at
    unit = float(match.settings.get("unit", 1))
    at = _seconds(match.first_of("first", "first_minute", "minutes"), unit)
    if "minutes" in groups:
        at *= 60.0
    bound = match.settings.get("bound") or next((b for b in _BOUNDS if b in groups), "at")
    match bound:
        case "between":
            last = _seconds(match.first_of("last", "last_minute"), unit)
            return (at, last) if at < last else None
        case "about":
            return max(0.0, at - TOLERANCE), at + TOLERANCE
        case "from":
            return at, END_OF_RECORDING
        case "until":
            return 0.0, at
        case _:
            return at, at


def _first_or_last(match: PatternMatch, length: float) -> Range:
    groups = match.groups
    count = number_of(match.first_of("count", "number")) or 1
    unit = _unit(groups["unit"].split("s d'")[0].split()[0].split("-")[0])
    size = count * unit * (0.5 if "half" in groups else 1.0)
    if "end" in groups:
        return max(0.0, length - size), length
    return (size, END_OF_RECORDING) if "over" in groups else (0.0, size)


def _share(match: PatternMatch, length: float) -> Range | None:
    groups = match.groups
    shares = int(mapping("shares")[groups["share"]])
    count = min(number_of(groups.get("count", "")) or 1, shares)
    if "start" in groups:
        first = 0
    elif "end" in groups:
        first = shares - count
    else:
        first = 2 if "third" in groups else 1
    low, high = first * length / shares, min(first + count, shares) * length / shares
    if "start" in groups and "over" in groups:
        low, high = high, END_OF_RECORDING
    return (low, high) if low < length else None


def _is_clock(match: PatternMatch) -> bool:
    """Return whether a time could also be a time of day: "12:30", "14 h"."""
    first = match.groups.get("first", "")
    return ":" in first or bool(re.match(r"\d+ ?h", first))


def _is_of_recording(
    match: PatternMatch, query: TokenizedQuery, context: ExtractionContext
) -> bool:
    return (
        context.about_recording
        or context.is_narrowed
        or has_match("recorded", query.folded)
        or not query.folded[: match.start].strip(' "«(')
    )


def _seconds(text: str, unit: float) -> float:
    """Parse "12:30", "14 h 30", "minute 12" or "12 minutes 30" to seconds."""
    if ":" in text:
        return sum(float(part) * 60.0**power
                   for power, part in enumerate(reversed(text.split(":"))))  # fmt: skip
    whole = number_of(text)
    if whole is not None:
        return whole * unit
    total, number, last_unit = 0.0, "", 0.0
    for word in _WORD.findall(text):
        size = _unit(word)
        if size and number:
            total += (number_of(number) or 0) * size
            number, last_unit = "", size
        elif size:
            last_unit = size * 60.0  # "minute 12": the number follows its unit
        elif word not in word_set("joints"):
            number = f"{number} {word}".strip()
    # A number without a unit counts the next smaller unit: "14 h 30".
    return total + (number_of(number) or 0) * last_unit / 60.0 if number else total


def _unit(word: str) -> float:
    units = mapping("units")
    sizes = {"'": 60.0, "''": 1.0, '"': 1.0}
    return float(units.get(word) or units.get(word.removesuffix("s")) or sizes.get(word, 0.0))


def extract_segments(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Detect a request for the audience's questions or for a demonstration."""
    extracted = NOTHING
    reach = frozenset(context.documents)
    found = (match.settings["segment"] for match in find_matches("segment", query.folded))
    for segment in dict.fromkeys(found):
        if reach.isdisjoint(context.entities.segments.get(segment, ())):
            note = translate(f"query.no_segment_{segment}", context.language)
            extracted += ExtractedFilters(notes=(note,))
        else:
            extracted += ExtractedFilters(restrict_to("segment", (segment,)))
    return extracted

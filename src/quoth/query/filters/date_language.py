"""Extracts language and date filters on documents from a query."""

from __future__ import annotations

import re
from datetime import date, timedelta

from quoth.core.translations import translate
from quoth.core.types import Filter
from quoth.query.entity_index import EntityIndex, date_bounds, is_day
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    bounding_range,
    restrict_to,
)
from quoth.query.filters.patterns import YEAR, PatternMatch, find_matches, has_match, mapping
from quoth.query.tokens import TokenizedQuery

LAST_DAY = 99991231.0
"""The end of an open range of days, as a number."""
_MONTH_AND_YEAR = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th|er)? (?:of )?)?([a-z]+)(?: (\d{{1,2}})(?:st|nd|rd|th)?,?)? "
    rf"(?:of |de )?({YEAR})"
)
_NUMBERS = re.compile(rf"(\d{{1,2}})[/.-](\d{{1,2}})[/.-]({YEAR})")
_ISO = re.compile(rf"{YEAR}(?:-\d\d(?:-\d\d)?)?")

Days = tuple[int, int]


def extract_languages(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the language of the sources, where a phrase about sources names it.

    "Answer in French", "French cuisine" and "how to say it in French" filter nothing.
    """
    matches = find_matches("language", query.folded)
    if not matches:
        return NOTHING
    ordered = has_match("order", query.folded)
    codes = [
        mapping("languages")[match.groups["language"]]
        for match in matches
        # "Summarise the talk in French" wants a summary in French.
        if not (ordered and "ordered" in match.settings and _ends(query, match))
    ]
    if not codes:
        return NOTHING
    existing = [code for code in codes if code in context.entities.by_language]
    if not existing:
        return ExtractedFilters(notes=(translate("query.no_language", context.language),))
    return ExtractedFilters(restrict_to("language", existing))


def _ends(query: TokenizedQuery, match: PatternMatch) -> bool:
    return not query.folded[match.end :].strip(" ?!.")


def extract_dates(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the date of the sources, where a phrase about sources names it.

    A date of an event ("What happened in 1970?") filters nothing.
    """
    dates = context.entities.dates
    matches = find_matches("date", query.folded) if dates else []
    ranges = [days for match in matches if (days := _range(match))]
    existing = [days for days in ranges if _has_document(days, context.entities)]
    if existing or not ranges:
        return ExtractedFilters(bounding_range("date", existing))
    first = min(low for low, _ in dates.values()) // 10_000
    last = max(high for _, high in dates.values()) // 10_000
    note = translate("query.no_date", context.language, first=first, last=last)
    return ExtractedFilters(notes=(note,))


def follow_up_dates(query: TokenizedQuery, entities: EntityIndex) -> tuple[Filter, ...]:
    """Return the date that a follow-up substitutes for another: "and in 2022?"."""
    found = (_range(match) for match in find_matches("date_alone", query.folded))
    return bounding_range(
        "date", [days for days in found if days and _has_document(days, entities)]
    )


def follow_up_languages(query: TokenizedQuery, entities: EntityIndex) -> tuple[Filter, ...]:
    """Return the language that a follow-up substitutes for another: "and the French ones?"."""
    known = mapping("languages")
    codes = [known[word] for word in query.words if word in known]
    return restrict_to("language", [code for code in codes if code in entities.by_language])


def _has_document(days: tuple[float, float], entities: EntityIndex) -> bool:
    return any(low <= days[1] and days[0] <= high for low, high in entities.dates.values())


def _range(match: PatternMatch) -> tuple[float, float] | None:
    """Return the days of a phrase with one or two dates; None for an impossible date."""
    given = {name: days for name, text in match.groups.items() if (days := _days(text))}
    if not given:
        return None
    low, high = min(given.values())[0], max(days[1] for days in given.values())
    if "since" in given:
        return float(low), LAST_DAY
    if "after" in given:
        return float(_shift(high, 1)), LAST_DAY
    if "before" in given:
        return 0.0, float(_shift(low, -1))
    if "until" in given:
        return 0.0, float(high)
    return float(low), float(high)


def _days(text: str) -> Days | None:
    """Return the first and last day of a date in common notation."""
    if written := _MONTH_AND_YEAR.search(text):
        day_before, month, day_after, year = written.groups()
        day = day_before or day_after
        number = mapping("months").get(month)
        text = f"{year}-{number:02}" + (f"-{int(day):02}" if day else "") if number else year
    elif numbers := _NUMBERS.search(text):
        first, second, year = map(int, numbers.groups())
        # Day before month, unless the month would be invalid.
        day_of, month_of = (second, first) if second > 12 else (first, second)
        text = f"{year}-{month_of:02}-{day_of:02}"
    else:
        iso = _ISO.search(text)
        text = iso.group() if iso else ""
    days = date_bounds(text) if text else None
    return days if days and is_day(days[0]) and is_day(days[1]) else None


def _shift(day: int, days: int) -> int:
    """Return the date shifted by a number of days, as a number."""
    moved = date(day // 10_000, day // 100 % 100, day % 100) + timedelta(days=days)
    return moved.year * 10_000 + moved.month * 100 + moved.day

"""Attributes of documents that a question names: speakers, dates and languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from quoth.core.translations import translate
from quoth.core.types import Filter
from quoth.query.entity_index import HONORIFICS, Entity, EntityIndex, date_bounds, is_day
from quoth.query.entity_linking import of_kind, resolve_speaker
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    bounding_range,
    documents_within,
    restrict_to,
)
from quoth.query.filters.parse import join_names
from quoth.query.filters.patterns import (
    YEAR,
    PatternMatch,
    Rule,
    find_matches,
    has_match,
    mapping,
    rules,
    word_set,
)
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, tokenize_query

WORDS_BEFORE, WORDS_AFTER = 8, 6
"""Words before and after a name that can announce it."""
MAX_NAME_WORDS = 3
MAX_POSITIONS = 40
"""Words of a query where misspelled names are looked up."""

Spot = tuple[int, int, tuple[Entity, ...]]
"""First word, end word (exclusive), and the possible speakers."""


def extract_speakers(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the speakers that a query names.

    Those announced as a source filter, a guest ("the interview with Ada") to the documents in which
    they speak; those only named are soft filters.
    """
    if not context.entities.speakers.names:
        return NOTHING
    spots = _spots(query, context)
    announced: list[Entity] = []
    guests: list[Entity] = []
    named: list[Entity] = []
    notes: list[str] = []
    for group in _groups(query, spots):
        people = [person for _, _, several in group for person in several]
        rule = _announcing(query, group[0][0], group[-1][1])
        if rule is None:
            named += people
            continue
        (guests if "whole" in rule.settings else announced).extend(people)
        for _, _, several in group:
            if len(several) > 1:
                there = join_names([person.real for person in several], context.language)
                notes.append(translate("query.several_speakers", context.language, there=there))
    if not spots:
        announced, named = _misspelled(query, context.entities)
    guesses = [person.real for person in named if person not in announced]
    spoken = restrict_to("speaker", [person.real for person in announced])
    for each in restrict_to("speaker", [person.real for person in guests]):
        spoken += restrict_to("document", documents_within([each], context.entities))
    announced += guests
    return ExtractedFilters(
        spoken,
        restrict_to("speaker", guesses),
        tuple(notes),
        tuple((query.starts[first], query.ends[last - 1]) for first, last, _ in spots),
        tuple(dict.fromkeys([*announced, *named])),
    )


def _spots(query: TokenizedQuery, context: ExtractionContext) -> list[Spot]:
    """Return the positions of speakers, by full name or by one capitalised name."""
    whole = [(found.first, found.last, of_kind(found, "speaker")) for found in context.mentions]
    spots = [spot for spot in whole if spot[2]]
    taken = {
        place
        for found in context.mentions
        if found.last - found.first > 1 or of_kind(found, "speaker")
        for place in range(found.first, found.last)
    }
    called = context.entities.speakers_by_name
    for place, word in enumerate(query.words):
        if place in taken or word not in called or word in FUNCTION_WORDS:
            continue
        if _has_capital(query, place):
            if _is_part_of_longer_name(query, place):
                continue
        elif not _announcing(query, place, place + 1) or _precedes_noun(query, place):
            continue
        spots.append((place, place + 1, called[word]))
    return sorted(spots, key=lambda spot: spot[:2])


def _has_capital(query: TokenizedQuery, place: int) -> bool:
    return query.clean[query.starts[place]].isupper()


def _is_part_of_longer_name(query: TokenizedQuery, place: int) -> bool:
    """Return whether a word is part of a name that no speaker has, as in "Ada Byron"."""
    for other in (place - 1, place + 1):
        if 0 < other < len(query.words):
            low, high = min(place, other), max(place, other)
            joined = query.clean[query.ends[low] : query.starts[high]] == " "
            word = query.words[other]
            common = word in FUNCTION_WORDS or word in HONORIFICS
            if joined and _has_capital(query, other) and not common:
                return True
    return False


def _precedes_noun(query: TokenizedQuery, place: int) -> bool:
    """Return whether a lower-case name may be an ordinary word before a noun."""
    if any(rule.after and rule.after.match(_text_after(query, place + 1))
           for rule in rules("speaker")):  # fmt: skip
        return bool(place) and query.words[place - 1] not in FUNCTION_WORDS
    following = query.words[place + 1 : place + 2]
    if not following:
        return False
    gap = query.folded[query.ends[place] : query.starts[place + 1]]
    return gap == " " and following[0] not in FUNCTION_WORDS


def _groups(query: TokenizedQuery, spots: Sequence[Spot]) -> list[list[Spot]]:
    """Group speakers that are listed together: "Ada Lovelace and Grace Hopper"."""
    groups: list[list[Spot]] = []
    for spot in spots:
        if groups:
            end = groups[-1][-1][1]
            if spot[0] < end:
                continue
            between = [word for word in query.words[end : spot[0]] if word != "s"]
            joined = between[:1] and between[0] in word_set("joints") and len(between) < 3
            if not between or (joined and (len(between) == 1 or between[1] in word_set("links"))):
                groups[-1].append(spot)
                continue
        groups.append([spot])
    return groups


def _announcing(query: TokenizedQuery, first: int, last: int) -> Rule | None:
    """Return the rule by which the words around a name make its owner a source, else None."""
    while first and query.words[first - 1] in HONORIFICS:
        first -= 1
    before = " ".join(query.words[max(0, first - WORDS_BEFORE) : first]) + " "
    after = _text_after(query, last)
    announcing = (
        rule
        for rule in rules("speaker")
        if (rule.before and rule.before.search(before)) or (rule.after and rule.after.match(after))
    )
    return next(announcing, None)


def _text_after(query: TokenizedQuery, last: int) -> str:
    text = " ".join(query.words[last : last + WORDS_AFTER])
    possessive = query.folded[query.ends[last - 1] :].startswith("' ")  # "Tom Hughes' talk"
    return f"s {text}" if possessive else text


def _misspelled(query: TokenizedQuery, entities: EntityIndex) -> tuple[list[Entity], list[Entity]]:
    """Return the speakers meant by an announced, misspelled name, and less certain ones."""
    for first, last in _announced_runs(query):
        words = [word for word in query.words[first:last] if word not in HONORIFICS]
        resolved = resolve_speaker(words, entities) if words else None
        if resolved:
            people = list(resolved.names)
            return (people, []) if resolved.unambiguous else ([], people)
    return [], []


def _announced_runs(query: TokenizedQuery) -> Iterator[tuple[int, int]]:
    """Return runs of words announced like a speaker, the longest at each position first."""
    for first in range(min(len(query.words), MAX_POSITIONS)):
        if query.words[first] in FUNCTION_WORDS:
            continue
        last = first
        while last < len(query.words) and last - first < MAX_NAME_WORDS:
            gap = query.folded[query.ends[last - 1] : query.starts[last]] if last > first else ""
            if query.words[last] in FUNCTION_WORDS or gap.strip(" .-"):
                break
            last += 1
        for end in range(last, first, -1):
            if _announcing(query, first, end):
                yield first, end


def announced_names(text: str) -> list[frozenset[str]]:
    """Return the words of each name that a question announces like a speaker: "What did Ada say?".

    They may name nothing, as in "What does the report say?".
    """
    query = tokenize_query(text)
    names = (frozenset(query.words[first:last]) for first, last in _announced_runs(query))
    return [words for name in names if (words := name.difference(HONORIFICS))]


LAST_DAY = 99991231.0
"""The end of an open range of days, as a number."""
_MONTH_AND_YEAR = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th|er|\.|º)? ?(?:of |de )?)?([a-z]+)"
    rf"(?: (\d{{1,2}})(?:st|nd|rd|th)?,?)? (?:of |del? )?({YEAR})"
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

    A date of an event ("What happened in 1970?") filters nothing. That of a meeting filters where
    a document has this day or month.
    """
    dates = context.entities.dates
    matches = find_matches("date", query.folded) if dates else []
    ranges = [days for match in matches if (days := _range(match))]
    ranges = ranges or _meetings(query, context.entities)
    if not ranges:
        return NOTHING
    existing = [days for days in ranges if _has_document(days, context.entities)]
    if existing:
        return ExtractedFilters(bounding_range("date", existing))
    first = min(low for low, _ in dates.values()) // 10_000
    last = max(high for _, high in dates.values()) // 10_000
    note = translate("query.no_date", context.language, first=first, last=last)
    return ExtractedFilters(notes=(note,))


def _meetings(query: TokenizedQuery, entities: EntityIndex) -> list[tuple[float, float]]:
    """Return the day or month of the only meeting of a query, where a document has this date.

    A meeting behind "about" is a subject: "What does the Gazette write about the meeting of …?".
    """
    met = _days_or_months("meeting", query) if entities.dates else []
    if not met or len(_days_or_months("date_alone", query)) != 1:
        return []
    return [days for days in met if _has_document(days, entities)]


def _days_or_months(topic: str, query: TokenizedQuery) -> list[tuple[float, float]]:
    """Return the dates of a topic's matches that lie within a month."""
    ranges = (_range(match) for match in find_matches(topic, query.folded))
    return [days for days in ranges if days and days[0] // 100 == days[1] // 100]


def strip_dates(query: TokenizedQuery, filters: Sequence[Filter]) -> TokenizedQuery:
    """Return a query without the dates that filter it, which no passage need contain.

    A date outside the filter stays: "What do the talks of 2024 say about the flood of 1910?".
    """
    limits = [each.values for each in filters if each.field == "date"]
    spans = [
        (match.start, match.end)
        for match in (find_matches("date_alone", query.folded) if limits else ())
        if (days := _range(match))
        if any(float(low) <= days[0] and days[1] <= float(high) for low, high in limits)
    ]
    if not spans:
        return query
    text = query.clean
    for start, end in sorted(spans, reverse=True):
        text = text[:start].rstrip() + text[end:]
    return tokenize_query(text.strip())


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

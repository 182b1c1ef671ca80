"""Places that a question names: pages, chapters, sections, times and segments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from quoth.core.translations import translate
from quoth.query.filters.divisions import only_titled
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    bounding_range,
    restrict_to,
)
from quoth.query.filters.parse import MAX_LISTED, MAX_PAGES, join_names
from quoth.query.filters.patterns import PatternMatch, find_matches, has_match, mapping, word_set
from quoth.query.keywords import names_a_topic
from quoth.query.tokens import TokenizedQuery, stem
from quoth.text.locators import format_timestamp
from quoth.text.numbers import ROMAN, WORDS, labels_between, number_of, to_roman

MAX_CHAPTERS = 50
MAX_DOCUMENTS_CHECKED = 5
"""Maximum number of documents whose pages are checked individually."""


def extract_pages(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract pages named by their printed labels; only existing ones filter.

    Slides are those of presentations, else pages: many presentations are exported as PDF. A "PDF
    page" is counted from the first one of the file.
    """
    known = context.entities.documents
    matches = find_matches("pdf_page", query.folded)
    if counted := [int(label) for match in matches for label in _page_labels(match)]:
        last = max((known[id_].pages or 0 for id_ in context.documents), default=0)
        there = [(float(page), float(page)) for page in counted if 0 < page <= last]
        if there:
            return ExtractedFilters(bounding_range("page", there), names_a_page=True)
        key = "query.pages_to" if last else "query.no_pages"
        reach = translate(key, context.language, last=last)
        missing = _no_page([*map(str, counted)], reach, context.language)
        return replace(missing, names_a_page=True)
    owner = _page_owner(query, context)
    within = replace(context, documents=(owner,)) if owner else context
    if labels := _named_labels("page", query, within):
        found = _existing_pages(labels, within)
        only = restrict_to("document", [owner] if owner else [])
        return replace(found, filters=(*found.filters, *only), names_a_page=True)
    if find_matches("slide", query.folded):
        decks = tuple(id_ for id_ in context.documents if known[id_].kind == "slides")
        within = replace(context, documents=decks) if decks else context
        labels = _named_labels("slide", query, within)
        found = _existing_pages(labels, within) if labels else NOTHING
        only = restrict_to("document", decks) if found.filters else ()
        return replace(found, filters=(*found.filters, *only), names_a_page=True)
    return NOTHING


def _page_owner(query: TokenizedQuery, context: ExtractionContext) -> str | None:
    """Return the only document with pages that the words behind "page 4 of the …" name."""
    pages = find_matches("page", query.folded)
    end = pages[-1].end if pages else 0
    behind = re.match(r"\W*(\w+)", query.folded[end:])
    if context.is_narrowed or not pages or not behind or behind[1] not in word_set("within_words"):
        return None
    paged = context.entities.labels.keys() & set(context.documents)
    return only_titled(query, end, paged, context)


def _named_labels(place: str, query: TokenizedQuery, context: ExtractionContext) -> list[str]:
    found: list[str] = []
    for match in find_matches(place, query.folded):
        found += _last_label(context) if "end" in match.groups else _page_labels(match)
    return list(dict.fromkeys(found))


def _last_label(context: ExtractionContext) -> list[str]:
    """Return the label of the last page, if all pages are of one document."""
    by_document = context.entities.labels
    paged = [by_document[id_] for id_ in context.documents if id_ in by_document]
    return [paged[0][-1]] if len(paged) == 1 else []


def _page_labels(match: PatternMatch) -> list[str]:
    given = [_spell_label(match.groups[name]) for name in ("first", "last", "third")
             if name in match.groups]  # fmt: skip
    if "to" not in match.groups or given[0] == given[1]:
        return given
    between = labels_between(given[0], given[1])
    if between is None or len(between) > MAX_PAGES:
        return []
    spell = str if given[0].isdecimal() else to_roman
    return [*map(spell, between), *given[2:]]


def _spell_label(label: str) -> str:
    """Return a page number in words as digits, any other label unchanged."""
    if label.isdecimal() or (ROMAN.fullmatch(label) and label not in WORDS):
        return label
    if re.fullmatch(r"[a-z]-?\d+", label):
        return label
    number = number_of(label)
    return str(number) if number else label


def _existing_pages(labels: Sequence[str], context: ExtractionContext) -> ExtractedFilters:
    by_document, language = context.entities.labels, context.language
    paged = [id_ for id_ in context.documents if id_ in by_document]
    if not paged:
        there = translate("query.no_pages", language)
        return _no_page(labels, there, language)
    if len(paged) <= MAX_DOCUMENTS_CHECKED:
        printed = frozenset(label for id_ in paged for label in by_document[id_])
    else:
        printed = context.entities.printed
    existing = [label for label in labels if label in printed]
    missing = [label for label in labels if label not in printed]
    if not missing:
        return ExtractedFilters(restrict_to("label", existing))
    if existing:
        note = translate("query.some_pages", language, asked=join_names(missing, language))
        return ExtractedFilters(restrict_to("label", existing), notes=(note,))
    if len(paged) == 1:
        own = by_document[paged[0]]
        there = translate("query.pages_are", language, first=own[0], last=own[-1])
    else:
        highest = max((int(label) for label in printed if label.isdecimal()), default=0)
        there = translate("query.pages_to", language, last=highest)
    return _no_page(missing, there, language)


def _no_page(labels: Sequence[str], there: str, language: str) -> ExtractedFilters:
    asked = join_names(labels, language)
    return ExtractedFilters(notes=(translate("query.no_page", language, asked=asked, there=there),))


def extract_chapters(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract chapters named by number; only existing ones filter."""
    matches = find_matches("chapter", query.folded)
    if not matches:
        return NOTHING
    reach = frozenset(context.documents)
    owners = {
        chapter: tuple(id_ for id_ in ids if id_ in reach)
        for chapter, ids in context.entities.chapters.items()
    }
    owners = {chapter: ids for chapter, ids in owners.items() if ids}
    wanted: list[str] = []
    for match in matches:
        wanted += _last_chapter(owners) if "end" in match.groups else _chapter_numbers(match)
    asked = frozenset(() if names_a_topic(query.folded) else map(stem, query.words))
    titles = context.entities.titles.names
    named = {id_ for each in titles if each.distinctive_words & asked for id_ in each.documents}
    return _existing_chapters(list(dict.fromkeys(wanted)), owners, context, named=named)


def _chapter_numbers(match: PatternMatch) -> list[str]:
    groups = match.groups
    if "letter" in groups:
        letters = (groups["letter"], groups.get("letter_last", ""))
        return [_appendix(letter) for letter in letters if letter]
    if re.fullmatch("[a-h]", groups["first"]) and not number_of(groups["first"]):
        return [groups["first"]]
    given = [number_of(groups[name]) for name in ("first", "last", "third") if name in groups]
    numbers = [number for number in given if number]
    if "to" in groups and len(numbers) > 1 and 0 < numbers[1] - numbers[0] <= MAX_CHAPTERS:
        numbers[:2] = range(numbers[0], numbers[1] + 1)
    return [str(number) for number in numbers]


def _appendix(letter: str) -> str:
    number = int(letter) if letter.isdecimal() else 0
    return chr(ord("a") + number - 1) if 0 < number <= 26 else letter


def _last_chapter(owners: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the number of the last chapter, if all chapters are of one document."""
    numbers = [int(chapter) for chapter in owners if chapter.isdecimal()]
    documents = {id_ for ids in owners.values() for id_ in ids}
    return [str(max(numbers))] if numbers and len(documents) == 1 else []


def _existing_chapters(
    wanted: Sequence[str],
    owners: dict[str, tuple[str, ...]],
    context: ExtractionContext,
    *,
    named: Collection[str],
) -> ExtractedFilters:
    """Filter by chapters that are there; ``named`` are documents with words of the query."""
    language, documents = context.language, context.entities.documents
    existing = [chapter for chapter in wanted if chapter in owners]
    missing = [chapter.upper() for chapter in wanted if chapter not in owners]
    notes: list[str] = []
    if missing:
        key = "query.no_chapter" if owners else "query.no_chapters"
        asked = join_names(missing, language)
        notes.append(translate(key, language, asked=asked, there=_chapter_runs(owners)))
    for chapter in existing:
        if len(owners[chapter]) > 1 and sum(id_ in named for id_ in owners[chapter]) != 1:
            titles = [documents[id_].title for id_ in owners[chapter][:MAX_LISTED]]
            there = join_names(titles, language, total=len(owners[chapter]))
            asked = chapter.upper()
            notes.append(translate("query.chapter_in_several", language, asked=asked, there=there))
    return ExtractedFilters(restrict_to("chapter", existing), notes=tuple(notes))


def _chapter_runs(chapters: Iterable[str]) -> str:
    """Format chapter numbers as ranges: "1-4, 6, A"."""
    numbers = sorted(int(chapter) for chapter in chapters if chapter.isdecimal())
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spelt = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ", ".join([*spelt, *sorted(c.upper() for c in chapters if not c.isdecimal())])


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

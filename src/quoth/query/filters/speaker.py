"""Extracts speaker filters: "according to X", "que dit X", "X's talk"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quoth.core.translations import translate
from quoth.query.entity_index import HONORIFICS, Entity, EntityIndex
from quoth.query.entity_linking import of_kind, resolve_speaker
from quoth.query.filters.describe import join_names
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    restrict_to,
)
from quoth.query.filters.patterns import rules, word_set
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery

WORDS_BEFORE, WORDS_AFTER = 8, 6
"""Words before and after a name that can announce it."""
MAX_NAME_WORDS = 3
MAX_POSITIONS = 40
"""Words of a query where misspelled names are looked up."""

Spot = tuple[int, int, tuple[Entity, ...]]
"""First word, end word (exclusive), and the possible speakers."""


def extract_speakers(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the speakers that a query names.

    Those announced as a source filter; those only named are soft filters.
    """
    if not context.entities.speakers.names:
        return NOTHING
    spots = _spots(query, context)
    announced: list[Entity] = []
    named: list[Entity] = []
    notes: list[str] = []
    for group in _groups(query, spots):
        people = [person for _, _, several in group for person in several]
        if not _is_announced(query, group[0][0], group[-1][1]):
            named += people
            continue
        announced += people
        for _, _, several in group:
            if len(several) > 1:
                there = join_names([person.real for person in several], context.language)
                notes.append(translate("query.several_speakers", context.language, there=there))
    if not spots:
        announced, named = _misspelled(query, context.entities)
    guesses = [person.real for person in named if person not in announced]
    return ExtractedFilters(
        restrict_to("speaker", [person.real for person in announced]),
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
        elif not _is_announced(query, place, place + 1) or _precedes_noun(query, place):
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


def _is_announced(query: TokenizedQuery, first: int, last: int) -> bool:
    """Return whether the words around a name make its owner a source."""
    while first and query.words[first - 1] in HONORIFICS:
        first -= 1
    before = " ".join(query.words[max(0, first - WORDS_BEFORE) : first]) + " "
    after = _text_after(query, last)
    return any(
        (rule.before and rule.before.search(before)) or (rule.after and rule.after.match(after))
        for rule in rules("speaker")
    )


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
            if _is_announced(query, first, end):
                yield first, end

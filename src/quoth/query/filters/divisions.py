"""Places that headings name by a number: "section 3.5", "article 7", "act II, scene 1"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import product

from quoth.core.translations import translate
from quoth.query.entity_index import division_names
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    restrict_to,
)
from quoth.query.filters.parse import join_names
from quoth.query.filters.patterns import PatternMatch, find_matches, word_set
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem

_WORD = re.compile(r"\w{2,}")

Names = list[str]
"""The names of one place, as "article 2" and "section 4"."""


def extract_sections(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract sections named by their dotted number ("section 3.5"); only existing ones filter."""
    matches = find_matches("section", query.folded)
    return _existing([[match.groups["number"]] for match in matches], context)


def extract_divisions(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract divisions named by their word and number ("article 7"); only existing ones filter.

    Those named together are one place: "Act II, scene 1". None is extracted where no heading has
    the word, and of "article 6 of the convention" only where a document is named, or has that word
    in its title and is the only one with such an article. A place that no heading has is noted, but
    not "the first article".
    """
    matches = find_matches("division", query.folded)
    sections = context.entities.sections
    words = {name.split(" ")[0] for name in sections} if matches else set()
    known = [match for match in matches if _word(match) in words]
    named = [
        list(names)
        for group in _together(known, query)
        for names in product(*map(division_names, group))
        if "of" not in group[-1].groups
        or context.is_narrowed
        or _is_of(query, group[-1].end, {id_ for id_, _ in sections.get(names[-1], ())}, context)
    ]
    found = _existing(named, context)
    of_order = all("ordinal" in match.settings for match in known)
    return NOTHING if of_order and found.notes else found


def _word(match: PatternMatch) -> str:
    return division_names(match)[0].split(" ")[0]


def _together(matches: Sequence[PatternMatch], query: TokenizedQuery) -> list[list[PatternMatch]]:
    """Group divisions of different kinds with no more than function words between them."""
    joining = FUNCTION_WORDS - word_set("joints")
    groups: list[list[PatternMatch]] = []
    for match in matches:
        last = groups[-1] if groups else []
        between = _WORD.findall(query.folded[last[-1].end : match.start]) if last else []
        if last and joining.issuperset(between) and _word(match) not in map(_word, last):
            last.append(match)
        else:
            groups.append([match])
    return groups


def _is_of(
    query: TokenizedQuery, end: int, owners: Collection[str], context: ExtractionContext
) -> bool:
    """Return whether the only owner of a place has the next content word in its title."""
    after = zip(query.starts, query.words, strict=True)
    words = (stem(word) for at, word in after if at >= end and word not in FUNCTION_WORDS)
    word, names = next(words, ""), context.entities.titles.names
    return len(owners) == 1 and any(
        word in each.distinctive_words for each in names if set(owners) <= set(each.documents)
    )


def _existing(named: Sequence[Names], context: ExtractionContext) -> ExtractedFilters:
    """Filter by the places that are there, note them if none is."""
    found = [titles for names in named for titles in _nested(names, context)]
    if named and not found:
        asked = join_names([", ".join(names) for names in named], context.language)
        note = translate("query.no_section", context.language, asked=asked)
        return ExtractedFilters(notes=(note,))
    if len({len(titles) for titles in found}) > 1:
        return ExtractedFilters(restrict_to("section", [titles[-1] for titles in found]))
    # Of nested headings each has to be there.
    outermost, *within = [restrict_to("section", each) for each in zip(*found, strict=True)] or [()]
    return ExtractedFilters(outermost, within=tuple(each for level in within for each in level))


def _nested(names: Names, context: ExtractionContext) -> Iterator[tuple[str, ...]]:
    """Return the titles of each heading that has all the names in its path, outermost first."""
    reach = frozenset(context.documents)
    places = [
        [(id_, path) for id_, path in context.entities.sections.get(name, ()) if id_ in reach]
        for name in names
    ]
    for document_id, path in (place for found in places for place in found):
        around = [
            next(
                (each for id_, each in found if id_ == document_id and path[: len(each)] == each),
                (),
            )
            for found in places
        ]
        if all(around):
            yield tuple(each[-1] for each in sorted(around, key=len))

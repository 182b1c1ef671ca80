"""Places that headings name by a number: "section 3.5", "article 7", "act II, scene 1"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, product

from quoth.core.translations import translate
from quoth.core.types import Filter
from quoth.query.division_names import division_kind, division_names, division_word
from quoth.query.entity_index import EntityIndex
from quoth.query.filters.extracted import (
    ExtractedFilters,
    ExtractionContext,
    restrict_to,
)
from quoth.query.filters.parse import join_names
from quoth.query.filters.patterns import PatternMatch, find_matches, word_set
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem

_WORD = re.compile(r"\w{2,}")

Names = Sequence[str]
"""The names of one place, outermost first: "article 2" and "section 4"."""
MAX_PLACES = 200
"""Places that a question may name."""
MAX_TITLE_WORDS = 6
"""Words behind a place that may be the title of its document."""


def extract_sections(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract sections named by their dotted number ("section 3.5"); only existing ones filter."""
    numbers = [match.groups["number"] for match in find_matches("section", query.folded)]
    found = [titles for number in numbers for titles in _nested([number], context)]
    return _restricted(found) if found or not numbers else _missing(numbers, context)


def extract_divisions(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract divisions named by their word and number ("article 7"); only existing ones filter.

    Those named together are one place: "Act II, scene 1". "Article 6 of the convention" is one of
    the document that is named, or whose title begins with that word. Words that no heading begins
    with are no places. A place that is not there is noted, but not "the first article".
    """
    found: list[tuple[str, ...]] = []
    owners: list[str] = []
    missing: list[str] = []
    for group in _together(find_matches("division", query.folded), query):
        within = context
        if "of" in group[-1].groups and not context.is_narrowed:
            owner = _owner(query, group, context)
            if owner is None:
                continue
            within = replace(context, documents=(owner,))
        # "scene 1 of act II": the last one is the outermost.
        outward = group[::-1] if "of" in group[0].groups else group
        named = islice(product(*map(division_names, outward)), MAX_PLACES)
        places = [titles for names in named for titles in _nested(names, within)]
        # Where some documents have the inner heading, others are not meant.
        depth = max(map(len, places), default=0)
        found += [titles for titles in places if len(titles) == depth]
        if places and within is not context:
            owners += within.documents
        is_order = any("ordinal" in match.settings for match in group)
        kinds = context.entities.divisions.get(division_word(outward[0]), frozenset())
        if not places and not is_order and kinds.intersection(within.documents):
            missing.append(", ".join(map(_as_asked, group)))
    if missing and not found:
        return _missing(missing, context)
    return _restricted(found) + ExtractedFilters(restrict_to("document", owners))


def _as_asked(match: PatternMatch) -> str:
    return f"{match.groups['word']} {match.groups['number']}"


def _together(matches: Sequence[PatternMatch], query: TokenizedQuery) -> list[list[PatternMatch]]:
    """Group divisions of different kinds with no more than function words between them."""
    joining = FUNCTION_WORDS - word_set("joints")
    groups: list[list[PatternMatch]] = []
    for match in matches:
        last = groups[-1] if groups else []
        kinds = map(division_word, last)
        between = _WORD.findall(query.folded[last[-1].end : match.start]) if last else []
        if last and joining.issuperset(between) and division_word(match) not in kinds:
            last.append(match)
        else:
            groups.append([match])
    return groups


def _owner(
    query: TokenizedQuery, group: Sequence[PatternMatch], context: ExtractionContext
) -> str | None:
    """Return the only document with such divisions and the words behind them in its title."""
    kinds = set(map(division_word, group))
    among = {id_ for kind in kinds for id_ in context.entities.divisions.get(kind, ())}
    return only_titled(query, group[-1].end, among, context)


def only_titled(
    query: TokenizedQuery, end: int, among: Iterable[str], context: ExtractionContext
) -> str | None:
    """Return the only one of some documents that has the words behind ``end`` in its title."""
    owners = set(among)
    titles: dict[str, set[str]] = defaultdict(set)
    for name in context.entities.titles.names:
        for id_ in owners.intersection(name.documents):
            titles[id_] |= name.distinctive_words
    passed = FUNCTION_WORDS | word_set("articles")  # "l'ordonnance" has two words
    after = zip(query.starts, query.words, strict=True)
    words = [word for at, word in after if at >= end and word not in passed]
    for word in words[:MAX_TITLE_WORDS]:
        owners = {id_ for id_ in owners if stem(word) in titles[id_]}
        if len(owners) <= 1:
            break
    return owners.pop() if words and len(owners) == 1 else None


def _missing(asked: Sequence[str], context: ExtractionContext) -> ExtractedFilters:
    there = join_names(asked, context.language)
    return ExtractedFilters(notes=(translate("query.no_section", context.language, asked=there),))


def _restricted(found: Sequence[tuple[str, ...]]) -> ExtractedFilters:
    """Return the filters on headings, each with those around it."""
    if len({len(titles) for titles in found}) > 1:
        return ExtractedFilters(restrict_to("section", [titles[-1] for titles in found]))
    # Of nested headings each has to be there.
    outermost, *within = [restrict_to("section", each) for each in zip(*found, strict=True)] or [()]
    return ExtractedFilters(outermost, within=tuple(each for level in within for each in level))


def _nested(names: Names, context: ExtractionContext) -> Iterator[tuple[str, ...]]:
    """Return the titles of each heading that has all the names in its path, outermost first.

    In a document whose headings have other words ("Article 2" without any "Section") the others
    suffice.
    """
    divisions = context.entities.divisions
    outermost = divisions.get(division_kind(names[0]), frozenset())
    paths: list[dict[str, list[tuple[str, ...]]]] = [defaultdict(list) for _ in names]
    for name, by_document in zip(names, paths, strict=True):
        for document_id, path in context.entities.sections.get(name, ()):
            by_document[document_id].append(path)
    for document_id in filter(outermost.__contains__, context.documents):
        levels = [
            by_document.get(document_id, [])
            for name, by_document in zip(names, paths, strict=True)
            if document_id in divisions.get(division_kind(name), ())
        ]
        for path in chain(*levels):
            around = [_around(path, level) for level in levels]
            if all(around):
                yield tuple(each[-1] for each in sorted(around, key=len))


def _around(path: tuple[str, ...], among: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the heading among others that a heading is below, or is; empty without one."""
    return next((each for each in among if path[: len(each)] == each), ())


def parts_around(
    filters: Sequence[Filter], before: Sequence[Filter], entities: EntityIndex
) -> tuple[Filter, ...]:
    """Return the filters of an earlier question that a place goes on in: its act for "scene 2"."""
    fields = {each.field for each in filters}
    sections = [each for each in before if each.field == "section"]
    if fields == {"chapter"} and any(each.field == "chapter" for each in before):
        return tuple(sections)
    if fields != {"section"} or len(filters) > 1:
        return ()
    named = {title for each in filters for title in each.values}
    paths = [path for found in entities.sections.values() for _id, path in found]
    inside = [set(path[:-1]) for path in paths if path[-1] in named]
    return tuple(each for each in sections if any(path & set(each.values) for path in inside))

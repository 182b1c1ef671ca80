"""Extracts the documents and sections that a query names as the place to search.

A title filters where it is quoted, where a word for a source announces it ("in the talk on …"), or
where the whole title directly follows a preposition of place. Any other title is a soft filter.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quoth.core.types import Filter
from quoth.query.entity_index import ARTICLES, Entity
from quoth.query.entity_linking import LinkedEntities, Mention, of_kind, resolve
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    Span,
    merge_filters,
    restrict_to,
)
from quoth.query.filters.patterns import MAX_MATCHES, find_matches, has_match, rules, word_set
from quoth.query.tokens import FUNCTION_WORDS, MASK, TokenizedQuery, stem

_EXTENSION = re.compile(r"\.[a-z0-9]{1,8}(?!\.?\w)")

MIN_CASED_WORDS = 3
"""Minimum words of a title that is announced only by a preposition and its capitals."""


@dataclass(frozen=True, slots=True)
class _Description:
    """Words that describe a source, as a token range with exclusive end.

    ``part`` means a section, ``chapter`` a chapter; ``about`` that a subject is described rather
    than a title written; ``strict`` that the description precedes the word for the source, which is
    ``word``.
    """

    first: int
    last: int
    part: bool
    chapter: bool
    about: bool
    strict: bool = False
    noun: tuple[str, ...] = ()
    word: str = ""


def extract_titles(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the documents and sections named as the place to search.

    Only documents within the context count. An ambiguous title is a soft filter.
    """
    extracted = _quoted(query, context) if query.quoted else NOTHING
    extracted += _files(query, context)
    for description in _descriptions(query):
        extracted += _described(query, description, context)
    announced_until = -1
    for mention in context.mentions:
        named = _mentioned(query, mention, context, announced_until=announced_until)
        announced_until = mention.last if named.filters else announced_until
        extracted += named
    titles = context.entities.titles
    for before, word in pairwise(query.words):
        if before in word_set("definite") and has_match("source", word):
            # "The handbook", if only one document has that word in its title.
            places = titles.by_word.get(stem(word), frozenset())
            ids = {id_ for place in places for id_ in _within(titles.names[place], context)}
            if len(ids) == 1:
                extracted += ExtractedFilters(soft_filters=restrict_to("document", ids))
                break
    for match in find_matches("opener", query.folded):
        # A usual section: "in the introduction", "dans la préface".
        spelled = context.entities.by_spelling.get(stem(match.groups["section"]), ())
        sections = [name.real for name in spelled if name.kind == "topic"]
        if sections:
            extracted += ExtractedFilters(restrict_to("section", sections))
            break
    return merge_filters(extracted)


def _files(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    """Extract the documents named by their file name: "on page 3 of course.en.pdf".

    They filter together when one of them is a place: "compare the table in a.pdf with b.pdf".
    """
    named: list[str] = []
    spans: list[Span] = []
    is_place = False
    for match in _EXTENSION.finditer(query.folded):
        for start in query.starts:
            ids = context.entities.files.get(query.folded[start : match.end()], ())
            if start >= match.start() or not ids:
                continue
            named += [id_ for id_ in ids if id_ in context.documents]
            spans.append((start, match.end()))
            before = query.folded[:start]
            is_place = is_place or _places(before)
            break
    found = restrict_to("document", named)
    if is_place or not set(query.quoted).isdisjoint(spans):
        return ExtractedFilters(found, spans=tuple(spans))
    return ExtractedFilters(soft_filters=found, spans=tuple(spans))


def _places(before: str) -> bool:
    """Return whether a title or file that follows is the place to search."""
    return any(rule.before and rule.before.search(before) for rule in rules("title_place"))


def _quoted(query: TokenizedQuery, context: ExtractionContext) -> ExtractedFilters:
    extracted = NOTHING
    for start, end in query.quoted:
        before = query.folded[:start].rstrip(" \"'“”„«»") + " "
        file = context.entities.stems.get(query.folded[start:end], ()) if _places(before) else ()
        named = restrict_to("document", [id_ for id_ in file if id_ in context.documents])
        extracted += ExtractedFilters(named, spans=((start, end),))
        for mention in context.mentions:
            first, last = query.starts[mention.first], query.ends[mention.last - 1]
            rest = query.folded[start:first].strip(" ,.'l")
            rest += query.folded[last:end].strip(" ,.'?!")
            if start <= first and last <= end and not rest:
                before = query.folded[max(0, start - 30) : start]
                part, chapter = _part(before)
                under = has_match("heading_before", before) and not of_kind(mention, "title")
                extracted += _exact(mention, context, part=part or under, chapter=chapter)
    return extracted


def _part(text: str) -> tuple[bool, bool]:
    """Return whether a text names a part of a document, and whether that is a chapter."""
    matches = find_matches("part", text)
    return bool(matches), any("chapter" in match.settings for match in matches)


def _exact(
    mention: Mention, context: ExtractionContext, *, part: bool, chapter: bool
) -> ExtractedFilters:
    """Return the filter on an exactly named document, chapter or section."""
    if not part:
        ids = [id_ for name in of_kind(mention, "title") for id_ in _within(name, context)]
        if ids:
            return ExtractedFilters(restrict_to("document", ids))
    sections = [name for name in of_kind(mention, "topic") if _within(name, context)]
    if chapter and (filters := _chapter(sections, context)):
        return ExtractedFilters(filters)
    names = [name.real for name in sections] if part else []
    return ExtractedFilters(restrict_to("section", names))


def _chapter(sections: Sequence[Entity], context: ExtractionContext) -> tuple[Filter, ...]:
    """Return the filters for a chapter given by title; empty if several books have it."""
    heads = [
        head
        for name in sections
        for head in context.entities.chapters_by_title.get(name.real, ())
        if head[0] in context.documents
    ]
    if len(heads) != 1:
        return ()
    ((document, chapter),) = heads
    return restrict_to("document", [document]) + restrict_to("chapter", [chapter])


def _within(name: Entity, context: ExtractionContext) -> list[str]:
    if not context.is_narrowed:
        return list(name.documents)
    return [id_ for id_ in name.documents if id_ in context.documents]


def _descriptions(query: TokenizedQuery) -> Iterator[_Description]:
    """Return the descriptions announced by a word for a source."""
    for match in find_matches("title", query.folded)[:MAX_MATCHES]:
        first, last = _word_at(query, match.end), _word_at(query, _end_of(query, match.end))
        if first < last:
            noun = match.groups["noun"]
            is_of = "of" in match.groups
            part, chapter = _part(noun)
            yield _Description(
                first,
                last,
                part,
                chapter,
                about=is_of or "about" in match.groups,
                noun=(noun,) if is_of else (),
                word=noun,
            )
    for match in find_matches("title_noun", query.folded)[:MAX_MATCHES]:
        noun, title = match.groups["noun"], match.groups["title"]
        first = _word_at(query, match.end - len(noun) - len(title))
        last = _word_at(query, match.end - len(noun))
        part, chapter = _part(noun)
        if part and word_set("segment_words").issuperset(query.words[first:last]):
            continue  # "the demo part", "the Q&A section"
        yield _Description(
            first, last, part, chapter, about=True, strict=True, noun=(noun,), word=noun
        )


def _end_of(query: TokenizedQuery, start: int) -> int:
    ends = (
        match.start for match in find_matches("title_end", query.folded) if match.start >= start
    )
    return min(ends, default=len(query.folded))


def _word_at(query: TokenizedQuery, position: int) -> int:
    """Return the first word that starts at or after a position."""
    return bisect_left(query.starts, position)


def _described(
    query: TokenizedQuery, description: _Description, context: ExtractionContext
) -> ExtractedFilters:
    first = description.first
    while first < description.last and query.words[first] in ARTICLES:
        first += 1
    words = _title_words(query, first, description.last)
    noun, is_doubtful = description.noun, False
    for mention in context.mentions:
        begins = mention.first in (first, description.first) and mention.first < description.last
        if not begins or (description.strict and mention.last != description.last):
            continue
        if _may_mean_another(mention, context):
            noun, is_doubtful = (description.word,), True
            continue
        found = _exact(mention, context, part=description.part, chapter=description.chapter)
        if found.filters:
            span = query.starts[mention.first], query.ends[mention.last - 1]
            return found + ExtractedFilters(spans=(span,))
    if description.strict and description.part:
        return NOTHING
    lookup = context.entities.topics if description.part else context.entities.titles
    resolved = resolve((*words, *noun), lookup, names=context.entities)
    if not words or not resolved:
        return NOTHING
    if not description.about and not _spells_all(words, resolved):
        return NOTHING
    span = query.starts[first], query.ends[first + len(words) - 1]
    if description.chapter and (filters := _chapter(resolved.names, context)):
        return ExtractedFilters(filters, spans=(span,))
    if is_doubtful and all(len(name.distinctive_words) == 1 for name in resolved.names):
        resolved = replace(resolved, unambiguous=False)
    return _narrowed(resolved, description, span=span, context=context)


def _may_mean_another(mention: Mention, context: ExtractionContext) -> bool:
    """Return whether the name of a file, one word in lower case, is a part of other titles.

    "The Debian manual" may not be the file "debian.csv" where another title has that word.
    """
    titles = context.entities.titles
    own = of_kind(mention, "title")
    return mention.last - mention.first == 1 and any(
        titles.names[place] not in own
        for name in own
        if name.real.islower()
        for word in name.distinctive_words
        for place in titles.by_word.get(word, ())
    )


def _spells_all(words: Sequence[str], resolved: LinkedEntities) -> bool:
    """Return whether a title, possibly misspelled, is complete after "the talk"."""
    count = sum(word not in FUNCTION_WORDS for word in words)
    return resolved.unambiguous and 2 <= len(resolved.names[0].distinctive_words) <= count


def _title_words(query: TokenizedQuery, first: int, last: int) -> tuple[str, ...]:
    words: list[str] = []
    for word in query.words[first:last]:
        if word.startswith(MASK) or (words and word in word_set("title_stops")):
            break
        words.append(word)
    return tuple(words)


def _narrowed(
    resolved: LinkedEntities, description: _Description, *, span: Span, context: ExtractionContext
) -> ExtractedFilters:
    meant = [name for name in resolved.names if _within(name, context)]
    if description.part:
        filters = restrict_to("section", [name.real for name in meant])
    else:
        filters = restrict_to("document", [id_ for name in meant for id_ in _within(name, context)])
    if filters and (resolved.unambiguous or len(meant) == 1 < len(resolved.names)):
        return ExtractedFilters(filters, spans=(span,))
    return ExtractedFilters(soft_filters=filters)


def _mentioned(
    query: TokenizedQuery, mention: Mention, context: ExtractionContext, *, announced_until: int
) -> ExtractedFilters:
    """Return the filter, or soft filter, of an exact title.

    An announcement also covers a title joined to it: "the talks X and Y".
    """
    titles = [name for name in of_kind(mention, "title") if _within(name, context)]
    ids = restrict_to("document", [id_ for name in titles for id_ in _within(name, context)])
    if not ids:
        return NOTHING
    joined = mention.first - 1 == announced_until and query.words[announced_until] in word_set(
        "joints"
    )
    if joined or _is_announced(query, mention, titles):
        return ExtractedFilters(
            ids, spans=((query.starts[mention.first], query.ends[mention.last - 1]),)
        )
    return ExtractedFilters(soft_filters=ids)


def _is_announced(query: TokenizedQuery, mention: Mention, titles: Sequence[Entity]) -> bool:
    """Return whether a whole title is in a position where only a source can be."""
    words = query.words[mention.first : mention.last]
    before = query.folded[: query.starts[mention.first]]
    if sum(word not in FUNCTION_WORDS for word in words) < 2:
        return False
    article = query.words[mention.first - 1] if mention.first else words[0]
    whole = any(_without_numbers(name.words) == _without_numbers(words) for name in titles)
    if whole and article in word_set("definite") and any(has_match("source", w) for w in words):
        return True  # "the employee handbook"
    written = query.clean[query.starts[mention.first] : query.ends[mention.last - 1]]
    cased = (
        len(words) >= MIN_CASED_WORDS
        and written[0].isupper()
        and any(written in name.real for name in titles)
    )
    if (
        cased
        and not mention.first
        and query.folded[len(before) + len(written) :].lstrip()[:1] == ":"
    ):
        return True
    return any(
        rule.before and (cased or "cased" not in rule.settings) and rule.before.search(before)
        for rule in rules("title_place")
    )


def _without_numbers(words: Sequence[str]) -> list[str]:
    return [stem(word) for word in words if not word.isdecimal() and word not in ARTICLES]

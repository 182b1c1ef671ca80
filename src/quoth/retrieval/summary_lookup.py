"""Summary lookup: the document parts a query names, their summary sentences and headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from quoth.core.outline import (
    CollectionOutline,
    Heading,
    Summary,
    SummarySentence,
)
from quoth.core.types import Document, DocumentKind, Filter
from quoth.retrieval.search import is_dated
from quoth.store.blobs import source_name
from quoth.text.analyzer import analyze, normalize_name
from quoth.text.numbers import natural_order

ABOUT_PARTS = frozenset({"chapter", "section", "segment"})
ABOUT_DOCUMENTS = frozenset({"date", "document", "kind", "language", "speaker"})
TO_THE_END = 2**31 - 1
MIN_OVERLAP = 0.9
"""The share of chunks that a part and its summary must have in common."""
MAX_PARTS = 12
"""More documents than this are searched, not summarized."""
MAX_HEADINGS = 100
"""Longest outline that is shown."""
MAX_SECTIONS = 20
"""Most sections that a summary goes through one by one."""
UNTIMED: tuple[DocumentKind, ...] = ("text", "markdown", "html", "document")
"""What a transcript without times is read as."""
HALF = 0.5
"""Share of a part from which a section with more sections than the part gives way to them."""
MOST = 0.8
"""Share of a part from which one section stands for it, beside a title page or contents."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """The chunks of a document from `first` to `last` ordinal."""

    document_id: str
    first: int
    last: int


def named_parts(
    outline: CollectionOutline,
    filters: Sequence[Filter],
    *,
    language: str,
    kind: DocumentKind | None = None,
    subject: frozenset[str] = frozenset(),
    titles: Sequence[str] = (),
    limit: int = MAX_PARTS,
) -> tuple[DocumentPart, ...]:
    """Return the documents or chapters that filters name, in the user's language if available.

    Without filters: what has one of the ``titles``, else all terms of the ``subject`` in its title,
    of this ``kind`` if one is given; all documents without a subject. Empty for filters on places
    within pages or seconds, and for more than ``limit`` parts.
    """
    fields = {filter_.field for filter_ in filters}
    if fields - ABOUT_PARTS - ABOUT_DOCUMENTS:
        return ()
    named = named_documents(outline, filters)
    if fields.isdisjoint(ABOUT_PARTS):
        headings = _with_titles(outline.headings, titles)
        subject = _without_other_numbers(subject, outline)
        if not filters:
            others = bool(_on_subject(headings, outline, subject))
            find = partial(_titled, titles=titles, subject=subject, others=others)
            alike = [each for each in outline.documents if kind in (None, each.kind)]
            named = find(alike)
            # A talk may be in a text without times.
            if not named and kind == "transcript" and (titles or subject):
                named = find([each for each in outline.documents if each.kind in UNTIMED])
        parts = [
            DocumentPart(each.document_id, 0, TO_THE_END) for each in _readable(named, language)
        ]
        if parts or not subject:
            return _in_order(parts, outline, limit)
        headings = headings or _on_subject(outline.headings, outline, subject)
        named = list(outline.documents)
    else:
        headings = headings_at(outline, filters)
        known = document_of_chapter(outline, filters, subject=subject)
        named = named if known is None else [known]
    ids = {each.document_id for each in headings}
    named = [each for each in named if each.document_id in ids]
    kept = {each.document_id for each in _readable(named, language)}
    parts = [
        DocumentPart(each.document_id, each.first, each.last)
        for each in _outermost(headings)
        if each.document_id in kept
    ]
    return _in_order(parts, outline, limit)


def named_documents(outline: CollectionOutline, filters: Sequence[Filter]) -> list[Document]:
    """Return the documents that filters on documents leave."""
    about = [filter_ for filter_ in filters if filter_.field in ABOUT_DOCUMENTS]
    return [document for document in outline.documents if all(_is(document, one) for one in about)]


def listed_documents(
    outline: CollectionOutline, filters: Sequence[Filter], *, kind: DocumentKind | None
) -> list[Document]:
    """Return the documents of filters: those of a ``kind``, or any for a book.

    Empty for filters on places within documents.
    """
    if any(each.field not in ABOUT_DOCUMENTS for each in filters):
        return []
    documents = named_documents(outline, filters)
    listed = [each for each in documents if kind in (None, each.kind)]
    if kind == "pdf":  # A book may be of any format.
        listed = [each for each in documents if each.kind in ("pdf", "book")] or documents
    return listed


def document_of_chapter(
    outline: CollectionOutline, filters: Sequence[Filter], *, subject: frozenset[str]
) -> Document | None:
    """Return the only document with the chapter of the filters that the subject is the name of."""
    if not subject or all(filter_.field != "chapter" for filter_ in filters):
        return None
    ids = {each.document_id for each in headings_at(outline, filters)}
    among = [each for each in named_documents(outline, filters) if each.document_id in ids]
    found = _titled(among, titles=(), subject=subject, others=False)
    return found[0] if len(found) == 1 else None


def headings_at(outline: CollectionOutline, filters: Sequence[Filter]) -> list[Heading]:
    """Return the headings of the chapters and sections that filters name; none without one."""
    within = [filter_ for filter_ in filters if filter_.field in ABOUT_PARTS]
    if not within:
        return []
    found = [each for each in outline.headings if all(_stands(each, one) for one in within)]
    if any(each.field != "section" for each in within):
        return found
    # Headings below one that is named are not named themselves.
    titles = {normalize_name(str(value)) for each in within for value in each.values}
    return [each for each in found if normalize_name(each.path[-1]) in titles]


def outline_headings(
    headings: Sequence[Heading], parts: Sequence[DocumentPart]
) -> tuple[Heading, ...]:
    """Return the headings directly below a part, or the first one of each of several parts.

    A single one, such as the title of a text, gives way to those below it.
    """
    inside = [
        [
            each
            for each in headings
            if each.document_id == part.document_id
            and each.path
            and part.first <= each.first <= part.last
        ]
        for part in parts
    ]
    if len(inside) != 1:
        return tuple(each[0] for each in inside if each)
    depths = sorted({len(each.path) for each in inside[0]})
    levels = ([each for each in inside[0] if len(each.path) == depth] for depth in depths)
    return next((tuple(level) for level in levels if len(level) > 1), ())


def listed_headings(
    outline: CollectionOutline, parts: Sequence[DocumentPart]
) -> tuple[Heading, ...]:
    """Return the headings that a list of contents names, as `outline_headings` does.

    Of a whole document, chapters are named in place of the part that they are in and of their own
    sections, and its title is not.
    """
    highest = outline_headings(outline.headings, parts)
    if len(parts) != 1 or parts[0].last != TO_THE_END:
        return highest
    document_id = parts[0].document_id
    title = next((each.title for each in outline.documents if each.document_id == document_id), "")
    numbered: dict[tuple[str, ...], list[Heading]] = {top.path: [] for top in highest}
    for each in outline.headings:
        above = each.path[: len(highest[0].path)] if highest else ()
        if each.chapter and each.document_id == document_id and above in numbered:
            numbered[above].append(each)
    found: list[Heading] = []
    for top in highest:
        chapters: dict[str, Heading] = {}
        for each in () if top.chapter else numbered[top.path]:
            if top.first <= each.first <= top.last:
                chapters.setdefault(each.chapter, each)
        own = () if top.path == (title,) else (top,)
        # The only number may be that of a section, such as 2.1 in the second chapter.
        for each in chapters.values() if len(chapters) > 1 or not own else own:
            if not each.chapter or not found or found[-1].chapter != each.chapter:
                found.append(each)
    return tuple(found)


def asks_about_more(
    outline: CollectionOutline,
    parts: Sequence[DocumentPart],
    topic: frozenset[str],
    *,
    language: str,
) -> bool:
    """Return whether a topic is in no title of the documents that are wanted whole."""
    if any(part.last != TO_THE_END for part in parts):
        return False
    wanted = {part.document_id for part in parts}
    titles = " ".join(each.title for each in outline.documents if each.document_id in wanted)
    return not topic <= frozenset(analyze(titles, language=language))


def summary_sections(headings: Sequence[Heading], part: DocumentPart) -> tuple[Heading, ...]:
    """Return the sections that a summary of a part goes through, all of them or none.

    One that is nearly the whole part stands for it. One that is half of it, with more sections than
    there are beside it, gives way to these.
    """
    sections = outline_headings(headings, [part])
    lengths = [each.last - each.first + 1 for each in sections]
    share = max(lengths, default=0) / max(1, sum(lengths))
    if share >= HALF:
        at = lengths.index(max(lengths))
        inner = DocumentPart(part.document_id, sections[at].first, sections[at].last)
        below = summary_sections(headings, inner) if inner != part else ()
        if share >= MOST:
            sections = below or sections
        elif len(sections) < len(below) <= MAX_SECTIONS - len(sections) + 1:
            sections = (*sections[:at], *below, *sections[at + 1 :])
    return sections if len(sections) <= MAX_SECTIONS else ()


def _in_order(
    parts: Sequence[DocumentPart], outline: CollectionOutline, limit: int
) -> tuple[DocumentPart, ...]:
    """Return the parts as a reader meets them: "2.9" before "2.10"; none if they are too many."""
    names = {
        each.document_id: (natural_order(each.title), natural_order(each.source))
        for each in outline.documents
    }
    ordered = sorted(
        parts, key=lambda part: (names[part.document_id], part.document_id, part.first)
    )
    return tuple(ordered) if len(ordered) <= limit else ()


def coverage_sample(
    summaries: Sequence[Summary], parts: Sequence[DocumentPart], *, limit: int
) -> tuple[SummarySentence, ...]:
    """Return summary sentences of the parts, about ``limit`` in total, at least one each.

    A part uses its own summary, else those of its subdivisions; sentences keep document order, and
    where there are too many they are sampled at even distances.
    """
    share = max(1, limit // len(parts)) if parts else 0
    return tuple(
        sentence
        for part in parts
        for sentence in _evenly(_summary_sentences(summaries, part), share)
    )


def _titled(
    documents: Sequence[Document], *, titles: Sequence[str], subject: frozenset[str], others: bool
) -> list[Document]:
    """Return the documents with one of the titles, else with all terms of the subject in theirs.

    Of several the ones with the shortest title; without one, those with the terms in their title
    and the name of their file. ``others`` means that headings have the titles.
    """
    names = {normalize_name(title) for title in titles}
    same = [each for each in documents if normalize_name(each.title) in names]
    if same or others or not subject:
        return same or ([] if others else list(documents))
    terms = {each.document_id: _terms(each.title, each.language) for each in documents}
    fits = [each for each in documents if subject <= terms[each.document_id]]
    shortest = min((len(terms[each.document_id]) for each in fits), default=0)
    return [each for each in fits if len(terms[each.document_id]) == shortest] or [
        each
        for each in documents
        if subject <= terms[each.document_id] | _terms(_file_name(each), each.language)
    ]


def _without_other_numbers(subject: frozenset[str], outline: CollectionOutline) -> frozenset[str]:
    """Return the terms of a subject without numbers that are in no title: "the guide 2"."""
    numbers = {term for term in subject if term.isdecimal()}
    if not numbers:
        return subject
    titles = [each.title for each in outline.documents]
    titles += [each.path[-1] for each in outline.headings if each.path]
    return subject - (numbers - set(re.findall(r"\w+", " ".join(titles))))


def _file_name(document: Document) -> str:
    return Path(source_name(document.source)).stem


def _with_titles(headings: Sequence[Heading], titles: Sequence[str]) -> list[Heading]:
    names = {normalize_name(title) for title in titles}
    return [each for each in headings if each.path and normalize_name(each.path[-1]) in names]


def _on_subject(
    headings: Sequence[Heading], outline: CollectionOutline, subject: frozenset[str]
) -> list[Heading]:
    """Return the headings with all terms of a subject."""
    languages = {each.document_id: each.language for each in outline.documents}
    return [
        heading
        for heading in headings
        if heading.path and subject <= _terms(heading.path[-1], languages[heading.document_id])
    ]


def _terms(title: str, language: str | None) -> frozenset[str]:
    return frozenset(analyze(title, language=language or ""))


def _readable(documents: Sequence[Document], language: str) -> Sequence[Document]:
    return [document for document in documents if document.language == language] or documents


def _is(document: Document, condition: Filter) -> bool:
    if condition.field == "date":
        return is_dated(document, condition)
    value = {
        "document": document.document_id,
        "kind": document.kind,
        "language": document.language,
        "speaker": document.speaker,
    }[condition.field]
    return value in condition.values


def _stands(heading: Heading, condition: Filter) -> bool:
    values = [str(value) for value in condition.values]
    if condition.field == "chapter":
        return heading.chapter in values
    if condition.field == "segment":
        return heading.segment in values
    wanted = set(map(normalize_name, values))
    return any(normalize_name(title) in wanted for title in heading.path)


def _outermost(headings: Sequence[Heading]) -> list[Heading]:
    """Remove headings nested within another one of them."""
    kept: list[Heading] = []
    for heading in sorted(headings, key=lambda one: (one.document_id, one.first, -one.last)):
        around = kept[-1] if kept else None
        if around and around.document_id == heading.document_id and heading.last <= around.last:
            continue
        kept.append(heading)
    return kept


def _summary_sentences(summaries: Sequence[Summary], part: DocumentPart) -> list[SummarySentence]:
    here = [summary for summary in summaries if summary.document_id == part.document_id]
    own = [each for each in here if _covers_same(each, part, end=max(one.last for one in here))]
    inside = own or [each for each in here if each.first >= part.first and each.last <= part.last]
    if not inside:
        return []
    highest = min(each.level for each in inside)
    found = {one for each in inside if each.level == highest for one in each.sentences}
    return sorted(found, key=lambda one: one.start)


def _covers_same(summary: Summary, part: DocumentPart, *, end: int) -> bool:
    """Return whether a summary covers the part's chunks, up to a title page."""
    last = min(part.last, end)
    shared = min(last, summary.last) - max(part.first, summary.first) + 1
    whole = max(last, summary.last) - min(part.first, summary.first) + 1
    return shared >= MIN_OVERLAP * whole


def _evenly(sentences: Sequence[SummarySentence], limit: int) -> list[SummarySentence]:
    if len(sentences) <= limit:
        return list(sentences)
    return [sentences[at * len(sentences) // limit] for at in range(limit)]

"""Summary lookup: the document parts a query names, and their summary sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quoth.core.outline import (
    CollectionOutline,
    Heading,
    Summary,
    SummarySentence,
)
from quoth.core.types import Document, DocumentKind, Filter
from quoth.text.analyzer import normalize_name

ABOUT_PARTS = frozenset({"chapter", "section", "segment"})
ABOUT_DOCUMENTS = frozenset({"document", "kind", "language", "speaker"})
TO_THE_END = 2**31 - 1
MIN_OVERLAP = 0.9
"""The share of chunks that a part and its summary must have in common."""
MAX_PARTS = 12
"""More documents than this are searched, not summarized."""


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
) -> tuple[DocumentPart, ...]:
    """Return the documents or chapters that filters name, in the user's language if available.

    Without filters: the only document, or the only one of its ``kind``. Empty for filters on places
    within pages or seconds, and where they name too much.
    """
    fields = {filter_.field for filter_ in filters}
    if fields - ABOUT_PARTS - ABOUT_DOCUMENTS:
        return ()
    about = [filter_ for filter_ in filters if filter_.field in ABOUT_DOCUMENTS]
    named = [document for document in outline.documents if all(_is(document, one) for one in about)]
    within = [filter_ for filter_ in filters if filter_.field in ABOUT_PARTS]
    if not within:
        if not filters and kind is not None:
            named = [each for each in named if each.kind == kind]
        if filters or kind is not None:
            named = list(_readable(named, language))
        parts = [DocumentPart(each.document_id, 0, TO_THE_END) for each in named]
        return tuple(parts) if len(parts) <= (MAX_PARTS if filters else 1) else ()
    ids = {each.document_id for each in named}
    headings = [
        heading
        for heading in outline.headings
        if heading.document_id in ids and all(_stands(heading, one) for one in within)
    ]
    ids = {heading.document_id for heading in headings}
    kept = {
        each.document_id
        for each in _readable([each for each in named if each.document_id in ids], language)
    }
    parts = [
        DocumentPart(each.document_id, each.first, each.last)
        for each in _outermost(headings)
        if each.document_id in kept
    ]
    return tuple(parts) if len(parts) <= MAX_PARTS else ()


def coverage_sample(
    summaries: Sequence[Summary], parts: Sequence[DocumentPart], *, limit: int
) -> tuple[SummarySentence, ...]:
    """Return summary sentences of the parts, about ``limit`` in total, at least one each.

    A part uses its own summary, else those of its subdivisions; sentences keep document order, and
    where there are too many they are sampled at even distances.
    """
    share = max(1, limit // len(parts)) if parts else 0
    return tuple(
        leaf for part in parts for leaf in _evenly(_summary_sentences(summaries, part), share)
    )


def _readable(documents: Sequence[Document], language: str) -> Sequence[Document]:
    return [document for document in documents if document.language == language] or documents


def _is(document: Document, condition: Filter) -> bool:
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
    return bool(heading.path) and normalize_name(heading.path[-1]) in map(normalize_name, values)


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
    found = {leaf for each in inside if each.level == highest for leaf in each.leaves}
    return sorted(found, key=lambda leaf: leaf.start)


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

"""Outline of a collection: the titles, chapters and names that queries refer to."""

from __future__ import annotations

from dataclasses import dataclass

from quoth.core.types import Document, Segment


@dataclass(frozen=True, slots=True)
class Heading:
    """A chapter, section or part of a document: the chunks from `first` to `last` ordinal.

    ``path`` are the titles that lead to it; ``chapter`` is its chapter's number as people say it
    ("3"; an appendix "a"), empty where it has none. ``segment`` marks questions and demos.
    """

    document_id: str
    path: tuple[str, ...]
    first: int
    last: int
    chapter: str = ""
    segment: Segment = ""


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence in its source: characters of the document's stored text, within one chunk."""

    chunk_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Extractive summary of a part of a document: its sentences, in their order.

    ``level`` is 0 for the whole document, 1 for a chapter, 2 for a section; ``path`` is empty at
    level 0. The part consists of the chunks from `first` to `last` ordinal.
    """

    document_id: str
    level: int
    path: tuple[str, ...]
    first: int
    last: int
    sentences: tuple[SummarySentence, ...]


@dataclass(frozen=True, slots=True)
class CollectionOutline:
    """All names that a query can refer to in one version of a collection."""

    version: str
    languages: tuple[str, ...]
    documents: tuple[Document, ...] = ()
    headings: tuple[Heading, ...] = ()
    speakers: tuple[tuple[str, str], ...] = ()
    """Those who speak in documents, each with the id of the document."""

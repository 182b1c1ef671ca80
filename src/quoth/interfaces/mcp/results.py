"""What the tools for agents give back: typed values, and the same as text to read.

Text of documents is set off by ``>`` on every line, so that nothing in it can pass for a line of
the tool's own; invisible characters are removed. Everything is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quoth.answering.answerability import describe_degradation, notes
from quoth.answering.generative.sanitize import Characters
from quoth.core.settings import Settings
from quoth.core.types import Answer, Chunk, Citation, Document, Hit, Locator
from quoth.interfaces.doubt_mark import doubt_mark
from quoth.interfaces.links import answer_page, mark_links, reading_link, shown_span
from quoth.pipeline.retrieve import Retrieved
from quoth.text.locators import label

# The four results have no slots: the SDK would take a slot for a field's default.

TITLE, PASSAGE, OPENED = 200, 1500, 8000
"""Characters of a title, of a passage in a list, of a passage that was opened."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found; ``passage_id`` opens it."""

    rank: int
    passage_id: str
    document_id: str
    document: str
    collection: str
    place: str
    link: str | None
    score: float
    text: str


@dataclass(frozen=True)
class SearchResult:
    """Passages, best first, and what is to be known about the search."""

    passages: tuple[FoundPassage, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitationResult:
    """A citation: the exact words that prove a sentence; ``passage_id`` opens them."""

    number: int
    passage_id: str
    document_id: str
    document: str
    place: str
    link: str | None
    snippet: str
    support: str
    cut: bool = False


@dataclass(frozen=True)
class AskResult:
    """An answer whose marks ``[1]`` are the numbers of its citations.

    They link to their sentences in the web app where the service has a public address. Behind a
    sentence that no source supports stands ``[unsupported]``, in French ``[non appuyé]``, and
    behind one that could not be checked ``[not checked]``, in French ``[non vérifié]``.

    ``closest`` are passages near the question where nothing answers it. ``status`` is answered,
    partial, low_relevance, no_results, degraded or small_talk.
    """

    answer: str
    status: str
    grounded: bool
    citations: tuple[CitationResult, ...]
    closest: tuple[FoundPassage, ...]
    notes: tuple[str, ...]
    query_id: str


@dataclass(frozen=True)
class PassageResult:
    """A passage with the text around it; ``text`` is the passage, or the words that were cited."""

    passage_id: str
    document_id: str
    document: str
    collection: str
    place: str
    link: str | None
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document of a collection; ``error`` says why one could not be read."""

    document_id: str
    title: str
    collection: str
    kind: str | None
    status: str
    language: str | None
    pages: int | None
    seconds: float | None
    passages: int
    link: str | None
    error: str | None


@dataclass(frozen=True)
class ListResult:
    """Documents from ``offset`` on, of ``total``; ``collections`` are all that can be asked."""

    documents: tuple[ListedDocument, ...]
    total: int
    offset: int
    collection: str
    collections: tuple[str, ...]


def sanitize_text(text: str, most: int) -> str:
    """Return a text without invisible characters, cut to a length."""
    seen = Characters().feed(text, final=True).strip()
    return seen if len(seen) <= most else f"{seen[: most - 2].rstrip()} …"


def found_passage(hit: Hit, *, base: str | None) -> FoundPassage:
    """Show a hit."""
    return FoundPassage(
        rank=hit.rank,
        passage_id=hit.chunk_id,
        document_id=hit.document_id,
        document=sanitize_text(hit.document, TITLE),
        collection=hit.collection,
        place=_place(hit.locator),
        link=reading_link(hit.link, hit.document_id, base=base, span=shown_span(hit)),
        score=round(hit.score, 4),
        text=sanitize_text(hit.text, PASSAGE),
    )


def search_result(found: Retrieved, *, degraded: Sequence[str], base: str | None) -> SearchResult:
    """Show what a search found."""
    language = found.query.language
    without = (describe_degradation(each, language=language) for each in degraded)
    passages = tuple(found_passage(each, base=base) for each in found.hits)
    return SearchResult(passages, (*found.warnings, *without))


def ask_result(answer: Answer, *, base: str | None, settings: Settings) -> AskResult:
    """Show an answer, with a mark behind what no source supports or what was not checked.

    With a ``public_url`` the marks of citations link into the web app.
    """
    text = answer.text
    added = [
        (each.end, f" {mark}")
        for each in answer.sentences
        if (mark := doubt_mark(each, answer.query.language))
    ]
    if page := answer_page(settings, answer.query_id):
        links = mark_links(text, answer.sentences, page=page)
        added += [(end, f"({link})") for _start, end, link in links]
    for end, words in sorted(added, reverse=True):
        text = f"{text[:end]}{words}{text[end:]}"
    closest = () if answer.citations else answer.closest
    return AskResult(
        answer=text,
        status=answer.status,
        grounded=answer.grounded,
        citations=tuple(_proof(each, base=base) for each in answer.citations),
        closest=tuple(found_passage(each, base=base) for each in closest),
        notes=tuple(notes(answer)),
        query_id=answer.query_id,
    )


def passage_result(
    passage_id: str,
    chunks: Sequence[Chunk],
    document: Document,
    *,
    span: tuple[int, int],
    locator: Locator,
    link: str | None,
) -> PassageResult:
    """Show the characters of ``span`` with what stands around them in these chunks."""
    text, base = "".join(each.text for each in chunks), chunks[0].start
    start, end = span[0] - base, span[1] - base
    room = max(0, OPENED - (end - start)) // 2
    return PassageResult(
        passage_id=passage_id,
        document_id=document.document_id,
        document=sanitize_text(document.title, TITLE),
        collection=document.collection,
        place=_place(locator),
        link=link,
        before=sanitize_text(text[max(0, start - room) : start], OPENED),
        text=sanitize_text(text[start:end], OPENED),
        after=sanitize_text(text[end : end + room], OPENED),
    )


def to_listing(document: Document, *, base: str | None) -> ListedDocument:
    """Show a document, without where it lies."""
    ready = document.status == "ready"
    return ListedDocument(
        document_id=document.document_id,
        title=sanitize_text(document.title, TITLE),
        collection=document.collection,
        kind=document.kind,
        status=document.status,
        language=document.language,
        pages=document.pages,
        seconds=document.seconds,
        passages=document.chunks,
        link=reading_link(document.url, document.document_id, base=base) if ready else None,
        error=None if document.error is None else document.error.code,
    )


# --- as text ----------------------------------------------------------------------------------

Result = SearchResult | AskResult | PassageResult | ListResult


def as_text(result: Result) -> str:
    """Render a result as text."""
    lines: Iterator[str]
    match result:
        case SearchResult():
            lines = _search_lines(result)
        case AskResult():
            lines = _ask_lines(result)
        case PassageResult():
            lines = _passage_lines(result)
        case ListResult():
            lines = _list_lines(result)
    return "\n".join(lines)


def _search_lines(result: SearchResult) -> Iterator[str]:
    for each in result.passages:
        yield from _passage_head(each)
        yield from _quoted(each.text)
    if not result.passages:
        yield "Nothing was found."
    yield from (f"Note: {each}" for each in result.notes)


def _ask_lines(result: AskResult) -> Iterator[str]:
    yield result.answer
    yield f"(status: {result.status})"
    for each in result.citations:
        yield f"[{each.number}] {_about(each.document, each.place, each.link)}"
        yield f"    passage_id: {each.passage_id}; {each.support}"
        yield from _quoted(each.snippet + " …" * each.cut)
    for near in result.closest:
        yield from _passage_head(near)
        yield from _quoted(near.text)
    yield from (f"Note: {each}" for each in result.notes)


def _passage_lines(result: PassageResult) -> Iterator[str]:
    yield _about(result.document, result.place, result.link)
    parts = (("Before:", result.before), ("The passage:", result.text), ("After:", result.after))
    for head, text in parts:
        if text:
            yield head
            yield from _quoted(text)


def _list_lines(result: ListResult) -> Iterator[str]:
    last = result.offset + len(result.documents)
    yield f"Collection {result.collection}: {result.offset + 1}–{last} of {result.total} documents"
    for each in result.documents:
        facts = [each.status, each.kind or "", each.language or "", f"{each.passages} passages"]
        about = ", ".join(filter(None, facts))
        yield f"- {_about(each.title, about, each.link)} (document_id: {each.document_id})"
    yield f"Collections: {', '.join(result.collections) or 'none'}"


def _passage_head(each: FoundPassage) -> Iterator[str]:
    yield f"{each.rank}. {_about(each.document, each.place, each.link)}"
    yield f"    passage_id: {each.passage_id}"


def _about(*parts: str | None) -> str:
    return " · ".join(" ".join(each.split()) for each in parts if each)


def _quoted(text: str) -> Iterator[str]:
    yield from (f"> {line}" for line in text.splitlines())


def _place(locator: Locator) -> str:
    return sanitize_text(label(locator), TITLE)


def _proof(each: Citation, *, base: str | None) -> CitationResult:
    return CitationResult(
        number=each.number,
        passage_id=f"{each.chunk_id}:{each.snippet_start}-{each.snippet_end}",
        document_id=each.document_id,
        document=sanitize_text(each.document_name, TITLE),
        place=_place(each.locator),
        link=reading_link(each.link, each.document_id, base=base, span=shown_span(each)),
        snippet=each.snippet,
        support=each.support,
        cut=each.cut,
    )

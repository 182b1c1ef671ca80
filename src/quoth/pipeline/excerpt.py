"""The stored text around a citation, page, time, section or range of characters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from quoth.core.errors import InputError, NotFound
from quoth.core.types import (
    Box,
    Chunk,
    Citation,
    Document,
    Hit,
    Locator,
    Pages,
    Seconds,
)
from quoth.ingest.readers.pdf.page_marks import MarkedLine
from quoth.pipeline.named_places import Span, find_place
from quoth.pipeline.uploads import find_document
from quoth.store.catalogue import Catalogue
from quoth.store.document_list import DocumentLists
from quoth.text.json_codec import decode_json
from quoth.text.links import TEXT_MARK, address_of, link
from quoth.text.locators import locate_in
from quoth.text.recordings import is_recording, recording_of, video_at

_AT_SECOND = re.compile(r"[?&](?:t|start)=(\d{1,9})(?!\d)")
_FRAGMENT = re.compile(r"page=(\d+)|t=(\d+)|L(\d+)|(?:sheet=(.+)&)?(row|cell|message|slide)=(\d+)")
_CITED = re.compile(r"(?P<query>(?:q_?)?[0-9a-f]+)(?::(?P<number>\d+))?", re.I)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Characters `start` to `end` of a document's stored text; ``marked`` are those referred to.

    ``link`` opens the marked characters where there are some, else the whole. ``is_replaced`` says
    that the document was updated or removed since: the text is what the citation has kept.
    ``turns`` are the characters of the text at which one of several speakers begins, and the name.
    """

    document_id: str
    document: str
    start: int
    end: int
    text: str
    marked: Span | None
    locator: Locator
    section: str | None
    link: str | None
    is_replaced: bool = False
    turns: tuple[tuple[int, str], ...] = ()


def find_excerpt(
    catalogue: Catalogue, reference: str, *, documents: Sequence[Document], window: int = 1
) -> Excerpt:
    """Return the text that a reference leads to, with ``window`` chunks on either side.

    A reference is the id of a citation, ``QUERY_ID:NUMBER``, or ``DOCUMENT[:PLACE]``: a place is
    a page (its label, else the number of the PDF page; ``pdf 12``), a time (``1:41``, ``90s``), a
    section's title or ``chapter 3``, the number of a paragraph (``13.2``), of lines (``120``,
    ``12-20``) or of a row (``Staff row 3``), or a range of characters (``characters 100-250``).
    So is the link of a citation. The id of a document that was replaced opens the present one, as
    far as the texts of both are the same. Raises NotFound and InputError.
    """
    if reference.startswith(("q_", "c_")):
        return _cited(catalogue, reference, window=window)
    try:
        document, place = _split(documents, reference)
    except NotFound:
        replaced = _replaced(catalogue, reference, documents=documents, window=window)
        if replaced is not None:
            return replaced
        if _CITED.fullmatch(reference) is None:
            raise
        return _cited(catalogue, reference, window=window)
    return _placed(catalogue, document, place, window=window)


def _replaced(
    catalogue: Catalogue, reference: str, *, documents: Sequence[Document], window: int
) -> Excerpt | None:
    """Return the text at a place of a document that was replaced, if it is still there."""
    key, _colon, place = (part.strip() for part in reference.partition(":"))
    present = DocumentLists.of(catalogue).present
    with suppress(NotFound):
        now = present(key).document_id
        document = next((each for each in documents if each.document_id == now), None)
        if document is not None:
            found = _placed(catalogue, document, place, window=window)
            if place:
                present(key, end=found.marked[1] if found.marked else found.end)
            return found
    return None


def _placed(catalogue: Catalogue, document: Document, place: str, *, window: int) -> Excerpt:
    chunks = catalogue.document_chunks(document.document_id)
    if not chunks:
        raise NotFound(f"'{document.title}' holds no text: it is {document.status}.")
    if not place:
        return _excerpt(document, chunks, shown=chunks[: 2 * window + 1])
    headings = catalogue.headings(catalogue.collection(document.collection), [document.document_id])
    span, whole = find_place(chunks, place, headings=headings)
    if whole:
        return _excerpt(document, chunks, shown=chunks, span=span)
    return _excerpt(document, chunks, shown=_around(chunks, span, window=window), marked=span)


def _cited(catalogue: Catalogue, reference: str, *, window: int) -> Excerpt:
    found = _citation(catalogue, reference)
    if "snippet" in found:
        return cited_excerpt(catalogue, found, window=window)
    return _closest_excerpt(catalogue, decode_json(Hit, found), window=window)


def _closest_excerpt(catalogue: Catalogue, hit: Hit, *, window: int) -> Excerpt:
    """Return the text around a closest passage of an answer."""
    low, high = hit.marked or (0, len(hit.text))
    chunks = catalogue.document_chunks(hit.document_id)
    chunk = next((each for each in chunks if each.chunk_id == hit.chunk_id), None)
    if chunk is None:
        return Excerpt(
            document_id=hit.document_id,
            document=hit.document,
            start=0,
            end=len(hit.text),
            text=hit.text,
            marked=(low, high),
            locator=hit.locator,
            section=hit.locator.section,
            link=hit.link,
            is_replaced=True,
        )
    marked = (chunk.start + low, chunk.start + high)
    document = DocumentLists.of(catalogue).document(hit.document_id)
    return _excerpt(document, chunks, shown=_around(chunks, marked, window=window), marked=marked)


def cited_excerpt(catalogue: Catalogue, cited: Mapping[str, Any], *, window: int = 1) -> Excerpt:
    """Return the text around a citation, given as JSON."""
    span = (cited["snippet_start"], cited["snippet_end"])
    try:
        document = DocumentLists.of(catalogue).present(cited["document_id"], end=span[1])
    except NotFound:
        return _as_cited(decode_json(Citation, cited))
    low, high = cited.get("marked") or (0, span[1] - span[0])
    chunks = catalogue.document_chunks(document.document_id)
    shown = _around(chunks, span, window=window)
    told = (span[0] + low, span[0] + high)
    return _excerpt(document, chunks, shown=shown, marked=span, opened=told)


def _as_cited(citation: Citation) -> Excerpt:
    span = (citation.snippet_start, citation.snippet_end)
    return Excerpt(
        document_id=citation.document_id,
        document=citation.document_name,
        start=span[0],
        end=span[1],
        text=citation.snippet,
        marked=span,
        locator=citation.locator,
        section=citation.section_heading,
        link=citation.link,
        is_replaced=True,
    )


def _citation(catalogue: Catalogue, reference: str) -> dict[str, Any]:
    """Return a stored citation or closest passage as JSON.

    Raises NotFound and InputError.
    """
    if reference.startswith("c_"):
        stored, number = json.loads(catalogue.citing(reference)), None
    else:
        parts = _CITED.fullmatch(reference)
        if parts is None:
            raise InputError(f"'{reference}' is not a citation. Write QUERY_ID:NUMBER.")
        stored = json.loads(catalogue.recorded(parts["query"]).answer)
        number = int(parts["number"] or 1)
    citations = stored.get("citations", ())
    for each in (*citations, *stored.get("closest", ())):
        if number == each.get("number", each.get("rank")) or each.get("id") == reference:
            found: dict[str, Any] = each
            return found
    raise NotFound(f"The answer has {len(citations)} citations, and none is '{reference}'.")


def _split(documents: Sequence[Document], reference: str) -> tuple[Document, str]:
    """Split ``DOCUMENT:PLACE`` at the colon before which there is a document."""
    if linked := _linked(documents, reference):
        return linked
    problem: Exception | None = None
    for end in (len(reference), *reversed([at for at, c in enumerate(reference) if c == ":"])):
        try:
            return find_document(documents, reference[:end]), reference[end + 1 :].strip()
        except (NotFound, InputError) as error:
            problem = error if problem is None or isinstance(error, InputError) else problem
    assert problem is not None
    raise problem


def _linked(documents: Sequence[Document], reference: str) -> tuple[Document, str] | None:
    """Return the document and the place that the link of a citation opens, None without one."""
    if talk := _at_second(documents, reference):
        return talk
    marks = [at for at, sign in enumerate(reference) if sign == "#"]
    for end in (*marks, len(reference)):
        base, fragment = reference[:end], reference[end + 1 :]
        for each in documents:
            known = {address_of(each.url), address_of(each.source)} - {None}
            if known & {base, address_of(base)}:
                return each, _place(fragment)
        if played := _played(documents, base):
            return played, _place(fragment)
    for end in marks:
        with suppress(NotFound):
            name = unquote(reference[:end])
            return find_document(documents, name, whole=True), _place(reference[end + 1 :])
    return None


def _at_second(documents: Sequence[Document], reference: str) -> tuple[Document, str] | None:
    """Return the talk of whose video a reference is the address, and the second in its query."""
    found = _AT_SECOND.search(reference)
    second = int(found[1]) if found else 0
    video = video_at(reference, seconds=second) if found else None
    for each in documents if video else ():
        addresses = [each.url or "", each.source] if each.kind == "transcript" else []
        if video in {video_at(at, seconds=second) for at in addresses}:
            return each, f"{second}s"
    return None


def _played(documents: Sequence[Document], address: str) -> Document | None:
    """Return the talk whose recording has an address."""
    wanted = address_of(address)
    name = Path(unquote(wanted or ""))
    if not is_recording(name):
        return None
    named = (each for each in documents if Path(each.source).stem.startswith(name.stem))
    files = ((each, recording_of(each)) for each in named)
    return next((each for each, file in files if file and address_of(str(file)) == wanted), None)


def _place(fragment: str) -> str:
    """Return the place that the fragment of a link names, in the words of `find_place`."""
    fragment, mark, words = fragment.partition(TEXT_MARK)
    fragment = unquote(fragment.partition(":~:")[0])
    parts = _FRAGMENT.fullmatch(fragment)
    if parts is None:
        return f"#{fragment}{mark}{words}" if fragment else mark + words
    page, time, line, sheet, unit, number = parts.groups()
    if unit:
        return f"{sheet or ''} {unit} {number}".strip()
    return f"pdf {page}" if page else f"{time}s" if time else f"line {line}"


def _around(chunks: Sequence[Chunk], span: Span, *, window: int) -> list[Chunk]:
    held = [at for at, each in enumerate(chunks) if each.start < span[1] and each.end > span[0]]
    return list(chunks[max(0, held[0] - window) : held[-1] + window + 1])


def _excerpt(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    shown: Sequence[Chunk],
    span: Span | None = None,
    marked: Span | None = None,
    opened: Span | None = None,
) -> Excerpt:
    """Make an excerpt of a document, all ``chunks`` of which are given.

    ``shown`` are those that it shows, ``opened`` are the characters that its link opens, if not all
    that are marked.
    """
    start, end = span or (shown[0].start, shown[-1].end)
    text = "".join(_pieces(shown, start, end))
    told = marked or (start, end)
    locator = locate_in(shown, *told)
    target = locate_in(shown, *opened) if opened else locator
    words = opened or marked
    first = next((each for each in shown if each.end > told[0]), shown[0])
    return Excerpt(
        document_id=document.document_id,
        document=document.title,
        start=start,
        end=end,
        text=text,
        marked=marked,
        locator=locator,
        section=first.section[-1] if first.section else locator.section,
        link=link(
            target,
            document,
            text="" if words is None else text[words[0] - start : words[1] - start],
            before="" if words is None else "".join(_pieces(chunks, chunks[0].start, words[0])),
        ),
        turns=tuple(_turns(shown, start, end)),
    )


def _turns(chunks: Sequence[Chunk], start: int, end: int) -> list[tuple[int, str]]:
    """Return where speakers begin in characters of a text, and who; none where one says it all."""
    found: list[tuple[int, str]] = []
    for place in (place for each in chunks for place in each.places):
        speaker = place.locator.speaker if isinstance(place.locator, Seconds) else None
        last = found[-1][1] if found else None
        if speaker and speaker != last and place.end > start and place.start < end:
            found.append((max(0, place.start - start), speaker))
    return found if len(found) > 1 else []


def _pieces(chunks: Sequence[Chunk], start: int, end: int) -> Iterator[str]:
    for each in chunks:
        if each.start < end and each.end > start:
            yield each.text[max(0, start - each.start) : end - each.start]


@dataclass(frozen=True, slots=True)
class _LinePlace:
    """A printed line: its characters of the stored text, and its box."""

    start: int
    end: int
    box: Box


def marked_lines(chunks: Sequence[Chunk], *, start: int, end: int) -> list[MarkedLine]:
    """Return the lines of the characters from `start` to `end` of a PDF's stored text.

    ``chunks`` are consecutive, with those before and after the span: a line that a chunk cuts is
    put together again.
    """
    if not chunks:
        return []
    offset = chunks[0].start
    text = "".join(chunk.text for chunk in chunks)
    return [
        MarkedLine(
            text[line.start - offset : line.end - offset],
            max(line.start, start) - line.start,
            min(line.end, end) - line.start,
            line.box,
        )
        for line in _lines(chunks, text=text, offset=offset)
        if max(line.start, start) < min(line.end, end)
    ]


def _lines(chunks: Sequence[Chunk], *, text: str, offset: int) -> Iterator[_LinePlace]:
    """Return the whole lines of the chunks in order."""
    open_line: _LinePlace | None = None
    for chunk in chunks:
        for place in chunk.places:
            if not isinstance(place.locator, Pages) or not place.locator.boxes:
                continue
            line = _LinePlace(place.start, place.end, _box_around(place.locator.boxes))
            if open_line is not None:
                gap = text[open_line.end - offset : line.start - offset]
                if place is chunk.places[0] and "\n" not in gap and _same(open_line.box, line.box):
                    line = _LinePlace(
                        open_line.start, line.end, _box_around((open_line.box, line.box))
                    )
                else:
                    yield open_line
            open_line = line
    if open_line is not None:
        yield open_line


def _same(one: Box, other: Box) -> bool:
    """Return whether two boxes are parts of one line's: only the width of a line is cut."""
    return (one.page, one.y0, one.y1) == (other.page, other.y0, other.y1)


def _box_around(boxes: Sequence[Box]) -> Box:
    return Box(
        boxes[0].page,
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )

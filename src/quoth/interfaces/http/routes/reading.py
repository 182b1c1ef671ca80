"""The sections of a document, and its stored text as blocks for a reading view of every kind."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from quoth.core.errors import InputError
from quoth.core.types import Document, DocumentKind, Locator
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.originals import recording_type
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.requests import listing_of, present_document
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import OneId
from quoth.interfaces.links import public_link
from quoth.text.links import link
from quoth.text.reading_blocks import ReadingBlock, reading_blocks

router = APIRouter(tags=["library"])

MAX_SECTIONS = 1_000
MAX_CONTEXT = 50_000
MAX_SPAN = 100_000
"""Characters of a span that is shown at once."""
BEYOND = "The text of this document has {:,} characters."
MAX_OFFSET = 2_000_000_000
AROUND = 3
"""Chunks read on either side, so that a paragraph at the edge is whole."""

Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET, description="Character of the stored text.")]
OptionalOffset = Annotated[
    int | None, Query(ge=0, le=MAX_OFFSET, description="First character after the span.")
]
Context = Annotated[
    int, Query(ge=0, le=MAX_CONTEXT, description="Characters shown on either side of the span.")
]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section: its heading, how deep it lies (from 1), and the span of its first passage."""

    title: str
    level: int
    start: int
    end: int
    locator: Locator


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """The sections of a document in their order; ``more`` says that only the first are listed."""

    document_id: str
    sections: list[SectionView]
    more: bool


@dataclass(frozen=True, slots=True)
class TextSpan:
    """The characters from `start` to `end` of a document's stored text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BlockView:
    """A cue or a paragraph: ``text`` is the stored text from `start` to `end`."""

    start: int
    end: int
    text: str
    section: tuple[str, ...]
    locator: Locator
    link: str | None
    label: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A part of a document's stored text in blocks, in order, with white space between them.

    ``start`` and ``end`` are the part that was returned, ``span`` the one that was asked for.
    ``media`` is the media type of the recording that ``…/media`` plays, None without one.
    """

    document_id: str
    title: str
    kind: DocumentKind | None
    language: str | None
    total_chars: int
    start: int
    end: int
    span: TextSpan | None
    media: str | None
    blocks: list[BlockView]


@router.get(
    "/v1/documents/{document_id}/outline",
    summary="List the sections of a document",
    response_model=DocumentOutline,
)
async def outline(document_id: OneId, caller: Reader) -> Response:
    """List the sections of a document, each with the place where it begins."""
    return ApiResponse(await asyncio.to_thread(_outline, document_id, caller))


def _outline(document_id: str, caller: Principal) -> DocumentOutline:
    found = present_document(document_id, caller)
    document_id = found.document_id
    catalogue = caller.engine.parts.catalogue
    all_headings = catalogue.headings(catalogue.collection(found.collection), [document_id])
    listed = [heading for heading in all_headings if heading.path][:MAX_SECTIONS]
    chunks = catalogue.chunk_ranges([(document_id, head.first, head.first) for head in listed])
    by_ordinal = {chunk.ordinal: chunk for chunk in chunks}
    sections = [
        SectionView(heading.path[-1], len(heading.path), first.start, first.end, first.locator)
        for heading in listed
        if (first := by_ordinal.get(heading.first)) is not None
    ]
    return DocumentOutline(document_id, sections, len(all_headings) > len(listed))


@router.get(
    "/v1/documents/{document_id}/reading", summary="Read around a span", response_model=Reading
)
async def reading(
    document_id: OneId,
    caller: Reader,
    start: Offset = 0,
    end: OptionalOffset = None,
    context: Context = 4_000,
) -> Response:
    """Return the stored text around a span in whole blocks.

    Without an end, the text from the start on is returned: the next page begins at the end of
    this one. The id of a document that was replaced shows the present one, unless the texts of
    both differ before the end of the span; `document_id` is the present id.
    """
    return ApiResponse(
        await asyncio.to_thread(
            _reading, document_id, caller, start=start, end=end, context=context
        )
    )


def _reading(
    document_id: str, caller: Principal, *, start: int, end: int | None, context: int
) -> Reading:
    listing = listing_of(caller.engine)
    found = present_document(document_id, caller, end=end or 0)
    document_id = found.document_id
    total = listing.total_chars(document_id)
    if start > total:
        raise InputError(BEYOND.format(total))
    span = None if end is None else require_span(start, end, total=total)
    first, last = start, start + context
    if span is not None:
        first, last = span.start - context, span.end + context
    low, high = listing.ordinals(document_id, start=first, end=last)
    chunks = caller.engine.parts.catalogue.chunk_ranges(
        [(document_id, low - AROUND, high + AROUND)]
    )
    known = reading_blocks(chunks)
    later = [each for each in known if each.end > first]
    # One at least, so that the next page begins further on.
    blocks = [each for each in later if each.start < last] or later[:1]
    at_end = not blocks or (blocks[-1] is known[-1] and chunks[-1].end == total)
    return Reading(
        document_id,
        found.title,
        found.kind,
        found.language,
        total,
        blocks[0].start if blocks else total,
        total if at_end else blocks[-1].end,
        span,
        recording_type(found, caller),
        [_view(block, found) for block in blocks],
    )


def require_span(start: int, end: int, *, total: int) -> TextSpan:
    """Return a span of a text of this length; raises InputError."""
    if end > total:
        raise InputError(BEYOND.format(total))
    if not start < end <= start + MAX_SPAN:
        raise InputError(f"end is up to {MAX_SPAN:,} characters after start.")
    return TextSpan(start, end)


def _view(block: ReadingBlock, document: Document) -> BlockView:
    address = link(block.locator, document)
    return BlockView(
        block.start,
        block.end,
        block.text,
        block.section,
        block.locator,
        public_link("", address, document.document_id),
        block.label,
    )

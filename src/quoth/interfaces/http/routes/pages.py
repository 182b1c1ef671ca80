"""The pages of PDF files: drawn, and with the very glyphs of a span marked."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import NotFound
from quoth.core.types import Chunk, Pages
from quoth.ingest.readers.pdf.page_marks import PageMarks, Rectangle
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.originals import (
    CACHED,
    entity_tag,
    file_responses,
    not_modified,
    original_file,
)
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.requests import find_present, listing_of
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.routes.reading import MAX_OFFSET, Offset, require_span
from quoth.interfaces.http.schemas import OneId
from quoth.pipeline.excerpt import marked_lines
from quoth.store.blobs import source_name

router = APIRouter(tags=["library"])

DRAWING = 1
"""Counted up when pages are drawn in another way, so that no browser shows an old picture."""

SpanEnd = Annotated[int, Query(ge=0, le=MAX_OFFSET, description="First character after the span.")]
PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="The PDF page, from 1.")]
Width = Annotated[int, Query(ge=200, le=2000, description="Pixels; a very high page has fewer.")]


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page in points as drawn, and its marks as shares: left, top, right, bottom.

    ``page`` is the PDF page, counted from 1, and ``label`` its number as printed.
    """

    page: int
    label: str
    width: float
    height: float
    rectangles: tuple[Rectangle, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The pages of a span; ``exact`` is whether the marked glyphs spell it.

    Nothing is marked where they do not; a document without pages has none. ``picture`` is whether
    the original is a picture, which no reader of PDF opens.
    """

    document_id: str
    start: int
    end: int
    exact: bool
    picture: bool
    pages: list[MarkedPage]


@router.get(
    "/v1/documents/{document_id}/marks", summary="Mark a span on its pages", response_model=Marks
)
async def marks(
    document_id: OneId, caller: Reader, request: Request, start: Offset, end: SpanEnd
) -> Response:
    """Return the rectangles of the glyphs of a span, on every page that it is printed on."""
    found = await find_present(document_id, caller, end=end)
    document_id = found.document_id
    chunks = await asyncio.to_thread(_chunks, caller, document_id, start=start, end=end)
    lines = marked_lines(chunks, start=start, end=end) if found.kind == "pdf" else []
    pages: Sequence[PageMarks] = ()
    if lines:
        unchanged = request.app.state.unchanged_files
        file = await asyncio.to_thread(original_file, found, caller, unchanged=unchanged)
        pages = await caller.engine.parts.pages().mark(file, lines)
    exact = bool(pages) and all(page.rectangles is not None for page in pages)
    labels = _labels(chunks)
    shown = [
        MarkedPage(
            page.page,
            labels[page.page],
            page.width,
            page.height,
            (page.rectangles or ()) if exact else (),
        )
        for page in pages
    ]
    kind = mimetypes.guess_type(source_name(found.source))[0] or ""
    picture = kind.startswith("image/")
    return ApiResponse(Marks(document_id, start, end, exact, picture, shown))


@router.get(
    "/v1/documents/{document_id}/pages/{page}/image",
    summary="Draw a page",
    response_class=Response,
    responses=file_responses("The page as PNG.", ["image/png"]),
)
async def page_image(
    document_id: OneId, page: PageNumber, caller: Reader, request: Request, width: Width = 1000
) -> Response:
    """Draw a page of a PDF file, as long as it is unchanged."""
    found = await find_present(document_id, caller)
    if found.kind != "pdf" or page > (found.pages or 0):
        raise NotFound(f"This document has no page {page}.")
    unchanged = request.app.state.unchanged_files
    file = await asyncio.to_thread(original_file, found, caller, unchanged=unchanged)
    tag = await asyncio.to_thread(entity_tag, found, caller, page, width, DRAWING)
    if (same := not_modified(request, tag)) is not None:
        return same
    drawn = await caller.engine.parts.pages().draw(file, page=page, width=width)
    headers = {**CACHED, **({} if tag is None else {"etag": tag})}
    return Response(drawn, media_type="image/png", headers=headers)


def _chunks(caller: Principal, document_id: str, *, start: int, end: int) -> list[Chunk]:
    """Return the chunks of a span, and one on either side; raises InputError."""
    listing = listing_of(caller.engine)
    require_span(start, end, total=listing.total_chars(document_id))
    first, last = listing.ordinals(document_id, start=start, end=end)
    return caller.engine.parts.catalogue.chunk_ranges([(document_id, first - 1, last + 1)])


def _labels(chunks: Sequence[Chunk]) -> dict[int, str]:
    """Return the printed labels of the pages of chunks."""
    places = (place.locator for chunk in chunks for place in chunk.places)
    return {each.first: each.label_first for each in places if isinstance(each, Pages)}

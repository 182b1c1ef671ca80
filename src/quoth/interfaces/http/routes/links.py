"""Routes of signed links: one document's page images, recording and text, without a key."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import FileResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quoth.core.errors import Denied
from quoth.interfaces.http.originals import file_responses, recording_type
from quoth.interfaces.http.request_state import LINKS_PATH, Principal, request_state
from quoth.interfaces.http.requests import find_document
from quoth.interfaces.http.routes.documents import media
from quoth.interfaces.http.routes.pages import PageNumber, Width, page_image
from quoth.interfaces.http.routes.reading import (
    Context,
    Offset,
    OptionalOffset,
    Reading,
    reading,
)
from quoth.interfaces.http.signed_links import REFUSED
from quoth.text.recordings import MEDIA_TYPES

router = APIRouter(tags=["library"], prefix=f"{LINKS_PATH}{{token}}")

Token = Annotated[str, Path(max_length=1000, description="The signed part of a citation's link.")]


def linked(request: Request) -> Principal:
    """Return the reader whom the signed link admits; raises Denied."""
    found = request_state(request.scope).principal
    if found is None or found.document is None:
        raise Denied(REFUSED)
    return found


Linked = Annotated[Principal, Depends(linked)]
"""A reader of one document, by a signed link."""


@router.get(
    "",
    summary="Open a signed link",
    status_code=303,
    response_class=RedirectResponse,
    responses={303: {"description": "To the page, the recording or the text that is cited."}},
)
async def open_link(
    token: Token,
    caller: Linked,
    request: Request,
    start: Offset = 0,
    end: OptionalOffset = None,
    page: Annotated[int | None, Query(ge=1, le=1_000_000, description="The PDF page.")] = None,
) -> Response:
    """Lead to what shows the cited place best: its page, its recording, else its text."""
    document = await find_document(caller.document or "", caller)
    view = f"reading?start={start}" + (f"&end={end}" if end is not None else "")
    if document.kind == "pdf" and page is not None:
        view = f"pages/{page}/image"
    elif await asyncio.to_thread(recording_type, document, caller) is not None:
        view = "media"
    # Relative, so that it holds behind any proxy; a browser keeps the fragment with the time.
    return RedirectResponse(f"{token}/{view}", status_code=303)


@router.get(
    "/pages/{page}/image",
    summary="Draw a page by a signed link",
    response_class=Response,
    responses=file_responses("The page as PNG.", ["image/png"]),
)
async def linked_page(
    token: Token, page: PageNumber, caller: Linked, request: Request, width: Width = 1000
) -> Response:
    """Draw a page of the PDF file that the link is for."""
    return await page_image(caller.document or "", page, caller, request, width)


@router.get(
    "/media",
    summary="Play a recording by a signed link",
    response_class=FileResponse,
    responses=file_responses("The recording.", MEDIA_TYPES.values(), part_of="recording"),
)
async def linked_media(token: Token, caller: Linked, request: Request) -> Response:
    """Return the recording of the talk that the link is for."""
    return await media(caller.document or "", caller, request)


@router.get("/reading", summary="Read by a signed link", response_model=Reading)
async def linked_reading(
    token: Token,
    caller: Linked,
    start: Offset = 0,
    end: OptionalOffset = None,
    context: Context = 4_000,
) -> Response:
    """Return the text around a span of the document that the link is for."""
    return await reading(caller.document or "", caller, start, end, context)

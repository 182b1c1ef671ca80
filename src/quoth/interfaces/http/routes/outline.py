"""The sections of a document with their places, for its page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from quoth.core.types import Locator
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.requests import listing_of
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import OneId

router = APIRouter(tags=["library"])

MAX_SECTIONS = 1_000


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


@router.get(
    "/v1/documents/{document_id}/outline",
    summary="List the sections of a document",
    response_model=DocumentOutline,
)
async def outline(document_id: OneId, caller: Reader) -> Response:
    """List the sections of a document, each with the place where it begins."""
    return ApiResponse(await asyncio.to_thread(_outline, document_id, caller))


def _outline(document_id: str, caller: Principal) -> DocumentOutline:
    found = listing_of(caller.engine).document(document_id, collection=caller.collection)
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

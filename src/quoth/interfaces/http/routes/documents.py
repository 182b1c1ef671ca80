"""Routes for documents, their passages and original files."""

from __future__ import annotations

import asyncio
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    MalformedRangeHeader,
    RangeNotSatisfiable,
    Response,
)

from quoth.core.errors import NotFound
from quoth.core.types import Chunk, Document, Locator
from quoth.interfaces.http.dependencies import Reader, Writer
from quoth.interfaces.http.originals import (
    CACHED,
    entity_tag,
    file_responses,
    file_tag,
    not_modified,
    original_file,
    recording_file,
)
from quoth.interfaces.http.problem_details import ByteRangeNotSatisfiable
from quoth.interfaces.http.requests import (
    find_collection,
    find_document,
    find_present,
    listing_of,
)
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import Id, InCollection, Limit, OneId, Skip, Words
from quoth.store.blobs import clean_name, source_name
from quoth.text.links import link
from quoth.text.recordings import MEDIA_TYPES, is_recording

router = APIRouter(tags=["library"])

SAFE_TYPES = ("application/pdf", "audio/*", "video/*", "text/plain", "application/epub+zip")
"""Media types that a file is sent as; a browser executes none of them."""
SAFE_PREFIXES = tuple(kind.removesuffix("*") for kind in SAFE_TYPES)
SANDBOX = "default-src 'none'; sandbox"


@dataclass(frozen=True, slots=True)
class Documents:
    """A page of documents, by title, then those in progress or failed."""

    documents: list[Document]
    total: int
    skip: int
    limit: int


@dataclass(frozen=True, slots=True)
class ChunkView:
    """A passage of a document's text with its locator."""

    chunk_id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    section: tuple[str, ...]
    locator: Locator
    link: str | None


@dataclass(frozen=True, slots=True)
class Passages:
    """Consecutive passages of one document."""

    document_id: str
    title: str
    total: int
    passages: list[ChunkView]


class Original(FileResponse):
    """A file or a byte range of it; an invalid range gives a problem (RFC 9457)."""

    # Starlette has no other hook for invalid ranges.
    @classmethod
    def _parse_range_header(cls, http_range: str, file_size: int) -> list[tuple[int, int]]:
        try:
            return super()._parse_range_header(http_range, file_size)
        except MalformedRangeHeader:
            return []  # a malformed range is ignored and the whole file sent (RFC 9110, 14.2)
        except RangeNotSatisfiable as error:
            raise ByteRangeNotSatisfiable(error.max_size) from error


@router.get("/v1/documents", summary="List documents", response_model=Documents)
async def documents(
    caller: Reader,
    skip: Skip = 0,
    limit: Limit = 20,
    collection: InCollection = None,
    words: Words = "",
    state: Annotated[
        Literal["unready"] | None, Query(description="Only those in progress or failed.")
    ] = None,
) -> Response:
    """List the documents of a collection with their status."""
    found = await asyncio.to_thread(find_collection, caller, collection)
    if found is None:
        return ApiResponse(Documents([], 0, skip, limit))
    there, total = await asyncio.to_thread(
        listing_of(caller.engine).documents,
        found,
        skip=skip,
        limit=limit,
        words=words,
        ready_too=state is None,
    )
    return ApiResponse(Documents(there, total, skip, limit), language=caller.language)


@router.get("/v1/documents/{document_id}", summary="Show a document", response_model=Document)
async def document(document_id: OneId, caller: Reader) -> Response:
    """Show a document: what it is, its status, and why it could not be read.

    The id of a document that was replaced shows the present one; changes need the present id.
    """
    return ApiResponse(await find_present(document_id, caller), language=caller.language)


@router.delete("/v1/documents/{document_id}", summary="Delete a document", status_code=204)
async def delete(document_id: OneId, caller: Writer) -> Response:
    """Delete a document from the catalogue and the index."""
    found = await find_document(document_id, caller)
    gone = await caller.engine.remove([document_id], collection=found.collection)
    if not gone:
        raise NotFound(f"There is no document with the id '{document_id}'.")
    return Response(status_code=204)


@router.head("/v1/documents/{document_id}/original", include_in_schema=False)
@router.get(
    "/v1/documents/{document_id}/original",
    summary="Download a document's file",
    response_class=FileResponse,
    responses=file_responses(
        "The original file, always as an attachment.", SAFE_TYPES, part_of="file"
    ),
)
async def original(document_id: OneId, caller: Reader, request: Request) -> Response:
    """Return the file of a document, as long as it is unchanged."""
    found = await find_present(document_id, caller)
    unchanged = request.app.state.unchanged_files
    file = await asyncio.to_thread(original_file, found, caller, unchanged=unchanged)
    tag = await asyncio.to_thread(entity_tag, found, caller)
    if (same := not_modified(request, tag)) is not None:
        return same
    name = clean_name(source_name(found.source))
    kind = mimetypes.guess_type(name)[0] or ""
    safe = kind if kind.startswith(SAFE_PREFIXES) else "application/octet-stream"
    return _send(file, name=name, media_type=safe, tag=tag)


@router.head("/v1/documents/{document_id}/media", include_in_schema=False)
@router.get(
    "/v1/documents/{document_id}/media",
    summary="Play a talk's recording",
    response_class=FileResponse,
    responses=file_responses(
        "The recording that was transcribed, or lies beside the transcript.",
        MEDIA_TYPES.values(),
        part_of="recording",
    ),
)
async def media(document_id: OneId, caller: Reader, request: Request) -> Response:
    """Return the recording of a transcript.

    It is the file that was transcribed, as long as it is unchanged, or the file of the same name
    beside the transcript, such as talk.mp4 beside talk.srt.
    """
    found = await find_present(document_id, caller)
    unchanged = request.app.state.unchanged_files
    file = await asyncio.to_thread(recording_file, found, caller, unchanged=unchanged)
    tag = await asyncio.to_thread(file_tag, file)
    if (same := not_modified(request, tag)) is not None:
        return same
    own = clean_name(source_name(found.source))
    name = own if is_recording(Path(own)) else file.name
    return _send(file, name=name, media_type=MEDIA_TYPES[file.suffix.lower()], tag=tag)


@router.get(
    "/v1/documents/{document_id}/passages", summary="Read in a document", response_model=Passages
)
async def passages(
    document_id: OneId,
    caller: Reader,
    around: Annotated[
        Id | None, Query(description="The id of a passage, as in a citation.")
    ] = None,
    window: Annotated[int, Query(ge=0, le=10, description="Passages on either side.")] = 1,
    skip: Skip = 0,
    limit: Limit = 20,
) -> Response:
    """Return the text of a document in passages: around one of them, or page by page."""
    found = await find_document(document_id, caller)
    catalogue = caller.engine.parts.catalogue
    first, last = skip, skip + limit - 1
    if around is not None:
        at = await asyncio.to_thread(
            listing_of(caller.engine).ordinal, around, document_id=document_id
        )
        first, last = max(0, at - window), at + window
    chunks = await asyncio.to_thread(catalogue.chunk_ranges, [(document_id, first, last)])
    shown = [_passage(chunk, found) for chunk in chunks]
    return ApiResponse(Passages(document_id, found.title, found.chunks, shown))


def _send(file: Path, *, name: str, media_type: str, tag: str | None) -> Original:
    """Return a file or the range that was asked for, as a browser may keep it."""
    return Original(
        file,
        filename=name,
        media_type=media_type,
        content_disposition_type="attachment",
        headers={
            "x-content-type-options": "nosniff",
            "content-security-policy": SANDBOX,
            **CACHED,
            **({} if tag is None else {"etag": tag}),
        },
    )


def _passage(chunk: Chunk, document: Document) -> ChunkView:
    address = link(chunk.locator, document)
    return ChunkView(
        chunk.chunk_id,
        chunk.document_id,
        chunk.ordinal,
        chunk.start,
        chunk.end,
        chunk.text,
        chunk.section,
        chunk.locator,
        address,
    )

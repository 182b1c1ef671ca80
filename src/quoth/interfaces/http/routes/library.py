"""Routes that change the library as a whole: corrected metadata, a new index, the sample."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from quoth.core.custom_metadata import check_metadata
from quoth.core.errors import Denied, NotFound
from quoth.core.types import Document
from quoth.ingest.readers.metadata import KEYS, read_beside
from quoth.interfaces.http.dependencies import Writer
from quoth.interfaces.http.request_state import LOCAL, Principal
from quoth.interfaces.http.requests import find_document
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.routes.collections import find_summary
from quoth.interfaces.http.schemas import Body, OneCollection, OneId
from quoth.interfaces.http.sse import EventStream
from quoth.interfaces.http.text_rules import DocumentDate, Language, Text, WebAddress
from quoth.interfaces.http.uploads.receive import file_bytes, receive_whole
from quoth.pipeline.given_metadata import DocumentMetadata, describe
from quoth.pipeline.sample import sample_files
from quoth.pipeline.uploads import metadata_of, tenant_blobs
from quoth.store.blobs import source_name

router = APIRouter(tags=["library"])

ON_DISK = (
    "The file of this document lies on the disk of the service. It is changed there, with: "
    "quoth set DOCUMENT KEY=VALUE"
)
NO_SAMPLE = "The sample collection is not installed here."


class DocumentChanges(Body):
    """What is to be known of a document; what is not named stays, and "" takes a value back.

    ``metadata`` are given as a whole: keys that they do not name are deleted.
    """

    title: Annotated[Text, Field(max_length=500)] | None = None
    url: Annotated[WebAddress, Field(max_length=2000)] | None = None
    speaker: Annotated[Text, Field(max_length=200)] | None = None
    language: Annotated[Language, Field(max_length=20, examples=["en"])] | None = None
    date: Annotated[DocumentDate, Field(max_length=40, examples=["2024-03-01"])] | None = None
    metadata: Annotated[
        dict[str, str | int | float | bool | list[str]] | None,
        Field(max_length=50, examples=[{"team": "legal", "year": 2024}]),
    ] = None
    """Keys and values of the owner's own, in place of those before."""


@dataclass(frozen=True, slots=True)
class RebuildStep:
    """Progress of a new index; the last event is ``done``."""

    documents: int
    of_documents: int
    event: Literal["status", "done"]


@dataclass(frozen=True, slots=True)
class SampleAdded:
    """How many files of the sample collection were queued."""

    files: int


@router.patch("/v1/documents/{document_id}", summary="Correct a document", response_model=Document)
async def correct(document_id: OneId, caller: Writer, changes: DocumentChanges) -> Response:
    """Change the title, address, speaker, language or date of a document, and read it again.

    The document gets a new id, because its passages are others. A file that the operator added
    from the disk is changed only from this machine. Metadata are changed without reading again.
    """
    found = await find_document(document_id, caller)
    given = changes.model_dump(exclude_none=True, exclude={"metadata"})
    custom = None if changes.metadata is None else check_metadata(changes.metadata)
    corrected = found
    if given:
        path, metadata = await asyncio.to_thread(_correction, found, given, caller)
        steps = caller.engine.add([path], given=metadata, collection=found.collection)
        async for step in steps:
            if isinstance(step, Document):
                corrected = step
    if custom is not None and corrected.status != "failed":
        corrected = await caller.engine.set_metadata(
            corrected.document_id, custom, collection=found.collection
        )
    return ApiResponse(corrected)


@router.post(
    "/v1/collections/{name}/reindex",
    summary="Rebuild an index",
    response_class=EventStream,
    responses={200: {"description": "Events `status`, then `done`."}},
)
async def reindex(name: OneCollection, caller: Writer) -> EventStream:
    """Rebuild the index of a collection beside the one in use, then switch to it.

    A client that disconnects ends the work; the index in use stays as it is.
    """
    await find_summary(name, caller)
    return EventStream(_rebuild(name, caller))


@router.post(
    "/v1/sample",
    status_code=202,
    summary="Add the sample collection",
    responses={202: {"model": SampleAdded}},
)
async def add_sample(caller: Writer) -> Response:
    """Queue the talks and books of the sample collection as uploads."""
    files = await asyncio.to_thread(sample_files)
    if not files:
        raise NotFound(NO_SAMPLE)
    for path in files:
        about = await asyncio.to_thread(_about, path)
        await receive_whole(
            caller.engine.parts, file_bytes(path), about=about.copy, key_id=caller.key_id
        )
    return ApiResponse(SampleAdded(len(files)), 202)


def _correction(
    document: Document, changes: dict[str, str], caller: Principal
) -> tuple[Path, DocumentMetadata | None]:
    """Return the file of a document and what is given with it."""
    uploaded = tenant_blobs(caller.engine.parts).original(document.source)
    if uploaded is None:
        if caller.key_id != LOCAL:
            raise Denied(ON_DISK)
        return describe(document, changes), None
    known = {key: getattr(document, key) for key in KEYS}
    fields = {key: text for key, text in (known | changes).items() if text}
    return uploaded, metadata_of(fields, name=source_name(document.source))


async def _rebuild(name: str, caller: Principal) -> AsyncGenerator[RebuildStep, None]:
    total = 0
    async for step in caller.engine.reindex(collection=name):
        total = step.of_files
        yield RebuildStep(step.files, total, "status")
    yield RebuildStep(total, total, "done")


def _about(path: Path) -> dict[str, str | None]:
    known, _warnings = read_beside(path)
    fields = {key: getattr(known, key) for key in KEYS}
    return {**fields, "name": path.name, "collection": None}

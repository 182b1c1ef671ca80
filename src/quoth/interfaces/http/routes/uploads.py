"""Routes for uploads, in one request or resumable, and their progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from quoth.core.errors import Denied, InputError
from quoth.core.translations import restate
from quoth.core.types import Problem
from quoth.interfaces.http.dependencies import Writer
from quoth.interfaces.http.openapi import without_null
from quoth.interfaces.http.problem_details import as_response, problem_of, public_message
from quoth.interfaces.http.request_state import Principal, request_state
from quoth.interfaces.http.schemas import (
    BYTES,
    Limit,
    OneId,
    Skip,
    read_json,
)
from quoth.interfaces.http.sse import EventStream
from quoth.interfaces.http.uploads.multipart import FORM, file_of
from quoth.interfaces.http.uploads.receive import (
    UploadMetadata,
    WrongOffset,
    check_size,
    metadata_fields,
    receive_more,
    receive_page,
    receive_whole,
    received,
)
from quoth.pipeline.uploads import delete_stale_parts, tenant_blobs, upload_store
from quoth.store.blobs import clean_name
from quoth.store.upload_tasks import State, Task

router = APIRouter(tags=["library"])

POLL_S = 0.3
"""Seconds between two reads of an upload whose events are streamed."""
NO_URL = (
    "Name the page as url. A file is sent itself, as application/octet-stream or as a form, "
    "whatever it holds."
)
CLIENT_CLOSED_REQUEST = 499
"""The status in the log of a request whose client disconnected."""

Number = Annotated[int | None, Header(ge=1, le=2**53)]

JSON = "application/json"
NO_PAGES = (
    "Addresses are not fetched here. The operator may set QUOTH_ALLOW_URLS=true; else download the "
    "file, send that, and give its address as its url."
)
_SAID = UploadMetadata.model_json_schema()["properties"]
BODY = {
    "requestBody": {
        "description": "The file itself, or a form with one file and the fields named above; or "
        "those fields as JSON, with the url of a page that is fetched where that is allowed.",
        "content": {
            "application/octet-stream": {"schema": {**BYTES["schema"], "minLength": 1}},
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "minLength": 1},
                        **{name: without_null(field) for name, field in _SAID.items()},
                    },
                    "additionalProperties": False,
                }
            },
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["url"],
                    "properties": {**_SAID, "url": {**without_null(_SAID["url"]), "minLength": 1}},
                    "additionalProperties": False,
                },
                "example": {"url": "https://example.org/bees.html", "title": "Bees"},
            },
        },
    }
}
PIECE = {
    "requestBody": {
        "description": "The bytes from Upload-Offset on.",
        "content": {"application/octet-stream": BYTES},
    }
}


@dataclass(frozen=True, slots=True)
class UploadProgress:
    """The progress of ingest in chunks; 0 of 0 before the total is known."""

    chunks: int
    of_chunks: int


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload; sizes are in bytes. ``document_id`` is set once it is ready."""

    id: str
    state: State
    name: str
    collection: str
    size: int
    received: int
    progress: UploadProgress
    document_id: str | None
    error: Problem | None
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Uploads:
    """A page of uploads, the newest first."""

    uploads: list[Upload]
    total: int
    skip: int
    limit: int


@dataclass(frozen=True, slots=True)
class Step:
    """An event of an upload: ``status`` while it is processed, ``done`` when it has ended."""

    upload: Upload
    event: Literal["status", "done"]


@router.post(
    "/v1/uploads",
    status_code=202,
    response_model=Upload,
    openapi_extra=BODY,
    summary="Send a file",
    responses={
        200: {"description": "The same file is there already: its upload.", "model": Upload},
        201: {"description": "A resumable upload was created.", "model": Upload},
    },
)
async def begin_upload(
    request: Request,
    response: Response,
    caller: Writer,
    about: Annotated[UploadMetadata, Query()],
    upload_length: Number = None,
) -> Upload | Response:
    """Upload a whole file as the body or as a form; with Upload-Length, begin a resumable upload.

    JSON names a web page instead, which is fetched. The same bytes sent again give the same upload
    and the same document.
    """
    parts = caller.engine.parts
    if upload_length is not None and _media_type(request) != JSON:
        check_size(parts, upload_length)
        said = about.model_dump()
        task = await asyncio.to_thread(
            upload_store(parts).begin,
            name=clean_name(about.name or ""),
            collection=about.collection or parts.settings.collection,
            given=metadata_fields(said),
            size=upload_length,
            key_id=caller.key_id,
        )
        response.status_code = 201
    else:
        bring = _fetch_page if _media_type(request) == JSON else _receive_file
        try:
            task, new = await bring(request, about, caller)
        except ClientDisconnect:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        response.status_code = 202 if new else 200
    request_state(request.scope).object_id = task.id
    response.headers["Location"] = f"/v1/uploads/{task.id}"
    return _shown(task, caller, response)


@router.patch(
    "/v1/uploads/{upload_id}",
    response_model=Upload,
    openapi_extra=PIECE,
    summary="Send the next bytes",
)
async def send_bytes(
    request: Request,
    response: Response,
    caller: Writer,
    upload_id: OneId,
    upload_offset: Annotated[int, Header(ge=0, le=2**53)],
) -> Upload | Response:
    """Continue an upload at Upload-Offset, which must be its current length; else 409.

    With its last byte the file is queued.
    """
    parts = caller.engine.parts
    try:
        await receive_more(parts, upload_id, request.stream(), offset=upload_offset)
    except WrongOffset as error:
        told = problem_of(request, error)
        told.headers["Upload-Offset"] = str(error.offset)
        return as_response(told)
    except ClientDisconnect:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return await _found(caller, upload_id, response)


@router.head("/v1/uploads/{upload_id}", include_in_schema=False)
@router.get("/v1/uploads/{upload_id}", summary="Show the state of an upload")
async def read_upload(response: Response, caller: Writer, upload_id: OneId) -> Upload:
    """Show an upload: the bytes received, the progress of ingest, and its result."""
    return await _found(caller, upload_id, response)


@router.get("/v1/uploads", summary="List uploads")
async def list_uploads(
    caller: Writer,
    skip: Skip = 0,
    limit: Limit = 20,
    state: Annotated[State | None, Query(description="Only those in this state.")] = None,
) -> Uploads:
    """List uploads, the newest first."""
    parts = caller.engine.parts

    def read() -> Uploads:
        arrivals = upload_store(parts)
        found = arrivals.tasks(skip=skip, limit=limit, state=state)
        shown = [_upload(task, caller) for task in found]
        return Uploads(shown, arrivals.count(state=state), skip, limit)

    return await asyncio.to_thread(read)


@router.delete("/v1/uploads/{upload_id}", status_code=204, summary="Stop an upload")
async def stop_upload(caller: Writer, upload_id: OneId) -> None:
    """Stop an upload and delete it; a document made from it already stays."""
    parts = caller.engine.parts

    def stop() -> None:
        task = upload_store(parts).drop(upload_id)
        tenant_blobs(parts).part(task.id).unlink(missing_ok=True)
        delete_stale_parts(parts.catalogue.database, tenant_blobs(parts))

    await asyncio.to_thread(stop)


@router.get(
    "/v1/uploads/{upload_id}/events",
    response_class=EventStream,
    summary="Follow an upload",
    responses={200: {"description": "Events `status`, then `done`; each holds the upload."}},
)
async def follow_upload(caller: Writer, upload_id: OneId) -> Any:
    """Stream the events of an upload until it has ended."""
    steps = _steps(caller, upload_id)
    return EventStream(steps, first=[await anext(steps)])


async def _steps(caller: Principal, key: str) -> AsyncGenerator[Step, None]:
    last: Upload | None = None
    while True:
        task = await asyncio.to_thread(upload_store(caller.engine.parts).find, key)
        upload = _upload(task, caller)
        if task.ended:
            yield Step(upload, "done")
            return
        if last is None or replace(upload, updated_at=last.updated_at) != last:
            yield Step(upload, "status")
        last = upload
        await asyncio.sleep(POLL_S)


async def _found(caller: Principal, key: str, response: Response) -> Upload:
    task = await asyncio.to_thread(upload_store(caller.engine.parts).find, key)
    return _shown(task, caller, response)


def _shown(task: Task, caller: Principal, response: Response) -> Upload:
    upload = _upload(task, caller)
    response.headers["Upload-Offset"] = str(upload.received)
    response.headers["Upload-Length"] = str(upload.size)
    return upload


def _upload(task: Task, caller: Principal) -> Upload:
    there = task.received
    if task.state == "receiving":
        there = received(tenant_blobs(caller.engine.parts).part(task.id))
    message = restate(public_message(task.code or "", task.message or ""), caller.language)
    return Upload(
        id=task.id,
        state=task.state,
        name=task.name,
        collection=task.collection,
        size=task.size,
        received=there,
        progress=UploadProgress(task.chunks, task.of_chunks),
        document_id=task.document_id,
        error=None if task.code is None else Problem(task.code, message),
        created_at=task.created_at,
        updated_at=task.updated_at,
    )


async def _receive_file(
    request: Request, about: UploadMetadata, caller: Principal
) -> tuple[Task, bool]:
    """Store the file in a request; return True for a new one."""
    fields: dict[str, str] = {}
    return await receive_whole(
        caller.engine.parts,
        _file(request, fields),
        about=lambda: _about(about, fields).model_dump(),
        key_id=caller.key_id,
    )


async def _fetch_page(
    request: Request, about: UploadMetadata, caller: Principal
) -> tuple[Task, bool]:
    """Fetch the web page that a request names; return True for a new one."""
    named = read_json(await request.body(), UploadMetadata)
    said = about.model_copy(update=named.model_dump(exclude_none=True))
    if named.url is None:
        raise InputError(NO_URL)
    if not caller.engine.parts.settings.allow_urls:
        raise Denied(NO_PAGES)
    return await receive_page(
        caller.engine.parts,
        named.url,
        said=said.model_dump(),
        key_id=caller.key_id,
        internet=getattr(request.app.state, "internet", None),
    )


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _file(request: Request, fields: dict[str, str]) -> AsyncIterator[bytes]:
    """Return the bytes of the file in a request; the fields of a form go into ``fields``."""
    if _media_type(request).startswith("multipart/"):
        return file_of(request.stream(), request.headers["content-type"], fields=fields)
    return request.stream()


def _about(said: UploadMetadata, fields: dict[str, str]) -> UploadMetadata:
    """Return the metadata of the query string and the form, which takes precedence; raises 422."""
    if not fields:
        return said
    try:
        return UploadMetadata.model_validate({**said.model_dump(exclude_none=True), **fields})
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from error

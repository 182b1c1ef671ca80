"""Problem responses (RFC 9457): the only conversion of errors to responses.

A response repeats nothing of the request but names of fields. Missing objects and those of another
tenant give the same response, and an internal error shows only the request id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from quoth.core.errors import (
    BackendError,
    Busy,
    Conflict,
    Denied,
    DocumentError,
    Gone,
    IndexCorrupt,
    IndexMismatch,
    InputError,
    NotFound,
    NoTranscriber,
    OutOfTime,
    QuothError,
    StorageFull,
    StoreDown,
)
from quoth.core.translations import restate
from quoth.interfaces.http.request_state import request_state, routes_at
from quoth.pipeline.uploads import QuotaExceeded

MEDIA_TYPE = "application/problem+json"
MAX_DETAIL_LENGTH = 600
"""Characters of a detail."""
MAX_FIELDS = 5
"""Invalid fields that are named."""
DEFAULT_RETRY_S = 5
"""Seconds to wait before another try, where the error has no time of its own."""

SPACES = "\u00a0\u202f"
"""Spaces that do not break, as French puts before some signs."""

NOTHING_HERE = "There is nothing here by this name or id."
NO_MODEL = "There is no such model here. /v1/models lists those there are."
INTERNAL = "An internal error occurred. The operator of this service finds it by the request's id."
NO_ROOM = "No disk space is left. Nothing was written in part; try again later."
NOT_NOW = "A component that this needs does not respond at the moment. Try again later."
REINDEX = (
    "The index of this collection is incomplete. The operator of this service rebuilds it with: "
    "quoth --collection NAME reindex"
)
MISMATCH = (
    "The index of this collection was built by another model. The operator of this service "
    "rebuilds it with: quoth --collection NAME reindex"
)
NO_SPEECH = (
    "This service has no speech to text. Its operator installs it with: pip install "
    "'quoth[speech]'; quoth models says where the weights go."
)
UNREADABLE = "This document cannot be read."

TITLES: Mapping[str, str] = {
    "invalid_input": "The request cannot be served as it stands",
    "too_large": "The request is over a limit",
    "not_found": "Not found",
    "gone": "Not there any more",
    "out_of_time": "Too little time",
    "index_corrupt": "The index is incomplete",
    "denied": "Not allowed",
    "busy": "Too busy",
    "conflict": "Not in this state",
    "index_mismatch": "The index was built another way",
    "storage_full": "No disk space left",
    "no_speech_to_text": "No speech to text",
    "internal": "Internal error",
}
"""Titles by code; other codes have that of their status."""

NOT_AN_OBJECT = frozenset({"dict_type", "model_attributes_type", "model_type"})
"""Pydantic's error types where an object was expected."""


class UnknownModel(NotFound):
    """No collection of the caller has this model's name."""

    code = "model_not_found"


class ByteRangeNotSatisfiable(InputError):
    """The requested range is not in the file; ``size`` is in bytes."""

    code = "no_such_part"
    status = 416

    def __init__(self, size: int) -> None:
        super().__init__(f"This file has no such part: it ends after {size:,} bytes.")
        self.size = size


@dataclass(frozen=True, slots=True)
class ProblemResponse:
    """An error as it is sent, without the headers of every response."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


async def send_problem(websocket: WebSocket, error: QuothError) -> None:
    """Send an error as an event on a WebSocket."""
    state = request_state(websocket.scope)
    found = problem(error, request_id=state.request_id, language=state.language)
    await websocket.send_text('{"event":"error","problem":' + bytes(found.body).decode() + "}")


def problem(
    error: BaseException, *, request_id: str, language: str | None = None
) -> ProblemResponse:
    """Return the response of any error, as JSON in UTF-8, its detail in the reader's language."""
    headers: Mapping[str, str] = {}
    match error:
        case ByteRangeNotSatisfiable():
            headers = {"content-range": f"bytes */{error.size}"}
            status, code, detail = error.status, error.code, str(error)
        case RequestValidationError():
            status, code, detail = 422, "invalid_input", _invalid_fields(error.errors())
        case HTTPException():
            status, code, detail = _http(error)
        case QuothError():
            status, detail = error.status, _detail(error)
            code = "internal" if status == 500 else error.code
            headers = _headers(error)
        case _:
            status, code, detail = 500, "internal", INTERNAL
    fields = {
        "type": f"urn:quoth:problem:{code}",
        "code": code,
        "title": TITLES.get(code) or HTTPStatus(status).phrase,
        "status": status,
        "detail": redact(restate(detail, language)),
        "request_id": request_id,
    }
    body = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
    return ProblemResponse(status, body, {"content-type": MEDIA_TYPE, **headers})


def problem_of(request: Request, error: Exception) -> ProblemResponse:
    """Return the response of a request's error."""
    state = request_state(request.scope)
    found = problem(error, request_id=state.request_id, language=state.language)
    if found.status == 405:
        methods = {
            method for route, _ in routes_at(request.scope) for method in route.methods or ()
        }
        found.headers["allow"] = ", ".join(sorted(methods))
    return found


def as_response(found: ProblemResponse) -> Response:
    """Return the HTTP response of a problem."""
    return Response(found.body, found.status, headers=found.headers)


def redact(text: str) -> str:
    """Return a text without surrogates and control characters, and not too long."""
    valid = text[:MAX_DETAIL_LENGTH].encode("utf-8", "replace").decode()
    return "".join(char if char.isprintable() or char in SPACES else " " for char in valid)


def _http(error: HTTPException) -> tuple[int, str, str]:
    """Return status, code and detail of an error of the framework, such as an unknown route."""
    status = error.status_code
    code = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 400: "invalid_input"}
    detail = {
        404: NOTHING_HERE,
        400: "The body cannot be read. Send JSON in UTF-8, not nested too deep.",
        405: "This address has no such method. The header Allow names those it has.",
    }
    title = HTTPStatus(status).phrase.lower().replace(" ", "_")
    text = detail.get(status, HTTPStatus(status).description or HTTPStatus(status).phrase)
    return status, code.get(status, title), text


def _detail(error: QuothError) -> str:
    """Return the public message: messages for operators may contain paths."""
    match error:
        case UnknownModel():
            return NO_MODEL
        case NotFound():
            return NOTHING_HERE
        case IndexCorrupt():
            return REINDEX
        case InputError() | Gone() | OutOfTime() | Denied() | Busy():
            return str(error)
        case IndexMismatch():
            return MISMATCH
        case Conflict() | QuotaExceeded():
            return str(error)
        case StorageFull():
            return NO_ROOM
        case NoTranscriber():
            return NO_SPEECH
        case DocumentError():
            return UNREADABLE
        case BackendError() | StoreDown():
            return NOT_NOW
        case _:
            return INTERNAL


def public_message(code: str, message: str) -> str:
    """Return a stored message as responses show it: that of an index may name its store."""
    operators = {IndexMismatch.code: MISMATCH, IndexCorrupt.code: REINDEX}
    return operators.get(code, message)


def _headers(error: QuothError) -> dict[str, str]:
    if isinstance(error, Busy):
        wait = DEFAULT_RETRY_S if error.retry_after_s is None else error.retry_after_s
        return {"retry-after": str(max(1, ceil(wait)))}
    if error.status == 503 and not isinstance(error, IndexCorrupt):
        return {"retry-after": str(DEFAULT_RETRY_S)}
    return {"www-authenticate": "Bearer"} if error.status == 401 else {}


def _invalid_fields(errors: Sequence[Any]) -> str:
    """Name the invalid fields and why, without their values."""
    named = [f"{_place(error['loc'])}: {_reason(error)}" for error in errors[:MAX_FIELDS]]
    more = f"; and {len(errors) - MAX_FIELDS} more" if len(errors) > MAX_FIELDS else ""
    return "; ".join(named) + more


def _place(loc: Sequence[int | str]) -> str:
    """Return a field as people name it: without "body", where it is one of an object."""
    if loc[:1] == ("body",) and any(isinstance(part, str) for part in loc[1:2]):
        loc = loc[1:]
    return ".".join(str(part)[:60] for part in loc)


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return "this is not JSON"
    if error["type"] == "extra_forbidden":
        return "There is no such field."
    if error["type"] in NOT_AN_OBJECT or (error["type"] == "missing" and error["loc"] == ("body",)):
        return "Send a JSON object, with Content-Type: application/json."
    if error["type"] in ("too_long", "string_too_long"):
        unit = "characters" if isinstance(error["input"], str) else "items"
        return f"it may have up to {error['ctx']['max_length']} {unit}"
    return str(error["msg"]).removeprefix("Value error, ")[:200]

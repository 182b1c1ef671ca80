"""The one place where a failure becomes a response: RFC 9457, and nothing that gives away more.

What was sent is never said again but for names of fields, what is not there is not told from what
is another tenant's, and of a failure inside nothing is told but the request's id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import (
    BackendError,
    Busy,
    Denied,
    DocumentError,
    Gone,
    IndexCorrupt,
    IndexMismatch,
    InputError,
    NotFound,
    OutOfTime,
    QuothError,
    StorageFull,
    StoreDown,
)
from quoth.interfaces.http.request_state import request_state

MEDIA_TYPE = "application/problem+json"
LONGEST = 600
"""Characters of a detail."""
NAMED = 5
"""Wrong fields that are named."""
WAIT_S = 5
"""Seconds to wait before another try, where nobody said how long."""

NOTHING_HERE = "There is nothing here by this name or id."
INSIDE = "Something went wrong inside. Whoever runs this service finds it by the request's id."
NO_ROOM = "There is no room left to write. Nothing half-written was kept; try again later."
NOT_NOW = "A part that this needs does not answer at the moment. Try again later."
REINDEX = (
    "The index of this collection is not whole. Whoever runs this service builds it anew with: "
    "quoth --collection NAME reindex"
)
UNREADABLE = "This document cannot be read."

TITLES: Mapping[str, str] = {
    "invalid_input": "The request cannot be served as it stands",
    "too_large": "The request is over a limit",
    "not_found": "Not found",
    "gone": "Not there any more",
    "out_of_time": "Too little time",
    "index_corrupt": "The index is not whole",
    "denied": "Not allowed",
    "busy": "Too busy",
    "index_mismatch": "The index was built another way",
    "storage_full": "No room left",
    "internal": "Something went wrong inside",
}
"""Titles by code; other codes have that of their status."""

NO_OBJECT = frozenset({"dict_type", "model_attributes_type", "model_type"})
"""How errors of types are called where an object was wanted."""


class ByteRangeNotSatisfiable(InputError):
    """A part of a file was asked for that it does not have; ``size`` is in bytes."""

    code = "no_such_part"
    status = 416

    def __init__(self, size: int) -> None:
        super().__init__(f"This file has no such part: it ends after {size:,} bytes.")
        self.size = size


@dataclass(frozen=True, slots=True)
class ProblemResponse:
    """A failure as it is sent: a response without what the server adds to every response."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def problem(error: BaseException, *, request_id: str) -> ProblemResponse:
    """Turn any error into what is sent of it; bytes are UTF-8 JSON, whatever was sent to us."""
    match error:
        case ByteRangeNotSatisfiable():
            length = {"content-range": f"bytes */{error.size}"}
            return _made(error.status, error.code, str(error), request_id, headers=length)
        case RequestValidationError():
            return _made(422, "invalid_input", _wrong(error.errors()), request_id)
        case HTTPException():
            return _http(error, request_id)
        case QuothError():
            return _made(
                error.status, _code(error), _detail(error), request_id, headers=_headers(error)
            )
        case _:
            return _made(500, "internal", INSIDE, request_id)


def problem_of(request: Request, error: Exception) -> ProblemResponse:
    """Turn the error of a request into what is sent of it."""
    found = problem(error, request_id=request_state(request.scope).request_id)
    if found.status == 405:
        found.headers["allow"] = ", ".join(methods_of(request))
    return found


def as_response(found: ProblemResponse) -> Response:
    """Give the response that a problem is sent as."""
    return Response(found.body, found.status, headers=found.headers)


def methods_of(request: Request) -> list[str]:
    """List the methods that the address of a request has, over all the routes that share it."""
    found: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        pattern = getattr(route.original_route, "path_regex", None)
        if pattern is not None and pattern.match(request.scope["path"]):
            found |= set(route.methods or ())
    return sorted(found)


def redact(text: str) -> str:
    """Cut a text to what can be sent: no half characters, no control characters, not too long."""
    whole = text[:LONGEST].encode("utf-8", "replace").decode()
    return "".join(each if each.isprintable() else " " for each in whole)


def _made(
    status: int,
    code: str,
    detail: str,
    request_id: str,
    *,
    headers: Mapping[str, str] | None = None,
) -> ProblemResponse:
    said = {
        "type": f"urn:quoth:problem:{code}",
        "code": code,
        "title": TITLES.get(code) or HTTPStatus(status).phrase,
        "status": status,
        "detail": redact(detail),
        "request_id": request_id,
    }
    body = json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
    return ProblemResponse(status, body, {"content-type": MEDIA_TYPE, **(headers or {})})


def _http(error: HTTPException, request_id: str) -> ProblemResponse:
    """Errors of the framework: no such route, a method that it has not, a body beyond reading."""
    status = error.status_code
    code = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 400: "invalid_input"}
    detail = {
        404: NOTHING_HERE,
        400: "The body cannot be read. Send JSON in UTF-8, not nested too deep.",
        405: "This address has no such method. The header Allow names those it has.",
    }
    title = HTTPStatus(status).phrase.lower().replace(" ", "_")
    said = detail.get(status, HTTPStatus(status).description or HTTPStatus(status).phrase)
    return _made(status, code.get(status, title), said, request_id)


def _code(error: QuothError) -> str:
    return "internal" if error.status == 500 else error.code


def _detail(error: QuothError) -> str:
    """Give the sentence that may be told: messages for operators hold paths and more."""
    match error:
        case NotFound():
            return NOTHING_HERE
        case IndexCorrupt():
            return REINDEX
        case InputError() | Gone() | OutOfTime() | Denied() | Busy() | IndexMismatch():
            return str(error)
        case StorageFull():
            return NO_ROOM
        case DocumentError():
            return UNREADABLE
        case BackendError() | StoreDown():
            return NOT_NOW
        case _:
            return INSIDE


def _headers(error: QuothError) -> dict[str, str]:
    if isinstance(error, Busy):
        wait = WAIT_S if error.retry_after_s is None else error.retry_after_s
        return {"retry-after": str(max(1, ceil(wait)))}
    if error.status == 503 and not isinstance(error, IndexCorrupt):
        return {"retry-after": str(WAIT_S)}
    return {"www-authenticate": "Bearer"} if error.status == 401 else {}


def _wrong(errors: Sequence[Any]) -> str:
    """Name the fields that are wrong and why, and nothing of their values."""
    told = [f"{_place(each['loc'])}: {_why(each)}" for each in errors[:NAMED]]
    more = f"; and {len(errors) - NAMED} more" if len(errors) > NAMED else ""
    return "; ".join(told) + more


def _place(loc: Sequence[int | str]) -> str:
    return ".".join(str(part)[:60] for part in loc)


def _why(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return "this is no JSON"
    if error["type"] == "extra_forbidden":
        return "There is no such field."
    if error["type"] in NO_OBJECT or (error["type"] == "missing" and error["loc"] == ("body",)):
        return "Send a JSON object, with Content-Type: application/json."
    if error["type"] == "too_long" and isinstance(error["input"], str):
        return f"it may have up to {error['ctx']['max_length']} characters"
    return str(error["msg"]).removeprefix("Value error, ")[:200]

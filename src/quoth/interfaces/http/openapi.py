"""Parts of the OpenAPI description other than routes: errors, tags and introduction."""

from __future__ import annotations

import re
from typing import Any

from fastapi.routing import APIRoute

from quoth.interfaces.http.middleware.auth import PUBLIC_PATHS, READY_PATH
from quoth.interfaces.http.openai_schemas import OPENAI_PATHS
from quoth.interfaces.http.problem_details import MEDIA_TYPE
from quoth.interfaces.http.request_state import LINKS_PATH, SESSION_COOKIE, SESSION_PATH

ABOUT = """Answers questions from documents, and proves every sentence with a citation that opens
the exact second, page or words. Every request carries a key (`Authorization: Bearer KEY`); a key
belongs to one tenant and reaches nothing of any other. What is another tenant's looks in every
answer like what is not there."""

TAGS = [
    {"name": "questions", "description": "Questions, search and query history."},
    {"name": "library", "description": "Collections and their documents."},
    {"name": "live", "description": "Live lectures: segments in, citations out."},
    {"name": "use", "description": "Feedback, suggestions and figures."},
    {"name": "privacy", "description": "Privacy settings, export and deletion."},
    {"name": "keys", "description": "Keys and shares of the caller's tenant."},
    {"name": "others", "description": "Clients of OpenAI, and agents."},
    {"name": "operation", "description": "Whether it runs, and its counters."},
]

PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "ProblemDetails",
    "description": "An error as in RFC 9457.",
    "required": ["type", "code", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:quoth:problem:not_found"]},
        "code": {"type": "string", "examples": ["not_found"]},
        "title": {"type": "string", "examples": ["Not found"]},
        "status": {"type": "integer", "examples": [404]},
        "detail": {"type": "string", "examples": ["There is nothing here by this name or id."]},
        "request_id": {"type": "string", "examples": ["0d4c2f6b9f7d4a3c"]},
    },
}
COMMON_PROBLEMS = {
    "400": "The body or the request cannot be parsed.",
    "401": "A key is needed, or this one is not valid.",
    "403": "This key may not do that.",
    "413": "The request is over a limit, which the detail names.",
    "421": "The service does not answer under this host name.",
    "422": "The request cannot be served as it stands; the detail names the fields.",
    "429": "Too many requests with this key; Retry-After says when to try again.",
    "431": "The head of the request is over the limit, which the detail names.",
    "500": "An internal error.",
    "503": "A component is down, or too many queries; Retry-After says when to retry.",
}
"""The problems of any operation, by status."""
NOT_FOUND = "This name or id does not exist, or it is another tenant's."
TOO_SLOW = "The body did not arrive in time."
CONFLICT = "It contradicts the present state: the detail says what is not ready or not stored."
NO_SPACE = "No disk space is left."

OPENAI_ERROR: dict[str, Any] = {
    "type": "object",
    "title": "OpenAIError",
    "description": "An error as OpenAI's clients read it.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "title": "OpenAIErrorFields",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string", "examples": ["invalid_request_error"]},
                "param": {"type": ["string", "null"]},
                "code": {"type": "string", "examples": ["model_not_found"]},
            },
        }
    },
}
EVENT: dict[str, Any] = {
    "type": "object",
    "title": "ServerSentEvent",
    "description": "One event of a stream; its data is JSON on one line.",
    "required": ["data"],
    "properties": {
        "event": {"type": "string", "examples": ["token"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
        "id": {"type": "string"},
    },
}
STREAM: dict[str, Any] = {
    "title": "Server-sent events",
    "description": "A text of events; each event has these fields.",
    "anyOf": [{"type": "string"}, {"$ref": f"#/components/schemas/{EVENT['title']}"}],
}
SECURITY = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key of one tenant."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": SESSION_COOKIE,
        "description": "The cookie of a browser that signed in with a key.",
    },
}


def operation_id(route: APIRoute) -> str:
    """Return the id of an operation, by which generated clients name it: its summary's words."""
    words = re.findall(r"[a-z]+", (route.summary or route.name).lower())
    return "_".join(word for word in words if word not in ("a", "an", "the", "s"))


def add_problems(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the description with every problem in the form in which it is sent."""
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas |= {about["title"]: about for about in (PROBLEM, OPENAI_ERROR, EVENT)}
    components["securitySchemes"] = SECURITY
    schema["security"] = [{"key": []}, {"session": []}]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            _describe(operation, path=path, method=method)
    return schema


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter, which is left out and never null."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return {**kinds[0], **{name: value for name, value in schema.items() if name != "anyOf"}}


def _describe(operation: dict[str, Any], *, path: str, method: str) -> None:
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = without_null(parameter["schema"])
    problems = dict(COMMON_PROBLEMS)
    if "{" in path or operation.get("requestBody") or operation.get("parameters"):
        problems |= {"404": NOT_FOUND, "409": CONFLICT}
    if operation.get("requestBody"):
        problems |= {"408": TOO_SLOW, "409": CONFLICT}
    if method != "get":
        problems["507"] = NO_SPACE
    responses = operation["responses"]
    for response in responses.values():
        if "text/event-stream" in response.get("content", {}):
            response["content"]["text/event-stream"]["schema"] = STREAM
    responses.pop("422", None)
    as_openai = OPENAI_PATHS.fullmatch(path.replace("{model}", "NAME"))
    kind, name = (
        ("application/json", "OpenAIError") if as_openai else (MEDIA_TYPE, PROBLEM["title"])
    )
    content = {kind: {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    for status in sorted({*problems, *(status for status in responses if status >= "400")}):
        own = responses.get(status, {})
        about = own.get("description") or problems[status]
        responses[status] = {"description": about, "content": own.get("content", {}) | content}
    operation["responses"] = dict(sorted(responses.items()))
    # A link carries its right in its address.
    if path in PUBLIC_PATHS or path == SESSION_PATH or path.startswith(LINKS_PATH):
        operation["security"] = []
    elif path == READY_PATH:
        operation["security"] = [{}, {"key": []}, {"session": []}]

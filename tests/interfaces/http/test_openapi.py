"""The OpenAPI document: valid, and complete enough for generators of clients."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from jsonschema import Draft202012Validator
from pydantic import ValidationError

from quoth.interfaces.http.schemas import Body
from quoth.interfaces.http.uploads.receive import UploadMetadata
from tests.conftest import ROOT

DOCUMENT: dict[str, Any] = json.loads(
    (ROOT / "docs" / "service" / "openapi.json").read_text(encoding="utf-8")
)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
ERRORS = {"ProblemDetails", "OpenAIError"}
READABLE = re.compile(
    r"application/(?:json|octet-stream|problem\+json)|text/.*|multipart/form-data"
)
"""Media types that generators of clients know."""


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_the_document_is_openapi_3_1_whose_schemas_are_valid() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert {name.removeprefix("#/components/schemas/") for name in references(DOCUMENT)} <= {
        *SCHEMAS
    }
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)
    for name, operation in operations():
        declared = {
            each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"
        }
        assert declared == set(re.findall(r"{(\w+)}", name)), name


def test_a_file_of_json_is_no_text() -> None:
    answer = DOCUMENT["paths"]["/v1/queries/{query_id}/export"]["get"]["responses"]["200"]
    kinds = {kind: about["schema"]["type"] for kind, about in answer["content"].items()}
    assert kinds.pop("application/json") == "object"
    assert set(kinds.values()) == {"string"}


def test_no_two_operations_or_schemas_share_a_name() -> None:
    ids = Counter(operation["operationId"] for _name, operation in operations())
    assert max(ids.values()) == 1
    assert all(re.fullmatch(r"[a-z]+(?:_[a-z]+)+", name) for name in ids)
    assert not [name for name in SCHEMAS if not re.fullmatch(r"[A-Za-z]+", name)]
    titles = Counter(schema.get("title") for schema in SCHEMAS.values())
    assert max(titles.values()) == 1


def test_every_operation_says_what_it_returns_and_how_it_fails() -> None:
    for name, operation in operations():
        assert operation["summary"], name
        assert len(operation["tags"]) == 1, name
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            if status >= "400":
                named = {reference.rpartition("/")[2] for reference in references(content)}
                assert named & ERRORS, (name, status)
            elif status == "200":
                assert content, (name, status)
                assert READABLE.fullmatch(next(iter(content))), (name, content)
            assert all(about.get("schema") for about in content.values()), (name, status)
        for kind in operation.get("requestBody", {}).get("content", {}):
            assert READABLE.fullmatch(kind), (name, kind)


def test_a_field_that_may_be_null_takes_null() -> None:
    requests = [UploadMetadata, *Body.__subclasses__()]
    assert len(requests) > 10
    for request in requests:
        for name in request.model_fields:
            with suppress(ValidationError):  # Others are missing, or null is refused.
                request.model_validate({name: None})
    assert UploadMetadata(metadata=None).metadata is None

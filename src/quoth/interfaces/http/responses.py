"""Values as they leave the service: as JSON, without a path of the server's disk.

Web addresses stay as they are; a file on the disk is reached by the id of its document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urldefrag

from starlette.requests import Request
from starlette.responses import Response

from quoth.interfaces.links import is_web, public_link
from quoth.store.blobs import source_name
from quoth.text.json_codec import dump

SCALARS = frozenset((str, int, float, bool, type(None)))


class ApiResponse(Response):
    """A JSON response whose content is a value of the core, or plain data with such values.

    It is sent unchanged: FastAPI does not validate it again.
    """

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write the content as JSON."""
        return to_json(to_public(content))


def to_json(value: Any) -> bytes:
    """Write plain data as JSON; lone surrogates, which JSON parsers refuse, become "?"."""
    return dump(value).encode("utf-8", "replace")


def to_public(value: Any) -> Any:
    """Return a value as plain data, with public links and without paths of the disk."""
    kind: Any = type(value)
    if kind in SCALARS:
        return value
    if kind is tuple or kind is list:
        return [to_public(item) for item in value]
    if names := _field_names(kind):
        plain = {name: to_public(getattr(value, name)) for name in names}
    elif isinstance(value, Mapping):
        plain = {name: to_public(item) for name, item in value.items()}
    else:
        return value
    if isinstance(plain.get("link"), str):
        plain["link"] = public_link("", plain["link"], plain.get("document_id"))
    if "document_id" in plain and "source" in plain:
        _hide_source(plain)
    return plain


def service_address(request: Request) -> str:
    """Return the address of the service for its users: the ``public_url``, else as requested."""
    configured: str | None = request.app.state.tenants.settings.public_url
    return configured or str(request.base_url).rstrip("/")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass, none for any other class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _hide_source(document: dict[str, Any]) -> None:
    """Replace the path of a document's file by its name, also in messages."""
    source = str(document["source"])
    name = source if is_web(source) else source_name(source)
    document["source"] = name
    path = unquote(urldefrag(source).url.removeprefix("file://"))
    hidden = sorted({source, path} - {name, ""}, key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, name)
        return text

    if isinstance(document.get("error"), dict):
        document["error"]["message"] = hide(str(document["error"]["message"]))
    if document.get("warnings"):
        document["warnings"] = [hide(str(warning)) for warning in document["warnings"]]

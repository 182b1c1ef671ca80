"""Values as they leave the service: without a path of the server's disk.

Addresses of the web stay; what lies on the disk is reached by the id of its document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

from starlette.responses import Response

from quoth.core.types import Answer
from quoth.store.blobs import shown_source
from quoth.text.json_codec import dump
from quoth.text.json_decode import decoded

WEB = ("http", "https")
SIMPLE = frozenset((str, int, float, bool, type(None)))


def to_public(value: Any) -> Any:
    """Turn a value of the core into plain data for the web."""
    return _shown(value)


def shown_answer(answer: Answer, *, base: str = "") -> Answer:
    """Give the answer with the links that the web sees, behind ``base`` where they are our own."""
    there: Answer = decoded(Answer, _shown(answer, base=base))
    return there


def original_link(document_id: str, *, fragment: str = "") -> str:
    """The address of a document's own file, from the service's root on."""
    return f"/v1/documents/{document_id}/original{'#' * bool(fragment)}{fragment}"


def shown_link(base: str, link: str | None, document_id: str | None) -> str | None:
    """Give the address to show of a link: one of the web as it is, else the document's own.

    ``base`` is where the service was asked, "" for addresses from its root on.
    """
    if link is None or is_web(link) or link.startswith("/v1/"):
        return link
    if document_id is None:
        return None
    return base + original_link(document_id, fragment=urldefrag(link).fragment)


def bare_name(source: str) -> str:
    """Name where a document came from: an address of the web as it is, a file by its name."""
    return source if is_web(source) else shown_source(source)


def is_web(address: str) -> bool:
    """Whether an address is one of the web."""
    try:
        return urlsplit(address).scheme.lower() in WEB
    except ValueError:
        return False


def as_bytes(value: Any) -> bytes:
    """Write plain data as JSON; halves of characters, which no JSON reader takes, become "?"."""
    return dump(value).encode("utf-8", "replace")


class ApiResponse(Response):
    """A response whose content is a value of the core, or plain data with such values made plain.

    It is sent as it is: what the schema says of it is not computed again.
    """

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write the content as JSON."""
        return as_bytes(to_public(content))


def _shown(value: Any, *, base: str = "") -> Any:
    kind: Any = type(value)
    if kind in SIMPLE:
        return value
    if kind is tuple or kind is list:
        return [_shown(each, base=base) for each in value]
    if names := _names(kind):
        plain = {name: _shown(getattr(value, name), base=base) for name in names}
    elif isinstance(value, Mapping):
        plain = {name: _shown(each, base=base) for name, each in value.items()}
    else:
        return value
    if isinstance(plain.get("link"), str):
        plain["link"] = shown_link(base, plain["link"], plain.get("document_id"))
    if "document_id" in plain and "source" in plain:
        _hide_source(plain)
    return plain


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a class of values, none for any other class; this is asked very often."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


def _hide_source(document: dict[str, Any]) -> None:
    """Show the source of a document by its bare name, wherever it is written."""
    source = str(document["source"])
    document["source"] = name = bare_name(source)
    path = unquote(urldefrag(source).url.removeprefix("file://"))
    hidden = sorted({source, path} - {name, ""}, key=len, reverse=True)

    def hide(text: str) -> str:
        for each in hidden:
            text = text.replace(each, name)
        return text

    if isinstance(document.get("error"), dict):
        document["error"]["message"] = hide(str(document["error"]["message"]))
    if document.get("warnings"):
        document["warnings"] = [hide(str(one)) for one in document["warnings"]]

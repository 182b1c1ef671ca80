"""Values as they leave the service: as JSON, without a path of the server's disk.

Web addresses stay as they are; a file on the disk is reached by the id of its document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import unquote, urldefrag

from starlette.requests import Request
from starlette.responses import Response

from quoth.answering.answerability import notes
from quoth.core.translations import restate
from quoth.core.types import Answer
from quoth.interfaces.links import is_web, public_link
from quoth.store.blobs import source_name
from quoth.text.json_codec import dump

MESSAGES = frozenset(("warnings", "notes", "message", "advice"))
"""Fields whose texts are messages for people."""
SCALARS = frozenset((str, int, float, bool, type(None)))


class ApiResponse(Response):
    """A JSON response whose content is a value of the core, or plain data with such values.

    It is sent unchanged: FastAPI does not validate it again. With a ``language`` its messages are
    in that language.
    """

    media_type = "application/json"

    def __init__(
        self,
        content: Any,
        status_code: int = 200,
        *,
        headers: Mapping[str, str] | None = None,
        language: str | None = None,
    ) -> None:
        self.language = language
        super().__init__(content, status_code, headers)

    def render(self, content: Any) -> bytes:
        """Write the content as JSON."""
        plain = to_public(content)
        return to_json(plain if self.language is None else _restated(plain, self.language))


def _restated(plain: Any, language: str, *, is_message: bool = False) -> Any:
    """Return plain data whose messages are in a language."""
    match plain:
        case str() if is_message:
            return restate(plain, language)
        case list():
            return [_restated(each, language, is_message=is_message) for each in plain]
        case dict():
            return {
                name: _restated(value, language, is_message=name in MESSAGES)
                for name, value in plain.items()
            }
        case _:
            return plain


def answer_for(answer: Answer, language: str | None) -> Answer:
    """Return an answer whose warnings say what is to know, in a language or the question's."""
    spoken = language or answer.query.language
    said = (restate(each, spoken) for each in notes(answer, language=language))
    return replace(answer, warnings=tuple(dict.fromkeys(said)))


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

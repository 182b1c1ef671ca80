"""Streaming parser of forms with a file (multipart/form-data)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from quoth.core.errors import InputError, TooLarge

FORM = "multipart/form-data"
MAX_FIELD_BYTES = 8192
"""Size of a field that is not a file."""

INVALID_FORM = "The form cannot be read. Send multipart/form-data with one file in it."


# The parser would log parts of the body.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL + 1)


@dataclass(frozen=True, slots=True)
class FormPart:
    """The start of a part of a form; ``file`` is the file name, None for a field."""

    name: str
    file: str | None


class FormReader:
    """Parses a form; raises InputError for an invalid one."""

    def __init__(self, content_type: str) -> None:
        _kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if not boundary:
            raise InputError(INVALID_FORM)
        self._found: list[FormPart | bytes] = []
        self._header = self._value = b""
        self._disposition = b""
        self.complete = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._on_field,
                    "on_header_value": self._on_value,
                    "on_header_end": self._on_header,
                    "on_headers_finished": self._on_headers,
                    "on_part_data": self._on_data,
                    "on_end": self._on_end,
                },
            )
        except FormParserError as error:
            raise InputError(INVALID_FORM) from error

    def feed(self, data: bytes) -> list[FormPart | bytes]:
        """Parse bytes; return starts of parts, and data of the current part."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise InputError(INVALID_FORM) from error
        found, self._found = self._found, []
        return found

    def _begin(self) -> None:
        self._disposition = b""

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _on_headers(self) -> None:
        _kind, options = parse_options_header(self._disposition)
        file = options.get(b"filename")
        name = options.get(b"name", b"").decode("utf-8", "replace")
        self._found.append(
            FormPart(name, None if file is None else file.decode("utf-8", "replace"))
        )

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._found.append(data[start:end])

    def _on_end(self) -> None:
        self.complete = True


async def file_of(
    stream: AsyncIterator[bytes], content_type: str, *, fields: dict[str, str]
) -> AsyncIterator[bytes]:
    """Yield the bytes of the one file in a form; store the other fields in ``fields``. The file
    name is stored as ``name``, unless a field of that name follows.
    """
    form = FormReader(content_type)
    files = 0
    part: FormPart | None = None
    text = b""
    async for data in stream:
        for item in form.feed(data):
            if isinstance(item, FormPart):
                _put(part, text, fields)
                part, text = item, b""
                files += item.file is not None
                if files > 1:
                    raise InputError("A form can contain one file. Send the others separately.")
                if item.file:
                    fields.setdefault("name", item.file)
            elif part is not None and part.file is not None:
                yield item
            elif len(text := text + item) > MAX_FIELD_BYTES:
                raise TooLarge(f"A field of a form can have up to {MAX_FIELD_BYTES:,} bytes.")
    _put(part, text, fields)
    if not form.complete or not files:
        raise InputError(INVALID_FORM)


def _put(part: FormPart | None, text: bytes, fields: dict[str, str]) -> None:
    if part is not None and part.file is None:
        fields[part.name] = text.decode("utf-8", "replace")

"""Rules for texts in requests: each is checked here, and told to clients as a pattern."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from quoth.ingest.readers.metadata import normalize_language, normalize_url
from quoth.interfaces.links import is_web

_CONTROLS = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"
_ALL_CONTROLS = r"\u0000-\u001f\u007f-\u009f"


@dataclass(frozen=True, slots=True)
class TextRule:
    """A check of a text, and a pattern that says the same in the JSON schema of a field."""

    check: Callable[[str], str]
    pattern: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check what the type allows."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the pattern to the schema of the type."""
        return {**handler(schema), "pattern": self.pattern}


def require_plain_text(text: str) -> str:
    """Return a text without control characters and lone surrogates; raises ValueError."""
    for char in text:
        if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r":
            raise ValueError(f"it holds the character U+{ord(char):04X}, which is not text")
    return text


def require_one_line(text: str) -> str:
    """Return a name on one line; raises ValueError for a blank one."""
    if not require_plain_text(text).strip() or any(char in "\t\n\r" for char in text):
        raise ValueError("it is not a name on one line")
    return text


def require_path_segment(name: str) -> str:
    """Return a name on one line that fits into a path; raises ValueError."""
    if "/" in require_one_line(name) or "\\" in name or name in (".", ".."):
        raise ValueError("a collection's name is part of its URL and cannot contain a slash")
    return name


def require_web_address(text: str) -> str:
    """Return a web address, or no text at all; raises ValueError."""
    if text and not (is_web(require_plain_text(text)) and normalize_url(text)):
        raise ValueError("it is not a web address: write https://…")
    return text


def require_language(name: str) -> str:
    """Return the code of a language, or no text at all; raises ValueError."""
    if name and normalize_language(name) is None:
        raise ValueError("it is not a language: write en, fr or pt-BR")
    return name


QUESTION = rf"^[^{_CONTROLS}]*[^{_CONTROLS}\s][^{_CONTROLS}]+[^{_CONTROLS}\s][^{_CONTROLS}]*$"
"""At least three characters between the first and the last that is no space."""
_HOST = r"!-.0-Z^-~\u00c0-\u024f\u0370-\u1fff\u3040-\u9fff"
_WEB = rf"[hH][tT][tT][pP][sS]?://[{_HOST}]+(?:[/?#][^{_CONTROLS}]*)?"
_LANGUAGE = "[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*"
_NAME = rf"{_ALL_CONTROLS}/\\"

Text = Annotated[str, TextRule(require_plain_text, f"^[^{_CONTROLS}]*$")]
"""A text without control characters."""
Line = Annotated[
    str,
    TextRule(require_one_line, rf"^[^{_ALL_CONTROLS}]*[^{_ALL_CONTROLS}\s][^{_ALL_CONTROLS}]*$"),
]
"""A name on one line."""
PathSegment = Annotated[
    str, TextRule(require_path_segment, rf"^(?!\.\.?$)[^{_NAME}]*[^{_NAME}\s][^{_NAME}]*$")
]
"""A name on one line that fits into a path."""
WebAddress = Annotated[str, TextRule(require_web_address, f"^(?:{_WEB})?$")]
"""A web address; empty for none."""
Language = Annotated[str, TextRule(require_language, f"^(?:{_LANGUAGE})?$")]
"""The code of a language; empty for none."""

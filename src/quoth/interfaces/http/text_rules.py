"""Rules for texts in requests: each is checked here, and told to clients as a pattern."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.metadata import normalize_language, normalize_url
from quoth.interfaces.links import is_web
from quoth.store.rows import is_path_segment

_CONTROLS = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"
_ALL_CONTROLS = r"\u0000-\u001f\u007f-\u009f"


def schema_pattern(pattern: str) -> Any:
    """Say to clients what a check of a text lets pass, as a pattern in the JSON schema."""
    return Field(json_schema_extra={"pattern": pattern})


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
    if not is_path_segment(require_one_line(name)):
        raise ValueError(
            "a collection's name is part of its URL: it has no slash, no blank at its ends, and "
            "only characters that can be seen"
        )
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


def require_date(text: str) -> str:
    """Return a date, or no text at all; raises ValueError."""
    if text and normalize_date(text) is None:
        raise ValueError("it is not a date: write 2024-03-01, 2024-03 or 2024")
    return text


QUESTION = rf"^[^{_CONTROLS}]*[^{_CONTROLS}\s][^{_CONTROLS}]+[^{_CONTROLS}\s][^{_CONTROLS}]*$"
"""At least three characters between the first and the last that is no space."""
_HOST = r"!-.0-Z^-~\u00c0-\u024f\u0370-\u1fff\u3040-\u9fff"
_WEB = rf"[hH][tT][tT][pP][sS]?://[{_HOST}]+(?:[/?#][^{_CONTROLS}]*)?"
_LANGUAGE = "[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*"
_DATE = (
    r"[12][0-9]{3}(?:-(?:(?:0[13578]|1[02])(?:-(?:0[1-9]|[12][0-9]|3[01]))?"
    r"|(?:0[469]|11)(?:-(?:0[1-9]|[12][0-9]|30))?|02(?:-(?:0[1-9]|1[0-9]|2[0-8]))?))?"
    r"|[12][0-9](?:0[48]|[2468][048]|[13579][26])-02-29|2000-02-29"
)
_NAME = rf"{_ALL_CONTROLS}/\\"

Text = Annotated[str, AfterValidator(require_plain_text), schema_pattern(f"^[^{_CONTROLS}]*$")]
"""A text without control characters."""
Line = Annotated[
    str,
    AfterValidator(require_one_line),
    schema_pattern(rf"^[^{_ALL_CONTROLS}]*[^{_ALL_CONTROLS}\s][^{_ALL_CONTROLS}]*$"),
]
"""A name on one line."""
NewCollectionName = Annotated[
    str,
    Field(min_length=1, max_length=100),
    AfterValidator(require_path_segment),
    schema_pattern(rf"^(?!\.\.?$)[^{_NAME}]*[^{_NAME}\s][^{_NAME}]*$"),
]
"""The name of a new collection: on one line, fit for a path."""
WebAddress = Annotated[str, AfterValidator(require_web_address), schema_pattern(f"^(?:{_WEB})?$")]
"""A web address; empty for none."""
Language = Annotated[str, AfterValidator(require_language), schema_pattern(f"^(?:{_LANGUAGE})?$")]
"""The code of a language; empty for none."""
DocumentDate = Annotated[str, AfterValidator(require_date), schema_pattern(f"^(?:{_DATE})?$")]
"""A day, a month or a year; empty for none."""

"""Columns of index rows that filters refer to."""

from __future__ import annotations

from collections.abc import Mapping

from quoth.text.analyzer import normalize_name

TEXTS = (
    *("id", "document_id", "kind", "language", "speaker", "chapter", "segment"),
    *("labels", "sections"),
)
NUMBERS = ("page_first", "page_last", "second_start", "second_end", "date")

FIELDS: Mapping[str, str] = {
    "document": "document_id",
    "kind": "kind",
    "language": "language",
    "speaker": "speaker",
    "chapter": "chapter",
    "segment": "segment",
}
"""The column of each filter field whose value is compared as it is."""
LISTS: Mapping[str, str] = {"label": "labels", "section": "sections"}
"""The column of each filter field of which a chunk has several values, each between bars."""
RANGES: Mapping[str, tuple[str, str]] = {
    "page": ("page_first", "page_last"),
    "seconds": ("second_start", "second_end"),
    "date": ("date", "date"),
}
"""The columns that hold the first and the last value of each filter field that is a range."""
NOWHERE = -1.0
"""What a chunk without pages, seconds or date holds there; it never overlaps."""


def column_value(field: str, value: object) -> str:
    """Return a filter's value as the field's column holds it."""
    if field == "label":
        return label_key(str(value))
    return title_key(str(value)) if field == "section" else str(value)


def label_key(label: str) -> str:
    """Return a page's printed label as it is compared: without case and bars."""
    return label.replace("|", " ").casefold()


def title_key(title: str) -> str:
    """Return a title as it is compared: without case, accents and bars."""
    return normalize_name(title.replace("|", " "))


def day_number(date: str | None) -> float:
    """Return an ISO date as a number such as 20261231; a month or a year alone is its first day."""
    digits = [part for part in (date or "")[:10].split("-") if part.isdecimal()]
    if not digits or len(digits[0]) != 4:
        return NOWHERE
    year, month, day = (*map(int, digits), 1, 1)[:3]
    return float(year * 10000 + month * 100 + day)

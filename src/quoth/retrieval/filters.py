"""Filters as people write them: ``kind=pdf``, ``page=12-14``, ``time=12:30-14:00``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from quoth.errors import InputError
from quoth.retrieval.labels import labels_between, to_roman
from quoth.types import Filter, FilterField

RANGE = re.compile(r"^\s*(.+?)\s*(?:-|–|\.\.)\s*(.+?)\s*$")
NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?")
MOST_PAGES = 500
LONGEST_LABEL = 15


def parse_filters(texts: Sequence[str]) -> tuple[Filter, ...]:
    """Read filters; raises InputError naming what is wrong and what there is."""
    return tuple(_parse(text) for text in texts)


def pages_printed(first: str, last: str) -> Filter | None:
    """The condition that a chunk is on the pages with these printed labels, both included.

    None where the labels make no range; raises InputError for one that is too long or backwards.
    """
    low, high = first.casefold(), last.casefold()
    if max(len(low), len(high)) > LONGEST_LABEL:
        raise InputError(f"'{first[:20]}…' is not a page label.")
    between = labels_between(low, high)
    if between is None:
        return None
    if not 0 < len(between) <= MOST_PAGES:
        raise InputError(f"'{first}-{last}' is not a range of at most {MOST_PAGES} pages.")
    spell = str if low.isdecimal() else to_roman
    return Filter("label", "in", tuple(spell(number) for number in between))


def _parse(text: str) -> Filter:
    key, found, value = text.partition("=")
    key, value = key.strip().casefold(), value.strip()
    broken = any("\ud800" <= sign <= "\udfff" for sign in text)
    if not found or not value or key not in KEYS or broken:
        raise InputError(
            f"'{text}' is not a filter. Write KEY=VALUE with one of the keys {', '.join(KEYS)}."
        )
    return KEYS[key](value)


def _ends(value: str) -> tuple[str, str]:
    span = RANGE.match(value)
    return (span[1], span[2]) if span else (value, value)


def _document(value: str) -> Filter:
    return Filter("document", "in", _list(value))


def _kind(value: str) -> Filter:
    return Filter("kind", "in", _list(value.casefold()))


def _language(value: str) -> Filter:
    return Filter("language", "in", _list(value.casefold()))


def _speaker(value: str) -> Filter:
    return Filter("speaker", "in", (value,))


def _page(value: str) -> Filter:
    # What looks like a range and is none may be one label, as "A-3" is in many an appendix.
    return pages_printed(*_ends(value)) or Filter("label", "in", (value,))


def _page_number(value: str) -> Filter:
    first, last = _ends(value)
    if not (first.isdecimal() and last.isdecimal()) or len(first) > 9 or len(last) > 9:
        raise InputError(f"'{value}' is not a PDF page number or a range of them.")
    return _overlap("page", float(first), float(last), given=value)


def _time(value: str) -> Filter:
    first, last = (_clock(each) for each in _ends(value))
    return _overlap("seconds", first, last, given=value)


def _overlap(field: FilterField, low: float, high: float, *, given: str) -> Filter:
    if low > high:
        raise InputError(f"'{given}' runs backwards. Write the smaller end first.")
    return Filter(field, "overlaps", (low, high))


def _list(value: str) -> tuple[str, ...]:
    found = tuple(each.strip() for each in value.split(",") if each.strip())
    if not found:
        raise InputError(f"'{value}' names nothing to filter by.")
    return found


def _clock(text: str) -> float:
    parts = text.split(":")
    if not 1 <= len(parts) <= 3 or not all(map(NUMBER.fullmatch, parts)):
        raise InputError(f"'{text}' is not a time. Write seconds, m:ss or h:mm:ss.")
    return sum(float(part) * 60.0**power for power, part in enumerate(reversed(parts)))


KEYS: Mapping[str, Callable[[str], Filter]] = {
    "document": _document,
    "kind": _kind,
    "language": _language,
    "speaker": _speaker,
    "page": _page,
    "page_number": _page_number,
    "time": _time,
}

"""Document dates in their stored form: ``2024``, ``2024-03`` or ``2024-03-01``.

The creation date of a PDF is not used: for a scan, a reprint or a printed page it is not the date
of publication. A sidecar or the file name can give that date.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from quoth.text.analyzer import normalize_name

_ISO = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[T ]\d{1,2}[:h].*)?")
_COMPACT = re.compile(r"((?:1[5-9]|20)\d\d)(\d\d)(\d\d)")
_DAY_FIRST = re.compile(r"(?:(\d{1,2})(?:er|st|nd|rd|th)? (?:of )?)?([a-z]{3,9})\.?,? (\d{4})")
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_FIRST = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\w.]*\d{4}-\d{2})(?=[\s_.-]|$)")
_LATER = re.compile(r"(?<=[\s_.(-])(?:19|20)\d{2}-\d{2}-\d{2}(?=[\s_.)-]|$)")
_MONTH = re.compile(r"(?<!\d)\d{4}-\d{2}(?!\d)")
_MONTHS = {
    name: number
    for row in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
        "janv fevr mars avr mai juin juil aout sept oct nov dec",
    )
    for number, name in enumerate(row.split(), start=1)
}
EARLIEST, LATEST = 1000, 2999


def normalize_date(text: str) -> str | None:
    """Return a date in stored form with its given precision; None where it is no date.

    Read are ISO 8601 with or without a time, eight digits, and days and months named in English
    or French ("March 1, 2024", "1er mars 2024", "March 2024").
    """
    folded = normalize_name(text)
    found = _ISO.fullmatch(folded.upper()) or _COMPACT.fullmatch(folded)
    if found:
        return _checked(found[1], found[2], found[3])
    found = _MONTH_FIRST.fullmatch(folded)
    if found:
        return _checked(found[3], _MONTHS.get(found[1], 0), found[2])
    found = _DAY_FIRST.fullmatch(folded)
    if found:
        return _checked(found[3], _MONTHS.get(found[2], 0), found[1])
    return None


def date_from_file_name(path: Path) -> str | None:
    """Return the date that a file name begins with, else its only one.

    "2024-03-01-keynote.srt", "minutes-2024-03-01.md".
    """
    first = _FIRST.match(path.name)
    later = _LATER.findall(path.name) if len(_MONTH.findall(path.name)) == 1 else ()
    found = first[1] if first else next(iter(later), None)
    return normalize_date(found) if found else None


def _checked(year: str, month: str | int | None, day: str | None) -> str | None:
    try:
        made = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if not EARLIEST <= made.year <= LATEST or month == 0:
        return None
    return made.isoformat()[: 10 if day else 7 if month else 4]

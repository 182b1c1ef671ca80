"""Parses filters as users write them: ``kind=pdf``, ``page=12-14``, ``meta.team=legal``.

``KEY=any`` removes inferred filters on that key, ``none`` all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import get_args

from quoth.core.custom_metadata import PREFIX, fits
from quoth.core.errors import InputError
from quoth.core.translations import translate
from quoth.core.types import Document, DocumentKind, Filter, FilterField
from quoth.query.entity_index import date_bounds, is_day
from quoth.query.filters.patterns import mapping
from quoth.store.blobs import source_name
from quoth.text.analyzer import normalize_name
from quoth.text.locators import format_timestamp
from quoth.text.numbers import from_roman, labels_between, to_roman

RANGE = re.compile(r"^\s*+(\S.*?)\s*(?:-|–|\.\.)\s*+(\S.*?)\s*$")
NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?")
MAX_PAGES = 500
MAX_LABEL_LENGTH = 15

ANY = "any"
NONE = "none"
LAST_DAY = 9999_12_31


def parse_filters(
    texts: Sequence[str],
    *,
    documents: Collection[Document] = (),
    speakers: Collection[str] = (),
) -> tuple[Filter, ...]:
    """Parse filters; raises InputError naming what is invalid and what is available.

    Those that only remove something (``KEY=any``, ``none``) give no filter. Custom metadata
    (``meta.KEY=VALUE``) are looked up in ``documents``: those that fit are searched. The name of a
    speaker fits those of ``speakers`` that differ in capitals, accents or spaces alone, as do the
    title and the file name of a document.
    """
    given = [text for text in texts if not _removed_fields(text) and not _is_any_metadata(text)]
    return tuple([_as_stored(_parse(text, documents), speakers) for text in given])


def _as_stored(given: Filter, speakers: Collection[str]) -> Filter:
    """Return a filter on speakers with their names as the collection spells them."""
    if given.field != "speaker":
        return given
    values: list[str] = []
    for value in given.values:
        wanted = normalize_name(str(value))
        values += [name for name in speakers if normalize_name(name) == wanted] or [str(value)]
    return replace(given, values=tuple(values))


def dropped_fields(texts: Sequence[str]) -> frozenset[FilterField]:
    """Return the fields for which no filters shall be inferred."""
    return frozenset([field for text in texts for field in _removed_fields(text)])


def _removed_fields(text: str) -> tuple[FilterField, ...]:
    key, _, value = text.partition("=")
    key, value = key.strip().casefold(), value.strip().casefold()
    if key == NONE and not value:
        return tuple(dict.fromkeys(field for each in FIELDS.values() for field in each))
    return FIELDS.get(key, ()) if value == ANY else ()


def printed_pages_filter(first: str, last: str) -> Filter | None:
    """Return the filter for pages with these printed labels, both included.

    None where the labels are not a range; raises InputError for one that is too long or backwards.
    """
    low, high = first.casefold(), last.casefold()
    if max(len(low), len(high)) > MAX_LABEL_LENGTH:
        raise InputError(f"'{first[:20]}…' is not a page label.")
    between = labels_between(low, high)
    if between is None:
        return None
    if not 0 < len(between) <= MAX_PAGES:
        raise InputError(f"'{first}-{last}' is not a range of at most {MAX_PAGES} pages.")
    spell = str if low.isdecimal() else to_roman
    return Filter("label", "in", tuple(spell(number) for number in between))


def _is_any_metadata(text: str) -> bool:
    key, _, value = text.partition("=")
    return key.strip().casefold().startswith(PREFIX) and value.strip().casefold() == ANY


def _parse(text: str, documents: Collection[Document]) -> Filter:
    key, found, value = text.partition("=")
    key, value = key.strip().casefold(), value.strip()
    broken = any("\ud800" <= sign <= "\udfff" for sign in text)
    if found and value and key.startswith(PREFIX) and not broken:
        return _with_metadata(key.removeprefix(PREFIX), value, documents)
    if not found or not value or key not in KEYS or broken:
        raise InputError(
            f"'{text}' is not a filter. Write KEY=VALUE with one of the keys {', '.join(KEYS)}, or "
            "meta.KEY=VALUE for your own metadata."
        )
    return _document_filter(value, documents) if key == "document" else KEYS[key](value)


def _document_filter(value: str, documents: Collection[Document]) -> Filter:
    """Return the filter on the documents with an id, a title or a file name, which may be several.

    What none has stays as it is: it is the id of a document that is gone.
    """
    by_id = KEYS["document"](value)
    if {each.document_id for each in documents}.issuperset(by_id.values):
        return by_id  # The names of many documents take a while to normalize.
    named: dict[str, list[str]] = {}
    for each in documents:
        for name in {normalize_name(each.title), normalize_name(source_name(each.source))}:
            named.setdefault(name, []).append(each.document_id)
    # A title may have commas of its own.
    values = [value] if normalize_name(value) in named else _list(value)
    ids = [id_ for each in values for id_ in named.get(normalize_name(each), [each])]
    return Filter("document", "in", tuple(dict.fromkeys(ids)))


def _with_metadata(key: str, value: str, documents: Collection[Document]) -> Filter:
    given = [
        (each.document_id, stored)
        for each in documents
        for name, stored in each.metadata.items()
        if name.casefold() == key
    ]
    known = sorted({name for each in documents for name in each.metadata})
    if not known:
        raise InputError(f"No document has metadata, so none has '{key}'.")
    if not given:
        raise InputError(f"No document has metadata '{key}'. There are: {', '.join(known[:20])}.")
    # No document has an empty id: where none fits, nothing is found.
    fitting = [document for document, stored in given if fits(stored, value)]
    return Filter("document", "in", tuple(fitting) or ("",))


def _ends(value: str) -> tuple[str, str]:
    span = RANGE.match(value)
    return (span[1], span[2]) if span else (value, value)


def _one_of(field: FilterField, value: str) -> Filter:
    return Filter(field, "in", _list(value))


def _exactly(field: FilterField, value: str) -> Filter:
    return Filter(field, "in", (value,))


def _page(value: str) -> Filter:
    # What looks like a range but is not may be one label, such as "A-3" in an appendix.
    first, last = _ends(value)
    found = printed_pages_filter(first, last)
    letters = RANGE.match(value) and not any(map(str.isdecimal, value))
    if found is None and letters and min(len(first), len(last)) == 1:
        raise InputError(f"'{value}' is not a page or a range of them. Write 12, 12-14 or ix-xi.")
    return found or Filter("label", "in", (value,))


def _page_number(value: str) -> Filter:
    first, last = _ends(value)
    if not (first.isdecimal() and last.isdecimal()) or len(first) > 9 or len(last) > 9:
        raise InputError(f"'{value}' is not a PDF page number or a range of them.")
    return _overlap("page", float(first), float(last), given=value)


def _time(value: str) -> Filter:
    first, last = (_clock(end) for end in _ends(value))
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


def _chapter(value: str) -> Filter:
    first, last = (_chapter_number(end) for end in _ends(value))
    if first.isdecimal() and last.isdecimal():
        if not 0 <= int(last) - int(first) <= MAX_PAGES:
            raise InputError(f"'{value}' is not a range of at most {MAX_PAGES} chapters.")
        return Filter("chapter", "in", tuple(map(str, range(int(first), int(last) + 1))))
    return Filter("chapter", "in", tuple(map(_chapter_number, _list(value))))


def _chapter_number(text: str) -> str:
    """Normalize a chapter: a decimal number, or the lower-case letter of an appendix."""
    if len(text) > MAX_LABEL_LENGTH:
        raise InputError(f"'{text[:20]}…' is not the number of a chapter.")
    low = text.casefold()
    if low.isascii() and low.isdecimal():
        return str(int(low))
    # "c" and "d" are appendices, not Roman numerals.
    roman = from_roman(low) if len(low) > 1 or low in "ivx" else 0
    return str(roman) if roman else low


def _kind(value: str) -> Filter:
    kinds, known = _list(value.casefold()), get_args(DocumentKind)
    for each in kinds:
        if each not in known:
            raise InputError(f"'{each}' is not a kind of document. There are: {', '.join(known)}.")
    return Filter("kind", "in", kinds)


def _segment(value: str) -> Filter:
    segment = value.casefold()
    if segment not in SEGMENTS:
        raise InputError(f"'{value}' is not a part of a talk. Use {' or '.join(SEGMENTS)}.")
    return Filter("segment", "in", (segment,))


def _date(value: str) -> Filter:
    span = DATES.fullmatch(value.strip())
    given = [each and date_bounds(each) for each in span.group("first", "last")] if span else []
    known = [days for days in given if days]
    wrong = len(known) < len([each for each in given if each is not None]) or not known
    if not span or wrong or not all(is_day(day) for days in known for day in days):
        raise InputError(
            f"'{value}' is not a date. Write 2024, 2024-03, 2024-03-01, or two of them as in "
            "2023..2024; leave one out for an open end."
        )
    low, high = known[0][0], known[-1][1]
    if span["joint"]:
        low, high = (low if span["first"] else 0), (high if span["last"] else LAST_DAY)
    return _overlap("date", low, high, given=value)


SEGMENTS = ("qa", "demo")
_DAY = r"\d{4}(?:-\d{2}(?:-\d{2})?)?"
DATES = re.compile(
    rf"(?P<first>{_DAY})?(?P<joint>\s*(?:\.\.|–|\s-\s"
    rf"|(?<=\d)-(?=\d{{4}}(?!\d)))\s*(?P<last>{_DAY})?)?",
    re.ASCII,
)
"""A day, month or year, or two with ".." or a dash between them; either may be missing."""

KEYS: Mapping[str, Callable[[str], Filter]] = {
    "document": partial(_one_of, "document"),
    "kind": _kind,
    "language": lambda value: _one_of("language", value.casefold()),
    "speaker": partial(_exactly, "speaker"),
    "page": _page,
    "page_number": _page_number,
    "time": _time,
    "chapter": _chapter,
    "section": partial(_exactly, "section"),
    "segment": _segment,
    "date": _date,
}
FIELDS: Mapping[str, tuple[FilterField, ...]] = {
    **{field: (field,) for field in get_args(FilterField) if field in KEYS},
    "title": ("document",),
    "page": ("label", "page"),
    "page_number": ("label", "page"),
    "time": ("seconds",),
}
"""The fields that ``KEY=any`` removes."""


MAX_LISTED = 4
"""Maximum names in a note; more are counted."""
MAX_NAMED = 2
"""Maximum titles and pages in a description; more are counted."""
_OPEN_FROM: Mapping[str, float] = MappingProxyType(
    {"seconds": 100_000, "date": 99_990_000, "page": float("inf")}
)
"""Range ends that mean an open range."""


def join_names(names: Sequence[str], language: str, *, total: int = 0) -> str:
    """Join names as in a sentence; ``total`` is their number if only some are given."""
    joint = translate("query.and", language)
    more = max(len(names), total) - MAX_LISTED
    if more > 0:
        rest = translate("query.more" if more > 1 else "query.more_one", language, count=more)
        return ", ".join(names[:MAX_LISTED]) + joint + rest
    return joint.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class FilterReach(StrEnum):
    """Whether filters read from a question held, were searched beyond, or left nothing."""

    kept = "kept"
    widened = "widened"
    dropped = "dropped"


def describe_filters(
    filters: Sequence[Filter],
    *,
    documents: Mapping[str, Document],
    language: str,
    reach: FilterReach = FilterReach.kept,
) -> tuple[str, ...]:
    """Describe inferred filters in one sentence; empty without filters.

    It names the filters that remove them, or says that the rest was searched, too (``widened``), or
    that nothing was found with them (``dropped``).
    ``documents`` gives the documents by id.
    """
    if not filters:
        return ()
    places = [describe_filter(each, documents=documents, language=language) for each in filters]
    keys = list(dict.fromkeys(f"{_key(filter_)}={ANY}" for filter_ in filters))
    key = "query.filtered" if len(keys) == 1 else "query.filtered_by_several"
    key = key if reach == FilterReach.kept else f"query.filtered_{reach}"
    joined = translate("query.place_joint", language).join(places)
    return (translate(key, language, places=joined, keys=", ".join(keys)),)


def _key(filter_: Filter) -> str:
    return next(key for key, fields in FIELDS.items() if filter_.field in fields)


def describe_filter(filter_: Filter, *, documents: Mapping[str, Document], language: str) -> str:
    """Describe a filter as a part of a sentence: “page 12”, “what Ada says”."""
    say = partial(_say, language)
    values = [str(value) for value in filter_.values]
    if filter_.operator == "overlaps":
        show: Callable[[float], str] = {"seconds": format_timestamp, "date": format_day}.get(
            filter_.field, _number
        )
        low, high = (float(value) for value in filter_.values)
        key: str = filter_.field
        if filter_.field == "date" and low <= 0 < high:
            key = "date_until"
        elif filter_.field in ("date", "seconds") and high >= _OPEN_FROM[filter_.field]:
            key += "_from"
        elif filter_.field in ("date", "seconds", "page") and low == high:
            key += "_at"
        return say(key, first=show(low), last=show(high))
    joint = translate("query.place_joint", language)
    if filter_.field == "document":
        if len(values) > MAX_NAMED:
            return say("documents", n=len(values))
        values = [documents[value].title if value in documents else value for value in values]
    if filter_.field == "language":
        known = mapping("languages").values()
        return joint.join(
            say(f"language_{value}" if value in known else "language", one=value)
            for value in values
        )
    if filter_.field == "label" and len(values) > MAX_NAMED:
        return say("labels", first=values[0], last=values[-1])
    if filter_.field == "segment":
        return joint.join(say(value) for value in values)
    return joint.join(say(filter_.field, one=value) for value in values)


def _say(language: str, key: str, **values: object) -> str:
    return translate(f"query.filter_{key}", language, **values)


def format_day(value: float) -> str:
    """Write a day that is a number, such as 20261231, as an ISO date."""
    text = f"{value:08.0f}"
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _number(value: float) -> str:
    return f"{value:g}"

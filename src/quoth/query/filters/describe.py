"""Describes inferred filters, so that users see how the query was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from quoth.core.translations import translate
from quoth.core.types import Document, Filter
from quoth.query.filters.parse import ANY, FIELDS
from quoth.text.locators import format_timestamp

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
        rest = translate("query.more", language, count=more)
        return ", ".join(names[:MAX_LISTED]) + joint + rest
    return joint.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def describe_filters(
    filters: Sequence[Filter], *, documents: Mapping[str, Document], language: str
) -> tuple[str, ...]:
    """Describe inferred filters in one sentence; empty without filters.

    It names the filters that remove them. ``documents`` gives the documents by id.
    """
    if not filters:
        return ()
    places = [_describe(filter_, documents, language) for filter_ in filters]
    keys = list(dict.fromkeys(f"{_key(filter_)}={ANY}" for filter_ in filters))
    key = "query.filtered" if len(keys) == 1 else "query.filtered_by_several"
    joined = translate("query.place_joint", language).join(places)
    return (translate(key, language, places=joined, keys=", ".join(keys)),)


def _key(filter_: Filter) -> str:
    return next(key for key, fields in FIELDS.items() if filter_.field in fields)


def _describe(filter_: Filter, documents: Mapping[str, Document], language: str) -> str:
    say = partial(_say, language)
    values = [str(value) for value in filter_.values]
    if filter_.operator == "overlaps":
        show: Callable[[float], str] = {"seconds": format_timestamp, "date": _day}.get(
            filter_.field, _number
        )
        low, high = (float(value) for value in filter_.values)
        key: str = filter_.field
        if filter_.field == "date" and low <= 0 < high:
            key = "date_until"
        elif filter_.field in ("date", "seconds") and high >= _OPEN_FROM[filter_.field]:
            key += "_from"
        return say(key, first=show(low), last=show(high))
    if filter_.field == "document":
        if len(values) > MAX_NAMED:
            return say("documents", n=len(values))
        values = [documents[value].title if value in documents else value for value in values]
    if filter_.field == "label" and len(values) > MAX_NAMED:
        return say("labels", first=values[0], last=values[-1])
    joint = translate("query.place_joint", language)
    if filter_.field == "segment":
        return joint.join(say(value) for value in values)
    return joint.join(say(filter_.field, one=value) for value in values)


def _say(language: str, key: str, **values: object) -> str:
    return translate(f"query.filter_{key}", language, **values)


def _day(value: float) -> str:
    text = f"{value:08.0f}"
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _number(value: float) -> str:
    return f"{value:g}"

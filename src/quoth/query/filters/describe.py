"""Says where a question was looked for, so that the asker sees how it was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from quoth.core.types import Document, Filter
from quoth.query.filters.parse import ANY, FIELDS
from quoth.text.locators import format_timestamp

MOST_NAMED = 2
"""Titles and pages spelled out; more are counted."""

_OPEN: Mapping[str, float] = MappingProxyType(
    {"seconds": 100_000, "date": 99_990_000, "page": float("inf")}
)
"""Ends from which a range is open."""
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "said": "Searched only in {places}, as the question says. To search everywhere, add "
            "{lifting}.",
            "lifting": "the filter {keys}",
            "lifting all": "the filters {keys}",
            "and": " and ",
            "document": "“{one}”",
            "documents": "{n} documents",
            "label": "page {one}",
            "labels": "pages {first} to {last}",
            "chapter": "chapter {one}",
            "section": "the section “{one}”",
            "qa": "the questions from the audience",
            "demo": "the demo",
            "speaker": "what {one} says",
            "language": "sources in the language “{one}”",
            "kind": "{one} documents",
            "seconds": "{first}–{last}",
            "page": "PDF pages {first} to {last}",
            "date": "sources dated {first} to {last}",
            "date until": "sources dated up to {last}",
            "date from": "sources dated from {first} on",
            "seconds from": "what comes after {first}",
        },
        "fr": {
            "said": "Recherche limitée à\u202f: {places}, comme le dit la question. Pour chercher "
            "partout, ajoutez {lifting}.",
            "lifting": "le filtre {keys}",
            "lifting all": "les filtres {keys}",
            "and": ", ",
            "document": "«\u202f{one}\u202f»",
            "documents": "{n} documents",
            "label": "page {one}",
            "labels": "pages {first} à {last}",
            "chapter": "chapitre {one}",
            "section": "section «\u202f{one}\u202f»",
            "qa": "questions du public",
            "demo": "démonstration",
            "speaker": "ce que dit {one}",
            "language": "sources en langue «\u202f{one}\u202f»",
            "kind": "documents {one}",
            "seconds": "{first}–{last}",
            "page": "pages PDF {first} à {last}",
            "date": "sources datées du {first} au {last}",
            "date until": "sources datées jusqu'au {last}",
            "date from": "sources datées à partir du {first}",
            "seconds from": "ce qui suit {first}",
        },
    }
)


def describe_filters(
    filters: Sequence[Filter], *, documents: Mapping[str, Document], language: str
) -> tuple[str, ...]:
    """Word the filters that were read out of a question: one sentence, none without filters.

    It names those that take them back in a spelling that every door understands. ``documents``
    gives the documents by id.
    """
    if not filters:
        return ()
    words = _WORDS.get(language, _WORDS["en"])
    places = words["and"].join(_place(each, words, documents) for each in filters)
    keys = list(dict.fromkeys(f"{_key(each)}={ANY}" for each in filters))
    lifting = words["lifting all" if len(keys) > 1 else "lifting"].format(keys=", ".join(keys))
    return (words["said"].format(places=places, lifting=lifting),)


def _key(condition: Filter) -> str:
    return next(key for key, fields in FIELDS.items() if condition.field in fields)


def _place(each: Filter, words: Mapping[str, str], documents: Mapping[str, Document]) -> str:
    values = [str(value) for value in each.values]
    if each.operator == "overlaps":
        show: Callable[[float], str] = {"seconds": format_timestamp, "date": _day}.get(
            each.field, _number
        )
        low, high = (float(value) for value in each.values)
        open_end = "until" if low <= 0 < high else "from" if high >= _OPEN[each.field] else ""
        key = f"{each.field} {open_end}"
        return words.get(key, words[each.field]).format(first=show(low), last=show(high))
    if each.field == "document":
        if len(values) > MOST_NAMED:
            return words["documents"].format(n=len(values))
        values = [documents[value].title if value in documents else value for value in values]
    if each.field == "label" and len(values) > MOST_NAMED:
        return words["labels"].format(first=values[0], last=values[-1])
    if each.field == "segment":
        return words["and"].join(words[value] for value in values)
    return words["and"].join(words[each.field].format(one=value) for value in values)


def _day(value: float) -> str:
    text = f"{value:08.0f}"
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _number(value: float) -> str:
    return f"{value:g}"

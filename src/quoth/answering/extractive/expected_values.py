"""Questions that ask for a number, a price or a date, and whether a text has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from quoth.answering.extractive.candidates import normalize
from quoth.answering.verification.tokens import TextToken, Value, read_values, tokens
from quoth.core.types import Query
from quoth.query.filters.patterns import find_matches, has_match, word_set

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?(?:[^\W\d]|$)")
"""A number, perhaps with its unit ("780MB"); no version ("6.3.1")."""
_IN_WORDS = {"price": "free", "number": "amount"}
"""How a kind is said without a number: "free", "a dozen"."""
_CURRENCIES = frozenset("$€£¥")
_PLACES = frozenset(("page", "chapter"))
_TIMES = frozenset(("century", "year", "month", "day"))


def expected_kind(query: Query) -> str:
    """Return what a question asks for: "number", "price" or "date", "" for anything else."""
    matches = find_matches("value", normalize(query.standalone))
    return matches[0].settings["kind"] if matches else ""


def have_value(query: Query, kind: str, texts: Iterable[tuple[str, str]]) -> list[bool]:
    """Return for each text and its language whether it has a value of a kind.

    Values of the question answer nothing, and numbers of pages, chapters and sections are none.
    """
    asked = {value.key for value in _values(query.standalone, query.language)}
    return [
        any(value.key not in asked and _is_of_kind(value, kind) for value in _values(*text))
        or (kind in _IN_WORDS and has_match(_IN_WORDS[kind], normalize(text[0])))
        for text in texts
    ]


def _is_of_kind(value: Value, kind: str) -> bool:
    if kind == "price":
        return value.unit in _CURRENCIES
    if kind == "date":
        return value.kind == "date" or value.unit in _TIMES or len(value.key) in (3, 4)
    return value.unit not in _PLACES


def _values(text: str, language: str) -> list[Value]:
    """Return the numbers and dates of a text that number no part of a document."""
    parts = tokens(text, language=language)
    values = read_values(text, parts, language=language)
    return [
        value
        for value in values
        if value.kind == "date" or (_NUMBER.match(value.key) and not _is_label(parts, value.first))
    ]


def _is_label(parts: Sequence[TextToken], at: int) -> bool:
    """Return whether a number follows a word such as "section"."""
    return at > 0 and parts[at - 1].word in word_set("lettered")

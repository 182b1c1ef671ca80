"""The kind of value that a question asks for, and which texts have one.

A value is a number, a price or a date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quoth.answering.extractive.candidates import normalize
from quoth.answering.verification.tokens import TextToken, Value, read_values, tokens
from quoth.core.types import Query
from quoth.query.filters.patterns import find_matches, has_match, word_set
from quoth.text.locators import CELL_GAP

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?(?:[^\W\d]|$)")
"""A number, perhaps with its unit ("780MB"); no version ("6.3.1")."""
_IN_WORDS = {"price": "free", "number": "amount"}
"""How a kind is said without a number: "free", "a dozen"."""
_CURRENCIES = frozenset("$ € £ ¥ franc crown krone peso rupee yuan".split())
_PLACES = frozenset(("page", "chapter"))
_TIMES = frozenset(("century", "year", "month", "day"))


def expected_kind(query: Query) -> str:
    """Return what a question asks for: "number", "price" or "date", "" for anything else."""
    matches = find_matches("value", normalize(query.standalone))
    return matches[0].settings["kind"] if matches else ""


def lacks_value(query: Query, text: str, *, language: str) -> bool:
    """Return whether a number or a date is asked for and a quotation has none."""
    kind = expected_kind(query)
    return bool(kind) and not has_value(query, kind, text, language=language)


def has_value(query: Query, kind: str, text: str, *, language: str) -> bool:
    """Return whether a text has a value of a kind.

    Values of the question answer nothing, and numbers of pages, chapters and sections are none.
    In a row of a table the name of the column tells the currency, so a number may be a price.
    """
    if kind == "price" and CELL_GAP in text:
        kind = "number"
    asked = {value.key for value in values_of(query.standalone, query.language)}
    if any(
        value.key not in asked and _is_of_kind(value, kind) for value in values_of(text, language)
    ):
        return True
    # Numbers in words are words of other languages, too: "dos", "mil", "un".
    spoken = language if kind == "number" else ""
    return kind in _IN_WORDS and has_match(_IN_WORDS[kind], normalize(text), language=spoken)


def _is_of_kind(value: Value, kind: str) -> bool:
    if kind == "price":
        return value.unit in _CURRENCIES
    if kind == "date":
        return value.kind == "date" or value.unit in _TIMES or len(value.key) in (3, 4)
    return value.unit not in _PLACES


def values_of(text: str, language: str) -> list[Value]:
    """Return the numbers and dates of a text that number no part of a document."""
    parts = tokens(text, language=language)
    values = read_values(text, parts, language=language)
    return [
        value
        for value in values
        if value.kind == "date"
        or (_NUMBER.match(value.key) and not _is_label(text, parts, value.first))
    ]


def _is_label(text: str, parts: Sequence[TextToken], at: int) -> bool:
    """Return whether a number follows a word such as "section" or is that of an issue: "#12"."""
    after_word = at > 0 and parts[at - 1].word in word_set("lettered")
    return after_word or text.endswith("#", 0, parts[at].start)

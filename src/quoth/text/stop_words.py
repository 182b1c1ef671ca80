"""Stop words: the words of a language that carry no subject."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from stop_words import StopWordError, get_stop_words

from quoth.text.tables import language_tables

STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(table["words"].split())
        for language, table in language_tables("quoth.text", "stop_words").items()
    }
)
"""Words that carry no subject, per language; the terms of an index are without them. Another
language keeps all its words in the index; queries lose those of `query_stop_words`."""

ENGLISH, FRENCH = STOP_WORDS["en"], STOP_WORDS["fr"]


@cache
def query_stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that no query is about; empty for an unknown language."""
    if not language:
        return frozenset()
    try:
        return STOP_WORDS.get(language) or frozenset(get_stop_words(language))
    except StopWordError:
        return frozenset()

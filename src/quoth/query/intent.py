"""Intent classification: phrase tables by language, weighted by a small classifier."""

from __future__ import annotations

from functools import cache

from quoth.core.protocols import Matrix
from quoth.core.types import QueryKind
from quoth.query.heads import scores
from quoth.query.phrases import PhraseMatcher, normalized_query_words, read_table, table_languages

KINDS: tuple[QueryKind, ...] = (
    "factual", "conceptual", "comparison", "summary", "exploratory"
)  # fmt: skip
"""The classes of the head; page queries are recognised by their locator."""


def classify_intent(text: str, *, language: str, vector: Matrix | None = None) -> QueryKind:
    """Classify the intent of a query in which titles and names may be masked.

    ``vector`` is the query's embedding by the default embedder, where there is one.
    """
    words = normalized_query_words(text)
    found = scores("intent", words, cues=phrase_cues(words, language), vector=vector)
    return KINDS[int(found.argmax())]


def phrase_cues(words: list[str], language: str) -> list[bool]:
    """Return for each intent whether one of its phrases occurs.

    A query without phrases of its language, except factual ones, is matched with all tables.
    """
    found = [matcher.matches(words) for matcher in _matchers(language)]
    return found if any(found[1:]) else [matcher.matches(words) for matcher in _matchers("")]


@cache
def _matchers(language: str) -> tuple[PhraseMatcher, ...]:
    tables = [read_table("intent", each) for each in table_languages("intent")]
    tables = [read_table("intent", language)] if language else tables
    return tuple(
        PhraseMatcher([phrase for table in tables for phrase in table.get(kind, ())])
        for kind in KINDS
    )

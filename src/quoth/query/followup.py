"""Follow-up detection: questions that cannot be understood without the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from quoth.core.protocols import Matrix
from quoth.core.types import Turn
from quoth.query.heads import scores
from quoth.query.phrases import PhraseMatcher, normalized_query_words, read_table, table_languages
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery

MAX_TURNS = 3
MAX_ANSWER = 200
"""Characters of an earlier answer that are read."""
MAX_ELLIPTICAL = 8
"""Maximum words of a query whose opening alone can make it a follow-up."""


def recent_turns(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the last turns, with answers truncated."""
    return tuple([Turn(turn.question, turn.answer[:MAX_ANSWER]) for turn in history[-MAX_TURNS:]])


def is_followup(text: str, *, vector: Matrix | None = None, history: Sequence[Turn] = ()) -> bool:
    """Return whether a question cannot be understood without the conversation.

    ``vector`` is its embedding by the default embedder, where there is one.
    """
    words = normalized_query_words(text)
    if not history or not words:
        return False
    return bool(scores("followup", words, cues=followup_cues(words), vector=vector)[0] > 0)


def followup_cues(words: Sequence[str]) -> list[bool]:
    """Return form features of a query, in any language with word lists."""
    content = [word for word in words if is_content_bearing(word) and not word.isdecimal()]
    short = len(words) <= MAX_ELLIPTICAL
    return [
        not content,
        len(content) == 1,
        _only_asks(words),
        short and _openings().matches(words),
        len(words) <= MAX_ELLIPTICAL // 2,
        short,
    ]


def is_elliptical(query: TokenizedQuery) -> bool:
    """Return whether a follow-up has no subject of its own: "and on page 12?", "why?"."""
    words = normalized_query_words(query.clean)
    if len(words) > MAX_ELLIPTICAL:
        return False
    return _openings().matches(words) or not any(map(is_content_bearing, words))


def has_only_question_words(query: TokenizedQuery) -> bool:
    """Return whether there are only question words: "why?", "et quand ?"."""
    return _only_asks(normalized_query_words(query.clean))


def is_content_bearing(word: str) -> bool:
    """Return whether a normalized word of a query is a content word."""
    return len(word) > 1 and word not in FUNCTION_WORDS and word not in _words("empty")


def _only_asks(words: Sequence[str]) -> bool:
    return 0 < len(words) <= MAX_ELLIPTICAL and _words("bare").issuperset(words)


@cache
def _words(name: str) -> frozenset[str]:
    tables = [read_table("followup", language) for language in table_languages("followup")]
    return frozenset(word for table in tables for word in table[name].split())


@cache
def _openings() -> PhraseMatcher:
    tables = [read_table("followup", language) for language in table_languages("followup")]
    return PhraseMatcher([phrase for table in tables for phrase in table["openings"]])

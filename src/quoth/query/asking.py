"""What a question is about, without the words of asking: data per language, no rules.

"Tell me about tides", "What does the book say about tides?" and "What are tides?" ask the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from quoth.query.phrases import compile_phrases, read_table
from quoth.query.tokens import TokenizedQuery
from quoth.text.analyzer import analyze

MAX_ROUNDS = 3
"""Openings before the subject: "Hello, can you tell me what the book says about tides?"."""
_OUTSIDE = " \t\n?!.,;:…-"


@dataclass(frozen=True, slots=True)
class _Table:
    openings: tuple[re.Pattern[str], ...]
    endings: tuple[re.Pattern[str], ...]
    questions: frozenset[str]
    template: str


@cache
def _table(language: str) -> _Table | None:
    rows = read_table("asking", language)
    if not rows:
        return None

    def compiled(key: str, *, end: str = "") -> tuple[re.Pattern[str], ...]:
        phrases = (
            phrase.replace("{source}", source)
            for phrase in rows[key]
            for source in (rows["sources"] if "{source}" in phrase else [""])
        )
        return tuple(compile_phrases([phrase + end]) for phrase in phrases)

    return _Table(
        compiled("openings"),
        compiled("endings", end="$"),
        frozenset(rows["questions"].split()),
        rows["template"],
    )


def direct_question(query: TokenizedQuery, *, language: str) -> str:
    """Return a question that asks directly for its subject; unchanged where it does already.

    A language without a table, and a question that is nothing but words of asking, stay as they
    are.
    """
    table = _table(language)
    if table is None:
        return query.clean
    words = query.words
    first, last = 0, len(words)
    for _ in range(MAX_ROUNDS):
        found = _longest(table.openings, words[first:last])
        if not found or not _has_subject(words[first + found : last], language):
            break
        first += found
    trailing = max((_trailing(each, words[first:last]) for each in table.endings), default=0)
    if trailing and _has_subject(words[first : last - trailing], language):
        last -= trailing
    if (first, last) == (0, len(words)):
        return query.clean
    end = query.ends[last - 1] if last < len(words) else len(query.clean)
    subject = query.clean[query.starts[first] : end].strip(_OUTSIDE)
    if words[first] in table.questions:
        return f"{subject[:1].upper()}{subject[1:]}?"
    return table.template.format(subject=subject)


def _longest(patterns: Sequence[re.Pattern[str]], words: Sequence[str]) -> int:
    """Return how many words the longest opening takes."""
    text = "".join(f"{word} " for word in words)
    ends = [found.end() for each in patterns if (found := each.match(text))]
    return text[: max(ends, default=0)].count(" ")


def _trailing(pattern: re.Pattern[str], words: Sequence[str]) -> int:
    text = "".join(f"{word} " for word in words)
    found = pattern.search(text)
    return text[found.start() :].count(" ") if found else 0


def _has_subject(words: Sequence[str], language: str) -> bool:
    return any(analyze(word, language=language) for word in words)

"""Phrase tables: rows of data by language, matched by whole words.

A phrase is a row of words without accents and capitals. ``a/b`` is either word, ``word*`` any word
with that prefix, ``word?`` is optional, ``_`` is any word and ``...`` up to eight; ``^`` and ``$``
are the beginning and the end of the query.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from quoth.query.tokens import MASK, WORD, normalize_query

MAX_WORDS = 80
"""Maximum words of a query that are matched: half at its beginning, half at its end."""
_DATA = files("quoth.query") / "data"


@cache
def read_table(topic: str, language: str) -> Mapping[str, Any]:
    """Return the table of a topic in a language, empty where there is none."""
    path = _DATA / f"{topic}.{language}.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


@cache
def table_languages(topic: str) -> tuple[str, ...]:
    """Return the languages that have a table of a topic."""
    names = sorted(path.name for path in _DATA.iterdir())
    return tuple(name.split(".")[1] for name in names if name.startswith(f"{topic}."))


def compile_phrases(phrases: Iterable[str]) -> re.Pattern[str]:
    """Compile one pattern for `normalized_query_words` joined by spaces, with a trailing space."""
    return re.compile("|".join(map(_pattern, phrases)) or r"(?!)")


def normalized_query_words(text: str) -> list[str]:
    """Return the normalized words of a query; a masked title is one word."""
    words = [word if word[0] != MASK else MASK for word in WORD.findall(normalize_query(text))]
    return words if len(words) <= MAX_WORDS else words[: MAX_WORDS // 2] + words[-MAX_WORDS // 2 :]


class PhraseMatcher:
    """Matches many phrases at once; phrases are indexed by their first word."""

    def __init__(self, phrases: Iterable[str]) -> None:
        by_first: dict[str, list[str]] = {}
        rest = []
        for phrase in phrases:
            first = _first_words(phrase)
            for word in first:
                by_first.setdefault(word, []).append(phrase)
            if not first:
                rest.append(phrase)
        self._by_first = {word: compile_phrases(group) for word, group in by_first.items()}
        self._rest = compile_phrases(rest)

    def matches(self, words: Sequence[str]) -> bool:
        """Return whether a phrase occurs among the words."""
        text = "".join(f"{word} " for word in words)
        start = 0
        for word in words:
            pattern = self._by_first.get(word)
            if pattern and pattern.match(text, start):
                return True
            start += len(word) + 1
        return self._rest.search(text) is not None


def _first_words(phrase: str) -> list[str]:
    """Return the words that a phrase can begin with, empty if that is any word."""
    first: list[str] = []
    for word in phrase.removeprefix("^").removesuffix("$").split():
        first += word.removesuffix("?").split("/")
        if not word.endswith("?"):
            break
    return [] if any(word[-1] in "*_." for word in first) else first


def _pattern(phrase: str) -> str:
    start, end = phrase.startswith("^"), phrase.endswith("$")
    tokens = phrase.removeprefix("^").removesuffix("$").split()
    return ("^" if start else r"(?<!\S)") + "".join(map(_token, tokens)) + ("$" if end else "")


def _token(word: str) -> str:
    if word == "...":
        return r"(?:\S+ ){0,8}?"
    optional = word.endswith("?")
    either = "|".join(
        r"\S+" if each == "_" else re.escape(each.removesuffix("*")) + r"\S*" * each.endswith("*")
        for each in word.removesuffix("?").split("/")
    )
    return f"(?:(?:{either}) ){'?' * optional}"

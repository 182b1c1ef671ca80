"""Patterns for explicit places in a query: one TOML file per language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from quoth.text.numbers import ROMAN
from quoth.text.tables import Table, expand, language_tables

YEAR = r"(?:19|20)\d\d"
MAX_MATCHES = 24
"""Maximum matches of one rule in one query."""
MAX_BEFORE = 40
"""Characters before a match that can exclude it."""
_SHARED = {
    # Larger numerals number no page or chapter, and are words: "di", "mi", "ml".
    "roman": rf"(?:[ivx]|(?=[ivxlc]{{2}}){ROMAN.pattern})",
    "year": YEAR,
}
PATTERNS = ("pattern", "before", "after", "not_before", "not_after")


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns of one meaning; ``settings`` define what a match means."""

    settings: Mapping[str, str]
    pattern: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None
    not_before: re.Pattern[str] | None = None
    not_after: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match of a rule: its span, its matched named groups, and the rule's settings."""

    start: int
    end: int
    groups: Mapping[str, str]
    settings: Mapping[str, str]

    def first_of(self, *names: str) -> str:
        """Return the first of these groups that matched, else ""."""
        return next((self.groups[name] for name in names if name in self.groups), "")


class PatternTable:
    """Patterns and word lists of one language; patterns are compiled on first use."""

    def __init__(self, language: str, table: Table) -> None:
        self.language = language
        self._data = table
        self._words = dict(_SHARED)
        for name, pattern in self._data.get("words", {}).items():
            self._words[name] = expand(pattern, self._words)
        self.rows: dict[str, list[dict[str, str]]] = {
            topic: [
                {
                    name: expand(str(value), self._words) if name in PATTERNS else str(value)
                    for name, value in row.items()
                }
                for row in rows
            ]
            for topic, rows in self._data.items()
            if isinstance(rows, list)
        }

    def rules(self, topic: str) -> tuple[Rule, ...]:
        """Return the rules of a topic."""
        return tuple(
            Rule(
                {name: row[name] for name in row if name not in PATTERNS},
                **{name: re.compile(row[name]) for name in row if name in PATTERNS},
            )
            for row in self.rows.get(topic, ())
        )

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a table of words, such as ``months``."""
        words: Mapping[str, Any] = self._data.get(name, {})
        return words

    def word_list(self, name: str) -> frozenset[str]:
        """Return a list of words, such as ``openings``."""
        return frozenset(self.mapping("lists").get(name, "").split())


@cache
def pattern_tables() -> tuple[PatternTable, ...]:
    """Return the tables of all languages, sorted by language."""
    tables = language_tables("quoth.query", "filters").items()
    return tuple(PatternTable(language, table) for language, table in tables)


@cache
def rules(topic: str, language: str = "") -> tuple[Rule, ...]:
    """Return the rules of a topic in all languages, or in one."""
    tables = [each for each in pattern_tables() if language in ("", each.language)]
    return tuple(rule for table in tables for rule in table.rules(topic))


@cache
def mapping(name: str) -> Mapping[str, Any]:
    """Return a table of words, such as ``months``, merged over all languages."""
    return {
        word: value for table in pattern_tables() for word, value in table.mapping(name).items()
    }


@cache
def word_set(name: str) -> frozenset[str]:
    """Return a list of words merged over all languages."""
    return frozenset().union(*(table.word_list(name) for table in pattern_tables()))


def find_matches(topic: str, text: str) -> list[PatternMatch]:
    """Return the matches of a topic's rules in a normalized text, in text order.

    Of overlapping matches the longest counts. A match that is excluded by its context also excludes
    matches of other languages' rules there.
    """
    found: list[PatternMatch] = []
    excluded: list[PatternMatch] = []
    for rule in rules(topic):
        for each in islice(rule.pattern.finditer(text) if rule.pattern else (), MAX_MATCHES):
            given = each.groupdict()
            groups = {name: given[name] for name in given if given[name] is not None}
            match = PatternMatch(each.start(), each.end(), groups, rule.settings)
            (excluded if _is_excluded(rule, match, text) else found).append(match)
    kept: list[PatternMatch] = []
    for match in sorted(found, key=lambda match: (match.start - match.end, match.start)):
        if all(
            match.end <= other.start or other.end <= match.start for other in (*kept, *excluded)
        ):
            kept.append(match)
    return sorted(kept, key=lambda match: match.start)


def has_match(topic: str, text: str, *, language: str = "") -> bool:
    """Return whether any rule of a topic matches, of one language if it is given."""
    return any(rule.pattern and rule.pattern.search(text) for rule in rules(topic, language))


def _is_excluded(rule: Rule, match: PatternMatch, text: str) -> bool:
    before = text[max(0, match.start - MAX_BEFORE) : match.start]
    return bool(
        (rule.not_before and rule.not_before.search(before))
        or (rule.not_after and rule.not_after.match(text, match.end))
    )

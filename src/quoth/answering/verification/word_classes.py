"""Words that change what a clause says, by language; the tables are files in ``data``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from quoth.text.analyzer import analyze

LANGUAGES = ("en", "fr", "de", "es")


@dataclass(frozen=True, slots=True)
class WordClasses:
    """The words of a language; ``opposites`` maps stems to those of opposite meaning."""

    negations: frozenset[str]
    conditions: frozenset[str]
    quantifiers: frozenset[str]
    forward_causes: frozenset[str]
    backward_causes: frozenset[str]
    agents: frozenset[str]
    pronouns: frozenset[str]
    reporting: frozenset[str]
    telling: frozenset[str]
    source_names: frozenset[str]
    opposites: Mapping[str, frozenset[str]]


@cache
def word_classes(language: str) -> WordClasses:
    """Return the words of a language, those of English where there are no others."""
    name = language if language in LANGUAGES else "en"
    text = files(__package__).joinpath(f"data/words.{name}.toml").read_text(encoding="utf-8")
    data: dict[str, str] = tomllib.loads(text)
    pairs = [pair.split() for pair in data.pop("opposites").split(",")]
    opposites: dict[str, set[str]] = {}
    for pair in pairs:
        one, two = (_forms(word, name) for word in pair)
        for mine, other in ((one, two), (two, one)):
            for form in mine:
                opposites.setdefault(form, set()).update(other)
    return WordClasses(
        **{name: frozenset(words.split()) for name, words in data.items()},
        opposites={word: frozenset(others) for word, others in opposites.items()},
    )


def _forms(word: str, language: str) -> set[str]:
    return {word, *analyze(word, language=language)[-1:]}

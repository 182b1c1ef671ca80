"""A statement tokenized as its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from quoth.answering.verification.source_index import Sources
from quoth.answering.verification.tokens import TextToken, Value, read_values, tokens
from quoth.text.analyzer import analyze
from quoth.text.tables import language_tables

LANGUAGES = tuple(language_tables(__package__, "words"))
"""The languages whose words are known."""


@dataclass(frozen=True, slots=True)
class WordClasses:
    """The words of a language; ``opposites`` maps stems to those of opposite meaning."""

    negations: frozenset[str]
    conditions: frozenset[str]
    attributions: frozenset[str]
    exceptions: frozenset[str]
    limits: frozenset[str]
    comparisons: frozenset[str]
    contrasts: frozenset[str]
    joins: frozenset[str]
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
    data = language_tables(__package__, "words")[name]
    pairs = [pair.split() for pair in data["opposites"].split(",") if pair.strip()]
    opposites: dict[str, set[str]] = {}
    for pair in pairs:
        one, two = (_forms(word, name) for word in pair)
        for mine, other in ((one, two), (two, one)):
            for form in mine:
                opposites.setdefault(form, set()).update(other)
    names = {each.name for each in fields(WordClasses)} - {"opposites"}
    return WordClasses(
        **{name: frozenset(data[name].split()) for name in names},
        opposites={word: frozenset(others) for word, others in opposites.items()},
    )


def _forms(word: str, language: str) -> set[str]:
    return {word, *analyze(word, language=language)[-1:]}


ROOT = 6
"""Common prefix in letters of related words."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, tokenized in the language of the sources."""

    text: str
    tokens: tuple[TextToken, ...]
    values: tuple[Value, ...]
    weights: Mapping[str, float]
    """Each stem once, in order, with its rarity."""

    @property
    def weight(self) -> float:
        """Return the summed rarity of all stems."""
        return sum(self.weights.values())

    def recall(self, stems: frozenset[str]) -> float:
        """Return the statement's weighted recall among the stems, in [0, 1]."""
        held = sum(weight for stem, weight in self.weights.items() if stem in stems)
        return held / (self.weight or 1.0)

    def kinship(self, stems: frozenset[str]) -> float:
        """Return the recall that also counts words sharing a prefix with a stem."""
        roots = {stem[:ROOT] for stem in stems if len(stem) >= ROOT}
        kin = {stem for stem in self.weights if len(stem) >= ROOT and stem[:ROOT] in roots}
        return self.recall(stems | kin)

    def shown(self, value: Value) -> str:
        """Return a value as written in the statement."""
        if value.last < value.first:
            return value.key
        return self.text[self.tokens[value.first].start : self.tokens[value.last].end]


def read_claim(text: str, *, language: str, sources: Sources) -> Claim:
    """Tokenize a statement like its sources."""
    parts = tokens(text, language=language)
    stems = dict.fromkeys(part.stem for part in parts if part.stem)
    # The speaker's name counts; the verb of saying proves nothing.
    reporting = word_classes(language).reporting
    empty = {part.stem for part in parts if part.word in reporting}
    return Claim(
        text=text,
        tokens=parts,
        values=read_values(text, parts, language=language),
        weights={stem: 0.0 if stem in empty else sources.weight(stem) for stem in stems},
    )

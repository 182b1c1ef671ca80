"""Non-claims, such as "the sources do not say", which need no evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from quoth.answering.verification.claim import word_classes
from quoth.answering.verification.tokens import has_capitalised_nouns, negations, tokens
from quoth.text.analyzer import normalize_name
from quoth.text.tables import language_tables

_NAME = re.compile(r"\{([a-z_]+)\}")
_LEAD_IN = re.compile(r"(?:[^\W\d_]+[ ,'-]{1,2}){0,5}[^\W\d_]+ ?:")
_NUMBER = re.compile(r"\d[\d.,]*")
_VALUE = re.compile(r"\d[\d.,]*|(?<=[\w,;:] )(?!(?:Sources?|I['’]\w+)\b)[A-ZÀ-ÖØ-Þ][\w'’-]*\w")
"""Numbers and names, which make a sentence a claim unless they are in the question."""


@dataclass(frozen=True, slots=True)
class DecliningWords:
    """How sentences of a language decline, in normalized form.

    ``apology`` is a lead that says nothing, alone or before "but"; a sentence with a word of
    ``contrast`` goes on to claim something.
    """

    contractions: tuple[tuple[str, str], ...]
    apology: re.Pattern[str]
    declines: re.Pattern[str]
    contrast: re.Pattern[str]

    def is_declining(self, normalized: str) -> bool:
        """Return whether a sentence only says that the sources do not answer."""
        text = normalized
        for short, long in self.contractions:
            text = text.replace(short, long)
        text = self.apology.sub("", text, count=1)
        if normalized and not text:
            return True
        return bool(self.declines.search(text)) and not self.contrast.search(text)


@cache
def declining_words(language: str) -> DecliningWords:
    """Return the words of a language that has them."""
    data = language_tables(__package__, "declines")[language]
    words: dict[str, str] = {}

    def expanded(pattern: str) -> str:
        return _NAME.sub(lambda match: words[match[1]], pattern)

    for word, pattern in data["words"].items():
        words[word] = expanded(pattern)
    lead = rf"^{data['apology']}\b[ ,.:;!]*(?:{data['but']}\b[ ,]*|{data['that']}\b ?)?"
    return DecliningWords(
        contractions=tuple(data["contractions"].items()),
        apology=re.compile(lead),
        declines=re.compile("|".join(map(expanded, data["patterns"]["all"]))),
        contrast=re.compile(rf"\b(?:{data['contrast']})\b"),
    )


@cache
def _leading() -> re.Pattern[str]:
    tables = language_tables(__package__, "declines").values()
    return re.compile(rf"\b(?:{'|'.join(table['leading'] for table in tables)})\b")


def is_non_claim(statement: str, language: str, *, question: str = "") -> bool:
    """Return whether a sentence only says that the sources do not answer.

    An apology before it makes no difference; a sentence that
    continues with a "but" is a claim, and so is one with a number or a name that is not in the
    ``question``. A short lead-in ("The sources say:") is no claim either.
    """
    known = question.casefold()
    if any(each.rstrip(".,").casefold() not in known for each in _NUMBER.findall(statement)):
        return False
    text = normalize_name(statement).strip(" \"'«»*#")
    languages = language_tables(__package__, "declines")
    capitalised = [each for each in languages if has_capitalised_nouns(each)]
    if any(declining_words(each).is_declining(text) for each in capitalised):
        return True
    leads_in = _LEAD_IN.fullmatch(text) is not None
    if leads_in and has_capitalised_nouns(language):
        return _leading().search(text) is not None
    if any(each.rstrip(".,").casefold() not in known for each in _VALUE.findall(statement)):
        return False
    if _adds_nothing(statement, language, question=question):
        return True
    if leads_in:
        return _leading().search(text) is not None
    return any(declining_words(each).is_declining(text) for each in languages)


def _adds_nothing(statement: str, language: str, *, question: str) -> bool:
    """Return whether a sentence denies that something is said, with no word but the question's."""
    if not question:
        return False
    words = word_classes(language)
    parts = tokens(statement, language=language)
    if not negations(parts) or not any(part.word in words.telling for part in parts):
        return False
    asked = tokens(question, language=language)
    known = {part.stem for part in asked} | {part.word for part in asked}
    own = words.telling | words.source_names | words.reporting
    return all(
        not part.stem or part.stem in known or part.word in known or part.word in own
        for part in parts
    )

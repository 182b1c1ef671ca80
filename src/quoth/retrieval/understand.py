"""Reads a question: its language, its type, and the conditions that it states about pages.

Rules only, for English and French; a question in another language is read by both sets. Words
are matched whole and without accents, so that "specialist" is no list and "VSCode" no versus.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from quoth.analyse import detect_language
from quoth.errors import InputError
from quoth.retrieval.labels import ROMAN, labels_between, to_roman
from quoth.types import Filter, Query, QueryKind

SHORTEST = 3
LONGEST = 1000
INTERFACE_LANGUAGES = ("en", "fr")
MOST_PAGES = 500
"""A longer range of pages is no condition but a figure of speech."""

_ALLOWED_CONTROLS = frozenset("\t\n\r")

Rules = tuple[tuple[QueryKind, re.Pattern[str]], ...]


def _rules(comparison: str, summary: str, exploratory: str, conceptual: str) -> Rules:
    kinds: tuple[tuple[QueryKind, str], ...] = (
        ("comparison", comparison),
        ("summary", summary),
        ("exploratory", exploratory),
        ("conceptual", conceptual),
    )
    return tuple((kind, re.compile(rf"\b(?:{words})\b")) for kind, words in kinds)


_VERSUS = r"versus|vs(?! ?code\b)"

RULES: Mapping[str, Rules] = MappingProxyType(
    {
        "en": _rules(
            comparison=rf"{_VERSUS}|compar(?:e|es|ed|ing|isons?)|contrast|similarit(?:y|ies)"
            r"|differences? (?:between|from|of|in)|differ(?:s|ed)? from|how do .+ differ"
            r"|(?:better|worse|faster|slower) than|which (?:of .+ )?is (?:better|best|faster)",
            summary=r"summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|tl ?;? ?dr|recap|in a nutshell|overview"
            r"|gist|(?:main|key) (?:points?|ideas?|takeaways?|messages?|arguments?)|takeaways?",
            exploratory=r"tell me (?:more )?about|everything about|anything about|explore"
            r"|what (?:topics|subjects|themes)|which (?:talks|documents|books|chapters|speakers)"
            r"|list (?:all|the|every)|who (?:talks|speaks|spoke|talked) about"
            r"|what do (?:we|you|they) (?:know|say|have) (?:about|on)",
            conceptual=r"why|explain(?:s|ed)?|intuition|how (?:do|does|did|can|could) .+ work"
            r"|how (?:do|does) .+ (?:affect|influence|cause|help)s?|what does .+ mean"
            r"|concept (?:of|behind)|principles? (?:of|behind)|idea behind|meaning of",
        ),
        "fr": _rules(
            comparison=rf"{_VERSUS}|compar(?:e|es|er|ez|ons|aisons?)|points? communs?"
            r"|differences? (?:entre|avec|de|d)|differ(?:e|ent) (?:de|d)|par rapport a"
            r"|(?:mieux|meilleure?s?|pire|plus \w+|moins \w+) que|qu ?est ce qui distingue",
            summary=r"resum(?:e|es|er|ez|ons)|synthese|synthetis(?:e|er|ez)|recapitul(?:e|er|ez|atif)"
            r"|en bref|vue d ensemble|(?:idees?|points?|messages?|arguments?) (?:principa\w+|cles?)"
            r"|grandes lignes|l essentiel",
            exploratory=r"parle[zr]? moi d[eu]s?|parle moi d|dis moi tout|tout (?:savoir )?sur"
            r"|que sait on|qu ?est ce qu on sait|quels? (?:sujets?|themes?|exposes?|chapitres?)"
            r"|quelles? (?:presentations?|conferences?|interventions?)|qui parle d[eu]s?"
            r"|que disent|lister?|explor(?:e|er|ons|ez)",
            conceptual=r"pourquoi|expli(?:que|quer|quez|quons|cation)|comment .*fonctionne(?:nt)?"
            r"|comment (?:marche|marchent)|que (?:signifie|veut dire)|qu ?est ce que .+ signifie"
            r"|principes? d[eu]s?|notion d[eu]|concept d[eu]|intuition|a quoi (?:sert|servent)",
        ),
    }
)  # fmt: skip
"""The first rule that matches gives the type; factual where none does."""

_LABEL = rf"(\d{{1,5}}|[a-z]\d{{1,4}}|(?=[ivxlcdm]){ROMAN.pattern})(?![\w'’])"
_PAGE = r"(?:pages?|pp?\.)\s*"
_PAGES = re.compile(
    rf"(?<![\w-]){_PAGE}{_LABEL}(?:\s*(-|–|—|\.\.|to|through|until|a|jusqu['’]a|and|et|&)"
    rf"\s*(?:(?:the |la )?{_PAGE})?{_LABEL})?"
)
_LISTED = frozenset(("and", "et", "&"))
_SINGLE_LETTERS = frozenset("cdlm")


def validate(text: str) -> str:
    """Give the question back unchanged if it can be asked; raises InputError with the reason."""
    length = len(text.strip())
    if not length:
        raise InputError("The question is empty. Type what you want to know.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            "The question holds half of a character (a lone surrogate), as broken copying leaves. "
            "Type it again or send it as valid Unicode."
        )
    for character in text:
        if unicodedata.category(character) == "Cc" and character not in _ALLOWED_CONTROLS:
            raise InputError(
                f"The question holds a control character (U+{ord(character):04X}) that cannot be "
                "searched for. Remove it and ask again."
            )
    if length < SHORTEST:
        raise InputError(
            f"The question has {length} character{'s' * (length > 1)}; it needs at least "
            f"{SHORTEST}. Ask in a few words."
        )
    if len(text) > LONGEST:
        raise InputError(
            f"The question has {len(text):,} characters; at most {LONGEST:,} can be asked at once. "
            "Shorten it to the point you want to know."
        )
    if not any(character.isalnum() for character in text):
        raise InputError("The question holds no letter and no digit. Ask in words.")
    return text


def understand(text: str, *, languages: Sequence[str], fallback_language: str = "en") -> Query:
    """Read a valid question against a collection that holds documents in these languages.

    The language is one of the collection's or of the interface's, else the fallback. A page is
    meant by its printed label. Nothing is taken out of the question.
    """
    language = detect_language(
        text, among=(*languages, *INTERFACE_LANGUAGES), fallback=fallback_language
    )
    filters = _page_filters(text)
    kind = "page_specific" if filters else _kind(text, language=language)
    return Query(original=text, standalone=text, language=language, kind=kind, filters=filters)


def _kind(text: str, *, language: str) -> QueryKind:
    words = " ".join(re.findall(r"\w+", _folded(text)))
    rules = (
        RULES[language] if language in RULES else tuple(r for each in RULES.values() for r in each)
    )
    return next((kind for kind, pattern in rules if pattern.search(words)), "factual")


def _page_filters(text: str) -> tuple[Filter, ...]:
    """Give one condition that holds all the printed labels that the text names."""
    if "p" not in text and "P" not in text:
        return ()
    labels: list[str] = []
    folded = _folded(text)
    for found in _PAGES.finditer(folded):
        first, joint, last = found.groups()
        alone = joint is None and folded[found.end() :].strip(' ?!.,;:)"»”') != ""
        if first in _SINGLE_LETTERS or (first == "i" and alone):
            continue  # "the page I read", "page d": a word, not a number
        if joint in _LISTED:
            labels += [first, last]
        else:
            labels += _between(first, last or first)
    return (Filter("label", "in", tuple(dict.fromkeys(labels))),) if labels else ()


def _between(first: str, last: str) -> list[str]:
    """Give all labels from first to last; none where they make no range."""
    if first == last:
        return [first]
    between = labels_between(first, last)
    if between is None or len(between) > MOST_PAGES:
        return []
    return [str(n) if first.isdecimal() else to_roman(n) for n in between]


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")

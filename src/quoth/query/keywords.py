"""Content words and candidate names of a query."""

from __future__ import annotations

import re
from itertools import islice

from quoth.core.types import Query
from quoth.query.tokens import FUNCTION_WORDS, folded_words
from quoth.text.analyzer import analyze

NAME_WORDS = (2, 1, 3, 4)
"""Lengths in words of candidate names, most likely first."""
MAX_NAMES = 200
"""Maximum candidate names per query."""

_WORD = re.compile(r"[^\W_](?:[\w.@&/+#-]*[\w+#])?")
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)['’](?=\w)", re.IGNORECASE)
_ENDING = re.compile(r"(?<=\w)['’](?:s|m|t|d|re|ve|ll)\b", re.IGNORECASE)
# Question words, which a passage with the answer need not contain.
_ASKING = frozenset(
    analyze(
        "mean means meaning called define definition difference differences differ compare "
        "comparison explain explained describe description tell say said talk talks discuss "
        "discussed mention mentioned give example examples summary summarize summarise overview "
        "main key list name work works working kind type types way ways thing things happen "
        "happens purpose role reason reasons point points idea ideas question answer know use "
        "used many much one someone people",
        language="en",
    )
    + analyze(
        "signifie veut dire appelle définir définition différence différences compare comparer "
        "comparaison explique expliquer expliquez décrire décrit parle parler parlez donne donner "
        "donnez exemple exemples résume résumer résumez résumé principal principaux principales "
        "liste lister fonctionne fonctionnent fonctionner marche marchent type types sorte sortes "
        "façon manière chose choses sert servent rôle raison raisons point points idée idées "
        "question réponse savoir sait utilise utiliser faut doit doivent existe",
        language="fr",
    )
)


def content_words(text: str, *, language: str) -> list[str]:
    """Return the distinct content words of a query as written, in order."""
    found: dict[str, str] = {}
    for word in _WORD.findall(_ENDING.sub("", _ELIDED.sub(" ", text))):
        stems = analyze(word, language=language)
        if stems and not _ASKING.issuperset(stems):
            found.setdefault(stems[-1], word)
    return list(found.values())


def capitalised_terms(query: Query) -> tuple[str, ...]:
    """Return runs of up to four words that may be names, normalized as links are.

    Linked entities come first. Which of the others are names of the collection is left to its
    catalogue.
    """
    entities = [" ".join(folded_words(entity)) for entity in query.entities]
    words = folded_words(query.standalone)
    runs = (
        words[start : start + length]
        for length in NAME_WORDS
        for start in range(len(words) - length + 1)
    )
    names = (
        " ".join(run)
        for run in runs
        if not {run[0], run[-1]} & FUNCTION_WORDS and len("".join(run)) > 1
    )
    return tuple(islice(dict.fromkeys([*filter(None, entities), *names]), MAX_NAMES))

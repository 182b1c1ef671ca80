"""What two questions must have in common before one answer may serve both.

Two questions can look nearly the same and ask for different things: another page, another name, a
negation, a comparative turned round. The cosine of their vectors hardly sees it, so a cache of
answers asks `may_share` as well. The rules know English and French and rather refuse than err.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from quoth.analyse import STOP_WORDS, fold, terms
from quoth.numerals import WORDS, roman_number

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:-[^\W_]+)*")
_PLACES = frozenset("page pages p pp chapter chapitre ch part partie".split())
_NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor without cannot t pas jamais aucun aucune sans "
    "rien personne except but hors sauf unless forbidden interdit interdite".split()
)
_POLES = frozenset(
    """
    more less fewer most least exactly before after since until first last next previous maximum
    minimum max min average mean best worst better worse fast faster slow slower large larger
    small smaller high higher low lower increase decrease raise reduce enable disable accept reject
    open close begin end start stop left right all every one most both each per during between
    second seconds minute minutes hour hours day days month year half million billion
    plus moins avant apres depuis jusqu premier premiere premieres premiers dernier derniere
    dernieres derniers deuxieme prochain precedent maximale minimale moyenne maximal minimal
    meilleur pire moyen augmenter diminuer reduire activer desactiver accepter refuser ouvrir
    fermer commencer finir gauche droite tous toutes seul plupart exactement mois an annee jour
    jours heure heures seconde secondes demi millions milliard milliards
    """.split()
)
_TOWARDS = frozenset("from to into than vers".split())
_ASKED = {
    **dict.fromkeys("who whom whose qui".split(), "who"),
    **dict.fromkeys("when quand".split(), "when"),
    **dict.fromkeys("where ou".split(), "where"),
    **dict.fromkeys("why pourquoi".split(), "why"),
    **dict.fromkeys("how comment".split(), "how"),
    **dict.fromkeys("summarise summarize summary resume resumer synthese".split(), "summary"),
}
_SYMMETRIC = frozenset(
    "compare comparer comparez compared difference differ differences different differe "
    "differentes differents similarities versus vs entre between".split()
)
_ALIKE = 0.7
"""Likeness of two words from which they are taken for different names of one form, such as
encoder and decoder."""


def slots(text: str) -> frozenset[str]:
    """Give what must be equal: numbers, names, negation, comparatives, directions."""
    words = _WORD.findall(text)
    plain = [fold(each).lower() for each in words]
    found = {"not"} if set(plain) & _NEGATIONS else set()
    for at, (word, small) in enumerate(zip(words, plain, strict=True)):
        before = plain[at - 1] if at else ""
        if word[0].isdecimal():
            found.add(f"number {small}")
        elif before in _PLACES and (roman := roman_number(word)):
            found.add(f"number {roman}")
        elif WORDS.get(small, 1) > 1:
            found.add(f"number {WORDS[small]}")
        elif _is_name(word, first=not at):
            found.add(f"name {small}")
        if small in _POLES:
            found.add(f"pole {small}")
        if before in _TOWARDS:
            found.add(f"{before} {small}")
    return frozenset(found)


def may_share(one: str, other: str) -> bool:
    """Whether nothing in the wording speaks against one answer for both questions; symmetric."""
    if slots(one) != slots(other) or _conflict(_asked(one), _asked(other)):
        return False
    first, second = _content(one), _content(other)
    if sorted(first) == sorted(second):
        return first == second or bool(_SYMMETRIC & {*_plain(one), *_plain(other)})
    return not _twins(set(first) - set(second), set(second) - set(first))


def _is_name(word: str, *, first: bool) -> bool:
    inside = any(sign.isupper() for sign in word[1:]) or any(sign.isdecimal() for sign in word)
    return inside or (word[0].isupper() and not first and fold(word).lower() not in _STOPS)


def _asked(text: str) -> set[str]:
    return {_ASKED[each] for each in _plain(text) if each in _ASKED}


def _conflict(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and one != other


def _plain(text: str) -> list[str]:
    return [fold(each).lower() for each in _WORD.findall(text)]


def _content(text: str) -> list[str]:
    """The stems that carry the subject, in their order; one stemmer for all, to compare only."""
    return terms(" ".join(each for each in _plain(text) if each not in _STOPS), language="en")


def _twins(one: set[str], other: set[str]) -> bool:
    """Whether a word of one is like a word of the other, and yet another word."""
    return any(
        SequenceMatcher(None, a, b).ratio() >= _ALIKE and not (a.startswith(b) or b.startswith(a))
        for a in one
        for b in other
    )


_STOPS = frozenset(fold(each).lower() for words in STOP_WORDS.values() for each in words)

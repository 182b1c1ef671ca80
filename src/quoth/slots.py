"""What two questions must have in common before one answer may serve both.

Two questions can look nearly the same and ask for different things: another page, another name, a
negation, a comparative turned round. The cosine of their vectors hardly sees it, so a cache of
answers asks `may_share` as well. The rules know English and French and rather refuse than err.
"""

from __future__ import annotations

import re

from quoth.analyse import STOP_WORDS, detect_language, fold, terms
from quoth.numerals import WORDS, roman_number

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:-[^\W_]+)*")
_PLACES = frozenset("page pages p pp chapter chapitre ch part partie".split())
_NEGATIONS = frozenset(
    """
    not no non never none nobody nothing neither nor without cannot t pas jamais aucun aucune sans
    rien personne except but hors sauf unless forbidden interdit interdite
    """.split()
)
_POLES = frozenset(
    """
    more less fewer most least exactly before after since until first last next previous maximum
    minimum max min average best worst better worse fast faster slow slower large larger
    small smaller high higher low lower increase decrease raise reduce enable disable accept reject
    open close begin end start stop left right all every most both each per during between
    without second seconds minute minutes hour hours day days month half million billion
    plus moins avant apres depuis jusqu premier premiere premieres premiers dernier derniere
    dernieres derniers deuxieme prochain precedent maximale minimale moyenne maximal minimal
    meilleur pire augmenter diminuer reduire activer desactiver accepter refuser ouvrir fermer
    commencer finir gauche droite tous toutes seul plupart exactement sans mois jour jours heure
    heures seconde secondes demi millions milliard milliards
    """.split()
)
_ASKED = {
    **dict.fromkeys("who whom whose qui author auteur".split(), "who"),
    **dict.fromkeys("when quand year annee date".split(), "when"),
    **dict.fromkeys("where ou place endroit lieu".split(), "where"),
    **dict.fromkeys("why pourquoi reason raison makes rend".split(), "why"),
    **dict.fromkeys("how comment way manner facon maniere moyen explain explique".split(), "how"),
    **dict.fromkeys("summarise summarize summary resume resumer synthese".split(), "summary"),
}
_AFTER_HOW = frozenset("do does did is are was were can could should to come i".split())
_OPENING = 5
"""Words in which a question says what it asks for; later ones join its clauses."""
_SYMMETRIC = frozenset(
    "compare comparer comparez compared difference differ differences different differe "
    "differentes differents similarities versus vs entre between".split()
)
_ASKING = frozenset(
    """
    tell explain explained explains describe show give name work works working function functions
    mean means meaning say said kind kinds type types sort sorts exist exists please possible
    allowed able know knowledge reasons case cases called take takes happen happens entitled job
    role purpose use used uses exactly long amount many much example examples question
    dis dire dit expliquer decris montre donne donner marche fonctionne fonctionner signifie
    signification sens sorte sortes existe permis droit besoin necessaire faut rendre parle sujet
    sert servir utilite cas trouve trouver appelle appelait nomme arrive passe exemple exemples
    exactement temps
    """.split()
) | {*_ASKED}
"""Words about the asking; they may differ where the rest is the same."""


def slots(text: str) -> frozenset[str]:
    """Give what must be equal: numbers, names, negation, comparatives, units."""
    plain = _plain(text)
    found = {f"pole {each}" for each in plain if each in _POLES}
    found |= {"not" for each in plain if each in _NEGATIONS}
    found |= {"compare" for each in plain if each in _SYMMETRIC}
    before = ""
    for at, word in enumerate(_WORD.findall(text)):
        small = fold(word).lower()
        if word[0].isdecimal():
            found.add(f"number {small}")
        elif before in _PLACES and (roman := roman_number(word)):
            found.add(f"number {roman}")
        elif WORDS.get(small, 1) > 1:
            found.add(f"number {WORDS[small]}")
        elif _is_name(word, first=not at):
            found.add(f"name {small}")
        before = small
    return frozenset(found)


def may_share(one: str, other: str) -> bool:
    """Whether nothing in the wording speaks against one answer for both questions; symmetric."""
    if slots(one) != slots(other) or _turned_round(_plain(one), _plain(other)):
        return False
    asked, asked_too = _asked(one), _asked(other)
    if asked and asked_too and asked != asked_too:
        return False
    language = detect_language(f"{one} {other}", among=("en", "fr"), fallback="en")
    first, second = _content(one, language), _content(other, language)
    only, instead = first - second, second - first
    if not only and not instead:
        return asked == asked_too
    # One word more, or one for another in the same sentence, is another question; where several
    # differ it may be said in other words, of which the cosine is the judge.
    return min(len(only), len(instead)) > 0 and len(only) + len(instead) > 2


def _turned_round(one: list[str], other: list[str]) -> bool:
    """Whether the same words stand in another order that may change who does what to whom."""
    if one == other or sorted(one) != sorted(other) or _SYMMETRIC & {*one}:
        return False
    return all(one[at:] + one[:at] != other for at in range(len(one)))


def _is_name(word: str, *, first: bool) -> bool:
    inside = any(sign.isupper() for sign in word[1:]) or any(sign.isdecimal() for sign in word)
    return inside or (word[0].isupper() and not first and fold(word).lower() not in _STOPS)


def _asked(text: str) -> set[str]:
    words = _plain(text)[:_OPENING]
    found = set()
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        # "How many" asks for a number, and a "qui" inside a sentence joins a clause.
        other = (word == "how" and following not in _AFTER_HOW) or (word == "qui" and at > 1)
        if word in _ASKED and not other:
            found.add(_ASKED[word])
    return found


def _plain(text: str) -> list[str]:
    return [part for each in _WORD.findall(text) for part in fold(each).lower().split("-")]


def _content(text: str, language: str) -> set[str]:
    """The stems that carry the subject; numbers and short words are left to `slots`."""
    words = [each for each in _plain(text) if each not in _WITHOUT_SUBJECT]
    kept = [each for each in words if len(each) > 2 and not each[0].isdecimal()]
    return set(terms(" ".join(kept), language=language))


_STOPS = frozenset(fold(each).lower() for words in STOP_WORDS.values() for each in words)
# What slots have compared already need not be the same word: two is 2.
_WITHOUT_SUBJECT = _STOPS | _ASKING | _SYMMETRIC | {*WORDS}

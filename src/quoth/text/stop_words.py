"""Stop words: the words of a language that carry no subject."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from stop_words import StopWordError, get_stop_words

_ENGLISH = """
    a about above after again against all also am an and any are aren as at be because been
    before being below between both but by can cannot could couldn did didn do does doesn doing
    don down during each either else ever every few for from further get had hadn has hasn have
    haven having he her here hers herself him himself his how i if in into is isn it its itself
    just let like me might more most mustn my myself no nor not of off on once only or other ought
    our ours ourselves out over own please same shall shan she should shouldn so some such tell
    than that the their theirs them themselves then there these they this those through to too
    under until up upon very was wasn we were weren what when where whether which while who
    whom whose why will with within without won would wouldn yet you your yours yourself
    yourselves"""
_FRENCH = """
    a à afin ai aie ainsi alors après as au aucun aucune aujourd auquel aura aussi autre autres
    aux auxquelles auxquels avait avant avec avez avoir avons car ce ceci cela celle celles celui
    ces cet cette ceux chaque chez ci combien comme comment dans de depuis des desquelles desquels
    dès donc dont du duquel elle elles en encore entre es est et étaient étais était étant été
    êtes être eu eux fait faire fais font hui il ils je jusque la là laquelle le lequel les
    lesquelles lesquels leur leurs lors lorsque lui ma mais me même mêmes mes moi moins mon ne ni
    non nos notre nôtre nous on ont ou où oui par parce pas pendant peu peut peux plus pour
    pourquoi puis puisque quand que quel quelle quelles quels quelque quelques qui quoi sa sans se
    sera ses si sien soi soit sommes son sont sous suis sur ta te tes toi ton tous tout toute
    toutes très tres tu un une vers veut veux via voici voilà vos votre vôtre vous vu y ça
    apres ca etaient etais etait etant ete etes etre meme memes voila"""
ENGLISH = frozenset(_ENGLISH.split())
FRENCH = frozenset(_FRENCH.split())
STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType({"en": ENGLISH, "fr": FRENCH})
"""Words that carry no subject, per language; the terms of an index are without them. Another
language keeps all its words in the index; queries lose those of `query_stop_words`."""


@cache
def query_stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that no query is about; empty for an unknown language."""
    if not language:
        return frozenset()
    try:
        return STOP_WORDS.get(language) or frozenset(get_stop_words(language))
    except StopWordError:
        return frozenset()

"""Reads titles that are named by their kind alone, or that are misspelt where a place is named."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence

from quoth.query.entity_index import LONGEST_NAME, EntityIndex, Lookup
from quoth.query.entity_linking import spelt_as
from quoth.query.filters.extracted import NOTHING, ExtractedFilters, restrict_to
from quoth.query.source_terms import SAYS, SAYS_FR
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem

LEAST_TELLING = 3
"""Words that a title must have for one that is misspelt in the middle of a question."""
SHORT_WORD = 5
"""A shorter word may be any word misspelt."""

_ALONE = (
    r"(handbook|guide|manual|faq|policy|report|notes|almanac|dictionary|charter|audit|textbook"
    r"|manuel|politique|rapport|charte|reglement|notice|dictionnaire|annuaire|catalogue)"
)
_ONLY_ONE = re.compile(
    r"(?:\b(?:in|from|per|according to|inside|under|see|dans|selon|d'apres|consulte[rz]?) "
    rf"(?:the|our|le|la|l'|notre) ?{_ALONE}\b(?! (?:of|on|about|for|to|de|du|des|sur|pour)\b| d')"
    rf"|\b(?:the|our|le|la|notre) {_ALONE} (?={SAYS}\b|{SAYS_FR}\b|lists?\b|contains?\b|allows?\b"
    r"|forbids?\b|requires?\b|prevoit\b|exige\b|interdit\b|autorise\b|impose\b|contient\b))"
    rf"|\b(?:does|do|did|que|qu'est-ce que)(?: \w+)? (?:the|our|le|la|notre) {_ALONE} (?=\w+)"
)
_PLACE = re.compile(
    r"\b(?:in|from|during|within|throughout|inside|per|dans|selon|pendant|summari[sz]e|resume[rz]?"
    r"|according to|d'apres|watching|reading)(?: the| talk| book| video| le| la| les| l')* ?(?=\w)"
)


def unique_title_match(
    asked: TokenizedQuery, *, names: EntityIndex, among: Collection[str]
) -> ExtractedFilters:
    """Read "in the handbook" where one document alone has that word in its title."""
    for found in _ONLY_ONE.finditer(asked.folded):
        noun = stem(next(each for each in found.groups() if each))
        owners = {
            document
            for place in names.titles.by_word.get(noun, ())
            for document in names.titles.names[place].documents
        }
        if len(owners) == 1 and not owners.isdisjoint(among):
            return ExtractedFilters(restrict_to("document", owners))
    return NOTHING


def misspelt_place(
    asked: TokenizedQuery, *, names: EntityIndex, among: Collection[str]
) -> ExtractedFilters:
    """Read a long title with slips in its spelling behind a word that names a place."""
    lookup = names.titles
    if not lookup.misspelt:
        return NOTHING
    for cue in _PLACE.finditer(asked.folded):
        first = bisect_left(asked.starts, cue.end())
        found = _read(asked.words[first : first + LONGEST_NAME], lookup)
        ids = [each for each in lookup.names[found[0]].documents if each in among] if found else []
        if found and ids:
            span = asked.starts[first], asked.ends[first + found[1] - 1]
            return ExtractedFilters(restrict_to("document", ids), spans=(span,))
    return NOTHING


def _read(words: Sequence[str], lookup: Lookup) -> tuple[int, int] | None:
    """Give the place of a title that words spell with slips, and how many words it takes."""
    known: set[str] = set()
    places: frozenset[int] | None = None
    slips = unread = 0
    for at, word in enumerate(words):
        plain = stem(word)
        spelt = plain if plain in lookup.by_word else None
        if not spelt:
            if word in FUNCTION_WORDS:
                continue
            spelt = _spelt(word, lookup)
            slips += 1
        if not spelt and (unread or len(word) >= SHORT_WORD):
            return None
        if spelt:
            known.add(spelt)
            held = lookup.by_word[spelt]
            places = held if places is None else places & held
        else:
            unread += 1
        for place in sorted(places or ()) if slips else ():
            telling = lookup.names[place].distinctive_words
            if LEAST_TELLING <= len(telling) == len(known) + unread:
                return place, at + 1
    return None


def _spelt(word: str, lookup: Lookup) -> str | None:
    """Give a word of titles as they spell it, also where its article is stuck to it."""
    stuck = word[0] in "ld" and len(word) > SHORT_WORD
    return spelt_as(stem(word), lookup) or (spelt_as(stem(word[1:]), lookup) if stuck else None)

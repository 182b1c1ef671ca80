"""Finds the real names that a question means: written out, cut short, or misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from quoth.query.entity_index import (
    HONORIFICS,
    LONGEST_MISSPELT,
    LONGEST_NAME,
    SHORTEST_MISSPELT,
    Entity,
    EntityIndex,
    Lookup,
    NameKind,
    slips_of,
)
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem

ALIKE = 0.75
"""Share of letters that two words must have in common to be spellings of one name."""
NEARLY, LONG_ENOUGH = 0.85, 6
"""The same share, and the letters, from which one misspelt word is enough to mean a person."""
MOST_GUESSES = 8
"""A phrase that fits more names than these means none of them."""
GENERIC = frozenset(
    "talk talks presentation lecture keynote session video webinar course speech workshop podcast "
    "episode interview book paper article report document novel guide manual slide slides talk "
    "expose conference intervention seance cours livre ouvrage rapport memoire roman entretien "
    "bouquin polycopie poly brochure livret billet emission booklet handout slides diapos chap ch "
    "topic subject sujet theme chapter chapitre section part partie first second third last "
    "next final "
    "opening closing whole entire new old same other best good short long main full original "
    "premier premiere dernier derniere autre meme nouveau nouvelle".split()
)
"""Words for sources themselves; they tell none of them apart."""


_SOUNDS = (("ph", "f"), ("th", "t"), ("ck", "k"), ("ch", "k"), ("c", "k"), ("y", "i"), ("z", "s"))


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a question, from `first` up to `last` (exclusive), that spell names exactly."""

    first: int
    last: int
    names: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class LinkedEntities:
    """The names that a phrase may mean; ``sure`` if it can mean nothing else."""

    names: tuple[Entity, ...]
    unambiguous: bool


def mentions(asked: TokenizedQuery, names: EntityIndex) -> list[Mention]:
    """Give the names that are spelled out in a question, the longest first at each place.

    Names within longer ones are left out.
    """
    stems = [stem(word) for word in asked.words]
    found: list[Mention] = []
    at, count = 0, len(stems)
    while at < count:
        longest = names.longest
        most = longest.get(stems[at], 0)
        if at + 1 < count:
            most = max(most, longest.get(f"{stems[at]} {stems[at + 1]}", 0))
        most = min(most, LONGEST_NAME, count - at)
        for size in range(most, 0, -1):
            spelled = names.by_spelling.get(" ".join(stems[at : at + size]))
            if spelled:
                found.append(Mention(at, at + size, spelled))
                at += size - 1
                break
        at += 1
    return found


def of_kind(mention: Mention, kind: NameKind) -> tuple[Entity, ...]:
    """Give the names of one kind among those of a mention."""
    return tuple([each for each in mention.names if each.kind == kind])


def resolve(
    words: Sequence[str], lookup: Lookup, *, names: EntityIndex, strict: bool = False
) -> LinkedEntities | None:
    """Find the titles or headings that a phrase describes by some of their words.

    ``strict`` asks for half of a title's words, and for no single word that is misspelt.
    """
    told = [
        stem(w)
        for w in words
        if w in lookup.acronyms or (w not in FUNCTION_WORDS and w not in GENERIC)
    ]
    known = [spelt for word in told if (spelt := spelt_as(word, lookup))]
    if not known:
        return None
    places = sorted({lookup.by_word[word] for word in known}, key=len)
    common = places[0].intersection(*places[1:])
    whole = len(known) == len(told)
    if common:
        exact = [p for p in common if len(lookup.names[p].distinctive_words) == len(set(known))]
        told_all = frozenset(map(stem, words)).union(known)
        chosen = sorted(exact or _most_distinctive(common, told_all, lookup))
        found = tuple([lookup.names[place] for place in chosen])
        misspelt = len(known) == 1 and known != told
        half = 2 * len(found[0].distinctive_words & told_all) >= len(found[0].distinctive_words)
        enough = half if strict or misspelt else half or _is_distinctive(found[0], known, names)
        sure = whole and (bool(exact) or (len(found) == 1 and enough))
        # A short title within a longer description: "the talk on scaling laws for small models".
        sure = sure or (bool(exact) and len(found) == 1 and len(set(known)) > 1)
        return LinkedEntities(found, sure) if sure or len(found) <= MOST_GUESSES else None
    scores: dict[int, int] = {}
    for each in places:
        if len(each) <= 4 * MOST_GUESSES:
            for place in each:
                scores[place] = scores.get(place, 0) + 1
    best = max(scores.values(), default=0)
    chosen = sorted(place for place, score in scores.items() if score == best)
    if not chosen or 2 * best < len(told) or len(chosen) > MOST_GUESSES:
        return None
    return LinkedEntities(tuple([lookup.names[place] for place in chosen]), False)


def _most_distinctive(places: frozenset[int], told: frozenset[str], lookup: Lookup) -> list[int]:
    """Keep the names of which most words are told, the word for the source among them."""
    if len(places) > MOST_GUESSES:
        return sorted(places)
    counts = {place: len(lookup.names[place].distinctive_words & told) for place in places}
    return [place for place in places if counts[place] == max(counts.values())]


def resolve_speaker(words: Sequence[str], names: EntityIndex) -> LinkedEntities | None:
    """Find the speakers that a name means: whole, first or last name, or misspelt."""
    typed = [word for word in words if word not in HONORIFICS]
    if not typed:
        return None
    called = [names.called.get(word, ()) for word in typed]
    if all(called):
        both = [each for each in called[0] if all(each in others for others in called[1:])]
        if both:
            return LinkedEntities(tuple(both), True)
    lookup = names.speakers
    guesses: dict[Entity, float] = {}
    for word in typed:
        known = spelt_as(word, lookup) or spelt_as(stem(word), lookup)
        for place in lookup.by_word.get(known, ()) if known else ():
            name = lookup.names[place]
            guesses[name] = guesses.get(name) or _likeness(typed, name)
        if len(guesses) > 4 * MOST_GUESSES:
            return None
    best = max(guesses.values(), default=0.0)
    if best < ALIKE:
        return None
    found = tuple([name for name, score in guesses.items() if score == best])
    alone = len(typed) == 1 and (best < NEARLY or len(typed[0]) < LONG_ENOUGH)
    return LinkedEntities(found, len(found) == 1 and not alone)


def phrases(words: Sequence[str], *, first: int, most: int) -> Iterator[tuple[str, ...]]:
    """Give the words from a place on, the longest stretch first."""
    for size in range(min(most, len(words) - first), 0, -1):
        yield tuple(words[first : first + size])


def spelt_as(word: str, lookup: Lookup) -> str | None:
    """Give the word as names spell it, if it or a misspelling of it is known."""
    if word in lookup.by_word:
        return word
    feminine = f"{word}{word[-1]}e"  # "virtuel", "virtuelle"
    if feminine in lookup.by_word:
        return feminine
    if not SHORTEST_MISSPELT <= len(word) <= LONGEST_MISSPELT or word.isdecimal():
        return None
    near = {each for slip in slips_of(word) for each in lookup.misspelt.get(slip, ())}
    alike = {each: SequenceMatcher(None, word, each).ratio() for each in near}
    best = max(alike, key=lambda each: (alike[each], each), default=None)
    return best if best and alike[best] > 0.8 and best[0] == word[0] else None


def _is_distinctive(name: Entity, known: Sequence[str], names: EntityIndex) -> bool:
    """Whether words that only this title has are enough to mean it."""
    return len(set(known)) > 2 or any(
        names.spread.get(word, 0) <= len(name.documents) for word in known
    )  # fmt: skip


def _likeness(typed: Sequence[str], name: Entity) -> float:
    """How alike two spellings of a person's name are, by their worst pair of words."""
    words = [word for word in name.words if word not in HONORIFICS]
    return min(max(_closeness(one, other) for other in words) for one in typed)


def _closeness(one: str, other: str) -> float:
    """How alike two words are, as they are spelt or as they sound."""
    pairs = ((one, other), (_sound(one), _sound(other)))
    return max(SequenceMatcher(None, *pair).ratio() for pair in pairs)


def _sound(word: str) -> str:
    """Spell a word as it sounds: "sophia" and "sofia", "catherine" and "katerine"."""
    for letters, plain in _SOUNDS:
        word = word.replace(letters, plain)
    return word

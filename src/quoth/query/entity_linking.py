"""Entity linking: full, shortened or misspelled names of the collection in a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from quoth.query.entity_index import (
    MAX_MISSPELLED,
    MAX_NAME_WORDS,
    MIN_MISSPELLED,
    Entity,
    EntityIndex,
    Lookup,
    NameKind,
)
from quoth.query.filters.patterns import word_set
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem

MIN_SIMILARITY = 75
"""Similarity, in percent, from which two spellings may mean one person."""
NEARLY_EQUAL, MIN_LETTERS = 85, 6
"""The similarity, and the length in letters, from which a misspelled name identifies a person."""
SIMILAR_WORDS = 80
"""Similarity, in percent, from which a word is a misspelling of one of a title."""
MAX_GUESSES = 8
"""A phrase with more matching names than this matches none."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a query, from `first` up to `last` (exclusive), that exactly spell names."""

    first: int
    last: int
    names: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class LinkedEntities:
    """Candidate names of a phrase; ``unambiguous`` if it can mean nothing else."""

    names: tuple[Entity, ...]
    unambiguous: bool


def mentions(asked: TokenizedQuery, names: EntityIndex) -> list[Mention]:
    """Return exact mentions of names in a query, the longest first at each position.

    Names within longer ones are left out. The letter A of an index is meant by no small "a".
    """
    stems = [stem(word) for word in asked.words]
    found: list[Mention] = []
    at, count = 0, len(stems)
    while at < count:
        for size in range(min(MAX_NAME_WORDS, count - at), 0, -1):
            spelled = names.by_spelling.get(" ".join(stems[at : at + size]))
            if (
                spelled
                and size == 1
                and len(word := asked.words[at]) == 1
                and word in FUNCTION_WORDS
            ):
                written = asked.clean[asked.starts[at] : asked.ends[at]]
                spelled = tuple(name for name in spelled if written in name.real)
            if spelled:
                found.append(Mention(at, at + size, spelled))
                at += size - 1
                break
        at += 1
    return found


def of_kind(mention: Mention, kind: NameKind) -> tuple[Entity, ...]:
    """Return the names of one kind among those of a mention."""
    return tuple(name for name in mention.names if name.kind == kind)


def resolve(words: Sequence[str], lookup: Lookup, *, names: EntityIndex) -> LinkedEntities | None:
    """Return the titles or headings that a phrase matches by some of their words."""
    content = [
        stem(w)
        for w in words
        if w in lookup.acronyms or (w not in FUNCTION_WORDS and w not in word_set("generic"))
    ]
    known = [spelt for word in content if (spelt := correct_word(word, lookup))]
    if not known:
        return None
    places = sorted({lookup.by_word[word] for word in known}, key=len)
    common = places[0].intersection(*places[1:])
    whole = len(known) == len(content)
    if common:
        exact = [p for p in common if len(lookup.names[p].distinctive_words) == len(set(known))]
        told_all = frozenset(map(stem, words)).union(known)
        chosen = sorted(exact or _most_distinctive(common, told_all, lookup))
        found = tuple([lookup.names[place] for place in chosen])
        misspelled = len(known) == 1 and known != content
        half = 2 * len(found[0].distinctive_words & told_all) >= len(found[0].distinctive_words)
        enough = half or (not misspelled and _is_distinctive(found[0], known, names))
        sure = whole and (bool(exact) or (len(found) == 1 and enough))
        # A short title within a longer description: "the talk on scaling laws for small models".
        sure = sure or (bool(exact) and len(found) == 1 and len(set(known)) > 1)
        return LinkedEntities(found, sure) if sure or len(found) <= MAX_GUESSES else None
    scores: dict[int, int] = {}
    for owners in places:
        if len(owners) <= 4 * MAX_GUESSES:
            for place in owners:
                scores[place] = scores.get(place, 0) + 1
    best = max(scores.values(), default=0)
    chosen = sorted(place for place, score in scores.items() if score == best)
    if not chosen or 2 * best < len(content) or len(chosen) > MAX_GUESSES:
        return None
    return LinkedEntities(tuple([lookup.names[place] for place in chosen]), False)


def _most_distinctive(places: frozenset[int], words: frozenset[str], lookup: Lookup) -> list[int]:
    """Keep the names with the most matched words, including the word for the source."""
    if len(places) > MAX_GUESSES:
        return sorted(places)
    counts = {place: len(lookup.names[place].distinctive_words & words) for place in places}
    return [place for place in places if counts[place] == max(counts.values())]


def resolve_speaker(words: Sequence[str], names: EntityIndex) -> LinkedEntities | None:
    """Return the speakers matching a full, first, last or misspelled name."""
    called = [names.speakers_by_name.get(word, ()) for word in words]
    common = [person for person in called[0] if all(person in people for people in called[1:])]
    if common:
        return LinkedEntities(tuple(common), True)
    typed = " ".join(words)
    if len(words) > 1:
        choices = {person: " ".join(person.words) for person in names.speakers.names}
        found = process.extract(
            typed, choices, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=2
        )
        if not found:
            return None
        best = found[0][1]
        people = tuple(person for _, score, person in found if score == best)
        return LinkedEntities(people, len(people) == 1 and best >= NEARLY_EQUAL)
    if len(typed) < MIN_MISSPELLED:
        return None
    closest = process.extractOne(
        typed, names.speakers_by_name.keys(), scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY
    )
    if not closest:
        return None
    name, score, _ = closest
    people = names.speakers_by_name[name]
    sure = len(people) == 1 and score >= NEARLY_EQUAL and len(typed) >= MIN_LETTERS
    return LinkedEntities(people, sure)


def correct_word(word: str, lookup: Lookup) -> str | None:
    """Return the word as names spell it, if it or its correction is known."""
    if word in lookup.by_word:
        return word
    feminine = f"{word}{word[-1]}e"  # "virtuel", "virtuelle"
    if feminine in lookup.by_word:
        return feminine
    if not MIN_MISSPELLED <= len(word) <= MAX_MISSPELLED or word.isdecimal():
        return None
    choices = lookup.by_initial.get(word[0], ())
    found = process.extractOne(word, choices, scorer=fuzz.ratio, score_cutoff=SIMILAR_WORDS)
    return found[0] if found else None


def _is_distinctive(name: Entity, known: Sequence[str], names: EntityIndex) -> bool:
    """Return whether the words, unique to this title, suffice to identify it."""
    return len(set(known)) > 2 or any(
        names.spread.get(word, 0) <= len(name.documents) for word in known
    )  # fmt: skip

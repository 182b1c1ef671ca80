"""Checks the numbers, dates, units and names of a statement against its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from quoth.answering.verification.claim import Claim
from quoth.answering.verification.contradiction_rules import Fault
from quoth.answering.verification.source_index import ReadLine, Sources
from quoth.answering.verification.tokens import TextToken
from quoth.answering.verification.values import Value

CONTEXT_WORDS = 5
"""Context words on either side of a value."""
SAME_WORDS = 0.7
"""Share of a statement that a sentence must contain for their word order to be compared."""
MAX_ORDERED = 16
"""Maximum words of a statement whose order is compared."""
_AGENTS = frozenset("by par von por".split())
FUNCTION_WORD_WEIGHT = 0.5
"""Weight of a function word in context comparison."""
ELSEWHERE = 1.2
"""Factor by which a value's context must match another position better than its own."""


def value_faults(
    claim: Claim, chosen: Sequence[ReadLine], *, sources: Sources, near: bool
) -> Iterator[Fault]:
    """Yield a fault for each value missing in the sentence that has the words around it."""
    titles = frozenset().union(*(sources.by_number[each.line.number].title for each in chosen))
    for value in claim.values:
        if value.kind == "name" and not value.sure:
            continue
        holders = [line for line in chosen if line.holds(value)]
        if value.kind == "name":
            if not holders and not _is_known(value, chosen, titles):
                yield Fault(f"name {claim.shown(value)}", "doubtful")
            elif near and holders and all(_is_displaced(claim, value, line) for line in holders):
                yield Fault(f"name {claim.shown(value)}", "wrong")
            continue
        if not holders:
            yield Fault(f"{value.kind} {claim.shown(value)}", "wrong")
        elif value.unit and not _unit_fits(value, holders):
            yield Fault(f"unit {claim.shown(value)} {value.unit}", "wrong")
        elif _belongs_elsewhere(claim, value, holders, chosen) or all(
            _is_displaced(claim, value, line) for line in holders
        ):
            yield Fault(f"{value.kind} {claim.shown(value)}", "wrong")


def order_faults(claim: Claim, read: ReadLine) -> Iterator[Fault]:
    """Return the two words of a statement that are swapped.

    A passive reverses a sentence without changing its meaning and is accepted.
    """
    parts = read.line.tokens
    if _agents(claim.tokens) != _agents(parts) or claim.recall(read.line.stems) < SAME_WORDS:
        return
    shared = [at for at, part in enumerate(claim.tokens) if part.stem in read.line.stems]
    if not 2 <= len(shared) <= MAX_ORDERED:
        return
    ours = {claim.tokens[at].stem: _around(claim.tokens, at, at) for at in shared}
    places = {part.stem: at for at, part in enumerate(parts) if part.stem in ours}
    theirs = {stem: _around(parts, at, at) for stem, at in places.items()}

    def prefers(stem: str, other: str) -> bool:
        own = _fit(ours[stem], theirs[stem], claim.weights)
        return _fit(ours[stem], theirs[other], claim.weights) > ELSEWHERE * own

    for one, two in combinations(ours, 2):
        if prefers(one, two) and prefers(two, one):
            yield Fault(f"order {one} / {two}", "doubtful")


def _agents(parts: Sequence[TextToken]) -> bool:
    return any(part.word in _AGENTS for part in parts)


def _is_known(value: Value, chosen: Sequence[ReadLine], titles: frozenset[str]) -> bool:
    """Return whether a name is in the title, or an abbreviation of neighbouring words."""
    if value.key in titles:
        return True
    letters = value.key
    if not 2 <= len(letters) <= 6 or not letters.isalpha():
        return False
    return any(
        letters in "".join(part.word[0] for part in line.line.tokens if part.stem or not telling)
        for line in chosen
        for telling in (True, False)
    )


def _unit_fits(value: Value, holders: Sequence[ReadLine]) -> bool:
    units = [each.unit for line in holders for each in line.values if each.key == value.key]
    return not units or value.unit in units or "" in units


def _belongs_elsewhere(
    claim: Claim, value: Value, holders: Sequence[ReadLine], chosen: Sequence[ReadLine]
) -> bool:
    """Return whether a sentence without the value matches its context better."""
    parts = claim.tokens
    low, high = max(0, value.first - CONTEXT_WORDS), value.last + 1 + CONTEXT_WORDS
    around = {part.stem for part in parts[low:high] if part.stem}
    around -= {part.stem for part in parts[value.first : value.last + 1]}

    def held(line: ReadLine) -> float:
        return sum(claim.weights[stem] for stem in around if stem in line.line.stems)

    others = [line for line in chosen if line not in holders]
    return max(map(held, others), default=0.0) > ELSEWHERE * max(map(held, holders))


def _is_displaced(claim: Claim, value: Value, line: ReadLine) -> bool:
    """Return whether another value of the sentence is in this value's position.

    Each position is scored by the words around it, weighted by proximity on the same side.
    """
    ours = _around(claim.tokens, value.first, value.last)
    fits: dict[bool, float] = {}
    for each in line.values:
        if each.kind == value.kind:
            fit = _fit(ours, _around(line.line.tokens, each.first, each.last), claim.weights)
            fits[each.key == value.key] = max(fit, fits.get(each.key == value.key, 0.0))
    return True in fits and fits.get(False, 0.0) > ELSEWHERE * fits[True]


def _around(parts: Sequence[TextToken], first: int, last: int) -> list[tuple[str, int]]:
    """Return the words near a token range with their distance, negative before it."""
    before = [part.stem or part.word for part in parts[max(0, first - CONTEXT_WORDS) : first]]
    after = [part.stem or part.word for part in parts[last + 1 : last + 1 + CONTEXT_WORDS]]
    return [
        *((stem, -at) for at, stem in enumerate(reversed(before), start=1)),
        *((stem, at) for at, stem in enumerate(after, start=1)),
    ]


def _fit(
    ours: Sequence[tuple[str, int]],
    theirs: Sequence[tuple[str, int]],
    weights: Mapping[str, float],
) -> float:
    found = 0.0
    for stem, at in ours:
        near = [1 / (1 + abs(at - other)) for word, other in theirs if word == stem]
        found += weights.get(stem, FUNCTION_WORD_WEIGHT) * max(near, default=0.0) / abs(at)
    return found

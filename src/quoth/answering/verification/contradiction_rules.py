"""Differences between a statement and its evidence that change the meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from quoth.answering.verification.claim import Change, Claim
from quoth.answering.verification.source_index import ReadLine
from quoth.answering.verification.tokens import NEGATIONS, TextToken, negations

CLAUSE = 8
"""Words before a fragment that may change its meaning."""
SLOT = 3
"""Maximum words that can replace others; longer parts are other clauses."""

Severity = Literal["wrong", "doubtful"]
"""A statement with a "wrong" fault is not supported; one with a "doubtful" one is so in part."""

_COMPARING = frozenset("<>≤≥")
CONDITIONS = frozenset(
    "if whether unless myth false falsely untrue deny denies denied unlikely doubt doubts si sauf "
    "faux fausse nie".split()
)
"""Words that make the following clause conditional."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a statement that its evidence does not support."""

    what: str
    severity: Severity


def negation_faults(claim: Claim, chosen: Sequence[ReadLine]) -> Iterator[Fault]:
    """Yield a fault where a paraphrasing statement negates its sentences."""
    parts = [part for each in chosen for part in each.line.tokens]
    ours, theirs = negations(claim.tokens), negations(parts)
    if bool(ours) != bool(theirs):
        yield Fault(f"negation {(ours or theirs)[0]}", "doubtful")


def change_faults(
    claim: Claim, chosen: Sequence[ReadLine], codes: Sequence[Change]
) -> Iterator[Fault]:
    """Check each change that turns the first sentence into the statement."""
    parts = chosen[0].line.tokens
    elsewhere = any(negations(each.line.tokens) for each in chosen[1:])
    same = [code for code in codes if code[0] == "equal"]
    for code in codes:
        tag, i1, i2, j1, j2 = code
        if tag == "equal":
            continue
        ours, theirs = claim.tokens[i1:i2], parts[j1:j2]
        inside = same[0][1] < i2 and i1 < same[-1][2]
        if inside:
            yield from _denied(ours, theirs)
        elif not (len(ours) > SLOT and elsewhere):
            # Words omitted at the ends may negate something else.
            yield from _denied(ours, theirs if negations(ours) else ())
        if i2 <= same[0][1]:
            yield from _left_open(ours, theirs[-CLAUSE:])
        yield from _compared(ours, theirs)
        yield from _exchanged(claim, chosen[0], code)


def unsupported_negation(before: Sequence[TextToken]) -> str | None:
    """Return the word that hedges or negates what follows it in a sentence, else None."""
    words = [part.word for part in before[-CLAUSE:]]
    return next((word for word in words if word in NEGATIONS or word in CONDITIONS), None)


def _left_open(ours: Sequence[TextToken], before: Sequence[TextToken]) -> Iterator[Fault]:
    word = unsupported_negation(before)
    if word is not None and unsupported_negation(ours) is None:
        denied = word in NEGATIONS
        name = "negation" if denied else "condition"
        yield Fault(f"{name} {word}", "wrong" if denied else "doubtful")


def _denied(ours: Sequence[TextToken], theirs: Sequence[TextToken]) -> Iterator[Fault]:
    mine, other = negations(ours), negations(theirs)
    if len(mine) % 2 != len(other) % 2:
        yield Fault(f"negation {(mine or other)[0]}", "wrong")


def _compared(ours: Sequence[TextToken], theirs: Sequence[TextToken]) -> Iterator[Fault]:
    signs = {part.word for part in ours} & _COMPARING
    if signs and {part.word for part in theirs} & _COMPARING - signs:
        yield Fault(f"sign {min(signs)}", "wrong")


def _exchanged(claim: Claim, read: ReadLine, code: Change) -> Iterator[Fault]:
    """Check values and words that replace others of the sentence."""
    _, i1, i2, j1, j2 = code
    parts = read.line.tokens[j1:j2]
    theirs = [value for value in read.values if j1 <= value.first < j2]
    kept = {value.key for value in theirs} | {part.word for part in parts}
    kinds = {each.kind for each in theirs}
    for value in claim.values:
        if i1 <= value.first < i2 and value.key not in kept and value.kind in kinds:
            yield Fault(f"{value.kind} {claim.shown(value)}", "wrong")
    stems = {part.stem for part in parts if part.stem}
    if i2 - i1 > SLOT or j2 - j1 > SLOT or not stems:
        return
    taken = {at for value in claim.values for at in range(value.first, value.last + 1)}
    for at in range(i1, i2):
        part = claim.tokens[at]
        if part.stem and at not in taken and part.stem not in stems:
            yield Fault(f"word {part.word}", "doubtful")

"""Aligns a statement with the source sentences that may support it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quoth.answering.verification.claim import Claim, overlap, read_claim
from quoth.answering.verification.contradiction_rules import Fault, change_faults, negation_faults
from quoth.answering.verification.source_index import Sources, SourceSentence, read_line
from quoth.answering.verification.value_checks import order_faults, value_faults

MAX_EVIDENCE_SENTENCES = 3
"""Maximum number of sentences that support one statement together."""
MIN_ADDED = 0.12
"""Minimum share of a statement's weight that a further sentence must add."""
NEAR_QUOTE = 0.6
"""Share of a statement's words, in order, from which it is a quotation with changes."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A statement aligned with the sentences that share most with it, best first.

    ``signs`` are the support features (`signals`), ``shared`` counts the common content words,
    ``near`` means that it quotes the first sentence with changes.
    """

    lines: tuple[SourceSentence, ...]
    signs: Mapping[str, float]
    faults: tuple[Fault, ...]
    shared: int
    near: bool = False


def align(statement: str, lines: Sequence[SourceSentence], *, sources: Sources) -> Alignment | None:
    """Align a statement with sentences of one language; None where they share no word."""
    if not lines:
        return None
    claim = read_claim(statement, language=lines[0].language, sources=sources)
    chosen = weighted_recall(claim, lines)
    if not chosen:
        return None
    share, codes = overlap(claim.tokens, chosen[0].tokens)
    near = share >= NEAR_QUOTE
    read = [read_line(line) for line in chosen]
    found = list(value_faults(claim, read, sources=sources, near=near))
    found += change_faults(claim, read, codes) if near else negation_faults(claim, read)
    found += order_faults(claim, read[0])
    signs = signals(claim, chosen, share=share) | _clean(found)
    signs["told"] = claim.recall(_stated_tokens(claim, chosen, sources=sources))
    held = sum(
        any(stem in line.stems for line in chosen)
        for stem, weight in claim.weights.items()
        if weight
    )
    return Alignment(chosen, signs, tuple(dict.fromkeys(found)), held, near)


def _stated_tokens(
    claim: Claim, chosen: Sequence[SourceSentence], *, sources: Sources
) -> frozenset[str]:
    """Return the stems of the evidence, and of the statement's references to sources."""
    titles = frozenset().union(*(sources.by_number[line.number].title for line in chosen))
    called = {part.stem for part in claim.tokens if part.word in titles}
    return frozenset(called).union(*(line.stems for line in chosen))


def _clean(found: Sequence[Fault]) -> dict[str, float]:
    """Return 1 for each kind of fault that was not found."""
    kinds = {fault.what.partition(" ")[0] for fault in found}
    return {
        "values": float(not kinds & {"number", "date", "unit", "sign"}),
        "names": float("name" not in kinds),
        "parity": float("negation" not in kinds),
        "changes": float("word" not in kinds),
    }


def weighted_recall(claim: Claim, lines: Sequence[SourceSentence]) -> tuple[SourceSentence, ...]:
    """Choose the sentence with the highest recall, and up to two that add to it.

    One word in common is no evidence: a further sentence adds two, or a number or a name.
    """
    chosen: list[SourceSentence] = []
    wanted = frozenset(claim.weights)
    values = {claim.tokens[value.first].stem for value in claim.values if value.sure}
    least = 1e-9
    while len(chosen) < MAX_EVIDENCE_SENTENCES and wanted:
        gains = [sum(claim.weights[stem] for stem in wanted & line.stems) for line in lines]
        best = max(range(len(lines)), key=gains.__getitem__)
        new = wanted & lines[best].stems
        if gains[best] < least or (chosen and len(new) < 2 and not new & values):
            break
        chosen.append(lines[best])
        wanted -= new
        least = MIN_ADDED * claim.weight
    return tuple(chosen)


def signals(claim: Claim, chosen: Sequence[SourceSentence], *, share: float) -> dict[str, float]:
    """Return the support features, each in [0, 1], higher is better.

    ``best`` and ``cover`` are the weighted recall of the best sentence and of all, ``pairs`` of
    neighbouring stems, ``order`` the share of the words that are in order in the best one,
    ``rarest`` is 1 when the statement's rarest word occurs.
    """
    held = frozenset().union(*(line.stems for line in chosen))
    stems = [part.stem for part in claim.tokens if part.stem]
    beside = {pair for line in chosen for pair in _pairs(line)}
    pairs = list(pairwise(stems))
    missing = [weight for stem, weight in claim.weights.items() if stem not in held]
    heaviest = max(claim.weights.values(), default=1.0)
    return {
        "best": claim.recall(chosen[0].stems) if chosen else 0.0,
        "cover": claim.recall(held),
        "pairs": sum(pair in beside for pair in pairs) / len(pairs) if pairs else 0.0,
        "order": share,
        "kin": claim.kinship(held),
        "rarest": 1 - max(missing, default=0.0) / heaviest,
    }


def _pairs(line: SourceSentence) -> Iterator[tuple[str, str]]:
    """Return pairs of nearby stems, in either order."""
    stems = [part.stem for part in line.tokens if part.stem]
    for at, stem in enumerate(stems):
        for other in stems[at + 1 : at + 4]:
            yield stem, other
            yield other, stem

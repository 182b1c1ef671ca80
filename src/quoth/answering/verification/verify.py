"""Verifies statements against the sources in the prompt and locates the evidence.

A statement that occurs verbatim in a source is supported by it. Any other is aligned with the
sentences that share most with it; its numbers, dates, units and names must occur in them, nothing
may be negated or swapped, and a calibrated model estimates the support of the rest
(docs/decisions/024). The cited sources are tried first, then all others in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoth.answering.verification.align import Alignment, align
from quoth.answering.verification.calibration import (
    FAULT_FACTOR,
    FOREIGN,
    MIN_RECALL,
    MIN_SHARED_WORDS,
    PARTLY,
    SUPPORTED,
    SURE,
    WORDS,
    support_probability,
)
from quoth.answering.verification.combine_judge import combine_with_judge
from quoth.answering.verification.contradiction_rules import unsupported_negation
from quoth.answering.verification.cross_lingual import Embed, align_cross_lingual
from quoth.answering.verification.quotations import invented_quotation
from quoth.answering.verification.source_index import IndexedSource, Sources, SourceSentence
from quoth.answering.verification.tokens import tokens
from quoth.core.calibration import Calibration
from quoth.core.protocols import EntailmentModel
from quoth.core.types import Support
from quoth.text.analyzer import detect_language


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """A whole sentence that supports a statement: its source's number and its characters."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StatementCheck:
    """The verification result of a statement.

    ``score`` is the probability of support, 0 to 1. ``proofs`` is empty where nothing was found.
    ``repaired`` means that they are in other sources than those cited. ``faults`` name what the
    evidence does not support, such as "number 45".
    """

    support: Support
    score: float
    proofs: tuple[EvidenceSpan, ...]
    repaired: bool = False
    faults: tuple[str, ...] = ()


_OPENING = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
MAX_QUOTED_SENTENCES = 100
"""Maximum sentences of one quotation; more than any statement has."""
NOTHING = StatementCheck("unsupported", 0.0, ())
UNVERIFIED = StatementCheck("unverified", 0.0, ())


async def verify(
    statement: str,
    sources: Sources,
    *,
    cited: Sequence[int],
    language: str,
    embed: Embed | None = None,
    judge: EntailmentModel | None = None,
) -> StatementCheck:
    """Verify a statement against its cited sources, then against the others.

    One without citations is checked against all. Sentences in other languages than the statement
    are compared by ``embed``; without it, the result is "unverified". ``judge`` is consulted for
    any evidence that is not a verbatim quotation. Raises EmbeddingError and JudgeError.
    """
    statement = _OPENING.sub("", statement)
    made_up = invented_quotation(statement, sources)
    if made_up is not None:
        return replace(NOTHING, faults=(f"quotation {made_up}",))
    named = [
        sources.by_number[number] for number in dict.fromkeys(cited) if number in sources.by_number
    ]
    others = [source for source in sources.by_number.values() if source not in named]
    best = NOTHING
    for among in (named, others):
        if among and best.support != "supported":
            found = await _checked(
                statement, among, sources=sources, language=language, embed=embed, judge=judge
            )
            repaired = among is others and bool(named)
            best = _better(best, replace(found, repaired=repaired and bool(found.proofs)))
    return best


_RANK = {"supported": 3, "partly": 2, "unverified": 1, "unsupported": 0}


def _better(*verdicts: StatementCheck) -> StatementCheck:
    """Return the best verdict; of equal ones the earlier."""
    return max(verdicts, key=lambda each: (_RANK[each.support], each.score))


async def _checked(
    statement: str,
    among: Sequence[IndexedSource],
    *,
    sources: Sources,
    language: str,
    embed: Embed | None,
    judge: EntailmentModel | None,
) -> StatementCheck:
    quoted = _quoted(statement, among)
    if quoted is not None:
        return quoted
    lines = [line for source in among for line in source.lines]
    own = _own_language(statement, lines, language=language)
    found = align(statement, [line for line in lines if line.language == own], sources=sources)
    best = NOTHING if found is None else _verdict(found)
    foreign = [line for line in lines if line.language != own]
    if foreign and embed is None and not best.faults:
        best = _better(best, UNVERIFIED)
    elif foreign and embed is not None and best.support != "supported":
        beside = await align_cross_lingual(
            statement, foreign, sources=sources, language=own, embed=embed
        )
        verdict = UNVERIFIED if beside is None else _verdict(beside, model=FOREIGN, supported=SURE)
        if _better(best, verdict) is verdict:
            best, found = verdict, beside
    if judge is None or found is None:
        return best
    return await _judged(statement, best, found=found, judge=judge)


def _own_language(statement: str, lines: Sequence[SourceSentence], *, language: str) -> str:
    """Return the language of a statement: that of the answer, or one of its sources."""
    others = {line.language for line in lines} - {language}
    if not others:
        return language
    return detect_language(statement, among=(language, *sorted(others)), fallback=language)


async def _judged(
    statement: str, verdict: StatementCheck, *, found: Alignment, judge: EntailmentModel
) -> StatementCheck:
    """Let a judge change a verdict by one step, unless it is clearly unsupported."""
    if any(
        fault.severity == "wrong" or fault.what.startswith("negation") for fault in found.faults
    ):
        return verdict
    evidence = " ".join(" ".join(line.text.split()) for line in found.lines)
    (probability,) = await judge.judge([(evidence, statement)])
    score = combine_with_judge(verdict.score, probability)
    if score < PARTLY and verdict.support == "unsupported":
        return replace(verdict, score=score)
    sure = score >= SUPPORTED and verdict.support != "unsupported"
    return StatementCheck(
        "supported" if sure else "partly", score, _proofs(found.lines), faults=verdict.faults
    )


def _quoted(statement: str, among: Sequence[IndexedSource]) -> StatementCheck | None:
    """Find a statement verbatim in a source, preferably as a complete sentence."""
    best: tuple[EvidenceSpan, ...] = ()
    fewest = MAX_QUOTED_SENTENCES + 1
    for source in among:
        for start, end in source.find(tokens(statement, language=source.language)):
            held = source.around(start, end)
            if held and unsupported_negation(
                [part for part in held[0].tokens if part.end <= start]
            ):
                continue
            whole = bool(held) and held[0].tokens[0].start == start
            whole = whole and held[-1].tokens[-1].end == end
            if whole and len(held) == 1:
                return StatementCheck("supported", 1.0, _proofs(held))
            sentences = len(held) if whole else MAX_QUOTED_SENTENCES
            if sentences < fewest:
                best, fewest = (
                    _proofs(held) or (EvidenceSpan(source.number, start, end),),
                    sentences,
                )
    return StatementCheck("supported", 1.0, best) if best else None


def _verdict(
    found: Alignment, *, model: Calibration = WORDS, supported: float = SUPPORTED
) -> StatementCheck:
    score = support_probability(found.signs, model=model)
    named = tuple(dict.fromkeys(fault.what for fault in found.faults))
    if any(fault.severity == "wrong" for fault in found.faults):
        return StatementCheck("unsupported", FAULT_FACTOR * score, (), faults=named)
    least = SUPPORTED if named else PARTLY
    if score < least or found.shared < MIN_SHARED_WORDS:
        return StatementCheck("unsupported", score, (), faults=named)
    if named or score < supported or found.signs.get("told", 1.0) < MIN_RECALL:
        return StatementCheck("partly", min(score, supported), _proofs(found.lines), faults=named)
    return StatementCheck("supported", score, _proofs(found.lines))


def _proofs(lines: Sequence[SourceSentence]) -> tuple[EvidenceSpan, ...]:
    return tuple(EvidenceSpan(line.number, line.start, line.end) for line in lines)

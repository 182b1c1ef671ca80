"""Verifies statements against the sources in the prompt and locates the evidence.

A statement that occurs verbatim in a source is supported by it. Any other is compared with the one
to three sentences that share most with it, and a trained head gives the probability that they
support it (docs/decisions/046). The cited sources are tried first, then all others in the prompt.
Quotations within it must occur verbatim in a source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoth.answering.verification.claim import word_classes
from quoth.answering.verification.cross_lingual import Embed, align_cross_lingual
from quoth.answering.verification.evidence import (
    FAULT_FACTOR,
    ScoredClaim,
    score_claim,
    support_head,
)
from quoth.answering.verification.governance import comma_places, governing_words
from quoth.answering.verification.source_index import IndexedSource, Sources, SourceSentence
from quoth.answering.verification.tokens import TextToken, tokens
from quoth.core.calibration import logistic
from quoth.core.protocols import EntailmentModel
from quoth.core.types import Support
from quoth.text.language import detect_language

JUDGE_SHARE = 0.5
"""The judge's weight relative to the head."""
MIN_JUDGED = 0.1
"""Probability below which no judge can lift a claim."""
SUREST = 0.99
CLAUSE = 8
"""Words before a quotation that may negate it."""
MIN_QUOTED = 3
"""Minimum words of a quotation within a statement; fewer in quotation marks may be a term."""

_QUOTED = re.compile(r"“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]|\"([^\"]+)\"")
_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?|\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """A whole sentence that supports a statement: its source's number and its characters."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StatementCheck:
    """The verification result of a statement.

    ``score`` is the probability of support, 0 to 1. ``proofs`` are the sentences that decided,
    empty where nothing supports it; of an unverified statement, the nearest sentence of another
    language. ``faults`` name what the evidence does not have, such as
    "number 45". ``declines`` marks a sentence that only says that the sources do not answer.
    """

    support: Support
    score: float
    proofs: tuple[EvidenceSpan, ...]
    faults: tuple[str, ...] = ()
    declines: bool = False


_BOUNDARIES = tuple(".!?:;…•")
"""Signs after which a part of a line is a sentence of its own."""
_OPENING = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)°])\s+")
MAX_QUOTED_SENTENCES = 100
"""Maximum sentences of one quotation; more than any statement has."""
NOTHING = StatementCheck("unsupported", 0.0, ())
UNVERIFIED = StatementCheck("unverified", 0.0, ())
_RANK = {"supported": 2, "unverified": 1, "unsupported": 0}


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
    never support it: it is "unverified", with the nearest sentence by ``embed``. ``judge`` is asked
    about evidence that is not a verbatim quotation. Raises EmbeddingError and JudgeError.
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
            best = _better(best, found)
    return best


def _better(*checks: StatementCheck) -> StatementCheck:
    """Return the best check; of equal ones the earlier."""
    return max(checks, key=lambda each: (_RANK[each.support], each.score))


async def _checked(
    statement: str,
    among: Sequence[IndexedSource],
    *,
    sources: Sources,
    language: str,
    embed: Embed | None,
    judge: EntailmentModel | None,
) -> StatementCheck:
    quoted = find_quotation(statement, among)
    bare = without_introduction(statement, language=language)
    if quoted is None and bare != statement:
        quoted = find_quotation(bare, among)
    if quoted is not None:
        return quoted
    lines = [line for source in among for line in source.lines]
    own = _own_language(statement, lines, language=language)
    same = [line for line in lines if line.language == own]
    scored = score_claim(statement, same, sources=sources)
    best = NOTHING if scored is None else await _decide(statement, scored, judge=judge)
    foreign = [line for line in lines if line.language != own]
    if not foreign or best.support == "supported":
        return best
    if embed is None:
        return UNVERIFIED if scored is None or not scored.missing else best
    across = await align_cross_lingual(
        statement, foreign, sources=sources, language=own, embed=embed
    )
    if across is None:
        return _better(best, UNVERIFIED)
    proofs = _proofs(across.lines)
    other = StatementCheck(across.support, across.score, proofs, faults=across.missing)
    return _better(best, other)


def _own_language(statement: str, lines: Sequence[SourceSentence], *, language: str) -> str:
    """Return the language of a statement: that of the answer, or one of its sources."""
    others = {line.language for line in lines} - {language}
    if not others:
        return language
    return detect_language(statement, among=(language, *sorted(others)), fallback=language)


async def _decide(
    statement: str, scored: ScoredClaim, *, judge: EntailmentModel | None
) -> StatementCheck:
    """Decide on a claim by the head, together with a judge where there is one."""
    score = scored.score
    if judge is not None and score >= MIN_JUDGED:
        evidence = " ".join(" ".join(line.text.split()) for line in scored.lines)
        (probability,) = await judge.judge([(evidence, statement)])
        score = combine_with_judge(score, probability)
    elif not scored.covered:
        score *= FAULT_FACTOR
    if score < support_head().threshold:
        return StatementCheck("unsupported", score, (), faults=scored.missing)
    return StatementCheck("supported", score, _proofs(scored.lines))


def combine_with_judge(words: float, judge: float) -> float:
    """Return the mean of two probabilities in logit space, weighted by the judge's share.

    A logarithmic opinion pool (Genest and Zidek, 1986).
    """
    odds = (1 - JUDGE_SHARE) * _log_odds(words) + JUDGE_SHARE * _log_odds(judge)
    return logistic(odds)


def _log_odds(probability: float) -> float:
    held = min(SUREST, max(1 - SUREST, probability))
    return math.log(held / (1 - held))


def find_quotation(statement: str, among: Sequence[IndexedSource]) -> StatementCheck | None:
    """Find a statement verbatim in a source, preferably as a complete sentence."""
    best: tuple[EvidenceSpan, ...] = ()
    fewest = MAX_QUOTED_SENTENCES + 1
    for source in among:
        for start, end in source.find(tokens(statement, language=source.language)):
            held = source.around(start, end)
            opens = bool(held) and held[0].tokens[0].start == start
            whole = opens and held[-1].tokens[-1].end == end
            if held and not opens and _negated(held[0], start):
                continue
            if held and not whole and _governed(held, start, end):
                continue
            if whole and len(held) == 1:
                return StatementCheck("supported", 1.0, _proofs(held))
            sentences = len(held) if whole else MAX_QUOTED_SENTENCES
            if sentences < fewest:
                span = (EvidenceSpan(source.number, start, end),)
                best, fewest = _proofs(held) or span, sentences
    return StatementCheck("supported", 1.0, best) if best else None


def without_introduction(statement: str, *, language: str) -> str:
    """Return a statement without an opening such as "According to the source,".

    An opening has only function words and words of reporting, and none that changes what follows.
    """
    opening, comma, rest = statement.partition(",")
    words = word_classes(language)
    changing = words.negations | words.conditions | words.quantifiers
    parts = tokens(opening, language=language)
    empty = all(
        part.word not in changing and (not part.stem or part.word in words.reporting)
        for part in parts
    )
    return rest.lstrip() if comma and rest.strip() and empty else statement


def _negated(line: SourceSentence, start: int) -> bool:
    """Return whether what stands before a part of a sentence may negate it."""
    ahead = line.text[: start - line.start].rstrip()
    if ahead.endswith(_BOUNDARIES):
        return False
    before: list[TextToken] = [part for part in line.tokens if part.end <= start][-CLAUSE:]
    words = word_classes(line.language)
    return any(part.word in words.negations | words.conditions for part in before)


def _governed(held: Sequence[SourceSentence], start: int, end: int) -> bool:
    """Return whether sentences say of a part who says it, or under which condition it holds."""
    first, last = held[0], held[-1]
    ahead = first.text[: start - first.start].rstrip()
    behind = last.text[end - last.start :].lstrip()
    before = [part for part in first.tokens if part.end <= start]
    after = [part for part in last.tokens if part.start >= end]
    said = [part for line in held for part in line.tokens if start <= part.start < end]
    found = governing_words(
        said,
        [] if ahead.endswith(_BOUNDARIES) else before,
        [] if behind.startswith(_BOUNDARIES) else after,
        words=word_classes(first.language),
        commas=comma_places(first) | comma_places(last),
    )
    return any(found.values())


def _proofs(lines: Sequence[SourceSentence]) -> tuple[EvidenceSpan, ...]:
    return tuple(EvidenceSpan(line.number, line.start, line.end) for line in lines)


# --- quotations within a statement -----------------------------------------------------------


def invented_quotation(statement: str, sources: Sources) -> str | None:
    """Return the first quotation that occurs in no source, None if all occur.

    The parts around "…" and around square brackets are searched separately.
    """
    for match in _QUOTED.finditer(statement):
        whole = next(group for group in match.groups() if group is not None)
        for part in _LEFT_OUT.split(whole):
            if not _occurs(part, sources):
                return " ".join(part.split())
    return None


def _occurs(part: str, sources: Sources) -> bool:
    return any(
        len(wanted := tokens(part, language=source.language)) < MIN_QUOTED
        or next(source.find(wanted), None) is not None
        for source in sources.by_number.values()
    )

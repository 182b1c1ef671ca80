"""How well the check of an answer's sentences tells what their sources bear out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from quoth.answering.verification import (
    Sources,
    StatementCheck,
    read_sources,
    verify,
)
from quoth.core.errors import InputError
from quoth.evaluation.calibration import calibration_error
from quoth.evaluation.significance import latency_ms, mean_of
from quoth.evaluation.verify_cases import (
    Case,
    as_block,
    claim_cases,
    load_evidence,
    part_of,
    quote_cases,
)

MISSES = 50
"""Misses that a report lists."""


@dataclass(frozen=True, slots=True)
class GroupShares:
    """How the statements of one group were judged, as shares of them."""

    statements: int
    supported: float
    partly: float
    unsupported: float


@dataclass(frozen=True, slots=True)
class VerifyMiss:
    """A statement that was judged wrongly."""

    group: str
    statement: str
    support: str
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What the check finds on claims and on quotations, as they are and with one thing exchanged.

    ``auc`` is the chance that a statement which is borne out scores above one that is not, by
    what it is held against; ``balanced_accuracy`` is that of claims against contradictions, where
    only "supported" counts as a yes. ``caught`` is the share of exchanges that are not called
    supported, ``false_alarms`` that of true quotations that are not. ``error`` is the calibration
    error of the scores of claims. Times are milliseconds per statement, its sources read before.
    """

    split: str
    statements: int
    auc: Mapping[str, float]
    balanced_accuracy: float
    caught: Mapping[str, float]
    false_alarms: float
    error: float
    groups: Mapping[str, GroupShares]
    latency_ms: Mapping[str, float]
    misses: tuple[VerifyMiss, ...]
    per_question: Mapping[str, Mapping[str, float]]


async def evaluate_verify(folder: Path, *, split: str = "all") -> VerifyReport:
    """Judge all statements made from a set, or those of one half; raises InputError.

    ``split`` is dev, heldout or all.
    """
    cases = load_cases(folder, split=split)
    verdicts, times = [], []
    for case in cases:
        sources = _sources(case.sentences, case.language)
        before = perf_counter()
        verdicts.append(await verify(case.statement, sources, cited=[1], language=case.language))
        times.append(1000 * (perf_counter() - before))
    return verify_report(cases, verdicts, times=times, split=split)


def load_cases(folder: Path, *, split: str = "all") -> tuple[Case, ...]:
    """Make the statements of one half of a set, or of all of it; raises InputError."""
    if split not in ("dev", "heldout", "all"):
        raise InputError(f"There is no part '{split}'. The parts are dev, heldout and all.")
    evidence = load_evidence(folder)
    chosen = [each for each in evidence if split in ("all", part_of(each.id))]
    if not chosen:
        raise InputError(f"The part '{split}' of {folder} is empty. Take all.")
    return (*claim_cases(chosen), *quote_cases(chosen))


@lru_cache(maxsize=8)
def _sources(sentences: tuple[str, ...], language: str) -> Sources:
    """Read the sources of a statement; those that follow mostly have the same."""
    return read_sources([as_block(sentences, language=language)])


def verify_report(
    cases: Sequence[Case],
    verdicts: Sequence[StatementCheck],
    *,
    times: Sequence[float],
    split: str,
) -> VerifyReport:
    """Sum up verdicts that are known."""
    pairs = list(zip(cases, verdicts, strict=True))
    groups = dict.fromkeys(case.group for case in cases)
    found = {group: [each for case, each in pairs if case.group == group] for group in groups}
    scores = {group: [each.score for each in verdicts] for group, verdicts in found.items()}
    quotes = [score for group in scores if group.startswith("quote") for score in scores[group]]
    auc = _areas(scores, quotes=quotes)
    shares = {group: _shares(each) for group, each in found.items()}
    claims = [(each.score, case.true) for case, each in pairs if case.group.startswith("claim")]
    wrong = [
        VerifyMiss(case.group, case.statement, each.support, each.faults)
        for case, each in pairs
        if (each.support == "supported") != case.true and not case.group.startswith("claim")
    ]
    quoted = [each for case, each in pairs if case.group.startswith("quote")]
    return VerifyReport(
        split=split,
        statements=len(cases),
        auc=auc,
        balanced_accuracy=_balanced(shares),
        caught={group: 1 - shares[group].supported for group in shares if group.startswith("swap")},
        false_alarms=mean_of(each.support != "supported" for each in quoted),
        error=calibration_error([score for score, _ in claims], [true for _, true in claims]),
        groups=shares,
        latency_ms=latency_ms(times),
        misses=tuple(wrong[:MISSES]),
        per_question={
            group: {
                f"{case.id} {at}": float((each.support == "supported") == case.true)
                for at, (case, each) in enumerate(pairs)
                if case.group == group
            }
            for group in groups
        },
    )


def _areas(scores: Mapping[str, Sequence[float]], *, quotes: Sequence[float]) -> dict[str, float]:
    """Return the AUC of what is borne out against each thing that is not, where both are there."""
    held, own = scores.get("claim support", ()), scores.get("claim own passage", ())
    pairs = {
        "claims, same document": (held, scores.get("claim same document", ())),
        "claims, other document": (held, scores.get("claim other document", ())),
        "claims, other passage": (own, scores.get("claim other passage", ())),
        "claims, contradict": (held, scores.get("claim contradict", ())),
    }
    for what in ("number", "entity", "negation"):
        exchanged = [
            each for group in scores if group.startswith(f"swap {what}") for each in scores[group]
        ]
        pairs[f"swapped {what}"] = (quotes, exchanged)
    return {name: auc_of(*both) for name, both in pairs.items() if all(both)}


def auc_of(held: Sequence[float], others: Sequence[float]) -> float:
    """Return the chance that one of the first scores above one of the others, ties half; 0 if none.

    The area under the ROC curve (Mann and Whitney, 1947).
    """
    if not held or not others:
        return 0.0
    ranked = sorted(others)
    below = sum(bisect_left(ranked, each) + bisect_right(ranked, each) for each in held)
    return below / (2 * len(held) * len(ranked))


def _balanced(shares: Mapping[str, GroupShares]) -> float:
    held, denied = (shares.get(f"claim {each}") for each in ("support", "contradict"))
    return ((held.supported if held else 0.0) + (1 - denied.supported if denied else 0.0)) / 2


def _shares(verdicts: Sequence[StatementCheck]) -> GroupShares:
    supported, partly, unsupported = (
        mean_of(each.support == support for each in verdicts)
        for support in ("supported", "partly", "unsupported")
    )
    return GroupShares(len(verdicts), supported, partly, unsupported)

"""How many claims about a source are supported: true ones, and false ones by kind of change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from quoth.answering.verification import Sources, StatementCheck, read_sources, verify
from quoth.core.errors import InputError
from quoth.evaluation.jsonl import locate_file, optional, read_rows, text, truth
from quoth.evaluation.significance import latency_ms, mean_of
from quoth.evaluation.verify_cases import as_block
from quoth.text.language import detect_language

CLAIMS = "claims.jsonl"
MISSES = 50
"""Misses that a report lists."""


@dataclass(frozen=True, slots=True)
class SourceClaim:
    """A sentence of a model, the text of the source it cites, and whether that says so.

    ``change`` is how the claim was made from what the source says.
    """

    id: str
    claim: str
    source: str
    supported: bool
    change: str
    language: str


@dataclass(frozen=True, slots=True)
class ChangeShare:
    """The claims of one kind of change, and the share of them that was supported."""

    n: int
    supported: float


@dataclass(frozen=True, slots=True)
class ClaimMiss:
    """A claim that was judged wrongly."""

    id: str
    change: str
    claim: str
    support: str
    score: float
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """What the policy "strict" would show of claims, as shares of the true and of the false ones.

    Times are milliseconds per claim, its source read before.
    """

    claims: int
    true_supported: float
    true_unsupported: float
    false_supported: float
    by_change: Mapping[str, ChangeShare]
    latency_ms: Mapping[str, float]
    misses: tuple[ClaimMiss, ...]
    per_question: Mapping[str, Mapping[str, float]]


def has_claims(folder: Path) -> bool:
    """Return whether a folder holds ``claims.jsonl``, plain or compressed."""
    return any((folder / f"{CLAIMS}{ending}").exists() for ending in ("", ".gz"))


def load_claims(folder: Path) -> tuple[SourceClaim, ...]:
    """Read ``claims.jsonl`` {id, claim, source, supported, change, language}; raises InputError."""
    found = tuple(
        SourceClaim(
            id=text(row, "id", at),
            claim=text(row, "claim", at),
            source=text(row, "source", at),
            supported=truth(row, "supported", at),
            change=optional(row, "change", at) or "none",
            language=optional(row, "language", at) or "en",
        )
        for row, at in read_rows(locate_file(folder, CLAIMS))
    )
    if not found:
        raise InputError(f"{folder / CLAIMS} is empty.")
    return found


@lru_cache(maxsize=8)
def claim_sources(source: str, language: str) -> Sources:
    """Read the source of a claim; those that follow mostly have the same."""
    own = detect_language(source, among=(language, "en", "fr", "de", "es"), fallback=language)
    return read_sources([as_block([source], language=own)])


async def evaluate_claims(folder: Path) -> ClaimsReport:
    """Check every claim of a folder against its source; raises InputError."""
    claims = load_claims(folder)
    checks, times = [], []
    for each in claims:
        sources = claim_sources(each.source, each.language)
        before = perf_counter()
        checks.append(await verify(each.claim, sources, cited=[1], language=each.language))
        times.append(1000 * (perf_counter() - before))
    return claims_report(claims, checks, times=times)


def claims_report(
    claims: Sequence[SourceClaim], checks: Sequence[StatementCheck], *, times: Sequence[float]
) -> ClaimsReport:
    """Sum up checks that are known; a claim counts as supported only when "strict" shows it."""
    shown = [check.support == "supported" for check in checks]
    groups: dict[str, list[bool]] = defaultdict(list)
    for claim, each in zip(claims, shown, strict=True):
        groups[claim.change].append(each)
    true = [each for claim, each in zip(claims, shown, strict=True) if claim.supported]
    false = [each for claim, each in zip(claims, shown, strict=True) if not claim.supported]
    wrong = [
        ClaimMiss(claim.id, claim.change, claim.claim, check.support, check.score, check.faults)
        for claim, check, each in zip(claims, checks, shown, strict=True)
        if each != claim.supported
    ]
    return ClaimsReport(
        claims=len(claims),
        true_supported=mean_of(true),
        true_unsupported=1 - mean_of(true) if true else 0.0,
        false_supported=mean_of(false),
        by_change={name: ChangeShare(len(all_), mean_of(all_)) for name, all_ in groups.items()},
        latency_ms=latency_ms(times),
        misses=tuple(wrong[:MISSES]),
        per_question={
            "right": {
                claim.id: float(each == claim.supported)
                for claim, each in zip(claims, shown, strict=True)
            }
        },
    )

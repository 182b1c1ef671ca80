"""Means, intervals and paired tests: whether two runs over the same questions really differ.

A report carries ``per_question``: values by series (such as “full ndcg@10”) and question id. Two
such tables are compared series by series, on the questions that both have. Where all values are 0
or 1 the exact test of McNemar applies, else a randomisation test of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from quoth.core.errors import InputError
from quoth.evaluation.jsonl import read_object

ROUNDS = 10_000
"""Random signs and samples; p is known to about ±.005 at p = .05."""
SEED = 20_260_101

Values = npt.NDArray[np.float64]
PerQuestion = Mapping[str, Mapping[str, float]]
"""A value for each question id, by the name of the series."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One series now and before, on ``questions`` that both runs asked.

    ``difference`` is now − before; ``low`` and ``high`` bound it with 95 % confidence; ``p`` is
    the probability of a difference at least as large if the two were alike (two-sided).
    """

    series: str
    questions: int
    before: float
    now: float
    difference: float
    low: float
    high: float
    p: float
    test: Literal["randomisation", "mcnemar"]


def read_baseline(path: Path) -> PerQuestion:
    """Read the values of a report saved with ``--json``; raises InputError."""
    try:
        found = series_of(read_object(path))
    except (TypeError, ValueError, AttributeError):
        raise InputError(f"{path} has something else than numbers in 'per_question'.") from None
    if not found:
        raise InputError(
            f"{path} has no 'per_question' values to compare with. Save a report with "
            "quoth eval … --json first."
        )
    return found


def series_of(report: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the values of a report as JSON by series and question.

    Tables by leg, question and measure become the series “leg measure”. Raises TypeError,
    ValueError or AttributeError for anything else.
    """
    found: dict[str, dict[str, float]] = {}
    for name, values in (report.get("per_question") or {}).items():
        for question, value in values.items():
            if isinstance(value, Mapping):
                for measure, one in value.items():
                    found.setdefault(f"{name} {measure}", {})[question] = float(one)
            else:
                found.setdefault(name, {})[question] = float(value)
    return found


def compare(now: PerQuestion, before: PerQuestion) -> tuple[Comparison, ...]:
    """Compare every series that both have; raises InputError where they share no question."""
    found = []
    for series in (each for each in now if each in before):
        shared = sorted(now[series].keys() & before[series].keys())
        if shared:
            found.append(
                compare_series(
                    series,
                    now=[float(now[series][key]) for key in shared],
                    before=[float(before[series][key]) for key in shared],
                )
            )
    if not found:
        raise InputError(
            "The baseline shares no question with this run. Compare runs over the same set."
        )
    return tuple(found)


def compare_series(series: str, *, now: Sequence[float], before: Sequence[float]) -> Comparison:
    """Test the difference of two paired lists of values; deterministic."""
    first, second = np.asarray(now, dtype=np.float64), np.asarray(before, dtype=np.float64)
    differences = first - second
    low, high = bootstrap_interval(differences)
    binary = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    if binary:
        p = mcnemar_exact(won=int((differences > 0).sum()), lost=int((differences < 0).sum()))
    else:
        p = randomisation_p(differences)
    return Comparison(
        series=series,
        questions=len(differences),
        before=float(second.mean()),
        now=float(first.mean()),
        difference=float(differences.mean()),
        low=low,
        high=high,
        p=p,
        test="mcnemar" if binary else "randomisation",
    )


def randomisation_p(differences: Values | Sequence[float]) -> float:
    """Two-sided p of a mean difference when the sign of each difference is random.

    Fisher's randomisation test for paired samples, as Smucker, Allan and Carterette advise for
    rankings (CIKM 2007); exact for up to 12 differences that are not 0, sampled beyond.
    """
    moved = np.asarray(differences, dtype=np.float64)
    moved = moved[moved != 0]
    if not len(moved):
        return 1.0
    observed = abs(float(moved.sum()))
    # Sums that differ in rounding only count as equal, else the observed one may miss itself.
    reach = observed - 1e-9 * max(1.0, observed)
    if len(moved) <= 12:
        codes = np.arange(1 << len(moved))[:, None] >> np.arange(len(moved)) & 1
        sums = np.abs((2 * codes - 1) @ moved)
        return float((sums >= reach).mean())
    chance = np.random.default_rng(SEED)
    extreme = 0
    for _ in range(10):
        signs = chance.integers(0, 2, size=(ROUNDS // 10, len(moved)), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ moved) >= reach).sum())
    return (extreme + 1) / (ROUNDS + 1)


def mcnemar_exact(*, won: int, lost: int) -> float:
    """Two-sided p of ``won`` against ``lost`` questions when either is as likely (McNemar 1947)."""
    of, least = won + lost, min(won, lost)
    tail = sum(comb(of, k) for k in range(least + 1))
    return min(1.0, 2 * tail / (1 << of))


def mean_of(values: Iterable[float], *, empty: float = 0.0) -> float:
    """Return the mean, ``empty`` of nothing; of truths it is the share that is true."""
    given = [float(value) for value in values]
    return sum(given) / len(given) if given else empty


def latency_ms(times: Sequence[float], *, digits: int = 2) -> dict[str, float]:
    """Return the median and the 95th percentile of times, 0 of none."""
    p50, p95 = np.percentile(times, [50, 95]) if times else (0.0, 0.0)
    return {"p50": round(float(p50), digits), "p95": round(float(p95), digits)}


def share_interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), which holds for shares near 0 and 1."""
    if not total:
        return 0.0, 1.0
    share, z = count / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + (z / total) ** 2 / 4) / (1 + z * z / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap_interval(values: Values | Sequence[float]) -> tuple[float, float]:
    """Bound the mean with 95 % confidence by the percentiles of resampled means (Efron 1979)."""
    given = np.asarray(values, dtype=np.float64)
    if not len(given):
        raise ValueError("an interval needs at least one value")
    chance = np.random.default_rng(SEED)
    means = np.concatenate(
        [
            given[chance.integers(0, len(given), size=(ROUNDS // 10, len(given)))].mean(axis=1)
            for _ in range(10)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)

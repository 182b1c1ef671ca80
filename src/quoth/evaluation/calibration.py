"""Fitting and judging probabilities: logistic regression, reliability, exact thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from quoth.core.calibration import Calibration
from quoth.retrieval.calibration import Signals, group_of, probability

Floats = npt.NDArray[np.float64]
Bins = Literal["mass", "width"]

BINS = 10
CONFIDENCE = 0.95
STEPS = 100


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """What was seen, whether it turned out true, and how much it counts."""

    signals: Signals
    true: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Bin:
    """Probabilities that are near each other: their mean, the part that came true, how many."""

    predicted: float
    observed: float
    count: int


def fit_calibration(
    outcomes: Sequence[LabelledScore],
    *,
    names: Sequence[str],
    prior: Calibration | None = None,
    strength: float = 1.0,
    source: str = "",
) -> Calibration:
    """Fit a logistic model by Newton's method with an L2 penalty on the standardised signs.

    The penalty, ``strength`` outcomes' worth, draws towards ``prior`` (all its weights and its
    bias) or, without one, the weights towards 0. A sign whose weight would be negative is left
    out, so that more of a sign never lowers the probability. Deterministic; raises ValueError
    without any outcome of either kind.
    """
    if len({each.true for each in outcomes}) < 2:
        raise ValueError("A calibration needs outcomes of both kinds.")
    kept = list(names)
    while True:
        bias, weights = _newton(outcomes, kept, prior=prior, strength=strength)
        worst = min(range(len(kept)), key=lambda at: weights[at], default=None)
        if worst is None or weights[worst] >= 0:
            break
        del kept[worst]
    return Calibration(
        bias=bias,
        weights=dict(zip(kept, weights, strict=True)),
        questions=len(outcomes),
        source=source,
    )


def _newton(
    outcomes: Sequence[LabelledScore],
    names: Sequence[str],
    *,
    prior: Calibration | None,
    strength: float,
) -> tuple[float, list[float]]:
    """Return bias and weights, in the units of the signs."""
    raw = np.array([[each.signals.get(name, 0.0) for name in names] for each in outcomes])
    raw = raw.reshape(len(outcomes), len(names))
    true = np.array([each.true for each in outcomes], np.float64)
    weight = np.array([each.weight for each in outcomes])
    weight = weight * len(outcomes) / weight.sum()
    mean, spread = raw.mean(axis=0), raw.std(axis=0)
    spread[spread < 1e-9] = 1.0
    design = np.column_stack([np.ones(len(raw)), (raw - mean) / spread])
    centre = np.zeros(len(names) + 1)
    penalty = np.full(len(names) + 1, strength)
    if prior is None:
        penalty[0] = 1e-6
    else:
        given = np.array([prior.weights.get(name, 0.0) for name in names])
        centre[0], centre[1:] = prior.bias + given @ mean, given * spread
    found = centre.copy()
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (weight * (chance - true)) + penalty * (found - centre)
        curve = (design * (weight * chance * (1 - chance))[:, None]).T @ design
        step = np.linalg.solve(curve + np.diag(penalty), slope)
        # A long step overshoots where nearly all outcomes are told apart.
        step *= min(1.0, 3.0 / max(1e-12, float(np.abs(step).max())))
        found = found - step
        if np.abs(step).max() < 1e-9:
            break
    weights = found[1:] / spread
    return float(found[0] - weights @ mean), [float(each) for each in weights]


def merge_calibrations(groups: Mapping[str, Calibration]) -> Calibration:
    """Make one calibration of those that were fitted for each group of signs apart.

    Keys are names of `quoth.retrieval.calibration.GROUPS`, "" for the rest. The constant of a group
    is the weight of its own sign.
    """
    bias = groups[""].bias if "" in groups else 0.0
    weights: dict[str, float] = {}
    for name, each in groups.items():
        if name:
            weights[name] = each.bias - bias
        weights.update(each.weights)
    return Calibration(
        bias=bias,
        weights=weights,
        questions=sum(each.questions for each in groups.values()),
        source=next((each.source for each in groups.values()), ""),
    )


def split_groups(calibration: Calibration) -> dict[str, Calibration]:
    """Take a calibration apart into those of its groups of signs: what `joined` joins."""
    groups = sorted({group_of([name]) for name in calibration.weights})
    return {
        group: replace(
            calibration,
            bias=calibration.bias + calibration.weights.get(group, 0.0),
            weights={
                name: weight
                for name, weight in calibration.weights.items()
                if group_of([name]) == group and name != group
            },
        )
        for group in groups
    }


def probabilities(calibration: Calibration, outcomes: Sequence[LabelledScore]) -> list[float]:
    """Return the probability of every outcome, in their order."""
    return [probability(calibration, each.signals) for each in outcomes]


def reliability(
    chances: Sequence[float],
    truths: Sequence[bool],
    *,
    weights: Sequence[float] | None = None,
    bins: int = BINS,
    kind: Bins = "mass",
) -> list[Bin]:
    """Sort probabilities into bins of equal weight or of equal width; empty ones are left out."""
    chance, true, weight = _arrays(chances, truths, weights)
    return [
        Bin(
            float(np.average(chance[at], weights=weight[at])),
            float(np.average(true[at], weights=weight[at])),
            len(at),
        )
        for at in _binned(chance, weight, bins=bins, kind=kind)
    ]


def calibration_error(
    chances: Sequence[float],
    truths: Sequence[bool],
    *,
    weights: Sequence[float] | None = None,
    bins: int = BINS,
    kind: Bins = "mass",
) -> float:
    """Return the expected calibration error (Naeini et al., AAAI 2015), 0 to 1; 0 for nothing.

    The mean over the bins, by weight, of the distance between what was predicted and observed.
    """
    if not len(chances):
        return 0.0
    chance, true, weight = _arrays(chances, truths, weights)
    off = sum(
        abs(float(weight[at] @ (chance[at] - true[at])))
        for at in _binned(chance, weight, bins=bins, kind=kind)
    )
    return off / float(weight.sum())


def brier_score(
    chances: Sequence[float], truths: Sequence[bool], *, weights: Sequence[float] | None = None
) -> float:
    """Return the mean squared distance between probability and outcome (Brier, 1950); 0 is best."""
    chance, true, weight = _arrays(chances, truths, weights)
    return float(np.average((chance - true) ** 2, weights=weight))


def least_likely(wins: int, trials: int, *, confidence: float = CONFIDENCE) -> float:
    """Return the exact lower bound of a share (Clopper and Pearson, 1934), one-sided.

    The smallest share under which ``wins`` or more of ``trials`` happen with a probability of
    1 − ``confidence``.
    """
    if wins <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        if _at_least(wins, trials, share) < 1 - confidence:
            low = share
        else:
            high = share
    return low


def threshold_for(
    chances: Sequence[float],
    truths: Sequence[bool],
    *,
    precision: float,
    confidence: float = CONFIDENCE,
) -> float | None:
    """Return the smallest threshold from which what is shown is right as often as asked.

    Shown is what reaches the threshold; its precision must be at least ``precision`` by the exact
    lower bound at ``confidence``. None when no threshold of those seen can promise that.
    """
    ranked = sorted(zip(chances, truths, strict=True), key=lambda each: -each[0])
    right = 0
    found: float | None = None
    for shown, (chance, true) in enumerate(ranked, start=1):
        right += true
        if shown < len(ranked) and ranked[shown][0] == chance:
            continue
        # The bound reaches the precision where so many right ones would else be this unlikely.
        if _at_least(right, shown, precision) <= 1 - confidence:
            found = chance
    return found


def abstention_threshold(
    chances: Sequence[float], *, silence: float, confidence: float = CONFIDENCE
) -> float | None:
    """Return the smallest threshold that abstains on unanswerable questions as often as asked.

    ``chances`` are the probabilities of such questions. The share of them below the threshold must
    be at least ``silence`` by the exact lower bound; None when there are too few to promise that.
    """
    ranked = sorted(chances)
    for quiet, chance in enumerate(ranked[1:], start=1):
        if chance > ranked[quiet - 1] and _at_least(quiet, len(ranked), silence) <= 1 - confidence:
            return chance
    every = _at_least(len(ranked), len(ranked), silence) <= 1 - confidence
    return math.nextafter(ranked[-1], 2.0) if ranked and every else None


def _arrays(
    chances: Sequence[float], truths: Sequence[bool], weights: Sequence[float] | None
) -> tuple[Floats, Floats, Floats]:
    weight = np.ones(len(chances)) if weights is None else np.array(weights, np.float64)
    return np.array(chances, np.float64), np.array(truths, np.float64), weight


def _binned(chance: Floats, weight: Floats, *, bins: int, kind: Bins) -> list[npt.NDArray[np.intp]]:
    if kind == "width":
        number = np.minimum((chance * bins).astype(int), bins - 1)
        return [np.flatnonzero(number == each) for each in range(bins) if (number == each).any()]
    # Equal probabilities share a bin: the one in which the middle of their weight lies.
    _values, group = np.unique(chance, return_inverse=True)
    mass = np.bincount(group, weights=weight)
    reached = (np.cumsum(mass) - mass / 2) / weight.sum()
    number = np.minimum((reached * bins).astype(int), bins - 1)[group]
    return [np.flatnonzero(number == each) for each in range(bins) if (number == each).any()]


def _at_least(wins: int, trials: int, share: float) -> float:
    """Return the probability of ``wins`` or more successes in ``trials``."""
    if wins <= 0 or share >= 1:
        return 1.0
    if share <= 0 or wins > trials:
        return 0.0
    logs = np.array([math.lgamma(each + 1) for each in range(trials + 1)])
    seen = np.arange(wins, trials + 1)
    choose = logs[trials] - logs[seen] - logs[trials - seen]
    chances = np.exp(choose + seen * math.log(share) + (trials - seen) * math.log1p(-share))
    return min(1.0, float(chances.sum()))

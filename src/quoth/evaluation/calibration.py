"""Logistic calibration of scores, and the expected calibration error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quoth.core.calibration import Calibration
from quoth.retrieval.calibration import Signals, feature_group

BINS = 10
STEPS = 100


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """What was seen, whether it turned out true, and how much it counts."""

    signals: Signals
    true: bool
    weight: float = 1.0


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
        # A long step overshoots where the outcomes are nearly separable.
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
    groups = sorted({feature_group([name]) for name in calibration.weights})
    return {
        group: replace(
            calibration,
            bias=calibration.bias + calibration.weights.get(group, 0.0),
            weights={
                name: weight
                for name, weight in calibration.weights.items()
                if feature_group([name]) == group and name != group
            },
        )
        for group in groups
    }


def calibration_error(chances: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the expected calibration error (Naeini et al., AAAI 2015), 0 to 1; 0 for nothing.

    The mean over bins of equal size of the distance between what was predicted and observed.
    Equal probabilities share a bin: the one in which the middle of them lies.
    """
    if not len(chances):
        return 0.0
    chance, true = np.array(chances, np.float64), np.array(truths, np.float64)
    _values, group, counts = np.unique(chance, return_inverse=True, return_counts=True)
    reached = (np.cumsum(counts) - counts / 2) / len(chance)
    bins = np.minimum((reached * BINS).astype(int), BINS - 1)[group]
    return float(np.abs(np.bincount(bins, weights=chance - true)).sum()) / len(chance)

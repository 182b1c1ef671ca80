"""Logistic calibration of scores, and the expected calibration error."""

from __future__ import annotations

import numpy as np
import pytest

from quoth.core.calibration import Calibration
from quoth.evaluation.calibration import (
    LabelledScore,
    calibration_error,
    fit_calibration,
    merge_calibrations,
    split_groups,
)
from quoth.retrieval.calibration import probability

TRUE_MODEL = Calibration(-2.0, {"a": 3.0, "b": 1.0})


def drawn(count: int, *, seed: int = 1) -> list[LabelledScore]:
    """Outcomes that happen exactly as often as `TRUE_MODEL` says."""
    chance = np.random.default_rng(seed)
    found = []
    for a, b in chance.random((count, 2)):
        signals = {"a": float(a), "b": float(b), "noise": float(chance.random())}
        found.append(
            LabelledScore(signals, bool(chance.random() < probability(TRUE_MODEL, signals)))
        )
    return found


def test_the_fit_finds_the_model_that_made_the_outcomes() -> None:
    found = fit_calibration(drawn(20_000), names=["a", "b"])
    assert found.bias == pytest.approx(-2.0, abs=0.1)
    assert found.weights == pytest.approx({"a": 3.0, "b": 1.0}, abs=0.15)
    assert found.questions == 20_000


def test_the_fit_is_calibrated_on_outcomes_it_has_not_seen() -> None:
    model = fit_calibration(drawn(5000), names=["a", "b", "noise"])
    fresh = drawn(20_000, seed=2)
    error = calibration_error(
        [probability(model, each.signals) for each in fresh], [each.true for each in fresh]
    )
    assert error < 0.02


def test_outcomes_that_are_told_apart_still_give_a_finite_model() -> None:
    clear = [LabelledScore({"a": float(each >= 10)}, each >= 10) for each in range(20)]
    found = fit_calibration(clear, names=["a"])
    assert 0.01 < probability(found, {"a": 0.0}) < 0.2 < 0.8 < probability(found, {"a": 1.0})


def test_no_sign_ever_counts_against() -> None:
    turned = [LabelledScore({"a": -each.signals["a"], "b": each.signals["b"]}, each.true)
              for each in drawn(500)]  # fmt: skip
    assert fit_calibration(turned, names=["a", "b"]).weights.keys() == {"b"}


def test_what_happens_as_often_as_predicted_has_no_error() -> None:
    chances = [tenth / 10 for tenth in range(11) for _ in range(100)]
    truths = [at < tenth * 10 for tenth in range(11) for at in range(100)]
    assert calibration_error(chances, truths) == pytest.approx(0, abs=1e-9)


def test_groups_that_were_fitted_apart_are_joined_and_parted_again() -> None:
    groups = {
        "": Calibration(-2.0, {"read": 3.0}),
        "foreign": Calibration(1.0, {"foreign_read": 2.0}),
        "foreign_unread": Calibration(-1.0, {"foreign_unread_gap": 4.0}),
    }
    whole = merge_calibrations(groups)
    assert whole.weights["foreign"] == 3.0
    assert split_groups(whole) == groups
    signals = {"foreign": 1.0, "foreign_read": 0.5}
    assert probability(whole, signals) == probability(groups["foreign"], signals)

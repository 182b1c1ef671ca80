"""Fitting and judging probabilities: logistic regression, reliability, exact thresholds."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.calibration import Calibration
from quoth.evaluation.calibration import (
    LabelledScore,
    abstention_threshold,
    brier_score,
    calibration_error,
    fit_calibration,
    least_likely,
    merge_calibrations,
    probabilities,
    reliability,
    split_groups,
    threshold_for,
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
    error = calibration_error(probabilities(model, fresh), [each.true for each in fresh])
    assert error < 0.02


def test_outcomes_that_are_told_apart_still_give_a_finite_model() -> None:
    clear = [LabelledScore({"a": float(each >= 10)}, each >= 10) for each in range(20)]
    found = fit_calibration(clear, names=["a"])
    assert 0.01 < probability(found, {"a": 0.0}) < 0.2 < 0.8 < probability(found, {"a": 1.0})


def test_no_sign_ever_counts_against() -> None:
    turned = [LabelledScore({"a": -each.signals["a"], "b": each.signals["b"]}, each.true)
              for each in drawn(500)]  # fmt: skip
    assert fit_calibration(turned, names=["a", "b"]).weights.keys() == {"b"}


def test_few_outcomes_leave_the_prior_as_it_is() -> None:
    few = drawn(10)
    prior = Calibration(1.0, {"a": 5.0})
    near = fit_calibration(few, names=["a"], prior=prior, strength=10_000)
    assert near.bias == pytest.approx(1.0, abs=0.05)
    assert near.weights == pytest.approx({"a": 5.0}, abs=0.1)


def test_outcomes_of_one_kind_teach_nothing() -> None:
    with pytest.raises(ValueError, match="both kinds"):
        fit_calibration([LabelledScore({"a": 1.0}, True)], names=["a"])


@pytest.mark.parametrize("kind", ["mass", "width"])
def test_what_happens_as_often_as_predicted_has_no_error(kind: str) -> None:
    chances = [tenth / 10 for tenth in range(11) for _ in range(100)]
    truths = [at < tenth * 10 for tenth in range(11) for at in range(100)]
    error = calibration_error(chances, truths, bins=11, kind=kind)  # type: ignore[arg-type]
    assert error == pytest.approx(0, abs=1e-9)


def test_the_error_is_the_distance_from_what_was_seen() -> None:
    assert calibration_error([0.9] * 10, [True] * 5 + [False] * 5) == pytest.approx(0.4)


def test_nothing_predicted_is_no_error() -> None:
    assert calibration_error([], []) == 0.0


def test_weights_count_as_repetitions() -> None:
    repeated = calibration_error([0.2, 0.2, 0.8], [False, False, True], bins=2)
    weighed = calibration_error([0.2, 0.8], [False, True], weights=[2, 1], bins=2)
    assert weighed == pytest.approx(repeated)


def test_the_reliability_table_counts_every_probability_once() -> None:
    chances = [each / 37 for each in range(37)]
    table = reliability(chances, [each > 18 for each in range(37)])
    assert sum(each.count for each in table) == 37
    assert [each.predicted for each in table] == sorted(each.predicted for each in table)


def test_the_brier_score_is_the_mean_squared_distance() -> None:
    assert brier_score([0.0, 0.5], [True, True]) == pytest.approx((1 + 0.25) / 2)


@given(st.integers(1, 40), st.data(), st.floats(0.02, 0.98))
def test_the_bound_is_where_so_many_wins_become_that_unlikely(
    trials: int, data: st.DataObject, share: float
) -> None:
    wins = data.draw(st.integers(1, trials))
    tail = sum(comb(trials, k) * share**k * (1 - share) ** (trials - k)
               for k in range(wins, trials + 1))  # fmt: skip
    bound = least_likely(wins, trials)
    assert (share < bound) == (tail < 0.05) or abs(share - bound) < 1e-6


@pytest.mark.parametrize(("errors", "shown"), [(0, 29), (1, 46), (2, 61), (3, 76)])
def test_the_known_counts_for_nine_in_ten(errors: int, shown: int) -> None:
    assert least_likely(shown - errors, shown) >= 0.9
    assert least_likely(shown - errors - 1, shown - 1) < 0.9


def test_the_threshold_is_the_smallest_that_keeps_its_promise() -> None:
    chances = [1 - each / 100 for each in range(100)]
    truths = [at < 60 for at in range(100)]
    found = threshold_for(chances, truths, precision=0.9)
    assert found is not None
    kept = [
        each
        for each in sorted(set(chances))
        if least_likely(
            sum(t for c, t in zip(chances, truths, strict=True) if c >= each),
            sum(c >= each for c in chances),
        )
        >= 0.9
    ]
    assert found == kept[0]


def test_too_little_evidence_gives_no_threshold() -> None:
    assert threshold_for([0.9] * 5, [True] * 5, precision=0.9) is None


def test_equal_probabilities_are_shown_or_hidden_together() -> None:
    assert threshold_for([0.9] * 40 + [0.8] * 40, [True] * 60 + [False] * 20, precision=0.9) == 0.9


def test_silence_is_kept_with_confidence() -> None:
    chances = [each / 100 for each in range(100)]
    found = abstention_threshold(chances, silence=0.9)
    assert found is not None
    assert least_likely(sum(each < found for each in chances), 100) >= 0.9
    assert least_likely(sum(each < found - 0.01 for each in chances), 100) < 0.9


def test_too_few_questions_promise_no_silence() -> None:
    assert abstention_threshold([0.1] * 10, silence=0.95) is None
    assert abstention_threshold([], silence=0.95) is None


def test_questions_that_are_all_alike_are_silent_just_above() -> None:
    found = abstention_threshold([0.4] * 100, silence=0.95)
    assert found is not None
    assert 0.4 < found < 0.4001


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


def test_a_group_alone_keeps_its_constant() -> None:
    alone = Calibration(-3.0, {"unread_gap": 2.0})
    assert split_groups(merge_calibrations({"unread": alone})) == {"unread": alone}

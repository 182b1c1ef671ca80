"""Paired tests against values worked by hand, brute force and another implementation's."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import InputError
from quoth.evaluation.significance import (
    bootstrap_interval,
    compare,
    compare_series,
    mcnemar_exact,
    randomisation_p,
    read_baseline,
    series_of,
)

SHARES = st.floats(0, 1, allow_nan=False).map(lambda value: round(value, 3))


@pytest.mark.parametrize(
    ("won", "lost", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (10, 1, 24 / 2048), (6, 6, 1.0), (8, 2, 112 / 1024)],
)
def test_mcnemar_is_the_two_sided_sign_test(won: int, lost: int, p: float) -> None:
    assert mcnemar_exact(won=won, lost=lost) == pytest.approx(p)


@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.125, 0.25, 1.0]), min_size=1, max_size=8))
def test_few_differences_are_tested_by_all_signs(differences: list[float]) -> None:
    observed = abs(sum(differences))
    signed = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    expected = sum(each >= observed - 1e-12 for each in signed) / len(signed)
    assert randomisation_p(differences) == pytest.approx(expected)


def test_many_differences_come_near_the_exact_value() -> None:
    # Of 20 equal differences 15 up: P(|up − down| ≥ 10) of the binomial law is .0414.
    assert randomisation_p([0.5] * 15 + [-0.5] * 5) == pytest.approx(0.0414, abs=0.006)


def test_a_clear_gain_is_found_and_noise_is_not() -> None:
    gain = compare_series("x", now=[0.6, 0.7, 0.8, 0.9] * 10, before=[0.5, 0.5, 0.7, 0.8] * 10)
    assert gain.p < 0.001
    noise = compare_series("x", now=[0.4, 0.6] * 20, before=[0.6, 0.4] * 20)
    assert noise.p > 0.9


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=40))
def test_the_interval_holds_the_difference(pairs: list[tuple[float, float]]) -> None:
    found = compare_series("x", now=[one for one, _ in pairs], before=[two for _, two in pairs])
    assert found.difference == pytest.approx(found.now - found.before)
    moved = [one - two for one, two in pairs]
    assert min(moved) - 1e-9 <= found.low <= found.high <= max(moved) + 1e-9
    assert 0 < found.p <= 1


def test_the_interval_is_about_two_standard_errors_wide() -> None:
    low, high = bootstrap_interval([0.0, 1.0] * 200)
    assert low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)


def test_only_what_both_runs_asked_is_compared() -> None:
    (found,) = compare(
        {"full ndcg@10": {"a": 0.5, "b": 1.0}, "new": {"a": 1.0}},
        {"full ndcg@10": {"b": 0.5, "c": 0.0}, "old": {"a": 1.0}},
    )
    assert (found.series, found.questions, found.difference) == ("full ndcg@10", 1, 0.5)


def test_runs_without_a_common_question_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="shares no question"):
        compare({"kind": {"a": 1.0}}, {"kind": {"b": 1.0}})


def test_legs_and_measures_become_series() -> None:
    legs = {"full": {"q1": {"ndcg@10": 0.5, "mrr@10": 1}, "q2": {"ndcg@10": 0.25, "mrr@10": 0}}}
    assert series_of({"per_question": legs}) == {
        "full ndcg@10": {"q1": 0.5, "q2": 0.25},
        "full mrr@10": {"q1": 1.0, "q2": 0.0},
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "per_question"),
        ('{"per_question": {"kind": {"a": "yes"}}}', "else than numbers"),
        ('{"per_question": {"kind": 3}}', "else than numbers"),
        ('{"per_question": {"kind": {"a": null}}}', "else than numbers"),
    ],
)
def test_a_baseline_that_is_none_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "before.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=said):
        read_baseline(path)

"""A plan is the profile's, then the kind's, then the caller's, and always possible."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import ConfigError, InputError
from quoth.core.plan import (
    BOUNDS,
    MODE_SPELLINGS,
    PROFILES,
    ModeName,
    Plan,
    make_plan,
    plan_for_kind,
    profile,
)
from quoth.core.settings import Settings
from quoth.core.types import QueryKind


def test_every_profile_makes_a_plan_for_every_kind() -> None:
    for name, kind in product(PROFILES, get_args(QueryKind)):
        plan = plan_for_kind(make_plan(name), kind)
        assert (plan.profile, plan.final_k <= plan.rerank_pool) == (name, True)


def test_the_profile_outranks_the_defaults() -> None:
    assert make_plan("documents").fusion == "rrf"


def test_the_kind_outranks_the_profile() -> None:
    plan = make_plan("talks")
    assert (plan.mmr_lambda, plan_for_kind(plan, "exploratory").mmr_lambda) == (0.8, 0.5)


def test_the_caller_outranks_the_kind() -> None:
    chosen = {"mmr_lambda": 0.25}
    plan = plan_for_kind(make_plan("talks", overrides=chosen), "exploratory", overrides=chosen)
    assert plan.mmr_lambda == 0.25


def test_every_name_of_a_mode_has_its_mode() -> None:
    assert set(MODE_SPELLINGS) == set(get_args(ModeName))
    assert make_plan("default", overrides={"mode": "FTS"}).mode == "keyword"


def test_an_unknown_mode_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"fuzzy.*hybrid, semantic or keyword"):
        make_plan("default", overrides={"mode": "fuzzy"})


def test_an_unknown_profile_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        profile("nonsense")
    assert all(name in str(caught.value) for name in ("nonsense", *PROFILES))


def test_a_misspelt_field_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'finalk'.*'final_k'"):
        make_plan("default", overrides={"finalk": 3})


@pytest.mark.parametrize("name", ["fusion", "context_order"])
def test_a_word_outside_the_list_is_answered_with_the_list(name: str) -> None:
    with pytest.raises(InputError, match=rf"'{name}' is one of .*nonsense"):
        make_plan("default", overrides={name: "nonsense"})


@pytest.mark.parametrize("name", BOUNDS)
def test_a_value_out_of_bounds_is_refused(name: str) -> None:
    for value in ("3", True, -1, 10**9, float("nan"), float("inf"), []):
        with pytest.raises(InputError, match=f"'{name}'"):
            make_plan("default", overrides={name: value})


def test_every_number_of_a_plan_is_bounded() -> None:
    numbers = {
        each.name
        for each in fields(Plan)
        if (isinstance(each.default, int | float) and not isinstance(each.default, bool))
        or re.search(r"(int|float) \| None", str(each.type))
    }
    assert numbers == set(BOUNDS)


@given(candidates=st.integers(1, 1000), pool=st.integers(1, 2000), final=st.integers(1, 100))
def test_the_pool_holds_the_final_and_never_more_than_both_legs_give(
    candidates: int, pool: int, final: int
) -> None:
    choices = {"candidates_per_leg": candidates, "rerank_pool": pool, "final_k": final}
    plan = make_plan("default", overrides=choices)
    assert 1 <= plan.final_k <= plan.rerank_pool <= 2 * candidates


@pytest.mark.parametrize(
    "given", [{"smoothing": 0.1}, {"expansion": "local"}, {"strategy": "aspects"}]
)
def test_what_has_no_effect_any_more_is_still_accepted(given: dict[str, object]) -> None:
    with pytest.warns(DeprecationWarning, match="no effect"):
        assert make_plan("default", overrides=given) == make_plan("default")


@pytest.mark.parametrize("name", PROFILES)
def test_no_profile_ends_before_its_language_model_may_begin(name: str) -> None:
    """A hosted model takes half a second and more for its first word, after the search."""
    plan = make_plan(name)
    first_ms = 1000 * Settings().llm_first_seconds
    assert plan.deadline_ms is None or plan.deadline_ms > first_ms
    assert plan.expansion_ms >= 1000

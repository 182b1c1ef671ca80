"""What a model costs is known beforehand, and what is too dear is left out in a known order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.prices import (
    MIN_ANSWER_TOKENS,
    MIN_CONTEXT_TOKENS,
    SKIP_ORDER,
    SMALL_TASK,
    BudgetDecision,
    fit_budget,
    price,
    skip_for_time,
)
from quoth.core.types import Usage

IN, OUT = 1e-6, 5e-6
"""Dollars per token, as a small model costs."""


def usd(usage: Usage) -> float:
    return usage.input_tokens * IN + usage.output_tokens * OUT


def means(max_usd: float) -> BudgetDecision:
    return fit_budget(
        max_usd=max_usd,
        usd=usd,
        prompt_tokens=600,
        context_tokens=8000,
        max_tokens=1024,
        small_tasks=("classify", "expand"),
    )


ALL = 600 * IN + 8000 * IN + 1024 * OUT + 2 * usd(SMALL_TASK)
"""What everything costs; by hand: 0.0006 + 0.008 + 0.00512 + 2 · 0.0014 = 0.01652."""

# --- prices -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-haiku-4-5"),
        ("anthropic", "claude-haiku-4-5-20251001"),
        ("openai", "gpt-4o-mini"),
        ("gemini", "gemini-2.5-flash"),
        ("openrouter", "openai/gpt-4o-mini"),
    ],
)
def test_the_usual_models_have_a_price(provider: str, model: str) -> None:
    found = price(Usage(1_000_000, 1_000_000), provider=provider, model=model)
    assert found is not None
    assert 0.1 < found < 100


def test_a_known_price_is_that_of_the_table() -> None:
    # 1 dollar a million in, 5 dollars a million out.
    found = price(Usage(2000, 100), provider="anthropic", model="claude-haiku-4-5")
    assert found == pytest.approx(0.0025)


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "no-such-model"), ("openai-compatible", "gpt-4o"), ("ollama", "big:cloud")],
)
def test_nobody_guesses_a_price(provider: str, model: str) -> None:
    assert price(Usage(2000, 100), provider=provider, model=model) is None


# --- money ------------------------------------------------------------------------------------


def test_the_small_tasks_go_first() -> None:
    assert means(ALL - 1e-6) == BudgetDecision(
        True, False, 1024, 8000, (("classify", "no model"), ("expand", "no model"))
    )


def test_a_model_of_unknown_price_is_not_asked_under_a_limit() -> None:
    found = fit_budget(
        max_usd=1, usd=lambda _: None, prompt_tokens=600, context_tokens=8000, max_tokens=1024
    )
    assert not found.generate


@given(
    max_usd=st.floats(0, 0.05),
    prompt=st.integers(0, 4000),
    context=st.integers(0, 20_000),
    tokens=st.integers(1, 4000),
    tasks=st.integers(0, 2),
)
def test_what_is_done_costs_no_more_than_the_limit(
    max_usd: float, prompt: int, context: int, tokens: int, tasks: int
) -> None:
    names = ("classify", "expand")[:tasks]
    found = fit_budget(
        max_usd=max_usd,
        usd=usd,
        prompt_tokens=prompt,
        context_tokens=context,
        max_tokens=tokens,
        small_tasks=names,
    )
    if found.generate:
        extra = tasks * usd(SMALL_TASK) if found.small_tasks else 0
        assert usd(Usage(prompt + found.context_tokens, found.max_tokens)) + extra <= max_usd
        assert min(tokens, MIN_ANSWER_TOKENS) <= found.max_tokens <= tokens
        assert min(context, MIN_CONTEXT_TOKENS) <= found.context_tokens <= context


@given(st.floats(0, 0.02), st.floats(0, 0.02))
def test_more_money_never_gets_less(one: float, other: float) -> None:
    less, more = means(min(one, other)), means(max(one, other))
    if less.generate:
        assert more.generate
        assert more.small_tasks >= less.small_tasks
        assert more.max_tokens >= less.max_tokens
        assert more.context_tokens >= less.context_tokens


# --- time -------------------------------------------------------------------------------------

USUAL = {"expand": 300.0, "rerank": 80.0, "generate": 1200.0}


@pytest.mark.parametrize(
    ("remaining_ms", "out"),
    [
        (None, ()),
        (1580, ()),
        (1579, ("expand",)),
        (1280, ("expand",)),
        (1200, ("expand", "rerank")),
        (1199, ("generate",)),
        (380, ("generate",)),
        (379, ("expand", "generate")),
        (79, ("expand", "rerank", "generate")),
        (0, ("expand", "rerank", "generate")),
    ],
)
def test_the_order_is_expansion_reranking_generation(
    remaining_ms: float | None, out: tuple[str, ...]
) -> None:
    assert skip_for_time(remaining_ms, usual_ms=USUAL) == out


@given(st.floats(0, 3000), st.dictionaries(st.sampled_from(SKIP_ORDER), st.floats(1, 2000)))
def test_what_is_kept_fits_and_nothing_that_fits_is_left_out(
    remaining_ms: float, usual: dict[str, float]
) -> None:
    out = skip_for_time(remaining_ms, usual_ms=usual)
    kept = {stage: ms for stage, ms in usual.items() if stage not in out}
    assert not kept or sum(kept.values()) <= remaining_ms
    whole = sum(usual.values()) <= remaining_ms
    assert bool(out) is not whole or not usual

"""A plan keeps within money and time, and the trace tells what it had to leave out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quoth.core.plan import Plan
from quoth.core.prices import price
from quoth.core.trace import LatencyEstimator, Trace
from quoth.core.types import Usage
from quoth.pipeline.budget import within_budget
from quoth.testing import ScriptedGenerator

EAGER = replace(Plan(), classify=True, expansion="generated", hyde=True)


class Haiku(ScriptedGenerator):
    """A model with a price: a dollar a million tokens in, five out."""

    provider, model, window = "anthropic", "claude-haiku-4-5", 200_000
    endpoint, local = "api", False

    def usd(self, usage: Usage) -> float | None:
        return price(usage, provider=self.provider, model=self.model, local=self.local)


class Stopped:
    """A clock that stands still."""

    def __call__(self) -> float:
        return 0.0


def trace(deadline_ms: float | None = None) -> Trace:
    return Trace(deadline_ms=deadline_ms, clock=Stopped())


def test_without_limits_a_plan_stays_as_it_is() -> None:
    record = trace()
    assert within_budget(EAGER, generator=Haiku(), trace=record, pace=LatencyEstimator()) == EAGER
    assert record.degraded == ()


# All of it: 1500 + 8000 in, 1024 out, and two small tasks of 400 in and 200 out.
# 0.0095 + 0.00512 + 2 · 0.0014 = 0.01742
@pytest.mark.parametrize(
    ("max_usd", "notes"),
    [
        (0.01743, ()),
        (0.01741, ("classify:max_usd:no model", "expand:max_usd:no model")),
        (
            0.0125,
            (
                *(),
                "classify:max_usd:no model",
                "expand:max_usd:no model",
                "generate:max_usd:a shorter answer",
            ),
        ),
        (
            0.005,
            (
                "classify:max_usd:no model",
                "expand:max_usd:no model",
                "generate:max_usd:a shorter answer",
                "context:max_usd:fewer passages",
            ),
        ),
        (0.001, ("generate:max_usd:extractive",)),
    ],
)
def test_less_money_leaves_out_more(max_usd: float, notes: tuple[str, ...]) -> None:
    record = trace()
    within_budget(
        replace(EAGER, max_usd=max_usd), generator=Haiku(), trace=record, pace=LatencyEstimator()
    )
    assert record.degraded == notes


def usual() -> LatencyEstimator:
    pace = LatencyEstimator()
    for stage, spent_ms in {"expand": 300.0, "rerank": 80.0, "generate": 1200.0}.items():
        pace.note(stage, spent_ms)
    return pace


@pytest.mark.parametrize(
    ("deadline_ms", "notes"),
    [
        (None, ()),
        (2000, ()),
        (1500, ("expand:max_ms:the question alone",)),
        (1250, ("expand:max_ms:the question alone", "rerank:max_ms:fused order")),
        (500, ("generate:max_ms:extractive",)),
    ],
)
def test_less_time_leaves_out_more(deadline_ms: float | None, notes: tuple[str, ...]) -> None:
    record = trace(deadline_ms)
    within_budget(EAGER, generator=Haiku(), trace=record, pace=usual())
    assert record.degraded == notes


def test_a_request_decides_once_what_it_has_no_time_for() -> None:
    """A request makes a plan for each search; what is told to be left out is left out of all."""
    pace, record = LatencyEstimator(), trace(1000)
    pace.note("rerank", 1010.0)
    for _ in range(3):
        assert not within_budget(Plan(), generator=None, trace=record, pace=pace).rerank
    assert record.degraded == ("rerank:max_ms:fused order",)
    assert pace.usual_ms["rerank"] == pytest.approx(1010 * 0.98)


def test_what_is_left_out_again_and_again_is_tried_once_more() -> None:
    pace, tried = usual(), 0
    while not within_budget(EAGER, generator=Haiku(), trace=trace(1000), pace=pace).generate:
        tried += 1
    assert 5 < tried < 50

"""Cost and time limits of a query, applied to its plan before the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from quoth.core.plan import Plan
from quoth.core.prices import LatencyEstimator, fit_budget, skip_for_time
from quoth.core.protocols import Generator
from quoth.core.trace import Trace

FRAME_TOKENS = 1500
"""Maximum tokens of instructions, history and query, without the passages."""
FALLBACKS = {"expand": "the question alone", "rerank": "fused order", "generate": "extractive"}
"""The fallback of each stage that is skipped for lack of time."""


def within_budget(
    plan: Plan,
    *,
    generator: Generator | None,
    trace: Trace,
    pace: LatencyEstimator,
) -> Plan:
    """Return the plan that ``max_usd`` and the deadline allow; note omissions in the trace.

    ``pace`` estimates the latency of the stages. Passages are assumed to fill the plan's limit, so
    that the answer never costs more than announced.
    """
    return _fit_deadline(_fit_cost(plan, generator, trace), generator, trace, pace)


def _fit_cost(plan: Plan, generator: Generator | None, trace: Trace) -> Plan:
    if generator is None or plan.max_usd is None:
        return plan
    if not plan.generate and not plan.classify and not _expands(plan):
        return plan
    tasks = [
        *(["classify"] if plan.classify else []),
        *(["expand"] if _expands(plan) else []),
    ]
    means = fit_budget(
        max_usd=plan.max_usd,
        usd=generator.usd,
        prompt_tokens=FRAME_TOKENS,
        context_tokens=plan.max_context_tokens,
        max_tokens=plan.max_tokens,
        small_tasks=tasks,
    )
    for stage, instead in means.left_out:
        trace.note(stage, reason="max_usd", fallback=instead)
    if not means.small_tasks:
        plan = _without_small_tasks(plan)
    if not means.generate:
        return replace(plan, generate=False)
    return replace(plan, max_tokens=means.max_tokens, max_context_tokens=means.context_tokens)


def note_withheld(plan: Plan, *, reason: str, trace: Trace, writes: bool) -> None:
    """Note the planned stages without a usable language model; ``writes``: an answer is wanted."""
    if plan.generate and writes:
        trace.note("generate", reason=reason, fallback=FALLBACKS["generate"])
    if _expands(plan):
        trace.note("expand", reason=reason, fallback=FALLBACKS["expand"])


def note_pace(pace: LatencyEstimator, timings_ms: Mapping[str, float]) -> None:
    """Record the stage latencies of an answer; for generation, the time to first token."""
    for stage in ("expand", "rerank"):
        if stage in timings_ms:
            pace.note(stage, timings_ms[stage])
    if "first_token" in timings_ms and "first_evidence" in timings_ms:
        pace.note("generate", timings_ms["first_token"] - timings_ms["first_evidence"])


def _fit_deadline(
    plan: Plan, generator: Generator | None, trace: Trace, pace: LatencyEstimator
) -> Plan:
    there = {
        "expand": generator is not None and _expands(plan),
        "rerank": plan.rerank,
        "generate": generator is not None and plan.generate,
    }
    # A request has one plan per search; a stage counts as skipped if any plan skipped it.
    before = {entry.partition(":")[0] for entry in trace.degraded if ":max_ms:" in entry}
    usual_ms = {
        stage: spent
        for stage, spent in pace.usual_ms.items()
        if there.get(stage) and stage not in before
    }
    late = skip_for_time(trace.remaining_ms(), usual_ms=usual_ms)
    for stage in late:
        pace.left_out(stage)
        trace.note(stage, reason="max_ms", fallback=FALLBACKS[stage])
    out = before.union(late)
    if "expand" in out:
        plan = replace(_without_small_tasks(plan), classify=plan.classify)
    return replace(
        plan,
        rerank=plan.rerank and "rerank" not in out,
        generate=plan.generate and "generate" not in out,
    )


def _expands(plan: Plan) -> bool:
    return plan.expansion == "generated" or plan.hyde


def _without_small_tasks(plan: Plan) -> Plan:
    """Return the plan without small language model tasks."""
    return replace(plan, classify=False, hyde=False, expansion="none")

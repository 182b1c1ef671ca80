"""Language model prices, and degradation under cost and time limits.

Prices come from the table of the package ``genai-prices``; nothing is looked up on the network.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from quoth.core.types import Usage

Usd = Callable[[Usage], float | None]
"""Dollars for a usage, None where the price is unknown."""

TABLE = "genai_prices"
"""The price package; it is part of every extra for a language model."""
MIN_ANSWER_TOKENS = 128
"""Minimum answer length in tokens."""
MIN_CONTEXT_TOKENS = 500
"""Minimum context in tokens: with less, a generated answer is no better than an extractive one."""
SMALL_TASK = Usage(input_tokens=400, output_tokens=200)
"""Maximum usage of analysing or rewording a query."""
SKIP_ORDER = ("expand", "rerank", "generate")
"""Stages skipped when time is short, least important first."""
PUBLISHERS: Mapping[str, str] = {
    "anthropic": "anthropic",
    "cohere": "cohere",
    "gemini": "google",
    "openai": "openai",
    "openrouter": "openrouter",
    "voyage": "voyageai",
}
"""The table's names of the providers that sell at published prices."""


@dataclass(frozen=True, slots=True)
class BudgetDecision:
    """What the budget allows; ``left_out`` holds pairs of a stage and its fallback.

    ``small_tasks`` says whether the model may help to analyse the query.
    """

    generate: bool
    small_tasks: bool
    max_tokens: int
    context_tokens: int
    left_out: tuple[tuple[str, str], ...] = ()


def price(usage: Usage, *, provider: str, model: str, local: bool = False) -> float | None:
    """Return the price in dollars: 0 for a local model, None if unknown."""
    if local:
        return 0.0
    if provider not in PUBLISHERS or not find_spec(TABLE):
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    used = Tokens(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    try:
        found = calc_price(used, model, provider_id=PUBLISHERS[provider])
    except LookupError:
        return None
    return float(found.total_price)


def fit_budget(
    *,
    max_usd: float,
    usd: Usd,
    prompt_tokens: int,
    context_tokens: int,
    max_tokens: int,
    small_tasks: Sequence[str] = (),
) -> BudgetDecision:
    """Return what fits into ``max_usd``.

    ``prompt_tokens`` counts the instructions, the history and the query, ``context_tokens`` the
    passages; ``small_tasks`` names the stages that would call the model before it answers. If all
    is too much, omissions come in this order: the small tasks; the length of the answer, down to
    128 tokens; the passages, down to 500 tokens; the model. A model without a known price is not
    called when there is a limit.
    """

    def fits(context: int, tokens: int, tasks: int = 0) -> bool:
        cost = usd(Usage(prompt_tokens + context, tokens))
        task = usd(SMALL_TASK) if tasks else 0.0
        return cost is not None and task is not None and cost + tasks * task <= max_usd

    def most(low: int, high: int, enough: Callable[[int], bool]) -> int:
        """Return the largest passing integer in [``low``, ``high``], or ``low`` if none passes."""
        low = min(low, high)
        return max(
            low, low - 1 + bisect_right(range(low, high + 1), 0, key=lambda n: not enough(n))
        )

    whole = BudgetDecision(True, True, max_tokens, context_tokens)
    if fits(context_tokens, max_tokens, len(small_tasks)):
        return whole
    left = tuple((stage, "no model") for stage in small_tasks)
    if fits(context_tokens, max_tokens):
        return BudgetDecision(True, False, max_tokens, context_tokens, left)
    tokens = most(MIN_ANSWER_TOKENS, max_tokens, lambda n: fits(context_tokens, n))
    left = (*left, ("generate", "a shorter answer"))
    if fits(context_tokens, tokens):
        return BudgetDecision(True, False, tokens, context_tokens, left)
    context = most(MIN_CONTEXT_TOKENS, context_tokens, lambda n: fits(n, tokens))
    left = (*left, ("context", "fewer passages"))
    if fits(context, tokens):
        return BudgetDecision(True, False, tokens, context, left)
    return BudgetDecision(False, False, 0, context_tokens, (("generate", "extractive"),))


def skip_for_time(remaining_ms: float | None, *, usual_ms: Mapping[str, float]) -> tuple[str, ...]:
    """Return the stages to skip so that the others fit into the remaining time.

    ``usual_ms`` is the usual latency of each of `SKIP_ORDER`, for an answer the time to its first
    token; stages that are not named are ignored. As few as possible are skipped, in the order of
    `SKIP_ORDER`; one that fits again once a later one is skipped stays.
    """
    if remaining_ms is None:
        return ()
    there = [stage for stage in SKIP_ORDER if stage in usual_ms]
    out: list[str] = []
    for stage in there:
        if sum(usual_ms[each] for each in there if each not in out) <= remaining_ms:
            break
        out.append(stage)
    for stage in reversed(out[:-1]):
        if (
            sum(usual_ms[each] for each in there if each not in out or each == stage)
            <= remaining_ms
        ):
            out.remove(stage)
    return tuple(out)

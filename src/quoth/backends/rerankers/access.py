"""How the rerankers of providers are reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from quoth.backends.http_access import HttpAccess, provider_access, split_name
from quoth.core.usage import Usage

if TYPE_CHECKING:
    from quoth.core.settings import Settings


@dataclass(frozen=True, slots=True)
class RerankProvider:
    """A provider; ``model`` is the default one, ``results`` is where a reply has its rows.

    ``charged`` reads the units that a reply charges for: tokens, or searches. ``usd`` has the
    dollars of a unit by model, as published in November 2025: the price table has none of them.
    """

    model: str
    results: str
    unit: Literal["token", "search"]
    charged: Callable[[Any], Any]
    usd: Mapping[str, float]

    def usage(self, reply: Any, *, model: str) -> Usage:
        """Return what a reply charges for; nothing where it does not tell, no dollars unpriced."""
        try:
            units = max(0, int(self.charged(reply)))
        except (LookupError, TypeError, ValueError, OverflowError):
            return Usage()
        tokens = units if self.unit == "token" else 0
        return Usage(tokens, usd=units * self.usd.get(model, 0.0))


PROVIDERS: Mapping[str, RerankProvider] = {
    "cohere": RerankProvider(
        "rerank-v3.5",
        "results",
        "search",
        lambda reply: reply["meta"]["billed_units"]["search_units"],
        {"rerank-v3.5": 0.002},
    ),
    "voyage": RerankProvider(
        "rerank-2.5",
        "data",
        "token",
        lambda reply: reply["usage"]["total_tokens"],
        {"rerank-2.5": 0.05e-6, "rerank-2.5-lite": 0.02e-6},
    ),
}


def rerank_access(name: str, settings: Settings) -> HttpAccess | None:
    """Return how PROVIDER[:MODEL][@ADDRESS] is reached, None for another reranker.

    Raises ConfigError for a missing key.
    """
    known = PROVIDERS.get(split_name(name)[0])
    if known is None:
        return None
    return provider_access(
        "reranker",
        name,
        settings,
        default=known.model,
        option="--reranker",
        timeout_s=settings.rerank_seconds,
        retries=1,
    )

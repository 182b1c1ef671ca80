"""How the rerankers of providers are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quoth.backends.http_access import HttpAccess
from quoth.backends.registry import require
from quoth.core.errors import ConfigError

if TYPE_CHECKING:
    from quoth.core.settings import Settings


@dataclass(frozen=True, slots=True)
class RerankProvider:
    """Defaults of a provider; ``results`` is where a reply has its rows."""

    model: str
    url: str
    key: str
    results: str


PROVIDERS: Mapping[str, RerankProvider] = {
    "cohere": RerankProvider(
        "rerank-v3.5", "https://api.cohere.com/v2", "cohere_api_key", "results"
    ),
    "voyage": RerankProvider("rerank-2.5", "https://api.voyageai.com/v1", "voyage_api_key", "data"),
}


def rerank_access(name: str, settings: Settings) -> HttpAccess | None:
    """Return how PROVIDER[:MODEL][@ADDRESS] is reached, None for another reranker.

    Raises ConfigError for a missing key.
    """
    named, at, host = name.partition("@http")
    provider, _, model = named.partition(":")
    if provider not in PROVIDERS:
        return None
    require("reranker", provider)
    known = PROVIDERS[provider]
    secret = getattr(settings, known.key)
    if secret is None:
        raise ConfigError(
            f"The reranker '{provider}' needs a key, and there is none. Set {known.key.upper()}, "
            "or choose another with --reranker."
        )
    return HttpAccess(
        "reranker",
        provider,
        model or known.model,
        f"http{host}" if at else known.url,
        key=secret.get_secret_value(),
        proxy=None if settings.llm_proxy is None else settings.llm_proxy.get_secret_value(),
        timeout_s=settings.rerank_seconds,
        retries=1,
    )

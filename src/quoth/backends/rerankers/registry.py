"""Open rerankers by name, folder or chain of names; models are shared by all tenants.

Those of a tenant have fallbacks, a circuit breaker and a time limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from quoth.backends.late_interaction.token_vectors import TokenVectors
from quoth.backends.registry import backend, open_plugin, plugin
from quoth.backends.rerankers.access import rerank_access
from quoth.backends.rerankers.model_folder import canonical, describe_reranker, find_folder
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.component_checks import backend_errors, checked_scores
from quoth.core.errors import ConfigError, RerankError
from quoth.core.protocols import (
    ClosesAsync,
    CountsReranking,
    Matrix,
    Reranker,
    TokenVectorStore,
)
from quoth.core.types import Chunk, Usage

if TYPE_CHECKING:
    from quoth.core.settings import Settings

Make = Callable[[Path | None], Reranker]
"""Creates a tenant's reranker from the folder of its ColBERT vectors."""


@runtime_checkable
class KeepsTokens(Protocol):
    """A reranker with token vectors of its own, which are made when documents are added."""

    vectors: TokenVectorStore


class GuardedReranker:
    """A `Reranker` that tries others in order, the preferred one first.

    When one raises RerankError the next scores all chunks again, so that no ranking mixes the
    scores of two models; the error of the last is raised, and the caller falls back to the fused
    order. ``limit_s`` is the time limit of one call, None for no limit.
    """

    def __init__(self, *rerankers: Reranker, limit_s: float | None = None) -> None:
        if not rerankers:
            raise ValueError("At least one reranker is needed.")
        self.rerankers = rerankers
        self.name = " → ".join(reranker.name for reranker in rerankers)
        self.breaker = CircuitBreaker(f"The reranker {self.name}", error=RerankError)
        self._limit_s = limit_s
        self.token_stores = tuple(
            each.vectors for each in rerankers if isinstance(each, KeepsTokens)
        )
        # Only a single reranker with a block size is called in blocks.
        if len(rerankers) == 1 and hasattr(rerankers[0], "block"):
            self.block = rerankers[0].block

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better, all by one reranker; raises RerankError."""
        return (await self.score_told(query, chunks, tokens=tokens))[0]

    async def score_told(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> tuple[list[float], Usage, bool]:
        """Return scores and usage, and whether another one made them than the first."""
        with self.breaker.call():
            async with self._time_limit():
                for at, reranker in enumerate(self.rerankers):
                    usage = Usage()
                    try:
                        with backend_errors(f"The reranker {reranker.name}", RerankError):
                            if isinstance(reranker, CountsReranking):
                                scores, usage = await reranker.score_counted(
                                    query, chunks, tokens=tokens
                                )
                            else:
                                scores = await reranker.score(query, chunks, tokens=tokens)
                        checked = checked_scores(scores, count=len(chunks), name=reranker.name)
                        return checked, usage, at > 0
                    except RerankError as error:
                        failed = error
                raise failed

    def close(self) -> None:
        """Release threads and memory."""
        for reranker in self.rerankers:
            reranker.close()

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._limit_s):
                yield
        except TimeoutError:
            message = (
                f"The reranker {self.name} took longer than {self._limit_s:g} s. The "
                "setting rerank_seconds allows more."
            )
            raise RerankError(message) from None


class Rerankers:
    """The configured rerankers, separated by commas, each the fallback of the previous one.

    A name is a row of the table, a folder, or a provider's model as PROVIDER[:MODEL][@ADDRESS]. A
    model is opened once for all tenants. Raises ConfigError and MissingExtra.
    """

    def __init__(self, names: str, settings: Settings) -> None:
        wanted = [name.strip() for name in names.split(",") if name.strip()]
        if not wanted:
            raise ConfigError("No reranker is configured. Name one, such as late, or none.")
        self._models: list[Reranker] = []
        self._makes = [None if each == "late" else self._make(each, settings) for each in wanted]

    def over(
        self,
        vectors: TokenVectors | None,
        *,
        store: Path | None = None,
        limit_s: float | None = None,
    ) -> GuardedReranker:
        """Return a tenant's reranker; ``vectors`` are the embedder's token vectors (for 'late').

        ``store`` is the folder of a ColBERT model's vectors, ``limit_s`` the time limit of a call.
        Raises ConfigError.
        """
        opened: list[Reranker] = []
        for make in self._makes:
            if make is not None:
                opened.append(make(store))
            elif vectors is not None:
                opened.append(backend("reranker", "late")(vectors))
            else:
                raise ConfigError(
                    "The reranker 'late' compares the embedder's token vectors, and this embedder "
                    "provides none. Choose another embedder, or another reranker."
                )
        return GuardedReranker(*opened, limit_s=limit_s)

    async def aclose(self) -> None:
        """Close connections, and release the models."""
        for model in self._models:
            if isinstance(model, ClosesAsync):
                await model.aclose()
            await asyncio.to_thread(model.close)

    def _make(self, name: str, settings: Settings) -> Make:
        if name == "fake":
            fake: Reranker = backend("reranker", name)()
            return lambda _store: fake
        if plugin("reranker", name) is not None:
            brought: Reranker = open_plugin("reranker", name, settings, protocol=Reranker)
            self._models.append(brought)
            return lambda _store: brought
        access = rerank_access(name, settings)
        if access is not None:
            remote: Reranker = backend("reranker", access.provider)(access)
            self._models.append(remote)
            return lambda _store: remote
        known = canonical(name)
        if known is None and not Path(name).expanduser().is_dir() and "/" not in name:
            backend("reranker", name)  # raises for what is not in the table, or not here
        folder = find_folder(name, models=settings.models)
        given = {"threads": settings.threads, "gpu": settings.gpu}
        if describe_reranker(folder)[1] != "colbert":
            pairs: Reranker = backend("reranker", "onnx")(folder, **given)
            self._models.append(pairs)
            return lambda _store: pairs
        colbert = backend("reranker", "colbert")(folder, **given)
        self._models.append(colbert)
        return lambda store: colbert.over(store)

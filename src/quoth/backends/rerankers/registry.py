"""Open rerankers by name, folder or chain of names; models are shared by all tenants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from quoth.backends.late_interaction.token_vectors import TokenVectors
from quoth.backends.registry import backend, plugin
from quoth.backends.rerankers.access import rerank_access
from quoth.backends.rerankers.guarded import GuardedReranker
from quoth.backends.rerankers.model_folder import canonical, describe_reranker, find_folder
from quoth.core.errors import ConfigError
from quoth.core.protocols import ClosesAsync, Reranker

if TYPE_CHECKING:
    from quoth.core.settings import Settings

Make = Callable[[TokenVectors | None, Path | None], Reranker]
"""Creates a tenant's reranker from the stored token vectors and the ColBERT folder."""


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
        self._makes = [self._make(name, settings) for name in wanted]

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
        return GuardedReranker(*(make(vectors, store) for make in self._makes), limit_s=limit_s)

    async def aclose(self) -> None:
        """Close connections, and release the models."""
        for model in self._models:
            if isinstance(model, ClosesAsync):
                await model.aclose()
            await asyncio.to_thread(model.close)

    def _make(self, name: str, settings: Settings) -> Make:
        if name == "late":
            return _late
        if name == "fake":
            fake: Reranker = backend("reranker", name)()
            return lambda _vectors, _store: fake
        if plugin("reranker", name) is not None:
            brought: Reranker = backend("reranker", name)(settings)
            self._models.append(brought)
            return lambda _vectors, _store: brought
        access = rerank_access(name, settings)
        if access is not None:
            remote: Reranker = backend("reranker", access.provider)(access)
            self._models.append(remote)
            return lambda _vectors, _store: remote
        known = canonical(name)
        if known is None and not Path(name).expanduser().is_dir() and "/" not in name:
            backend("reranker", name)  # raises for what is not in the table, or not here
        folder = find_folder(name, models=settings.models)
        if describe_reranker(folder)[1] != "colbert":
            pairs: Reranker = backend("reranker", "onnx")(folder, threads=settings.threads)
            self._models.append(pairs)
            return lambda _vectors, _store: pairs
        colbert = backend("reranker", "colbert")(folder, threads=settings.threads)
        self._models.append(colbert)
        return lambda _vectors, store: colbert.over(store)


def _late(vectors: TokenVectors | None, _store: Path | None) -> Reranker:
    if vectors is None:
        raise ConfigError(
            "The reranker 'late' compares the embedder's token vectors, and this embedder "
            "provides none. Choose another embedder, or another reranker."
        )
    late: Reranker = backend("reranker", "late")(vectors)
    return late

"""What every wrapper of an embedder has: the same model, by the same name."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.protocols import CountsUsage, Embedder, Matrix, Role
from quoth.core.types import Usage


class EmbedderWrapper:
    """An embedder within another one; a subclass has `embed` and `encode` of its own."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.revision = inner.revision
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens
        self.query_prefix = inner.query_prefix
        self.document_prefix = inner.document_prefix

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self.inner.count_tokens(texts)

    async def embed_inner(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        """Return the rows of the inner embedder, and what a provider charges for them."""
        if isinstance(self.inner, CountsUsage):
            return await self.inner.embed_counted(texts, role=role)
        return await self.inner.embed(texts, role=role), Usage()

    def close(self) -> None:
        """Do nothing: the embedder itself serves others."""

"""The fake embedder, which remembers what it was given."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.protocols import Matrix, Role
from quoth.testing import HashEmbedder


class RecordingEmbedder(HashEmbedder):
    """Remembers all texts, and those that it was given as documents."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.documents: list[str] = []

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        self.asked += texts
        self.documents += texts if role == "document" else ()
        return await super().embed(texts, role=role)

"""What a component of another package must offer: protocols, the values they use, and errors.

This is the stable place to import them from; `docs/own-parts.md` has an example of each.
"""

from __future__ import annotations

from quoth.backends.indexes.rows import IndexRow
from quoth.backends.indexes.vector_store import (
    AnyOf,
    Condition,
    OneOf,
    Overlaps,
    StoreAccess,
    VectorStore,
)
from quoth.core.errors import (
    BackendError,
    ConfigError,
    EmbeddingError,
    GenerationError,
    RerankError,
    RetrievalError,
)
from quoth.core.page_images import PageEmbedder, PictureShape
from quoth.core.protocols import (
    ClosesAsync,
    CountsReranking,
    CountsUsage,
    Embedder,
    EncodedQuery,
    Finish,
    GenerationParams,
    Generator,
    Matrix,
    Message,
    QueryTransformer,
    Reranker,
    Role,
    Written,
)
from quoth.core.settings import Settings
from quoth.core.types import Chunk, Scored, Turn, Usage

__all__ = [
    "AnyOf",
    "BackendError",
    "Chunk",
    "ClosesAsync",
    "Condition",
    "ConfigError",
    "CountsReranking",
    "CountsUsage",
    "Embedder",
    "EmbeddingError",
    "EncodedQuery",
    "Finish",
    "GenerationError",
    "GenerationParams",
    "Generator",
    "IndexRow",
    "Matrix",
    "Message",
    "OneOf",
    "Overlaps",
    "PageEmbedder",
    "PictureShape",
    "QueryTransformer",
    "RerankError",
    "Reranker",
    "RetrievalError",
    "Role",
    "Scored",
    "Settings",
    "StoreAccess",
    "Turn",
    "Usage",
    "VectorStore",
    "Written",
]

"""Protocols that backends implement.

Methods are async; a backend that computes on the CPU does so in its own bounded executor and does
not block the event loop. A backend turns the errors of its library into `BackendError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from quoth.core.types import Chunk, Filter, Scored, Turn, Usage

Speaker = Literal["system", "user", "assistant"]
FinishReason = Literal["end", "length", "refusal", "other"]
"""Why a model stopped: finished, out of tokens, refused, or other."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model; only the operator speaks as the system."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class GenerationParams:
    """Generation parameters; a provider ignores and logs unsupported ones."""

    temperature: float = 0.1
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Finish:
    """End of a generation: finish reason, usage and model.

    ``usage.usd`` is by the dated price table, 0 where the model is free or has no known price.
    ``stood_in`` means that another model was asked before, and failed.
    """

    reason: FinishReason
    usage: Usage
    provider: str
    model: str
    stood_in: bool = field(default=False, compare=False)


Written = str | Finish
"""A piece of text, or the end, which comes last."""


Matrix = npt.NDArray[np.float32]
Role = Literal["query", "document"]
TokenRows = npt.NDArray[np.uint8]
"""Token vectors of one text in stored form, one row per token."""


SparseWeights = Mapping[int, float]
"""Weights of the tokens of a text, by their ids in the model's vocabulary."""


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """Result of encoding a query in one pass.

    ``vector`` is the unit vector, shape (dimension,). ``tokens`` holds the vectors of its tokens,
    shape (tokens, dimension), ``sparse`` their lexical weights; None if the model has none.
    ``usage`` is what a provider charges, nothing for a cached one.
    """

    vector: Matrix
    tokens: Matrix | None = None
    sparse: SparseWeights | None = None
    usage: Usage = field(default_factory=Usage)


class Embedder(Protocol):
    """Converts texts into unit vectors."""

    name: str
    revision: str
    dimension: int
    max_tokens: int
    query_prefix: str
    document_prefix: str

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        ...

    async def encode(self, query: str) -> EncodedQuery:
        """Return a query's vector and token vectors from one pass; raises EmbeddingError."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...


@runtime_checkable
class SparseEmbedder(Protocol):
    """An embedder that also weighs the tokens of a text, where ``has_sparse``."""

    has_sparse: bool

    async def embed_sparse(self, texts: Sequence[str], *, role: Role) -> list[SparseWeights]:
        """Return the token weights of each text; raises EmbeddingError.

        Right after `Embedder.embed` of the same texts it costs no second pass.
        """
        ...


@runtime_checkable
class CountsUsage(Protocol):
    """An embedder that tells what its provider charges."""

    async def embed_counted(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        """Return the rows of `Embedder.embed`, and their usage; raises EmbeddingError."""
        ...


@runtime_checkable
class ClosesAsync(Protocol):
    """A component with connections, which only a running event loop can close."""

    async def aclose(self) -> None:
        """Close connections."""
        ...


class Index(Protocol):
    """Finds the chunks with the most similar vectors, and those that share words with a query."""

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks of one or more documents; writing a chunk again replaces it."""
        ...

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        ...

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first, among those that pass every filter."""
        ...

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first; repeated query words count repeatedly.

        Any text is safe, one without words finds nothing.
        """
        ...

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of the chunks that exist.

        ``exact`` returns them bit by bit, else a search copy will do.
        """
        ...

    async def document_ids(self) -> Mapping[str, int]:
        """Return the number of chunks per document."""
        ...

    async def count(self) -> int:
        """Return the number of searchable chunks."""
        ...

    async def optimize(self) -> None:
        """Make recent writes cheap to search."""
        ...

    async def needs_build(self) -> bool:
        """Return whether `build` would pay at this size."""
        ...

    async def build(self) -> bool:
        """Build the vector index if large enough; slow, searches continue; True if built."""
        ...

    async def drop(self) -> None:
        """Remove everything."""
        ...

    def close(self) -> None:
        """Close files and free memory."""
        ...


@runtime_checkable
class SparseIndex(Protocol):
    """An index that also holds the lexical weights of its chunks."""

    async def match_sparse(
        self, weights: SparseWeights, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by the tokens that they share with the query; raises RetrievalError."""
        ...


class Reranker(Protocol):
    """Scores chunks together with the query."""

    name: str

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError.

        ``tokens`` holds the query's token vectors as `Embedder.encode` returned them; a reranker
        that compares the embedder's tokens encodes the query itself where they are None.
        """
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...


@runtime_checkable
class CountsReranking(Protocol):
    """A reranker that tells what its provider charges."""

    async def score_counted(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> tuple[list[float], Usage]:
        """Return the scores of `Reranker.score`, and their usage; raises RerankError."""
        ...


@runtime_checkable
class FallsBack(Protocol):
    """A reranker with others that stand in for it."""

    async def score_told(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> tuple[list[float], Usage, bool]:
        """Return the scores and their usage, and whether another one made them than the first."""
        ...


class TokenVectorStore(Protocol):
    """Stores token vectors of chunks; derived, recomputed where missing."""

    async def embed(self, texts: Sequence[str]) -> tuple[Matrix, list[TokenRows]]:
        """Return documents' unit vectors, and the token vectors of each as `put` takes them."""
        ...

    async def put(self, chunks: Sequence[Chunk], tokens: Sequence[TokenRows]) -> None:
        """Write the token vectors of chunks to disk; raises StorageFull."""
        ...

    async def add(self, chunks: Sequence[Chunk]) -> None:
        """Compute and write those that are not on the disk; raises EmbeddingError, StorageFull."""
        ...

    async def stored(self, chunks: Sequence[Chunk]) -> Mapping[str, TokenRows]:
        """Return the token vectors of those chunks that are on the disk, by chunk id."""
        ...

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents."""
        ...

    async def damaged(self) -> list[str]:
        """Return the names of files on the disk that are not as they were written."""
        ...

    async def keep_only(self, document_ids: Iterable[str]) -> int:
        """Delete all other documents, also other models' vectors of them; return their number."""
        ...


class Generator(Protocol):
    """Writes answers: a language model, local or remote.

    ``window`` is the context length in tokens, output included. ``endpoint`` is the host that
    receives the texts, empty if they stay in this process; ``local`` says whether that is this
    machine.
    """

    provider: str
    model: str
    window: int
    endpoint: str
    local: bool

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text as the model does, or over-estimate them."""
        ...

    def usd(self, usage: Usage) -> float | None:
        """Return the maximum cost of a usage in dollars, None if unknown."""
        ...

    def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Yield the answer piece by piece and `Finish` at the end; raises GenerationError.

        Closing the iterator ends the call to the provider.
        """
        ...

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, such as rewording it; raises GenerationError."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class QueryTransformer(Protocol):
    """Rewords a query before it is searched.

    ``local`` says whether the query and the turns before stay on this machine.
    """

    name: str
    local: bool

    async def transform(self, query: str, *, history: Sequence[Turn]) -> str:
        """Return the text that is searched for a query that stands alone; raises RetrievalError.

        ``history`` holds the turns before, oldest first.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class Moderator(Protocol):
    """Flags texts that shall not be asked or shown."""

    name: str

    async def check(self, text: str) -> str:
        """Return why a text is flagged, empty where it is not; raises ModerationError."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class EntailmentModel(Protocol):
    """Predicts whether evidence supports a claim, for verification.

    A model for natural language inference, or a prompted language model.
    """

    name: str

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability of support for each (evidence, claim); raises JudgeError."""
        ...

    async def close(self) -> None:
        """Release threads and memory."""
        ...


@runtime_checkable
class AsksModel(EntailmentModel, Protocol):
    """A judge that prompts a language model, which a request can replace by a metered one."""

    def with_generator(self, generator: Generator) -> EntailmentModel:
        """Return the same judge with another generator."""
        ...

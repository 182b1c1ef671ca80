"""The verbs at the border: what a backend must do to take part.

Methods are async; a backend that computes on the CPU does so in its own bounded executor and
does not block the event loop. A backend turns the errors of its library into `BackendError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from quoth.core.messages import GenerationParams, Message, Written
from quoth.core.types import (
    Chunk,
    Filter,
    Scored,
    Usage,
)

Matrix = npt.NDArray[np.float32]
Role = Literal["query", "document"]
TokenRows = npt.NDArray[np.uint8]
"""Token vectors of one text in their stored form, a row for each token."""


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """What one pass of the model makes of a query.

    ``vector`` is the unit vector, shape (dimension,). ``tokens`` are the vectors of its own
    tokens, shape (tokens, dimension), as the model makes them; None where it shows none.
    """

    vector: Matrix
    tokens: Matrix | None = None


class Embedder(Protocol):
    """Convert texts into unit vectors."""

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


class VectorIndex(Protocol):
    """Find the chunks whose vectors are nearest."""

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

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of those chunks that are there.

        ``exact`` wants them bit by bit; else those of a copy made for searching will do.
        """
        ...

    async def document_ids(self) -> Mapping[str, int]:
        """Return how many chunks each document has here."""
        ...

    async def count(self) -> int:
        """Return how many chunks a search can find here."""
        ...

    async def optimize(self) -> None:
        """Make recent writes cheap to search."""
        ...

    async def needs_build(self) -> bool:
        """Whether there is so much now that `build` pays."""
        ...

    async def build(self) -> bool:
        """Build what pays from some size on; slow, harmless beside searches; True if it did."""
        ...

    async def drop(self) -> None:
        """Remove everything."""
        ...

    def close(self) -> None:
        """Let go of files and memory."""
        ...


class KeywordIndex(Protocol):
    """Find the chunks that share words with the question."""

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first; a repeated word counts as often as it is repeated.

        Any text is safe, one without words finds nothing.
        """
        ...


class Index(VectorIndex, KeywordIndex, Protocol):
    """Both indexes in one store."""


class Reranker(Protocol):
    """Scores chunks against the question together."""

    name: str

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError.

        ``tokens`` are the query's token vectors as `Embedder.encode` returned them; a reranker
        that compares the embedder's tokens encodes the query itself where they are None.
        """
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...


class SpanScorer(Protocol):
    """Scores parts of chunks against the question, from what is kept of their tokens."""

    async def score(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        spans: Sequence[tuple[int, int, int]],
        asking: int = 0,
        tokens: Matrix | None = None,
    ) -> tuple[list[float], list[float]]:
        """Return two scores per span, higher is better; raises EmbeddingError.

        The first are for the whole question, the second for its asking word, at the character
        ``asking``, and what stands right behind it. A span is the place of its chunk in
        ``chunks`` and the characters of that chunk's text. ``tokens`` are the question's token
        vectors as `Embedder.encode` returned them, None to have them computed.
        """
        ...


class TokenVectorStore(Protocol):
    """Store the vectors of chunks' tokens; derived, and computed again where they are missing."""

    async def embed(self, texts: Sequence[str]) -> tuple[Matrix, list[TokenRows]]:
        """Return documents' unit vectors, and each one's token vectors as `put` takes them."""
        ...

    async def put(self, chunks: Sequence[Chunk], tokens: Sequence[TokenRows]) -> None:
        """Write the token vectors of chunks to disk; raises StorageFull."""
        ...

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents."""
        ...

    async def keep_only(self, document_ids: Iterable[str]) -> int:
        """Remove all other documents, also what other models kept of them; gives their number."""
        ...


class Generator(Protocol):
    """Write answers: a language model, wherever it runs.

    ``window`` is how many tokens it can read and write together. ``endpoint`` is the host that
    the texts are sent to, empty where they stay in this process; ``local`` says whether that is
    this machine.
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
        """Return the most that so many tokens cost in dollars, None where nobody knows."""
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
        """Let go of connections."""
        ...


class EntailmentModel(Protocol):
    """Report whether a piece of evidence supports a claim; takes part in the check where it is set.

    A model for natural language inference, or a language model that is asked.
    """

    name: str

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return for each (evidence, claim) the probability of support; raises JudgeError."""
        ...

    async def close(self) -> None:
        """Release threads and memory."""
        ...


@runtime_checkable
class AsksModel(EntailmentModel, Protocol):
    """A judge that asks a language model, which a request puts its own count in front of."""

    def asking(self, generator: Generator) -> EntailmentModel:
        """Return the same judge with another generator to ask."""
        ...

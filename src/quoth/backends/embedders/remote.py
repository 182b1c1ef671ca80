"""Embedders of providers: OpenAI, OpenRouter, Voyage, Cohere, Gemini, Ollama, compatible servers.

One adapter over HTTP. A provider differs in how a request is written and where the reply has its
vectors; its SDK would bring dozens of packages for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quoth.backends.http_access import HttpAccess, sendable
from quoth.backends.http_json import JsonClient
from quoth.core.errors import EmbeddingError
from quoth.core.prices import price
from quoth.core.protocols import EncodedQuery, Matrix, Role
from quoth.core.types import Usage
from quoth.text.analyzer import estimate_tokens

BATCH_TEXTS = 32
"""Texts of one request; their vectors stay far below the limit of a reply."""
MAX_CHARACTERS = 20_000
"""Of one text; providers refuse what is longer than their model reads."""

Vectors = Sequence[Sequence[float]]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider is asked: path, request body, headers, and the vectors of a reply."""

    path: Callable[[str], str]
    body: Callable[[str, Sequence[str], Role, int | None], Body]
    vectors: Callable[[Mapping[str, Any]], Vectors]
    headers: Callable[[str], Mapping[str, str]] = lambda key: {"Authorization": f"Bearer {key}"}
    tokens: Callable[[Mapping[str, Any]], Any] = lambda _reply: None
    """The tokens that a reply is charged for; None where it does not tell."""


def _openai_body(model: str, texts: Sequence[str], _role: Role, dimensions: int | None) -> Body:
    body: Body = {"model": model, "input": list(texts), "encoding_format": "float"}
    return body | ({"dimensions": dimensions} if dimensions else {})


def _voyage_body(model: str, texts: Sequence[str], role: Role, dimensions: int | None) -> Body:
    body: Body = {"model": model, "input": list(texts), "input_type": role, "truncation": True}
    return body | ({"output_dimension": dimensions} if dimensions else {})


def _cohere_body(model: str, texts: Sequence[str], role: Role, dimensions: int | None) -> Body:
    body: Body = {
        "model": model,
        "texts": list(texts),
        "input_type": f"search_{role}",
        "embedding_types": ["float"],
        "truncate": "END",
    }
    return body | ({"output_dimension": dimensions} if dimensions else {})


def _gemini_body(model: str, texts: Sequence[str], role: Role, dimensions: int | None) -> Body:
    own: Body = {"outputDimensionality": dimensions} if dimensions else {}
    own |= {"model": f"models/{model}", "taskType": f"RETRIEVAL_{role.upper()}"}
    return {"requests": [{**own, "content": {"parts": [{"text": text}]}} for text in texts]}


def _openai_vectors(reply: Mapping[str, Any]) -> Vectors:
    return [row["embedding"] for row in sorted(reply["data"], key=lambda row: row["index"])]


def _openai_tokens(reply: Mapping[str, Any]) -> Any:
    return reply["usage"]["total_tokens"]


OPENAI = Dialect(lambda _model: "/embeddings", _openai_body, _openai_vectors, tokens=_openai_tokens)
VOYAGE = Dialect(lambda _model: "/embeddings", _voyage_body, _openai_vectors, tokens=_openai_tokens)
COHERE = Dialect(
    lambda _model: "/embed",
    _cohere_body,
    lambda reply: list(reply["embeddings"]["float"]),
    tokens=lambda reply: reply["meta"]["billed_units"]["input_tokens"],
)
GEMINI = Dialect(
    lambda model: f"/v1beta/models/{model}:batchEmbedContents",
    _gemini_body,
    lambda reply: [row["values"] for row in reply["embeddings"]],
    lambda key: {"x-goog-api-key": key},
)
DIALECTS: Mapping[str, Dialect] = {"voyage": VOYAGE, "cohere": COHERE, "gemini": GEMINI}
"""The others speak OpenAI's."""


class RemoteEmbedder:
    """Embeds at a provider; an `Embedder`.

    ``shortened`` asks for vectors of ``dimension`` numbers where the model has more. Vectors are
    scaled to unit length here.
    """

    query_prefix = ""
    document_prefix = ""

    def __init__(
        self, access: HttpAccess, *, dimension: int, shortened: bool, max_tokens: int
    ) -> None:
        self.name = f"{access.provider}:{access.model}"
        self.revision = f"{access.endpoint}/{dimension}"
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.endpoint = access.endpoint
        self.local = access.local
        self._access = access
        self._asked = dimension if shortened else None
        self._dialect = DIALECTS.get(access.provider, OPENAI)
        self._client = JsonClient(access, error=EmbeddingError)

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        return (await self.embed_counted(texts, role=role))[0]

    async def embed_counted(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        """Return the rows of `embed`, and the tokens and dollars that they cost.

        Tokens are estimated where the provider does not tell them; dollars are by the dated price
        table, 0 where a price is not known.
        """
        rows, tokens = [np.zeros((0, self.dimension), np.float32)], 0
        for at in range(0, len(texts), BATCH_TEXTS):
            found, spent = await self._batch(texts[at : at + BATCH_TEXTS], role)
            rows.append(found)
            tokens += spent
        access, used = self._access, Usage(tokens)
        usd = price(used, provider=access.provider, model=access.model, local=access.local)
        return np.concatenate(rows), Usage(tokens, usd=usd or 0.0)

    async def encode(self, query: str) -> EncodedQuery:
        """Return the query's vector; providers give no token vectors."""
        rows, usage = await self.embed_counted([query], role="query")
        return EncodedQuery(rows[0], usage=usage)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Over-estimate the tokens of each text."""
        return estimate_tokens(texts)

    def close(self) -> None:
        """Do nothing: `aclose` closes the connections."""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _batch(self, texts: Sequence[str], role: Role) -> tuple[Matrix, int]:
        model, dialect = self._access.model, self._dialect
        headers = dialect.headers(self._access.key) if self._access.key else {}
        sent = [sendable(text)[:MAX_CHARACTERS] for text in texts]
        reply = await self._client.post(
            dialect.path(model), dialect.body(model, sent, role, self._asked), headers=headers
        )
        try:
            rows = np.array(dialect.vectors(reply), np.float32)
        except (LookupError, TypeError, ValueError):
            raise self._unusable("sent no vectors that can be read") from None
        if rows.shape != (len(texts), self.dimension):
            raise self._unusable(
                f"sent vectors of shape {rows.shape} where {(len(texts), self.dimension)} was "
                "expected. Set QUOTH_EMBEDDER_DIMENSIONS to the model's own number"
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all((lengths > 0) & np.isfinite(lengths)):
            raise self._unusable("sent a vector without a direction")
        scaled: Matrix = (rows / lengths).astype(np.float32)
        return scaled, self._charged(reply, sent)

    def _charged(self, reply: Mapping[str, Any], sent: Sequence[str]) -> int:
        try:
            return max(0, int(self._dialect.tokens(reply)))
        except (LookupError, TypeError, ValueError, OverflowError):
            return sum(estimate_tokens(sent))

    def _unusable(self, reason: str) -> EmbeddingError:
        return EmbeddingError(f"The embedder {self.name} at {self.endpoint} {reason}.")

"""Embedder for sentence-transformers models in ONNX form, on the CPU.

Every text is computed separately, and several texts concurrently. On the processors measured this
is as fast as padded batches, and the vector of a text does not depend on the other texts
(docs/decisions/002-embedding-threads-and-batches.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from quoth.backends.embedders.lexical import HEAD, read_head
from quoth.backends.embedders.onnx_model import TOKEN_OUTPUTS, open_session, open_tokens
from quoth.backends.onnx.model_folder import Pooling, describe
from quoth.backends.onnx.session import replace_surrogates
from quoth.core.errors import ConfigError, EmbeddingError
from quoth.core.protocols import EncodedQuery, Matrix, Role, SparseWeights

T = TypeVar("T")
POOLINGS: Mapping[Pooling, Callable[[Matrix], Matrix]] = {
    "mean": lambda tokens: tokens.mean(axis=0),
    "cls": lambda tokens: tokens[0],
    "last": lambda tokens: tokens[-1],
}


class OnnxEmbedder:
    """Embeds with the model of a folder; an `Embedder`.

    Opening returns at once and loads in the background; the first call waits. ``threads`` bounds
    the CPU work for documents and, separately, for queries, which never wait for documents.
    Raises ConfigError when the folder is not a usable model.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        self._card = describe(folder)
        self.name = self._card.name
        self.revision = self._card.revision
        self.dimension = self._card.dimension
        self.max_tokens = self._card.max_tokens
        self.query_prefix = self._card.query_prefix
        self.document_prefix = self._card.document_prefix
        self._head = read_head(folder) if (folder / HEAD).is_file() else None
        self.has_sparse = self._head is not None
        self._prefixes = {"query": self.query_prefix, "document": self.document_prefix}
        self._threads = threads
        self._pools: dict[Role, ThreadPoolExecutor] = {
            "query": ThreadPoolExecutor(threads, thread_name_prefix="embed-query"),
            "document": ThreadPoolExecutor(threads, thread_name_prefix="embed-document"),
        }
        self._session = self._pools["query"].submit(
            open_session, folder / self._card.file, threads=threads
        )
        self._tokens = self._pools["document"].submit(open_tokens, folder)
        self._owns: dict[Role, slice] = {}

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text, shape (texts, dimension); raises EmbeddingError.

        At most ``threads`` texts of one call are queued or running, so that calls share the threads
        fairly. Cancelling leaves the embedder usable.
        """
        rows = np.zeros((len(texts), self.dimension), np.float32)
        if not texts:
            return rows
        prefixed = [self._prefixes[role] + text for text in texts]
        ids = await self._run(role, lambda: self._encode(prefixed))

        def embed_one(at: int) -> None:
            rows[at] = self._vector(ids[at])

        await self._spread(role, embed_one, sizes=[len(row) for row in ids])
        return rows

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Return the vectors of `embed` and the token vectors of each text, from one pass.

        The latter are the model's output, shape (tokens, width), without the prefix and special
        tokens. Raises EmbeddingError, and ConfigError for a model without token output.
        """
        rows = np.zeros((len(texts), self.dimension), np.float32)
        tokens: list[Matrix] = [rows] * len(texts)
        if not texts:
            return rows, tokens
        prefixed = [self._prefixes[role] + text for text in texts]
        own = self._owns.get(role) or await self._run(role, lambda: self._own(role))
        ids = await self._run(role, lambda: self._encode(prefixed))

        def embed_one(at: int) -> None:
            rows[at], states, _ = self._states(ids[at])
            tokens[at] = states[own]

        await self._spread(role, embed_one, sizes=[len(row) for row in ids])
        return rows, tokens

    async def embed_sparse(self, texts: Sequence[str], *, role: Role) -> list[SparseWeights]:
        """Return the token weights of each text; raises EmbeddingError.

        Those of texts that were just embedded are known from that pass. A model without the layer
        gives none.
        """
        weights: list[SparseWeights] = [{}] * len(texts)
        head = self._head
        if head is None or not texts:
            return weights
        ids = await self._run(role, lambda: self._encode([self._prefixes[role] + t for t in texts]))

        def weigh(at: int) -> None:
            known = head.recent.get(ids[at])
            weights[at] = self._states(ids[at])[2] if known is None else known

        await self._spread(role, weigh, sizes=[len(row) for row in ids])
        return weights

    async def encode(self, query: str) -> EncodedQuery:
        """Return a query's vector and token vectors from one pass; raises EmbeddingError."""
        return await self._run("query", partial(self._encode_query, query))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self._tokens.result().count(replace_surrogates(texts)) if texts else []

    def close(self) -> None:
        """Release threads and memory; running work is finished first."""
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)

    def _own(self, role: Role) -> slice:
        """Return which tokens are a text's own: without special ones and those of the prefix."""
        tokens = self._tokens.result()
        before, after = tokens.ends
        (length,) = tokens.count([self._prefixes[role].rstrip()])
        self._owns[role] = slice(before + length, -after or None)
        return self._owns[role]

    async def _spread(
        self, role: Role, work: Callable[[int], None], *, sizes: Sequence[int]
    ) -> None:
        """Process the texts, the longest first, which balances the threads."""
        order = iter(sorted(range(len(sizes)), key=lambda at: -sizes[at]))
        workers = [
            asyncio.create_task(self._worker(role, order, work=work))
            for _ in range(min(self._threads, len(sizes)))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()

    async def _worker(
        self, role: Role, order: Iterator[int], *, work: Callable[[int], None]
    ) -> None:
        for at in order:
            await self._run(role, partial(work, at))

    async def _run(self, role: Role, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pools[role], work)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return self._tokens.result().encode(replace_surrogates(texts), limit=self.max_tokens)

    def _encode_query(self, query: str) -> EncodedQuery:
        (ids,) = self._encode([self.query_prefix + query])
        if self._session.result().tokens is None and self._head is None:
            return EncodedQuery(self._vector(ids))
        row, states, weights = self._states(ids)
        own = self._owns.get("query") or self._own("query")
        return EncodedQuery(row, states[own], weights if self.has_sparse else None)

    def _vector(self, ids: Sequence[int]) -> npt.NDArray[np.float32]:
        if self._head is not None:
            return self._states(ids)[0]
        session = self._session.result()
        return self._unit(session.run(ids, outputs=[session.output])[0])

    def _states(self, ids: Sequence[int]) -> tuple[npt.NDArray[np.float32], Matrix, SparseWeights]:
        """Return a text's unit vector, the vectors of all its tokens, and their lexical weights."""
        session = self._session.result()
        if session.tokens is None:
            raise ConfigError(
                f"The model {self.name} gives no vectors of single tokens "
                f"({' or '.join(TOKEN_OUTPUTS)}), which reranking by them and lexical weights "
                f"need. Export it with that output, or choose another reranker and remove {HEAD}."
            )
        outputs = list(dict.fromkeys([session.output, session.tokens]))
        found = session.run(ids, outputs=outputs)
        weights = {} if self._head is None or not ids else self._head.weigh(ids, found[-1])
        if self._head is not None:
            self._head.recent.put(ids, weights)
        return self._unit(found[0]), found[-1], weights

    def _unit(self, output: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the unit vector of token vectors, shape (tokens, dimension), or a text vector."""
        if output.ndim == 2:
            output = POOLINGS[self._card.pooling](output)
        length = float(np.linalg.norm(output))
        if output.shape != (self.dimension,) or not 0 < length < np.inf:
            raise EmbeddingError(
                f"The model {self.name} gave no usable vector: shape {output.shape}, length "
                f"{length}, where {self.dimension} finite numbers are expected. Check the "
                "model folder."
            )
        return (output / length).astype(np.float32)

"""LlamaIndex: its default vector store, BM25Retriever, QueryFusionRetriever without generation."""

# mypy: disable-error-code="import-not-found,misc"

from __future__ import annotations

from pathlib import Path

from llama_index.core import (
    MockEmbedding,
    StorageContext,
    VectorStoreIndex,
    load_index_from_storage,
)
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever

from bench.corpus import Corpus
from bench.embedder import Embedder
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found


def build(corpus: Corpus, *, folder: Path) -> None:
    """Index nodes that carry their vectors and persist both indexes."""
    rows = zip(corpus.ids, corpus.texts, corpus.vectors.tolist(), strict=True)
    nodes = [TextNode(id_=key, text=text, embedding=vector) for key, text, vector in rows]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=corpus.vectors.shape[1]))
    keyword = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=CANDIDATES)
    index.storage_context.persist(str(folder / "vectors"))
    keyword.persist(str(folder / "words"))


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Read both indexes back and fuse them by reciprocal rank."""
    storage = StorageContext.from_defaults(persist_dir=str(folder / "vectors"))
    index = load_index_from_storage(storage, embed_model=embedding_model(tools))
    keyword = BM25Retriever.from_persist_dir(str(folder / "words"))
    store = index.vector_store
    # The store is a pydantic model, which refuses attributes that it does not declare.
    object.__setattr__(store, "query", tools.stages.timing("dense", call=store.query))
    keyword._retrieve = tools.stages.timing("bm25", call=keyword._retrieve)
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=CANDIDATES), keyword],
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=CANDIDATES,
        num_queries=1,
        use_async=False,
    )

    def retrieve(query: str, limit: int) -> Found:
        nodes = fusion.retrieve(query)[:limit]
        return found(
            [Hit(each.node.node_id, each.score, each.node.get_content()) for each in nodes]
        )

    return retrieve


def embedding_model(tools: Tools) -> BaseEmbedding:
    """Wrap the shared embedder."""
    embedder = Embedder(tools.model)

    class Shared(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            with tools.stages("embed"):
                vector: list[float] = embedder.query(query).tolist()
            return vector

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            raise NotImplementedError("Every node already has its vector.")

    return Shared(model_name="shared")

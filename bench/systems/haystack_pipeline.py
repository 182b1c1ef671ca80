"""Haystack: InMemoryDocumentStore, BM25 and embedding retrievers, DocumentJoiner with RRF."""

# mypy: disable-error-code="import-not-found,untyped-decorator"

from __future__ import annotations

from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

from bench.corpus import Corpus
from bench.embedder import Embedder
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found

BATCH = 5000


def build(corpus: Corpus, *, folder: Path) -> None:
    """Fill the store and save it as JSON."""
    store = InMemoryDocumentStore(
        embedding_similarity_function="dot_product", return_embedding=False
    )
    for begin in range(0, len(corpus.ids), BATCH):
        part = slice(begin, begin + BATCH)
        rows = zip(corpus.ids[part], corpus.texts[part], corpus.vectors[part].tolist(), strict=True)
        store.write_documents(
            [Document(id=key, content=text, embedding=vector) for key, text, vector in rows]
        )
    folder.mkdir(parents=True)
    store.save_to_disk(str(folder / "store.json"))


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Read the store back and connect the pipeline."""
    pipeline = connect(
        InMemoryDocumentStore.load_from_disk(str(folder / "store.json")), tools=tools
    )

    def retrieve(query: str, limit: int) -> Found:
        given = {"embed": {"text": query}, "bm25": {"query": query}, "join": {"top_k": limit}}
        documents = pipeline.run(given)["join"]["documents"]
        return found([Hit(each.id, each.score, each.content) for each in documents])

    return retrieve


def connect(store: InMemoryDocumentStore, *, tools: Tools) -> Pipeline:
    """Set up question → vector → both retrievers → joiner, as Haystack's guides do."""
    embedder = Embedder(tools.model)

    @component
    class QueryEmbedder:
        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, list[float]]:
            with tools.stages("embed"):
                return {"embedding": embedder.query(text).tolist()}

    dense = InMemoryEmbeddingRetriever(store, top_k=CANDIDATES)
    keyword = InMemoryBM25Retriever(store, top_k=CANDIDATES)
    dense.run = tools.stages.timing("dense", call=dense.run)
    keyword.run = tools.stages.timing("bm25", call=keyword.run)
    pipeline = Pipeline()
    pipeline.add_component("embed", QueryEmbedder())
    pipeline.add_component("dense", dense)
    pipeline.add_component("bm25", keyword)
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("embed.embedding", "dense.query_embedding")
    pipeline.connect("dense", "join")
    pipeline.connect("bm25", "join")
    return pipeline

"""tantivy for words and usearch for vectors: raw speed, with three stores to keep in step."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from pathlib import Path

import numpy as np
import tantivy
from usearch.index import Index

from bench.corpus import Corpus
from bench.embedder import Embedder
from bench.measures import reciprocal_rank_fusion
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found
from bench.systems.shared import keep_texts, kept_texts, words

WRITER_BYTES, WRITER_THREADS = 256_000_000, 2
EXPANSION = 128


def build(corpus: Corpus, *, folder: Path) -> None:
    """Write a stemming BM25 index and an int8 HNSW graph."""
    (folder / "words").mkdir(parents=True)
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name="en_stem")
    schema.add_integer_field("row", stored=True, fast=True)
    writer = tantivy.Index(schema.build(), path=str(folder / "words")).writer(
        WRITER_BYTES, WRITER_THREADS
    )
    for row, text in enumerate(corpus.texts):
        writer.add_document(tantivy.Document(text=text, row=row))
    writer.commit()
    writer.wait_merging_threads()
    graph = Index(ndim=corpus.vectors.shape[1], metric="cos", dtype="i8")
    graph.add(np.arange(len(corpus.vectors)), corpus.vectors, threads=WRITER_THREADS)
    graph.save(str(folder / "vectors.usearch"))
    keep_texts(folder, corpus=corpus)


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Open the index and map the graph."""
    embedder = Embedder(tools.model)
    index = tantivy.Index.open(str(folder / "words"))
    searcher = index.searcher()
    graph = Index.restore(str(folder / "vectors.usearch"), view=True)
    graph.expansion_search = EXPANSION
    ids, texts = kept_texts(folder)

    def retrieve(query: str, limit: int) -> Found:
        with tools.stages("embed"):
            vector = embedder.query(query)
        with tools.stages("dense"):
            near = graph.search(vector, CANDIDATES).keys.tolist()
        with tools.stages("bm25"):
            parsed = index.parse_query(words(query.lower()), ["text"])
            hits = searcher.search(parsed, CANDIDATES).hits
            matched = [searcher.doc(address)["row"][0] for _, address in hits]
        fused = reciprocal_rank_fusion([near, matched], limit=limit)
        return found([Hit(ids[row], score, texts[row]) for row, score in fused])

    return retrieve

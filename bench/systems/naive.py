"""The design most tutorials end at: Chroma, rank_bm25 over split words, RRF."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings
from rank_bm25 import BM25Okapi

from bench.corpus import Corpus, Matrix
from bench.embedder import Embedder
from bench.measures import reciprocal_rank_fusion
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found

BATCH = 5000
QUIET = Settings(anonymized_telemetry=False)


def build(corpus: Corpus, *, folder: Path) -> None:
    """Fill a persistent Chroma collection; BM25 is built when it is loaded."""
    folder.mkdir(parents=True)
    collection = chromadb.PersistentClient(str(folder), settings=QUIET).create_collection(
        "chunks", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    for begin in range(0, len(corpus.ids), BATCH):
        part = slice(begin, begin + BATCH)
        collection.add(
            ids=list(corpus.ids[part]),
            documents=list(corpus.texts[part]),
            embeddings=corpus.vectors[part],
        )


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Open the collection and build BM25 over all of its texts."""
    embedder = Embedder(tools.model)
    rank = ranker(folder, tools=tools)

    def retrieve(query: str, limit: int) -> Found:
        with tools.stages("embed"):
            vector = embedder.query(query)
        return found(rank(query, vector, limit))

    return retrieve


def ranker(folder: Path, *, tools: Tools) -> Callable[[str, Matrix, int], list[Hit]]:
    """Return the function from a question and its vector to the fused hits."""
    client = chromadb.PersistentClient(str(folder), settings=QUIET)
    collection = client.get_collection("chunks", embedding_function=None)
    stored = collection.get(include=["documents"])
    texts = dict(zip(stored["ids"], stored["documents"] or [], strict=True))
    ids = list(texts)
    scorer = BM25Okapi([text.split() for text in texts.values()])

    def rank(query: str, vector: Matrix, limit: int) -> list[Hit]:
        with tools.stages("dense"):
            answer = collection.query(query_embeddings=[vector], n_results=CANDIDATES)
            near = answer["ids"][0]
        with tools.stages("bm25"):
            scores = scorer.get_scores(query.split())
            matched = [ids[row] for row in np.argsort(-scores)[:CANDIDATES] if scores[row] > 0]
        fused = reciprocal_rank_fusion([near, matched], limit=limit)
        return [Hit(key, score, texts[key]) for key, score in fused]

    return rank

"""LanceDB as a search index: an approximate vector index, its two legs side by side, RRF here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lancedb

from bench.corpus import Corpus
from bench.embedder import Embedder
from bench.measures import reciprocal_rank_fusion
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found
from bench.systems.shared import arrow_table, keep_texts, kept_texts, words

REFINE = 5
LEG_THREADS = 16


def build(corpus: Corpus, *, folder: Path) -> None:
    """Write the rows, the full-text index and the vector index."""
    table = lancedb.connect(str(folder)).create_table("chunks", arrow_table(corpus))
    table.create_fts_index("text")
    table.create_index(metric="cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ")
    table.wait_for_index([index.name for index in table.list_indices()])
    keep_texts(folder, corpus=corpus)


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Open the table; texts are looked up in memory."""
    embedder = Embedder(tools.model)
    table = lancedb.connect(str(folder)).open_table("chunks")
    ids, texts = kept_texts(folder)
    legs = ThreadPoolExecutor(LEG_THREADS)

    def keyword(query: str) -> list[int]:
        search = table.search(words(query), query_type="fts").limit(CANDIDATES)
        rows: list[int] = search.select(["row", "_score"]).to_arrow()["row"].to_pylist()
        return rows

    def retrieve(query: str, limit: int) -> Found:
        matching = legs.submit(keyword, query)
        with tools.stages("embed"):
            vector = embedder.query(query)
        with tools.stages("dense"):
            search: Any = table.search(vector, vector_column_name="vector")
            search = search.distance_type("cosine").refine_factor(REFINE).limit(CANDIDATES)
            near = search.select(["row", "_distance"]).to_arrow()["row"].to_pylist()
        with tools.stages("rest of bm25"):
            matched = matching.result()
        fused = reciprocal_rank_fusion([near, matched], limit=limit)
        return found([Hit(ids[row], score, texts[row]) for row, score in fused])

    return retrieve

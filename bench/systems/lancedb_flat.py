"""LanceDB's own hybrid query: full-text index, exact vector scan, its RRFReranker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lancedb
from lancedb.rerankers import RRFReranker

from bench.corpus import Corpus
from bench.embedder import Embedder
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found
from bench.systems.shared import arrow_table, words


def build(corpus: Corpus, *, folder: Path) -> None:
    """Write the rows and the full-text index."""
    table = lancedb.connect(str(folder)).create_table("chunks", arrow_table(corpus))
    table.create_fts_index("text")
    table.wait_for_index([index.name for index in table.list_indices()])


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Open the table; texts come with the rows."""
    embedder = Embedder(tools.model)
    table = lancedb.connect(str(folder)).open_table("chunks")
    reranker = RRFReranker()

    def retrieve(query: str, limit: int) -> Found:
        with tools.stages("embed"):
            vector = embedder.query(query)
        with tools.stages("hybrid query"):
            search: Any = table.search(query_type="hybrid")
            search = search.vector(vector).text(words(query)).distance_type("cosine")
            search = search.limit(CANDIDATES).rerank(reranker)
            rows = search.select(["id", "text"]).to_arrow().slice(0, limit).to_pylist()
        return found([Hit(row["id"], row["_relevance_score"], row["text"]) for row in rows])

    return retrieve

"""The table of systems under test; a new one is a file here and a row below.

The peers live in an environment of their own, so a type check of this one cannot see them: their
files say so to mypy on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Listed:
    """How a system is run and what its row is called.

    ``index`` names what is built: two systems with the same index share one build. ``runs_in``
    says whose Python runs it: the one that runs the bench or that of the peers.
    """

    title: str
    module: str
    index: str
    runs_in: Literal["here", "peers"] = "peers"


SYSTEMS = {
    "quoth": Listed("quoth", "quoth_engine", "quoth", runs_in="here"),
    "quoth_bare": Listed(
        "quoth, only what the peers do as well", "quoth_bare", "quoth", runs_in="here"
    ),
    "lancedb_hnsw": Listed(
        "LanceDB: FTS + IVF_HNSW_SQ (refine 5), legs in threads, RRF",
        "lancedb_hnsw",
        "lancedb_hnsw",
    ),
    "lancedb_flat": Listed(
        "LanceDB's own hybrid: FTS + exact scan, RRFReranker", "lancedb_flat", "lancedb_flat"
    ),
    "tantivy_usearch": Listed(
        "tantivy BM25 + usearch HNSW (i8), RRF", "tantivy_usearch", "tantivy_usearch"
    ),
    "haystack": Listed("Haystack in-memory pipeline, RRF", "haystack_pipeline", "haystack"),
    "llamaindex": Listed(
        "LlamaIndex default store + BM25Retriever, RRF", "llamaindex_fusion", "llamaindex"
    ),
    "naive": Listed("naive: Chroma + rank_bm25, RRF", "naive", "naive"),
    "naive_mmr": Listed("naive + MMR that embeds 20 chunks again", "naive_mmr", "naive"),
    "numpy_bm25s": Listed(
        "reference script: numpy exact + bm25s, RRF", "numpy_bm25s", "numpy_bm25s"
    ),
}

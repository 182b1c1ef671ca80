"""A reference, not a peer: what a competent script gets from numpy and bm25s."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from pathlib import Path

import bm25s
import numpy as np

from bench.corpus import Corpus
from bench.embedder import Embedder
from bench.measures import reciprocal_rank_fusion
from bench.system import CANDIDATES, Found, Hit, Retrieve, Tools, found
from bench.systems.shared import keep_texts, kept_texts


def build(corpus: Corpus, *, folder: Path) -> None:
    """Write the matrix as it is and the BM25 scores as a sparse matrix."""
    folder.mkdir(parents=True)
    scorer = bm25s.BM25()
    tokens = bm25s.tokenize(list(corpus.texts), stopwords="en", show_progress=False)
    scorer.index(tokens, show_progress=False)
    np.save(folder / "vectors.npy", corpus.vectors)
    scorer.save(str(folder / "words"))
    keep_texts(folder, corpus=corpus)


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Read both matrices into memory."""
    embedder = Embedder(tools.model)
    vectors = np.load(folder / "vectors.npy")
    scorer = bm25s.BM25.load(str(folder / "words"))
    ids, texts = kept_texts(folder)

    def keyword(query: str) -> list[int]:
        (tokens,) = bm25s.tokenize([query], stopwords="en", show_progress=False, return_ids=False)
        known = [token for token in tokens if token in scorer.vocab_dict]
        if not known:
            return []
        scores = scorer.get_scores(known)
        return [row for row in best(scores) if scores[row] > 0]

    def retrieve(query: str, limit: int) -> Found:
        with tools.stages("embed"):
            vector = embedder.query(query)
        with tools.stages("dense"):
            near = best(vectors @ vector)
        with tools.stages("bm25"):
            matched = keyword(query)
        fused = reciprocal_rank_fusion([near, matched], limit=limit)
        return found([Hit(ids[row], score, texts[row]) for row, score in fused])

    return retrieve


def best(scores: np.ndarray) -> list[int]:
    """Return the rows of the highest scores, best first."""
    wanted = min(CANDIDATES, len(scores))
    rows = np.argpartition(-scores, wanted - 1)[:wanted]
    ordered: list[int] = rows[np.argsort(-scores[rows])].tolist()
    return ordered

from __future__ import annotations

import asyncio
from pathlib import Path

from quoth.evaluation.datasets import CorpusRow, Question, RetrievalSet
from quoth.evaluation.retrieval import fuse_ranks, mix_evenly
from quoth.testing import HashEmbedder
from scripts.results_table import measure_baselines, rank_by_bm25

DATA = RetrievalSet(
    corpus=(
        CorpusRow("bees", "Honey bees", "A colony of bees gathers honey in the hive."),
        CorpusRow("wasps", "Wasps", "The wasp stings and builds its nest of paper."),
    ),
    questions=(Question("q", "Where does the honey of a colony come from?"),),
    judgments={"q": {"bees": 1}},
)


def test_bm25_ranks_whole_documents_by_their_stems() -> None:
    ranking = rank_by_bm25(DATA)["q"]
    assert [key for key, _score in ranking] == ["bees"]


def test_an_even_mix_adds_normalized_scores() -> None:
    keyword, semantic = [("a", 4.0), ("b", 3.0)], [("b", 0.9), ("c", 0.8)]
    assert mix_evenly(keyword, semantic) == ["b", "a", "c"]
    assert fuse_ranks(keyword, semantic)[0] == "b"


async def test_every_baseline_is_measured_and_vectors_are_kept(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    for _ in range(2):
        found = await measure_baselines(
            DATA, embedder=embedder, folder=tmp_path, progress=lambda *_: None
        )
        (kept,) = sorted(map(str, await asyncio.to_thread(lambda: list(tmp_path.iterdir()))))
        assert kept.endswith(".npy")
        assert set(found) == {"bm25", "vectors", "rrf", "mix"}
        assert found["bm25"]["ndcg@10"] == 1.0

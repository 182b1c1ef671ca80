"""Plain baselines for a judged set: BM25, vectors alone, reciprocal ranks and an even mix.

They rank whole documents, so that quoth's chunks, stages and weights are measured against what a
few lines of code find.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from quoth.core.protocols import Embedder, Matrix
from quoth.core.types import Scored
from quoth.evaluation.corpus import Progress
from quoth.evaluation.datasets import CorpusRow, RetrievalSet
from quoth.evaluation.measures import mean, per_question
from quoth.retrieval.fusion import reciprocal_rank_fusion
from quoth.text.analyzer import analyze, analyze_query, detect_language

DEPTH = 100
K1, B = 1.2, 0.75
MAX_CHARACTERS = 1000
"""Characters of a document that are embedded, about 256 tokens."""
BATCH = 64
LANGUAGES = ("en", "fr", "de", "es", "it", "nl")

Rankings = dict[str, list[Scored]]
"""Documents with scores, best first, by question id."""


async def measure_baselines(
    data: RetrievalSet, *, embedder: Embedder, folder: Path, progress: Progress
) -> dict[str, dict[str, float]]:
    """Return the measures of each baseline; document vectors are kept in ``folder``."""
    keyword = await asyncio.to_thread(rank_by_bm25, data)
    semantic = await _rank_by_vectors(data, embedder=embedder, folder=folder, progress=progress)
    runs: dict[str, dict[str, list[str]]] = {}
    for question in data.questions:
        legs = (keyword[question.id], semantic[question.id])
        for name, ranking in {
            "bm25": [key for key, _score in legs[0]],
            "vectors": [key for key, _score in legs[1]],
            "rrf": fuse_ranks(*legs),
            "mix": mix_evenly(*legs),
        }.items():
            runs.setdefault(name, {})[question.id] = ranking
    return {name: mean(per_question(run, judgments=data.judgments)) for name, run in runs.items()}


def fuse_ranks(keyword: Sequence[Scored], semantic: Sequence[Scored]) -> list[str]:
    """Return ids by reciprocal rank fusion, k 60."""
    fused = reciprocal_rank_fusion({"keyword": keyword, "semantic": semantic})
    return [each.chunk_id for each in fused]


def mix_evenly(keyword: Sequence[Scored], semantic: Sequence[Scored]) -> list[str]:
    """Return ids by the sum of both scores: BM25 divided by its best, cosines scaled to 0 to 1."""
    sums: dict[str, float] = defaultdict(float)
    for ranking, low in ((keyword, 0.0), (semantic, min((s for _, s in semantic), default=0.0))):
        high = max((score for _key, score in ranking), default=0.0)
        for key, score in ranking:
            sums[key] += (score - low) / (high - low) if high > low else 1.0
    return sorted(sums, key=lambda key: (-sums[key], key))


def rank_by_bm25(data: RetrievalSet) -> Rankings:
    """Rank whole documents by BM25 over stems without stop words (Robertson and Zaragoza, 2009)."""
    texts = [_text(row) for row in data.corpus]
    languages = [detect_language(text, among=LANGUAGES, fallback="en") for text in texts]
    counts = [
        Counter(analyze(text, language=language))
        for text, language in zip(texts, languages, strict=True)
    ]
    length = sum(each.total() for each in counts) / len(counts) or 1.0
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, terms in enumerate(counts):
        damping = K1 * (1 - B + B * terms.total() / length)
        for term, count in terms.items():
            postings[term].append((row, count * (K1 + 1) / (count + damping)))
    # A language of a stray document is none of the collection.
    common = [name for name, number in Counter(languages).items() if number * 20 >= len(languages)]
    runs: Rankings = {}
    for question in data.questions:
        scores: dict[int, float] = defaultdict(float)
        for term in analyze_query(question.text, languages=common):
            held = postings.get(term, ())
            rarity = math.log(1 + (len(texts) - len(held) + 0.5) / (len(held) + 0.5))
            for row, weight in held:
                scores[row] += rarity * weight
        best = sorted(scores, key=lambda row: (-scores[row], row))[:DEPTH]
        runs[question.id] = [(data.corpus[row].id, scores[row]) for row in best]
    return runs


async def _rank_by_vectors(
    data: RetrievalSet, *, embedder: Embedder, folder: Path, progress: Progress
) -> Rankings:
    rows = await _document_vectors(data.corpus, embedder=embedder, folder=folder, progress=progress)
    runs: Rankings = {}
    for question in data.questions:
        cosines = rows @ (await embedder.encode(question.text)).vector
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        runs[question.id] = [(data.corpus[row].id, float(cosines[row])) for row in best]
    return runs


async def _document_vectors(
    corpus: Sequence[CorpusRow], *, embedder: Embedder, folder: Path, progress: Progress
) -> Matrix:
    texts = [_text(row)[:MAX_CHARACTERS] for row in corpus]
    key = sha256("\0".join((embedder.name, embedder.revision, *texts)).encode()).hexdigest()[:16]
    path = folder / f"documents-{key}.npy"
    if await asyncio.to_thread(path.is_file):
        kept: Matrix = np.load(path)
        return kept
    parts = []
    for at in range(0, len(texts), BATCH):
        progress("Embedding documents", at, len(texts))
        parts.append(await embedder.embed(texts[at : at + BATCH], role="document"))
    rows = np.concatenate(parts)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    np.save(path, rows)
    return rows


def _text(row: CorpusRow) -> str:
    return f"{row.title}\n{row.text}".strip() or row.id

"""Asks a collection the questions made of it, and keeps what each leg found.

Where a question is a sentence of a chunk, that chunk is judged by the rest: its cosine is that of
the rest, its BM25 score is scaled by what the rest keeps of it, and copies that hold the sentence
are passed over. What is kept is enough to try any fusion without asking again.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from quoth.answering.answerability import weigh_evidence
from quoth.answering.extractive.select import collect_sentences
from quoth.core.protocols import Matrix
from quoth.core.types import (
    Candidate,
    Chunk,
    Document,
    Mode,
    Passage,
    Query,
    Scored,
)
from quoth.evaluation.corpus import Progress
from quoth.evaluation.made_questions import MadeQuestion, normalized
from quoth.pipeline.commit import chunk_vectors
from quoth.pipeline.components import Components
from quoth.retrieval.calibration import (
    READER,
    Signals,
    question_signals,
    reranker_scores,
)
from quoth.retrieval.fusion import (
    KEYWORD,
    SEMANTIC,
    convex_combination,
)
from quoth.retrieval.rerank import rerank
from quoth.store.rows import Collection
from quoth.text.analyzer import analyze, analyze_query

DEPTH = 100
BATCH = 16
COPIES = 20
"""First places of either leg that are searched for copies of the sentence."""
POOL = 30
"""Hits that the reranker reads, where its scores are signs of an answer."""
WEIGHED = 8
"""Hits that the evidence is taken from."""
K1, B = 1.2, 0.75
PREFIX_TIMES = 2
"""How often the keyword leg counts a chunk's prefix among its terms."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """A question, what counts as its answer, and what each leg found, best first.

    ``accepted`` is empty for a question that the collection does not answer. ``signals`` are
    those of `question_signals` at the weight that the search starts from.
    """

    language: str
    keyword: tuple[Scored, ...]
    semantic: tuple[Scored, ...]
    accepted: frozenset[str]
    signals: Signals | None

    def fused(self, dense_weight: float) -> list[Candidate]:
        """Rank by a convex combination of both legs."""
        return convex_combination(
            {KEYWORD: self.keyword, SEMANTIC: self.semantic},
            dense_weight=dense_weight,
        )


@dataclass(frozen=True, slots=True)
class Bm25Index:
    """How rare each stem is among sampled chunks, and how long a chunk is on average."""

    held: Mapping[str, int]
    chunks: int
    length: float

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Bm25Index:
        """Count the stems of the chunks as they are indexed."""
        stems = [_stems(each) for each in chunks]
        held = Counter(stem for each in stems for stem in set(each))
        return cls(held, len(chunks), sum(map(len, stems)) / max(1, len(stems)) or 1.0)

    def bm25(self, sought: Sequence[str], chunk: Chunk) -> float:
        """Score a chunk as the keyword leg does, up to a factor."""
        found = _stems(chunk)
        counts = Counter(found)
        damping = K1 * (1 - B + B * len(found) / self.length)
        total = 0.0
        for stem in sought:
            if count := counts[stem]:
                among = self.held.get(stem, 0)
                rarity = math.log(1 + (self.chunks - among + 0.5) / (among + 0.5))
                total += rarity * count * (K1 + 1) / (count + damping)
        return total


class Prober:
    """Asks one collection; ``documents`` are all of it by id, ``words`` those of a sample.

    Hits are reordered with ``rerank_weight`` by the reranker whose scores are signs, if
    that is there. The signs of an answer are those of a search in ``mode``.
    """

    def __init__(
        self,
        parts: Components,
        scope: Collection,
        *,
        documents: Mapping[str, Document],
        words: Bm25Index,
        dense_weight: float,
        rerank_weight: float,
        mode: Mode = "hybrid",
    ) -> None:
        self._parts = parts
        self._index = parts.open_index(scope.table)
        self._languages = parts.catalogue.collection_outline(scope).languages
        self._documents = documents
        self._words = words
        self._dense_weight = dense_weight
        self._rerank_weight = rerank_weight
        self._mode = mode

    async def made(
        self, questions: Sequence[MadeQuestion], *, progress: Progress
    ) -> list[ProbeResult]:
        """Ask what was made of the collection."""
        return [
            await self._asked(each.text, each.language, keyword, semantic, made=each)
            for each, keyword, semantic in await self._rankings(questions, progress=progress)
        ]

    async def ranked(
        self, questions: Sequence[MadeQuestion], *, progress: Progress
    ) -> list[ProbeResult]:
        """Ask what was made of the collection, without the signs of an answer."""
        return [
            ProbeResult(each.language, tuple(keyword), tuple(semantic), each.accepted, None)
            for each, keyword, semantic in await self._rankings(questions, progress=progress)
        ]

    async def _rankings(
        self, questions: Sequence[MadeQuestion], *, progress: Progress
    ) -> list[tuple[MadeQuestion, list[Scored], list[Scored]]]:
        """Return what each leg finds for each question."""
        vectors = await self._embed([each.text for each in questions], progress=progress)
        rests: list[Matrix] = []
        for at in range(0, len(questions), BATCH):
            progress("Embedding", at, len(questions))
            chunks = [each.chunk for each in questions[at : at + BATCH]]
            rests.extend(await chunk_vectors(chunks, embedder=self._parts.embedder))
        found = []
        for at, each in enumerate(questions):
            progress("Asking", at, len(questions))
            keyword, semantic = await self._legs(each.text, vectors[at])
            if each.form == "sentence":
                likeness = float(vectors[at] @ rests[at])
                keyword, semantic = await self._without_sentence(
                    each, keyword, semantic, likeness=likeness
                )
            found.append((each, keyword, semantic))
        return found

    async def other(
        self, questions: Sequence[tuple[str, str]], *, progress: Progress
    ) -> list[ProbeResult]:
        """Ask what the collection does not answer; language and wording of each."""
        texts = [text for _language, text in questions]
        vectors = await self._embed(texts, progress=progress)
        asked = []
        for at, (language, text) in enumerate(questions):
            progress("Asking about other things", at, len(questions))
            keyword, semantic = await self._legs(text, vectors[at])
            asked.append(await self._asked(text, language, keyword, semantic, made=None))
        return asked

    async def _embed(self, texts: Sequence[str], *, progress: Progress) -> list[Matrix]:
        rows: list[Matrix] = []
        for at in range(0, len(texts), BATCH):
            progress("Embedding", at, len(texts))
            rows.extend(await self._parts.embedder.embed(texts[at : at + BATCH], role="query"))
        return rows

    async def _legs(self, text: str, vector: Matrix) -> tuple[list[Scored], list[Scored]]:
        return await asyncio.gather(
            self._index.match(text, languages=self._languages, limit=DEPTH),
            self._index.nearest(vector, limit=DEPTH),
        )

    async def _chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        return await asyncio.to_thread(self._parts.catalogue.chunks, ids)

    async def _without_sentence(
        self,
        made: MadeQuestion,
        keyword: Sequence[Scored],
        semantic: Sequence[Scored],
        *,
        likeness: float,
    ) -> tuple[list[Scored], list[Scored]]:
        """Judge the chunk by its rest, and leave out other chunks that hold the sentence."""
        first = [key for key, _score in (*keyword[:COPIES], *semantic[:COPIES])]
        texts = await self._chunks(first)
        sentence = normalized(made.text)
        copies = {
            key
            for key, chunk in texts.items()
            if key != made.chunk.chunk_id and sentence in normalized(chunk.text)
        }
        sought = analyze_query(made.text, languages=self._languages)
        whole = self._words.bm25(sought, made.whole)
        kept = self._words.bm25(sought, made.chunk) / whole if whole else 0.0

        def rescored(ranking: Sequence[Scored], rest: Callable[[float], float]) -> list[Scored]:
            scored = [
                (key, rest(score) if key == made.chunk.chunk_id else score)
                for key, score in ranking
                if key not in copies
            ]
            return sorted((each for each in scored if each[1] > 0), key=lambda e: (-e[1], e[0]))

        return (
            rescored(keyword, lambda score: score * kept),
            rescored(semantic, lambda _score: likeness),
        )

    async def _asked(
        self,
        text: str,
        language: str,
        keyword: Sequence[Scored],
        semantic: Sequence[Scored],
        *,
        made: MadeQuestion | None,
    ) -> ProbeResult:
        """Put together what was found, with the signs of an answer at the starting weight."""
        seen = {} if made is None else {made.chunk.chunk_id: made.chunk}
        asked = ProbeResult(
            language,
            tuple(keyword),
            tuple(semantic),
            frozenset() if made is None else made.accepted,
            None,
        )
        query = Query(text, text, language)
        legs = replace(asked, keyword=()) if self._mode == "semantic" else asked
        pool, chunks = await self._read(query, legs.fused(self._dense_weight)[:POOL], seen=seen)
        passages = [
            Passage(number, self._documents[chunk.document_id], (chunk,), (each.chunk_id,), 1.0)
            for number, each in enumerate(pool[:WEIGHED], start=1)
            if (chunk := chunks.get(each.chunk_id)) and chunk.document_id in self._documents
        ]
        evidence = weigh_evidence(
            query, collect_sentences(query, passages), cosines=[score for _key, score in semantic]
        )
        read = reranker_scores(pool, reranker=self._parts.reranker)
        signals = question_signals(
            keyword=legs.keyword,
            semantic=semantic,
            coverage=evidence.coverage,
            terms=evidence.terms,
            gap=evidence.gap,
            foreign=evidence.cross_lingual,
            read=read,
        )
        return replace(asked, signals=signals)

    async def _read(
        self, query: Query, pool: list[Candidate], *, seen: Mapping[str, Chunk]
    ) -> tuple[list[Candidate], dict[str, Chunk]]:
        """Let the reranker read the hits; gives them in their new order, and their chunks."""
        chunks = {**await self._chunks([each.chunk_id for each in pool]), **seen}
        reranker = self._parts.reranker
        if reranker is None or reranker.name != READER:
            return pool, chunks
        # What is kept of the chunk's tokens knows the sentence; nothing is kept under no document.
        rests = {key: replace(chunk, document_id="") for key, chunk in seen.items()}
        ranked = await rerank(
            pool,
            query=query,
            chunks={**chunks, **rests},
            reranker=reranker,
            weight=self._rerank_weight,
        )
        return ranked, chunks


def everyday_questions() -> list[tuple[str, str]]:
    """Return language and wording of questions of everyday life, which few collections answer.

    They are the lines of ``everyday/LANGUAGE.txt``. A collection on one of these subjects answers
    some of them, so `tune` bounds how many may reach the threshold instead of demanding none.
    """
    folder = sorted(files("quoth.evaluation").joinpath("everyday").iterdir(), key=str)
    return [
        (file.name.removesuffix(".txt"), line)
        for file in folder
        for line in file.read_text("utf-8").splitlines()
    ]


def _stems(chunk: Chunk) -> list[str]:
    """Return the terms of a chunk as the keyword leg counts them."""
    searchable = "\n".join((*[chunk.prefix] * PREFIX_TIMES, chunk.text))
    return analyze(searchable, language=chunk.language)

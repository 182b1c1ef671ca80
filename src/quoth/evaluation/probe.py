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

from quoth.analyse import search_terms, terms
from quoth.answering.extractive import shortlist
from quoth.answering.quality import weigh_evidence
from quoth.catalogue.rows import Collection
from quoth.commit import indexed_text
from quoth.evaluation.made_questions import MadeQuestion, folded
from quoth.parts import Parts
from quoth.protocols import Matrix, Role
from quoth.retrieval.calibrate import Signals, question_signals
from quoth.retrieval.fuse import KEYWORD, SEMANTIC, convex_combination, covered
from quoth.types import Candidate, Chunk, Document, Passage, Query, Scored

DEPTH = 100
BATCH = 16
COPIES = 20
"""First places of either leg that are searched for copies of the sentence."""
WEIGHED = 8
"""Hits that the evidence is taken from."""
K1, B = 1.2, 0.75

Advance = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what counts as its answer, and what each leg found, best first.

    ``accepted`` is empty for a question that the collection does not answer. ``signals`` are
    those of `question_signals` at the weight that the search starts from.
    """

    language: str
    keyword: tuple[Scored, ...]
    semantic: tuple[Scored, ...]
    covered: float
    accepted: frozenset[str]
    signals: Signals | None

    def fused(self, dense_weight: float) -> list[Candidate]:
        """Rank by a convex combination of both legs."""
        return convex_combination(
            {KEYWORD: self.keyword, SEMANTIC: self.semantic},
            dense_weight=dense_weight,
            coverage=self.covered,
        )


@dataclass(frozen=True, slots=True)
class Words:
    """How rare each stem is among sampled chunks, and how long a chunk is on average."""

    held: Mapping[str, int]
    chunks: int
    length: float

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Words:
        """Count the stems of the chunks as they are indexed."""
        stems = [terms(indexed_text(each), language=each.language) for each in chunks]
        held = Counter(stem for each in stems for stem in set(each))
        return cls(held, len(chunks), sum(map(len, stems)) / max(1, len(stems)) or 1.0)

    def bm25(self, sought: Sequence[str], chunk: Chunk) -> float:
        """Score a chunk as the keyword leg does, up to a factor."""
        found = terms(indexed_text(chunk), language=chunk.language)
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
    """Asks one collection; ``documents`` are all of it by id, ``words`` those of a sample."""

    def __init__(
        self,
        parts: Parts,
        scope: Collection,
        *,
        documents: Mapping[str, Document],
        words: Words,
        dense_weight: float,
    ) -> None:
        self._parts = parts
        self._index = parts.open_index(scope.table)
        self._languages = parts.catalogue.languages(scope)
        self._documents = documents
        self._words = words
        self._dense_weight = dense_weight

    async def made(self, questions: Sequence[MadeQuestion], *, progress: Advance) -> list[Asked]:
        """Ask what was made of the collection."""
        vectors = await self._embed([each.text for each in questions], "query", progress=progress)
        rests = await self._embed(
            [indexed_text(each.chunk) for each in questions], "document", progress=progress
        )
        asked = []
        for at, each in enumerate(questions):
            progress("Asking", at, len(questions))
            keyword, semantic = await self._legs(each.text, vectors[at])
            if each.form == "sentence":
                likeness = float(vectors[at] @ rests[at])
                keyword, semantic = await self._without_sentence(
                    each, keyword, semantic, likeness=likeness
                )
            asked.append(await self._asked(each.text, each.language, keyword, semantic, made=each))
        return asked

    async def other(
        self, questions: Sequence[tuple[str, str]], *, progress: Advance
    ) -> list[Asked]:
        """Ask what the collection does not answer; language and wording of each."""
        texts = [text for _language, text in questions]
        vectors = await self._embed(texts, "query", progress=progress)
        asked = []
        for at, (language, text) in enumerate(questions):
            progress("Asking about other things", at, len(questions))
            keyword, semantic = await self._legs(text, vectors[at])
            asked.append(await self._asked(text, language, keyword, semantic, made=None))
        return asked

    async def _embed(self, texts: Sequence[str], role: Role, *, progress: Advance) -> list[Matrix]:
        rows: list[Matrix] = []
        for at in range(0, len(texts), BATCH):
            progress("Embedding", at, len(texts))
            rows.extend(await self._parts.embedder.embed(texts[at : at + BATCH], role=role))
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
        sentence = folded(made.text)
        copies = {
            key
            for key, chunk in texts.items()
            if key != made.chunk.chunk_id and sentence in folded(chunk.text)
        }
        sought = search_terms(made.text, languages=self._languages)
        whole = self._words.bm25(sought, made.whole)
        kept = self._words.bm25(sought, made.chunk) / whole if whole else 0.0

        def anew(ranking: Sequence[Scored], rest: Callable[[float], float]) -> list[Scored]:
            scored = [
                (key, rest(score) if key == made.chunk.chunk_id else score)
                for key, score in ranking
                if key not in copies
            ]
            return sorted((each for each in scored if each[1] > 0), key=lambda e: (-e[1], e[0]))

        return anew(keyword, lambda score: score * kept), anew(semantic, lambda _score: likeness)

    async def _asked(
        self,
        text: str,
        language: str,
        keyword: Sequence[Scored],
        semantic: Sequence[Scored],
        *,
        made: MadeQuestion | None,
    ) -> Asked:
        """Put together what was found, with the signs of an answer at the starting weight."""
        seen = {} if made is None else {made.chunk.chunk_id: made.chunk}
        best = {**await self._chunks([key for key, _score in keyword[:1]]), **seen}
        share = covered(text, best=best[keyword[0][0]] if keyword else None)
        asked = Asked(
            language,
            tuple(keyword),
            tuple(semantic),
            share,
            frozenset() if made is None else made.accepted,
            None,
        )
        ids = [each.chunk_id for each in asked.fused(self._dense_weight)[:WEIGHED]]
        chunks = {**await self._chunks(ids), **seen}
        passages = [
            Passage(number, self._documents[chunk.document_id], (chunk,), (key,), 1.0)
            for number, key in enumerate(ids, start=1)
            if (chunk := chunks.get(key)) and chunk.document_id in self._documents
        ]
        query = Query(text, text, language)
        evidence = weigh_evidence(
            query, shortlist(query, passages), cosines=[score for _key, score in semantic]
        )
        signals = question_signals(
            keyword=keyword,
            semantic=semantic,
            coverage=evidence.coverage,
            terms=evidence.terms,
            gap=evidence.gap,
            foreign=evidence.foreign,
        )
        return replace(asked, signals=signals)

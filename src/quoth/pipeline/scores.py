"""How well the passages answer: scores of sentences, a probability, and what comes closest.

A doubtful answer is looked at again: the sentence scorer reads its best sentences. Weights and
figures: docs/decisions/060-doubtful-answers-are-read-again.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from quoth.answering.answerability import AnswerEvidence
from quoth.answering.extractive.candidates import Quotable, is_sound
from quoth.answering.extractive.lookup import overlaps
from quoth.answering.extractive.score import (
    CandidateSentences,
    Scores,
    cosines_to,
    sentence_scores,
)
from quoth.answering.extractive.select import Statement, sentence_spans
from quoth.core.calibration import logistic
from quoth.core.protocols import EncodedQuery, Reranker
from quoth.core.sentence_scores import SentenceScorer, SpanScorer
from quoth.core.trace import Trace
from quoth.core.types import Chunk, Hit, Passage
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import Retrieved
from quoth.retrieval.calibration import answer_probability, question_signals, reranker_scores
from quoth.text.contents import is_contents, is_index
from quoth.text.links import link
from quoth.text.locators import locate_in

MAX_EMBEDDED = 12
"""Sentences that are embedded where there are no token vectors, the best by their words."""


async def score_sentences(
    parts: Components,
    found: Retrieved,
    passages: Sequence[Passage],
    candidates: CandidateSentences,
    *,
    trace: Trace,
) -> Scores:
    """Score the sentences by token vectors, else by their own vectors, else by words."""
    late: Sequence[float] | None = None
    cosines: Scores | None = None
    if parts.spans is not None and candidates.sentences:
        scoring = _score_spans(parts.spans, found, candidates, passages)
        late = await trace.attempt("read", scoring, otherwise=None, fallback="words")
    elif found.encoded is not None and candidates.sentences:
        scores = sentence_scores(found.query, candidates, passages=passages)
        best = np.argsort(-scores)[:MAX_EMBEDDED]
        texts = [candidates.titled_text(int(at)) for at in best]
        comparing = _sentence_cosines(parts, found.query.standalone, found.encoded, texts)
        close = await trace.attempt("quote", comparing, otherwise=None, fallback="words alone")
        if close is not None:
            cosines = np.full(len(scores), np.nan)
            cosines[best] = close
    return sentence_scores(found.query, candidates, passages=passages, late=late, cosines=cosines)


async def _sentence_cosines(
    parts: Components, question: str, encoded: EncodedQuery, texts: Sequence[str]
) -> Scores:
    """Return the cosine of each sentence to the question, all embedded on this machine."""
    local = parts.sentences
    if local is None:
        return cosines_to(encoded.vector, await parts.embedder.embed(texts, role="document"))
    own = await local.encode(question)
    return cosines_to(own.vector, await local.embed(texts, role="document"))


async def _score_spans(
    scorer: SpanScorer,
    found: Retrieved,
    candidates: CandidateSentences,
    passages: Sequence[Passage],
) -> Sequence[float]:
    """Score the sentences against the query; in a conversation also against its other wording.

    That is a follow-up as it was typed, or another question after the last turns; it counts half as
    much (docs/decisions/037).
    """
    chunks, places = sentence_spans(candidates, passages)
    query = found.query
    alone = await scorer.score(
        query.standalone,
        chunks,
        spans=places,
        tokens=None if found.encoded is None else found.encoded.tokens,
    )
    # "Why?" and "more" say nothing of what is searched for.
    says_some = query.is_followup and any(term.is_asked for term in candidates.terms)
    other = query.in_context or (query.original if says_some else "")
    if other in ("", query.standalone):
        return alone
    also = await scorer.score(other, chunks, spans=places)
    mean: list[float] = np.average([alone, also], axis=0, weights=(2, 1)).tolist()
    return mean


DOUBTFUL = (0.1, 0.5)
"""Probabilities between which the collection may or may not answer."""
ANSWERS_WEIGHT = 0.2
"""What the scorer's best log-odds add to those of the answer."""
MAX_WINDOW_CHARACTERS = 750
"""Length of the neighbouring sentences that are read at once."""
MAX_WINDOWS = 4
"""Windows that are read, each in some 0.05 s."""
READING_MS = 1000
"""A request with less time left is answered without."""


async def read_again(
    parts: Components,
    found: Retrieved,
    candidates: CandidateSentences,
    scores: Scores,
    probability: float | None,
    *,
    trace: Trace,
) -> float | None:
    """Return the probability that the collection answers, after reading if it is doubtful."""
    scorer, left = parts.sentence_scorer, trace.remaining_ms()
    if scorer is None or not found.plan.read_doubtful or not candidates.sentences:
        return probability
    if probability is None or not DOUBTFUL[0] < probability < DOUBTFUL[1]:
        return probability
    if left is not None and left < READING_MS:
        return probability
    reading = read_sentences(scorer, found.query.standalone, candidates, scores)
    read = await trace.attempt("sentences", reading, otherwise=None, fallback="vectors")
    if read is None or np.isnan(read).all():
        return probability
    odds = math.log(probability / (1 - probability)) + ANSWERS_WEIGHT * float(np.nanmax(read))
    return logistic(odds)


async def read_sentences(
    scorer: SentenceScorer, question: str, candidates: CandidateSentences, scores: Scores
) -> Scores:
    """Return the log-odds that each sentence answers, NaN if it was not read.

    Only `MAX_WINDOWS` windows with the best ``scores`` are read. Raises RerankError.
    """
    windows = sorted(_windows(candidates), key=lambda window: -max(scores[window]))[:MAX_WINDOWS]
    texts = [[candidates.sentences[at].text for at in window] for window in windows]
    found = np.full(len(scores), np.nan)
    for window, row in zip(windows, await scorer.score(question, texts), strict=True):
        found[window] = row
    return found


def _windows(candidates: CandidateSentences) -> list[list[int]]:
    """Return neighbouring sentences of a passage in groups of up to `MAX_WINDOW_CHARACTERS`."""
    found: list[list[int]] = []
    for at, sentence in enumerate(candidates.sentences):
        first = candidates.sentences[found[-1][0]] if found else None
        if (
            first is None
            or first.passage != sentence.passage
            or sentence.end - first.start > MAX_WINDOW_CHARACTERS
        ):
            found.append([])
        found[-1].append(at)
    return found


def is_calibrated(found: Retrieved) -> bool:
    """Return whether every collection that was searched has a calibration."""
    return bool(found.ranked) and all(ranking.tuning for ranking in found.ranked)


def estimate_probability(
    found: Retrieved, evidence: AnswerEvidence, *, reranker: Reranker | None, trace: Trace
) -> tuple[float | None, float | None]:
    """Return the probability that the collections answer, and the threshold for an answer.

    Of several collections it is that of the one that is the furthest above its threshold. None
    where a part of the search failed, or a collection has no calibration.
    """
    failed = any(entry.startswith(("embed:", "semantic:", "keyword:")) for entry in trace.degraded)
    if failed or not is_calibrated(found):
        return None, None
    estimates: list[tuple[float, float | None]] = []
    for ranking in found.ranked:
        signals = question_signals(
            keyword=ranking.legs.keyword,
            semantic=ranking.legs.semantic,
            coverage=evidence.coverage,
            terms=evidence.terms,
            gap=evidence.gap,
            foreign=evidence.cross_lingual,
            read=reranker_scores(ranking.pool, reranker=reranker),
        )
        probability = answer_probability(ranking.tuning, signals)
        if probability is not None and ranking.tuning is not None:
            estimates.append((probability, ranking.tuning.answer_from))
    return max(estimates, key=lambda pair: pair[0] - (pair[1] or 0), default=(None, None))


MAX_CLOSEST = 3
"""Passages shown, uncited, below an answer or in place of one."""


def closest_passages(
    found: Retrieved,
    candidates: CandidateSentences,
    *,
    scores: Scores | None,
    skipped: int,
    quoted: Sequence[Statement],
    likely: Sequence[Statement] = (),
    seen: Collection[str] = (),
) -> tuple[Hit, ...]:
    """Return the first hits; with ``scores``, the likeliest sentence of each is marked.

    Before them come those of ``likely``, the statements of an answer that is not sure, which are
    marked; ``seen`` are the chunks that earlier ones quote. Contents and indexes come last.
    ``skipped`` is how many earlier answers showed passages; ``quoted`` is what the answer cites:
    its passages are left out, and there are none below a place or a summary, which is whole. The
    ranks go on behind those, without gaps.
    """
    if quoted and scores is None:
        return ()
    known = {
        chunk.chunk_id: (chunk, passage) for passage in found.passages for chunk in passage.chunks
    }
    before = len(quoted) or MAX_CLOSEST * skipped
    hits = [
        hit
        for hit in found.hits
        if hit.chunk_id not in seen
        and (hit.chunk_id not in known or not overlaps(known[hit.chunk_id][0], quoted))
    ]
    hits.sort(key=lambda hit: is_contents(hit.text) or is_index(hit.text))
    first = _hits_of(likely, hits, known)
    hits = [*first.values(), *(hit for hit in hits if hit.chunk_id not in first)]
    closest: list[Hit] = []
    begin = 0 if seen else MAX_CLOSEST * skipped
    for hit in hits[begin : begin + MAX_CLOSEST]:
        is_open = hit.chunk_id in known and hit.chunk_id not in first
        best = _likeliest(candidates, scores, hit.chunk_id) if is_open else None
        if best is not None:
            if any(best.text in each.text[slice(*each.marked)] for each in closest if each.marked):
                continue
            hit = _marked(hit, best.start, best.end, *known[hit.chunk_id])
        closest.append(replace(hit, rank=before + len(closest) + 1))
    return tuple(closest)


def _likeliest(
    candidates: CandidateSentences, scores: Scores | None, chunk_id: str
) -> Quotable | None:
    """Return the likeliest sentence of a chunk, None without scores or sentences."""
    places = [at for at, each in enumerate(candidates.sentences) if each.chunk_id == chunk_id]
    places = [at for at in places if is_sound(candidates.sentences[at])] or places
    if not places or scores is None:
        return None
    return candidates.sentences[max(places, key=scores.__getitem__)]


def _hits_of(
    statements: Sequence[Statement],
    hits: Sequence[Hit],
    known: Mapping[str, tuple[Chunk, Passage]],
) -> dict[str, Hit]:
    """Return the hit of the best sentence of each statement, with what it shows first marked."""
    by_chunk = {hit.chunk_id: hit for hit in hits if hit.chunk_id in known}
    marked: dict[str, Hit] = {}
    for statement in statements:
        best = statement.marked[0] if statement.marked else statement.start
        for chunk_id, hit in by_chunk.items():
            chunk, passage = known[chunk_id]
            if chunk.document_id == statement.document_id and chunk.start <= best < chunk.end:
                begin = statement.shown_from or statement.start
                found = _marked(hit, begin, statement.end, chunk, passage)
                marked.setdefault(chunk_id, found)
    return marked


def _marked(hit: Hit, start: int, end: int, chunk: Chunk, passage: Passage) -> Hit:
    """Return a hit with a part marked, which its link opens; what is outside of it is left out."""
    start, end = max(start, chunk.start), min(end, chunk.end)
    place = locate_in([chunk], start, end)
    marked = start - chunk.start, end - chunk.start
    opens = link(
        place, passage.document, text=hit.text[slice(*marked)], before=passage.page[:start]
    )
    return replace(hit, marked=marked, locator=place, link=opens)

"""Extractive answer: context → answerability → sentence selection → citations.

Made for every query: before a generated answer it is shown first, and it replaces one when the
model fails or its output is unsupported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from quoth.answering.answerability import (
    AnswerEvidence,
    decide_status,
    is_answerable,
    notice,
    status_notices,
    weigh_evidence,
    weigh_statements,
)
from quoth.answering.citations import cite_statements
from quoth.answering.context import build_context
from quoth.answering.contradictions.citations import (
    conflict_notice,
    disagreements,
    with_other_sides,
)
from quoth.answering.extractive.lookup import CERTAIN, lookup_statements
from quoth.answering.extractive.score import cosines_to
from quoth.answering.extractive.select import (
    Shortlist,
    Statement,
    aspects_without,
    choose_statements,
    read_closely,
    sentence_spans,
    shortlist,
    write_answer,
)
from quoth.answering.extractive.wording import question_word_offset
from quoth.core.protocols import Reranker, SpanScorer
from quoth.core.trace import Trace
from quoth.core.types import (
    Answer,
    AnswerStatus,
    Counts,
    Passage,
)
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import RequestContext, Retrieved
from quoth.query.subject import LOCATOR_FIELDS, only_asks_for_a_place, strip_locator_words
from quoth.retrieval.calibration import (
    answer_probability,
    question_signals,
    reranker_scores,
    statement_probability,
)
from quoth.retrieval.prune import prune
from quoth.retrieval.rerank import RERANK
from quoth.store.rows import now
from quoth.text.token_count import estimate_tokens

MAX_CLOSEST = 3
"""Passages shown, uncited, when the collection has no answer."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """Selected sentences, the answer's status, and its notices."""

    statements: tuple[Statement, ...]
    status: AnswerStatus
    notices: tuple[str, ...] = ()


async def extractive_answer(context: RequestContext, found: Retrieved) -> Answer:
    """Answer with the best verbatim sentences of the passages, each with its citation."""
    plan, language, trace = found.plan, found.query.language, context.trace
    with trace.stage("context"):
        passages = build_context(
            found.passages,
            max_tokens=plan.max_context_tokens,
            count_tokens=estimate_tokens,
            order=plan.context_order,
            kept=prune(found.passages, query=found.query) if plan.prune else None,
        ).passages
    chosen = await _choose(context.parts, found, passages, trace=trace)
    with trace.stage("cite"):
        text, sentences = write_answer(chosen.statements)
        citations = cite_statements(
            chosen.statements, passages, retrieval_method=plan.mode, created_at=now()
        )
        disputed = disagreements(citations, passages=passages)
    if not citations:
        text = notice("no_results" if found.hits else "nothing", language=language)
    return Answer(
        query_id=new_query_id(),
        query=found.query,
        text=text,
        sentences=sentences,
        citations=citations,
        closest=() if citations else found.hits[:MAX_CLOSEST],
        status=chosen.status,
        grounded=bool(citations),
        degraded=trace.degraded,
        warnings=(*found.warnings, *chosen.notices, *conflict_notice(disputed, language=language)),
        counts=Counts(
            retrieved=sum(len(ranking.fused) for ranking in found.ranked),
            reranked=sum(
                RERANK in candidate.legs for one in found.ranked for candidate in one.pool
            ),
            in_context=sum(len(passage.chunks) for passage in passages),
            cited=len({citation.chunk_id for citation in citations}),
        ),
        used_chunks=tuple(c.chunk_id for passage in passages for c in passage.chunks),
        timings_ms=trace.timings_ms(),
        profile=plan.profile,
        index_version=" ".join(ranking.collection.index_version for ranking in found.ranked),
        contradictions=disputed,
    )


def new_query_id() -> str:
    """Return a new query id."""
    return f"q_{uuid4().hex[:12]}"


async def _choose(
    parts: Components, found: Retrieved, passages: Sequence[Passage], *, trace: Trace
) -> _Selection:
    """Select sentences: locator lookup → answerability → selection."""
    plan, subject = found.plan, strip_locator_words(found.query)
    placed = any(filter_.field in LOCATOR_FIELDS for filter_ in plan.filters)
    with trace.stage("judge"):
        listed = shortlist(subject, passages, filters=plan.filters)
        evidence = weigh_evidence(subject, listed, cosines=found.cosines)
    statements = lookup_statements(
        found.query,
        passages,
        listed,
        leaves=found.summary_sentences,
        looked_up=found.from_summaries,
        plan=plan,
    )
    chance, least = _answer_probability(found, evidence, reranker=parts.reranker, trace=trace)
    answers: float | None = None
    if statements:
        evidence, chance = CERTAIN, None
    elif not placed and found.query.notes and only_asks_for_a_place(found.query):
        return _Selection((), "no_results")  # the place does not exist, as a note says
    elif is_answerable(evidence, probability=chance, answer_from=least):
        listed, statements = await _select_statements(parts, found, passages, listed, trace=trace)
        weighed = weigh_statements(listed, statements)
        if weighed is not None:
            answers = statement_probability(
                found.ranked[0].collection.identity,
                chance=chance,
                cosine=weighed.cosine,
                held=weighed.held,
            )
    # Decided last, since the final steps may have been degraded, too.
    status = decide_status(
        evidence,
        probability=chance,
        answer_from=least,
        statement_probability=answers,
        degraded=bool(trace.failures),
        cited=bool(statements),
    )
    if status == "no_results":
        return _Selection((), status)
    language = found.query.language
    notices = status_notices(status, evidence, language=language)
    if without := aspects_without(listed, statements):
        notices = (*notices, notice("missing", language=language, names=without))
    return _Selection(statements, status, notices)


async def _select_statements(
    parts: Components,
    found: Retrieved,
    passages: Sequence[Passage],
    listed: Shortlist,
    *,
    trace: Trace,
) -> tuple[Shortlist, tuple[Statement, ...]]:
    """Score the shortlist by vectors; return it with the sentences that answer."""
    late = cosines = None
    if parts.spans is not None:
        spans = _score_spans(parts.spans, found, listed, passages)
        late = await trace.attempt("read", spans, otherwise=None, fallback="words")
    listed = read_closely(listed, late)
    if found.encoded is not None and not found.ranked[0].whole and listed.texts:
        rows = await trace.attempt(
            "quote",
            parts.embedder.embed(listed.texts, role="document"),
            otherwise=None,
            fallback="words alone",
        )
        cosines = None if rows is None else cosines_to(found.encoded.vector, rows)
    plan = found.plan
    statements = choose_statements(listed, max_sentences=plan.max_sentences, cosines=cosines)
    return listed, with_other_sides(statements, listed)


async def _score_spans(
    spans: SpanScorer, found: Retrieved, listed: Shortlist, passages: Sequence[Passage]
) -> tuple[list[float], list[float]]:
    chunks, places = sentence_spans(listed, passages)
    question = found.query.standalone
    return await spans.score(
        question,
        chunks,
        spans=places,
        asking=question_word_offset(question) or 0,
        tokens=None if found.encoded is None else found.encoded.tokens,
    )


def _answer_probability(
    found: Retrieved, evidence: AnswerEvidence, *, reranker: Reranker | None, trace: Trace
) -> tuple[float | None, float | None]:
    """Return the probability that the collection answers, and its threshold."""
    failed = any(entry.startswith(("embed:", "semantic:", "keyword:")) for entry in trace.degraded)
    if failed or len(found.ranked) != 1:
        return None, None
    legs, tuning = found.ranked[0].legs, found.ranked[0].tuning
    signals = question_signals(
        keyword=legs.keyword,
        semantic=legs.semantic,
        coverage=evidence.coverage,
        terms=evidence.terms,
        gap=evidence.gap,
        foreign=evidence.cross_lingual,
        read=reranker_scores(found.ranked[0].pool, reranker=reranker),
    )
    return answer_probability(tuning, signals), None if tuning is None else tuning.answer_from

"""Extractive answer: context → sentences → answerability → selection → citations.

Made for every query: before a generated answer it is shown first, and it replaces one when the
model fails or its output is unsupported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quoth.answering.answerability import (
    AnswerEvidence,
    Notice,
    are_rows_of_others,
    decide_status,
    notice,
    status_notices,
    weigh_evidence,
)
from quoth.answering.citations import cite_statements
from quoth.answering.context import passages_within
from quoth.answering.contradictions import conflict_notice, disagreements, with_other_sides
from quoth.answering.expected_value import expected_kind, lacks_value
from quoth.answering.extractive.candidates import asks_title
from quoth.answering.extractive.lookup import (
    heading_statements,
    names_only_a_place,
    overlaps,
    place_statements,
    restricting_files,
    section_statements,
    summary_statements,
)
from quoth.answering.extractive.relations import are_quoted
from quoth.answering.extractive.score import (
    CandidateSentences,
    Scores,
    aspects_without,
)
from quoth.answering.extractive.select import (
    Statement,
    choose_statements,
    collect_sentences,
    unquoted_aspects,
)
from quoth.answering.extractive.write import marked_sentences, new_first, write_answer
from quoth.core.events import CitationAdded, Event, TextAdded
from quoth.core.plan import Plan
from quoth.core.trace import Trace
from quoth.core.types import Answer, AnswerStatus, Citation, Counts, Hit, Passage, Query, Turn
from quoth.pipeline.components import Components, with_pages
from quoth.pipeline.retrieve import RequestContext, Retrieved
from quoth.pipeline.scores import (
    closest_passages,
    estimate_probability,
    is_calibrated,
    read_again,
    score_sentences,
)
from quoth.query.comparison_aspects import two_questions
from quoth.query.dialogue_act import continuations
from quoth.query.keywords import names_place, strip_locator_words
from quoth.retrieval.rerank import RERANK
from quoth.retrieval.search import encode_query
from quoth.store.rows import now
from quoth.text.locators import speaker_filters

CLOSEST_SENTENCES = 12
"""Sentences among which the other side of a contradiction is looked for."""
RUNS_OF_EACH = 2
"""Quotations for each of two questions in one."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """Selected statements, the answer's status, its notices, and the score of each sentence.

    Where the status is low_relevance, the statements are not cited but shown as the closest.
    ``confidence`` is the probability that the collection answers; None where it is not known.
    ``near`` are the sentences among which the other side of a contradiction is looked for.
    """

    statements: tuple[Statement, ...]
    status: AnswerStatus
    notices: tuple[str, ...] = ()
    scores: Scores | None = None
    confidence: float | None = None
    near: Sequence[int] = ()

    @property
    def unsure(self) -> bool:
        """Return whether the statements are not cited, but shown as what comes closest."""
        return self.status == "low_relevance"


async def extractive_answer(context: RequestContext, found: Retrieved) -> Answer:
    """Answer with the best verbatim sentences of the passages, each with its citation."""
    plan, language, trace = found.plan, found.query.language, context.trace
    with trace.stage("context"):
        passages = await asyncio.to_thread(with_pages, found.passages, context.parts.catalogue)
        found = replace(found, passages=tuple(passages))
        if not (found.headings or found.sections):
            passages = passages_within(passages, max_tokens=plan.max_context_tokens)
    turns = context.request.history
    history = turns if found.query.continues else ()
    subject = strip_locator_words(found.query, files=restricting_files(found.query, passages))
    with trace.stage("judge"):
        candidates = collect_sentences(subject, passages, filters=plan.filters)
    chosen = await _choose(context, found, passages, candidates, subject=subject, history=history)
    statements = () if chosen.unsure else chosen.statements
    if near := chosen.near:
        statements = with_other_sides(statements, candidates, near=near, passages=passages)
    if turns and not history:
        statements = new_first(statements, turns[-1].answer)
    with trace.stage("cite"):
        text, sentences = write_answer(statements)
        citations = cite_statements(
            statements, passages, retrieval_method=plan.mode, created_at=now(), filters=plan.filters
        )
        disputed = disagreements(citations, passages=passages)
    conflicts = conflict_notice(disputed, language=language) if disputed else ()
    closest = _closest(found, candidates, chosen, quoted=statements, history=history)
    if not citations:
        kind: Notice = "no_results" if found.hits else "nothing"
        if chosen.unsure:
            kind = "low_relevance"
        elif found.query.continues and not closest:
            kind = "no_more"
        elif plan.filters:
            kind = "nothing_there"
        text = notice(kind, language=language) + marked_sentences(closest, language=language)
    return Answer(
        query_id=context.query_id,
        query=found.query,
        text=text,
        sentences=sentences,
        citations=citations,
        closest=closest,
        status=chosen.status,
        grounded=bool(citations),
        degraded=trace.degraded,
        warnings=(*found.warnings, *chosen.notices, *conflicts),
        counts=_count(found, passages, citations),
        used_chunks=tuple(c.chunk_id for passage in passages for c in passage.chunks),
        timings_ms=trace.timings_ms(),
        profile=plan.profile,
        index_version=" ".join(ranking.collection.index_version for ranking in found.ranked),
        contradictions=disputed,
        confidence=chosen.confidence,
    )


def _closest(
    found: Retrieved,
    candidates: CandidateSentences,
    chosen: _Selection,
    *,
    quoted: Sequence[Statement],
    history: Sequence[Turn],
) -> tuple[Hit, ...]:
    """Return the closest passages that are not quoted; none where all were shown before."""
    if not quoted and found.query.continues and chosen.status == "no_results":
        return ()
    unsure = chosen.unsure
    seen = _shown_before(candidates, history) if unsure and history else ()
    return closest_passages(
        found,
        candidates,
        scores=chosen.scores if quoted or unsure else None,
        skipped=continuations(history),
        quoted=quoted,
        likely=chosen.statements if unsure else (),
        seen={candidates.sentences[at].chunk_id for at in seen},
    )


def _count(found: Retrieved, passages: Sequence[Passage], citations: Sequence[Citation]) -> Counts:
    return Counts(
        retrieved=sum(len(ranking.fused) for ranking in found.ranked),
        reranked=sum(RERANK in candidate.legs for one in found.ranked for candidate in one.pool),
        in_context=sum(len(passage.chunks) for passage in passages),
        cited=len({citation.chunk_id for citation in citations}),
    )


def whole_answer_events(answer: Answer) -> list[Event]:
    """Return the events of an answer that is not streamed by a model."""
    return [TextAdded(answer.text), *map(CitationAdded, answer.citations)]


def _shown_before(candidates: CandidateSentences, history: Sequence[Turn]) -> frozenset[int]:
    """Return the sentences that earlier answers quote word for word."""
    texts = [each.text for each in candidates.sentences]
    quoted = are_quoted(texts, [turn.answer for turn in history])
    return frozenset(at for at, is_quoted in enumerate(quoted) if is_quoted)


async def _choose(
    context: RequestContext,
    found: Retrieved,
    passages: Sequence[Passage],
    candidates: CandidateSentences,
    *,
    subject: Query,
    history: Sequence[Turn],
) -> _Selection:
    """Select statements: locator lookup, else answerability → selection."""
    parts, trace, plan, query = context.parts, context.trace, found.plan, found.query
    asks_place = names_only_a_place(query, passages)
    placed = names_place(plan.filters) or (asks_place and bool(speaker_filters(plan.filters)))
    noted = not placed and query.notes  # There is no such place, for example.
    of_nothing = noted and not query.filters and found.summary_sentences
    statements = _requested(found, candidates, passages, asks_place=asks_place)
    if statements and not of_nothing:
        return _Selection(statements, "degraded" if trace.failures else "answered")
    if of_nothing or (noted and asks_place):
        return _Selection((), "no_results")
    scores = await score_sentences(parts, found, passages, candidates, trace=trace)
    calibrated = scores if is_calibrated(found) else None
    evidence = weigh_evidence(subject, candidates, cosines=found.cosines, scores=calibrated)
    probability, threshold = estimate_probability(
        found, evidence, reranker=parts.reranker, trace=trace
    )
    probability = await read_again(parts, found, candidates, scores, probability, trace=trace)
    status = decide_status(
        evidence,
        probability=probability,
        answer_from=threshold,
        degraded=bool(trace.failures),
        placed=placed and bool(candidates.sentences),
    )
    if status == "no_results" or not candidates.sentences:
        return _Selection((), status, (), scores, probability)
    shown = _shown_before(candidates, history) if history else frozenset()
    unsure = status == "low_relevance"
    if (halves := two_questions(query)) and not unsure:
        statements, halved = await _statements_of_both(
            parts, found, passages, halves=halves, shown=shown, trace=trace
        )
        status = "partial" if halved and status == "answered" else status
    statements = statements or choose_statements(
        query,
        candidates,
        scores=scores,
        passages=passages,
        max_sentences=plan.max_sentences,
        shown=shown,
    )
    if unsure or not statements:  # Nothing is left where all that would answer was shown.
        return _Selection(statements, status if unsure else "no_results", (), scores, probability)
    near = [int(at) for at in np.argsort(-scores)[:CLOSEST_SENTENCES]]
    best = _best_of(statements, near, candidates)
    if not placed and _is_beside(query, candidates, best=best, statements=statements):
        return _Selection(statements, "low_relevance", (), scores, probability)
    notices = _notices(status, query, evidence, candidates, statements)
    return _Selection(statements, status, notices, scores, probability, near)


def _notices(
    status: AnswerStatus,
    query: Query,
    evidence: AnswerEvidence,
    candidates: CandidateSentences,
    statements: Sequence[Statement],
) -> tuple[str, ...]:
    """Return the notices of a status, and of aspects that are nowhere or not quoted."""
    found = status_notices(status, evidence, language=query.language)
    if without := query.aspects and aspects_without(query, candidates):
        return (*found, notice("missing", language=query.language, names=without))
    if not evidence.cross_lingual and (beside := unquoted_aspects(query, candidates, statements)):
        return (*found, notice("unquoted", language=query.language, names=beside))
    return found


def _requested(
    found: Retrieved,
    candidates: CandidateSentences,
    passages: Sequence[Passage],
    *,
    asks_place: bool,
) -> tuple[Statement, ...]:
    """Return what a query requests without ranking: an outline, a summary, what is on a page."""
    if found.headings:
        return heading_statements(found.headings, passages)
    if found.sections:
        return section_statements(found.sections, found.summary_sentences, candidates, passages)
    questions = asks_place and _asks_questions(found.plan)
    has_questions = any(each.question for each in candidates.sentences)
    lists_questions = questions and has_questions and found.query.kind != "summary"
    if found.summary_sentences and not lists_questions:
        return summary_statements(found.summary_sentences, candidates, passages)
    is_whole = names_place(found.plan.filters) or all(each.whole for each in found.ranked)
    if candidates.sentences and asks_place and is_whole:
        return place_statements(candidates, passages, questions=questions)
    return ()


def _asks_questions(plan: Plan) -> bool:
    """Return whether the questions of a discussion are requested."""
    return any(each.field == "segment" and "qa" in each.values for each in plan.filters)


async def _statements_of_both(
    parts: Components,
    found: Retrieved,
    passages: Sequence[Passage],
    *,
    halves: Sequence[str],
    shown: Collection[int],
    trace: Trace,
) -> tuple[tuple[Statement, ...], bool]:
    """Select statements for each of two questions in one, and whether one of them has no answer."""
    chosen: list[Statement] = []
    halved = False
    for text in halves:
        query = replace(found.query, original=text, standalone=text, in_context="")
        encoded = None
        if found.encoded is not None:
            encoded = await encode_query(text, embedder=parts.embedder, trace=trace)
        own = replace(found, query=query, encoded=encoded)
        candidates = collect_sentences(
            strip_locator_words(query), passages, filters=found.plan.filters
        )
        evidence = weigh_evidence(query, candidates, cosines=found.cosines)
        probability, threshold = estimate_probability(
            own, evidence, reranker=parts.reranker, trace=trace
        )
        status = decide_status(evidence, probability=probability, answer_from=threshold)
        if status in ("no_results", "low_relevance") or not candidates.sentences:
            halved = True
            continue
        scores = await score_sentences(parts, own, passages, candidates, trace=trace)
        statements = choose_statements(
            query,
            candidates,
            scores=scores,
            passages=passages,
            max_sentences=found.plan.max_sentences // 2,
            shown=shown,
        )
        chosen += [each for each in statements[:RUNS_OF_EACH] if not overlaps(each, chosen)]
    return tuple(chosen), halved and bool(chosen)


def _best_of(
    statements: Sequence[Statement], near: Sequence[int], candidates: CandidateSentences
) -> Statement:
    """Return the statement with the best of the sentences ``near``, else the first."""
    holders = (each for at in near for each in statements if each.holds(candidates.sentences[at]))
    return next(holders, statements[0])


def _is_beside(
    query: Query,
    candidates: CandidateSentences,
    *,
    best: Statement,
    statements: Sequence[Statement],
) -> bool:
    """Return whether what is quoted is beside the question.

    It lacks the value that is asked for, is only a title, or is a row about others.
    """
    sentences = candidates.sentences
    if lacks_value(query, best.text, language=sentences[0].language):
        return True
    quoted = [
        at for run in (best, *statements) for at, each in enumerate(sentences) if run.holds(each)
    ]
    has_asked = expected_kind(query) or asks_title(query)  # Its value, or itself.
    if not has_asked and all(sentences[at].title for at in quoted):
        return True
    return are_rows_of_others(query, candidates, quoted=quoted)

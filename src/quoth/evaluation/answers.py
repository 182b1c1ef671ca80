"""Whole answers against reference sentences: what is cited, what is missed, what is not answered.

A cited span is right when it overlaps a sentence that annotators selected. Where a question has
several reference answers, the one that the answer comes nearest to counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quoth.core.settings import Settings
from quoth.core.types import Answer, Chars, Citation
from quoth.engine import Engine
from quoth.evaluation.corpus import Progress, open_corpus
from quoth.evaluation.datasets import CorpusRow, Judged, Reference, load_corpus, load_judged
from quoth.evaluation.significance import latency_ms, mean_of
from quoth.evaluation.spans import Folded, fold_letters, overlaps
from quoth.pipeline.retrieve import Request
from quoth.text.analyzer import analyze
from quoth.text.sentences import sentences

NUGGET = 0.6
"""The part of a nugget's words that an answer must hold, beside all of its numbers."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a citation cites: characters of a row of the corpus, and whether it opens there."""

    source: str
    start: int
    end: int
    resolved: bool


@dataclass(frozen=True, slots=True)
class Scores:
    """How an answer compares with the nearest reference: counts, and the part of its nuggets."""

    cited: int
    right: int
    selected: int
    hit: int
    nuggets: float

    @property
    def precision(self) -> float:
        """Right spans of those cited."""
        return self.right / self.cited if self.cited else 0.0

    @property
    def recall(self) -> float:
        """Selected sentences that a cited span hits."""
        return self.hit / self.selected if self.selected else 0.0


@dataclass(frozen=True, slots=True)
class AnswerMiss:
    """A question that was answered worse than half, or answered and should not have been."""

    id: str
    question: str
    precision: float
    recall: float
    answer: str


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """What the answers are worth; shares are from 0 to 1.

    ``answerable`` has means over questions: ``citation_precision`` over those that were answered,
    ``citation_recall`` and ``nugget_recall`` over all, where a question without an answer counts
    0. ``resolve_rate`` is the share of citations whose snippet stands at its place in the
    document, byte for byte.
    """

    documents: int
    questions: int
    answerable: Mapping[str, float]
    unanswerable: Mapping[str, float]
    resolve_rate: float
    statuses: Mapping[str, int]
    latency_ms: Mapping[str, float]
    misses: tuple[AnswerMiss, ...]
    per_question: Mapping[str, Mapping[str, float]]
    latencies_ms: Sequence[float]


async def evaluate_answers(
    folder: Path,
    *,
    settings: Settings,
    choices: Mapping[str, Any],
    progress: Progress,
) -> AnswersReport:
    """Answer every question of a folder in the format of the contract; raises InputError.

    No answer is given again, so that each has its own time.
    """
    choices = {**choices, "cache": "none"}
    corpus = load_corpus(folder)
    judged = load_judged(folder)
    answers: list[Answer] = []
    spent: list[float] = []
    async with open_corpus(corpus, settings=settings, progress=progress) as engine:
        sources = {each.document_id: each.source for each in await engine.documents()}
        await _warm(engine, judged[0].question.text, choices)
        for at, each in enumerate(judged):
            progress("Asking", at, len(judged))
            began = time.perf_counter()
            request = Request(each.question.text, choices, history=each.history, checked=False)
            answers.append(await engine.answer(request))
            spent.append(round((time.perf_counter() - began) * 1000, 2))
    return report_on(judged, answers, corpus=corpus, sources=sources, latencies_ms=spent)


async def _warm(engine: Engine, question: str, choices: Mapping[str, Any]) -> None:
    """Ask once without counting: what is loaded on first use is no part of an answer."""
    await engine.answer(Request(question, choices, checked=False))


def report_on(
    judged: Sequence[Judged],
    answers: Sequence[Answer],
    *,
    corpus: Sequence[CorpusRow],
    sources: Mapping[str, str],
    latencies_ms: Sequence[float],
) -> AnswersReport:
    """Compare answers with references; ``sources`` names the row of each document by its id."""
    rows = {each.id: each.text for each in corpus}
    folded: dict[str, Folded] = {}
    spans = {
        each.question.id: [span_of(cited, rows=rows, sources=sources) for cited in answer.citations]
        for each, answer in zip(judged, answers, strict=True)
    }
    for span in (one for each in spans.values() for one in each):
        folded.setdefault(span.source, fold_letters(rows.get(span.source, "")))
    scores = {
        each.question.id: best_scores(
            each.references, spans[each.question.id], answer=answer.text, folded=folded
        )
        for each, answer in zip(judged, answers, strict=True)
        if each.answerable and any(one.selected for one in each.references)
    }
    everything = [span for each in spans.values() for span in each]
    statuses: dict[str, int] = {}
    for answer in answers:
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
    silent = {each.question.id: not spans[each.question.id] for each in judged}
    others = [silent[each.question.id] for each in judged if not each.answerable]
    return AnswersReport(
        documents=len(corpus),
        questions=len(judged),
        answerable={
            **_answerable(list(scores.values())),
            "questions": sum(each.answerable for each in judged),
            "answered": _mean(not silent[each.question.id] for each in judged if each.answerable),
        },
        unanswerable={"questions": len(others), "abstained": _mean(others)},
        resolve_rate=_mean((each.resolved for each in everything), empty=1.0),
        statuses=statuses,
        latency_ms=latency_ms(latencies_ms),
        misses=_misses(judged, answers, scores=scores),
        per_question=_per_question(judged, scores, silent),
        latencies_ms=latencies_ms,
    )


def span_of(citation: Citation, *, rows: Mapping[str, str], sources: Mapping[str, str]) -> Span:
    """Say what a citation cites in the corpus: the whole span, which its snippet may open."""
    source = sources.get(citation.document_id, "")
    start, end = citation.snippet_start, citation.snippet_end
    resolved = bool(citation.snippet) and rows.get(source, "")[start:end] == citation.snippet
    if isinstance(citation.locator, Chars) and citation.locator.start == start:
        end = max(end, citation.locator.end)
    return Span(source, start, end, resolved)


def best_scores(
    references: Sequence[Reference],
    spans: Sequence[Span],
    *,
    answer: str,
    folded: Mapping[str, Folded],
) -> Scores:
    """Compare with each reference; the best counts, by the harmonic mean of both shares."""
    found = []
    for each in references:
        if not each.selected:
            continue
        right, hit = 0, [False] * len(each.selected)
        for span in spans:
            meets = [
                overlaps((span.start, span.end), one, document=folded[span.source])
                for one in each.selected
            ]
            right += any(meets)
            hit = [one or other for one, other in zip(hit, meets, strict=True)]
        nuggets = nugget_recall(each.answer, answer) if spans else 0.0
        found.append(Scores(len(spans), right, len(each.selected), sum(hit), nuggets))
    return max(found, key=lambda one: (_harmonic(one.precision, one.recall), one.nuggets))


def nugget_recall(reference: str, answer: str) -> float:
    """Return the part of a reference answer's sentences that an answer says.

    It says one when it holds all of its numbers and most of its telling words, stemmed.
    """
    held = frozenset(analyze(answer, language="en"))
    nuggets = [
        wanted
        for start, end in sentences(reference)
        if (wanted := frozenset(analyze(reference[start:end], language="en")))
    ]
    said = [
        len(wanted & held) >= NUGGET * len(wanted)
        and all(each in held for each in wanted if any(map(str.isdigit, each)))
        for wanted in nuggets
    ]
    return _mean(said)


def _answerable(scores: Sequence[Scores]) -> dict[str, float]:
    return {
        "citation_precision": _mean(each.precision for each in scores if each.cited),
        "citation_recall": _mean(each.recall for each in scores),
        "nugget_recall": _mean(each.nuggets for each in scores),
    }


def _per_question(
    judged: Sequence[Judged], scores: Mapping[str, Scores], silent: Mapping[str, bool]
) -> dict[str, dict[str, float]]:
    answered = {key: each for key, each in scores.items() if each.cited}
    return {
        "answered": {
            each.question.id: float(not silent[each.question.id])
            for each in judged
            if each.answerable
        },
        "citation_precision": {key: round(each.precision, 4) for key, each in answered.items()},
        "citation_recall": {key: round(each.recall, 4) for key, each in scores.items()},
        "nugget_recall": {key: round(each.nuggets, 4) for key, each in scores.items()},
        "abstained": {
            each.question.id: float(silent[each.question.id])
            for each in judged
            if not each.answerable
        },
    }


def _misses(
    judged: Sequence[Judged], answers: Sequence[Answer], *, scores: Mapping[str, Scores]
) -> tuple[AnswerMiss, ...]:
    found = []
    for each, answer in zip(judged, answers, strict=True):
        score = scores.get(each.question.id)
        if score is None:
            bad = bool(answer.citations)
        else:
            bad = _harmonic(score.precision, score.recall) < NUGGET
        if bad:
            precision, recall = (score.precision, score.recall) if score else (0.0, 0.0)
            said = answer.text if answer.citations else f"({answer.status})"
            found.append(
                AnswerMiss(
                    each.question.id,
                    each.question.text,
                    round(precision, 3),
                    round(recall, 3),
                    said,
                )
            )
    return tuple(found)


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def _mean(values: Iterable[float], *, empty: float = 0.0) -> float:
    return round(mean_of(values, empty=empty), 4)

"""Fit the small models of extractive answers, leaving one judged set out in turn.

    .venv/bin/python scripts/train_answers.py HOME SET…

The first tells which sentences are evidence (`WITH_TOKENS` and `WITHOUT_TOKENS` of
quoth.answering.extractive.score), the second whether the collection answers at all (`answerable` in
quoth.retrieval.calibration), the third what the reading of doubtful answers adds to both
(quoth.pipeline.scores). A SET is a folder in the format of ``quoth eval answers``.
Each answerable question counts a second time as unanswerable, with the documents taken away that
hold its evidence: these are hard cases on the subject, by authors of every set.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from quoth.answering.answerability import weigh_evidence
from quoth.answering.extractive.score import (
    WITH_TOKENS,
    WITHOUT_TOKENS,
    CandidateSentences,
    feature_rows,
)
from quoth.answering.extractive.select import collect_sentences, sentence_spans
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.evaluation.corpus import open_corpus
from quoth.evaluation.datasets import Judged, load_corpus, load_judged
from quoth.evaluation.spans import Folded, fold_letters, overlaps
from quoth.pipeline.retrieve import Request, Retrieved
from quoth.pipeline.scores import DOUBTFUL, read_sentences
from quoth.retrieval.calibration import answer_probability, question_signals, reranker_scores

ANSWERED = 0.93
"""The share of answerable questions that the threshold lets through."""
ANSWER_FROM = 0.25
"""The threshold of the shipped calibration."""
GATE = ("covered", "best", "read", "ahead")
READ = "reading"
"""The log-odds of reading: of each sentence among its features, of the best one as a signal."""
TITLES = 60
"""Titles of a set that are asked for: "What is …?", of the set itself and of the next one."""
WHAT = {"en": "What is {}?", "fr": "Qu'est-ce que {} ?"}


@dataclass(frozen=True, slots=True)
class Example:
    """A question's sentences (features and labels) and its signals, with and without evidence."""

    features: dict[str, np.ndarray]
    evidence: np.ndarray
    answerable: bool
    signals: dict[str, float] | None
    without: dict[str, float] | None


async def examples(folder: Path, other: Path, settings: Settings) -> list[Example]:
    """Retrieve the passages of every question of a set, and of short ones about another set."""
    corpus = load_corpus(folder)
    folded = {row.id: fold_letters(row.text) for row in corpus}
    async with open_corpus(corpus, settings=settings, progress=lambda *_: None) as engine:
        sources = {each.document_id: each.source for each in await engine.documents()}
        asked = [
            await example(engine, judged, folded=folded, sources=sources)
            for judged in load_judged(folder)
        ]
        for title in titles(folder):
            asked.append(await titled(engine, title, answerable=True))
        for title in titles(other):
            asked.append(await titled(engine, title, answerable=False))
        return asked


def titles(folder: Path) -> list[str]:
    """Return some titles of a set, as questions."""
    rows = load_corpus(folder)
    found = dict.fromkeys(row.title.replace("-", " ") for row in rows if row.title)
    language = "fr" if "fquad" in folder.name else "en"
    return [WHAT[language].format(title) for title in list(found)[:TITLES]]


async def titled(engine: Engine, question: str, *, answerable: bool) -> Example:
    """Return the signals of a short question, without sentences."""
    found = await engine.retrieve(Request(question, checked=False))
    _, _, signals = await observe(engine, found)
    return Example({}, np.zeros(0), answerable, signals, None)


async def example(
    engine: Engine, judged: Judged, *, folded: dict[str, Folded], sources: dict[str, str]
) -> Example:
    """Return the sentences of a question's passages, labelled by the references."""
    request = Request(judged.question.text, history=judged.history, checked=False)
    found = await engine.retrieve(request)
    candidates, features, signals = await observe(engine, found)
    evidence = np.array(
        [
            any(
                overlaps((each.start, each.end), one, document=folded[sources[each.document_id]])
                for reference in judged.references
                for one in reference.selected
            )
            for each in candidates.sentences
        ],
        float,
    )
    gold = {each.document_id for each, y in zip(candidates.sentences, evidence, strict=True) if y}
    without = None
    if judged.answerable and gold:
        _, _, without = await observe(engine, found, gold)
    return Example(features, evidence, judged.answerable, signals, without)


async def observe(
    engine: Engine, found: Retrieved, without: Collection[str] = ()
) -> tuple[CandidateSentences, dict[str, np.ndarray], dict[str, float] | None]:
    """Return the sentences, their features and the signals as if some documents were not there."""
    parts, ranked = engine.parts, found.ranked[0]
    assert parts.spans is not None
    assert parts.sentence_scorer is not None
    gone = {key for key, chunk in ranked.chunks.items() if chunk.document_id in without}
    passages = [each for each in found.passages if each.document.document_id not in without]
    semantic = [pair for pair in ranked.legs.semantic if pair[0] not in gone]
    candidates = collect_sentences(found.query, passages)
    chunks, spans = sentence_spans(candidates, passages)
    tokens = None if found.encoded is None else found.encoded.tokens
    question = found.query.standalone
    late = await parts.spans.score(question, chunks, spans=spans, tokens=tokens)
    features = dict(feature_rows(found.query, candidates, passages=passages, late=late))
    evidence = weigh_evidence(found.query, candidates, cosines=[score for _, score in semantic])
    signals = question_signals(
        keyword=[pair for pair in ranked.legs.keyword if pair[0] not in gone],
        semantic=semantic,
        coverage=evidence.coverage,
        terms=evidence.terms,
        gap=evidence.gap,
        foreign=evidence.cross_lingual,
        read=reranker_scores(
            [each for each in ranked.pool if each.chunk_id not in gone], reranker=parts.reranker
        ),
    )
    chance = answer_probability(ranked.tuning, signals)
    if signals is None or "read" not in signals or chance is None or not candidates.sentences:
        return candidates, features, None
    scores = stack(features, list(WITH_TOKENS)) @ np.array(list(WITH_TOKENS.values()))
    read = await read_sentences(parts.sentence_scorer, question, candidates, scores)
    features[READ] = np.fmax(read, np.nanmin(read))
    best = float(np.nanmax(read))
    return candidates, features, {**signals, "chance": chance, READ: best}


def fit_sentences(sets: list[list[Example]], names: list[str]) -> dict[str, float]:
    """Maximize the likelihood that a sentence drawn by its score is evidence (ListNet)."""
    rows, labels, weights = [], [], []
    for one in sets:
        good = [each for each in one if 0 < each.evidence.sum() < len(each.evidence)]
        for each in good:
            rows.append(stack(each.features, names))
            labels.append(each.evidence)
            weights.append(len(good) ** -0.5)
    x = np.concatenate(rows)
    y = np.concatenate(labels)
    spread = x.std(axis=0) + 1e-9
    sizes = np.array([len(each) for each in labels])
    starts = np.cumsum(sizes) - sizes
    group = np.repeat(np.arange(len(sizes)), sizes)
    weight = np.array(weights) / sum(weights)
    x = (x - x.mean(axis=0)) / spread

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        scores = x @ beta
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[group])
        whole, good = np.add.reduceat(odds, starts), np.add.reduceat(odds * y, starts)
        value = -(weight * np.log(good / whole)).sum() + 0.003 * beta @ beta
        slope = odds / whole[group] - odds * y / good[group]
        return value, x.T @ (slope * weight[group]) + 0.006 * beta

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x / spread
    return dict(zip(names, found, strict=True))


def stack(features: dict[str, np.ndarray], names: list[str]) -> np.ndarray:
    """Return the features as columns; one that a question lacks is 0."""
    zero = np.zeros(len(features["words"]))
    return np.stack([features.get(name, zero) for name in names], axis=1)


def first_right(one: list[Example], weights: dict[str, float]) -> float:
    """Return the share of questions whose best sentence is evidence."""
    names = list(weights)
    good = [each for each in one if each.evidence.any()]
    if not good:
        return float("nan")
    best = [
        int(np.argmax(stack(each.features, names) @ np.array(list(weights.values()))))
        for each in good
    ]
    return float(np.mean([each.evidence[at] for each, at in zip(good, best, strict=True)]))


def gate_rows(one: list[Example]) -> tuple[np.ndarray, np.ndarray]:
    """Return signals and labels: half of the weight for either label."""
    pairs = [(each.signals, each.answerable) for each in one if each.signals]
    pairs += [(each.without, False) for each in one if each.without]
    return (
        np.array([[made[name] for name in GATE] for made, _ in pairs]),
        np.array([float(label) for _, label in pairs]),
    )


def fit_gate(sets: list[list[Example]]) -> tuple[np.ndarray, float]:
    """Fit a logistic regression; sets and labels weigh the same."""
    data = [gate_rows(one) for one in sets]
    x, y = np.concatenate([each[0] for each in data]), np.concatenate([each[1] for each in data])
    weight = np.concatenate(
        [np.where(y > 0, 1 / max(1, y.sum()), 1 / max(1, (1 - y).sum())) for _, y in data]
    )
    middle, spread = x.mean(axis=0), x.std(axis=0)
    z = np.column_stack([(x - middle) / spread, np.ones(len(x))])

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        p = 1 / (1 + np.exp(-(z @ beta)))
        value = -(weight * (y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12))).sum()
        return value + 0.01 * beta @ beta, z.T @ (weight * (p - y)) + 0.02 * beta

    beta = minimize(loss, np.zeros(z.shape[1]), jac=True, method="L-BFGS-B").x
    return beta[:-1] / spread, float(beta[-1] - (beta[:-1] * middle / spread).sum())


def print_reading(sets: dict[str, list[Example]]) -> None:
    """Print what each weight of the reading does to doubtful answers and to their sentences."""
    lowest, highest = DOUBTFUL
    least = math.log(ANSWER_FROM / (1 - ANSWER_FROM))
    for weight in (0.0, 0.1, 0.2, 0.3, 0.4, 0.6):
        print(f"reading weighs {weight}: answered, abstained, best sentence of doubtful ones right")
        for name, one in sets.items():
            held: dict[bool, list[bool]] = {True: [], False: []}
            pairs = [(each.signals, each.answerable) for each in one]
            pairs += [(each.without, False) for each in one]
            for signals, answerable in pairs:
                if signals is not None:
                    odds = math.log(signals["chance"] / (1 - signals["chance"]))
                    doubtful = lowest < signals["chance"] < highest
                    held[answerable].append(odds + weight * signals[READ] * doubtful > least)
            doubted = [
                each
                for each in one
                if each.signals is not None and lowest < each.signals["chance"] < highest
            ]
            right = first_right(doubted, WITH_TOKENS | {READ: weight})
            print(f"  {name}: {np.mean(held[True]):.3f} {1 - np.mean(held[False]):.3f} {right:.3f}")


def main(home: str, *folders: str) -> None:
    """Print the figures of each set left out, and the weights fitted on all."""
    settings = Settings(home=Path(home))
    sets: dict[str, list[Example]] = {}
    for folder, other in zip(folders, folders[1:] + folders[:1], strict=True):
        sets[folder] = asyncio.run(examples(Path(folder), Path(other), settings))
    for names in (list(WITH_TOKENS), list(WITHOUT_TOKENS)):
        for left, one in sets.items():
            weights = fit_sentences([each for key, each in sets.items() if key != left], names)
            print(f"{left}: best sentence right {first_right(one, weights):.3f}")
        weights = fit_sentences(list(sets.values()), names)
        print({name: round(float(value), 2) for name, value in weights.items()})
    print_reading(sets)
    thresholds = []
    for left, one in sets.items():
        beta, bias = fit_gate([each for key, each in sets.items() if key != left])
        x, y = gate_rows(one)
        p = 1 / (1 + np.exp(-(x @ beta + bias)))
        least = float(np.quantile(p[y > 0], 1 - ANSWERED))
        thresholds.append(least)
        print(f"{left}: abstained {np.mean(p[y == 0] < least):.3f} at {ANSWERED} ({least:.2f})")
    beta, bias = fit_gate(list(sets.values()))
    print(dict(zip(GATE, beta.round(3), strict=True)), round(bias, 3), np.mean(thresholds))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What a collection can teach about itself without judgments: the weight of its legs, and silence.

Questions are made of the collection (`made_questions`) and asked once (`probe`); every weight is
then tried on what the legs found. A weight is moved only where the made questions gain more than
chance allows, and never below the better leg. docs/decisions/018.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quoth.core.calibration import Calibration, Tuning
from quoth.core.plan import make_plan
from quoth.core.types import Chunk, Document
from quoth.engine import Engine
from quoth.evaluation.calibration import (
    LabelledScore,
    fit_calibration,
    merge_calibrations,
    split_groups,
)
from quoth.evaluation.corpus import Progress
from quoth.evaluation.made_questions import MadeQuestion, make_questions
from quoth.evaluation.probe import Bm25Index, Prober, ProbeResult, everyday_questions
from quoth.evaluation.significance import compare_series
from quoth.pipeline.components import components_of
from quoth.retrieval.calibration import (
    QUESTION_SIGNALS,
    UNREAD,
    feature_group,
    find_tuning,
    probability,
)
from quoth.store.rows import Collection, now

LEAST = 20
"""Questions below which nothing is learnt."""
MOST = 300
SAMPLED = 2500
"""Chunks that questions are made of."""
WORD_CHUNKS = 600
"""Chunks of these whose words are counted."""
GRID = tuple(each / 20 for each in range(21))
TRUST = 300
"""Made questions that weigh as much as the shipped weight, which was measured on judged ones."""
CHANCE = 0.05
"""The p from which a gain counts as chance."""
RANKED = 20
"""Places looked at for the reciprocal rank."""
SILENCE = 0.95
"""The part of the everyday questions that a collection should not answer."""
HIGHEST = 0.75
"""The threshold that no collection's own goes beyond."""
STRENGTH = 3.0
"""Outcomes that the known calibration counts for."""
CAUTION = 1.0
"""Taken off the fitted bias: made and everyday questions are easier to tell apart than real
ones, answerable or not (docs/decisions/018)."""
SOURCE = "questions made of the collection"
COLUMNS = ("keyword", "semantic", "before", "after")

Table = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class BestWeight:
    """A weight for one language, and the mean reciprocal rank of each leg, before and after."""

    dense_weight: float
    questions: int
    scores: Mapping[str, float]
    p: float
    moved: bool


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was learnt; where the collection is too small ``tuning`` is None and ``note`` says why.

    ``languages`` has the weights by language. ``silent`` is the part of the everyday questions
    left unanswered, before and after, and ``answered`` that of the made ones; both are empty
    where nothing is known of the embedder's scores.
    """

    tuning: Tuning | None
    languages: Mapping[str, BestWeight]
    silent: Mapping[str, float]
    answered: Mapping[str, float]
    note: str = ""


async def tune(engine: Engine, *, progress: Progress) -> Tuned:
    """Learn from a collection; nothing is stored. Raises NotFound, IndexMismatch, BackendError."""
    parts = engine.parts
    name = parts.settings.collection
    scope = await asyncio.to_thread(parts.catalogue.collection, name)
    parts = await asyncio.to_thread(components_of, parts, scope)
    progress("Making questions", 0, 1)
    documents, chunks, made = await made_of(engine, name, most=MOST)
    if len(made) < LEAST:
        return Tuned(None, {}, {}, {}, note=_too_small(name, chunks=len(chunks), made=len(made)))
    plan = make_plan(parts.settings.profile)
    shipped = plan.dense_weight
    words = await asyncio.to_thread(Bm25Index.of, chunks[:WORD_CHUNKS])
    prober = Prober(
        parts,
        scope,
        documents=documents,
        words=words,
        dense_weight=shipped,
        rerank_weight=plan.rerank_weight,
        mode=make_plan(parts.settings.profile, overrides=parts.settings.plan).mode,
    )
    asked = await prober.made(made, progress=progress)
    other = await prober.other(everyday_questions(), progress=progress)
    return await asyncio.to_thread(_learn, scope, asked, other, shipped=shipped)


def choose_weight(asked: Sequence[ProbeResult], *, shipped: float) -> BestWeight:
    """Choose the semantic leg's share for questions of one language.

    The best of a grid, smoothed over its neighbours, drawn towards ``shipped`` where there are
    few questions. It stays as shipped where the gain may be chance, unless that lies below the
    better leg; what is chosen never does.
    """
    ranks = np.array([[reciprocal_rank(each, weight) for weight in GRID] for each in asked])
    means = ranks.mean(axis=0)
    at = {weight: place for place, weight in enumerate(GRID)}
    before = at[_on_grid(shipped)]
    better = max(means[0], means[-1])
    smooth = np.convolve(np.pad(means, 1, mode="edge"), np.ones(3) / 3, mode="valid")
    # Among equals the one nearest to what was measured on judged questions.
    best = min(
        range(len(GRID)), key=lambda place: (-round(float(smooth[place]), 9), abs(place - before))
    )
    drawn = shipped + (GRID[best] - shipped) * len(asked) / (len(asked) + TRUST)
    after = at[_on_grid(drawn)]
    p = compare_series("", now=list(ranks[:, after]), before=list(ranks[:, before])).p
    if p > CHANCE or means[after] <= means[before]:
        after = before
    if means[after] < better:
        after = int(means.argmax())
    places = dict(zip(COLUMNS, (0, len(GRID) - 1, before, after), strict=True))
    return BestWeight(
        dense_weight=shipped if after == before else GRID[after],
        questions=len(asked),
        scores={name: round(float(means[place]), 4) for name, place in places.items()},
        p=p,
        moved=after != before,
    )


def _learn(
    scope: Collection, asked: Sequence[ProbeResult], other: Sequence[ProbeResult], *, shipped: float
) -> Tuned:
    by_language: dict[str, list[ProbeResult]] = {}
    for each in asked:
        by_language.setdefault(each.language, []).append(each)
    languages = {
        language: choose_weight(found, shipped=shipped)
        for language, found in sorted(by_language.items())
        if len(found) >= LEAST
    }
    known = find_tuning(scope.identity, mode="hybrid", tuned=None)
    learnt = learn_chance(asked, other, known=known)
    tuning = replace(
        learnt or Tuning(),
        dense_weight={key: each.dense_weight for key, each in languages.items() if each.moved},
        questions=len(asked),
        made_at=now(),
    )
    silent: dict[str, float] = {}
    answered: dict[str, float] = {}
    for when, held in (("before", known), ("after", learnt)):
        if held is not None and held.answerable is not None and held.answer_from is not None:
            silent[when] = round(1 - _reaching(held.answerable, other, held.answer_from), 4)
            answered[when] = round(_reaching(held.answerable, asked, held.answer_from), 4)
    return Tuned(tuning, languages, silent, answered)


def learn_chance(
    asked: Sequence[ProbeResult], other: Sequence[ProbeResult], *, known: Tuning | None
) -> Tuning | None:
    """Fit the chance of an answer on made and everyday questions, near what is known.

    Only questions in the collection's own languages are learnt from; about others the known
    calibration goes on to speak, and without one nothing is claimed. None with too few questions.
    """
    kinds = {True: _own(asked), False: _own(other)}
    if min(map(len, kinds.values())) < LEAST:
        return None
    group = feature_group(kinds[True][0])
    priors = {} if known is None or known.answerable is None else split_groups(known.answerable)
    fitted = fit_calibration(
        [
            LabelledScore(signals, kind, 1 / len(found))
            for kind, found in kinds.items()
            for signals in found
        ],
        names=_signs(QUESTION_SIGNALS, group),
        prior=priors.get(group),
        strength=STRENGTH,
        source=SOURCE,
    )
    cautious = merge_calibrations({**priors, group: replace(fitted, bias=fitted.bias - CAUTION)})
    answerable = replace(cautious, questions=fitted.questions, source=SOURCE)
    least = 0.5 if known is None or known.answer_from is None else known.answer_from
    return Tuning(
        answerable=answerable,
        answer_from=_abstained(answerable, other, least=least),
    )


def _signs(names: Sequence[str], group: str) -> list[str]:
    return [name for name in names if feature_group([name]) == group != name]


def _own(asked: Sequence[ProbeResult]) -> list[Mapping[str, float]]:
    """Return the signs of questions in the collection's languages, of those of one group."""
    found = [each.signals for each in asked if each.signals]
    read = [each for each in found if feature_group(each) == ""]
    return read or [each for each in found if feature_group(each) == UNREAD]


def _abstained(calibration: Calibration, other: Sequence[ProbeResult], *, least: float) -> float:
    """Raise the threshold, where needed, until the everyday questions stay silent."""
    chances = sorted(probability(calibration, signals) for signals in _own(other))
    if len(chances) < LEAST:
        return least
    allowed = int(len(chances) * (1 - SILENCE))
    highest_refused = chances[-1 - allowed]
    return round(min(HIGHEST, max(least, highest_refused + 0.001)), 3)


def _reaching(calibration: Calibration, asked: Sequence[ProbeResult], threshold: float) -> float:
    found = [probability(calibration, signals) >= threshold for signals in _own(asked)]
    return sum(found) / len(found) if found else 0.0


def reciprocal_rank(asked: ProbeResult, dense_weight: float) -> float:
    """Return one over the place of the first passage that counts, 0 beyond the first ones."""
    for rank, each in enumerate(asked.fused(dense_weight)[:RANKED], start=1):
        if each.chunk_id in asked.accepted:
            return 1 / rank
    return 0.0


def _on_grid(weight: float) -> float:
    return min(GRID, key=lambda each: (abs(each - weight), each))


async def made_of(
    engine: Engine, collection: str, *, most: int
) -> tuple[Mapping[str, Document], list[Chunk], Sequence[MadeQuestion]]:
    """Return a collection's ready documents, a sample of their chunks, and questions of these."""
    documents = {
        each.document_id: each
        for each in await engine.documents(collection=collection)
        if each.status == "ready"
    }
    chunks = await asyncio.to_thread(_sample, engine, documents)
    made = await asyncio.to_thread(
        make_questions, chunks, title_of=lambda key: documents[key].title, most=most
    )
    return documents, chunks, made


def _sample(engine: Engine, documents: Mapping[str, Document]) -> list[Chunk]:
    """Read whole documents, chosen evenly and always the same, until there are enough chunks."""
    ids = sorted(documents)
    chunks: list[Chunk] = []
    for at in np.random.default_rng(0).permutation(len(ids)):
        chunks += engine.parts.catalogue.document_chunks(ids[at])
        if len(chunks) >= SAMPLED:
            break
    return chunks


def _too_small(name: str, *, chunks: int, made: int) -> str:
    passages = "one passage" if chunks == 1 else f"{chunks} passages"
    questions = "one question" if made == 1 else f"{made} questions"
    return (
        f"The collection '{name}' is too small to learn from: its {passages} gave {questions}, and "
        f"{LEAST} are needed. The shipped values stay. Add more sources, then tune again."
    )

"""People's questions to a folder of files: whether answers hold what a right one must hold.

The files are added as `quoth add` adds them, so readers, chunks and outlines take part.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from quoth.bootstrap import open_engine
from quoth.core.errors import InputError
from quoth.core.events import AnswerCompleted, HitsFound
from quoth.core.settings import Settings
from quoth.core.types import Answer, Document, Hit
from quoth.engine import Engine
from quoth.evaluation.corpus import COLLECTION, Progress
from quoth.evaluation.jsonl import locate_file, optional, read_rows, text, texts, truth
from quoth.evaluation.significance import latency_ms, mean_of
from quoth.ingest.sources.files import find_files
from quoth.pipeline.add import PIPELINE
from quoth.pipeline.retrieve import Request
from quoth.text.analyzer import ANALYSER

LIBRARY = "library"
REFUSED = ("no_results", "low_relevance")
TOP = 3


@dataclass(frozen=True, slots=True)
class PeopleQuestion:
    """A question and patterns that a right answer contains, all of them; none where unanswerable.

    An answerable question without patterns counts for answering and refusing alone.
    """

    id: str
    question: str
    language: str
    kind: str
    gold: tuple[re.Pattern[str], ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class PeopleRow:
    """One question with its answer and its first hits; gold is None where there is none."""

    id: str
    question: str
    language: str
    kind: str
    answerable: bool
    status: str
    answer: str
    gold_in_answer: bool | None
    gold_in_top3: bool | None
    top3: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PeopleMiss:
    """A question that was not answered as it should be, and what is wrong."""

    id: str
    question: str
    wrong: str


@dataclass(frozen=True, slots=True)
class PeopleReport:
    """Shares from 0 to 1; gold is searched without case, white space folded.

    ``failed`` names the files that could not be read, ``misses`` the questions that were not
    answered as they should be. ``groups`` has the shares by kind and language, of answerable
    questions.
    """

    questions: int
    documents: int
    failed: tuple[str, ...]
    gold_in_answer: float
    gold_in_top3: float
    refused_answerable: float
    answered_unanswerable: float
    latency_ms: Mapping[str, float]
    groups: Mapping[str, Mapping[str, float]]
    per_question: Mapping[str, Mapping[str, float]]
    misses: tuple[PeopleMiss, ...]
    rows: tuple[PeopleRow, ...]


async def evaluate_people(
    folder: Path, *, settings: Settings, choices: Mapping[str, Any], progress: Progress
) -> PeopleReport:
    """Ask every question of the folder's ``questions.jsonl`` of its ``library``.

    No answer is given again, so that each has its own time. Raises InputError.
    """
    choices = {**choices, "cache": "none"}
    questions = load_people(folder)
    rows: list[PeopleRow] = []
    spent: list[float] = []
    library = await asyncio.to_thread((folder / LIBRARY).resolve)
    async with open_files(library, settings=settings, progress=progress) as engine:
        documents = await engine.documents()
        await _ask(engine, questions[0].question, choices)
        for at, each in enumerate(questions):
            progress("Asking", at, len(questions))
            began = time.perf_counter()
            answer, hits = await _ask(engine, each.question, choices)
            spent.append(round((time.perf_counter() - began) * 1000, 2))
            rows.append(judge(each, answer, hits=hits))
    return report_on(rows, documents=documents, latencies_ms=spent)


def load_people(folder: Path) -> tuple[PeopleQuestion, ...]:
    """Read ``questions.jsonl``; raises InputError naming the file and line."""
    path = locate_file(folder, "questions.jsonl")
    questions = []
    for row, at in read_rows(path):
        try:
            gold = tuple(re.compile(each, re.IGNORECASE) for each in texts(row, "gold", at))
        except re.error as error:
            raise InputError(f"{at} has a pattern that is not one: {error}.") from None
        answerable = truth(row, "answerable", at)
        if gold and not answerable:
            raise InputError(f"{at} has gold though it is not answerable.")
        language, kind = optional(row, "language", at), optional(row, "kind", at)
        name, asked = text(row, "id", at), text(row, "question", at)
        questions.append(PeopleQuestion(name, asked, language, kind, gold, answerable))
    if not questions:
        raise InputError(f"There is no question in {path}.")
    return tuple(questions)


@asynccontextmanager
async def open_files(
    folder: Path, *, settings: Settings, progress: Progress
) -> AsyncIterator[Engine]:
    """Open an engine on a library that holds exactly the files of a folder.

    It is kept under the hash of the files and of everything that shapes an index.
    """
    paths = await asyncio.to_thread(lambda: sorted(find_files([folder])))
    if not paths:
        raise InputError(f"There is no file to read in {folder}.")
    key = await asyncio.to_thread(_key, paths, folder=folder, settings=settings)
    home = settings.home / "eval" / key
    complete = home / "complete"
    async with open_engine(
        settings.model_copy(update={"home": home, "collection": COLLECTION})
    ) as engine:
        if not complete.is_file():
            progress("Indexing", 0, len(paths))
            done = 0
            async with aclosing(engine.add([folder])) as steps:
                async for step in steps:
                    done += isinstance(step, Document)
                    progress("Indexing", done, len(paths))
            await engine.settle()
            await asyncio.to_thread(complete.touch)
        yield engine


def _key(paths: Sequence[Path], *, folder: Path, settings: Settings) -> str:
    key = sha256(
        f"{ANALYSER} {PIPELINE} {settings.chunk_tokens} "
        f"{settings.embedder or settings.profile}".encode()
    )
    for path in paths:
        key.update(f"\n{path.relative_to(folder)} {sha256(path.read_bytes()).hexdigest()}".encode())
    return key.hexdigest()[:16]


async def _ask(
    engine: Engine, question: str, choices: Mapping[str, Any]
) -> tuple[Answer, tuple[Hit, ...]]:
    hits: tuple[Hit, ...] = ()
    answers: list[Answer] = []
    async with aclosing(engine.stream(Request(question, choices, checked=False))) as events:
        async for event in events:
            if isinstance(event, HitsFound):
                hits = event.hits
            elif isinstance(event, AnswerCompleted):
                answers.append(event.answer)
    return answers[-1], hits


def judge(question: PeopleQuestion, answer: Answer, *, hits: Sequence[Hit]) -> PeopleRow:
    """Look for the gold of a question in its answer and in its first hits."""
    top = tuple(each.text for each in hits[:TOP])
    return PeopleRow(
        id=question.id,
        question=question.question,
        language=question.language,
        kind=question.kind,
        answerable=question.answerable,
        status=answer.status,
        answer=answer.text,
        gold_in_answer=_holds(answer.text, question.gold),
        gold_in_top3=_holds("\n".join(top), question.gold),
        top3=top,
    )


def _holds(given: str, gold: Sequence[re.Pattern[str]]) -> bool | None:
    folded = " ".join(given.split())
    return all(each.search(folded) for each in gold) if gold else None


def report_on(
    rows: Sequence[PeopleRow], *, documents: Sequence[Document], latencies_ms: Sequence[float]
) -> PeopleReport:
    """Sum up the rows, as a whole and by kind and language."""
    answerable = [each for each in rows if each.answerable]
    others = [each for each in rows if not each.answerable]
    names = sorted({each.kind for each in answerable}) + sorted(
        {each.language for each in answerable}
    )
    whole = _shares(answerable)
    return PeopleReport(
        questions=len(rows),
        documents=len(documents),
        failed=tuple(each.title for each in documents if each.status == "failed"),
        gold_in_answer=whole["gold_in_answer"],
        gold_in_top3=whole["gold_in_top3"],
        refused_answerable=whole["refused"],
        answered_unanswerable=mean_of(each.status not in REFUSED for each in others),
        latency_ms=latency_ms(latencies_ms),
        groups={
            name: _shares([each for each in answerable if name in (each.kind, each.language)])
            for name in names
            if name
        },
        per_question={
            "gold in answer": {
                each.id: float(each.gold_in_answer)
                for each in rows
                if each.gold_in_answer is not None
            },
            "gold in top 3": {
                each.id: float(each.gold_in_top3) for each in rows if each.gold_in_top3 is not None
            },
            "answered where answerable": {
                each.id: float(each.status not in REFUSED) for each in answerable
            },
            "refused where not": {each.id: float(each.status in REFUSED) for each in others},
        },
        misses=tuple(miss for each in rows if (miss := _miss(each)) is not None),
        rows=tuple(rows),
    )


def _miss(row: PeopleRow) -> PeopleMiss | None:
    """Return what is wrong with an answer, None where nothing is."""
    refused = row.status in REFUSED
    if row.answerable and refused:
        wrong = "refused"
    elif not row.answerable and not refused:
        wrong = "answered, though it is not answerable"
    elif row.gold_in_answer is False:
        wrong = "found, but not in the answer" if row.gold_in_top3 else "not found"
    else:
        return None
    return PeopleMiss(row.id, row.question, wrong)


def _shares(rows: Sequence[PeopleRow]) -> dict[str, float]:
    judged = [each for each in rows if each.gold_in_answer is not None]
    return {
        "questions": len(rows),
        "gold_in_answer": mean_of(bool(each.gold_in_answer) for each in judged),
        "gold_in_top3": mean_of(bool(each.gold_in_top3) for each in judged),
        "refused": mean_of(each.status in REFUSED for each in rows),
    }

"""Follow-up questions: what the standalone wording finds, against the hand-written rewrite.

Every wording goes through the same engine; only the first comes with what was said before. A row
whose rewrite is its own question opens a new topic, and must stay as it is. Rows may lack a
rewrite; what is compared with it is then null.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.core.types import Query, Turn
from quoth.engine import Engine
from quoth.evaluation.corpus import Progress, open_corpus
from quoth.evaluation.datasets import CorpusRow, load_corpus
from quoth.evaluation.jsonl import (
    Row,
    locate_rows,
    objects,
    optional,
    read_rows,
    require_ids,
    text,
    texts,
)
from quoth.evaluation.retrieval import document_ranking
from quoth.pipeline.retrieve import Request, Retrieved

DEPTH = 5
CHOICES = {"final_k": 4 * DEPTH, "context_window": 0}
"""Deep enough for five documents even where several chunks of one stand before the next."""
WORDINGS = ("standalone", "question", "rewrite")
"""What the engine made of the question, the last question alone, and the one given."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, the question that follows them, its rewrite and the documents that answer it.

    ``rewrite`` is empty where there is none.
    """

    id: str
    turns: tuple[Turn, ...]
    question: str
    rewrite: str
    gold: tuple[str, ...]

    @property
    def is_followup(self) -> bool | None:
        """Whether the question needs what went before; None where no rewrite says so."""
        return self.rewrite != self.question if self.rewrite else None


@dataclass(frozen=True, slots=True)
class Lost:
    """A conversation whose standalone question found less than the rewrite."""

    id: str
    question: str
    standalone: str
    rewrite: str
    recall: float
    recall_of_rewrite: float


@dataclass(frozen=True, slots=True)
class ConversationReport:
    """Recall@5 by wording, of the rows with a rewrite if there are any; shares are from 0 to 1.

    ``share_of_rewrite`` is the recall of the standalone question over that of the rewrite,
    ``topics_kept`` the share of new topics that were left as they were, ``followups`` how often
    the flag is right: each of the rows with a rewrite, None where there are none.
    """

    conversations: int
    split: str
    recall_at_5: Mapping[str, float | None]
    share_of_rewrite: float | None
    topics_kept: float | None
    followups: float | None
    lost: tuple[Lost, ...]
    per_question: Mapping[str, Mapping[str, float]]


async def evaluate_conversations(
    folder: Path,
    *,
    corpus: Path | None = None,
    split: str | None = None,
    settings: Settings,
    progress: Progress,
) -> ConversationReport:
    """Measure the conversations of ``SPLIT.jsonl``, or as `locate_rows` finds them.

    Raises InputError.
    The corpus is that of another folder, of the folder itself, or the ``contexts`` of the rows.
    """
    split, paths = locate_rows(folder, split)
    rows = [pair for path in paths for pair in read_rows(path)]
    held = _corpus(corpus or folder, rows, given=corpus is not None)
    known = {each.id for each in held}
    conversations = [_conversation(row, at, known=known) for row, at in rows]
    if not conversations:
        raise InputError(f"{paths[0] if len(paths) == 1 else folder} holds no conversation.")
    require_ids((each.id, at) for each, (_, at) in zip(conversations, rows, strict=True))
    found: dict[str, dict[str, float]] = {each: {} for each in WORDINGS}
    queries: dict[str, Query] = {}
    async with open_corpus(held, settings=settings, progress=progress) as engine:
        sources = {each.document_id: each.source for each in await engine.documents()}
        for at, each in enumerate(conversations):
            progress("Asking", at, len(conversations))
            asked = {
                "standalone": Request(each.question, CHOICES, history=each.turns, checked=False),
                "question": Request(each.question, CHOICES, checked=False),
            }
            if each.rewrite:
                asked["rewrite"] = Request(each.rewrite, CHOICES, checked=False)
            for wording, request in asked.items():
                came = await engine.retrieve(request, trace=Trace())
                ranking = await _ranking(engine, came, sources=sources)
                found[wording][each.id] = recall(ranking, gold=each.gold)
                queries.setdefault(each.id, came.query)
    return _report(conversations, queries=queries, found=found, split=split)


def recall(ranking: Sequence[str], *, gold: Sequence[str]) -> float:
    """Return the share of gold documents among the first five, of five where there are more."""
    return len(set(ranking[:DEPTH]) & set(gold)) / min(DEPTH, len(set(gold)))


def _report(
    conversations: Sequence[Conversation],
    *,
    queries: Mapping[str, Query],
    found: Mapping[str, Mapping[str, float]],
    split: str,
) -> ConversationReport:
    judged = [each for each in conversations if each.rewrite]
    means = {
        wording: _mean([values[each.id] for each in judged or conversations if each.id in values])
        for wording, values in found.items()
    }
    kept = [
        float(queries[each.id].standalone == each.question)
        for each in judged
        if not each.is_followup
    ]
    flags = {each.id: float(queries[each.id].is_followup == each.is_followup) for each in judged}
    own, best = (sum(found[name][each.id] for each in judged) for name in ("standalone", "rewrite"))
    lost = [
        Lost(
            each.id,
            each.question,
            queries[each.id].standalone,
            each.rewrite,
            round(found["standalone"][each.id], 3),
            round(found["rewrite"][each.id], 3),
        )
        for each in judged
        if found["standalone"][each.id] < found["rewrite"][each.id]
    ]
    return ConversationReport(
        conversations=len(conversations),
        split=split,
        recall_at_5=means,
        share_of_rewrite=(own / best if best else 0.0) if judged else None,
        topics_kept=_mean(kept or [1.0]) if judged else None,
        followups=_mean(list(flags.values())),
        lost=tuple(sorted(lost, key=lambda each: each.recall - each.recall_of_rewrite)),
        per_question={
            **{f"{wording} recall@5": dict(found[wording]) for wording in WORDINGS},
            "followup": flags,
        },
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


async def _ranking(engine: Engine, came: Retrieved, *, sources: Mapping[str, str]) -> list[str]:
    ids = [each.chunk_id for each in came.candidates]
    chunks = await asyncio.to_thread(engine.parts.catalogue.chunks, ids)
    owners = {key: sources[chunk.document_id] for key, chunk in chunks.items()}
    return document_ranking([key for key in ids if key in owners], document_of=owners)


def _corpus(folder: Path, rows: Sequence[tuple[Row, str]], *, given: bool) -> tuple[CorpusRow, ...]:
    if given or any((folder / name).is_file() for name in ("corpus.jsonl", "corpus.jsonl.gz")):
        return load_corpus(folder)
    contexts = {
        text(each, "id", at): CorpusRow(
            text(each, "id", at), optional(each, "title", at), text(each, "text", at)
        )
        for row, at in rows
        for key in ("contexts", "corpus")
        for each in objects(row, key, at)
    }
    if not contexts:
        raise InputError(
            f"There is no corpus for the conversations of {folder}. Name its folder with --corpus."
        )
    return tuple(contexts.values())


def _conversation(row: Row, at: str, *, known: set[str]) -> Conversation:
    turns: list[Turn] = []
    for each in objects(row, "turns", at):
        role, said = text(each, "role", at), text(each, "text", at)
        if role == "user":
            turns.append(Turn(said))
        elif role == "assistant" and turns:
            turns[-1] = Turn(turns[-1].question, said)
        else:
            raise InputError(f"{at} has turns that do not alternate between user and assistant.")
    gold = texts(row, "gold", at)
    if not gold:
        raise InputError(f"{at} needs ids of documents under 'gold'.")
    if unknown := set(gold) - known:
        raise InputError(f"{at} names '{min(unknown)}', which is not in the corpus.")
    question = text(row, "question", at)
    return Conversation(
        text(row, "id", at), tuple(turns), question, optional(row, "rewrite", at), gold
    )

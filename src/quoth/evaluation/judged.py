"""Questions with reference answers: ``queries.jsonl`` and ``references.jsonl`` of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.types import Turn
from quoth.evaluation.datasets import Question
from quoth.evaluation.jsonl import (
    Row,
    locate_file,
    objects,
    optional,
    read_rows,
    text,
    texts,
    truth,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """One way to answer a question, and the sentences that it was taken from."""

    answer: str
    selected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its references; none where the corpus does not answer it.

    Where no reference selects a sentence, only whether it is answered counts. ``history`` holds the
    turns before it, oldest first.
    """

    question: Question
    answerable: bool
    references: tuple[Reference, ...]
    history: tuple[Turn, ...] = ()


def load_judged(folder: Path) -> tuple[Judged, ...]:
    """Read ``queries.jsonl`` and ``references.jsonl``, plain or gzipped; raises InputError.

    A query that does not say whether it is answerable is what its references say.
    """
    path = locate_file(folder, "references.jsonl")
    references: dict[str, tuple[Row, str]] = {}
    for row, at in read_rows(path):
        references[_id(row, "query_id", at)] = (row, at)
    judged = []
    for row, at in read_rows(locate_file(folder, "queries.jsonl")):
        question = Question(text(row, "id", at), text(row, "text", at))
        held, where = references.get(question.id, ({}, at))
        answers = tuple(
            Reference(optional(each, "answer", where), texts(each, "selected_sentences", where))
            for each in objects(held, "answers", where)
        )
        named = row if "answerable" in row else held
        answerable = truth(named, "answerable", at)
        history = _turns(objects(row, "history", at) if "history" in row else (), at)
        judged.append(Judged(question, answerable, answers if answerable else (), history))
    if not judged:
        raise InputError(f"There is no question in {folder}.")
    return tuple(judged)


def _turns(said: Sequence[Row], at: str) -> tuple[Turn, ...]:
    """Pair what a user said with the reply to it, from rows {role, text}."""
    turns: list[Turn] = []
    for row in said:
        words = text(row, "text", at)
        if text(row, "role", at) == "user":
            turns.append(Turn(words, ""))
        elif turns:
            turns[-1] = replace(turns[-1], answer=f"{turns[-1].answer} {words}".strip())
    return tuple(turns)


def _id(row: Row, key: str, at: str) -> str:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(row, key, at)

"""Judged sets as files: a corpus, questions, which documents answer them, and reference answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.types import Turn
from quoth.evaluation.jsonl import (
    Row,
    locate_file,
    objects,
    optional,
    read_lines,
    read_rows,
    text,
    texts,
    truth,
)

Judgments = Mapping[str, Mapping[str, int]]
"""Grade of each judged document, per question id; 0 and less is not relevant."""

BEIR_TEST = "qrels/test.tsv"


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """One row of a corpus, which is one document."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a set."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A corpus with judged questions."""

    corpus: tuple[CorpusRow, ...]
    questions: tuple[Question, ...]
    judgments: Judgments


def load_retrieval_set(folder: Path, *, queries: Path | None = None) -> RetrievalSet:
    """Read ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``; the first two may be gzipped.

    The judgments may be in ``qrels/test.tsv``, too, as in sets of BEIR. ``queries`` is another
    folder to take the questions from, with the judgments of ``folder``.
    Questions without a judgment are left out. Raises InputError naming the file and line.
    """
    corpus = load_corpus(folder)
    grades = folder / "qrels.tsv"
    if not grades.is_file() and (folder / BEIR_TEST).is_file():
        grades = folder / BEIR_TEST
    judgments = _judgments(grades, known=frozenset(each.id for each in corpus))
    source = locate_file(queries or folder, "queries.jsonl")
    questions = tuple(
        Question(text(row, "id", at), text(row, "text", at)) for row, at in read_rows(source)
    )
    _unique([each.id for each in questions], source)
    judged = tuple(each for each in questions if each.id in judgments)
    if not judged:
        raise InputError(
            f"No question of {source} is judged in {grades}. Both must use the same question ids."
        )
    return RetrievalSet(corpus, judged, judgments)


def load_corpus(folder: Path) -> tuple[CorpusRow, ...]:
    """Read ``corpus.jsonl`` or ``corpus.jsonl.gz``; raises InputError naming the file and line."""
    path = locate_file(folder, "corpus.jsonl")
    corpus = tuple(
        CorpusRow(
            text(row, "id", at), optional(row, "title", at), text(row, "text", at, empty=True)
        )
        for row, at in read_rows(path)
    )
    _unique([each.id for each in corpus], folder / "corpus.jsonl")
    return corpus


def corpus_hash(corpus: tuple[CorpusRow, ...]) -> str:
    """Return the sha256 of all rows, in hexadecimal; the order of the rows counts."""
    digest = hashlib.sha256()
    for each in corpus:
        row = json.dumps([each.id, each.title, each.text], ensure_ascii=True)
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def _unique(ids: list[str], path: Path) -> frozenset[str]:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InputError(f"The id '{each}' stands twice in {path}. Ids must be unique.")
        seen.add(each)
    return frozenset(seen)


def _judgments(path: Path, *, known: frozenset[str]) -> Judgments:
    """Read question id, document id and grade, set apart by tabs, below one header line."""
    if not path.is_file():
        raise InputError(f"There is no {path}. It holds the judgments, below one header line.")
    grades: dict[str, dict[str, int]] = {}
    lines = read_lines(path)
    next(lines, None)
    for number, line in lines:
        at = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise InputError(f"{at} has {len(fields)} fields, not 3: question, document, score.")
        question, document, score = (each.strip() for each in fields)
        if document not in known:
            raise InputError(f"{at} names the document '{document}', which is not in the corpus.")
        try:
            grades.setdefault(question, {})[document] = int(score)
        except ValueError:
            raise InputError(f"{at} has the score '{score}', which is no whole number.") from None
    return grades


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

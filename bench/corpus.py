"""The corpora on disk: chunks, vectors, judged questions, and questions for load."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the chunks that answer it and how well (no grades: not judged)."""

    question_id: str
    text: str
    judged: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Chunks to index, in parallel sequences; the vectors are unit rows."""

    ids: Sequence[str]
    texts: Sequence[str]
    titles: Sequence[str]
    vectors: Matrix


def load_corpus(folder: Path, *, chunks: int | None) -> Corpus:
    """Read the first chunks of a corpus with their vectors."""
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, chunks)]
    vectors = np.array(np.load(folder / "vectors.npy", mmap_mode="r")[: len(rows)])
    return Corpus(
        ids=[row["id"] for row in rows],
        texts=[row["text"] for row in rows],
        titles=[row["title"] for row in rows],
        vectors=vectors,
    )


def load_questions(folder: Path, *, chunks: int | None) -> list[Question]:
    """Read the questions, judged as far as their answers are among the first chunks.

    Where a corpus is cut short, a chunk's id is its row.
    """
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, chunk, grade = line.split("\t")
        if int(grade) > 0 and (chunks is None or int(chunk) < chunks):
            judged.setdefault(question, {})[chunk] = int(grade)
    return [
        Question(question_id=row["id"], text=row["text"], judged=judged.get(row["id"], {}))
        for row in _read(folder / "queries.jsonl")
    ]


def load_spans(folder: Path) -> list[str]:
    """Read the questions for warming up and for load, none of which is a judged one.

    A corpus without such questions has its own asked again.
    """
    path = folder / "load.jsonl"
    return [row["text"] for row in _read(path if path.exists() else folder / "queries.jsonl")]


def write_rows(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]

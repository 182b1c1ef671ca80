"""Judged retrieval sets as files: a corpus, questions, and which documents answer them."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from quoth.errors import InputError

Judgments = Mapping[str, Mapping[str, int]]
"""Grade of each judged document, per question id; 0 and less is not relevant."""


@dataclass(frozen=True, slots=True)
class Source:
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
    """A corpus with judged questions; `corpus_hash` changes when any document does."""

    corpus: tuple[Source, ...]
    questions: tuple[Question, ...]
    judgments: Judgments
    corpus_hash: str


def load_retrieval_set(folder: Path, *, queries: Path | None = None) -> RetrievalSet:
    """Read ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``; the first two may be gzipped.

    ``queries`` is another folder to take the questions from, with the judgments of ``folder``.
    Questions without a judgment are left out. Raises InputError naming the file and line.
    """
    corpus = tuple(
        Source(
            _text(row, "id", at), _optional(row, "title", at), _text(row, "text", at, empty=True)
        )
        for row, at in _rows(_find(folder, "corpus.jsonl"))
    )
    known = _unique([each.id for each in corpus], folder / "corpus.jsonl")
    judgments = _judgments(folder / "qrels.tsv", known=known)
    source = _find(queries or folder, "queries.jsonl")
    questions = tuple(
        Question(_text(row, "id", at), _text(row, "text", at)) for row, at in _rows(source)
    )
    _unique([each.id for each in questions], source)
    judged = tuple(each for each in questions if each.id in judgments)
    if not judged:
        raise InputError(
            f"No question of {source} is judged in {folder / 'qrels.tsv'}. Both must use the same "
            "question ids."
        )
    return RetrievalSet(corpus, judged, judgments, corpus_hash(corpus))


def corpus_hash(corpus: tuple[Source, ...]) -> str:
    """Give the sha256 of all rows, in hexadecimal; the order of the rows counts."""
    digest = hashlib.sha256()
    for each in corpus:
        row = json.dumps([each.id, each.title, each.text], ensure_ascii=True)
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise InputError(f"There is no {name} or {name}.gz in {folder}. Name the folder of a set.")


def _rows(path: Path) -> Iterator[tuple[Mapping[str, object], str]]:
    """Yield every row with its place, as ``file, line n``."""
    for number, line in _lines(path):
        at = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{at} is not JSON: {error}.") from None
        if not isinstance(row, dict):
            raise InputError(f"{at} is not a JSON object.")
        yield row, at


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path} is a damaged gzip file. Fetch it again.") from None


def _text(row: Mapping[str, object], key: str, at: str, *, empty: bool = False) -> str:
    value = row.get(key)
    if key == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise InputError(f"{at} needs a text under '{key}'.")
    return value


def _optional(row: Mapping[str, object], key: str, at: str) -> str:
    return "" if row.get(key) is None else _text(row, key, at, empty=True)


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
    lines = _lines(path)
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

"""A fixed third of the judged course: most of the time goes into embedding its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EVERY_QUESTION = 3
"""Every third question, of either wording and language; those without an answer are all kept."""
EVERY_OTHER_ROW = 8
"""Of the rows that answer none of these questions, one in so many is beside them."""


def read_rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write_rows(file: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_text("".join(lines), encoding="utf-8")


def write_sample(folder: Path, *, data: Path, conversations: Path) -> None:
    """Write questions, judgments, rows, answers, and conversations that these rows answer."""
    questions = read_rows(data / "queries.jsonl")[::EVERY_QUESTION]
    asked = {each["id"] for each in questions}
    header, *judged = (data / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    judged = [line for line in judged if line.partition("\t")[0] in asked]
    relevant = {line.split("\t")[1] for line in judged}
    rows = read_rows(data / "corpus.jsonl")
    others = [each["id"] for each in rows if each["id"] not in relevant][::EVERY_OTHER_ROW]
    kept = relevant.union(others)
    write_rows(folder / "queries.jsonl", questions)
    (folder / "qrels.tsv").write_text("\n".join([header, *judged, ""]), encoding="utf-8")
    write_rows(folder / "corpus.jsonl", [each for each in rows if each["id"] in kept])
    answers = read_rows(data / "answers.jsonl")
    known = [each for each in answers if each["id"] in asked or not each["answerable"]]
    write_rows(folder / "answers.jsonl", known)
    talks = [each for each in read_rows(conversations) if kept.issuperset(each["gold"])]
    write_rows(folder / conversations.name, talks)

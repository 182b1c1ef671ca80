"""`quoth eval` from the command line: every kind, comparisons, reports, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.cli import quoth

UNDERSTANDING = ROOT / "eval" / "understanding"
CORPUS = [
    {"id": "d1", "title": "Gradio", "text": "Gradio was bought by Hugging Face in 2021."},
    {"id": "d2", "title": "Bread", "text": "Bread is baked from flour, water and salt."},
]
CHAIN = {
    "id": "c1",
    "turns": [
        {"role": "user", "text": "What is Gradio?"},
        {"role": "assistant", "text": "Software."},
    ],
    "question": "Who bought it?",
    "rewrite": "Who bought Gradio?",
    "gold": ["d1"],
}
PAIRS = [
    {"a": "What is on page 1?", "b": "What is on page 1?", "same": True},
    {"a": "What is on page 1?", "b": "What is on page 2?", "same": False},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set for every kind, small enough for the fake model."""
    made = tmp_path / "set"
    made.mkdir()
    for name, rows in (
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", [{"id": "q1", "text": "Who bought Gradio?"}]),
        ("heldout.jsonl", [CHAIN]),
        ("pairs.jsonl", PAIRS),
    ):
        (made / name).write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (made / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "utf-8")
    return made


def saved(path: Path, said: Any) -> Path:
    path.write_text(said.out, "utf-8")
    return path


def test_a_run_is_compared_with_a_saved_one(tmp_path: Path) -> None:
    rows = (UNDERSTANDING / "dev.jsonl").read_text("utf-8").splitlines()
    rows = [row for at, row in enumerate(rows) if at % 10 == 0 or "lift" in row]
    (tmp_path / "dev.jsonl").write_text("\n".join(rows), "utf-8")
    shutil.copy(UNDERSTANDING / "shelf.json", tmp_path)
    words = ("eval", "understanding", str(tmp_path), "--split", "dev")
    first = quoth(tmp_path, "--json", *words)
    assert {"exact_filters", "types", "false_filters", "latency_ms"} <= first.json.keys()
    assert "comparison" not in first.json
    path = saved(tmp_path / "before.json", first)
    said = quoth(tmp_path, "--json", *words, "--baseline", str(path))
    series = {each["series"]: each for each in said.json["comparison"]}
    assert set(series) == {"filters", "kind", "language", "followup", "aspects", "lifts"}
    assert series["kind"]["difference"] == 0
    assert series["kind"]["test"] == "mcnemar"
    shown = quoth(tmp_path, *words, "--baseline", str(path))
    assert shown.code == 0
    for text in ("exact filters", "questions (dev)", "Against the baseline"):
        assert text in shown.out


def test_conversations_are_measured(tmp_path: Path, folder: Path) -> None:
    said = quoth(tmp_path, "--json", "eval", "conversation", str(folder))
    assert said.code == 0
    assert set(said.json["recall_at_5"]) == {"standalone", "question", "rewrite"}
    assert "standalone / rewrite" in quoth(tmp_path, "eval", "conversation", str(folder)).out


def test_pairs_are_measured(tmp_path: Path, folder: Path) -> None:
    said = quoth(tmp_path, "--json", "eval", "cache", str(folder))
    assert (said.json["hit_rate"], said.json["false_hits"]) == (1.0, 0)
    assert "paraphrases hit" in quoth(tmp_path, "eval", "cache", str(folder)).out


def test_reading_is_compared_by_file(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.md").write_text("# One\n\nText.", "utf-8")
    (files / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    words = ("eval", "ingest", str(files))
    path = saved(tmp_path / "before.json", quoth(tmp_path, "--json", *words))
    said = quoth(tmp_path, "--json", *words, "--baseline", str(path))
    series = {each["series"]: each for each in said.json["comparison"]}
    assert (series["read"]["now"], series["read"]["questions"]) == (0.5, 2)


def test_a_report_is_written(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "report.html"
    said = quoth(tmp_path, "eval", "retrieval", str(folder), "--report", str(page))
    assert said.code == 0
    assert "<svg" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("understanding", "{none}"), "There is no file of JSON lines"),
        (("conversation", "{none}"), "There is no file of JSON lines"),
        (("cache", "{none}"), "There is no pairs.jsonl"),
        (("cache", "{set}", "--baseline", "{none}/x.json"), "There is no"),
        (("cache", "{set}", "--baseline", "{set}/corpus.jsonl"), "is not JSON"),
        (("conversation", "{set}", "--split", "none"), "There is no none.jsonl"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, folder: Path, words: tuple[str, ...], said: str
) -> None:
    full = [each.format(none=tmp_path / "none", set=folder) for each in words]
    told = quoth(tmp_path, "--json", "eval", *full)
    assert told.code == 2
    assert said in told.json["detail"]

"""People's questions: files are added as `quoth add` does, gold is looked for, refusals counted."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import quoth

QUESTIONS = [
    {
        "id": "p1",
        "question": "Who bought Gradio?",
        "language": "en",
        "kind": "factual",
        "gold": ["hugging\\s+FACE", "20\\d1"],
        "answerable": True,
    },
    {
        "id": "p2",
        "question": "How long do penguins sleep?",
        "language": "en",
        "kind": "off topic",
        "gold": [],
        "answerable": False,
    },
    {
        "id": "p3",
        "question": "What is bread baked from?",
        "language": "en",
        "kind": "factual",
        "gold": ["rye"],
        "answerable": True,
    },
]


def test_peoples_questions_are_measured(tmp_path: Path) -> None:
    library = tmp_path / "set" / "library"
    library.mkdir(parents=True)
    (library / "a.md").write_text(
        "# Gradio\n\nGradio was bought by Hugging\nFace in 2021.", "utf-8"
    )
    (library / "b.txt").write_text("Bread is baked from flour, water and salt.", "utf-8")
    rows = "\n".join(map(json.dumps, QUESTIONS))
    (tmp_path / "set" / "questions.jsonl").write_text(rows, "utf-8")
    said = quoth(tmp_path, "--json", "eval", "people", str(tmp_path / "set"))
    assert said.code == 0
    assert (said.json["questions"], said.json["documents"], said.json["failed"]) == (3, 2, [])
    assert said.json["gold_in_answer"] == said.json["gold_in_top3"] == 0.5
    assert (said.json["refused_answerable"], said.json["answered_unanswerable"]) == (0.0, 0.0)
    assert [each["status"] in ("answered", "partial") for each in said.json["rows"]] == [
        True,
        False,
        True,
    ]
    missed = {"id": "p3", "question": "What is bread baked from?", "wrong": "not found"}
    assert said.json["misses"] == [missed]
    assert said.json["latency_ms"]["p50"] > 0
    shown = quoth(tmp_path, "eval", "people", str(tmp_path / "set"))
    assert "2 documents (0 failed), 3 questions" in shown.out
    assert "p3" in shown.out.partition("Misses")[2]

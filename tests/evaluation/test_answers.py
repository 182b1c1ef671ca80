"""`quoth eval answers`: what answers cite, against reference sentences."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quoth.core.types import Turn
from quoth.evaluation.answers import (
    Reference,
    Span,
    best_scores,
    load_judged,
    nugget_recall,
)
from quoth.evaluation.spans import fold_letters
from tests.support.cli import quoth

OWLS = "Owls nest in the mill. Nobody grinds corn there. The mill was built in 1790."
BREAD = "Bread is baked from flour, water and salt."


def sentence(number: int) -> tuple[int, int]:
    starts = [0, OWLS.index("Nobody"), OWLS.index("The mill was"), len(OWLS) + 1]
    return starts[number], starts[number + 1] - 1


def spans(*numbers: int) -> list[Span]:
    return [Span("d1", *sentence(number), True) for number in numbers]


def reference(*numbers: int) -> Reference:
    selected = tuple(OWLS[slice(*sentence(number))] for number in numbers)
    return Reference(" ".join(selected), selected)


def scores(references: Sequence[Reference], cited: Sequence[Span]) -> tuple[float, float]:
    found = best_scores(references, cited, answer=OWLS, folded={"d1": fold_letters(OWLS)})
    return found.precision, found.recall


def test_precision_is_of_spans_and_recall_of_sentences() -> None:
    assert scores([reference(0, 2)], spans(0, 1)) == (0.5, 0.5)


def test_no_answer_has_no_recall() -> None:
    assert scores([reference(0)], []) == (0.0, 0.0)


def test_a_nugget_needs_its_numbers() -> None:
    assert nugget_recall("The mill was built in 1790.", "It was built, that mill, in 1791.") == 0.0
    assert nugget_recall("The mill was built in 1790.", "Built in 1790, the mill is old.") == 1.0


def write(folder: Path, **files: Sequence[dict[str, Any]]) -> Path:
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents, a question that one of them answers, and one that none does."""
    made = tmp_path / "set"
    made.mkdir()
    answer = {"answer": "In 1790.", "selected_sentences": ["The mill was built in 1790 ."]}
    return write(
        made,
        corpus=[
            {"id": "d1", "title": "Mill", "text": OWLS},
            {"id": "d2", "title": "Bread", "text": BREAD},
        ],
        queries=[
            {"id": "q1", "text": "When was the mill built?", "answerable": True},
            {"id": "q2", "text": "Who won the chess tournament?", "answerable": False},
        ],
        references=[{"query_id": "q1", "answerable": True, "answers": [answer]}],
    )


def test_a_question_without_selected_sentences_counts_only_as_answered(
    tmp_path: Path, folder: Path
) -> None:
    write(folder, references=[{"query_id": "q1", "answerable": True, "answers": []}])
    assert load_judged(folder)[0].answerable
    found = json.loads(quoth(tmp_path, "--json", "eval", "answers", str(folder)).out)
    assert found["answerable"]["answered"] == 1.0
    assert found["unanswerable"]["questions"] == 1


def test_the_turns_before_a_question_are_read(folder: Path) -> None:
    said = [
        ("assistant", "Hello."),
        ("user", "Who built the mill?"),
        ("assistant", "Nobody"),
        ("assistant", "knows."),
        ("user", "Why?"),
    ]
    history = [{"role": role, "text": text} for role, text in said]
    row = {"id": "q1", "text": "When was it built?", "answerable": True, "history": history}
    (judged,) = load_judged(write(folder, queries=[row]))
    assert judged.history == (Turn("Who built the mill?", "Nobody knows."), Turn("Why?", ""))


def test_the_command_prints_what_the_contract_names(tmp_path: Path, folder: Path) -> None:
    said = quoth(tmp_path, "--json", "eval", "answers", str(folder))
    found = json.loads(said.out)
    assert {"answered", "citation_precision", "citation_recall", "nugget_recall"} <= set(
        found["answerable"]
    )
    assert found["unanswerable"] == {"questions": 1, "abstained": 1.0}
    assert found["resolve_rate"] == 1.0


def test_a_run_is_compared_with_one_before(tmp_path: Path, folder: Path) -> None:
    before = tmp_path / "before.json"
    before.write_text(quoth(tmp_path, "--json", "eval", "answers", str(folder)).out, "utf-8")
    said = quoth(tmp_path, "eval", "answers", str(folder), "--baseline", str(before))
    assert said.code == 0
    assert "Against the baseline" in said.out

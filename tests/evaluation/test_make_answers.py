"""The script that turns known sets into the format of `quoth eval answers`."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quoth.evaluation.answers import load_judged
from quoth.evaluation.datasets import load_corpus
from tests.conftest import ROOT

TEXT = "Owls nest in the mill. It was built in 1790."
SNIPPET = "The mill, which is old, was built in 1790 by Ada."


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location(
        "make_answers", ROOT / "scripts" / "make_answers.py"
    )
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def put(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")


def test_a_span_becomes_the_sentence_that_holds_it(script: ModuleType, tmp_path: Path) -> None:
    data, target = tmp_path / "xquad", tmp_path / "made"
    put(data / "en" / "corpus.jsonl", {"id": "p", "title": "Mill", "text": TEXT})
    put(data / "en" / "queries.jsonl", {"id": "q", "text": "When was it built?"})
    answer = {"text": "1790", "start": TEXT.index("1790")}
    put(data / "en" / "answers.jsonl", {"query_id": "q", "corpus_id": "p", "answers": [answer]})
    script.xquad(data, target)
    half = "xquad-dev" if script.first_half("Mill") else "xquad-heldout"
    (judged,) = load_judged(target / half)
    assert judged.references[0].selected == ("It was built in 1790.",)


def test_wrong_snippets_alone_answer_nothing(script: ModuleType, tmp_path: Path) -> None:
    data, target = tmp_path / "rgb", tmp_path / "made"
    row = {
        "id": 3,
        "query": "When was the mill built?",
        "answer": "1790",
        "positive": [SNIPPET],
        "positive_wrong": [SNIPPET.replace("1790", "1890")],
        "negative": ["Owls are birds."],
    }
    put(data / "en_fact.jsonl", row)
    script.rgb(data, target)
    (noise,) = load_judged(target / "rgb-noise")
    (rejection,) = load_judged(target / "rgb-rejection")
    assert (noise.answerable, rejection.answerable) == (True, False)
    assert [each.text for each in load_corpus(target / "rgb-rejection")] == ["Owls are birds."]

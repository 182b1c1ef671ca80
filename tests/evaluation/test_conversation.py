"""`quoth eval conversation`: recall of three wordings, and files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.evaluation.conversation import ConversationReport, evaluate_conversations, recall

CORPUS = [
    {"id": "d1", "title": "Gradio", "text": "Gradio was bought by Hugging Face in 2021."},
    {"id": "d2", "title": "Bread", "text": "Bread is baked from flour, water and salt."},
    {"id": "d3", "title": "Rain", "text": "Rain falls when clouds are heavy with water."},
]
ROW = {
    "id": "c1",
    "turns": [
        {"role": "user", "text": "What is Gradio?"},
        {"role": "assistant", "text": "A tool."},
    ],
    "question": "Who bought it?",
    "rewrite": "Who bought Gradio?",
    "gold": ["d1"],
}
SWITCH = {
    **ROW,
    "id": "c2",
    "question": "What is bread baked from?",
    "rewrite": "What is bread baked from?",
    "gold": ["d2"],
}


def write(folder: Path, *rows: Any, corpus: list[dict[str, str]] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    if corpus:
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    return folder


async def measured(folder: Path, home: Path, **more: Any) -> ConversationReport:
    return await evaluate_conversations(
        folder,
        split="dev",
        settings=Settings(home=home, embedder="fake"),
        progress=lambda _what, _at, _of: None,
        **more,
    )


async def test_three_wordings_are_measured(tmp_path: Path) -> None:
    found = await measured(write(tmp_path / "set", ROW, SWITCH, corpus=CORPUS), tmp_path / "home")
    assert found.conversations == 2
    assert set(found.recall_at_5) == {"standalone", "question", "rewrite"}
    assert found.recall_at_5["rewrite"] == 1.0
    assert set(found.per_question["standalone recall@5"]) == {"c1", "c2"}


async def test_the_rows_may_bring_their_contexts(tmp_path: Path) -> None:
    folder = write(tmp_path / "set", {**ROW, "contexts": CORPUS})
    found = await measured(folder, tmp_path / "home")
    assert found.recall_at_5["rewrite"] == 1.0


async def test_rows_without_a_rewrite_are_measured_from_files_of_any_name(tmp_path: Path) -> None:
    bare = {key: value for key, value in ROW.items() if key != "rewrite"}
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "mine.jsonl").write_text(json.dumps({**bare, "contexts": CORPUS}), "utf-8")
    (folder / "theirs.jsonl").write_text(json.dumps({**bare, "id": "c2"}), "utf-8")
    settings = Settings(home=tmp_path / "home", embedder="fake")
    found = await evaluate_conversations(folder, settings=settings, progress=lambda *_: None)
    assert (found.conversations, found.split) == (2, "all")
    assert found.recall_at_5 == {"standalone": 1.0, "question": 1.0, "rewrite": None}
    assert found.share_of_rewrite is found.topics_kept is found.followups is None
    assert found.lost == ()


async def test_figures_against_a_rewrite_are_of_the_rows_that_have_one(tmp_path: Path) -> None:
    bare = {key: value for key, value in SWITCH.items() if key != "rewrite"}
    found = await measured(write(tmp_path / "set", ROW, bare, corpus=CORPUS), tmp_path / "home")
    assert found.conversations == 2
    assert set(found.per_question["rewrite recall@5"]) == {"c1"}
    alone = found.per_question["standalone recall@5"]
    assert found.share_of_rewrite == found.recall_at_5["standalone"] == alone["c1"]


async def test_the_same_id_twice_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "set", ROW, ROW, corpus=CORPUS)
    with pytest.raises(InputError, match=r"line 2 has the id 'c1' of .*line 1"):
        await measured(folder, tmp_path / "home")


@pytest.mark.parametrize(
    ("ranking", "gold", "expected"),
    [
        (["a", "b"], ["a"], 1.0),
        (["b", "c", "d", "e", "f", "a"], ["a"], 0.0),
        (["a", "b"], ["a", "z"], 0.5),
        (["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e", "f", "g"], 1.0),
        ([], ["a"], 0.0),
    ],
)
def test_recall_is_of_five(ranking: list[str], gold: list[str], expected: float) -> None:
    assert recall(ranking, gold=gold) == expected


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gold": []}, "'gold'"),
        ({"gold": ["d9"]}, "'d9'.*not in the corpus"),
        ({"turns": [{"role": "assistant", "text": "Yes."}]}, "do not alternate"),
    ],
)
async def test_wrong_rows_are_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    folder = write(tmp_path / "set", {**ROW, **change}, corpus=CORPUS)
    with pytest.raises(InputError, match=f"line 1 .*{said}|line 1 .*{said}"):
        await measured(folder, tmp_path / "home")

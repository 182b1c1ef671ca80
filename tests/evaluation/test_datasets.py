from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.evaluation.datasets import load_judged, load_retrieval_set
from quoth.evaluation.people import load_people
from tests.conftest import ROOT

CORPUS = '{"id": "d1", "title": "One", "text": "First."}\n{"id": "d2", "text": "Second."}\n'
QUERIES = '{"id": "q1", "text": "Which is first?"}\n\n{"id": "q2", "text": "Not judged?"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"


def write(folder: Path, **files: str) -> Path:
    names = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.tsv"}
    for key, text in {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS, **files}.items():
        (folder / names[key]).write_text(text, encoding="utf-8")
    return folder


def test_a_set_is_read(tmp_path: Path) -> None:
    found = load_retrieval_set(write(tmp_path))
    assert [(each.id, each.title, each.text) for each in found.corpus] == [
        ("d1", "One", "First."),
        ("d2", "", "Second."),
    ]
    assert [each.id for each in found.questions] == ["q1"]
    assert found.judgments == {"q1": {"d1": 2, "d2": 0}}


def test_gzip_reads_the_same(tmp_path: Path) -> None:
    plain = load_retrieval_set(write(tmp_path))
    for name in ("corpus.jsonl", "queries.jsonl"):
        data = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    assert load_retrieval_set(tmp_path) == plain


def test_a_set_in_the_layout_of_beir_reads_the_same(tmp_path: Path) -> None:
    own = load_retrieval_set(write(tmp_path))
    write(
        tmp_path, corpus=CORPUS.replace('"id"', '"_id"'), queries=QUERIES.replace('"id"', '"_id"')
    )
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels.tsv").rename(tmp_path / "qrels" / "test.tsv")
    assert load_retrieval_set(tmp_path) == own


def test_the_sets_of_the_documentation_are_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    for folder, part in zip(
        ("retrieval", "answers", "people"), page.split("\n## ")[1:4], strict=True
    ):
        (tmp_path / folder).mkdir()
        for block in re.finditer(r"\n\n```(?:jsonl|tsv)\n(.*?)```", part, re.DOTALL):
            paragraph = part[: block.start()].rsplit("\n\n", 1)[-1]
            (tmp_path / folder / paragraph.split("`")[1]).write_text(block[1], "utf-8")
    found = load_retrieval_set(tmp_path / "retrieval")
    assert (len(found.corpus), len(found.questions)) == (3, 3)
    known = " ".join(row.text for row in found.corpus)
    judged = load_judged(tmp_path / "answers")
    assert [(each.answerable, len(each.references)) for each in judged] == [
        (True, 1),
        (False, 0),
        (True, 1),
    ]
    cited = [text for each in judged for one in each.references for text in one.selected]
    assert all(text in known for text in cited)
    assert [len(each.gold) for each in load_people(tmp_path / "people")] == [1, 2, 0]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"corpus": CORPUS + "{nope\n"}, r"corpus.jsonl, line 3 is not JSON"),
        ({"corpus": "[1]\n"}, "line 1 is not a JSON object"),
        ({"corpus": '{"id": "d1"}\n'}, "line 1 needs a text under 'text'"),
        ({"corpus": CORPUS + CORPUS}, "'d1' stands twice"),
        ({"queries": '{"id": "q1", "text": " "}\n'}, "needs a text under 'text'"),
        ({"qrels": QRELS + "q1\td1\n"}, "line 4 has 2 fields"),
        ({"qrels": QRELS + "q1\td9\t1\n"}, "'d9', which is not in the corpus"),
        ({"qrels": QRELS + "q1\td1\tgood\n"}, "'good', which is no whole number"),
        ({"qrels": "header\nq7\td1\t1\n"}, "No question of"),
    ],
)
def test_malformed_files_are_named(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        load_retrieval_set(write(tmp_path, **files))


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_missing_files_are_named(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=name):
        load_retrieval_set(tmp_path)

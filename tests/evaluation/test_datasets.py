from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.evaluation.datasets import load_retrieval_set

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

"""`quoth eval understanding`: what counts as the same filters, and what a report adds up to."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import InputError
from quoth.core.types import Filter, FilterField, Query
from quoth.evaluation.questions import Expected, ExpectedFilter, load_understanding
from quoth.evaluation.understanding import evaluate_understanding, report_on, same

LENGTHS = {"talk": 2400.0, "short": 1200.0}


def wanted(field: str, *values: Any) -> ExpectedFilter:
    return ExpectedFilter(field, values)


def within(field: FilterField, *values: str) -> Filter:
    return Filter(field, "in", values)


def over(field: FilterField, low: float, high: float) -> Filter:
    return Filter(field, "overlaps", (low, high))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], []),
        ([within("label", "10", "11", "12")], [wanted("label", 10, 12)]),
        ([over("label", 10, 12)], [wanted("label", 10, 12)]),
        ([within("speaker", "Marie Lefèvre")], [wanted("speaker", "marie lefevre")]),
        ([over("seconds", 750, 810)], [wanted("seconds", 750, 750)]),
        ([over("seconds", 720, 780)], [wanted("seconds", 750, 750)]),
        ([over("seconds", 1200, 2400)], [wanted("seconds", 1200, None)]),
        ([over("seconds", 1200, 1e9)], [wanted("seconds", 1200, None)]),
        ([over("date", 20240101, 99991231)], [wanted("date", 20240101, None)]),
        ([over("date", 0, 20201231)], [wanted("date", None, 20201231)]),
        (
            [within("chapter", "3"), within("document", "talk")],
            [wanted("document", "talk"), wanted("chapter", "3")],
        ),
        (
            [within("document", "short"), over("seconds", 600, 1200)],
            [wanted("document", "short"), wanted("seconds", 600, None)],
        ),
    ],
)
def test_filters_that_mean_the_same(found: list[Filter], expected: list[ExpectedFilter]) -> None:
    assert same(found, expected, lengths=LENGTHS)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([within("label", "10")], []),
        ([], [wanted("label", "10")]),
        ([within("label", "10", "12")], [wanted("label", 10, 12)]),
        ([within("page", "10")], [wanted("label", "10")]),
        ([over("seconds", 600, 900)], [wanted("seconds", 750, 750)]),
        ([over("seconds", 800, 860)], [wanted("seconds", 750, 750)]),
        ([over("seconds", 0, 540)], [wanted("seconds", 0, 600)]),
        ([over("date", 20240101, 20241231)], [wanted("date", 20240101, None)]),
        ([over("date", 20240514, 20240515)], [wanted("date", 20240514, 20240514)]),
        ([within("chapter", "3"), within("chapter", "3")], [wanted("chapter", "3")]),
    ],
)
def test_filters_that_do_not(found: list[Filter], expected: list[ExpectedFilter]) -> None:
    assert not same(found, expected, lengths=LENGTHS)


SHELF = {
    "version": "1",
    "languages": ["en", "fr"],
    "documents": [{"document_id": "b", "title": "A book", "kind": "pdf", "language": "en"}],
    "headings": [{"document_id": "b", "path": ["One"], "first": 0, "last": 3, "chapter": "1"}],
    "labels": {"b": ["i-iii", "1-4"]},
}
ROW = {"text": "What is on page 2?", "kind": "page_specific", "language": "en", "filters": [
    {"field": "label", "operator": "in", "values": ["2"]}]}  # fmt: skip


def write(folder: Path, *rows: Any, shelf: Any = SHELF) -> Path:
    (folder / "shelf.json").write_text(json.dumps(shelf), "utf-8")
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "dev.jsonl").write_text("\n".join(lines), "utf-8")
    return folder


def test_a_set_is_read(tmp_path: Path) -> None:
    row = {**ROW, "history": [{"question": "Who?", "answer": "He."}], "is_followup": True,
           "also": [[]], "also_kinds": ["factual"], "tags": ["page"]}  # fmt: skip
    data = load_understanding(write(tmp_path, ROW, row), split="dev")
    assert data.labels == {"b": ("i", "ii", "iii", "1", "2", "3", "4")}
    assert data.shelf.headings[0].path == ("One",)
    first, second = data.questions
    assert (first.id, first.kinds, first.filters) == (
        "1",
        ("page_specific",),
        ((ExpectedFilter("label", ("2",)),),),
    )
    assert second.filters == ((ExpectedFilter("label", ("2",)),), ())
    assert (second.kinds, second.is_followup) == (("page_specific", "factual"), True)
    assert second.history[0].answer == "He."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "line 2 is not JSON"),
        ({**ROW, "kind": "vague"}, "line 2 has the kind 'vague'"),
        ({**ROW, "text": ""}, "line 2 needs a text under 'text'"),
        ({**ROW, "filters": {}}, "line 2 needs a list of objects under 'filters'"),
        ({**ROW, "also": 1}, "line 2 needs a list of lists"),
        ({**ROW, "filters": [{"field": "colour", "operator": "in", "values": []}]}, "'colour'"),
        (
            {**ROW, "filters": [{"field": "date", "operator": "overlaps", "values": [1]}]},
            "line 2 has a filter that is none",
        ),
        (
            {**ROW, "filters": [{"field": "document", "operator": "in", "values": ["z"]}]},
            "'z'.*not on the shelf",
        ),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, row: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_understanding(write(tmp_path, ROW, row), split="dev")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"documents": [{"document_id": "b"}]}, "lacks a field"),
        ({"documents": [{"document_id": "b", "author": "x"}]}, "author"),
        ({"labels": []}, "an object under 'labels'"),
        ({"labels": {"b": ["x-9"]}}, "'x-9'"),
        ({"version": 3}, "'version'"),
    ],
)
def test_a_wrong_shelf_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_understanding(write(tmp_path, ROW, shelf={**SHELF, **change}), split="dev")


def test_files_that_are_missing_or_empty_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no dev\.jsonl"):
        load_understanding(tmp_path, split="dev")
    with pytest.raises(InputError, match="holds no question"):
        load_understanding(write(tmp_path), split="dev")
    (tmp_path / "dev.jsonl").unlink()
    with pytest.raises(InputError, match="no file of JSON lines"):
        load_understanding(tmp_path)


async def test_questions_stand_alone_in_files_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps(ROW), "utf-8")
    plain = {"text": "Pourquoi les abeilles dansent-elles ?", "kind": "conceptual",
             "language": "fr", "filters": []}  # fmt: skip
    with gzip.open(tmp_path / "two.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(plain))
    data = load_understanding(tmp_path)
    assert (data.split, data.shelf.languages) == ("all", ("en", "fr"))
    found = await evaluate_understanding(tmp_path)
    assert (found.questions, found.split) == (2, "all")
    assert (found.exact_filters, found.false_filters, found.languages) == (1.0, 0.0, 1.0)
    (tmp_path / "heldout.fr.jsonl").write_text(json.dumps({**plain, "id": "h"}), "utf-8")
    assert load_understanding(tmp_path).split == "all"
    (tmp_path / "heldout.jsonl").write_text(json.dumps(plain), "utf-8")
    (tmp_path / "heldout.jsonl.gz").write_bytes(gzip.compress(json.dumps(plain).encode()))
    assert len(load_understanding(tmp_path).questions) == 1
    assert (await evaluate_understanding(tmp_path)).split == "heldout"


def test_no_two_documents_that_are_made_have_the_same_id(tmp_path: Path) -> None:
    names = {"document": ["book", "talk", "of Ann"], "speaker": ["Ann"]}
    filters = [
        {"field": field, "operator": "in", "values": values} for field, values in names.items()
    ]
    (tmp_path / "one.jsonl").write_text(json.dumps({**ROW, "filters": filters}), "utf-8")
    ids = [each.document_id for each in load_understanding(tmp_path).shelf.documents]
    assert len(set(ids)) == len(ids) == 6
    assert {"book", "talk", "of Ann"} < set(ids)


def test_aspects_are_compared_without_articles(tmp_path: Path) -> None:
    row = {"text": "Les tris ou le tas ?", "kind": "comparison", "language": "fr", "filters": []}
    rows = [
        {**row, "aspects": ["les tris", "le tas"]},
        {**row, "aspects": ["L'été", "le tas"]},
        row,
    ]
    data = load_understanding(write(tmp_path, *rows), split="dev")
    aspects = ("tris", "Tas")
    found = report_on(
        data, ask=lambda row: Query(row.text, row.text, "fr", "comparison", aspects=aspects)
    )
    assert found.per_question["aspects"] == {"1": 1.0, "2": 0.0}
    assert found.aspects == 0.5


def test_an_expected_guess_must_lift_and_not_filter(tmp_path: Path) -> None:
    guess = {"field": "speaker", "operator": "in", "values": ["Ada"]}
    row = {"text": "Why does Ada smile?", "kind": "factual", "language": "en", "filters": [],
           "lifts": [guess]}  # fmt: skip
    data = load_understanding(write(tmp_path, row, row, row, ROW), split="dev")
    ada = within("speaker", "Ada")
    answers = iter([Query("", "", "en", boosts=(ada,)), Query("", "", "en", filters=(ada,)),
                    Query("", "", "en"), Query("", "", "en")])  # fmt: skip
    found: dict[str, Query] = {}

    def ask(row: Expected) -> Query:
        return found.setdefault(row.id, next(answers)) if row.id not in found else found[row.id]

    report = report_on(data, ask=ask)
    assert report.per_question["lifts"] == {"1": 1.0, "2": 0.0, "3": 0.0}
    assert report.lifts == pytest.approx(1 / 3)
    assert report.per_question["filters"]["2"] == 0.0


def test_a_report_adds_up(tmp_path: Path) -> None:
    plain = {"text": "Who?", "kind": "factual", "language": "en", "filters": []}
    spanish = {**plain, "text": "¿Quién?", "language": "es"}
    definition = {**plain, "text": "What is x?", "also_kinds": ["conceptual"]}
    data = load_understanding(write(tmp_path, ROW, plain, spanish, definition), split="dev")
    label = within("label", "2")

    def ask(row: Expected) -> Query:
        if row.text == "Who?":  # a false filter, a wrong kind, language and flag
            return Query(row.text, row.text, "fr", "summary", is_followup=True, filters=(label,))
        kind = "page_specific" if "page" in row.text else "conceptual"
        return Query(row.text, row.text, "en", kind, filters=(label,) if "page" in row.text else ())

    found = report_on(data, ask=ask)
    assert (found.exact_filters, found.exact_where_expected) == (0.75, 1.0)
    assert found.false_filters == pytest.approx(1 / 3)
    assert found.types == 0.5  # the definition may be conceptual, the Spanish one not
    assert found.languages == pytest.approx(2 / 3)  # the Spanish one is not judged
    assert found.followups == 0.75
    assert found.fields == {"label": 1.0, "none": pytest.approx(2 / 3)}
    assert found.kinds["factual"] == {"summary": 1, "conceptual": 1}
    assert [each.what for each in found.misses if each.id == "2"] == [
        "filters", "kind", "language", "followup",
    ]  # fmt: skip
    assert found.per_question["filters"] == {"1": 1.0, "2": 0.0, "3": 1.0, "4": 1.0}
    assert len(found.latencies_ms) == 4

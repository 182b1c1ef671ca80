"""The page of a report: everything is on it, and it needs nothing from anywhere."""

from __future__ import annotations

import re

import pytest

from quoth.core.errors import MissingExtra
from quoth.core.types import Json
from quoth.evaluation import report as pages
from quoth.evaluation.significance import compare

NOW = {"full ndcg@10": {"a": 0.9, "b": 0.4, "c": 0.5}, "kind": {"a": 1.0, "b": 0.0}}
BEFORE = {"full ndcg@10": {"a": 0.5, "b": 0.5, "c": 0.5}, "kind": {"a": 0.0, "b": 0.0}}
REPORT: Json = {
    "questions": 3,
    "legs": {"full": {"ndcg@10": 0.6}, "keyword": {"ndcg@10": 0.5}},
    "latency_ms": {"p50": 1.5, "p95": 2.5},
    "per_question": NOW,
    "latencies_ms": [1.0, 2.0, 3.0, 1.5],
    "kinds": {"factual": {"factual": 2, "summary": 1}},
    "coverage": 0.6,
    "precision_rank1": 0.86,
    "precision_by_coverage": [[0.5, 0.9], [1.0, 0.7]],
    "sources": {"podcast": {"windows": 90, "silence": 1.0, "low": 0.96, "high": 1.0}},
    "waits_s": [1.0, 2.0, 8.0],
    "lectures": {"a": {"cards": 9, "churned": 1}, "b": {"cards": 0, "churned": 0}},
    "misses": [{"id": "b", "text": "<script>alert(1)</script>"}],
}


@pytest.fixture(scope="module")
def page() -> str:
    pytest.importorskip("matplotlib")
    return pages.page_of(
        title="A < B", report=REPORT, comparisons=compare(NOW, BEFORE), before=BEFORE
    )


def test_every_plot_is_there(page: str) -> None:
    # Two measures, two that changed, times, types; precision, silence, waits, churn.
    assert page.count("<svg") == 10


def test_the_page_loads_nothing(page: str) -> None:
    assert not re.search(r"(?:src|href)=\"(?!#)|@import|url\((?!#)", page)


def test_what_comes_from_questions_is_text(page: str) -> None:
    assert "<script" not in page
    assert "A &lt; B" in page


def test_ids_of_two_plots_do_not_clash(page: str) -> None:
    """Clip paths are found by id, and the page is one document."""
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        own = set(re.findall(r'id="([^"]+)"', svg))
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= own


def test_without_the_library_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quoth.core.extras.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'quoth\[eval\]'"):
        pages.require_plots()

"""The day of a document: how it may be written, and where it is looked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.registry import read
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "kept"), rows("ingest", "dates.dates_are_kept_as_precisely_as_they_were_said")
)
def test_dates_are_kept_as_precisely_as_they_were_said(text: str, kept: str) -> None:
    assert normalize_date(text) == kept


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2024-13", "2024-02-30", "12", "0000", "99999999", "03/01/2024", "Foo 2024"],
)
def test_what_is_no_date(text: str) -> None:
    assert normalize_date(text) is None


@given(st.text(max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    kept = normalize_date(text)
    assert kept is None or normalize_date(kept) == kept


# --- where it is looked for -------------------------------------------------------------------


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("value", ["2024-03", 2024])
def test_a_sidecar_outranks_the_file(tmp_path: Path, value: object) -> None:
    file = write(tmp_path, "a.md", "---\ndate: 2020-01-01\n---\nSome words.\n")
    write(tmp_path, "a.meta.json", json.dumps({"date": value}))
    assert read(file).date == str(value)


@pytest.mark.parametrize(
    "head",
    [
        '<meta property="article:published_time" content="2024-03-01T08:00:00Z">',
        '<meta itemprop="datePublished" content="2024-03-01">',
        '<meta name="date" content="2024-03-01"><time datetime="1999-01-01">then</time>',
    ],
)
def test_the_head_of_a_page_says_the_day(tmp_path: Path, head: str) -> None:
    page = f"<html><head><title>T</title>{head}</head><body><p>Words.</p></body></html>"
    assert read(write(tmp_path, "a.html", page)).date == "2024-03-01"


CAPTIONS = "1\n00:00:01,000 --> 00:00:03,000\nHello and welcome to this talk.\n"


@pytest.mark.parametrize(
    ("name", "kept"), rows("ingest", "dates.the_name_of_a_file_may_hold_the_day")
)
def test_the_name_of_a_file_may_hold_the_day(tmp_path: Path, name: str, kept: str | None) -> None:
    assert read(write(tmp_path, name, CAPTIONS)).date == kept

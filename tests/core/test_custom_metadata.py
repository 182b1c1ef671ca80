"""Custom metadata: what is allowed, and which values a filter fits."""

from __future__ import annotations

import pytest

from quoth.core.custom_metadata import (
    MetadataValue,
    changed_metadata,
    check_metadata,
    fits,
    metadata_from_pairs,
    read_metadata,
)
from quoth.core.errors import InputError


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        ("Legal", "legal", True),
        ("Legal", "sales, LEGAL", True),
        ("Legal", "sales", False),
        ("Paris, Texas", "paris, texas", True),
        (("hr", "draft"), "draft", True),
        (("hr", "draft"), "final", False),
        (2024, "2024", True),
        ("2024", "2024.0", True),
        (2024, "2020..2024", True),
        (2024, "2025..", False),
        (9, "..10", True),
        (True, "true", True),
        ("2024-12-31", "2023..2024", True),
        ("2025-01-01", "2023..2024", False),
        ("2023-06-01", "2023-06..", True),
        ("anything", "..", True),
        ("007", "7", False),
        ("12345678901234567", "12345678901234568", False),
        ("2024_1", "20241", False),
    ],
)
def test_a_value_fits_what_is_wanted(value: MetadataValue, wanted: str, *, expected: bool) -> None:
    assert fits(value, wanted) is expected


def test_pairs_and_changes() -> None:
    known = metadata_from_pairs(["tag=a", "team = legal", "tag=b"])
    assert known == {"tag": ("a", "b"), "team": "legal"}
    assert changed_metadata({"sig": "x"}, ["meta.sig=abc="]) == {"sig": "abc="}
    assert changed_metadata(known, ["meta.team =", "meta.year=2024"]) == {
        "tag": ("a", "b"),
        "year": "2024",
    }
    assert read_metadata('{"tag": ["a"], "year": 2024, "draft": true}') == {
        "draft": True,
        "tag": ("a",),
        "year": 2024,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {1: "a"},
        {"": "a"},
        {"a b": "a"},
        {"a" * 65: "a"},
        {"a": None},
        {"a": {}},
        {"a": ""},
        {"a": []},
        {"a": 10**5000},
        {"a": [1]},
        {"a": float("nan")},
        {"a": "x" * 1001},
        {"a": ["x"] * 101},
        {"a": "line\nline"},
        {"a": "\ud800"},
        {f"k{at}": "a" for at in range(51)},
    ],
)
def test_what_is_no_metadata_is_refused(wrong: object) -> None:
    with pytest.raises(InputError):
        check_metadata(wrong)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "{}x", "[1]"])
def test_a_text_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_metadata(text)


@pytest.mark.parametrize("pair", ["team", "team=", "=legal", "1=a"])
def test_a_pair_that_is_none_is_refused(pair: str) -> None:
    with pytest.raises(InputError):
        metadata_from_pairs([pair])

"""Every aspect is heard, and the whole question keeps the lead."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import Candidate
from quoth.retrieval.aspect_quota import apply_quota


def _ranking(names: str) -> list[Candidate]:
    return [Candidate(name, 1 - at / max(1, len(names)), "convex") for at, name in enumerate(names)]


def _names(ranking: list[Candidate]) -> str:
    return "".join(each.chunk_id for each in ranking)


def test_an_aspect_that_is_missing_takes_the_last_place() -> None:
    found = apply_quota(_ranking("abcdef"), aspects=[_ranking("fx")], within=3)
    assert _names(found) == "abfcde"


def test_an_aspect_that_is_there_changes_nothing() -> None:
    found = apply_quota(_ranking("abcdef"), aspects=[_ranking("b"), _ranking("a")], within=3)
    assert _names(found) == "abcdef"


def test_what_only_an_aspect_found_comes_in() -> None:
    found = apply_quota(_ranking("abcd"), aspects=[_ranking("x"), _ranking("y")], within=3)
    assert _names(found) == "axybcd"


def test_an_aspects_own_chunk_is_not_pushed_out_for_another() -> None:
    found = apply_quota(_ranking("abcd"), aspects=[_ranking("c"), _ranking("x")], within=3)
    assert _names(found) == "acxbd"


def test_a_larger_share_takes_more_places() -> None:
    found = apply_quota(_ranking("abcde"), aspects=[_ranking("xyz")], within=4, share=2)
    assert _names(found) == "abxycde"


def test_more_aspects_than_places_serve_the_first() -> None:
    found = apply_quota(
        _ranking("ab"), aspects=[_ranking("x"), _ranking("y"), _ranking("z")], within=2
    )
    assert _names(found) == "xyab"


def test_an_empty_ranking_is_filled_by_the_aspects() -> None:
    assert _names(apply_quota([], aspects=[_ranking("x"), _ranking("y")], within=5)) == "xy"


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8).map("".join)


@given(NAMES, st.lists(NAMES, max_size=4), st.integers(1, 8), st.integers(1, 3))
def test_nothing_is_lost_and_nothing_stands_twice(
    names: str, aspects: list[str], within: int, share: int
) -> None:
    found = _names(
        apply_quota(
            _ranking(names),
            aspects=[_ranking(each) for each in aspects],
            within=within,
            share=share,
        )
    )
    assert len(set(found)) == len(found)
    assert set(names) <= set(found)


@given(NAMES, st.lists(NAMES.filter(bool), max_size=3))
def test_the_best_of_each_aspect_is_among_the_first(names: str, aspects: list[str]) -> None:
    found = _names(
        apply_quota(_ranking(names), aspects=[_ranking(each) for each in aspects], within=4)
    )
    assert all(each[0] in found[:4] for each in aspects)

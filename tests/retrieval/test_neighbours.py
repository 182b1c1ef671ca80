from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quoth.retrieval.passages import widen

TEN = {("d", ordinal): ("one",) if ordinal < 5 else ("two",) for ordinal in range(10)}


def test_a_hit_takes_in_its_neighbours() -> None:
    assert widen([("d", 2)], window=1, sections=TEN) == [("d", 1, 3)]


def test_overlapping_and_touching_spans_join_at_the_place_of_the_best() -> None:
    sections = {("d", n): () for n in range(20)} | {("e", n): () for n in range(3)}
    found = widen([("d", 8), ("e", 0), ("d", 5), ("d", 15)], window=1, sections=sections)
    assert found == [("d", 4, 9), ("e", 0, 1), ("d", 14, 16)]


def test_sections_are_not_crossed() -> None:
    assert widen([("d", 5), ("d", 4)], window=3, sections=TEN) == [("d", 5, 8), ("d", 1, 4)]


def test_the_document_ends_where_it_ends() -> None:
    assert widen([("d", 9)], window=5, sections=TEN) == [("d", 5, 9)]
    assert widen([("d", 3)], window=5, sections={}) == [("d", 3, 3)]


@given(
    st.lists(st.tuples(st.sampled_from("de"), st.integers(0, 14)), max_size=8),
    st.integers(0, 4),
    st.lists(st.integers(0, 2), min_size=15, max_size=15).map(sorted),
)
def test_spans_are_the_union_of_intervals(
    hits: list[tuple[str, int]], window: int, numbers: list[int]
) -> None:
    sections = {(each, n): (str(numbers[n]),) for each in "de" for n in range(15)}
    covered = {
        (document, n)
        for document, ordinal in hits
        for n in range(max(0, ordinal - window), min(14, ordinal + window) + 1)
        if numbers[n] == numbers[ordinal]
    }
    spans = widen(hits, window=window, sections=sections)
    places = [(each, n) for each, first, last in spans for n in range(first, last + 1)]
    assert len(places) == len(set(places))
    assert set(places) == covered
    assert all(sections[each, first] == sections[each, last] for each, first, last in spans)

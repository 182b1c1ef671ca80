"""Places and locators come back from the catalogue as they went in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import (
    Box,
    Chars,
    Hit,
    LegScore,
    Locator,
    Pages,
    Seconds,
    SpanLocator,
)
from quoth.text.json_codec import (
    dump,
    pack_locator,
    pack_places,
    to_json,
    unpack_spot,
)

texts = st.text(max_size=20)
numbers = st.integers(0, 10**7)
floats = st.floats(allow_nan=False, allow_infinity=False)
boxes = st.builds(Box, page=numbers, x0=floats, y0=floats, x1=floats, y1=floats)
pages = st.builds(
    Pages,
    first=numbers,
    last=numbers,
    label_first=texts,
    label_last=texts,
    section=st.none() | texts,
    boxes=st.lists(boxes, max_size=3).map(tuple),
    unit=st.sampled_from(["page", "slide"]),
    anchor=st.none() | texts,
    speaker=st.none() | texts,
)
seconds = st.builds(
    Seconds,
    start=floats,
    end=floats,
    speaker=st.none() | texts,
    section=st.none() | texts,
    estimated=st.booleans(),
)
chars = st.builds(
    Chars,
    start=numbers,
    end=numbers,
    section=st.none() | texts,
    anchor=st.none() | texts,
    unit=st.none() | st.sampled_from(["line", "row"]),
    label_first=texts,
    label_last=texts,
    speaker=st.none() | texts,
)
locators = pages | seconds | chars
places = st.builds(
    SpanLocator,
    start=numbers,
    end=numbers,
    locator=locators,
    hyphen=st.sampled_from(["", "-", "\u00ad"]),
)


@given(locators, st.lists(places, max_size=5).map(tuple), st.lists(texts, max_size=3).map(tuple))
def test_where_a_chunk_stands_comes_back(
    locator: Locator, given_places: tuple[SpanLocator, ...], section: tuple[str, ...]
) -> None:
    found = unpack_spot(
        locator=pack_locator(locator),
        places=pack_places(given_places),
        section=dump(list(section)),
    )
    assert found == (locator, given_places, section)


@pytest.mark.parametrize("packed", ["[]", '["x",1,2]', '["p",1]', "{}", '["s",1,2,null]'])
def test_something_else_is_no_locator(packed: str) -> None:
    with pytest.raises(ValueError, match="not a packed locator"):
        unpack_spot(locator=packed, places="[]", section="[]")


@given(locators)
def test_the_json_of_a_locator_names_its_kind(locator: Locator) -> None:
    shown = json.loads(dump(to_json(locator)))
    assert shown["kind"] == locator.kind


def test_values_within_values_become_plain_too() -> None:
    hit = Hit(
        rank=1,
        chunk_id="c",
        document_id="d",
        document="Book",
        collection="default",
        text="red",
        locator=Pages(1, 1, "i", "i", boxes=(Box(1, 0, 0, 2, 3),)),
        link=None,
        score=0.5,
        score_kind="rrf",
        legs={"keyword": LegScore(1, 2.5)},
    )
    shown = to_json(hit)
    assert shown["locator"]["boxes"] == [{"page": 1, "x0": 0, "y0": 0, "x1": 2, "y1": 3}]
    assert shown["legs"] == {"keyword": {"rank": 1, "score": 2.5}}


@pytest.mark.parametrize("plain", [None, "text", 3, [1, 2], {"a": 1}])
def test_what_is_plain_stays_as_it_is(plain: object) -> None:
    assert to_json(plain) == plain

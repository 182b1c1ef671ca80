"""Markdown becomes readable text, a block per paragraph, with the anchors GitHub gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import Chars
from quoth.ingest.readers.markdown import markdown_blocks, read_markdown
from quoth.ingest.readers.registry import read
from quoth.ingest.readers.source_file import SourceFile

GUIDE = Path(__file__).parents[1] / "fixtures" / "pages" / "guide.md"


def test_sections_have_paths_and_unique_anchors() -> None:
    assert [(section.path, section.anchor) for section in read(GUIDE).sections] == [
        (("Hedges",), "hedges"),
        (("Hedges", "Planting & care"), "planting--care"),
        (("Hedges", "Planting & care"), "planting--care-1"),
        (("Hedges", "Planting & care", "Odds"), "ends"),
    ]


def test_places_are_spans_of_the_stored_text() -> None:
    reading = read(GUIDE)
    for place in reading.places:
        assert isinstance(place.locator, Chars)
        assert (place.locator.start, place.locator.end) == (place.start, place.end)
        assert (
            not reading.text[place.start].isspace()
            or "    " in reading.text[place.start : place.end]
        )
    rows = [
        place.locator
        for place in reading.places
        if "shears" in reading.text[place.start : place.end]
    ]
    assert isinstance(rows[0], Chars)
    assert (rows[0].section, rows[0].anchor) == ("Hedges ▸ Planting & care", "planting--care-1")


@pytest.mark.parametrize(
    ("headings", "anchors"),
    [
        (["Ça va ?", "C++ & C#", "a_b-c"], ["ça-va-", "c--c", "a_b-c"]),
        (["Same", "Same", "Same"], ["same", "same-1", "same-2"]),
        (["Same", "Same-1", "Same"], ["same", "same-1", "same-2"]),
        (["`code` here", "[Link](x)"], ["code-here", "link"]),
    ],
)
def test_anchors(headings: list[str], anchors: list[str]) -> None:
    text = "\n\n".join(f"## {heading}" for heading in headings)
    assert [block.anchor for block in markdown_blocks(text)] == anchors


@pytest.mark.parametrize(
    "bomb", ["> " * 5_000 + "x", "- " * 5_000 + "x", "[" * 20_000 + "x", "*a " * 20_000 + "x"]
)
def test_depth_does_no_harm(bomb: str) -> None:
    list(markdown_blocks(bomb))


@given(st.lists(st.text(alphabet="abcé", min_size=1, max_size=8), min_size=1, max_size=20))
def test_no_word_is_lost(words: list[str]) -> None:
    markup = ["# {}", "{}", "- {}", "> {}", "**{}**", "`{}`", "[{}](x)", "```\n{}\n```"]
    text = "\n\n".join(markup[n % len(markup)].format(word) for n, word in enumerate(words))
    read_back = read_markdown(SourceFile("n", b"", text=text)).text.split()
    assert [word for word in read_back if word != "-"] == words


def test_items_have_the_marks_that_readers_see() -> None:
    text = "3. c\n4. d\n   more\n\n   - x\n\n     still x\n4. e\n\n- y\n-\n\nz"
    shown = ["3. c", "4. d more", "- x", "still x", "5. e", "- y", "z"]
    assert [block.text for block in markdown_blocks(text)] == shown


@pytest.mark.parametrize(
    ("image", "text"),
    [
        ("![slide talk.003](/img/talk.003.jpeg)", "Before  after"),
        ("![IMG_12](<a/IMG_12.png>)", "Before  after"),
        ("![The bridge](bridge.png)", "Before The bridge after"),
        ("![bridge](bridge.png)", "Before bridge after"),
        ("![fig-2: a bridge in spring](fig-2.png)", "Before fig-2: a bridge in spring after"),
        ("![plan]()", "Before plan after"),
    ],
)
def test_the_name_of_a_picture_is_no_text(image: str, text: str) -> None:
    (block,) = [each.text for each in markdown_blocks(f"Before {image} after") if each.text]
    assert block.split() == text.split()


def test_each_table_has_its_own_header() -> None:
    table = "| {0} | {1} |\n|---|---|\n| {2} | {3} |\n\n"
    text = table.format("Item", "Text", "1", "Boats") + table.format("Film", "5:25", "Part", "2")
    rows = [block.text for block in markdown_blocks(text)]
    assert rows == ["Item | Text", "Item: 1 | Text: Boats", "Film | 5:25", "Film: Part | 5:25: 2"]

"""Lists of a document's own headings are no text that answers."""

from __future__ import annotations

import pytest

from quoth.core.types import Pages
from quoth.ingest.readers.blocks import Block, assemble

TIDES = ("Tides", "Currents", "Winds", "Harbour dues", "Anchors")
LAST = Block("Nobody sails at night.")


def text_of(*lead: Block, titles: tuple[str, ...] = TIDES) -> str:
    parts = [block for title in titles for block in (Block(title, level=1), LAST)]
    text, places, _ = assemble([*lead, *parts])
    assert all(text[place.start : place.end].strip() for place in places)
    return text


BODY = text_of()


@pytest.mark.parametrize(
    "entries",
    [
        [Block(title) for title in TIDES],
        [Block("\n".join(TIDES))],
        [Block("Contents"), *(Block(f"- {title}") for title in TIDES)],
        [Block(f"{at}. {title} ..... {at}7") for at, title in enumerate(TIDES, start=1)],
        [Block(f"- {title}") for title in (*TIDES, "Index")],
    ],
    ids=["lines", "one paragraph", "labelled items", "numbers and pages", "one that is no heading"],
)
def test_a_list_of_headings_is_left_out_with_its_label(entries: list[Block]) -> None:
    assert text_of(*entries) == BODY


@pytest.mark.parametrize(
    "lead",
    [
        [Block("Five things cost a sailor money here:"), *(Block(f"- {each}") for each in TIDES)],
        [Block(f"- {title}") for title in TIDES[:4]],
        [Block(f"- {title}") for title in (*TIDES, "Rum", "Salt", "Tar")],
        [Block(f"{title} are dear.") for title in TIDES],
        [Block(f"- {title}", place=Pages(1, 1, "1", "1")) for title in TIDES],
    ],
    ids=["announced", "few", "half of them others", "sentences", "a slide"],
)
def test_other_lists_stay(lead: list[Block]) -> None:
    assert text_of(*lead) == "\n\n".join([*(block.text for block in lead), BODY])


def test_titles_that_are_numbers_match_nothing_else() -> None:
    years = tuple(str(year) for year in range(1990, 1997))
    lead = [Block("1. 4500"), Block("2. 12"), Block("3. 17"), Block("4. 8"), Block("5. 41")]
    assert "4500" in text_of(*lead, titles=years)

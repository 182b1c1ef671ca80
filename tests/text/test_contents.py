"""Tables of contents and indexes are told from prose and from lists of prices."""

from __future__ import annotations

import pytest

from quoth.text.contents import is_contents, is_index

LINE = "{n}.1 How do I feed a hedge in the winter of a cold year? . . . . . . . {n}"


@pytest.mark.parametrize("between", ["\n", " "])
def test_contents_have_dots_and_growing_numbers(between: str) -> None:
    assert is_contents(between.join(LINE.format(n=n) for n in (3, 7, 7, 12)))
    assert not is_contents(between.join(LINE.format(n=n) for n in (12, 7, 3)))
    assert not is_contents(between.join(LINE.format(n=n) for n in (3, 7)))


@pytest.mark.parametrize(
    "text",
    [
        "Tea ........ 2.50\nCoffee ........ 3.00\nMilk ........ 4.00\nWine ........ 5.00",
        "Length ........ 12 cm\nWidth ........ 14 cm\nWeight ........ 80 g\nAge ........ 90 years",
        "Tin ........ 12 V\nZinc ........ 40 W\nLead ........ 64 GB\nIron ........ 90 EUR",
        "." * 8000,
        "I do not know ..... It may be so. " * 4 + "She thought about it for a long time. " * 20,
    ],
)
def test_prices_measures_and_prose_are_no_contents(text: str) -> None:
    assert not is_contents(text)


def test_an_index_has_terms_and_numbers() -> None:
    assert is_index("ash, 4 beech, 12, 14\nhedge, 8-9 high hedges, 20\nmoss, 31")
    assert not is_index("Bees count (Ash, 1999; Beech, 2003; Carr, 2010, Dent, 2011, Eng, 2012).")
    assert not is_index("France, 67; Germany, 83; Italy, 59; Spain, 47; Norway, 5.")
    assert not is_index(
        "On May 3, 1990, and on June 4, 1991, it rained on all of the roofs of the old town, and "
        "so it did on July 5, 1992, which nobody had thought would be as wet as August 6, 1993."
    )

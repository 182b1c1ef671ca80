"""Questions made of a collection: which sentences, in which words, with which chunks as answers."""

from __future__ import annotations

import pytest

from quoth.core.types import Chars, Chunk
from quoth.evaluation.made_questions import (
    MadeQuestion,
    make_questions,
)

TOPICS = {
    "engine": "The steam engine burns coal in a furnace and turns a heavy wheel of iron",
    "whale": "The blue whale sings low songs that travel across the cold southern ocean",
    "loom": "The weaver threads yarn through a wooden loom before the winter market begins",
    "comet": "The comet returns every century and leaves dust behind along its bright path",
}
NOTICE = "All rights to these pages belong to their many authors and to nobody else at all."


def chunk(key: str, text: str, *, ordinal: int = 0, section: tuple[str, ...] = ()) -> Chunk:
    places = Chars(0, len(text))
    return Chunk(
        f"{key}#{ordinal}", key, ordinal, 0, len(text), text, places, "text", section=section
    )


def page(key: str, *, ordinal: int = 0, section: tuple[str, ...] = ()) -> Chunk:
    lines = [
        f"{TOPICS[key]}.",
        f"Nobody in the village had seen a {key} like number {ordinal} so near before that spring.",
        f"Children drew the {key} on walls and gave every picture another name and another colour.",
        NOTICE,
    ]
    return chunk(key, " ".join(lines), ordinal=ordinal, section=section)


PAGES = [page(key) for key in TOPICS]


def made(chunks: list[Chunk], *, most: int = 100, seed: int = 0) -> list[MadeQuestion]:
    return make_questions(chunks, title_of=lambda key: key, most=most, seed=seed)


def test_a_question_is_a_sentence_that_its_chunk_then_lacks() -> None:
    found = made(PAGES)
    assert len(found) == len(PAGES)
    for each in found:
        assert each.form == "sentence"
        assert each.text in each.whole.text
        assert each.text not in each.chunk.text
        assert len(each.chunk.text) + len(each.text) == len(each.whole.text)


def test_the_same_chunks_give_the_same_questions_in_any_order() -> None:
    assert made(PAGES) == made(PAGES[::-1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One short line.",
        "It was there. " * 30,
        "Do you see how the engine turns the wheel of iron in the morning? " * 5,
        "12 34 56 78 90 11 22 33 44 55 66 77 88 99 10 20 30 40 50 60 70. " * 5,
    ],
    ids=["empty", "short", "leaning", "questions", "numbers"],
)
def test_a_chunk_that_says_nothing_by_itself_gives_no_question(text: str) -> None:
    assert made([chunk("d", text)]) == []


def test_neighbours_in_the_section_count_as_found() -> None:
    section = ("Animals",)
    pages = [page("whale", ordinal=at, section=section) for at in range(4)]
    other = page("comet", ordinal=4, section=("Stars",))
    (found,) = made([pages[0], *pages[1:], other], most=1)
    near = {each.chunk_id for each in (*pages, other)
            if each.section == found.chunk.section
            and abs(each.ordinal - found.chunk.ordinal) <= 1}  # fmt: skip
    assert found.accepted == near


def test_some_questions_are_headings_and_definitions() -> None:
    pages = []
    for at in range(48):
        a, b, c, d, e, f, g, h = (f"{letter}{'aeiou'[at % 5]}rn{'bcdfgklmpr'[at // 5]}o"
                                  for letter in "bdfgklmt")  # fmt: skip
        text = (
            f"{a.title()} stone is a mineral {b} and {c} people carried along the {d} road. "
            f"Later {e} merchants took {f} lamps to {g} instead of {h} and {a} oil. "
            f"The {b} of {c} and the {d} of {e} lie under {f} and {g} and {h} today."
        )
        pages.append(chunk(f"page{at}", text, section=(f"The {a} trade {b}",)))
    forms = [each.form for each in made(pages)]
    assert {"sentence", "heading", "definition"} == set(forms)
    assert forms.count("sentence") > 0.7 * len(forms)
    asked = {each.form: each for each in made(pages)}
    assert asked["definition"].text.startswith("What is ")
    assert "trade" in asked["heading"].text
    assert asked["heading"].chunk == asked["heading"].whole

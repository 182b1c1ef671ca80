"""An answer is read the same however it comes, and what is shown adds up to its sentences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.answering.generative.overlong import LONGEST
from quoth.answering.generative.stream_reader import AnswerReader, ParsedSentence
from tests.support.counting import is_proportional

KNOWN = (1, 2, 3)


def read(
    pieces: Sequence[str], known: Sequence[int] = KNOWN
) -> tuple[list[ParsedSentence], int, int]:
    reader = AnswerReader(known)
    parts = [part for piece in pieces for part in reader.feed(piece)]
    parts += reader.close()
    return parts, reader.invented, reader.cleaned


def closed(text: str, known: Sequence[int] = KNOWN) -> list[tuple[str, tuple[int, ...]]]:
    parts, _, _ = read([text], known)
    return [(part.text, part.numbers) for part in parts]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The sky is blue. [Source 1]", [("The sky is blue.", (1,))]),
        ("The sky is blue [Source 1].", [("The sky is blue.", (1,))]),
        ("The sky is blue.[Source 1] It is far.", [("The sky is blue.", (1,)), ("It is far.", ())]),
        ("The sky [Source 1] is blue.", [("The sky is blue.", (1,))]),
        ("The sky[Source 1]is blue.", [("The sky is blue.", (1,))]),
        ("The sky is blue. [Source 1].", [("The sky is blue.", (1,))]),
        ("It is blue [Source 1], and far [Source 2].", [("It is blue, and far.", (1, 2))]),
        ("It is blue [Source 1], [Source 2] and [Source 3].", [("It is blue.", (1, 2, 3))]),
        ("It is blue.\n[Source 2]\n\nIt is far.", [("It is blue.", (2,)), ("It is far.", ())]),
        ("It is blue.\n\n[Source 2]\n\nIt is far.", [("It is blue.", (2,)), ("It is far.", ())]),
        ("“It is blue.” [Source 3] So.", [("“It is blue.”", (3,)), ("So.", ())]),
        ("See Dr. No at 3.5 p.m. today [Source 1].", [("See Dr. No at 3.5 p.m. today.", (1,))]),
        (
            "C’est bleu [Source 1] ! Et loin [Source 2] ?",
            [("C’est bleu !", (1,)), ("Et loin ?", (2,))],
        ),
        (
            "天空是蓝色的。[Source 1]它很远。[Source 2]",
            [("天空是蓝色的。", (1,)), ("它很远。", (2,))],
        ),
        (
            "Er wurde am 3. Mai 1952 eröffnet [Source 1]. Am 14. Januar ruhte er. [Source 2]",
            [("Er wurde am 3. Mai 1952 eröffnet.", (1,)), ("Am 14. Januar ruhte er.", (2,))],
        ),
        ("According to [1], the sky is blue [2].", [("The sky is blue.", (1, 2))]),
        ("As stated in Source 1 and [Source 2], it is far.", [("It is far.", (1, 2))]),
        ("Selon [1], c’est loin. Blue (see [1]).", [("C’est loin.", (1,)), ("Blue.", (1,))]),
        ("It is far, according to [1]. Based on [1].", [("It is far.", (1,))]),
        ("It is blue, as per [1], and far.", [("It is blue, and far.", (1,))]),
        ("**Bold.** **[Source 1]** Next.", [("**Bold.** Next.", (1,))]),
        ("It is `a. B [Source 1]` that [Source 2].", [("It is `a. B [Source 1]` that.", (2,))]),
        ("- one [Source 1]\n- two [Source 2]", [("one", (1,)), ("two", (2,))]),
        ("1. One [Source 1]\n2. Two. [Source 2]", [("One", (1,)), ("Two.", (2,))]),
        ("- [Source 1] one\n- [Source 2] two", [("one", (1,)), ("two", (2,))]),
        ("# Head\nText. [Source 1]", [("Head", ()), ("Text.", (1,))]),
        (
            "**Head**\nText: [Source 1]\nMore. [Source 2]",
            [("**Head**", ()), ("Text:", (1,)), ("More.", (2,))],
        ),
        ("[Source 1] A is b. [Source 2] C is d.", [("A is b.", (1,)), ("C is d.", (2,))]),
        ("[Source 1]: A is b.\n[Source 2]: C is d.", [("A is b.", (1,)), ("C is d.", (2,))]),
        ("It is blue. [Source 1](http://evil.example/x) So.", [("It is blue.", (1,)), ("So.", ())]),
        ("Blue [1]. Far [2].", [("Blue.", (1,)), ("Far.", (2,))]),
        ("Blue [Source 1]. Far[2].", [("Blue.", (1,)), ("Far.", ())]),
        ("Take x[1] and a_[2].", [("Take x[1] and a_[2].", ())]),
        (
            "It is blue (1). Far (2), and old.(3)",
            [("It is blue.", (1,)), ("Far, and old.", (2, 3))],
        ),
        ("It is blue. (1) It is far. (2)", [("It is blue.", (1,)), ("It is far.", (2,))]),
        ("It is blue¹. Far.² Old ¹²", [("It is blue.", (1,)), ("Far.", (2,)), ("Old", (1, 2))]),
        ("It is blue <sup>1</sup>. Far.<sup>2, 3</sup>", [("It is blue.", (1,)), ("Far.", (2, 3))]),
        ("Built in 1968 (1). Sold in 1974¹.", [("Built in 1968.", (1,)), ("Sold in 1974.", (1,))]),
        ("It is blue [1]. Far (2).", [("It is blue.", (1,)), ("Far (2).", ())]),
        ("Do this: (1) sow. (2) Reap.", [("Do this: (1) sow.", ()), ("(2) Reap.", ())]),
        ("(1) Sow.\n(2) Reap (3).", [("Sow.", ()), ("Reap (3).", ())]),
        ("See step (2). See article 5 (1).", [("See step (2).", ()), ("See article 5 (1).", ())]),
        ("It has 35 m², 10² and 3 m<sup>3</sup>.", [("It has 35 m², 10² and 3 m³.", ())]),
        ("Blue (1)(2). 天空是蓝色的（1）。", [("Blue.", (1, 2)), ("天空是蓝色的。", (1,))]),
        ("Blue (1) and (2). Far (1), (2) and (3).", [("Blue.", (1, 2)), ("Far.", (1, 2, 3))]),
        ("They had children (3).", [("They had children (3).", ())]),
        ("²³⁵U, (a+b)² and (9).", [("²³⁵U, (a+b)² and (9).", ())]),
        ("It is [sic] blue [source code].", [("It is [sic] blue [source code].", ())]),
        ("[Source 1][Source 2]", []),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_and_their_sources(
    answer: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert closed(answer) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The value is f(1), and log(1), too.",
        "It follows from § 823 (1).",
        "See § 5 (2) and regulation 7 (1).",
        "It is banned by regulation 7(2) and by 7(1).",
        "It is sin² x, cos¹ x and a²+b¹.",
        "Sulphate is SO₄²⁻ here, or SO₄¹⁻.",
        "The area is 300 kilometres² or 300 metros¹.",
        "It has options (1), (2) and (3).",
        "It is blue (1) or (2), as in (1).",
    ],
)
def test_a_number_that_belongs_to_the_text_stays(text: str) -> None:
    assert closed(text) == [(text, ())]
    assert [part for part, _ in closed(f"It is old. (1) {text}")] == ["It is old.", text]


@pytest.mark.parametrize(
    ("marker", "invented"),
    [
        ("[Source 0]", 1),
        ("[Source -1]", 1),
        ("[Source 99]", 1),
        ("[99]", 1),
        ("[Sοurce 1]", 1),
        ("[Source N]", 1),
        ("[Source: a book]", 1),
        ("[Sources 4-6]", 3),
        ("[Source 999999999]", 1),
        ("(Source 9)", 1),
    ],
)
def test_a_source_that_was_never_shown_is_taken_out_and_counted(marker: str, invented: int) -> None:
    parts, count, _ = read([f"It is blue. {marker}"])
    assert [part.text for part in parts] == ["It is blue."]
    assert [part.numbers for part in parts] == [()]
    assert count == invented


def test_a_mixed_marker_keeps_what_is_known() -> None:
    parts, invented, _ = read(["Blue. [Source 2, 7]"])
    assert [part.numbers for part in parts] == [(2,)]
    assert invented == 1


def test_a_sentence_comes_when_nothing_that_follows_can_change_it() -> None:
    reader = AnswerReader(KNOWN)
    assert reader.feed("The sky is ") == []
    assert reader.feed("blue. [Sou") == []
    assert reader.feed("rce 1]") == []
    assert reader.feed(" It is") == [ParsedSentence("", "The sky is blue.", (1,))]
    assert reader.close() == [ParsedSentence(" ", "It is", ())]


def test_a_block_of_code_is_one_part_without_markers() -> None:
    parts, _, _ = read(["So:\n```python\nx = a[1]  # [Source 1]. Yes\n```\nDone. [Source 2]"])
    code = [part for part in parts if part.kind == "code"]
    assert code == [ParsedSentence("\n", "```python\nx = a[1]  # [Source 1]. Yes\n```", (), "code")]
    assert parts[-1] == ParsedSentence("\n", "Done.", (2,), "sentence")


@pytest.mark.parametrize("word", ["word ", "word, ", "w", "a.b", "\n", "- ", "。", "[", "`", "木"])
def test_endless_text_is_closed_at_a_limit(word: str) -> None:
    parts, _, _ = read([word * 5000])
    assert all(len(part.text) <= LONGEST + 300 for part in parts)


ATOMS = [
    *("The sky", " is ", "blue", ". ", "? ", "\n", "\n\n", "- ", "1. ", "# ", "| a |", " "),
    *(
        "[Source 1]",
        "[Source 2, 3]",
        "[Source 99]",
        "(Source 1)",
        "[1]",
        "【Source 2】",
        " »",
        ", ",
    ),
    *("[x](http://evil.com/a)", "![i](http://evil.com)", "https://evil.com/x", "data:text/html,x"),
    *("```", "\n```\n", "<a href='x'>", "\x1b[31m", "\x1b]8;;http://e\x07", "\u200b", "\u202e"),
    *("\r\n", "\r", "\u00a0", "mailto:a@b.c"),
    *". [ ] ( ) < > ` ~~~ `` ** _ ! \\ “ ” é Dr. e.g. : ht tps :// evil.com /p?q=1 ]: ](".split(),
    *"// <b> </b> <script> </script> <!-- --> <think> </think> www.e.f javascript: and".split(),
    *"(1) (2) ¹ ² ¹² <sup>2</sup> <sup> </sup> 3 m".split(),
    *"Source <|im_start|> [INST] … 0 12 ' \"".split(),
]
answers = st.lists(st.sampled_from(ATOMS) | st.text(max_size=3), max_size=40).map("".join)


@given(answers, st.randoms(use_true_random=False))
def test_the_reading_does_not_depend_on_the_pieces(answer: str, chance: random.Random) -> None:
    whole = read([answer])
    assert read(list(answer)) == whole
    cuts = sorted(chance.randrange(len(answer) + 1) for _ in range(5))
    assert read([answer[a:b] for a, b in pairwise([0, *cuts, len(answer)])]) == whole


@given(answers)
def test_only_known_sources_are_cited(answer: str) -> None:
    parts, _, _ = read([answer])
    numbers = {n for part in parts for n in part.numbers}
    assert numbers <= set(KNOWN)


PROSE = (
    "The sky is blue|It is far|see Dr. Smith|at 3.5 m|Mr. A. B. Jones came|e.g. this|C’est bleu"
    "|« Bonjour »|M. Dupont arrive|art. 5|No. 7|etc. And|the U.S. army|he said “no.”|(It is so.)"
    "|approx. 5 km|in 1990|and so on…|task A|I said no"
).split("|")
prose = st.lists(
    st.tuples(
        st.sampled_from(PROSE), st.sampled_from([". ", "? ", "! ", " ; ", ", ", ".\n\n", "… ", " "])
    ),
    min_size=1,
    max_size=12,
).map(lambda pairs: "".join(word + stop for word, stop in pairs))


HARD = {
    "brackets": "[",
    "half a marker": "[Source 1, ",
    "numbers": "[Source " + "1, " * 40_000,
    "tags": "<",
    "names": "<b ",
    "backticks": "`",
    "two backticks": "``a`",
    "addresses": "http://",
    "hosts": "a.",
    "stops": "a. ",
    "round": "(source ",
    "blanks": " ",
    "escapes": "\x1b]",
    "targets": "[a](b ",
    "lines": "\n",
    "thoughts": "<think>",
    "letters": "a",
    "raised": "a¹ ",
    "places": "a. (1) ",
    "raised tags": "<sup>1</sup> ",
    "sentences": "The sky is blue. [Source 1] ",
}


@pytest.mark.parametrize("size", [20_000, pytest.param(120_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("hard", HARD)
def test_the_time_is_in_proportion_to_the_length(hard: str, size: int) -> None:
    text = (HARD[hard] * (size // len(HARD[hard]) + 1))[:size]
    assert is_proportional(lambda part: read([part]), text)


def test_numbers_of_items_one_after_another_take_time_in_proportion() -> None:
    assert is_proportional(lambda part: read([part]), f"It is old {'(2) ' * 18}or new (2).")

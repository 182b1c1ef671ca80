"""Runs of sentences: what is quoted together, and how an answer shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from quoth.answering.extractive.candidates import list_start
from quoth.answering.extractive.runs import SentenceRun
from quoth.answering.extractive.score import WITHOUT_TOKENS, aspects_without, sentence_scores
from quoth.answering.extractive.select import (
    MAX_RUNS,
    Statement,
    choose_statements,
    collect_sentences,
    statement_of,
    unquoted_aspects,
)
from quoth.answering.extractive.write import new_first, quotation_lines, write_answer
from quoth.core.types import DocumentKind, Passage, Query, QueryKind, Seconds
from tests.support.passages import passage

QUERY = Query("tin?", "tin?", "en")


def runs(
    *texts: str, scores: Mapping[str, float], query: Query = QUERY, most: int = 12, source: str = ""
) -> tuple[Statement, ...]:
    """The runs chosen from one document per text, by the scores of sentences with these words.

    Sentences with none of them are far off. ``source`` is the language of the last text.
    """
    languages = ["en"] * (len(texts) - 1) + [source or "en"]
    passages = [
        passage(text, number=n, language=language)
        for n, (text, language) in enumerate(zip(texts, languages, strict=True), start=1)
    ]
    return chosen(passages, scores=scores, query=query, most=most)


def chosen(
    passages: Sequence[Passage],
    *,
    scores: Mapping[str, float],
    query: Query = QUERY,
    most: int = 12,
) -> tuple[Statement, ...]:
    """The runs chosen from passages; a sentence without any of the words is far off."""
    candidates = collect_sentences(query, passages)
    found = [
        next((score for word, score in scores.items() if word in each.text), -9.0)
        for each in candidates.sentences
    ]
    return choose_statements(
        query, candidates, scores=np.array(found), passages=passages, max_sentences=most
    )


def said(statements: Sequence[Statement]) -> list[str]:
    return [statement.text for statement in statements]


LONG = "Rain fell on all of the old roofs of the town for the whole of that very long night."
"""A sentence long enough to stand alone, about nothing."""
FAR = LONG.replace(".", ", ") * 3 + "and the town slept."
"""A sentence of about 300 characters, about nothing."""
CLOSURE = (
    "A closure is a function that keeps the variables of the place where it was made, all of them, "
    "for as long as anything still refers to it, even after that place has been left for good."
)


def test_a_short_run_takes_paragraphs_of_its_section_along_and_a_list_none() -> None:
    (run,) = runs(f"Tin melts early.\n\n{CLOSURE}\n\n{FAR}\n\n{FAR}", scores={"Tin": 0})
    assert run.text == f"Tin melts early.\n\n{CLOSURE}\n\n{FAR}"
    other = passage(f"{FAR}\n\nTin melts early.\n\n{CLOSURE}")
    first, second = (replace(other.chunks[0], chunk_id=name) for name in "ab")
    cut = len(FAR) + 2
    chunks = (
        replace(first, text=other.text[:cut], section=("Rain",)),
        replace(second, text=other.text[cut:], start=first.start + cut, section=("Tin",)),
    )
    (run,) = chosen([replace(other, chunks=chunks)], scores={"melts": 0})
    assert run.text == f"Tin melts early.\n\n{CLOSURE}"


def test_a_table_is_quoted_with_its_rows() -> None:
    rows = "\n\n".join(
        f"metal: {name} | melts at: {at}" for name, at in (("tin", 232), ("lead", 327))
    )
    (run,) = runs(f"How metals melt is shown here.\n\n{rows}\n\n{CLOSURE}", scores={"shown": 0})
    assert run.text.endswith(rows)


def test_a_row_is_quoted_as_a_whole_though_a_cell_has_several_sentences() -> None:
    row = "fault: Rust | why: It rained. The tin was bare. | mended by: Oil it. Paint it, too."
    other = row.replace("Rust", "Dent").replace("rained", "fell")
    (run,) = runs(f"{row}\n\n{other}\n\n{LONG}", scores={"Rust": 0, "Dent": -0.5, "Oil": -9})
    assert [row, other] == run.text.split("\n\n")
    assert len(run.parts) == 2
    long = f"fault: Rust | why: {LONG * 15}"
    assert all(len(run.text) < len(long) for run in runs(long, scores={"fault": 0}))


@pytest.mark.parametrize(
    ("told", "comes"),
    [
        ("Metals melt early, as Table 2 shows.", True),
        ("The next table of this book shows how all metals melt:", True),
        ("Metals melt early, as Table 1 shows.", False),
    ],
)
def test_a_table_is_quoted_below_its_caption_where_the_text_leads_to_it(
    told: str, comes: bool
) -> None:
    rows = "metal | melts at\n\nmetal: tin | melts at: 232\n\nmetal: lead | melts at: 327"
    table = f"Table 2. All that melts in town\n\n{rows}"
    told = f"{LONG} {told}"
    (run,) = runs(f"{told}\n\n{table}\n\n{FAR} {FAR}", scores={told: 0, "etals melt": 0})
    assert run.text == (f"{told}\n\n{table}" if comes else told)


def test_rows_with_most_words_of_the_question_are_quoted_without_the_others() -> None:
    table = "\n\n".join(
        f"metal: {name} | year: {year} | mine: {mine} | price: {year}.10"
        for name, year, mine in (
            *(("tin", 2012, "Wheal"), ("tin", 2013, "Ayr"), ("lead", 2012, "Ayr")),
            *(("lead", 2013, "Ayr"), ("zinc", 2013, "Tara")),
        )
    )
    rows = table.split("\n\n")

    def asked(text: str, **scores: float) -> list[str]:
        return said(runs(f"{table}\n\n{LONG}", scores=scores, query=Query(text, text, "en")))

    # The row with both words, though another one has a higher score.
    assert asked("price of lead in 2013?", tin=0, lead=-0.5) == [rows[3]]
    # All rows of a place, neighbours as one.
    assert asked("Who digs at Ayr?", Ayr=0, Wheal=-0.1) == ["\n\n".join(rows[1:4])]
    assert asked("What is there of 2013?", lead=0) == [rows[1], "\n\n".join(rows[3:])]
    assert asked("What costs 2 013,10?", lead=0) == [rows[1], "\n\n".join(rows[3:])]
    assert asked("Wheal or Tara?", Wheal=0, Tara=0) == [rows[0], rows[4]]
    # Nothing tells the rows apart; a word is in other rows alone; the row is far below.
    assert asked("What is the price?", lead=0) == [table]
    assert asked("price of lead in 2013 at Wheal?", lead=0) == [table]
    assert asked("price of lead in 2013?", tin=0, lead=-1.5) == [table]


def test_of_two_tables_the_one_with_the_column_that_is_asked_for_is_quoted() -> None:
    people = "\n\n".join(
        f"Country: Chad | Year: {year} | People: {year}000" for year in (1952, 1957)
    )
    capitals = "Country: Chad | Capital: N'Djamena\n\nCountry: Mali | Capital: Bamako"
    query = Query("capital of Chad", "capital of Chad", "en")
    for score, quoted in ((-0.5, "Djamena"), (-1.5, "1952")):
        scores = {"1952": 0, "1957": -0.1, "Djamena": score}
        first, *_ = said(runs(people, capitals, scores=scores, query=query))
        assert quoted in first


def test_a_fact_in_speech_is_quoted_with_less_around_it() -> None:
    text = " ".join(["Tin melts."] + [f"So much for the long line {at} of it." for at in range(40)])
    made = passage(text)
    talk = replace(made, document=replace(made.document, kind="transcript"))

    def length(query: Query, of: Passage) -> int:
        (run,) = chosen([of], scores={"Tin": 0}, query=query, most=40)
        return len(run.text)

    why = replace(QUERY, kind="conceptual")
    broad = replace(QUERY, kind="comparison")
    assert 350 < length(QUERY, talk) <= 400 < length(why, talk) <= 600
    assert length(why, talk) == length(broad, talk) == length(QUERY, made) < length(broad, made)


def test_speech_is_quoted_from_shortly_before_its_best_sentence() -> None:
    lines = [f"So much for the long line {at} of it." for at in range(20)]
    made = passage(" ".join([*lines, "Tin melts.", *lines]))
    talk = replace(made, document=replace(made.document, kind="transcript"))
    before = [chosen([of], scores={"Tin": 0}, most=40)[0].text.find("Tin") for of in (talk, made)]
    assert 150 < before[0] <= 200 < before[1]


def test_the_row_about_what_is_asked_is_quoted_before_one_that_mentions_it() -> None:
    rows = [
        "label: Blue | meaning: Sent; copies of the parcel have yellow or red labels",
        "label: Yellow | meaning: Opened and closed once more",
        "label: Red | meaning: Lost",
    ]
    text = "What does the yellow label mean?"
    found = runs("\n\n".join(rows), scores={"Blue": 0, "Yellow": -1}, query=Query(text, text, "en"))
    assert said(found) == [rows[1]]


def test_words_of_a_new_question_choose_a_row_before_those_of_the_conversation() -> None:
    birds = (("puffin", 58), ("gannet", 180), ("tern", 80), ("auk", 80))
    rows = [f"bird: {name} | wingspan: {wide}" for name, wide in birds]
    table = "\n\n".join(rows)

    def asked(text: str, earlier: str) -> list[Statement]:
        query = Query(text, f"{text} ({earlier})", "en", is_followup=True)
        return list(runs(table, scores={"gannet": 0, "puffin": -3, "tern": -0.5}, query=query))

    assert said(asked("And the puffin?", "wingspan gannet")) == [rows[0]]
    assert said(asked("What is its wingspan?", "gannet")) == [rows[1]]
    # A citation of both rows marks neither, so that it shows and opens both.
    (both,) = asked("What are their wingspans?", "gannet puffin")
    assert (both.text, both.marked) == ("\n\n".join(rows[:2]), None)
    # That a word is rare says nothing of the turn that it is from.
    assert said(asked("What about its nest?", "puffin 80")) == [rows[0], "\n\n".join(rows[2:])]


def test_program_text_is_quoted_to_the_end_of_its_function_with_its_lines() -> None:
    text = (
        'def shorten(text):\n    """Cut it.\n\n    The width counts its last sign, too.\n    """'
        "\n\n    return text[0] + text[1:70] if text and all_of(text) else nothing_of_it(text)\n"
        "    # the end"
    )
    made = passage(text)
    made = replace(made, document=replace(made.document, kind="code"))
    (run,) = chosen([made], scores={"Cut": 0})
    assert run.text == text
    shown, _ = write_answer([run])
    assert shown.startswith(text.replace("\n\n", "\n").split("text[1:70]")[0])
    assert shown.endswith("(text)\n    # the end [1]")


@pytest.mark.parametrize(
    ("kind", "is_joined"),
    [
        *(("notebook", False), ("markdown", False), ("html", False), ("book", False)),
        *(("text", True), ("pdf", True), ("mail", True)),
    ],
)
def test_lines_are_joined_where_the_format_has_wrapped_paragraphs(
    kind: DocumentKind, is_joined: bool
) -> None:
    text = (
        "clean = [r for r in rows if float(r[1]) >= 0]\n"
        "mean = sum(float(r[1]) for r in clean) / len(clean)\n"
        "print('mean', round(mean, 2))"
    )
    made = passage(text)
    made = replace(made, document=replace(made.document, kind=kind))
    (run,) = chosen([made], scores={"mean": 0, "rows": 0})
    shown, sentences = write_answer([run])
    assert shown == (text.replace(")\nprint", ") print") if is_joined else text) + " [1]"
    assert "".join(shown[each.start : each.end] for each in sentences).startswith("clean")


def test_a_short_run_goes_on_in_the_next_paragraph_but_not_past_a_heading() -> None:
    scores = {"closure": 2.0}
    for after in (LONG, "昨夜大雨一直落在古城所有房屋的屋顶之上，直到天明才慢慢停止。"):
        assert said(runs(f"{CLOSURE}\n\n{after}", scores=scores)) == [f"{CLOSURE}\n\n{after}"]
    for gap in ("\n\n", "\n"):  # a heading, the term of a definition
        assert said(runs(f"{CLOSURE}\n\nRain on roofs{gap}{LONG}", scores=scores)) == [CLOSURE]


@pytest.mark.parametrize(
    "other",
    [
        "#!/bin/sh\n# lead is a metal that melts at a low heat.",
        "// Lead is a metal that melts at a low heat. It is grey\n// and soft.",
        "lead = heat(ore)\n# it melts at a low heat, and so it is done first here.",
        "3.1 Lead is a metal that melts . . . . . . . . . . . . . 12",
    ],
)
def test_a_run_grows_from_no_comment_of_a_program_and_no_line_of_a_table_of_contents(
    other: str,
) -> None:
    (run,) = runs(f"{other}\n\n{CLOSURE}", scores={"ead": 0, "A closure": -2, "soft": 0})
    assert run.text.endswith(CLOSURE)
    assert run.marked == (run.end - len(CLOSURE), run.end)


def test_a_question_comes_with_its_answer() -> None:
    asked = f"{CLOSURE} How do I make one of them?"
    (run,) = runs(f"{asked}\n\nWith a function in it. {LONG}", scores={"A closure": 0})
    assert run.text.startswith(f"{asked}\n\nWith a function in it.")


def test_neighbours_are_one_run() -> None:
    (run,) = runs(f"{CLOSURE}\n\n{LONG}", scores={"A closure": 0, "Rain": -0.5})
    assert run.text == f"{CLOSURE}\n\n{LONG}"


@pytest.mark.parametrize("gap", [" ", "\n\n"])
@pytest.mark.parametrize("opening", ["It", "This", "They"])
def test_an_opening_that_refers_back_brings_the_sentence_before(opening: str, gap: str) -> None:
    text = f"{FAR}\n\nThe kakapo lives in New Zealand.{gap}{opening} can not fly. {LONG}"
    (run,) = runs(text, scores={"fly": 0})
    assert run.text.startswith(f"The kakapo lives in New Zealand.{gap}")


STEPS = "\n".join(f"- {what}." for what in (
    "Mix the flour with warm water", "Add a little salt", "Knead it all for very long", "Bake it"
))  # fmt: skip


@pytest.mark.parametrize("seed", ["needs these", "Knead"])
def test_a_list_is_quoted_with_all_items_from_the_one_that_tells(seed: str) -> None:
    text = f"Bread needs these steps.\n\n{STEPS}\n\n{LONG}"
    (run,) = runs(text, scores={seed: 0})
    assert run.text.endswith("- Bake it." if seed == "needs these" else "Bake it.")
    assert LONG not in run.text


@pytest.mark.parametrize(("most", "quoted"), [(3, [3]), (2, [1, 1])])
def test_what_stands_between_two_runs_counts_as_quoted(most: int, quoted: list[int]) -> None:
    two = "Early boats left the harbour with all of their nets, and nobody knew where they went."
    found = runs(f"{LONG}\n\nKnives and pots\n\n{two}", scores={"Rain": 0, "Early": 0}, most=most)
    assert [len(run.parts) for run in found] == quoted


@pytest.mark.parametrize(
    ("between", "goes_on"),
    [
        ("Salt keeps it.", True),
        ("Serve it with these:", False),
        ("Salt keeps it. Oil does so, too. Rum does not. Few know that.", False),
    ],
)
def test_a_list_goes_on_after_a_paragraph_of_an_item(between: str, goes_on: bool) -> None:
    text = f"Bread needs these steps.\n\n{STEPS}\n\n{between}\n\n- Eat it warm.\n\n{FAR} {LONG}"
    (run,) = runs(text, scores={"needs these": 0})
    assert run.text.endswith("Eat it warm.") == goes_on


@pytest.mark.parametrize("more", ["", f" {LONG} {LONG}"])
def test_a_list_that_is_too_long_says_that_it_goes_on(more: str) -> None:
    items = "\n".join(f"- tool {'x' * 150} number {at}.{more}" for at in range(15))
    (run,) = runs(f"Bread needs these tools.\n\n{items}", scores={"Bread": 0}, most=20)
    assert run.goes_on
    answer, sentences = write_answer([run])
    assert answer.endswith(".\n… [1]")
    assert answer[sentences[-1].start : sentences[-1].end].endswith("\n…")
    (whole,) = runs("It has these:\n\n- one tool.\n- two tools.", scores={"these": 0})
    assert not whole.goes_on


def test_items_of_french_laws_are_a_list() -> None:
    items = ["Le 1er janvier ;", "Le lundi de Pâques ;", "Le 1er mai."]
    text = "\n\n".join(["Sont fériés :", *(f"{n}° {each}" for n, each in enumerate(items, 1))])
    (run,) = runs(text, scores={"fériés": 0})
    assert run.text.endswith("2° Le lundi de Pâques ;\n\n3° Le 1er mai.")


def test_items_without_the_sentence_that_announces_them_have_it_as_their_heading() -> None:
    items = "\n".join(f"- {LONG[:-1]} of month {at}." for at in range(30))
    text = f"The town forbids rain:\n{items}\n- Tin may melt. In summer, only gold."
    (found,) = runs(text, scores={"Tin": 1.0}, most=3)
    assert found.heading == "The town forbids rain:\n…"
    assert found.text.endswith("of month 29.\n- Tin may melt.")
    assert write_answer([found])[0].startswith("The town forbids rain:\n…\n- Rain fell")
    (silent,) = runs(text.replace(":", "."), scores={"Tin": 1.0}, most=3)
    assert write_answer([silent])[0].startswith("…\n- Rain fell")
    (whole,) = runs("The town forbids:\n- Tin may melt.\n- Gold.", scores={"Tin": 1.0})
    (plain,) = runs(f"The town said: {LONG} Tin may melt.", scores={"Tin": 1.0}, most=1)
    assert (whole.heading, plain.heading) == ("", "")
    # The page that is asked for begins in the middle of a paragraph.
    begun = collect_sentences(QUERY, [passage("Tin may melt. Gold may, too.")])
    begun = replace(begun, sentences=tuple(replace(each, joined=True) for each in begun.sentences))
    made = SentenceRun(begun, passage("Tin may melt. Gold may, too."), set(), 3, first=0, last=1)
    assert made.announcement() == ""


def test_a_sentence_that_goes_on_after_code_brings_both() -> None:
    text = "Numbers come as text.\n\nIf f is one, use\n\nas.numeric(f)\n\nto get them back."
    (run,) = runs(text, scores={"to get": 0})
    assert run.text.startswith("If f is one, use")
    assert run.text.endswith("to get them back.")


def test_program_text_is_quoted_to_its_last_brace() -> None:
    code = "fn main() {\nlet tin = melt();\n\nlet lead = cool(tin);\n\nprint(lead);\n}"
    said = f"{LONG} {LONG} {LONG} {LONG} {LONG} We melt the ore of the valley like this:"
    (run,) = runs(f"{said}\n\n{code}\n\n{LONG}", scores={"valley": 2})
    assert code in run.text
    (open_one,) = runs(f"{said}\n\n{code[:-1]}\n\n{LONG}", scores={"valley": 2})
    assert "cool" not in open_one.text


@pytest.mark.parametrize("marks", ["(a) (b) (c)", "a. b. c.", "i. ii. iii.", "1) 2) 3)"])
def test_letters_and_roman_numerals_begin_items_of_lists(marks: str) -> None:
    one, two, three = marks.split()
    opening = "Melt the tin over the fire of your kitchen, slowly, in one of these things:"
    text = f"{opening}\n\n{one} a pan\n\n{two} a pot\n\n{three} a spoon of iron\n\n{LONG}"
    (quoted,) = said(runs(text, scores={"tin": 2.0}))
    assert quoted.endswith("a spoon of iron")


def test_a_letter_before_a_number_begins_no_item() -> None:
    text = f"c. 1850 the mill melted all the tin of the valley in one long night.\n\n{LONG}"
    assert said(runs(text, scores={"tin": 2.0}))[0].startswith("c. 1850 the mill")


def test_a_numbered_list_goes_on_behind_sentences_between_its_items() -> None:
    between = "Tin shines now. It is hot."
    steps = f"1. Cut the tin.\n\n2. Melt it well.\n\n{between}\n\n3. Pour it slowly."
    opening = "Take these steps, one after the other, where the roof is dry and all is cold:"
    text = f"{opening}\n\n{steps}\n\n{LONG}\n\n5. Sell it soon.\n\n{LONG}"
    (quoted,) = said(runs(text, scores={"steps": 2.0}))
    assert quoted.endswith("3. Pour it slowly.")
    other = text.replace("3. Pour", "9. Pour")
    assert said(runs(other, scores={"steps": 2.0}))[0].endswith("2. Melt it well.")


def test_a_run_never_leaves_its_passage() -> None:
    texts = ("Tin melts early on.", "It is soft and grey.")
    found = runs(*texts, scores={"melts": 0, "soft": -1})
    assert said(found) == list(texts)


def test_runs_never_overlap_and_are_no_more_than_allowed() -> None:
    told = (f"Number {each}, which is a word. {CLOSURE} {FAR} It is {each}." for each in "abcdefgh")
    text = f"\n\n{FAR} {LONG}\n\n".join(told)
    found = runs(text, scores={"Number": 0, "It is": -1})
    assert len(found) == MAX_RUNS
    assert all(one.end <= two.start for one, two in combinations(found, 2))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_all_runs_together_have_no_more_sentences_than_allowed(most: int) -> None:
    words = ("Iron may rust.", "Copper turns green.", "Gold stays bright.", "Tin is soft.")
    found = runs(*words, " ".join(words), scores=dict.fromkeys(("rust", "Gold", "soft"), 0.0),
                 most=most)  # fmt: skip
    assert 1 <= sum(len(run.parts) for run in found) <= most


def test_the_best_run_comes_first_and_those_of_its_document_next() -> None:
    between = "\n\n".join([FAR] * 4)
    one = f"Tin melts early in a fire.\n\n{between}\n\n{CLOSURE}\n\nLead is grey and soft."
    found = runs("Zinc is blue.", one, scores={"Lead": 0, "Zinc": -0.5, "Tin": -1})
    metals = ("Tin", "Lead", "Zinc")
    assert [[each for each in metals if each in run.text] for run in found] == [
        ["Lead"],
        ["Tin"],
        ["Zinc"],
    ]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Copper conducts heat very well.", "Copper conducts heat very well."),
        ("Old copper pipes conduct heat in winter.", "Old copper pipes conduct heat in houses."),
    ],
)
def test_what_is_said_twice_is_quoted_once(one: str, two: str) -> None:
    assert said(runs(one, two, scores={"opper": 0})) == [one]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The old tower is 300 metres tall.", "The old tower is 310 metres tall."),
        ("The old tower is tall in winter.", "The old tower is not tall in winter."),
    ],
)
def test_sentences_that_contradict_one_another_are_both_quoted(one: str, two: str) -> None:
    assert said(runs(one, two, scores={"tower": 0})) == [one, two]


def test_a_document_that_the_first_one_names_is_a_second_step() -> None:
    told, other = "The tower was built by Ada Lee.", "She was born in Oslo in a cold winter."
    titled = [passage(told, title="Tower"), passage(other, number=2, title="Ada Lee (builder)")]
    for last, found in ((titled[1], [told, other]), (passage(other, number=2), [told])):
        passages = [titled[0], last]
        assert said(chosen(passages, scores={told: 0, other: -4})) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            f"Iron\nIron rusts. It rusts early.\n\nTin\nTin melts early. {LONG}\n\n{FAR} {FAR}",
            f"Tin\nTin melts early. {LONG}\n\n{FAR}",
        ),
        (
            f"{FAR}\n\nIn rain, type\n\n$ melt\n\nand Tin melts early. {FAR} {FAR}",
            f"In rain, type\n\n$ melt\n\nand Tin melts early. {FAR} {FAR}",
        ),
    ],
)
def test_a_run_has_no_other_entry_and_the_code_before_it(text: str, found: str) -> None:
    only = passage(f"{text} {FAR} {FAR}")
    only = replace(only, chunks=(replace(only.chunks[0], section=("Metals",)),))
    (run,) = chosen([only], scores={"Tin melts": 0})
    assert (run.text, run.cut) == (found, False)


def test_what_little_stands_between_two_quotations_is_quoted_with_them() -> None:
    for between, count in (("First, call the harbour.", 1), (" ".join([FAR] * 6), 2)):
        text = f"{FAR} Tin can be sent in two ways.\n\n{between}\n\nThe other is to sail tin. {FAR}"
        found = said(runs(text, scores={"two ways": 0, "other": -1}))
        assert len(found) == count
        assert (between in found[0]) == (count == 1)


def test_no_heading_stands_between_quotations_that_are_joined() -> None:
    parts = [f"{FAR} Tin goes two ways.\n\n", "Lead\n\nIt is dear.\n\n", f"The other is tin. {FAR}"]
    found = passage("".join(parts))
    edges = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    chunks = tuple(
        replace(found.chunks[0], chunk_id=name, start=start, text=part, section=(name,))
        for name, start, part in zip("abc", edges, parts, strict=True)
    )
    found = replace(found, chunks=chunks)
    assert len(chosen([found], scores={"ways": 0, "other": 0})) == 2


@pytest.mark.parametrize(
    ("last", "found"),
    [
        ("Iron rusts.", ["tin", "lead", "zinc"]),
        ("Lead is heavy.\n\nZinc is blue. [1]", ["tin"]),
        ("Tin is soft. [1]", ["lead", "zinc", "tin"]),
        ("Tin is soft. Lead is heavy. Zinc is blue.", ["tin", "lead", "zinc"]),
        ("Satin is soft.", ["tin", "lead", "zinc"]),
    ],
)
def test_what_the_last_answer_said_comes_after_what_is_new(last: str, found: list[str]) -> None:
    texts = {"tin": "Tin is soft.", "lead": "Lead is heavy.", "zinc": "Zinc is blue."}
    statements = runs(*texts.values(), scores={"Tin": 0, "Lead": -0.5, "Zinc": -1})
    assert said(new_first(statements, last)) == [texts[name] for name in found]


def test_a_quotation_that_was_shown_in_two_parts_is_known_again() -> None:
    tin, lead = runs("Tin is soft. It melts.", "Lead is heavy.", scores={"Tin": 0, "Lead": -0.5})
    shown = write_answer([replace(tin, shown_from=tin.text.index("It"))])[0]
    assert shown == "It melts. [1]\n\nTin is soft. [1]"
    assert new_first([tin, lead], shown) == (lead, tin)


COMPARED = replace(
    QUERY, standalone="compare lead with tin", kind="comparison", aspects=("lead", "tin")
)


def test_a_comparison_has_a_heading_per_aspect() -> None:
    texts = ("Tin melts early.\n\nTin is soft.", "Lead melts late.")
    found = runs(*texts, scores={"melts early": 0, "soft": 0, "Lead": -2}, query=COMPARED, most=2)
    assert [(run.heading, run.text) for run in found] == [
        ("lead", "Lead melts late."),
        ("tin", "Tin melts early."),
    ]


def test_a_comparison_quotes_what_begins_with_its_aspects_rather_than_what_mentions_them() -> None:
    mention = f"Old pots were made of lead and of tin. {LONG}"
    told = f"Tin melts early in a fire. {LONG} {LONG}\n\nLead is soft and grey, as all know."
    scores = {"Old": 0, "Tin": -2, "Lead": -2.5}
    found = runs(mention, told, scores=scores, query=COMPARED)
    assert [(run.heading, run.text.split()[0]) for run in found[:2]] == [
        ("lead", "Lead"),
        ("tin", "Tin"),
    ]


def test_the_definition_of_the_second_aspect_is_quoted_though_the_question_fits_it_less() -> None:
    told = f"Tin melts early in a fire. {LONG} {LONG}"
    texts = (told, f"Lead is soft and grey, as all know. {LONG}")
    found = runs(*texts, scores={"Tin": 0, "Lead": -5.5}, query=COMPARED)
    assert [run.heading for run in found] == ["lead", "tin"]


def test_what_only_mentions_an_aspect_is_not_put_under_its_name() -> None:
    texts = ("Tin melts early.", "Most people who make pots think that lead melts late.")
    found = runs(*texts, scores={"Tin": 0, "lead": -1}, query=COMPARED)
    assert [(run.heading, run.text.split()[0]) for run in found] == [("", "Most"), ("", "Tin")]
    both = runs("Tin melts early.", "Tin, like lead, is soft.", scores={"early": 0}, query=COMPARED)
    assert {run.heading for run in both} == {""}


def test_what_compares_the_aspects_itself_is_quoted_as_a_whole() -> None:
    text = f"In a fire tin melts before lead. {LONG}\n\nOld pots were made of tin. They shone."
    found = runs(text, scores={"fire": 0, "pots": -1}, query=COMPARED)
    assert [run.heading for run in found] == [""]
    assert found[0].text.startswith("In a fire tin melts before lead.")


def test_beside_what_compares_the_aspects_each_is_quoted_where_it_begins() -> None:
    texts = (
        "Of all the metals in a fire tin melts before lead.",
        f"Lead is grey. {FAR}",
        f"Tin is white. {FAR}",
    )
    found = runs(*texts, scores={"fire": 0, "Lead is": -3, "Tin is": -4}, query=COMPARED)
    assert [(run.heading, run.text.split(".")[0]) for run in found] == [
        ("lead", "Lead is grey"),
        ("tin", "Tin is white"),
        ("", "Of all the metals in a fire tin melts before lead"),
    ]


def test_the_best_sentence_is_quoted_rather_than_aspects_that_are_far_below() -> None:
    texts = (f"Old pots shine in the sun. {FAR}", f"Lead is grey. {FAR}", f"Tin is white. {FAR}")
    far = runs(*texts, scores={"pots": 0, "Lead is": -3, "Tin is": -4}, query=COMPARED)
    assert [(run.heading, run.text.split()[0]) for run in far] == [("", "Old")]
    near = runs(*texts, scores={"pots": 0, "Lead is": -2, "Tin is": -2}, query=COMPARED)
    assert [run.heading for run in near] == ["lead", "tin", ""]


def test_what_follows_a_question_or_a_term_has_its_score() -> None:
    for head in ("Is tin soft?", ":tin: /tin/, n."):
        texts = (f"{head}\n\nIt can be cut with a knife.\n\n{FAR}", f"Pots are of tin. {FAR}")
        found = runs(*texts, scores={head: 0, "Pots": -1, "knife": -3})
        assert "It can be cut with a knife." in found[0].text


def test_a_term_below_another_leads_on_and_program_text_does_not() -> None:
    found = runs(
        f"Tin\n\nMelting\n\nIt becomes liquid early.\n\n{FAR}",
        f"Lead pots melt late. {FAR}",
        scores={"Tin": 0, "Melting": -3, "It becomes": -3, "Lead": -2},
    )
    assert "It becomes liquid early." in found[0].text
    code = f"```\ntin.melt(300)\n```\n\nThe following part is about licences.\n\n{FAR}"
    found = runs(code, f"Tin melts at 232 degrees. {FAR}", scores={"tin.melt": 0, "232": -1})
    assert found[0].text.startswith("Tin melts at 232 degrees.")


def test_the_index_of_a_book_begins_no_run() -> None:
    index = "Index\n\nsilver, 7 tar, 8, 12 tin, 21\ntin pots, 22-24\n\nUranus, 9\nurn, 41"
    found = runs(index, f"Pots are of tin. {LONG}", scores={"tin, 21": 0, "Pots": -3})
    assert said(found) == [f"Pots are of tin. {LONG}"]
    found = runs("On May 3, 1990, it rained on all of the tin roofs.", scores={"May": 0})
    assert len(found) == 1


def test_an_aspect_that_is_alone_is_no_heading_and_the_other_is_named() -> None:
    texts = ("Tin melts early.",)
    found = runs(*texts, scores={"Tin": 0}, query=COMPARED)
    assert [run.heading for run in found] == [""]
    candidates = collect_sentences(COMPARED, [passage(texts[0])])
    assert aspects_without(COMPARED, candidates) == ("lead",)
    signs = replace(COMPARED, aspects=("$@", "tin"))
    assert aspects_without(signs, candidates) == ()


def test_an_aspect_that_is_found_and_not_quoted_is_named() -> None:
    passages = [passage("Tin melts early.", number=1), passage("Lead melts late.", number=2)]
    candidates = collect_sentences(COMPARED, passages)
    for scores, beside in (([0.0, -20.0], ("lead",)), ([0.0, -1.0], ()), ([-20.0, 0.0], ("tin",))):
        found = choose_statements(
            COMPARED, candidates, scores=np.array(scores), passages=passages, max_sentences=6
        )
        assert unquoted_aspects(COMPARED, candidates, found) == beside
    neither = replace(COMPARED, aspects=("gold", "silver"))
    assert unquoted_aspects(neither, candidates, found) == ()


def test_an_aspect_of_which_a_word_of_its_own_is_quoted_is_not_said_to_be_unquoted() -> None:
    offers = replace(
        COMPARED, standalone="offer of Lead or offer of Tin", aspects=("offer of Lead", "Tin")
    )
    text = f"An offer was asked for. Lead takes four hours. {LONG} Tin takes a day."
    passages = [passage(text)]
    candidates = collect_sentences(offers, passages)
    *all_but_tin, tin = candidates.sentences
    for quoted, beside in ((all_but_tin, ("Tin",)), ([tin], ("offer of Lead",))):
        statements = [statement_of(quoted, passages[0])]
        assert unquoted_aspects(offers, candidates, statements) == beside
    everything = [statement_of(candidates.sentences, passages[0])]
    assert unquoted_aspects(offers, candidates, everything) == ()
    # "An offer" is no word of it alone, "Lead" is.
    lead = [statement_of([each], passages[0]) for each in (all_but_tin[1], tin)]
    assert unquoted_aspects(offers, candidates, lead) == ()


def test_words_of_earlier_questions_count_half_beside_those_of_a_follow_up() -> None:
    passages = [passage(f"Tin melts early. {LONG} Lead is heavy.")]
    for is_followup, difference in ((False, 0.0), (True, 1 / 3)):
        query = Query("And lead?", "And lead? (tin)", "en", is_followup=is_followup)
        candidates = collect_sentences(query, passages)
        scores = sentence_scores(query, candidates, passages=passages)
        assert scores[2] - scores[0] == pytest.approx(WITHOUT_TOKENS["words"] * difference)
        # What the collection holds of the question does not depend on it.
        assert candidates.coverage(candidates.stems[0]) == pytest.approx(0.5)


def test_an_aspect_in_other_words_is_not_said_to_be_missing() -> None:
    compared = replace(
        COMPARED,
        standalone="compare tin with lead made by hand",
        aspects=("tin", "lead made by hand"),
    )
    said = "Tin melts early. Lead that comes from hands does not."
    assert aspects_without(compared, collect_sentences(compared, [passage(said)])) == ()


# --- the text of an answer --------------------------------------------------------------------


def statement(text: str, *, start: int = 0, cut: bool = False, heading: str = "") -> Statement:
    return Statement("d", "c", start, start + len(text), text, 0, cut=cut, heading=heading)


def test_the_sentence_that_answers_best_is_marked_where_there_are_others() -> None:
    text = "Rain fell. Tin melts\nat 232 degrees. - *Gold* later."
    told = (text.index("Tin"), text.index(" -"))
    whole, alone = (
        replace(statement(text), marked=told, clear=True),
        replace(statement("Tin."), marked=(0, 4), clear=True),
    )
    answer, sentences = write_answer([whole, alone, statement("Lead. Zinc.", start=90)])
    best = [answer[each.start : each.end] for each in sentences if each.marked]
    assert best == ["Tin melts\nat 232 degrees."]
    again = "It melts. Tin is soft. It melts."
    made = replace(statement(f"and {again}", start=40, cut=True), marked=(67, 76), clear=True)
    answer, sentences = write_answer([made])
    assert [each.marked for each in sentences] == [False, False, True]
    assert answer.startswith("… and It melts.")


@pytest.mark.parametrize(("other", "clear"), [(0.9, True), (1.1, False)])
def test_only_a_clearly_better_sentence_is_emphasised(other: float, clear: bool) -> None:
    (found,) = runs(f"Tin melts early. Lead follows it. {LONG}", scores={"Tin": 2.0, "Lead": other})
    assert found.marked == (0, len("Tin melts early."))
    assert found.clear is clear
    assert [each.marked for each in write_answer([found])[1]][:2] == [clear, False]
    (alone,) = runs("Tin melts early.", scores={"Tin": 2.0})
    assert not alone.clear


EARLY = (
    "Alloys were known in the Bronze Age. Traders carried them over the mountains and sold them in "
    "the harbours of the north for a good price every year. Many a mine was closed at that time."
)
MIDDLE = "Copper is soft. Tin melts at 232 degrees. It hardly rusts, so cans were coated with it."


@pytest.mark.parametrize(
    ("kind", "early", "moved"),
    [("factual", 1.0, True), ("factual", 1.9, False), ("conceptual", 1.0, False)],
)
def test_the_quotation_of_a_fact_begins_with_what_answers(
    kind: QueryKind, early: float, moved: bool
) -> None:
    text = f"{EARLY}\n\n{MIDDLE}"
    others = dict.fromkeys(("Alloys", "Traders", "Copper", "hardly"), 0.9)
    scores = {"Tin": 2.0, "Many": early, **others}
    (found,) = runs(text, scores=scores, query=replace(QUERY, kind=kind))
    assert (found.start, found.end) == (0, len(text))
    answer, sentences = write_answer([found])
    parts = [MIDDLE, EARLY] if moved else [EARLY, MIDDLE]
    assert [part.removesuffix(" [1]") for part in answer.split("\n\n")] == (
        parts if moved else [f"{EARLY}\n{MIDDLE}"]
    )
    marked = [answer[slice(each.start, each.end)] for each in sentences if each.marked]
    assert marked == ["Tin melts at 232 degrees."][: found.clear]
    assert {each.citations for each in sentences} == {(1,)}


def test_what_is_shown_first_takes_its_list_marker_along() -> None:
    tin = (
        "- Tin, the soft white metal, melts at 232 degrees. It hardly rusts, so that it coats cans."
    )
    (found,) = runs(f"- {EARLY} It was shut.\n\n{tin}", scores={"Tin,": 2.0, "a": 0.9})
    first, before = write_answer([found])[0].split("\n\n")
    assert first == f"{tin} [1]"
    assert before == f"- {EARLY} It was shut. [1]"


def test_the_steps_of_a_list_are_shown_in_their_order() -> None:
    steps = [
        "Here is how a pipe is soldered, with the words that the trade has for each of its steps."
    ]
    steps += [f"{n}. {step}" for n, step in enumerate(("Clean the pipe with some wool.",) * 4, 1)]
    steps += [
        "5. Melt the tin on the joint with a flame.",
        "6. Let the whole joint cool for an hour.",
    ]
    (found,) = runs("\n\n".join(steps), scores={"tin": 2.0, "e": 0.9})
    assert found.text.startswith("Here")
    assert found.shown_from is None


def test_what_is_shown_first_has_the_name_of_its_speaker() -> None:
    text = "Rain fell. Tin melts. Lead follows."
    turns = ((0, "Ann"), (text.index("Lead"), "Bob"))
    made = replace(statement(text), turns=turns, shown_from=text.index("Tin"))
    assert (
        write_answer([made])[0] == "Ann: Tin melts.\nBob: Lead follows. [1]\n\nAnn: Rain fell. [1]"
    )


def test_every_run_is_a_paragraph_with_its_marker_at_the_end() -> None:
    text, sentences = write_answer(
        [statement("Trees grow. They sing."), statement("Birds sing.", start=50)]
    )
    assert text == "Trees grow. They sing. [1]\n\nBirds sing. [2]"
    assert [text[each.start : each.end] for each in sentences] == [
        "Trees grow.",
        "They sing.",
        "Birds sing.",
    ]
    assert [each.citations for each in sentences] == [(1,), (1,), (2,)]


def test_the_same_span_has_the_same_number() -> None:
    text, _ = write_answer([statement("Trees grow."), statement("Trees grow.")])
    assert text == "Trees grow. [1]\n\nTrees grow. [1]"


CODE = (
    "sift --fine --even --with a sieve, or by hand, as flour\n"
    "bake --until golden --and leave on a rack of wood for the whole of a long evening"
)
WRAPPED = "A paragraph of a printed book is broken into lines\nthat say nothing by themselves."


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (WRAPPED, WRAPPED.replace("\n", " ")),
        (f"Bread.\n\n{STEPS}", f"Bread.\n{STEPS}"),
        (f"{LONG}\n1. Mix.\n2. Bake.", f"{LONG}\n1. Mix.\n2. Bake."),
        ("def f():\n\tif x:\n\t\treturn  1", "def f():\n    if x:\n        return 1"),
        ("| tin | 232 |\n| lead | 327 |", "| tin | 232 |\n| lead | 327 |"),
        (CODE, CODE),
        ("Trees   grow.\n", "Trees grow."),
        ("It is shown by all of the others who looked at it [12,\n13] and so on.",
         "It is shown by all of the others who looked at it ‹12, 13› and so on."),
        ("They wrote [12,\n13].", "They wrote ‹12,\n13›."),
        ("let a = [1, 2];\nvec![3, 4]", "let a = [1, 2];\nvec![3, 4]"),
        ('{"a": [5, 6]}', '{"a": [5, 6]}'),
        ("Yahoo! [1] and C++ [7], R&D [5, 6].", "Yahoo! ‹1› and C++ ‹7›, R&D ‹5, 6›."),
        ("Of all[0] only [01] and [0, 1].", "Of all[0] only ‹01› and ‹0, 1›."),
    ],
)  # fmt: skip
def test_paragraphs_are_unwrapped_and_lists_and_code_keep_their_lines(
    stored: str, shown: str
) -> None:
    assert quotation_lines(stored) == shown


def test_an_item_keeps_its_number_where_another_follows() -> None:
    said = "The leader may:\n 1. Appoint delegates.\n 2. Lend authority.\n 3. Vote. Twice."
    first, last = said.index("Lend"), said.index("Vote.") + 5
    assert said[list_start(said, first, last) :].startswith("2. Lend")
    assert list_start(said, first, first + len("Lend authority.")) == first
    assert list_start(said, said.index("Twice"), len(said)) == said.index("Twice")


def test_a_run_of_the_text_takes_no_footnotes() -> None:
    notes = "¹ Others say that they had sung before.\n\n² This is a use of theirs until today."
    text = f"{LONG}\n\n{notes}\n\nWe melt the ore of the valley. {LONG} {LONG}"
    (run,) = runs(text, scores={"valley": 2})
    assert run.text.startswith("We melt")
    assert said(runs(text, scores={"until": 2}))[0].startswith(("² This", "This"))
    printed = f"{LONG}\n\n^[14] Others say so.\n\n^[15] A use of theirs until today.\n\n{LONG}"
    assert said(runs(printed, scores={"until": 2})) == ["^[15] A use of theirs until today."]


@pytest.mark.parametrize(
    ("names", "apart"),
    [
        (("Ben", "Ada"), True),
        (("Ada", "Ada"), False),
        # Who is not named may be the one before.
        (("Ben", None), False),
    ],
)
def test_what_answers_is_quoted_before_the_question_of_another_speaker(
    names: tuple[str, str | None], apart: bool
) -> None:
    asked, told = "So maybe tell us what tin is.", f"Yes. Tin is a metal. {LONG}"
    made = passage(f"{asked}\n\n{told}", cues=True)
    (chunk,) = made.chunks
    speakers = (names[0], names[0], names[1])
    places = tuple(
        replace(place, locator=Seconds(at, at + 1.0, name))
        for at, (place, name) in enumerate(zip(chunk.places, speakers, strict=True))
    )
    spoken = replace(chunk, kind="transcript", places=places)
    talk = replace(made, document=replace(made.document, kind="transcript"), chunks=(spoken,))
    quoted = [told, asked] if apart else [made.text]
    assert said(chosen([talk], scores={"maybe": -0.5, "metal": 0.0})) == quoted
    # What the other one answers comes along with the question.
    assert said(chosen([talk], scores={"maybe": 0.0})) == [made.text]


def test_the_words_of_a_speaker_who_is_asked_for_stand_alone() -> None:
    cues = {
        "Dr Martin": "We talk about maize.",
        "Dr Ada Berg": "It needs less.",
        "Dr Emre": "Nobody agrees with that.",
    }
    made = passage("\n".join(cues.values()), cues=True)
    (chunk,) = made.chunks
    places = [
        replace(place, locator=Seconds(at, at + 1.0, name))
        for at, (place, name) in enumerate(zip(chunk.places, cues, strict=True))
    ]
    chunk = replace(chunk, kind="transcript", places=tuple(places))
    document = replace(made.document, kind="transcript")
    passages = [replace(made, document=document, chunks=(chunk,))]
    for text, quoted in (
        (
            "What does Dr Berg say?",
            ["It needs less.", "We talk about maize.", "Nobody agrees with that."],
        ),
        ("What of maize?", ["\n".join(cues.values())]),
    ):
        query = Query(text, text, "en")
        candidates = collect_sentences(query, passages)
        assert "berg" in candidates.around[1]
        assert "berg" not in candidates.around[0]
        scores = np.array([-1.0, 0.0, -1.0])
        found = choose_statements(
            query, candidates, scores=scores, passages=passages, max_sentences=9
        )
        assert said(found) == quoted
    # Of several speakers each has a name before it, and the best sentence is marked behind it.
    text, sentences = write_answer([replace(found[0], clear=True)])
    lines = [f"{name}: {cue}" for name, cue in cues.items()]
    assert text == "\n".join(lines) + " [1]"
    assert [text[each.start : each.end] for each in sentences if each.marked] == [lines[1]]
    # A word that only begins like the name is no name.
    short = tuple(
        replace(each, locator=Seconds(at, at + 1.0, name))
        for at, (each, name) in enumerate(zip(places, ("Ann", "It", "Nob"), strict=True))
    )
    (turns, *_) = chosen(
        [replace(passages[0], chunks=(replace(chunk, places=short),))], scores={"maize": 0}
    )
    assert write_answer([turns])[0].splitlines()[1] == "It: It needs less."
    part = replace(chunk, places=(places[0], replace(places[1], locator=Seconds(1.0, 2.0))))
    (unnamed, *_) = chosen([replace(passages[0], chunks=(part,))], scores={"maize": 0})
    assert unnamed.turns == ()


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("Ann Lee: ", ""),
        ("ANN LEE (chair): ", ""),
        ("Ann Lee. — ", ""),
        ("Ann Lee – ", ""),
        ("- Ann Lee: ", ""),
        ("2. Ann Lee (chair) : ", ""),
        ("Ann Lee, ", "Ann Lee: "),
        ("Ann Lee-Moore, ", "Ann Lee: "),
    ],
)
def test_the_name_of_a_speaker_is_not_repeated(label: str, shown: str) -> None:
    text = f"{label}maize grows well."
    turns = ((0, "Ann Lee"), (len(text) + 1, "Bob"))
    both = f"{text}\nIt needs less."
    statement = Statement("d", "c", 0, len(both), both, 0, turns=turns)
    assert write_answer([statement])[0] == f"{shown}{text}\nBob: It needs less. [1]"


@pytest.mark.parametrize("sentence", ["Tin melts early.", "Tin melts early.[^1][2]"])
def test_a_short_sentence_does_not_end_in_the_header_of_a_table(sentence: str) -> None:
    text = f"{sentence}\n\nMetal | Degrees\n\nMetal: tin | Degrees: 232"
    assert said(runs(text, scores={"melts": 2})) == [sentence]

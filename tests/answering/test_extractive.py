"""Sentences of an extractive answer: what may be quoted, and how much each tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quoth.answering.extractive.candidates import (
    MAX_SENTENCE,
    is_sound,
    quotable_sentences,
)
from quoth.answering.extractive.score import sentence_scores
from quoth.answering.extractive.select import collect_sentences, sentence_spans
from quoth.core.types import Passage, Query, Seconds
from tests.support.passages import passage

TREES = (
    "Trees make their own food. A baobab stores water in its thick trunk. "
    "The oldest known pine is 4,850 years old. Many birds nest in hedges."
)


def passages_of(*texts: str) -> list[Passage]:
    return [passage(text, number=n, score=1 / n) for n, text in enumerate(texts, start=1)]


def best(
    question: str, *texts: str, late: list[float] | None = None, cosines: list[float] | None = None
) -> str:
    """The sentence that tells most."""
    query, passages = Query(question, question, "en"), passages_of(*texts)
    candidates = collect_sentences(query, passages)
    vectors = None if cosines is None else np.array(cosines)
    scores = sentence_scores(query, candidates, passages=passages, late=late, cosines=vectors)
    return candidates.sentences[int(scores.argmax())].text


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("Where does a baobab store its water?", TREES, "A baobab stores water in its"),
        ("What is a glacier of?", "What is a glacier of? A glacier is packed snow.", "A glacier"),
        ("What is snow?", "snow-hut\nA house of snow.\n\nsnow\nIce that falls.", "snow\nIce"),
        ("What is snow?", "Snow cover: good.\n\nSnow: frozen, as it falls.", "Snow: frozen"),
        (
            "What is a glacier?",
            "Glacier blue, glacier old. A glacier is a river.",
            "A glacier is a",
        ),
        (
            "Explain glaciers",
            "Glaciers blue, glaciers old. A glacier is a river.",
            "A glacier is a",
        ),
        (
            "What is a kedge used for?",
            "A kedge is a small anchor. Sailors used the kedge for warping.",
            "Sailors used",
        ),
        (
            "Name the types of kedge",
            "A kedge is a small anchor. The kedge has two types.",
            "The kedge has",
        ),
        ("What is Firn?", "Firn, Firn. Firn ist ein Schnee.", "Firn ist ein"),
        ("Where is Firn?", "Where? Firn, Firn lies high. Firn ist ein Schnee.", "Firn, Firn"),
        ("Who keeps a kakapo?", "The kakapo is green. Two rangers keep it.", "Two rangers keep it"),
    ],
)
def test_the_words_of_the_question_tell(question: str, text: str, wanted: str) -> None:
    assert best(question, text).startswith(wanted)


@pytest.mark.parametrize(
    ("question", "original", "wanted"),
    [
        ("What did Jonas Ewers say about tin?", "", "It rusts not."),
        ("What is tin? Jonas Ewers", "What did Jonas Ewers say about tin?", "It rusts not."),
        ("Que dit Amélie de Jonas Ewers ?", "", "Here is Jonas Ewers on tin."),
        ("Who is Jonas Ewers?", "", "Here is Jonas Ewers on tin."),
        ("Did Amélie agree with what Jonas said on tin?", "", "Here is Jonas Ewers on tin."),
    ],
)
def test_what_is_said_by_who_is_asked_for_goes_before_what_names_them(
    question: str, original: str, wanted: str
) -> None:
    cues = {"Amélie Roy": "Here is Jonas Ewers on tin.", "Jonas Ewers": "It rusts not."}
    made = passage("\n".join(cues.values()), cues=True)
    places = tuple(
        replace(place, locator=Seconds(at, at + 1.0, name))
        for at, (place, name) in enumerate(zip(made.chunks[0].places, cues, strict=True))
    )
    chunk = replace(made.chunks[0], kind="transcript", places=places)
    document = replace(made.document, kind="transcript")
    passages = [replace(made, document=document, chunks=(chunk,))]
    query = Query(original or question, question, "fr" if "Que" in question else "en")
    candidates = collect_sentences(query, passages)
    scores = sentence_scores(query, candidates, passages=passages)
    assert candidates.asked_speaker(1)
    assert candidates.sentences[int(scores.argmax())].text == wanted


def test_late_interaction_tells() -> None:
    text = "Snow is soft as ever. Tin is soft as ever."
    assert best("Which is soft?", text, late=[0.1, 0.9]) == "Tin is soft as ever."


def test_spans_are_where_the_sentences_stand_in_their_chunks() -> None:
    passages = [passage(TREES, start=70), passage("Rain falls. Snow lies.", number=2)]
    candidates = collect_sentences(Query("rain", "rain", "en"), passages)
    chunks, spans = sentence_spans(candidates, passages)
    assert [chunks[at].text[start:end] for at, start, end in spans] == [
        each.text for each in candidates.sentences
    ]


# --- what may be quoted -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("[Music]\n\nTrees grow tall.", "Trees grow tall."), ("- Trees grow.", "Trees grow.")],
)
def test_sounds_and_bullets_are_not_quoted(text: str, quoted: str) -> None:
    assert [each.text for each in quotable_sentences([passage(text)])] == [quoted]


def test_a_transcript_without_stops_is_cut_at_its_cues() -> None:
    lines = [f"and then we look at the number {word} of the list" for word in "abcdefghijklmnop"]
    text = "\n".join(lines)
    found = quotable_sentences([passage(text, cues=True)])
    assert max(len(each.text) for each in found) <= MAX_SENTENCE
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(each.text.endswith("of the list") for each in found)


def test_a_small_letter_below_a_heading_is_no_piece_of_a_sentence() -> None:
    for title, is_cut in (("To read discs", False), ("To write", True)):
        made = passage(
            "2. To read discs\n\nlibdvdcss is needed for most discs.", title=f"2. {title}"
        )
        assert quotable_sentences([made])[-1].cut is is_cut


def test_a_very_long_sentence_is_cut_behind_its_clauses() -> None:
    text = "The garden has " + "a row of old apple trees, " * 18 + "and a gate."
    found = quotable_sentences([passage(text)])
    assert len(found) > 1
    assert max(len(each.text) for each in found) <= MAX_SENTENCE
    assert all(text[each.start : each.end] == each.text for each in found)
    assert [each.text[-1] for each in found[:-1]] == [","] * (len(found) - 1)
    assert all(each.cut for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "Is this not a rather strange hive? The hive has very many bees in it.",
        "@misc{oak, year = {2022}, note = {[Online]}, url = {http://oak}}\n\nAn oak grows slowly.",
    ],
)
def test_what_reads_badly_is_less_fit(text: str) -> None:
    bad, good = quotable_sentences([passage(text)])
    assert bad.standalone_score < good.standalone_score


@pytest.mark.parametrize(
    ("header", "is_one"),
    [
        ("Student | Written | Oral | Mean", True),
        ("Name | First name | Mark | Mark", True),
        ("Fish | Water | Season | Price", False),
    ],
)
def test_the_header_of_a_table_is_no_answer(header: str, is_one: bool) -> None:
    rows = "Student Name: Ada | Student First name: A. | Written Mark: 9 | Oral Mark: 15"
    first, *_ = quotable_sentences(passages_of(f"{header}\n\n{rows}"))
    assert first.text == header
    assert first.listing is is_one


@pytest.mark.parametrize("mark", ["¹² ", "-- ", "• ", "3. ", "(b) "])
def test_the_mark_of_an_item_or_footnote_is_not_quoted(mark: str) -> None:
    (sentence,) = quotable_sentences([passage(f"{mark}Honey keeps for many years.")])
    assert sentence.text == "Honey keeps for many years."


@pytest.mark.parametrize(
    ("text", "is_title"),
    [
        ("RULES OF THE OLD MILL\n\nBoats wait here.", True),
        ("Rules of the old mill\n\nBoats wait here.", True),
        ("The old mill is closed.[1]\n\nBoats wait here.", False),
        ("- An old mill of wood\n\nBoats wait here.", False),
        ("Mill: closed for ever\n\nBoats wait here.", False),
        ("An old mill of wood\nBoats wait here.", False),
        ("An old mill of wood", False),
    ],
)
def test_a_line_that_a_text_begins_with_is_its_title(text: str, is_title: bool) -> None:
    first, *others = quotable_sentences([passage(text)])
    assert (first.title, is_sound(first)) == (is_title, not is_title)
    assert not any(each.title for each in others)
    assert not quotable_sentences([passage(text, start=9)])[0].title

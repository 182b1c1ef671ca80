"""The extractive answer: verbatim, short, readable, and about the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from quoth.answering.extractive.candidates import MAX_SENTENCE, cut_at_clauses, quotable_sentences
from quoth.answering.extractive.score import late_features
from quoth.answering.extractive.select import (
    Shortlist,
    Statement,
    aspects_without,
    choose_statements,
    read_closely,
    sentence_spans,
    shortlist,
    write_answer,
)
from quoth.answering.extractive.wording import question_word_offset
from quoth.core.types import (
    Chars,
    Chunk,
    Document,
    Passage,
    Query,
    SpanLocator,
)


def passage(
    text: str, *, number: int = 1, language: str = "en", score: float = 1.0, cues: bool = False
) -> Passage:
    document = Document(f"d{number}", f"Source {number}", "text", "ready")
    places = (SpanLocator(0, len(text), Chars(0, len(text))),)
    if cues:
        edges = [0, *(i + 1 for i, each in enumerate(text) if each == "\n"), len(text)]
        places = tuple(SpanLocator(a, b, Chars(a, b)) for a, b in pairwise(edges) if b > a)
    chunk = Chunk(
        chunk_id=f"c{number}",
        document_id=document.document_id,
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
        locator=Chars(0, len(text)),
        kind="text",
        places=places,
        language=language,
    )
    return Passage(number, document, (chunk,), (chunk.chunk_id,), score)


def ask(
    question: str, *texts: str, language: str = "en", source: str = "en", most: int = 4
) -> tuple[Statement, ...]:
    passages = [
        passage(text, number=n, language=source, score=1 / n)
        for n, text in enumerate(texts, start=1)
    ]
    query = Query(question, question, language)
    return choose_statements(shortlist(query, passages), max_sentences=most)


def said(statements: Sequence[Statement]) -> list[str]:
    return [statement.text for statement in statements]


TREES = (
    "Trees make their own food. A baobab stores water in its thick trunk. "
    "The oldest known pine is 4,850 years old. Many birds nest in hedges."
)


def test_the_sentence_that_holds_the_words_of_the_question_is_chosen() -> None:
    assert said(ask("Where does a baobab store its water?", TREES)) == [
        "A baobab stores water in its thick trunk."
    ]


def test_a_statement_is_the_stored_text_between_its_offsets() -> None:
    (statement,) = ask("How old is the oldest pine?", TREES)
    assert TREES[statement.start : statement.end] == statement.text


def test_a_definition_is_preferred_to_another_mention() -> None:
    text = "Many books mention a stream. We drew a stream twice. A stream is a delayed list."
    assert said(ask("What is a stream?", text))[0] == "A stream is a delayed list."


def test_a_french_definition_is_preferred_to_another_mention() -> None:
    text = (
        "Beaucoup parlent du décodeur. On voit ici le décodeur. "
        "Le décodeur est un réseau qui produit du texte."
    )
    found = ask("Qu'est-ce qu'un décodeur ?", text, language="fr", source="fr")
    assert said(found)[0] == "Le décodeur est un réseau qui produit du texte."


def test_a_question_in_the_source_is_not_an_answer() -> None:
    text = "What is a glacier made of? A glacier is made of packed snow."
    assert said(ask("What is a glacier made of?", text)) == ["A glacier is made of packed snow."]


@pytest.mark.parametrize(
    "text",
    [
        "That is nowhere near the weight of five cars, right?",
        "Le poids n'est pas celui de cinq voitures, n'est-ce pas ?",
    ],
)
def test_a_tag_makes_no_question_of_a_statement(text: str) -> None:
    assert not next(iter(quotable_sentences([passage(text)]))).question


def test_a_greeting_gives_way_to_a_statement() -> None:
    text = (
        "Welcome to this talk about solar sails. "
        "Solar sails are pushed by light from the sun and need no fuel."
    )
    assert said(ask("How do solar sails work?", text))[0].startswith("Solar sails are pushed")


def test_a_leaning_sentence_brings_the_one_before_it() -> None:
    text = "The kakapo lives in New Zealand. It is a parrot that cannot fly. Rain is common."
    assert said(ask("Which parrot cannot fly?", text)) == [
        "The kakapo lives in New Zealand.",
        "It is a parrot that cannot fly.",
    ]


def test_a_leaning_sentence_does_not_reach_over_a_paragraph() -> None:
    text = "The kakapo lives in New Zealand.\n\nIt is a parrot that cannot fly."
    assert said(ask("Which parrot cannot fly?", text)) == ["It is a parrot that cannot fly."]


def test_the_same_sentence_in_two_sources_is_said_once() -> None:
    one = "Copper conducts heat very well."
    assert len(ask("Does copper conduct heat well?", one, one)) == 1


def test_a_sentence_said_in_almost_the_same_words_is_said_once() -> None:
    one = "Old copper pipes conduct heat quickly in winter."
    two = "Old copper pipes conduct heat quickly in houses."
    assert len(ask("Do old copper pipes conduct heat?", one, two)) == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The old tower is 300 metres tall.", "The old tower is 310 metres tall."),
        ("The old tower is tall in winter.", "The old tower is not tall in winter."),
    ],
)
def test_sentences_that_contradict_one_another_are_both_quoted(one: str, two: str) -> None:
    assert said(ask("How tall is the old tower?", f"{one} {two}")) == [one, two]


def test_no_more_sentences_than_allowed() -> None:
    text = " ".join(f"Iron {word} rust." for word in ("can", "may", "will", "does", "did"))
    assert len(ask("Does iron rust?", text, most=2)) <= 2


def test_sentences_of_one_source_stand_in_its_order() -> None:
    text = "Tin melts at 232 degrees. Lead is soft and grey. Tin and lead melt together as solder."
    found = ask("When do tin and lead melt?", text)
    assert [each.start for each in found] == sorted(each.start for each in found)


def test_sounds_are_never_quoted() -> None:
    texts = [each.text for each in quotable_sentences([passage("[Music]\n\nTrees grow tall.")])]
    assert texts == ["Trees grow tall."]


def test_a_bullet_is_not_part_of_the_quote() -> None:
    (found,) = quotable_sentences([passage("- Trees grow tall here.")])
    assert found.text == "Trees grow tall here."


def test_a_transcript_without_stops_is_cut_at_its_cues() -> None:
    lines = [f"and then we look at the number {word} of the list" for word in "abcdefghijklmnop"]
    text = "\n".join(lines)
    found = quotable_sentences([passage(text, cues=True)])
    assert max(len(each.text) for each in found) <= MAX_SENTENCE
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(each.text.endswith("of the list") for each in found)


def test_vectors_alone_answer_a_question_in_another_language() -> None:
    query = Query("¿De qué está hecho un glaciar?", "¿De qué está hecho un glaciar?", "es")
    passages = [passage("Hedges are full of birds. It rains often here. Packed snow makes ice.")]
    chosen_from = shortlist(query, passages)
    cosines = np.array([0.9 if "snow" in text else 0.7 for text in chosen_from.texts])
    (found,) = choose_statements(chosen_from, max_sentences=1, cosines=cosines)
    assert found.text == "Packed snow makes ice."
    assert found.cosine == pytest.approx(0.9)


@pytest.mark.parametrize("written", ["finetuning", "fine-tuning", "fine tuning"])
def test_a_joined_word_is_found_however_it_is_written(written: str) -> None:
    text = f"Rain is common. The {written} of a model takes minutes."
    (found,) = ask("What is fine-tuning?", text, most=1)
    assert found.coverage == pytest.approx(1.0)


def test_nothing_to_choose_from_gives_nothing() -> None:
    assert ask("Anything?") == ()
    assert ask("Anything?", " \n ") == ()


def test_a_question_without_words_still_gets_sentences() -> None:
    assert ask("???", TREES)


def statement(text: str, *, start: int = 0, cut: bool = False) -> Statement:
    return Statement("d", "c", start, start + len(text), text, 0, 1.0, 1.0, None, cut)


def test_every_sentence_is_followed_by_its_number() -> None:
    text, sentences = write_answer([statement("Trees\ngrow."), statement("Birds sing.", start=50)])
    assert text == "Trees grow. [1] Birds sing. [2]"
    assert [text[each.start : each.end] for each in sentences] == ["Trees grow.", "Birds sing."]
    assert [each.citations for each in sentences] == [(1,), (2,)]


def test_the_same_span_has_the_same_number() -> None:
    text, _ = write_answer([statement("Trees grow."), statement("Trees grow.")])
    assert text == "Trees grow. [1] Trees grow. [1]"


def test_a_piece_of_a_sentence_is_shown_as_one() -> None:
    text, _ = write_answer([statement("and the roots go deep,", cut=True)])
    assert text == "… and the roots go deep, … [1]"


def test_a_very_long_sentence_is_cut_behind_its_clauses() -> None:
    text = "The garden has " + "a row of old apple trees, " * 18 + "and a gate."
    found = quotable_sentences([passage(text)])
    assert len(found) > 1
    assert max(len(each.text) for each in found) <= MAX_SENTENCE
    assert all(text[each.start : each.end] == each.text for each in found)
    assert [each.text[-1] for each in found[:-1]] == [","] * (len(found) - 1)
    assert all(each.cut for each in found)


def test_a_long_run_without_spaces_is_cut_all_the_same() -> None:
    spans = list(cut_at_clauses("x" * 1000, 0, 1000))
    assert "".join("x" * (end - start) for start, end in spans) == "x" * 1000
    assert max(end - start for start, end in spans) <= MAX_SENTENCE


def test_code_and_rows_of_tables_give_way_to_a_statement() -> None:
    text = (
        "@misc{oak, title = {Oak}, year = {2022}, note = {[Online]}, url = {http://oak}}\n\n"
        "Oak Ada Grace Alan Edsger Donald Barbara Leslie Niklaus John.\n\nAn oak grows slowly."
    )
    assert said(ask("How does an oak grow?", text, most=1)) == ["An oak grows slowly."]


def listed_for(question: str, *texts: str, aspects: tuple[str, ...] = ()) -> Shortlist:
    passages = [passage(text, number=n) for n, text in enumerate(texts, start=1)]
    return shortlist(Query(question, question, "en", aspects=aspects), passages)


def test_late_interaction_chooses_the_shortlist_anew() -> None:
    listed = listed_for("Where is water kept?", TREES)
    late = [0.9 if "pine" in each.text else 0.1 for each in listed.material.sentences]
    close = read_closely(listed, (late, late), limit=1)
    assert close.texts == ("Source 1. The oldest known pine is 4,850 years old.",)


def test_without_late_interaction_the_shortlist_stays() -> None:
    listed = listed_for("Where is water kept?", TREES)
    assert read_closely(listed, None) is listed


def test_spans_are_where_the_sentences_stand_in_their_chunks() -> None:
    passages = [passage(TREES), passage("Rain falls. Snow lies.", number=2)]
    listed = shortlist(Query("rain", "rain", "en"), passages)
    chunks, spans = sentence_spans(listed, passages)
    assert [chunks[at].text[start:end] for at, start, end in spans] == [
        each.text for each in listed.material.sentences
    ]


def test_a_noun_behind_its_article_brings_nothing_along() -> None:
    text = "The kakapo lives in New Zealand. This parrot cannot fly. Rain is common."
    assert said(ask("Which parrot cannot fly?", text)) == ["This parrot cannot fly."]


def test_a_comparison_is_arranged_by_what_is_compared() -> None:
    texts = ("Tin melts at 232 degrees.", "Lead melts at 327 degrees.")
    listed = listed_for("What is the difference between tin and lead?", *texts)
    listed = replace(listed, query=replace(listed.query, aspects=("lead", "tin")))
    found = choose_statements(listed, max_sentences=4)
    assert [(each.heading, each.text) for each in found] == [
        ("lead", texts[1]),
        ("tin", texts[0]),
    ]


def test_each_thing_compared_gets_its_sentence_before_others_get_two() -> None:
    texts = ("Tin melts early. Tin melts early in fire.", "Lead melts late.")
    listed = listed_for("How do tin and lead melt early?", *texts, aspects=("tin", "lead"))
    found = choose_statements(listed, max_sentences=2)
    assert {each.heading for each in found} == {"tin", "lead"}


def test_what_no_sentence_speaks_of_is_named() -> None:
    listed = listed_for("tin or zinc?", "Tin melts at 232 degrees.", aspects=("tin", "zinc"))
    found = choose_statements(listed, max_sentences=4)
    assert aspects_without(listed, found) == ("zinc",)


def test_headings_stand_outside_of_the_sentences() -> None:
    first, second = statement("Tin melts."), statement("Lead melts.", start=50)
    text, sentences = write_answer([replace(first, heading="tin"), replace(second, heading="lead")])
    assert text == "tin:\nTin melts. [1]\n\nlead:\nLead melts. [2]"
    assert [text[each.start : each.end] for each in sentences] == ["Tin melts.", "Lead melts."]


def test_a_name_is_only_given_where_there_are_two() -> None:
    listed = listed_for("tin or zinc?", "Tin melts at 232 degrees.", aspects=("tin", "zinc"))
    assert [each.heading for each in choose_statements(listed, max_sentences=4)] == [""]


def test_who_asks_for_all_there_is_gets_more() -> None:
    listed = listed_for(
        "about tin", "Tin is a very soft metal. Tin melts early in any fire. Tin was mined here."
    )
    late = [0.5, 0.3, 0.44], [0.0, 0.0, 0.0]
    few = choose_statements(read_closely(listed, late), max_sentences=4)
    broad = replace(listed, query=replace(listed.query, kind="exploratory"))
    many = choose_statements(read_closely(broad, late), max_sentences=4)
    assert len(many) > len(few)


def test_a_sentence_gains_by_what_is_near_beside_it_in_its_passage() -> None:
    listed = listed_for("tin", "Tin melts early. It is soft. Cans were made of it.", "Rain falls.")
    found = late_features(listed.material, whole=[0.9, 0.1, 0.1, 0.1], asked=[0.0] * 4)
    assert found["beside"][1] > found["beside"][0]
    assert found["beside"][3] == 0


def test_what_is_asked_for_tells_sentences_apart() -> None:
    listed = listed_for("Which metal is soft?", "Snow is soft as ever. Tin is soft as ever.")
    close = read_closely(listed, ([0.5, 0.5], [0.1, 0.9]), limit=1)
    assert close.texts == ("Source 1. Tin is soft as ever.",)


@pytest.mark.parametrize(
    "text",
    [
        "This list is not complete and names the best known bees. The hive has many bees in it.",
        "Cette liste n'est pas finie et nomme tout. La ruche du village a beaucoup d'abeilles.",
    ],
)
def test_a_list_that_speaks_of_itself_is_less_fit(text: str) -> None:
    itself, other = quotable_sentences([passage(text, number=1)])
    assert itself.standalone_score < other.standalone_score == 1


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("Which mill is empty?", "Which"),
        ("In the mill, who grinds?", "who"),
        ("Dans le moulin, où dort le hibou ?", "où"),
        ("the history of the mill", "the"),
    ],
)
def test_a_question_asks_from_its_asking_word_on(question: str, asking: str) -> None:
    assert question[question_word_offset(question) :].startswith(asking)

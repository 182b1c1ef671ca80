"""Follow-up detection, and what follow-ups become to be searched."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from quoth.answering.answerability import notice
from quoth.core.types import Turn
from quoth.query.intent import CHECKSUM, DIMENSION, MAX_ANSWER, is_followup
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

EVAL = Path(__file__).parents[2] / "eval"
BEFORE = (Turn("How does the Varroa mite harm bees?", "It weakens larvae and carries viruses."),)
AVANT = (Turn("Comment le varroa nuit-il aux abeilles ?", "Il affaiblit les larves."),)


def test_the_weights_are_those_of_the_training_script() -> None:
    stored = (files("quoth.query") / "data" / "heads.npz").read_bytes()
    assert hashlib.sha256(stored).hexdigest() == CHECKSUM
    assert len(stored) < 300_000


def test_phrases_are_told_apart_without_a_model() -> None:
    lines = (EVAL / "conversation/phrases.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    wrong = [row for row in rows if is_followup(row["text"], history=BEFORE) != row["is_followup"]]
    assert len(wrong) <= 0.03 * len(rows), wrong


@pytest.mark.parametrize(
    ("before", "follow_ups", "questions"),
    [
        (
            ("Wie schadet die Milbe den Bienen?", "Sie schwächt die Larven."),
            ["Und im Winter?", "Weshalb?", "Wie lange denn?", "Gilt das auch für Wespen?",
             "Welche denn?", "Und was ist mit Hummeln?", "Wozu?", "Nur im Sommer?",
             "In welchem Jahr war das?", "Ein anderes Beispiel?"],
            ["Wie bauen Wespen ihr Nest?", "Wer erfand den Buchdruck mit beweglichen Lettern?",
             "Welche Farbe hat die Flagge von Chile?", "Wann beginnt der Vortrag über Pilze?",
             "Wie viele Gemeinden gehören zum Landkreis Rostock?"],
        ),
        (
            ("¿Cómo daña el ácaro a las abejas?", "Debilita las larvas."),
            ["¿Y en invierno?", "¿Desde cuándo?", "¿Cuántas veces?", "¿Y las avispas?",
             "¿Para qué?", "¿Y eso por qué?", "Dame otro ejemplo", "¿Solo en verano?",
             "¿En qué año?", "Lo mismo para las avispas"],
            ["¿Cómo construyen su nido las avispas?", "¿Quién inventó la imprenta de tipos?",
             "¿De qué color es la bandera de Chile?", "¿Cuándo empieza la charla sobre las setas?",
             "¿Cuántos municipios tiene la provincia de Burgos?"],
        ),
    ],
    ids=["de", "es"],
)  # fmt: skip
def test_follow_ups_are_told_apart_in_a_language_without_rows_to_train_on(
    before: tuple[str, str], follow_ups: list[str], questions: list[str]
) -> None:
    history = (Turn(*before),)
    assert [each for each in follow_ups if not is_followup(each, history=history)] == []
    assert [each for each in questions if is_followup(each, history=history)] == []


@pytest.mark.parametrize(
    ("asked", "text", "standalone"),
    [
        (["What is an encoder?"], "And a decoder?", "What is a decoder?"),
        (["Qu'est-ce que le miel ?"], "Et la cire ?", "Qu'est-ce que la cire ?"),
        (["Qu'est-ce qu'un frelon ?", "Que fait-il ?"], "Et une guêpe ?", "Que fait-il ? (guêpe)"),
        (["How does a bee sting?"], "And a wasp?", "And a wasp? (bee sting)"),
        (["What is copper?"], "How long?", "How long? (copper)"),
        (["Was ist Kupfer?"], "Und Zink?", "Was ist Zink?"),
        (["Was ist Kupfer?"], "Was ist mit Zink?", "Was ist Zink?"),
        (["Was ist Kupfer?"], "Warum?", "Warum? (Kupfer)"),
        (["Was ist Kupfer?"], "Und wann?", "Und wann? (Kupfer)"),
        (["¿Qué es el cobre?"], "¿Qué hay del zinc?", "¿Qué es el zinc?"),
        (["¿Qué es el cobre?"], "¿Y en invierno?", "¿Y en invierno? (cobre)"),
        (["¿Qué es el cobre?"], "¿Y en España?", "¿Y en España? (cobre)"),
    ],
)
def test_the_last_question_is_asked_about_another_subject(
    asked: list[str], text: str, standalone: str
) -> None:
    history = [Turn(question, "") for question in asked]
    assert understand(text, names=NAMES, history=history).standalone == standalone


@pytest.mark.parametrize(
    "text",
    [
        "And what about winter?", "Does that apply to wasps?", "Why?", "Where does it live?",
        "Give me another example", "Et pour les guêpes ?", "Pourquoi ?", "Où vit-il ?",
        "Lequel des deux ?", "Tu peux développer ?",
    ],
)  # fmt: skip
def test_a_follow_up_is_searched_with_words_of_the_conversation(text: str) -> None:
    history = AVANT if understand(text, names=NAMES).language == "fr" else BEFORE
    query = understand(text, names=NAMES, history=history)
    assert query.is_followup
    assert "varroa" in query.standalone.casefold()
    assert not understand(text, names=NAMES).is_followup


@pytest.mark.parametrize(
    "text",
    [
        "What are the rules of chess?", "Is there a bridge over the Seine?",
        "What is on page 12?", "Who designed the Eiffel Tower and when was it built?",
        "Quel est le prix du miel ?", "Comment une plante fabrique-t-elle sa nourriture ?",
        "Despite its size, why is Jupiter light?", "Faut-il couper les rosiers ?",
    ],
)  # fmt: skip
def test_a_new_question_stays_as_it_is(text: str) -> None:
    query = understand(text, names=NAMES, history=BEFORE)
    assert not query.is_followup
    assert query.standalone == text


def test_a_vector_of_another_embedder_is_not_used() -> None:
    other = np.ones(DIMENSION + 1, np.float32)
    assert is_followup("Why?", vector=other, history=BEFORE)


def test_the_language_is_that_of_the_last_question() -> None:
    assert understand("OK ?", names=NAMES, history=AVANT).language == "fr"
    assert understand("OK ?", names=NAMES).language == "en"


def test_an_elliptical_question_keeps_the_document() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"),)
    query = understand("And on page 12?", names=NAMES, history=history)
    assert {each.field: each.values for each in query.filters} == {
        "label": ("12",), "document": ("almanac",)
    }  # fmt: skip
    assert query.kind == "page_specific"
    assert "The Patient Gardener" in query.notes[0]


def test_it_keeps_it_over_two_turns() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"), Turn("And on page 12?"))
    query = understand("and on page 14?", names=NAMES, history=history)
    assert ("document", ("almanac",)) in [(each.field, each.values) for each in query.filters]


def test_another_speaker_takes_the_place_of_the_first() -> None:
    history = (Turn("What does Ruth Abara say about rain?"),)
    query = understand("And Ada Lindqvist?", names=NAMES, history=history)
    assert "rain" in query.standalone
    assert "Ruth" not in query.standalone


def test_a_whole_question_keeps_no_filter() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"),)
    assert understand("Why do bees swarm?", names=NAMES, history=history).filters == ()


def test_a_removed_filter_is_not_kept_either() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"),)
    query = understand("And on page 12?", names=NAMES, history=history, drop={"document"})
    assert [each.field for each in query.filters] == ["label"]


def test_only_the_last_three_turns_count() -> None:
    history = (Turn("What is propolis?"), *(Turn("Who found it?") for _ in range(3)))
    assert "propolis" not in understand("And why?", names=NAMES, history=history).standalone
    # Turns that only ask for the source of an answer are none of them.
    history = (history[0], *(Turn("Who says so?") for _ in range(3)))
    assert "propolis" in understand("And why?", names=NAMES, history=history).standalone


def test_an_answer_counts_only_by_its_beginning() -> None:
    history = (Turn("Who was it?", "x " * (MAX_ANSWER // 2) + "Propolis"),)
    assert "Propolis" not in understand("And why?", names=NAMES, history=history).standalone


def test_what_does_not_lean_has_a_wording_after_the_last_turns_beside_it() -> None:
    history = (Turn("What is wax?"), Turn("What is propolis made of?", "Of resin."))
    query = understand("What goes wrong with old bees?", names=NAMES, history=history)
    assert not query.is_followup
    assert query.standalone == "What goes wrong with old bees?"
    said = "What is wax? What is propolis made of? Of resin."
    assert query.in_context == f"{said} What goes wrong with old bees?"


def test_a_notice_is_no_answer_to_search_with() -> None:
    history = (Turn("What is propolis made of?", notice("no_results", language="en")),)
    query = understand("What goes wrong with old bees?", names=NAMES, history=history)
    assert query.in_context == "What is propolis made of? What goes wrong with old bees?"

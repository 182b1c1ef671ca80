"""What a question asks for, and whether a sentence has it."""

from __future__ import annotations

import pytest

from quoth.answering.extractive.answer_type import (
    Sought,
    asking_place,
    expected_answer_type,
    matches_answer_type,
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("when was the mill built", "time"),
        ("En quelle année le moulin a-t-il été construit ?", "time"),
        ("how many owls live in a mill", "number"),
        ("Combien de hiboux y a-t-il ?", "number"),
        ("who wrote the declaration of rights", "name"),
        ("Qui a écrit la déclaration ?", "name"),
        ("Where is the mill?", "name"),
        ("Où est le moulin ?", "name"),
        ("why is the mill empty", "reason"),
        ("what is a mill", None),
        ("le hibou qui chasse la nuit", None),
    ],
)
def test_the_words_of_a_question_tell_what_it_asks_for(question: str, kind: Sought | None) -> None:
    assert expected_answer_type(question) == kind


@pytest.mark.parametrize(
    ("text", "kind", "question"),
    [
        ("It was built in 1790.", "time", "when was it built"),
        ("The mill has three floors.", "number", "how many floors has the mill"),
        ("It was drawn by Ada Byron.", "name", "who drew it"),
        ("It is empty because of the owls.", "reason", "why is it empty"),
    ],
)
def test_a_sentence_that_has_it_shows_it(text: str, kind: Sought, question: str) -> None:
    assert matches_answer_type(text, kind, question=question)


@pytest.mark.parametrize(
    ("text", "kind", "question"),
    [
        ("It is old.", "time", "when was it built"),
        ("The war of 1812 was long.", "time", "when did the war of 1812 end"),
        ("There, Ada Byron met nobody.", "name", "who did ada byron meet"),
        ("Owls are common.", "number", "how many owls are there"),
    ],
)
def test_what_the_question_names_itself_is_no_answer(
    text: str, kind: Sought, question: str
) -> None:
    assert not matches_answer_type(text, kind, question=question)


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
    assert question[asking_place(question) :].startswith(asking)

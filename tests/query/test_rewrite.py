"""What a question that leans takes along of the turns before."""

from __future__ import annotations

import pytest

from quoth.answering.answerability import notice
from quoth.core.types import Turn
from quoth.query.rewrite import rewrite_standalone
from quoth.query.tokens import tokenize_query

MODELS = Turn("What are BERT and GPT-2 trained on?", "Books of Wikipedia.")
CONTRACTS = Turn("What contracts are there?", "Fixed-price, time-based and turnkey contracts.")


def made(question: str, *turns: Turn, language: str = "en") -> str:
    return rewrite_standalone(tokenize_query(question), turns, language=language)


@pytest.mark.parametrize(
    ("question", "turn", "taken"),
    [
        ("How large is the first one?", MODELS, "(BERT)"),
        ("How large is the second one?", MODELS, "(GPT-2 trained)"),
        ("What does the second one cost?", CONTRACTS, "(time-based)"),
        ("Explain the last one.", CONTRACTS, "(turnkey contracts)"),
    ],
)
def test_of_things_named_together_the_one_that_is_meant_is_taken(
    question: str, turn: Turn, taken: str
) -> None:
    assert made(question, turn) == f"{question} {taken}"


GERMAN = Turn("Was sind BERT und GPT-2?", "Sprachmodelle.")
SPANISH = Turn("¿Qué diferencia hay?", "Contratos fijos, temporales y mixtos.")


@pytest.mark.parametrize(
    ("language", "question", "turn", "taken"),
    [
        ("de", "Wie alt ist das erste?", GERMAN, "(BERT)"),
        ("de", "Wie alt ist das zweite?", GERMAN, "(GPT-2)"),
        ("es", "¿Cuánto cuesta el segundo?", SPANISH, "(temporales)"),
        ("es", "¿Y el último?", SPANISH, "(mixtos)"),
    ],
)
def test_the_one_that_is_meant_is_taken_in_german_and_in_spanish(
    language: str, question: str, turn: Turn, taken: str
) -> None:
    assert made(question, turn, language=language) == f"{question} {taken}"


@pytest.mark.parametrize(
    ("language", "question", "turn"),
    [
        ("de", "Was bedeutet das?", Turn("Wie atmen Fische?", "Mit Kiemen.")),
        ("es", "¿Qué significa eso?", Turn("¿Cómo respiran los peces?", "Con branquias.")),
    ],
)
def test_what_was_said_is_taken_in_german_and_in_spanish(
    language: str, question: str, turn: Turn
) -> None:
    assert turn.answer.split()[-1].strip(".") in made(question, turn, language=language)


@pytest.mark.parametrize(
    "question",
    [
        "How long did they last?",
        "When were they first seen?",
        "Did they grow in the last few years?",
    ],
)
def test_what_is_no_place_among_things_named_together_takes_all(question: str) -> None:
    turn = Turn("What are lithium and alkaline batteries?")
    assert made(question, turn) == f"{question} (lithium alkaline batteries)"


def test_an_identifier_is_taken_as_it_is_written() -> None:
    first, second = Turn("What is cmd_cp for?"), Turn("And cmd_du?")
    assert made("And cmd_du?", first) == "And cmd_du? (cmd_cp)"
    assert made("How do I disable it?", first, second) == "How do I disable it? (cmd_du cmd_cp)"


LIFE = Turn("How long did people live in Japan in 1952?")
HEADS = Turn("Combien d'habitants y avait-il à Paris en 1950 ?")


@pytest.mark.parametrize(
    ("turns", "question", "taken"),
    [
        ([LIFE], "And in 2007?", " (long people live Japan)"),
        ([LIFE, Turn("And in 2007?")], "And France?", " (2007 long people live)"),
        ([LIFE], "What about New Zealand in 2007?", " (long people live)"),
        ([HEADS], "Et à Lyon ?", " (habitants 1950)"),
        ([Turn("Quel est l'indicatif de l'Islande ?")], "Et la Norvège ?", " (indicatif)"),
        ([Turn("Where did Ada Byron work in Paris?")], "And in Turin?", " (Ada Byron)"),
        # What the question is about is kept; it asks something of its own; there are two of them.
        ([Turn("How do I install Docker?")], "And on Windows?", " (install Docker)"),
        (
            [Turn("How many people did Bonaparte lead?")],
            "And in Russia?",
            " (people Bonaparte lead)",
        ),
        ([Turn("What are the 10 rules?")], "And in 2007?", " (10 rules)"),
        ([LIFE], "Why not in France?", " (long people live Japan 1952)"),
        (
            [Turn("Who sailed to Madeira in May 2005?")],
            "And in 2007?",
            " (sailed Madeira May 2005)",
        ),
        ([LIFE], "And women?", " (long people live Japan 1952)"),
        ([Turn("How heavy is a puffin?")], "And Arctic terns?", " (heavy puffin)"),
    ],
)
def test_a_mere_name_or_number_replaces_that_of_the_question_before(
    turns: list[Turn], question: str, taken: str
) -> None:
    assert made(question, *turns) == question + taken


def test_what_was_said_is_taken_whole_where_it_is_meant() -> None:
    turn = Turn("Is GPT-2 a decoder?", "Yes, an autoregressive model.")
    assert made("What does that mean?", turn) == (
        "What does that mean? (GPT-2 decoder autoregressive model)"
    )


def test_endings_of_short_forms_are_no_words() -> None:
    turn = Turn("What is a stream?", "What we'll map and they've seen, we're told.")
    assert made("What does that cost?", turn) == "What does that cost? (stream map seen)"


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("kind", ["no_results", "nothing", "empty"])
def test_an_answer_that_there_is_none_gives_no_words(kind: str, language: str) -> None:
    turn = Turn("Can a chatbot be wrong?", notice(kind, language=language))  # type: ignore[arg-type]
    assert made("Why is that?", turn) == "Why is that? (chatbot wrong)"

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import Query
from quoth.query.decompose import MAX_PARTS, aspect_questions, sub_questions


def asked(text: str, language: str = "en", aspects: tuple[str, ...] = ()) -> Query:
    return Query(text, text, language, aspects=aspects)


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("What is LoRA and how does it work?", "en", ["What is LoRA?", "how does it work LoRA?"]),
        (
            "Who is Ada, and what is a compiler? Why was COBOL made?",
            "en",
            ["Who is Ada?", "what is a compiler?", "Why was COBOL made?"],
        ),
        (
            "Qu'est-ce que le RGPD et comment le respecter ?",
            "fr",
            ["Qu'est-ce que le RGPD?", "comment le respecter RGPD?"],
        ),
        (
            "When was Ada born and where did she die?",
            "en",
            ["When was Ada born?", "where did she die Ada born?"],
        ),
    ],
)
def test_a_question_of_several_clauses_is_taken_apart(
    text: str, language: str, parts: list[str]
) -> None:
    assert list(sub_questions(asked(text, language))) == parts


@pytest.mark.parametrize(
    "text",
    [
        "What do people who own cats and who like dogs eat?",
        "Which methods and tools are used?",
        "cats and dogs",
        "Tell me what matters",
        "Were the tapes coloured, or did they stay black and white?",
        "Comment un modèle apprend et généralise ?",
        "why? and how? and what?",
        "",
    ],
)
def test_one_question_stays_whole(text: str) -> None:
    assert sub_questions(asked(text)) == ()


def test_every_aspect_takes_along_what_is_asked_of_all() -> None:
    query = asked(
        "What is the difference between BERT and GPT in training data?", aspects=("BERT", "GPT")
    )
    assert aspect_questions(query) == ("BERT training data", "GPT training data")
    assert sub_questions(query) == aspect_questions(query)


def test_an_aspect_within_another_is_not_cut_out_of_it() -> None:
    query = asked("Compare BERT with RoBERTa large in speed", aspects=("RoBERTa large", "BERT"))
    assert aspect_questions(query) == ("RoBERTa large speed", "BERT speed")


def test_only_the_first_of_many_aspects_are_searched_for() -> None:
    aspects = tuple(f"model{number}" for number in range(12))
    query = asked(f"Compare {', '.join(aspects)}", aspects=aspects)
    assert aspect_questions(query) == ("model0", "model1", "model2")
    assert len(sub_questions(query)) == MAX_PARTS


def test_a_french_comparison_gives_its_aspects() -> None:
    query = asked(
        "Quelle est la différence entre un encodeur et un décodeur pour la traduction ?",
        "fr",
        ("encodeur", "décodeur"),
    )
    assert aspect_questions(query) == ("encodeur traduction", "décodeur traduction")


def test_white_space_costs_no_time() -> None:
    assert sub_questions(asked("what" + " " * 980 + "and how")) == ()
    assert sub_questions(asked("What is a cat?\n\tHow  does\u00a0it purr?")) == (
        "What is a cat?",
        "How does it purr cat?",
    )


@given(
    st.lists(
        st.sampled_from("what how and is does it ? ; , Ada et comment le RGPD".split(" ")),
        max_size=14,
    ).map(" ".join)
)
def test_parts_are_none_or_two_to_four_and_say_something(text: str) -> None:
    parts = sub_questions(asked(text))
    assert len(parts) in (0, 2, 3, 4)
    assert all(any(each.isalnum() for each in part) for part in parts)

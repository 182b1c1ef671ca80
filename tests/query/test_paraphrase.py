"""Which two questions one answer may serve: what speaks against it, and what does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.evaluation.everyday import EVERYDAY
from quoth.query.paraphrase import paraphrase_table, synonyms
from quoth.query.paraphrase.compare import (
    LEAST_COSINE,
    LONGEST,
    are_paraphrases,
    normalized_equal,
)
from quoth.query.paraphrase.features import extract_features

WORDS = st.lists(
    st.sampled_from(
        "who why how what does did the a my parser index call from to not 2 40 page Rust C by fast "
        "faster explain difference between and qui que comment le la ne pas du".split()
    ),
    max_size=9,
).map(" ".join)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is on page 42?", "What is on page 43?"),
        ("Que dit la page vi ?", "Que dit la page iv ?"),
        ("What is chapter two about?", "What is chapter ten about?"),
        ("Convert 5 euros to 10 dollars", "Convert 10 euros to 5 dollars"),
        ("What costs 10%?", "What costs 10?"),
        ("Which files are encrypted?", "Which files are not encrypted?"),
        ("Which files are encrypted?", "Which files are unencrypted?"),
        ("Quels fichiers sont chiffrés ?", "Quels fichiers ne sont pas chiffrés ?"),
        ("Can I work without a contract?", "Can't I work with a contract?"),
        ("What changed before 2020?", "What changed after 2020?"),
        ("What changed by 2020?", "What changed in 2020?"),
        ("Which sort is faster?", "Which sort is slower?"),
        ("What did Tom Hughes say?", "What did Grace Okafor say?"),
        ("What is said about US?", "What is said about us?"),
        ("Is Rust safer than C?", "Is C safer than Rust?"),
        ("Is young Tom Ann's father?", "Is young Ann Tom's father?"),
        ("How do I convert miles to feet?", "How do I convert feet to miles?"),
        ("Comment passer de MySQL à Oracle ?", "Comment passer d'Oracle à MySQL ?"),
        ("Did the client call the server?", "Did the server call the client?"),
        ("Was the client called by the server?", "Did the client call the server?"),
        ("What causes inflation?", "What does inflation cause?"),
        ("When was the parser written?", "Why was the parser written?"),
        ("In which year did it happen?", "In which month did it happen?"),
        ("Which person bought Gradio?", "Which company bought Gradio?"),
        ("What does the encoder do?", "What does the decoder do?"),
        ("What is paging?", "What is paging for?"),
        ("Is a limit of 30 seconds enough?", "Is a limit of 30 minutes enough?"),
        ("How do I get a card?", "How do I get my card?"),
        ("How do I get my card?", "How will I get my card?"),
        ("Comment supprimer mon compte ?", "Comment supprimer son compte ?"),
        ("Where do you find your rates?", "Where do I find the rate?"),
        ("How do I top up my card?", "How do I top up with my card?"),
        ("My top-up didn't go through", "My top-up hasn't gone through"),
        ("What do I need to verify my identity?", "Why do I need to verify my identity?"),
        ("Can I verify my identity?", "Must I verify my identity?"),
        ("Who can vote?", "Who must vote?"),
        ("What is Gradio?", "Qu'est-ce que Gradio ?"),
        ("Give an example of recursion", "What is recursion?"),
        ("What is this?", "What is that?"),
    ],
)
def test_another_question_gets_another_answer(one: str, other: str) -> None:
    assert not are_paraphrases(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who bought Gradio?", "Which company acquired Gradio?"),
        ("What is on page 42?", "What does page 42 say?"),
        ("Compare merge sort with quicksort", "Compare quicksort with merge sort"),
        ("Qu'est-ce qu'un mutex ?", "C'est quoi un mutex ?"),
        ("What is on page ix?", "What's on page IX?"),
        ("What is in chapter two?", "What is in chapter 2?"),
        ("How do I reset my PIN?", "Could you please tell me how I can reset my PIN?"),
        ("Why didn't my payment work?", "Can you explain why my payment did not work?"),
        ("Can I export the data?", "Is it possible to export the data?"),
        ("How tall is Everest?", "What is the height of Everest?"),
        ("How much does shipping cost?", "What are the shipping fees?"),
        ("Who was penicillin discovered by?", "Who discovered penicillin?"),
        ("What tools does he recommend?", "Which tools are recommended by him?"),
        ("How does TCP differ from UDP?", "What is the difference between TCP and UDP?"),
        ("In Python, how do I sort a list?", "How can I sort a list in Python?"),
        ("What colour is it?", "What color is it?"),
        ("Où puis-je garer ma voiture ?", "À quel endroit puis-je garer ma voiture ?"),
        ("Pourquoi le ciel est-il bleu ?", "Pour quelle raison le ciel est-il bleu ?"),
        ("Combien coûte la livraison ?", "Quel est le prix de la livraison ?"),
        ("Le cours est-il gratuit ?", "Est-ce que le cours est gratuit ?"),
    ],
)
def test_another_wording_keeps_the_answer(one: str, other: str) -> None:
    assert are_paraphrases(one, other)


def test_far_vectors_speak_against_it() -> None:
    one, other = "What is in chapter two?", "What is in chapter 2?"
    assert normalized_equal(one, other, cosine=LEAST_COSINE)
    assert not normalized_equal(one, other, cosine=LEAST_COSINE - 0.01)


def test_questions_of_everyday_life_are_all_different() -> None:
    texts = [text for _language, text in EVERYDAY]
    assert not [(a, b) for a in texts for b in texts if a < b and are_paraphrases(a, b)]


def test_a_word_left_out_or_replaced_is_another_question() -> None:
    shared = [
        (text, changed)
        for language, text in EVERYDAY
        if language == "en"
        for word in re.findall(r"\b[a-z]{6,}\b", text)
        if are_paraphrases(text, changed := text.replace(word, "zebra"))
    ]
    assert not shared


@given(st.one_of(st.text(max_size=60), WORDS), st.one_of(st.text(max_size=60), WORDS))
def test_the_order_of_the_two_does_not_matter(one: str, other: str) -> None:
    assert are_paraphrases(one, other) == are_paraphrases(other, one)


@given(st.one_of(st.text(max_size=80), WORDS))
def test_a_question_shares_with_itself(text: str) -> None:
    assert are_paraphrases(text, f"{text} ")


def test_long_texts_are_not_compared() -> None:
    long = "how " * LONGEST
    assert are_paraphrases(long, long)
    assert not are_paraphrases(long, f"{long} why")


def test_a_question_is_read_into_its_parts() -> None:
    found = extract_features("What did Tom Hughes not say on page iv before 2020?")
    assert found.kinds == {"WHAT"}
    assert set(found.subject) == {"tom", "hugh", "say", "page", "before"}
    assert found.names == {"tom", "hugh"}
    assert found.numbers == ("4", "2020")
    assert found.negations == ("not",)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_sayings_and_groups_are_written_folded(language: str) -> None:
    said = " ".join(pattern.pattern for pattern, _stands in paraphrase_table(language))
    assert said.isascii()
    assert all(word.isascii() and word.islower() and word.isalpha() for word in synonyms(language))


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_saying_comes_to_something_that_can_be_put(language: str) -> None:
    for pattern, stands in paraphrase_table(language):
        named = {int(each) for each in re.findall(r"\\(\d)", stands)}
        assert named <= set(range(1, pattern.groups + 1)), pattern.pattern
        assert "\\g" not in stands

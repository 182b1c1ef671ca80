"""A sentence that only says that the sources do not say claims nothing."""

from __future__ import annotations

import pytest

from quoth.answering.verification import is_non_claim
from tests.support.tables import rows

HONEST = [
    ("The sources do not say.", "en"),
    ("The provided sources don't mention the price of bread.", "en"),
    ("None of the sources mention it.", "en"),
    ("There is no information about this in the sources.", "en"),
    ("I cannot answer this from the given context.", "en"),
    ("I could not find an answer in the passages.", "en"),
    ("There is no information about prices in the sources.", "en"),
    ("There is not enough information to answer, in the given passages.", "en"),
    ("No information is available.", "en"),
    ("No part of the documents explains this.", "en"),
    ("It is not specified who won.", "en"),
    ("The provided evidence does not say.", "en"),
    ("This is not in the sources.", "en"),
    ("This is not stated in the sources.", "en"),
    ("The sources provide no information on the topic.", "en"),
    ("The passages do not contain enough information to answer the question.", "en"),
    ("Nothing in the sources answers the question.", "en"),
    ("Les sources ne le disent pas.", "fr"),
    ("Les sources ne précisent pas le prix du pain.", "fr"),
    ("Les passages fournis ne contiennent aucune information à ce sujet.", "fr"),
    ("Aucune des sources ne mentionne ce point.", "fr"),
    ("Je n'ai pas trouvé de réponse dans les documents.", "fr"),
    ("Cette information n’est pas mentionnée dans les sources.", "fr"),
    ("Il n'y a pas d'information à ce sujet dans les sources.", "fr"),
    ("The sources do not say.", "fr"),
    ("Die Quellen sagen dazu:", "de"),
    ("Esto dicen las fuentes:", "es"),
]
CLAIMS = [
    ("The tower was built in 1889.", "en"),
    ("The source of the river is in the Alps.", "en"),
    ("The sources do not say when, but the tower is 330 metres tall.", "en"),
    ("The document does not change after it is signed.", "en"),
    ("There is no evidence that iron rusts faster.", "en"),
    ("Nothing rusts in dry air.", "en"),
    ("I do not like rain.", "en"),
    ("There is no information loss in a black hole.", "en"),
    ("No information is lost when gas expands.", "en"),
    ("No part of the text was written by Kant.", "en"),
    ("No amount of evidence convinced him.", "en"),
    ("None of the documents were signed by Nixon.", "en"),
    ("The treaty is not in the documents of 1945.", "en"),
    ("This is not given by Newton.", "en"),
    ("It is not found in Europe.", "en"),
    ("The evidence does not support the theory that smoking is harmless.", "en"),
    ("I cannot say that bread is cheap.", "en"),
    ("Il n'y a pas de preuve que le fer rouille plus vite.", "fr"),
    ("Ce n'est pas donné à tout le monde.", "fr"),
    ("Aucun vol de documents n'a eu lieu.", "fr"),
    ("Yeast does not act in the cold.", "en"),
    ("La levure n'agit pas au froid.", "fr"),
    ("Le texte de la loi ne change pas.", "fr"),
    ("Les sources ne disent pas quand, mais la tour mesure 330 mètres.", "fr"),
]


@pytest.mark.parametrize(("statement", "language"), HONEST)
def test_an_honest_refusal_is_known(statement: str, language: str) -> None:
    assert is_non_claim(statement, language)


@pytest.mark.parametrize(("statement", "language"), CLAIMS)
def test_a_claim_is_a_claim(statement: str, language: str) -> None:
    assert not is_non_claim(statement, language)


@pytest.mark.parametrize(
    ("question", "silent"),
    [("Who won in 1998?", True), ("Who won?", False), ("", False)],
)
def test_a_number_that_nobody_asked_for_is_a_claim(question: str, silent: bool) -> None:
    said = "The sources do not say who won in 1998."
    assert is_non_claim(said, "en", question=question) is silent


@pytest.mark.parametrize(
    ("said", "question", "language", "silent"),
    rows("answering", "non_claims.a_denial_in_the_words_of_the_question_is_no_claim"),
)
def test_a_denial_in_the_words_of_the_question_is_no_claim(
    said: str, question: str, language: str, silent: bool
) -> None:
    assert is_non_claim(said, language, question=question) is silent


@pytest.mark.parametrize(("statement", "language"), rows("answering", "non_claims.declining"))
def test_models_decline_in_many_words(statement: str, language: str) -> None:
    assert is_non_claim(statement, language)
    assert is_non_claim(statement, "en", question="What does it cost?")


@pytest.mark.parametrize(("statement", "language"), rows("answering", "non_claims.answering"))
def test_an_apology_or_a_but_does_not_decline(statement: str, language: str) -> None:
    assert not is_non_claim(statement, language)


def test_an_apology_alone_claims_nothing() -> None:
    assert is_non_claim("I'm sorry.", "en")
    assert not is_non_claim("", "en")

"""A sentence that only says that the sources do not say claims nothing."""

from __future__ import annotations

import pytest

from quoth.answering.verify import says_nothing

HONEST = [
    ("The sources do not say.", "en"),
    ("The provided sources don't mention the price of bread.", "en"),
    ("None of the sources mention it.", "en"),
    ("There is no information about this in the sources.", "en"),
    ("I cannot answer this from the given context.", "en"),
    ("I could not find an answer in the passages.", "en"),
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
]
CLAIMS = [
    ("The tower was built in 1889.", "en"),
    ("The source of the river is in the Alps.", "en"),
    ("The sources do not say when, but the tower is 330 metres tall.", "en"),
    ("The document does not change after it is signed.", "en"),
    ("There is no evidence that iron rusts faster.", "en"),
    ("Nothing rusts in dry air.", "en"),
    ("I do not like rain.", "en"),
    ("Yeast does not act in the cold.", "en"),
    ("La levure n'agit pas au froid.", "fr"),
    ("Le texte de la loi ne change pas.", "fr"),
    ("Les sources ne disent pas quand, mais la tour mesure 330 mètres.", "fr"),
]


@pytest.mark.parametrize(("statement", "language"), HONEST)
def test_an_honest_refusal_is_known(statement: str, language: str) -> None:
    assert says_nothing(statement, language)


@pytest.mark.parametrize(("statement", "language"), CLAIMS)
def test_a_claim_is_a_claim(statement: str, language: str) -> None:
    assert not says_nothing(statement, language)

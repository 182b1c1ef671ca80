"""Every language has the same sentences with the same values to fill in."""

from __future__ import annotations

import re

import pytest

from quoth.core import translations

ENGLISH = translations._sentences("en")


@pytest.mark.parametrize("language", translations.languages())
def test_every_language_has_every_sentence_with_the_same_values(language: str) -> None:
    sentences = translations._sentences(language)
    assert sentences.keys() == ENGLISH.keys()
    for key, sentence in sentences.items():
        assert set(re.findall(r"{(\w+)}", sentence)) == set(re.findall(r"{(\w+)}", ENGLISH[key]))


def test_an_unknown_language_is_answered_in_english() -> None:
    assert translations._sentences("xx") == {}


def test_an_unknown_key_is_a_bug() -> None:
    with pytest.raises(KeyError):
        translations.translate("query.nothing_of_that_name", "fr")

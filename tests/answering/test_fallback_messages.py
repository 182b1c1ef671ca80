"""What failed is said in sentences, in the language of the question."""

from __future__ import annotations

from typing import get_args

import pytest

from quoth.answering.answerability import add_warning, describe_degradation, notes
from quoth.core.errors import GenerationCode
from tests.support.answers import answer_to

CODES = get_args(GenerationCode)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("fallback", ["extractive", "truncated"])
def test_every_failure_of_a_model_has_a_sentence(language: str, code: str, fallback: str) -> None:
    said = describe_degradation(f"generate:{code}:{fallback}", language=language)
    assert said[0].isupper()
    assert said.endswith(".")
    assert not {code, fallback} & set(said.replace(":", " ").split())


@pytest.mark.parametrize(
    "entry",
    [
        "generate:moderated:extractive",
        "generate:unmoderated:extractive",
        "moderate:moderation_failed:extractive",
    ],
)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_the_moderation_did_has_a_sentence(entry: str, language: str) -> None:
    said = describe_degradation(entry, language=language)
    quoted = describe_degradation("generate:llm_denied:extractive", language=language)
    assert said.endswith(quoted.rpartition(":")[2])
    assert not set(entry.split(":")) & set(said.replace(":", " ").split())


def test_a_sentence() -> None:
    assert describe_degradation("generate:llm_denied:extractive", language="en") == (
        "The provider of the language model refused the key: the sources are quoted word for word."
    )


def test_a_collection_that_failed_is_named() -> None:
    said = describe_degradation(
        "collection talks:retrieval_failed:the other collections", language="en"
    )
    assert said == "A part of the search failed: the collection talks is left out."


def test_what_failed_is_said_once() -> None:
    warning = add_warning("empty", language="en")
    degraded = ("generate:empty:extractive",)
    answer = answer_to("Why?", warnings=(warning,), degraded=degraded)
    assert list(notes(answer)) == [describe_degradation(degraded[0], language="en")]
    assert list(notes(answer_to("Why?", warnings=(warning,)))) == [warning]

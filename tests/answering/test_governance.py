"""A sign, a speaker, a condition or another clause must not be cut off what a source says."""

from __future__ import annotations

import pytest

from quoth.answering.verification import read_sources, verify
from quoth.answering.verification.tokens import read_values, tokens
from quoth.evaluation.verify_cases import as_block
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "language", "numbers"), rows("answering", "verification.a_sign_in_words")
)
def test_a_sign_in_words_belongs_to_its_number(text: str, language: str, numbers: str) -> None:
    values = read_values(text, tokens(text, language=language), language=language)
    assert " ".join(value.key for value in values) == numbers


@pytest.mark.parametrize(
    ("source", "statement", "supported"), rows("answering", "verification.what_governs_a_part")
)
async def test_what_governs_a_part_belongs_to_it(
    source: str, statement: str, supported: bool
) -> None:
    verdict = await verify(statement, read_sources([as_block([source])]), cited=[1], language="en")
    assert (verdict.support == "supported") is supported


@pytest.mark.parametrize(
    ("source", "statement", "language"),
    rows("answering", "verification.what_governs_a_part_elsewhere"),
)
async def test_what_governs_a_part_is_read_in_other_languages(
    source: str, statement: str, language: str
) -> None:
    sources = read_sources([as_block([source], language=language)])
    verdict = await verify(statement, sources, cited=[1], language=language)
    assert verdict.support == "unsupported"

"""A cited span and a reference sentence overlap, however the reference was tokenised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.evaluation.spans import fold_letters, overlaps

TEXT = 'The "old" mill (built in 1790) stands empty. Owls nest in it. Nobody grinds corn.'
FIRST = (0, TEXT.index(" Owls"))
OWLS = (TEXT.index("Owls"), TEXT.index(" Nobody"))


@pytest.mark.parametrize(
    "reference",
    [
        'The "old" mill (built in 1790) stands empty.',
        "The `` old '' mill -LRB- built in 1790 -RRB- stands empty .",
        "the old mill ( built in 1790 ) stands\n  empty",
    ],
)
def test_a_tokenised_reference_is_the_sentence_it_was_made_of(reference: str) -> None:
    assert overlaps(FIRST, reference, document=fold_letters(TEXT))


def test_the_sentence_beside_it_is_another() -> None:
    assert not overlaps(OWLS, "Nobody grinds corn .", document=fold_letters(TEXT))


def test_a_span_of_several_sentences_overlaps_each() -> None:
    assert overlaps((0, len(TEXT)), "Owls nest in it.", document=fold_letters(TEXT))


def test_a_reference_in_slightly_other_words_counts() -> None:
    assert overlaps(OWLS, "Owls nest there in it", document=fold_letters(TEXT))


@given(st.text(max_size=60), st.text(max_size=60))
def test_letters_lie_where_they_are_said_to(before: str, after: str) -> None:
    folded = fold_letters(before + "Owls" + after)
    start, end = folded.within(len(before), len(before) + 4)
    assert folded.letters[start:end] == "owls"

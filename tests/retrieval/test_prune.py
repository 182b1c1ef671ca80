from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import (
    Chars,
    Chunk,
    Document,
    Passage,
    Query,
)
from quoth.retrieval.prune import prune
from quoth.text.sentences import sentences


def passage(number: int, *texts: str, start: int = 0, score: float = 1.0, hit: int = 0) -> Passage:
    chunks, at = [], start
    for ordinal, text in enumerate(texts):
        end = at + len(text)
        name = f"{number}.{ordinal}"
        chunks.append(Chunk(name, f"d{number}", ordinal, at, end, text, Chars(at, end), "text"))
        at = end
    document = Document(f"d{number}", "A title", "text", "ready")
    return Passage(number, document, tuple(chunks), (f"{number}.{hit}",), score)


def asked(text: str, language: str = "en") -> Query:
    return Query(text, text, language)


def kept(query: Query, *passages: Passage, share: float = 0.5) -> list[str]:
    spans = prune(passages, query=query, share=share)
    return [
        each.text[low - each.start : high - each.start]
        for each in passages
        for low, high in spans[each.number]
    ]


COFFEE = "Coffee grows in the shade of tall trees. "
ROAST = "A roaster heats the beans to about 220 degrees. "
CUP = "Many people drink their cup in the morning with a friend. "


def test_the_sentence_that_holds_the_words_of_the_question_stays() -> None:
    one = passage(1, COFFEE + ROAST + CUP, start=700)
    assert kept(asked("How hot does the roaster get?"), one) == [ROAST.strip()]


def test_what_a_sentence_leans_on_comes_with_it() -> None:
    story = "Ada wrote a program. Nobody had asked for any of that. It computed Bernoulli numbers."
    found = kept(asked("What computed Bernoulli numbers?"), passage(1, story), share=0.8)
    assert found == ["Nobody had asked for any of that. It computed Bernoulli numbers."]


@pytest.mark.parametrize(
    ("language", "leaning"),
    [
        ("en", "It computed Bernoulli numbers."),
        ("fr", "Ça calcule les nombres de Bernoulli."),
        ("de", "Dafür brauchte man Bernoulli."),
        ("es", "Él calculó los números de Bernoulli."),
    ],
)
def test_a_sentence_leans_by_the_words_of_its_language(language: str, leaning: str) -> None:
    story = f"Ada wrote a program. Nobody had asked for any of that. {leaning}"

    def found(language: str) -> list[str]:
        one = passage(1, story)
        chunks = tuple(replace(each, language=language) for each in one.chunks)
        return kept(asked("Bernoulli", language), replace(one, chunks=chunks), share=0.8)

    whole = [f"Nobody had asked for any of that. {leaning}"]
    assert found(language) == whole
    assert found({"de": "es", "es": "de", "en": "de", "fr": "es"}[language]) != whole


def test_every_passage_keeps_a_sentence() -> None:
    passages = [passage(n, COFFEE + CUP, score=1 / n) for n in range(1, 6)]
    spans = prune(passages, query=asked("roaster"), share=0.1)
    assert all(len(spans[n]) == 1 for n in range(1, 6))


def test_the_best_passage_keeps_most_where_no_word_is_shared() -> None:
    best, worst = passage(1, COFFEE + ROAST + CUP, score=1.0), passage(2, CUP + ROAST, score=0.1)
    spans = prune([best, worst], query=asked("Kaffee", language="de"), share=0.6)
    lengths = {number: sum(high - low for low, high in spans[number]) for number in spans}
    assert lengths[1] > lengths[2]


TEXT = st.lists(
    st.sampled_from([COFFEE, ROAST, CUP, "It is so. ", "\n\n", "Elle dort. ", "… ", "tea "]),
    min_size=1,
    max_size=12,
).map("".join)


@given(st.lists(TEXT, min_size=1, max_size=4), st.integers(0, 99), st.floats(0.05, 1))
def test_spans_are_whole_sentences_in_order_and_none_is_lost_at_a_share_of_1(
    texts: list[str], start: int, share: float
) -> None:
    passages = [passage(n, text, start=start, score=1 / n) for n, text in enumerate(texts, 1)]
    for part in (share, 1.0):
        spans = prune(passages, query=asked("coffee in the morning"), share=part)
        for each in passages:
            whole = [(each.start + low, each.start + high) for low, high in sentences(each.text)]
            firsts, lasts = {low for low, _ in whole}, {high for _, high in whole}
            found = spans.get(each.number, ())
            assert bool(found) == bool(whole)
            assert all(low in firsts and high in lasts for low, high in found)
            assert all(left[1] <= right[0] for left, right in pairwise(found))
            if part == 1.0 and whole:
                covered = [
                    pair for pair in whole if any(a <= pair[0] and pair[1] <= b for a, b in found)
                ]
                assert covered == whole

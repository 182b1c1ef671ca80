"""Saying nothing: the rule of evidence and its words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quoth.answering.answerability import (
    FLOOR,
    FOREIGN_NOTHING,
    MIN_STATEMENT_PROBABILITY,
    NOTHING,
    SOME,
    SPOKEN,
    SURE,
    AnswerEvidence,
    StatementEvidence,
    decide_status,
    notice,
    status_notices,
    weigh_evidence,
    weigh_statements,
)
from quoth.answering.extractive.select import (
    Shortlist,
    Statement,
    choose_statements,
    shortlist,
)
from quoth.core.types import (
    Chars,
    Chunk,
    Document,
    Passage,
    Query,
)

SPREAD = [0.8] * 30
"""Cosines among which none stands out."""


def evidence(
    question: str,
    text: str,
    *,
    best: float = 0.9,
    language: str = "en",
    source: str = "en",
    vectors: bool = True,
) -> AnswerEvidence:
    chunk = Chunk("c", "d", 0, 0, len(text), text, Chars(0, len(text)), "text", language=source)
    passages = [Passage(1, Document("d", "Notes", "text", "ready"), (chunk,), ("c",), 1.0)]
    query = Query(question, question, language)
    cosines = [best, *SPREAD] if vectors else None
    return weigh_evidence(query, shortlist(query, passages), cosines=cosines)


def test_a_question_whose_words_are_all_there_is_answered() -> None:
    found = evidence("Where do penguins breed?", "Penguins breed on the ice. They eat fish.")
    assert found.coverage == pytest.approx(1.0)
    assert found.gap == pytest.approx(0.5)
    assert decide_status(found) == "answered"


def test_a_question_that_shares_no_word_is_not_answered() -> None:
    found = evidence("Where do penguins breed?", "Bread is baked in an oven.", best=0.82)
    assert decide_status(found) == "no_results"


def test_everyday_words_alone_are_no_evidence() -> None:
    found = evidence(
        "Can I use the blue card again today?", "You can use it again today.", best=0.81
    )
    assert found.gap is not None
    assert found.gap < FLOOR
    assert decide_status(found) == "no_results"


def test_a_passage_that_says_all_the_words_is_evidence_whatever_the_gap() -> None:
    found = evidence("Can I use it again today?", "You can use it again today.", best=0.81)
    assert found.coverage >= SPOKEN
    assert decide_status(found) == "answered"


def test_a_name_that_no_passage_holds_makes_the_answer_partial() -> None:
    text = "The penguins of the south breed on the ice."
    found = evidence("Where do the penguins of Patagonia breed?", text)
    assert found.missing == ("Patagonia",)
    assert decide_status(AnswerEvidence(1.0, 0.5, False, found.missing)) == "partial"


def test_a_number_that_no_passage_holds_is_missing() -> None:
    found = evidence("Did penguins breed there in 1912?", "Penguins breed on the ice.")
    assert found.missing == ("1912",)


def test_the_first_word_of_a_question_is_no_name() -> None:
    assert evidence("Explain ice.", "Snow falls in winter.").missing == ()


def test_in_another_language_the_vectors_decide() -> None:
    text = "Penguins breed on the ice."
    near = evidence("¿Dónde crían los pingüinos?", text, language="es", best=0.9)
    far = evidence("¿Quién ganó la copa?", text, language="es", best=0.81)
    assert near.cross_lingual
    assert (decide_status(near), decide_status(far)) == ("answered", "no_results")


def test_without_vectors_the_words_decide() -> None:
    found = evidence("Where do penguins breed?", "Penguins breed on the ice.", vectors=False)
    assert found.gap is None
    assert decide_status(found) == "answered"
    assert decide_status(AnswerEvidence(0.3, None, False)) == "no_results"


def test_in_another_language_without_vectors_the_answer_is_hedged() -> None:
    assert decide_status(AnswerEvidence(0.2, None, True)) == "partial"
    assert decide_status(AnswerEvidence(0.0, None, True)) == "no_results"


def test_too_few_passages_to_compare_give_no_gap() -> None:
    query = Query("Ice?", "Ice?", "en")
    assert weigh_evidence(query, shortlist(query, []), cosines=[0.9, 0.8]).gap is None


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (AnswerEvidence(NOTHING - FLOOR - 0.01, FLOOR, False), "no_results"),
        (AnswerEvidence(NOTHING - FLOOR + 0.001, FLOOR, False), "partial"),
        (AnswerEvidence(SOME - FLOOR + 0.001, FLOOR, False), "answered"),
        (AnswerEvidence(0.0, FOREIGN_NOTHING, True), "partial"),
        (AnswerEvidence(0.0, FOREIGN_NOTHING - 0.001, True), "no_results"),
    ],
)
def test_the_thresholds(found: AnswerEvidence, status: str) -> None:
    assert decide_status(found) == status


@pytest.mark.parametrize(
    ("probability", "status"),
    [(0.49, "no_results"), (0.5, "low_relevance"), (SURE, "answered"), (1.0, "answered")],
)
def test_where_a_calibration_applies_the_probability_decides(
    probability: float, status: str
) -> None:
    for found in (
        AnswerEvidence(0.0, 0.0, False),
        AnswerEvidence(1.0, 1.0, False),
        AnswerEvidence(0.0, None, True),
    ):
        assert decide_status(found, probability=probability, answer_from=0.5) == status


def test_a_sure_answer_that_lacks_a_name_of_the_question_is_partial() -> None:
    found = AnswerEvidence(1.0, 0.5, False, ("Patagonia",))
    assert decide_status(found, probability=0.9, answer_from=0.5) == "partial"


def test_a_threshold_above_sure_leaves_nothing_loose() -> None:
    found = AnswerEvidence(1.0, 0.5, False)
    assert decide_status(found, probability=0.9, answer_from=0.9) == "answered"
    assert decide_status(found, probability=0.89, answer_from=0.9) == "no_results"


def test_a_probability_without_a_threshold_decides_nothing() -> None:
    assert decide_status(AnswerEvidence(1.0, 0.5, False), probability=0.01) == "answered"


def test_a_likely_answer_made_with_a_part_missing_is_degraded() -> None:
    found = AnswerEvidence(1.0, 0.5, False)
    assert decide_status(found, probability=0.6, answer_from=0.5, degraded=True) == "degraded"
    assert decide_status(found, probability=0.4, answer_from=0.5, degraded=True) == "no_results"


def test_evidence_counts_the_words_that_matter() -> None:
    assert evidence("Where do the penguins of Patagonia breed?", "Ice.").terms == 3


def test_an_answer_made_with_a_part_missing_is_degraded() -> None:
    assert decide_status(AnswerEvidence(1.0, 0.5, False), degraded=True) == "degraded"
    assert decide_status(AnswerEvidence(0.0, 0.0, False), degraded=True) == "no_results"


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("status", ["no_results", "partial", "low_relevance", "degraded"])
def test_every_outcome_has_words_in_both_languages(status: str, language: str) -> None:
    (words,) = status_notices(status, AnswerEvidence(0.0, None, False), language=language)  # type: ignore[arg-type]
    assert words.endswith(".")
    assert words == notice(status, language=language)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_passages_are_promised_only_where_there_are_some(language: str) -> None:
    promise = {"en": "below", "fr": "ci-dessous"}[language]
    assert promise in notice("no_results", language=language)
    assert promise not in notice("nothing", language=language)


def test_a_plain_answer_needs_no_words() -> None:
    assert status_notices("answered", AnswerEvidence(1.0, 0.5, False), language="en") == ()


def test_missing_names_are_named() -> None:
    found = AnswerEvidence(1.0, 0.5, False, ("GPT-5",))
    assert status_notices("partial", found, language="en") == (
        "The passages found do not mention “GPT-5”.",
    )


def test_a_language_without_wording_is_answered_in_english() -> None:
    assert notice("empty", language="de") == notice("empty", language="en")


# --- by the sentences that would be said ------------------------------------------------------


def chosen(
    question: str, *texts: str, language: str = "en", aspects: tuple[str, ...] = ()
) -> tuple[Shortlist, tuple[Statement, ...]]:
    """The sentences chosen from one passage per text; those with an exclamation are nearest."""
    passages = []
    for number, text in enumerate(texts, start=1):
        place = Chars(0, len(text))
        chunk = Chunk(f"c{number}", f"d{number}", 0, 0, len(text), text, place, "text")
        document = Document(f"d{number}", "Notes", "text", "ready")
        passages.append(Passage(number, document, (chunk,), (chunk.chunk_id,), 1.0))
    listed = shortlist(Query(question, question, language, aspects=aspects), passages)
    cosines = np.array([0.9 if "!" in text else 0.8 for text in listed.texts])
    return listed, choose_statements(listed, max_sentences=2, cosines=cosines)


def test_the_best_sentence_and_the_words_around_it_are_weighed() -> None:
    found = weigh_statements(
        *chosen("Where do penguins breed?", "Penguins breed on ice! They eat.")
    )
    assert found == StatementEvidence(cosine=pytest.approx(0.9), held=1.0)


def test_a_word_that_the_passage_lacks_is_missed() -> None:
    found = weigh_statements(
        *chosen("Do penguins fly?", "Penguins breed on ice! They eat.", "Gulls fly.")
    )
    assert found is not None
    assert 0 < found.held < 1


def test_a_short_question_is_not_judged_by_its_verb_alone() -> None:
    found = weigh_statements(
        *chosen("Who bought Gradio?", "Gradio was acquired!", "Gulls bought fish.")
    )
    assert found is not None
    assert found.held > 0.5


def test_a_comparison_may_find_its_words_in_several_passages() -> None:
    texts = ("Penguins swim!", "Gulls fly!")
    found = weigh_statements(*chosen("penguins or gulls?", *texts, aspects=("penguins", "gulls")))
    assert found is not None
    assert found.held == 1.0


def test_words_are_not_weighed_in_another_language() -> None:
    assert (
        weigh_statements(*chosen("¿Dónde crían los pingüinos?", "Penguins!", language="es")) is None
    )


def test_words_are_not_weighed_where_the_best_sentence_is_in_another_language() -> None:
    texts = ("Penguins breed on ice!", "Los gansos vuelan.")
    listed, statements = chosen("¿Dónde crían los pingüinos?", *texts, language="es")
    first, *others = listed.material.sentences
    mixed = (first, *(replace(each, language="es") for each in others))
    material = replace(listed.material, sentences=mixed)
    assert weigh_statements(replace(listed, material=material), statements) is None


def test_nothing_is_weighed_where_nothing_was_chosen() -> None:
    listed, _ = chosen("Where do penguins breed?", "Penguins breed on ice!")
    assert weigh_statements(listed, ()) is None


def test_what_would_not_answer_is_not_said() -> None:
    found = evidence("Where do penguins breed?", "Penguins breed on the ice.")
    low = MIN_STATEMENT_PROBABILITY - 0.01
    assert decide_status(found, statement_probability=low) == "no_results"
    assert decide_status(found, statement_probability=MIN_STATEMENT_PROBABILITY) == "answered"


def test_an_answer_without_a_citation_is_none() -> None:
    assert decide_status(AnswerEvidence(1.0, 0.5, False), cited=False) == "no_results"

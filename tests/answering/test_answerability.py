"""Saying nothing: the rule of evidence and its words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quoth.answering.answerability import (
    FLOOR,
    FOREIGN_NOTHING,
    NOTHING,
    UNSURE,
    UNSURE_SHARE,
    WORDS_NOTHING,
    AnswerEvidence,
    decide_status,
    notes,
    notice,
    status_notices,
    weigh_evidence,
)
from quoth.answering.extractive.select import collect_sentences
from quoth.core.types import Query, Seconds, SpanLocator
from tests.support.answers import answer_to
from tests.support.passages import passage

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
    query = Query(question, question, language)
    candidates = collect_sentences(query, [passage(text, language=source)])
    return weigh_evidence(query, candidates, cosines=[best, *SPREAD] if vectors else None)


def test_a_question_whose_words_are_all_there_is_answered() -> None:
    found = evidence("Where do penguins breed?", "Penguins breed on the ice. They eat fish.")
    assert found.coverage == pytest.approx(1.0)
    assert found.gap == pytest.approx(0.5)
    assert decide_status(found) == "answered"


def test_a_question_that_shares_no_word_is_not_answered() -> None:
    found = evidence("Where do penguins breed?", "Bread is baked in an oven.", best=0.82)
    assert decide_status(found) == "no_results"


def test_a_name_that_no_passage_holds_makes_the_answer_partial() -> None:
    text = "The penguins of the south breed on the ice."
    found = evidence("Where do the penguins of Patagonia breed?", text)
    assert found.missing == ("Patagonia",)
    assert decide_status(AnswerEvidence(1.0, 0.5, False, found.missing)) == "partial"


def test_the_best_sentence_decides_whether_the_evidence_is_cross_lingual() -> None:
    query = Query("Where do penguins breed?", "Where do penguins breed?", "en")
    passages = [
        passage("Penguins eat fish.", language="en"),
        passage("Les manchots se reproduisent sur la glace.", number=2, language="fr"),
    ]
    candidates = collect_sentences(query, passages)
    for scores, cross_lingual in (([0.0, 3.0], True), ([3.0, 0.0], False), ([0.0, 0.5], False)):
        found = weigh_evidence(query, candidates, cosines=None, scores=np.array(scores))
        assert found.cross_lingual is cross_lingual
    assert not weigh_evidence(query, candidates, cosines=None).cross_lingual


def test_the_name_of_a_speaker_is_not_missed() -> None:
    written = passage("Penguins breed. Bread is baked.")
    voices = (SpanLocator(0, 15, Seconds(0, 2, "Ada Moor")), SpanLocator(16, 31, Seconds(2, 4)))
    talk = replace(written.document, kind="transcript")
    spoken = replace(written, document=talk, chunks=(replace(written.chunks[0], places=voices),))
    for document, missing in ((spoken, ()), (written, ("Ada", "Moor"))):
        asked = "Where, says Ada Moor, do penguins breed?"
        query = Query(asked, asked, "en")
        candidates = collect_sentences(query, [document])
        assert weigh_evidence(query, candidates, cosines=None).missing == missing


def test_a_name_of_the_question_before_is_not_missed() -> None:
    followup = Query("And 0.54?", "And 0.54? (Patagonia)", "en", is_followup=True)
    for query, missing in ((followup, ("0.54",)), (replace(followup, is_followup=False), None)):
        candidates = collect_sentences(query, [passage("Penguins breed on the ice.")])
        found = weigh_evidence(query, candidates, cosines=None).missing
        assert found == (missing or ("0.54", "Patagonia"))


@pytest.mark.parametrize(
    ("name", "text", "missing"),
    [
        ("Windows", "The tool runs on MSWindows.", ()),
        ("Nada", "The tool runs in Canada and Grenada.", ("Nada",)),
        ("500", "The tool runs on five hundred machines.", ()),
        ("500", "The tool runs on five machines.", ("500",)),
    ],
)
def test_a_name_within_a_word_is_there_only_as_it_is_written(
    name: str, text: str, missing: tuple[str, ...]
) -> None:
    assert evidence(f"Where does the tool of {name} run?", text).missing == missing


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (AnswerEvidence(NOTHING - FLOOR + 0.001, FLOOR, False), "answered"),
        (AnswerEvidence(NOTHING - FLOOR - 0.001, FLOOR, False), "low_relevance"),
        (AnswerEvidence(UNSURE_SHARE * NOTHING - FLOOR + 0.001, FLOOR, False), "low_relevance"),
        (AnswerEvidence(UNSURE_SHARE * NOTHING - FLOOR - 0.001, FLOOR, False), "no_results"),
        (AnswerEvidence(0.0, FOREIGN_NOTHING, True), "answered"),
        (AnswerEvidence(0.0, FOREIGN_NOTHING - 0.001, True), "low_relevance"),
        (AnswerEvidence(0.0, UNSURE_SHARE * FOREIGN_NOTHING - 0.001, True), "no_results"),
        (AnswerEvidence(WORDS_NOTHING, None, False), "answered"),
        (AnswerEvidence(WORDS_NOTHING - 0.001, None, False), "low_relevance"),
        (AnswerEvidence(UNSURE_SHARE * WORDS_NOTHING - 0.001, None, False), "no_results"),
    ],
)
def test_the_thresholds(found: AnswerEvidence, status: str) -> None:
    assert decide_status(found) == status


@pytest.mark.parametrize(
    ("probability", "status"),
    [(0.019, "no_results"), (0.02, "low_relevance"), (0.5, "answered")],
)
def test_across_languages_less_is_needed_for_the_closest_passages(
    probability: float, status: str
) -> None:
    found = AnswerEvidence(0.0, None, True)
    assert decide_status(found, probability=probability, answer_from=0.5) == status


@pytest.mark.parametrize(
    ("probability", "status"),
    [
        (0.0, "no_results"),
        (UNSURE - 0.001, "no_results"),
        (UNSURE, "low_relevance"),
        (0.499, "low_relevance"),
        (0.5, "answered"),
        (1.0, "answered"),
    ],
)
def test_where_a_calibration_applies_the_probability_decides(
    probability: float, status: str
) -> None:
    for found in (
        AnswerEvidence(0.0, 0.0, False),
        AnswerEvidence(1.0, 1.0, False),
        AnswerEvidence(0.0, None, False),
    ):
        assert decide_status(found, probability=probability, answer_from=0.5) == status


@pytest.mark.parametrize(
    ("probability", "status"), [(0.6, "degraded"), (0.4, "low_relevance"), (0.01, "no_results")]
)
def test_only_an_answer_is_degraded(probability: float, status: str) -> None:
    found = AnswerEvidence(1.0, 0.5, False)
    assert decide_status(found, probability=probability, answer_from=0.5, degraded=True) == status


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("status", ["no_results", "partial", "low_relevance", "degraded"])
def test_every_outcome_has_words_in_both_languages(status: str, language: str) -> None:
    (words,) = status_notices(status, AnswerEvidence(0.0, None, False), language=language)  # type: ignore[arg-type]
    assert words.endswith(".")
    assert words == notice(status, language=language)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_passages_are_promised_only_where_there_are_some(language: str) -> None:
    promise = {"en": "are shown", "fr": "affichés"}[language]
    assert promise in notice("no_results", language=language)
    assert promise not in notice("nothing", language=language)


def test_a_notice_has_no_tag_of_the_question() -> None:
    assert "<i" not in notice("missing", language="en", names=("<img src=x onerror=alert",))


@pytest.mark.parametrize(
    ("confidence", "changes", "said"),
    [
        (0.3, {}, ["It is not certain that this answers the question."]),
        (0.6, {}, []),
        (None, {}, []),
        (0.3, {"model": "a language model"}, []),
        (0.2, {"citations": ()}, []),
    ],
)
def test_an_answer_that_may_be_none_says_so(
    confidence: float | None, changes: dict[str, object], said: list[str]
) -> None:
    quoted = {"citations": (object(),), "confidence": confidence, **changes}
    assert list(notes(answer_to("Why?", **quoted))) == said

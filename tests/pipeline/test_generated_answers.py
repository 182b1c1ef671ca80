"""A model's answer, whatever it is: streamed, checked, cited, and never more than its sources."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.answering.verification import EvidenceSpan, StatementCheck
from quoth.backends.entailment.llm import GeneratorJudge
from quoth.core.errors import GenerationError
from quoth.core.events import (
    AnswerCompleted,
    CitationAdded,
    Event,
    SentenceVerified,
    TextAdded,
)
from quoth.core.protocols import (
    Finish,
    GenerationParams,
    Message,
    Written,
)
from quoth.core.types import Answer, Turn, Usage
from quoth.engine import Engine
from quoth.history.export import pieces
from quoth.interfaces.cli.render import marked
from quoth.interfaces.markdown import markdown_sentences
from quoth.pipeline.retrieve import Request
from quoth.testing import ScriptedGenerator
from tests.support.citation_checks import check_spans
from tests.support.lighthouse import OUTPUTS, SOURCES, make_lighthouse
from tests.support.small_library import add, open_tour

QUESTION = SOURCES["question"]
HONEST = (
    "The Kestrel lighthouse was built in 1874 from grey granite. [Source 1] Its last keeper was ",
    "Maud Ferris. [Sou",
    "rce 2]",
)
FALSE = "It was moved to Norway in 1999 by forty men. [Source 2]"

SUPPORTED = {
    "It was built in 1874.",
    "It was built in 1874 from granite.",
    "The Kestrel lighthouse was built in 1874.",
    "The Kestrel lighthouse was built in 1874 from grey granite.",
    "The lighthouse was built in 1874.",
    "The harbour books say that it was built in 1874.",
    "Title: Harbour books\nThe Kestrel lighthouse was built in 1874 from grey granite.",
    "Built in 1874 from grey granite",
    "The keeper left in 1968.",
    "The last keeper left in 1968.",
    "Maud Ferris left in 1968.",
    "The last keeper, Maud Ferris, left the tower in 1968.",
    "Its keeper was Maud Ferris.",
    "Its last keeper was Maud Ferris.",
    "**Maud Ferris** was the last.",
    "Its lamp is electric.",
    "The lamp has 1,000 watts.",
    "then by an electric lamp",
    "It is a tower with a light.",
    "The survey says that the tower was finished in 1876.",
}
"""Everything in the recorded outputs that the sources say."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the three sources that the recorded outputs were written to."""
    return make_lighthouse(tmp_path_factory.mktemp("lighthouse"))


async def events_of(home: Path, model: ScriptedGenerator, **choices: Any) -> list[Event]:
    async with open_tour(home, generator=model, stored=True) as engine:
        return [each async for each in engine.stream(asked(**choices))]


async def answer_of(home: Path, *pieces: str | GenerationError, **choices: Any) -> Answer:
    events = await events_of(home, ScriptedGenerator(*pieces), **choices)
    return done(events)


def asked(*, history: tuple[Turn, ...] = (), question: str = QUESTION, **choices: Any) -> Request:
    return Request(question, {"cache": "none", **choices}, history=history)


def done(events: list[Event]) -> Answer:
    assert isinstance(events[-1], AnswerCompleted)
    return events[-1].answer


async def stored_text(engine: Engine, document_id: str) -> str:
    chunks = engine.parts.catalogue.document_chunks(document_id)
    return "".join(chunk.text for chunk in chunks)


@pytest.fixture
async def engine(home: Path) -> AsyncIterator[Engine]:
    async with open_tour(home, stored=True) as opened:
        yield opened


# --- what models write ------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["mark", "drop", "strict"])
async def test_no_output_gets_past_the_checks(engine: Engine, policy: str) -> None:
    for name, written in OUTPUTS.items():
        model = ScriptedGenerator(*re.findall(r"(?s).{1,7}", written))
        writing = Engine(replace(engine.parts, generator=model))
        events = [event async for event in writing.stream(asked(policy=policy))]
        try:
            await check_output(engine, events, policy=policy)
        except AssertionError as error:
            raise AssertionError(f"{name}, {policy}") from error


async def check_output(engine: Engine, events: list[Event], *, policy: str) -> None:
    """Check that nothing is shown or counted as supported but what the sources say."""
    answer = done(events)
    shown = "".join(each.text for each in events if isinstance(each, TextAdded))

    texts = {
        each.document_id: await stored_text(engine, each.document_id) for each in answer.citations
    }
    assert check_spans(answer.citations, texts.__getitem__) == []
    numbers = {each.number for each in answer.citations}
    assert all(numbers.issuperset(each.citations) for each in answer.sentences)
    for text in (answer.text, shown):
        assert not re.search(r"https?:|www\.|javascript:|data:|mailto:|\]\(\S*\w", text)
        assert not re.search(r"(?i)</?(?:a|img|script|iframe|svg|b)\b", text)
    if answer.model is not None:
        supported = {
            answer.text[each.start : each.end]
            for each in answer.sentences
            if each.support == "supported"
        }
        assert supported <= SUPPORTED
    if policy == "strict" and answer.model is not None:
        assert shown.strip() == answer.text
    if policy != "mark":
        assert all(each.support != "unsupported" for each in answer.sentences)


@pytest.mark.parametrize("name", ["wrong_number", "swapped_number", "negated"])
async def test_what_contradicts_its_source_gives_way_to_the_source(home: Path, name: str) -> None:
    answer = await answer_of(home, OUTPUTS[name])
    assert answer.model is None
    assert "generate:empty:extractive" in answer.degraded
    assert "1874" in answer.text


async def test_invented_sources_are_counted(home: Path) -> None:
    answer = await answer_of(home, "It was built in 1874. [Source 99] [Source 0] [Source 1]")
    assert answer.counts.invented == 2
    assert [each.document_name for each in answer.citations] == ["Harbour books"]


async def test_a_wrong_source_is_put_right_among_those_that_the_model_saw(home: Path) -> None:
    answer = await answer_of(home, "The lighthouse was built in 1874. [Source 2]")
    assert [each.document_name for each in answer.citations] == ["Harbour books"]


async def test_a_contradiction_is_cited_side_by_side(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home", stored=True) as engine:
        for name, year in (("one", 1874), ("two", 1876)):
            file = tmp_path / f"{name}.md"
            file.write_text(f"# {name}\n\nThe Kestrel lighthouse was built in {year} of stone.\n")
            await add(engine, file)
        answer = await engine.answer("When was the Kestrel lighthouse built?")
    assert {"1874", "1876"} <= set(re.findall(r"\d{4}", answer.text))
    assert len(answer.contradictions) == 1
    assert "contradict" in " ".join(answer.warnings)


# --- how it streams ---------------------------------------------------------------------------


async def test_a_model_is_asked_itself_who_said_something(home: Path) -> None:
    model = ScriptedGenerator(*HONEST)
    turn = Turn(QUESTION, "It was built of stone. [1]")
    events = await events_of(home, model, history=(turn,), question="Who said that?")
    assert "Who said that?" in model.told[0][-1].text
    assert done(events).model is not None


async def test_an_unsupported_sentence_is_marked(home: Path) -> None:
    answer = await answer_of(home, *HONEST, " ", FALSE)
    assert [each.support for each in answer.sentences] == ["supported", "supported", "unsupported"]
    assert (answer.status, answer.grounded) == ("partial", False)


@pytest.mark.parametrize("policy", ["drop", "strict"])
async def test_an_unsupported_sentence_is_left_out(home: Path, policy: str) -> None:
    events = await events_of(home, ScriptedGenerator(FALSE, " ", *HONEST), policy=policy)
    answer = done(events)
    assert "Norway" not in answer.text
    assert answer.text.startswith("The Kestrel lighthouse")
    assert [each.kept for each in events if isinstance(each, SentenceVerified)] == [
        False,
        True,
        True,
    ]


async def test_reasoning_without_its_opening_tag_is_not_shown(home: Path) -> None:
    thoughts = HONEST[0].replace("[Source 1]", ""), "Hm. ", FALSE[:-10], "\n</think>\n\n"
    events = await events_of(home, ScriptedGenerator(*thoughts, *HONEST))
    answer = done(events)
    assert answer.text == (await answer_of(home, *HONEST)).text
    assert "".join(each.text for each in events if isinstance(each, TextAdded)) == answer.text
    assert (answer.status, answer.warnings, answer.rejected) == ("answered", (), ())


async def test_what_was_shown_before_a_late_restart_stays(home: Path) -> None:
    events = await events_of(home, ScriptedGenerator(*HONEST, "\n</think>\n", *HONEST))
    answer = done(events)
    shown = "".join(each.text for each in events if isinstance(each, TextAdded))
    numbers = [each.citation.number for each in events if isinstance(each, CitationAdded)]
    assert shown == answer.text
    assert answer.text.count("\n\nThe Kestrel") == 1
    assert numbers == [1, 2]


async def test_strict_shows_nothing_that_was_not_checked(home: Path) -> None:
    events = await events_of(home, ScriptedGenerator(*HONEST, " ", FALSE), policy="strict")
    assert not any("Norway" in each.text for each in events if isinstance(each, TextAdded))


async def test_sentences_stand_where_they_say(home: Path) -> None:
    answer = await answer_of(home, *HONEST)
    assert [answer.text[each.start : each.end] for each in answer.sentences] == [
        "The Kestrel lighthouse was built in 1874 from grey granite.",
        "Its last keeper was Maud Ferris.",
    ]
    assert answer.text.endswith("Maud Ferris. [2]")


# --- when it goes wrong -----------------------------------------------------------------------


async def test_a_failure_before_the_first_word_leaves_the_sources_own_words(home: Path) -> None:
    broken = GenerationError("Nobody is there.", code="llm_unavailable")
    events = await events_of(home, ScriptedGenerator(broken))
    answer = done(events)
    assert answer.degraded == ("generate:llm_unavailable:extractive",)
    assert answer.citations
    assert "".join(each.text for each in events if isinstance(each, TextAdded)) == answer.text


async def test_a_failure_behind_the_first_word_keeps_what_was_written(home: Path) -> None:
    broken = GenerationError("It broke off.", code="llm_timeout")
    answer = await answer_of(home, *HONEST, " It was sold in", broken)
    assert answer.degraded == ("generate:llm_timeout:truncated",)
    assert answer.text.count("Kestrel") == 1
    assert answer.status == "partial"


TORN = "The lamp stands 41 metres above the [Source 1]"


async def test_a_sentence_that_was_never_finished_is_not_cited(home: Path) -> None:
    broken = GenerationError("It broke off.", code="llm_timeout")
    answer = await answer_of(home, *HONEST, f" {TORN}", broken)
    assert (answer.sentences[-1].support, answer.sentences[-1].citations) == ("unverified", ())
    assert (answer.provider, answer.model) == ("scripted", "script")


async def test_strict_never_shows_a_sentence_that_was_not_finished(home: Path) -> None:
    broken = GenerationError("It broke off.", code="llm_timeout")
    answer = await answer_of(home, *HONEST, f" {TORN}", broken, policy="strict")
    assert "41" not in answer.text


@pytest.mark.parametrize(
    "written",
    [
        "I'm sorry, but the provided sources do not mention this.",
        "I don't have enough information to answer this question.",
        "Es tut mir leid, aber die Quellen erwähnen das nicht.",
    ],
)
async def test_an_apology_of_the_model_is_no_answer(home: Path, written: str) -> None:
    answer = await answer_of(home, written)
    assert answer.status == "low_relevance"
    assert any("finds no answer" in warning for warning in answer.warnings)
    assert answer.rejected == ()


async def nearest_only(statement: str, sources: Any, **_: Any) -> StatementCheck:
    """Verify as across languages: the nearest sentence is named, and proves nothing."""
    line = sources.by_number[1].lines[0]
    return StatementCheck("unverified", 0.5, (EvidenceSpan(1, line.start, line.end),))


async def test_another_language_than_the_sources_is_shown_as_not_checked(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.pipeline.generate.verify", nearest_only)
    answer = await answer_of(home, "Der Leuchtturm wurde aus Granit gebaut. [Source 1]")
    (sentence,) = answer.sentences
    assert (sentence.support, sentence.citations) == ("unverified", (1,))
    assert answer.citations[0].support == "unverified"
    assert (answer.status, answer.grounded, answer.model) == ("partial", False, "script")
    assert any("marked as not checked" in warning for warning in answer.warnings)
    assert "[not checked]" in marked(answer).plain
    in_german = "".join(markdown_sentences(answer, address=lambda *_: None))
    assert "*(nicht geprüft)*" in in_german  # in the language of the sentence


async def test_a_sentence_that_says_nothing_of_the_sources_has_no_mark(home: Path) -> None:
    answer = await answer_of(home, *HONEST, " The sources do not mention its cost.")
    assert (answer.sentences[-1].support, answer.sentences[-1].citations) == ("unverified", ())
    chat = "".join(markdown_sentences(answer, address=lambda *_: None))
    export = [doubt for _text, _numbers, doubt, _number in pieces(answer)]
    assert "not checked" not in " ".join((marked(answer).plain, chat, *export))
    assert "mention its cost" in chat


async def test_strict_has_the_words_of_sources_in_another_language(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.pipeline.generate.verify", nearest_only)
    written = "Der Leuchtturm wurde aus Granit gebaut."
    answer = await answer_of(home, f"{written} [Source 1]", policy="strict")
    assert written not in answer.text
    assert all(each.support == "supported" for each in answer.sentences)
    assert answer.degraded == ("generate:foreign:extractive",)
    assert len([each for each in answer.warnings if "another language" in each]) == 1
    assert [each.text for each in answer.rejected] == [written]


async def test_a_model_that_declines_at_its_limit_wrote_no_other_language(home: Path) -> None:
    model = ScriptedGenerator("The sources do not say who built it.", reason="length")
    answer = done(await events_of(home, model))
    assert answer.degraded == ("generate:empty:extractive",)
    assert not any("another language" in each for each in answer.warnings)


async def test_a_deadline_cuts_the_writing(home: Path) -> None:
    model = ScriptedGenerator(*HONEST, *["more and more "] * 200, pause_s=0.02)
    answer = done(await events_of(home, model, deadline_ms=1500.0))
    assert any(each.startswith("generate:deadline:") for each in answer.degraded)
    assert model.closed == 1


async def test_whoever_stops_listening_ends_the_call(home: Path) -> None:
    model = ScriptedGenerator(*HONEST, *["more and more "] * 200, pause_s=0.01)
    async with open_tour(home, generator=model, stored=True) as engine:
        async with aclosing(engine.stream(asked())) as events:
            async for event in events:
                if isinstance(event, TextAdded):
                    break
        assert model.closed == 1


async def test_a_refusal_leaves_the_sources_own_words(home: Path) -> None:
    model = ScriptedGenerator("I would rather not.", reason="refusal")
    answer = done(await events_of(home, model))
    assert answer.degraded == ("generate:refused:extractive",)
    assert "would not answer" in " ".join(answer.warnings)


async def test_the_model_is_asked_whatever_the_extractive_answer_says(home: Path) -> None:
    model = ScriptedGenerator("How to descale an espresso machine is not mentioned.")
    question = "How do I descale an espresso machine with vinegar?"
    answer = done(await events_of(home, model, question=question))
    assert len(model.told) == 1
    assert (answer.status, answer.rejected) == ("low_relevance", ())
    assert answer.warnings[-1].startswith("The language model finds no answer")


# --- what it is told --------------------------------------------------------------------------


async def test_the_question_never_stands_in_the_system_message(home: Path) -> None:
    model = ScriptedGenerator(*HONEST)
    await events_of(home, model)
    system, user = model.told[0]
    assert (system.speaker, user.speaker) == ("system", "user")
    assert QUESTION not in system.text
    assert QUESTION in user.text


async def test_the_window_is_not_overrun(home: Path) -> None:
    model = ScriptedGenerator(*HONEST)
    model.window = 400
    await events_of(home, model, max_tokens=100)
    assert sum(model.count_tokens([each.text for each in model.told[0]])) <= 400


class Judging(ScriptedGenerator):
    """Writes the script, and says yes when it is asked whether a claim is supported."""

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        if "You check citations" in messages[0].text:
            yield '{"supported": "yes"}'
            yield Finish("end", Usage(1000, 5, 0.25), self.provider, self.model)
            return
        async for piece in super().stream(messages, writing=writing):
            yield piece


async def test_what_the_model_used_as_a_judge_is_counted(home: Path) -> None:
    model = Judging("The lighthouse was built of granite in 1874. [Source 1]")
    async with open_tour(home, generator=model, stored=True) as engine:
        judging = Engine(replace(engine.parts, judge=GeneratorJudge(model)))
        answer = await judging.answer(asked())
    assert answer.usage.usd == 0.25
    assert answer.usage.input_tokens > 1000


async def test_the_same_question_is_answered_from_memory(home: Path) -> None:
    model = ScriptedGenerator(*HONEST)
    async with open_tour(home, generator=model, stored=True) as engine:
        first = await engine.answer(QUESTION)
        second = await engine.answer(f"  {QUESTION} ")
    assert (first.cached, second.cached, len(model.told)) == (False, True, 1)
    assert second.text == first.text
    assert second.query_id != first.query_id
    assert first.usage.output_tokens
    assert second.usage == Usage(), "nobody pays for it again"

"""The whole path of a question, over a small library about bees.

Read this to see what quoth does: sources go in, a question is asked, and every sentence that
comes out proves itself. The doubles are in `testing`, the library in `small_library`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import quoth
from quoth.core.errors import (
    IndexMismatch,
    InputError,
    NotFound,
    OutOfTime,
    RetrievalError,
)
from quoth.core.events import (
    AnswerCompleted,
    CitationAdded,
    HitsFound,
    StageStarted,
    TextAdded,
)
from quoth.core.plan import PROFILES
from quoth.core.protocols import Embedder, Matrix
from quoth.core.settings import Settings
from quoth.core.translations import translate
from quoth.core.types import Chunk, Filter, Scored, Turn
from quoth.engine import Engine
from quoth.pipeline.excerpt import find_excerpt
from quoth.pipeline.retrieve import Request
from quoth.testing import HashEmbedder, MemoryIndex
from tests.support.failing_backends import FailingEmbedder, FailingIndex, SlowEmbedder, SlowIndex
from tests.support.full_disk import no_room
from tests.support.small_library import add, open_tour, write_sources

Rows = dict[str, tuple[Chunk, Matrix]]
NECTAR = "What is honey made from?"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Rows]:
    """The library, filled once: its home, and the rows of its index for other indexes to share."""
    folder = tmp_path_factory.mktemp("tour")
    index = MemoryIndex()

    async def fill() -> None:
        async with open_tour(folder / "home", index=index) as engine:
            documents = await add(engine, write_sources(folder / "sources"))
        assert [each.status for each in documents] == ["ready"] * 4

    asyncio.run(fill())
    return folder / "home", index.rows


@pytest.fixture
async def engine(shelf: tuple[Path, Rows]) -> AsyncIterator[Engine]:
    home, rows = shelf
    async with open_tour(home, index=MemoryIndex(rows)) as opened:
        yield opened


# --- an answer --------------------------------------------------------------------------------


async def test_an_answer_cites_the_second_at_which_it_was_said(engine: Engine) -> None:
    answer = await engine.answer(NECTAR)
    assert answer.status == "answered"
    assert answer.grounded
    assert "Honey is made from nectar, which the workers carry home" in answer.text
    (citation,) = answer.citations
    assert citation.document_name == "Inside the hive"
    assert citation.link == "https://www.youtube.com/watch?v=aaaaaaaaaaa&t=12"
    assert citation.support == "supported"


async def test_passages_that_an_answer_does_not_quote_come_with_it(engine: Engine) -> None:
    answer = await engine.answer(NECTAR)
    quoted = {each.chunk_id for each in answer.citations}
    assert answer.closest
    assert quoted.isdisjoint(each.chunk_id for each in answer.closest)
    assert [each.rank for each in answer.closest] == [
        len(answer.citations) + at for at in range(1, len(answer.closest) + 1)
    ]
    for each in answer.closest:
        assert each.marked is not None
        told = each.text[slice(*each.marked)]
        assert told
        assert told not in answer.text
        shown = find_excerpt(engine.parts.catalogue, f"{answer.query_id}:{each.rank}", documents=())
        assert shown.marked is not None
        assert shown.text[shown.marked[0] - shown.start : shown.marked[1] - shown.start] == told


async def test_an_answer_cites_the_page_as_printed_and_as_counted(engine: Engine) -> None:
    answer = await engine.answer("Who climbed the steps with a can of oil?")
    citation = answer.citations[0]
    assert (citation.page, citation.page_number) == ("1", 3)
    assert citation.link is not None
    assert citation.link.endswith("book.pdf#page=3")


async def test_a_french_question_gets_a_french_answer(engine: Engine) -> None:
    answer = await engine.answer("Pourquoi le miel d'acacia reste-t-il liquide ?")
    assert answer.query.language == "fr"
    assert "peu de glucose" in answer.text


async def test_thanks_are_replied_to_without_a_search(engine: Engine) -> None:
    request = Request("Merci beaucoup !", history=(Turn(NECTAR, "From nectar."),))
    events = [event async for event in engine.stream(request)]
    done = events[-1]
    assert isinstance(done, AnswerCompleted)
    assert done.answer.status == "small_talk"
    assert done.answer.text.startswith("Je vous en prie")
    assert not [event for event in events if isinstance(event, HitsFound | StageStarted)]


async def test_more_shows_what_the_answer_before_left_out_and_then_says_so(engine: Engine) -> None:
    question, shown = "When does a colony swarm?", list[str]()
    first = await engine.answer(question)
    history = [Turn(question, first.text)]
    for _ in range(4):
        answer = await engine.answer(Request("show me more", history=tuple(history)))
        assert not set(shown) & {each.snippet for each in answer.citations}
        shown += [each.snippet for each in answer.citations]
        history.append(Turn("show me more", answer.text))
        if not answer.citations and not answer.closest:
            break
    assert answer.text == translate("answering.no_more", "en")


async def test_in_french_asks_the_question_again_of_french_sources(engine: Engine) -> None:
    asked = Turn("Which honey stays liquid for years?", "None.")
    answer = await engine.answer(Request("and in French?", history=(asked,)))
    assert answer.query.standalone.startswith("Which honey stays liquid")
    assert [each.field for each in answer.query.filters] == ["language"]
    found = {each.document_id for each in (*answer.citations, *answer.closest)}
    ask_in_french = await engine.answer("Pourquoi le miel d'acacia reste-t-il liquide ?")
    assert ask_in_french.citations[0].document_id in found


async def test_two_questions_in_one_are_both_answered(engine: Engine) -> None:
    answer = await engine.answer("What is honey and when does a colony swarm?")
    said = " ".join(each.snippet for each in answer.citations)
    assert "nectar" in said
    assert "becomes too small" in said


async def test_events_come_in_the_order_of_the_work(engine: Engine) -> None:
    events = [
        event async for event in engine.stream("How much honey does a colony need in winter?")
    ]
    order = [event.event for event in events]
    assert order[:3] == ["status", "hits", "status"]
    tokens, citations = order.count("token"), order.count("citation")
    assert (tokens, citations >= 1) == (1, True)
    assert order[3:] == ["token"] * tokens + ["citation"] * citations + ["usage", "done"]
    assert [e.stage for e in events if isinstance(e, StageStarted)] == ["retrieve", "answer"]


async def test_what_streams_is_what_is_done(engine: Engine) -> None:
    events = [
        event async for event in engine.stream("How much honey does a colony need in winter?")
    ]
    done = events[-1]
    assert isinstance(done, AnswerCompleted)
    answer = done.answer
    assert "".join(e.text for e in events if isinstance(e, TextAdded)) == answer.text
    assert tuple(e.citation for e in events if isinstance(e, CitationAdded)) == answer.citations
    (found,) = [e for e in events if isinstance(e, HitsFound)]
    assert {c.document_id for c in answer.citations} <= {h.document_id for h in found.hits}


@pytest.mark.parametrize(
    "question",
    [NECTAR, "When does a colony swarm?", "What did the keeper note?", "Le miel est-il amer ?"],
)
async def test_a_snippet_is_the_stored_text_byte_for_byte(engine: Engine, question: str) -> None:
    answer = await engine.answer(question)
    assert answer.citations
    for each in answer.citations:
        if each.marked is not None:
            assert 0 <= each.marked[0] < each.marked[1] <= len(each.snippet)
        chunks = engine.parts.catalogue.document_chunks(each.document_id)
        stored = "".join(chunk.text for chunk in chunks)
        assert stored[each.snippet_start : each.snippet_end] == each.snippet
        assert each.chunk_id in {chunk.chunk_id for chunk in chunks}
    for sentence in answer.sentences:
        assert sentence.citations
        assert set(sentence.citations) <= {each.number for each in answer.citations}
        assert answer.text[sentence.start : sentence.end].strip()


async def test_an_answer_says_how_it_came_about(engine: Engine) -> None:
    answer = await engine.answer(NECTAR)
    assert answer.counts.retrieved >= answer.counts.cited >= 1
    assert answer.counts.in_context == len(answer.used_chunks)
    assert set(answer.timings_ms) >= {"understand", "keyword", "semantic", "fuse", "cite", "total"}
    assert answer.profile == "default"
    assert answer.provider is None
    assert answer.degraded == ()


# --- no answer --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the capital of Mongolia?", "I found nothing on this in the documents"),
        ("Quelle est la capitale de la Mongolie ?", "Je n’ai rien trouvé à ce sujet"),
    ],
)
async def test_what_is_not_there_is_not_answered(engine: Engine, question: str, said: str) -> None:
    answer = await engine.answer(question)
    assert answer.status == "no_results"
    assert answer.text.startswith(said)
    assert answer.citations == ()
    assert answer.sentences == ()
    assert not answer.grounded
    assert 1 <= len(answer.closest) <= 3


async def test_where_it_is_not_sure_the_closest_passages_are_marked_and_none_is_cited(
    engine: Engine,
) -> None:
    answer = await engine.answer("Who sells honey in Rome?")
    assert answer.status == "low_relevance"
    assert answer.citations == answer.sentences == ()
    assert not answer.grounded
    marked = [each.text[slice(*each.marked)] for each in answer.closest if each.marked]
    # A whole run, as an answer quotes it.
    assert marked[0].startswith("In winter the colony gathers around the queen")
    assert marked[0].endswith(
        "A strong colony needs fifteen kilograms of honey to live until spring."
    )
    assert answer.text == "\n\n".join(
        [
            "I am not sure that the documents answer this. What comes closest:",
            *(f"{number}. “{each}”" for number, each in enumerate(marked, start=1)),
        ]
    )


async def test_more_after_an_unsure_answer_shows_other_passages(engine: Engine) -> None:
    question = "Who sells honey in Rome?"
    first = await engine.answer(question)
    more = await engine.answer(Request("Show me more", history=(Turn(question, first.text),)))
    shown = [{each.chunk_id for each in answer.closest} for answer in (first, more)]
    assert first.status == more.status == "low_relevance"
    assert shown[1]
    assert shown[0].isdisjoint(shown[1])


def test_the_closest_passages_are_numbered_without_gaps(tmp_path: Path) -> None:
    said, other = "The keeper of the wood counts lanterns in winter.", "A keeper counts lanterns."
    texts = {"oak": f"{said}\n\nMoss.", "elm": f"{said}\n\nRain fell on a price.", "ash": other}
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    with quoth.open(tmp_path / "home", embedder="fake") as library:
        library.add(tmp_path)
        answer = library.ask("What is the price of lanterns in winter?")
    assert answer.text.endswith(f"1. “{said}\nRain fell on a price.”\n\n2. “{other}”")
    assert [each.rank for each in answer.closest] == [1, 2]


async def test_a_marked_sentence_of_an_indented_text_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "rome.txt"
    file.write_text("     A seller in Rome has many jars.\n\nFew people come.\n")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"), file)
        answer = await engine.answer("Who sells jars in Naples?")
    marked = [each.text[slice(*each.marked)] for each in answer.closest if each.marked]
    assert "A seller in Rome has many jars.\n\nFew people come." in marked


async def test_neither_contents_nor_bare_headings_are_the_closest(tmp_path: Path) -> None:
    contents, headed = tmp_path / "contents.txt", tmp_path / "headed.md"
    contents.write_text("".join(f"Jars in Rome {'.' * 20} {page}\n" for page in range(3, 9)))
    headed.write_text("# Jars in Rome\n\nPeople there have many of these.\n")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"), contents, headed)
        answer = await engine.answer("Who sells jars in Naples?")
    assert answer.status == "low_relevance"
    told = {each.document: each.text[slice(*(each.marked or (0, 0)))] for each in answer.closest}
    assert "contents" not in told
    assert told["Jars in Rome"] == "People there have many of these."


async def test_an_unknown_collection_names_those_there_are(engine: Engine) -> None:
    with pytest.raises(NotFound, match=r"no collection 'novels'.*There are: default"):
        await engine.answer(Request(NECTAR, collections=("novels",)))


async def test_an_empty_library_says_how_to_fill_it(tmp_path: Path) -> None:
    async with open_tour(tmp_path) as engine:
        assert await engine.documents() == []
        with pytest.raises(NotFound, match="quoth add PATH"):
            await engine.answer(NECTAR)


# --- filters and choices ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "sources"),
    [
        ("kind=transcript", {"Inside the hive"}),
        ("language=fr", {"Le miel"}),
        ("page=2", {"The Lighthouse Book"}),
        ("speaker=Ada", {"Inside the hive"}),
        ("speaker=ADA", {"Inside the hive"}),
        ("time=0:05-0:09", {"Inside the hive"}),
    ],
)
async def test_a_filter_keeps_what_it_names(
    engine: Engine, written: str, sources: set[str]
) -> None:
    hits = await engine.search(Request("honey queen keeper", filters=(written,)))
    assert {hit.document for hit in hits} == sources


@pytest.mark.parametrize(
    ("written", "fragment"),
    [("page=2", "#page=4"), ("page_number=5", "#page=5"), ("time=0:15", "&t=12")],
)
async def test_a_hit_opens_the_place_that_a_filter_names(
    engine: Engine, written: str, fragment: str
) -> None:
    (hit, *_) = await engine.search(Request("honey keeper", filters=(written,)))
    assert (hit.link or "").endswith(fragment)


async def test_a_page_in_the_question_is_kept_to(engine: Engine) -> None:
    hits = await engine.search("What did bees do on page 3?")
    assert all("3" in (hit.locator.label_first, hit.locator.label_last) for hit in hits)  # type: ignore[union-attr]
    assert hits


async def test_a_page_that_is_not_there_is_said_to_be_missing(engine: Engine) -> None:
    answer = await engine.answer("What is honey made from, on page 900?")
    assert any("no page 900" in each for each in answer.warnings)
    assert "nectar" in answer.text


async def test_a_page_that_is_not_there_is_no_question_about_the_titles_words(
    engine: Engine,
) -> None:
    answer = await engine.answer("What is on page 900 of the lighthouse manual?")
    assert any("no page 900" in each for each in answer.warnings)
    assert answer.status == "no_results"


async def test_places_that_contradict_each_other_are_let_go_with_a_warning(engine: Engine) -> None:
    answer = await engine.answer("According to Ada, what is honey made from, in the French talks?")
    assert any(each.startswith("Nothing was found in what Ada says") for each in answer.warnings)
    assert "nectar" in answer.text


async def test_a_page_that_was_given_is_not_let_go(engine: Engine) -> None:
    answer = await engine.answer(Request(NECTAR, filters=("page=900",)))
    assert answer.status == "no_results"
    assert answer.closest == ()
    assert answer.warnings == (translate("pipeline.no_match", "en"),)


@pytest.mark.parametrize(
    ("question", "named", "language", "missing"),
    [
        (NECTAR, "Inside the hive,No such book", "en", "“No such book”"),
        ("De quoi est fait le miel ?", "Le miel,A,B", "fr", "«\u202fA\u202f», «\u202fB\u202f»"),
        (NECTAR, "Inside the hive,A,B,C,D,E", "en", "“A”, “B”, “C”, “D”, …"),
    ],
)
async def test_documents_of_several_that_are_not_there_are_named(
    engine: Engine, question: str, named: str, language: str, missing: str
) -> None:
    answer = await engine.answer(Request(question, filters=(f"document={named}",)))
    assert answer.citations
    notice = translate("pipeline.no_document", language, asked=missing)
    assert answer.warnings == (notice,)


@pytest.mark.parametrize("question", [NECTAR, "Who said that?"])
async def test_a_history_of_something_else_is_refused(engine: Engine, question: str) -> None:
    with pytest.raises(InputError, match=r"quoth\.Turn"):
        await engine.answer(Request(question, history=("What is honey?",)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "choices",
    [
        {"final_k": 0},
        {"mode": "psychic"},
        {"deadline_ms": "soon"},
        {"sentences": 3},
        {"filters": 5},
    ],
)
async def test_an_impossible_choice_is_refused_before_anything_streams(
    engine: Engine, choices: Mapping[str, Any]
) -> None:
    with pytest.raises(InputError):
        await anext(engine.stream(Request(NECTAR, choices=choices)))


# --- one index, one model ---------------------------------------------------------------------


class OtherEmbedder(HashEmbedder):
    """The next revision of the model."""

    revision = "2"


async def test_an_index_of_another_model_is_refused_with_the_way_out(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    index = MemoryIndex()
    async with open_tour(tmp_path / "home", index=index) as engine:
        await add(engine, sources / "notes.md")
    async with open_tour(tmp_path / "home", index=index, embedder=OtherEmbedder()) as engine:
        with pytest.raises(IndexMismatch, match="quoth --collection default reindex"):
            await engine.answer("When does a colony swarm?")
        with pytest.raises(IndexMismatch, match="revision 1"):
            await add(engine, sources / "miel.md")
        health = await engine.health()
        assert not health.ok
        assert "identity" in {check.name for check in health.checks if not check.ok}


async def test_reindexing_makes_the_index_the_new_models(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
    async with open_tour(tmp_path / "home", embedder=OtherEmbedder()) as engine:
        assert [step async for step in engine.reindex()]
        answer = await engine.answer("When does a colony swarm?")
        assert answer.citations
        assert (await engine.health()).ok


# --- failure ----------------------------------------------------------------------------------


class HalfIndex(MemoryIndex):
    """Has one leg, which may be slow, and no other."""

    def __init__(self, rows: Rows, *, leg: str, seconds: float | None = None) -> None:
        super().__init__(rows)
        self._leg = leg
        self._seconds = seconds

    async def _fail(self, leg: str) -> None:
        if leg != self._leg:
            return
        if self._seconds is None:
            raise RetrievalError("This leg is made to fail.")
        await asyncio.sleep(self._seconds)

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        await self._fail("semantic")
        return await super().nearest(vector, limit=limit, filters=filters)

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        await self._fail("keyword")
        return await super().match(text, languages=languages, limit=limit, filters=filters)

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, Matrix]:
        await self._fail("vectors")
        return await super().vectors(chunk_ids)


class FailsLater(HashEmbedder):
    """Embeds the question and no sentence."""

    async def embed(self, texts: Sequence[str], *, role: Any) -> Matrix:
        if role == "query":
            return await super().embed(texts, role=role)
        return await FailingEmbedder().embed(texts, role=role)


SLOW = 30.0


@pytest.mark.parametrize(
    ("failing", "choices", "expected"),
    [
        pytest.param(
            {"embedder": FailingEmbedder()},
            {},
            ["embed:embedding_failed:keyword"],
            id="the embedder",
        ),
        pytest.param(
            {"leg": "semantic"}, {}, ["semantic:retrieval_failed:keyword"], id="the semantic leg"
        ),
        pytest.param(
            {"leg": "keyword"}, {}, ["keyword:retrieval_failed:semantic"], id="the keyword leg"
        ),
        pytest.param(
            {"leg": "semantic", "seconds": SLOW},
            {"deadline_ms": 400.0},
            ["semantic:deadline:keyword"],
            id="a slow leg",
        ),
        pytest.param(
            {"embedder": SlowEmbedder(SLOW)},
            {"deadline_ms": 1500.0},
            ["embed:deadline:keyword"],
            id="a slow embedder",
        ),
        pytest.param(
            {"leg": "vectors"},
            {"mmr_lambda": 0.5},
            ["vectors:retrieval_failed:fused order"],
            id="the vectors of diversity",
        ),
        pytest.param(
            {"embedder": FailsLater()},
            {},
            ["quote:embedding_failed:words alone"],
            id="the embedder while quoting",
        ),
    ],
)
async def test_what_fails_is_done_without_and_said(
    shelf: tuple[Path, Rows],
    failing: Mapping[str, Any],
    choices: Mapping[str, Any],
    expected: list[str],
) -> None:
    home, rows = shelf
    embedder: Embedder | None = failing.get("embedder")
    index = HalfIndex(rows, leg=failing.get("leg", ""), seconds=failing.get("seconds"))
    began = time.monotonic()
    async with open_tour(home, embedder=embedder, index=index) as engine:
        answer = await engine.answer(Request(NECTAR, choices=choices))
    # After the deadline other stages may have no time left either; the first is what failed.
    assert list(answer.degraded[:1]) == expected
    assert answer.citations
    assert "nectar" in answer.text
    assert time.monotonic() - began < SLOW / 3


@pytest.mark.parametrize(
    ("embedder", "deadline_ms", "reason"),
    [
        pytest.param(FailingEmbedder(), None, "embedding_failed", id="it fails"),
        pytest.param(SlowEmbedder(SLOW), 600.0, "deadline", id="it is slow"),
    ],
)
async def test_the_cache_takes_no_answer_away(
    shelf: tuple[Path, Rows], embedder: Embedder, deadline_ms: float | None, reason: str
) -> None:
    home, rows = shelf
    choices = {"cache": "semantic", "deadline_ms": deadline_ms}
    async with open_tour(home, index=MemoryIndex(rows)) as engine:
        await engine.answer(Request(NECTAR, choices, session="one"))
        failing = Engine(replace(engine.parts, embedder=embedder))
        answer = await failing.answer(Request("What is honey made of?", choices, session="one"))
    assert answer.degraded[0] == f"embed:{reason}:keyword"
    assert answer.citations


async def test_an_answer_given_again_tells_its_own_time(shelf: tuple[Path, Rows]) -> None:
    home, rows = shelf
    async with open_tour(home, index=MemoryIndex(rows)) as engine:
        first, again = [await engine.answer(NECTAR) for _ in range(2)]
    assert "keyword" in first.timings_ms
    assert set(again.timings_ms) == {"understand", "embed", "total"}


@pytest.mark.parametrize(
    ("failing", "choices"),
    [
        pytest.param({"index": FailingIndex}, {}, id="both legs"),
        pytest.param({"index": SlowIndex}, {"deadline_ms": 100.0}, id="both legs late"),
        pytest.param({"embedder": FailingEmbedder()}, {"mode": "semantic"}, id="the only leg"),
    ],
)
async def test_without_any_leg_the_search_is_unavailable(
    shelf: tuple[Path, Rows], failing: Mapping[str, Any], choices: Mapping[str, Any]
) -> None:
    home, rows = shelf
    kind = failing.get("index", MemoryIndex)
    index = SlowIndex(SLOW, rows=rows) if kind is SlowIndex else kind(rows)
    async with open_tour(home, index=index, embedder=failing.get("embedder")) as engine:
        with pytest.raises(RetrievalError, match=r"unavailable|time that was allowed"):
            await engine.answer(Request(NECTAR, choices=choices))


async def test_a_bug_is_no_fallback(shelf: tuple[Path, Rows]) -> None:
    class Buggy(HashEmbedder):
        async def embed(self, texts: Sequence[str], *, role: Any) -> Matrix:
            raise ZeroDivisionError

    home, rows = shelf
    async with open_tour(home, index=MemoryIndex(rows), embedder=Buggy()) as engine:
        with pytest.raises(ZeroDivisionError):
            await engine.answer(NECTAR)


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources / "hive.srt")
        with no_room():
            answer = await engine.answer(NECTAR)
    assert answer.citations
    assert answer.degraded == ("record:storage_full:no history",)


async def test_the_deadline_of_a_profile_counts(
    shelf: tuple[Path, Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that gives half a second."""
    home, rows = shelf
    quick = replace(PROFILES["lecture"], plan={"mode": "semantic", "deadline_ms": 500.0})
    monkeypatch.setitem(PROFILES, "lecture", quick)  # type: ignore[arg-type]
    settings = Settings(home=home, profile="lecture")
    index = SlowIndex(SLOW, rows=rows)
    began = time.monotonic()
    async with open_tour(home, index=index, settings=settings) as engine:
        with pytest.raises(OutOfTime, match="deadline"):
            await engine.answer(NECTAR)
    assert time.monotonic() - began < SLOW / 3

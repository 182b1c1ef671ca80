"""Every type of question is found in its own way: these fail if the way is not really taken."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import RetrievalError
from quoth.core.protocols import Matrix
from quoth.core.trace import Trace
from quoth.core.types import (
    Answer,
    Chunk,
    Document,
    Filter,
    Scored,
    Turn,
)
from quoth.engine import Engine
from quoth.pipeline.components import OutlineCache, embedding_fingerprint
from quoth.pipeline.record import Record
from quoth.pipeline.retrieve import Request, Retrieved
from quoth.query.entity_index import EntityIndex
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.store.rows import Entry
from quoth.testing import HashEmbedder, MemoryIndex
from tests.support.failing_backends import FailingIndex
from tests.support.small_library import TALK, add, open_tour, write_sources

Rows = dict[str, tuple[Chunk, Matrix]]
GUIDE = """# The wasp keeper's guide

## Nests

Wasps build their nests from chewed wood. A nest is begun by one queen in spring.

## Stings

A wasp can sting again and again. Its sting has no barb, unlike that of a bee.
"""


class Listening(MemoryIndex):
    """Remembers what the keyword leg was asked for, and with which filters."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self.heard: list[str] = []
        self.filters: list[tuple[Filter, ...]] = []

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        self.heard.append(text)
        self.filters.append(tuple(filters))
        return await super().match(text, languages=languages, limit=limit, filters=filters)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Rows]:
    folder = tmp_path_factory.mktemp("strategies")
    index = MemoryIndex()
    sources = write_sources(folder / "sources")
    (sources / "wasps.md").write_text(GUIDE, encoding="utf-8")

    async def fill() -> None:
        async with open_tour(folder / "home", index=index) as engine:
            await add(engine, sources)

    asyncio.run(fill())
    return folder / "home", index.rows


@pytest.fixture
def index(shelf: tuple[Path, Rows]) -> Listening:
    return Listening(shelf[1])


@pytest.fixture
async def engine(shelf: tuple[Path, Rows], index: Listening) -> AsyncIterator[Engine]:
    async with open_tour(shelf[0], index=index) as opened:
        yield opened


@pytest.fixture
async def blind(shelf: tuple[Path, Rows]) -> AsyncIterator[Engine]:
    """An engine whose index answers nothing: what works with it is not ranked."""
    async with open_tour(shelf[0], index=FailingIndex()) as opened:
        yield opened


async def found(engine: Engine, question: str, **choices: Any) -> Retrieved:
    return await engine.retrieve(Request(question, choices), trace=Trace())


def documents(answer: Answer) -> set[str]:
    return {each.document_name for each in answer.citations}


# --- a place is looked up ---------------------------------------------------------------------


async def test_a_page_is_looked_up_and_not_ranked(blind: Engine) -> None:
    answer = await blind.answer("What is on page 3?")
    assert answer.query.kind == "page_specific"
    assert answer.status == "answered"
    assert {each.page for each in answer.citations} == {"3"}


async def test_a_page_opens_where_its_first_sentence_begins_before(blind: Engine) -> None:
    answer = await blind.answer("What is on page 2?")
    (citation,) = answer.citations
    assert citation.snippet.startswith("When the storm")  # on page 1, PDF page 3
    assert (citation.page, citation.page_number) == ("2", 4)
    assert (citation.link or "").endswith("book.pdf#page=4")


@pytest.mark.parametrize("time", ["0:12", "0:13"])
async def test_a_time_is_answered_with_what_was_said_then(blind: Engine, time: str) -> None:
    answer = await blind.answer(f"What is said at {time}?")
    assert answer.status == "answered"
    assert answer.text.startswith("Honey is made from nectar")


# --- an outline is listed ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    ["Which sections does the wasp keeper's guide have?", "Table of contents of the wasp guide"],
)
async def test_the_headings_of_a_source_are_listed(blind: Engine, question: str) -> None:
    answer = await blind.answer(question)
    assert answer.text == "Nests [1]\nStings [2]"
    assert answer.status == "answered"
    assert [each.snippet for each in answer.citations] == ["Nests", "Stings"]
    assert documents(answer) == {"The wasp keeper's guide"}


async def test_headings_do_not_contradict_each_other(tmp_path: Path) -> None:
    told = "Wasps build their nests from chewed wood in spring.\n\n" * 60
    guide = tmp_path / "guide.md"
    titles = [f"Chapter {at}. Old wasps of spring" for at in (1, 2)]
    chapters = "".join(f"## {title}\n\n{told}" for title in titles)
    guide.write_text(f"# The guide\n\n{chapters}", encoding="utf-8")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, guide)
        answer = await engine.answer("Which chapters does the guide have?")
    assert [each.snippet for each in answer.citations] == titles
    assert answer.contradictions == ()


async def test_a_subject_is_searched_though_sections_are_asked_for(engine: Engine) -> None:
    answer = await engine.answer("Which sections of the wasp guide explain stings?")
    assert "has no barb" in answer.text


@pytest.mark.parametrize("question", ["Which documents do I have?", "Quels documents ai-je ?"])
async def test_the_documents_are_listed(blind: Engine, question: str) -> None:
    answer = await blind.answer(question)
    assert len(answer.citations) == len(await blind.documents())
    assert "The wasp keeper's guide [" in answer.text
    # A talk does not say its title: its first words follow it.
    assert "Inside the hive:\nA beehive has one queen" in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "Which documents are in French?",
        "Show me all documents in French",
        "Listez les documents en français",
    ],
)
async def test_the_documents_of_a_language_are_listed(tmp_path: Path, question: str) -> None:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        answer = await engine.answer(question)
        languages = {each.document_id: each.language for each in await engine.documents()}
    assert {languages[each.document_id] for each in answer.citations} == {"fr"}
    assert answer.status == "answered"


@pytest.mark.parametrize("question", ["Which talks are there?", "Quels exposés y a-t-il ?"])
async def test_documents_of_the_kind_that_is_asked_for_are_listed(
    blind: Engine, question: str
) -> None:
    answer = await blind.answer(question)
    kinds = {each.document_id: each.kind for each in await blind.documents()}
    assert "transcript" in kinds.values()
    assert {kinds[each.document_id] for each in answer.citations} == {"transcript"}


@pytest.mark.parametrize(
    "question",
    ["What are sources?", "Which episodes are there?", "Show all documents of 14 May 2025"],
)
async def test_what_asks_for_something_else_is_no_list(tmp_path: Path, question: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("one", "two", "three"):
        (notes / f"{name}.md").write_text(
            f"# Note {name}\n\nBread is baked {name} times.\n", "utf-8"
        )
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, notes)
        assert len((await engine.answer("Which documents are there?")).citations) == 3
        assert len((await engine.answer(question)).citations) < 3


@pytest.mark.parametrize(
    "question",
    [
        "List the talks by Ada Lovelace",
        "Which talks did Ada Lovelace give?",
        "Which talks are there by Ada Lovelace?",
        "Quelles sont les conférences d'Ada Lovelace ?",
        "Show all talks of 14 May 2025",
    ],
)
async def test_the_documents_of_a_speaker_or_a_day_are_listed(
    tmp_path: Path, question: str
) -> None:
    sources = tmp_path / "talks"
    sources.mkdir()
    for name in ("Engines", "Looms", "Bees"):
        (sources / f"{name}.srt").write_text(TALK.replace("beehive", name), "utf-8")
    ada = [f"{name}.srt,Ada Lovelace,2025-05-14" for name in ("Engines", "Looms")]
    rows = ["file,speaker,date", *ada, "Bees.srt,Karl Frisch,2025-05-15"]
    (sources / "talks.meta.csv").write_text("\n".join(rows), "utf-8")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources)
        answer = await engine.answer(question)
    assert answer.query.filters
    assert documents(answer) == {"Engines", "Looms"}


# --- a summary covers what it sums up ---------------------------------------------------------


@pytest.mark.parametrize(
    "question", ["Summarise the document The wasp keeper's guide", "Summarize the wasp guide"]
)
async def test_a_summary_covers_its_document_without_ranking(blind: Engine, question: str) -> None:
    answer = await blind.answer(question)
    assert answer.query.kind == "summary"
    assert documents(answer) == {"The wasp keeper's guide"}
    assert "nest" in answer.text
    assert "sting" in answer.text


@pytest.mark.parametrize(
    "question", ["Summarize chapter 70", "What are the main points of chapter 70?"]
)
async def test_a_summary_of_a_place_that_does_not_exist_is_none(
    blind: Engine, question: str
) -> None:
    answer = await blind.answer(question)
    assert (answer.status, answer.citations) == ("no_results", ())
    assert any("70" in warning for warning in answer.warnings)


async def test_a_summary_names_every_section_and_quotes_its_beginning(tmp_path: Path) -> None:
    manual = tmp_path / "manual.md"
    manual.write_text(
        "# The ant manual\n\nBy Ann Antworth\n\nThis manual is for keepers of ants.\n\n"
        "## Contents\n\n***\n\n## Preface\n\nBy Ann\n\nAnts have long been kept.\n\n"
        "## Why keep ants?\n\nAnts are quiet. They need little room.\n\n"
        "## Diagram\n\n***\n\n## Food\n\nIt depends? Ants eat sugar and insects.\n\n"
        "## Notes\n\nSome ants fly in summer.\n\n## Licence\n\nYou may copy this manual.\n"
    )
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as engine:
        await add(engine, manual)
        answer = await engine.answer("Summarize the ant manual")
    assert answer.text == (
        "This manual is for keepers of ants. [1]\n\n"
        "Preface:\nAnts have long been kept. [2]\n\n"
        "Why keep ants?\nAnts are quiet. They need little room. [3]\n\n"
        "Diagram [4]\n\n"
        "Food:\nAnts eat sugar and insects. [5]\n\n"
        "Notes:\nSome ants fly in summer. [6]"
    )


@pytest.mark.parametrize("head", ["Abstract\n\n", "Résumé : ", "## Abstract\n\n"])
async def test_the_summary_of_a_paper_begins_with_its_abstract(tmp_path: Path, head: str) -> None:
    abstract = " ".join(f"We count the ants of {each} hills in spring." for each in range(1, 4))
    text = f"# Ants of the hills\n\nA. Person, B. Person\n\n{head}{abstract}\n\n"
    (tmp_path / "ants.md").write_text(
        text + "## Introduction\n\nAnts are old.\n\n## Method\n\nWe went.\n"
    )
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, tmp_path)
        answer = await engine.answer("What is the paper Ants of the hills about?")
    assert answer.text.partition(" [1]")[0].endswith(abstract)
    assert "Introduction:\nAnts are old." in answer.text


async def test_a_summary_does_not_begin_with_the_title_alone(tmp_path: Path) -> None:
    text = "# The harbour\n\n# Tides\n\nThe tide turns twice a day.\n\n# Boats\n\nTen boats lie.\n"
    (tmp_path / "harbour.md").write_text(text)
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, tmp_path)
        answer = await engine.answer("Summarize The harbour")
    assert answer.text.startswith("Tides:\nThe tide turns twice a day. [1]")


async def test_what_a_document_is_about_is_its_summary_whatever_the_type_of_the_question(
    blind: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.query.understand.classify_intent", lambda *_, **__: "factual")
    answer = await blind.answer("What is the wasp guide about?")
    assert answer.query.kind == "factual"
    assert documents(answer) == {"The wasp keeper's guide"}
    with pytest.raises(RetrievalError):  # a section is searched
        await blind.answer("What is a nest about?")


CHAPTERS = {
    "honey.md": "# The honey book\n\n## Chapter 1\n\nThe barn stands on a hill.\n\n"
    "## Chapter 2\n\nThe barn has a red door. Wax is melted there. Honey is taken in June.\n",
    "stings.md": "# Stings\n\n## Chapter 1\n\nWasps sting.\n\n## Chapter 2\n\nSo do bees.\n",
}


FAQ = """# Hive FAQ

## 1. Frames

### K1. Of wood?

Yes.

### K2. Too full?

Smoke it.

## 2. Boxes

Of pine.
"""


async def test_a_title_in_a_chapter_is_a_subject_unless_it_names_the_source(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as engine:
        for name, text in CHAPTERS.items():
            (tmp_path / name).write_text(text)
            await add(engine, tmp_path / name)
        about = await engine.answer("What does chapter 2 say about honey?")
        (tmp_path / "faq.md").write_text(FAQ)
        await add(engine, tmp_path / "faq.md")
        label = await engine.answer("Summarize question K2")
        outline = await engine.answer("Which sections does the chapter on frames have?")
        topic = await engine.answer("List the chapters on honey")
        file = await engine.answer("Summarize faq.md")
        of = await engine.answer("Summarize chapter 2 of the honey book")
    assert "Honey is taken in June" in about.text.splitlines()[0]
    assert documents(of) == {"The honey book"}
    assert "Smoke it." in label.text
    assert "Chapter 1 [1]" not in topic.text
    assert file.text == "1. Frames [1]\n\n2. Boxes [2]"
    assert outline.text.startswith("K1. Of wood? [1]\nK2. Too full? [2]")
    assert "The barn has a red door." in of.text


MEETING = """# Bee club

## Meeting of {day}

### 1. Report

{report}

### 2. Votes

{vote}
"""


@pytest.mark.parametrize(
    "question",
    [
        "Summarize the meeting of 9 March 2025",
        "Summarize the minutes of 9 March 2025",
        "Summarize the committee meeting of 9 March 2025",
        "What was the meeting of 9 March 2025 about?",
        "Résume le procès-verbal du 9 mars 2025",
        "Résume le compte rendu de l'assemblée générale du 9 mars 2025",
    ],
)
async def test_a_meeting_is_summed_up_by_its_date(tmp_path: Path, question: str) -> None:
    texts = {
        "club-2024-03-24.md": (
            "24 March 2024",
            "The old barn was sold to a baker.",
            "Nobody voted.",
        ),
        "club-2025-03-09.md": (
            "9 March 2025",
            "The club has forty new hives behind the mill.",
            "The members voted for a lower fee of ten euros.",
        ),
    }
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as engine:
        for name, (day, report, vote) in texts.items():
            text = MEETING.format(day=day, report=report, vote=vote)
            (tmp_path / name).write_text(text, encoding="utf-8")
            await add(engine, tmp_path / name)
        answer = await engine.answer(question)
    assert "forty new hives" in answer.text
    assert "lower fee" in answer.text
    assert "baker" not in answer.text


async def test_a_title_alone_is_no_answer_to_what_it_does_not_say(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text(
        "# Rules of the old mill club of Wick\n\n## Bells of the club"
    )
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as engine:
        await add(engine, tmp_path / "rules.md")
        beside = await engine.answer("Who may ring the rules of the old mill club of Wick?")
        title = await engine.answer("What is the title of the rules of the old mill club?")
    assert (beside.status, beside.citations) == ("low_relevance", ())
    assert title.text.startswith("Rules of the old mill club of Wick")


async def test_the_documents_of_a_filter_and_of_every_collection_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_tour(tmp_path / "home") as engine:
        for name, collection in (("honey.md", "default"), ("stings.md", "more")):
            (tmp_path / name).write_text(CHAPTERS[name])
            async for _ in engine.add([tmp_path / name], collection=collection):
                pass
        asked = Request("Which documents do I have?", collections=("default", "more"))
        both = (await engine.retrieve(asked, trace=Trace())).headings
        (stings,) = (each.document_id for each in both if each.path == ("Stings",))
        filtered = replace(asked, filters=(f"document={stings}",))
        one = (await engine.retrieve(filtered, trace=Trace())).headings
        (tmp_path / "wax.md").write_text("# Wax\n\nIt melts.")
        async for _ in engine.add([tmp_path / "wax.md"]):
            pass
        monkeypatch.setattr("quoth.pipeline.search_collection.MAX_HEADINGS", 1)
        first = await engine.answer(replace(asked, collections=("default",)))
    assert {each.path for each in both} == {("The honey book",), ("Stings",)}
    assert len(first.citations) == 1
    assert first.warnings == (
        "Further documents that are not listed here: 1. The list of documents shows all.",
    )
    assert [each.path for each in one] == [("Stings",)]


async def test_every_sentence_of_a_summary_opens_its_source(blind: Engine) -> None:
    answer = await blind.answer("Summarise the document The wasp keeper's guide")
    assert answer.sentences
    assert all(each.citations for each in answer.sentences)
    assert all(each.snippet in GUIDE for each in answer.citations)


# --- a misspelled word is searched as its nearest ---------------------------------------------


async def test_a_word_that_no_passage_has_is_searched_as_its_nearest(engine: Engine) -> None:
    answer = await engine.answer("What do wasps build from chewwed wood?")
    assert "chewed wood" in answer.text
    assert answer.query.original == "What do wasps build from chewwed wood?"
    assert answer.query.standalone == "What do wasps build from chewed wood?"
    assert any("“chewed” instead of “chewwed”" in each for each in answer.warnings)
    right = await engine.answer("What do wasps build from chewed wood?")
    assert right.text == answer.text
    assert right.warnings == ()


# --- the others -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "When does a colony swarm?",
        "What is the difference between a swarm and a wasp nest?",
        "What is honey made from and when does a colony swarm?",
    ],
)
async def test_a_question_is_searched_once_and_whole(
    engine: Engine, index: Listening, question: str
) -> None:
    await found(engine, question)
    assert index.heard == [question]


async def test_a_guess_lifts_and_never_excludes(engine: Engine, index: Listening) -> None:
    question = "In the talk on inner hive life, how much honey does a colony need?"
    result = await found(engine, question)
    assert (result.query.filters, len(result.query.boosts)) == ((), 1)
    assert result.query.boosts in index.filters
    assert "Keeping bees" in {hit.document for hit in result.hits}


async def test_a_filter_read_from_the_question_that_leaves_little_only_lifts(
    engine: Engine, index: Listening
) -> None:
    question = 'In "The wasp keeper\'s guide", how much honey does a colony need?'
    result = await found(engine, question)
    assert [filter_.field for filter_ in result.query.filters] == ["document"]
    documents = [hit.document for hit in result.hits]
    assert "The wasp keeper's guide" in documents[:2]
    assert len(set(documents)) > 1
    assert result.warnings[0].endswith("so the rest was searched, too.")
    only = await found(engine, 'What does "The wasp keeper\'s guide" say?')
    assert {hit.document for hit in only.hits} == {"The wasp keeper's guide"}
    assert "the rest" not in only.warnings[0]


async def test_a_follow_up_is_searched_by_what_it_stands_for(
    engine: Engine, index: Listening
) -> None:
    history = (Turn("When does a colony swarm?", "A colony swarms when the hive is too small."),)
    request = Request("And what does the queen do then?", history=history)
    query = (await engine.retrieve(request, trace=Trace())).query
    assert query.is_followup
    assert "swarm" in query.standalone
    assert index.heard == [query.standalone]


async def test_what_may_lean_is_also_searched_for_with_words_of_the_conversation(
    engine: Engine, index: Listening
) -> None:
    history = (Turn("When does a colony swarm?", "When the hive is too small."),)
    found = await engine.retrieve(
        Request("What goes wrong with old combs?", history=history), trace=Trace()
    )
    assert index.heard == ["What goes wrong with old combs?", found.query.in_context]
    assert "colony" in found.query.in_context


async def test_copies_of_one_passage_are_shown_once(tmp_path: Path) -> None:
    index = MemoryIndex()
    text = "Honey bees store nectar in wax cells and dry it with their wings all night long. "
    folder = tmp_path / "copies"
    folder.mkdir()
    for at in range(8):
        (folder / f"copy{at}.txt").write_text(f"{text}\n", encoding="utf-8")
    (folder / "other.txt").write_text("Wax cells have six sides.\n", encoding="utf-8")
    async with open_tour(tmp_path / "home", index=index) as engine:
        await add(engine, folder)
        result = await found(engine, "Where do bees store nectar?", duplicate_cosine=0.97)
    assert len([hit for hit in result.hits if "store nectar" in hit.text]) == 1


# --- several collections ----------------------------------------------------------------------


async def test_contents_make_room_for_what_they_lead_to(tmp_path: Path) -> None:
    lines = [f"{n}.1 How do bees make honey in a hive? . . . . . . . . {n}" for n in range(1, 7)]
    files = {"contents.txt": "\n".join(lines), "honey.txt": "Bees make honey out of nectar."}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    async with open_tour(tmp_path / "home", index=MemoryIndex()) as engine:
        await add(engine, tmp_path / "contents.txt")
        await add(engine, tmp_path / "honey.txt")
        hits = (await found(engine, "How do bees make honey?")).hits
        assert hits[0].text == "Bees make honey out of nectar."


async def test_several_collections_are_searched_at_once(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources / "notes.md")
        async for _ in engine.add([sources / "hive.srt"], collection="talks"):
            pass
        request = Request(
            "How is honey made, and how much is needed?", collections=("default", "talks")
        )
        hits = await engine.search(request)
    assert {hit.collection for hit in hits} == {"default", "talks"}
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


async def test_a_collection_that_fails_is_named_and_done_without(
    shelf: tuple[Path, Rows], tmp_path: Path
) -> None:
    sources = write_sources(tmp_path / "sources")
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, sources / "notes.md")
        async for _ in engine.add([sources / "hive.srt"], collection="talks"):
            pass
        there = engine.parts.open_index
        table = engine.parts.catalogue.collection("talks").table
        parts = replace(
            engine.parts, open_index=lambda name: FailingIndex() if name == table else there(name)
        )
        trace = Trace()
        request = Request("How much honey is needed?", collections=("default", "talks"))
        result = await Engine(parts).retrieve(request, trace=trace)
    assert {hit.collection for hit in result.hits} == {"default"}
    assert any("talks" in each for each in trace.degraded)


def test_outlines_are_read_by_many_threads_at_once(tmp_path: Path) -> None:
    catalogue = Catalogue(open_database(tmp_path / "catalogue.sqlite"), tenant="local")
    names = [f"c{at}" for at in range(12)]
    identity = embedding_fingerprint(HashEmbedder())
    for name in names:
        collection = catalogue.make_collection(name, identity=identity)
        document = Document(f"d-{name}", name, "text", "ready", language="en", source=name)
        catalogue.commit(collection, [Entry(document, "0" * 64, (), ())])
    outlines = OutlineCache(catalogue)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: outlines.read([names[at % 12]])[1], range(240)))
    catalogue.close()
    assert [next(iter(each.documents.values())).title for each in found[:12]] == names


def test_only_the_newest_names_of_a_collection_are_kept(tmp_path: Path) -> None:
    catalogue = Catalogue(open_database(tmp_path / "catalogue.sqlite"), tenant="local")
    collection = catalogue.make_collection("c", identity=embedding_fingerprint(HashEmbedder()))
    outlines = OutlineCache(catalogue)
    for at in range(3):
        document = Document(f"kept{at}", f"d{at}", "text", "ready", language="en", source=f"d{at}")
        catalogue.commit(collection, [Entry(document, f"{at:064}", (), ())])
        assert len(outlines.read(["c"])[1].documents) == at + 1
    catalogue.close()
    every = (each for each in gc.get_objects() if isinstance(each, EntityIndex))
    assert [len(each.documents) for each in every if "kept0" in each.documents] == [3]


async def test_who_said_that_quotes_the_last_answer_below_its_places(engine: Engine) -> None:
    records: list[Record] = []
    asked = "How do bees cool the hive?"
    told = await engine.answer(Request(asked))
    turns = (Turn(asked, told.text),)
    request = Request("When is that said?", history=turns)
    again = await engine.answer(request, keep=records.append)
    assert [each.id for each in again.citations] == [each.id for each in told.citations]
    first = again.citations[0]
    assert again.text.startswith(f"1. {first.document_name} · {first.section_heading}\n\n2. ")
    assert again.text.endswith(f"\n\n{told.text}")
    assert [again.text[each.start : each.end] for each in again.sentences] == [
        told.text[each.start : each.end] for each in told.sentences
    ]
    assert records[0].request.question == again.query.original == request.question
    assert records[0].request.history == turns
    assert records[0].request.choices.get("cache") is None
    long = Turn("Bees " * 400, "They fly.")  # It was cut when it was asked.
    assert (await engine.answer(Request("Who said that?", history=(long,)))).text
    refused = await engine.answer("What does a dragon cost?")
    nothing = Turn("What does a dragon cost?", refused.text)
    places = await engine.answer(Request("Who said that?", history=(nothing,)))
    assert places.text.endswith(refused.text)
    # "More" and its source are answered alike, and a question after both goes on with the first.
    more = await engine.answer(Request("Show me more", history=turns))
    turns = (*turns, Turn("Show me more", more.text), Turn("Who said that?", ""))
    source = await engine.answer(Request("Where is that said?", history=turns))
    assert [each.id for each in source.citations] == [each.id for each in more.citations]


async def test_sentences_are_scored_by_both_wordings_of_a_turn(engine: Engine) -> None:
    heard: list[str] = []

    class Spans:
        async def score(
            self,
            query: str,
            _chunks: Sequence[Chunk],
            *,
            spans: Sequence[tuple[int, int, int]],
            tokens: Matrix | None = None,
        ) -> Sequence[float]:
            heard.append(query)
            return [float(at) * (1 if tokens is None else -1) for at, _ in enumerate(spans)]

    engine.parts = replace(engine.parts, spans=Spans())
    history = (Turn("When does a colony swarm?", "A colony swarms when the hive is too small."),)
    for question in (
        "And why?",
        "And what about the queen?",
        "What goes wrong with old combs?",
        "Where is that said?",
    ):
        await engine.answer(Request(question, history=history))
    bare, followup, typed, apart, after, again = heard
    assert bare.startswith("And why? (colony swarm")
    assert followup.startswith("And what about the queen? (colony swarm")
    assert typed == "And what about the queen?"
    assert apart == "What goes wrong with old combs?"
    assert after.startswith(history[0].question)
    assert after.endswith(apart)
    assert again == history[0].question

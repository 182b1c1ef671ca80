"""quoth in Python, without ``await``: the five lines of the package's docstring, and around."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import quoth
from quoth.core.errors import IndexCorrupt
from quoth.core.events import AnswerCompleted, HitsFound
from quoth.core.types import Filter
from quoth.library import Library
from tests.support.small_library import NOTES, write_sources

BEES = "When does a colony swarm?"


def readers() -> int:
    """The threads of open libraries."""
    return sum(thread.name == "quoth" for thread in threading.enumerate())


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "sources")


def test_five_lines(tmp_path: Path, sources: Path) -> None:
    with quoth.open(str(tmp_path / "my-library"), embedder="fake") as library:
        added = library.add(sources / "notes.md", str(sources / "book.pdf"))
        assert [each.status for each in added] == ["ready", "ready"]
        answer = library.ask(BEES)
        assert answer.text
        assert answer.citations[0].link
    assert readers() == 0


def test_the_same_as_on_the_command_line(sample_home: Path) -> None:
    with quoth.open(str(sample_home), embedder="fake") as library:
        assert len(library.documents()) == 18
        french = Filter("language", "in", ("fr",))
        hits = library.search("transfer learning", k=2, filters=[french])
        assert hits == library.search("transfer learning", k=2, filters={"language": "fr"})
        assert library.ask("transfer learning", filters={"kind": "pdf", "page": 5}).citations
        assert [hit.rank for hit in hits] == [1, 2]
        assert library.search("transfer learning", mode="keyword")[0].score_kind == "bm25"
        events = list(library.stream("What is transfer learning?", max_sentences=1))
        assert isinstance(events[1], HitsFound)
        assert isinstance(events[-1], AnswerCompleted)
        assert len(events[-1].answer.sentences) == 1
        assert library.health().ok


def test_events_come_before_the_answer_is_ready_and_closing_stops_it(bees: Library) -> None:
    for event in bees.stream(BEES):
        if isinstance(event, HitsFound):
            break
    waiting = bees.stream(BEES)
    assert not isinstance(next(waiting), AnswerCompleted)
    bees.close()
    with pytest.raises(quoth.InputError, match="closed"):
        list(waiting)


def test_a_text_is_added_and_cited_by_its_characters(tmp_path: Path) -> None:
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        added = library.add_text("# Swarms\r\n\r\nA **colony** swarms in May.\r\n", name="a/b.md")
        assert (added.status, added.title, library.remove(added)) == (
            *("ready", "Swarms"),
            [added.document_id],
        )
        added = library.add_text(NOTES.encode(), title="Notes", language="en")
        citation = library.ask(BEES).citations[0]
        text = library.text(citation.document_id)
        assert text[citation.snippet_start : citation.snippet_end] == citation.snippet
        assert library.text("Notes") == text
        library.remove(added)
        for gone in (added, "Novel"):
            with pytest.raises(quoth.NotFound):
                library.text(gone)


def test_a_citation_has_its_text_while_its_words_stay_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text(NOTES, encoding="utf-8")
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        library.add(file)
        citation = library.ask(BEES).citations[0]
        file.write_text(f"{NOTES}\n\nIt rains.\n", encoding="utf-8")
        library.add(file)
        text = library.text(citation)
        assert text.endswith("It rains.")
        assert text[citation.snippet_start : citation.snippet_end] == citation.snippet
        file.write_text("Cats.", encoding="utf-8")
        library.add(file)
        with pytest.raises(quoth.NotFound):
            library.text(citation)


async def test_the_engine_answers_in_a_program_with_an_event_loop(tmp_path: Path) -> None:
    async with quoth.open_async(str(tmp_path / "home"), embedder="fake") as engine:
        async for _step in engine.add_data(NOTES.encode(), name="notes.md"):
            pass
        assert (await engine.answer(quoth.Request(BEES, {"max_sentences": 1}))).citations
        for name, value in (("filters", "kind=text"), ("collections", "default")):
            with pytest.raises(quoth.InputError, match=rf"'{name}' .* write \('{value}',\)"):
                await engine.answer(replace(quoth.Request(BEES), **{name: value}))


def test_changing_what_is_there(tmp_path: Path, sources: Path) -> None:
    with quoth.open(str(tmp_path / "home"), embedder="fake", collection="bees") as library:
        (document,) = library.add(
            sources / "notes.md", title="Bees", url="https://example.org/bees", language="en"
        )
        assert (document.title, document.collection) == ("Bees", "bees")
        library.reindex()
        assert library.search(BEES)
        assert library.remove("Bees", document.document_id, "nothing") == [document.document_id]
        assert library.documents() == []
        library.remove_collection("bees")
        with pytest.raises(quoth.NotFound):
            library.remove_collection("bees")


async def test_inside_a_running_event_loop(tmp_path: Path, sources: Path) -> None:
    loop = asyncio.get_running_loop()
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        library.add(sources / "notes.md")
        assert library.ask(BEES).citations
        asked = await asyncio.gather(*(asyncio.to_thread(library.ask, BEES) for _ in range(4)))
        assert len({answer.text for answer in asked}) == 1
    assert asyncio.get_running_loop() is loop


def test_a_library_may_be_closed_twice_and_is_closed_then(tmp_path: Path) -> None:
    library = quoth.open(str(tmp_path), embedder="fake")
    library.close()
    library.close()
    with pytest.raises(quoth.InputError, match="closed"):
        library.ask(BEES)


def test_a_forked_process_is_told_to_open_its_own(
    bees: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as forked:
        forked.setattr("quoth.library.getpid", lambda: -1)
        for use in (bees.documents, lambda: list(bees.stream(BEES))):
            with pytest.raises(quoth.InputError, match=r"forked\. Open one here"):
                use()
        bees.close()
    assert bees.ask(BEES).citations


def test_the_names_of_the_package_are_there(tmp_path: Path) -> None:
    assert [name for name in quoth.__all__ if not hasattr(quoth, name)] == []
    with quoth.open(tmp_path, embedder="fake") as library:
        assert isinstance(library, quoth.Library)


def test_two_libraries_at_once(tmp_path: Path, sources: Path) -> None:
    home = str(tmp_path / "home")
    with quoth.open(home, embedder="fake") as one, quoth.open(home, embedder="fake") as other:
        one.add(sources / "notes.md")
        assert other.ask(BEES).citations


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"colour": "red"}, "colour"),
        ({"threads": 0}, "threads"),
        ({"profile": "novel"}, "no profile 'novel'"),
        ({"profile": "talks"}, "bge-m3 is not installed"),
        ({"embedder": "nothing"}, "no embedder 'nothing'"),
        ({"foo": 1}, r"There is no setting 'foo'\. All settings"),
        ({"embeder": "fake"}, "There is no setting 'embeder'. Did you mean 'embedder'"),
    ],
)
def test_a_wrong_setting_is_an_error_and_leaves_nothing_running(
    tmp_path: Path, settings: dict[str, object], reason: str
) -> None:
    with pytest.raises(quoth.ConfigError, match=reason):
        quoth.open(str(tmp_path), **settings)
    assert readers() == 0


@pytest.mark.parametrize("below", ["", "home"])
def test_a_file_is_no_home(tmp_path: Path, below: str) -> None:
    file = tmp_path / "file.py"
    file.write_text("pass\n", encoding="utf-8")
    with pytest.raises(quoth.ConfigError, match=r"file\.py is a file\. Name a folder"):
        quoth.open(str(file / below), embedder="fake")


@pytest.fixture
def bees(tmp_path: Path, sources: Path) -> Iterator[Library]:
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        library.add(sources / "notes.md")
        yield library


@pytest.mark.parametrize(
    ("sessions", "shared"), [((None, None), True), (("a", "a"), True), (("a", "b"), False)]
)
def test_answers_are_shared_within_a_session(
    bees: Library, sessions: tuple[str | None, str | None], shared: bool
) -> None:
    one, other = sessions
    bees.ask(BEES, cache="semantic", session=one)
    again = "When does a colony swarm ?"
    assert bees.ask(again, cache="semantic", session=other).cached is shared


def test_no_answer_of_before_a_document_was_added_is_given_again(
    bees: Library, sources: Path
) -> None:
    bees.ask(BEES, cache="exact")
    assert bees.ask(BEES, cache="exact").cached
    (sources / "later.md").write_text("# Swarms\n\nA colony swarms in May.\n", encoding="utf-8")
    bees.add(sources / "later.md")
    assert not bees.ask(BEES, cache="exact").cached


def test_an_answer_is_not_given_again_after_other_turns(bees: Library) -> None:
    first, other = [quoth.Turn("What is honey?", "Food.")], [quoth.Turn("Who won?", "She.")]
    bees.ask(BEES, history=first)
    assert bees.ask(BEES, history=first).cached
    assert not bees.ask(BEES, history=other).cached


def test_two_libraries_share_no_answers_by_likeness(bees: Library, tmp_path: Path) -> None:
    with quoth.open(str(tmp_path / "home"), embedder="fake") as other:
        bees.ask(BEES, cache="semantic")
        assert not other.ask(BEES, cache="semantic").cached


def test_what_was_asked_is_listed_newest_first(bees: Library) -> None:
    asked = [bees.ask(each) for each in (BEES, "What is honey?")]
    assert [each.query_id for each in bees.history()] == [each.query_id for each in asked[::-1]]
    assert [each.text for each in bees.history(most=1)] == ["What is honey?"]


def test_errors_are_raised_where_they_belong(tmp_path: Path) -> None:
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        with pytest.raises(quoth.NotFound, match="Nothing was added yet"):
            library.ask(BEES)
        (missing,) = library.add(tmp_path / "missing.pdf")
        assert missing.error is not None
        assert missing.error.code == "not_found"
        (tmp_path / "bees.md").write_text(NOTES)
        library.add(tmp_path / "bees.md")
        with pytest.raises(quoth.InputError, match="Did you mean 'final_k'"):
            library.ask(BEES, finalk=3)
        for name, hint in (
            ("max_ms", "Did you mean 'deadline_ms'"),
            ("top_k", "Did you mean 'final_k'"),
            ("generator", r"quoth\.open\(generator=…\)"),
            ("llm", r"docs/plan\.md"),
        ):
            with pytest.raises(quoth.InputError, match=hint):
                library.ask(BEES, **{name: 1})
        with pytest.raises(quoth.InputError, match=r"filters=\{'kind': 'pdf'\}"):
            library.ask(BEES, filters="kind=pdf")
        for wrong in (
            Filter("colour", "in", ("red",)),  # type: ignore[arg-type]
            Filter("language", "=", ("en",)),  # type: ignore[arg-type]
            Filter("language", "in", "en"),  # type: ignore[arg-type]
            Filter("page", "overlaps", (1.0,)),  # type: ignore[arg-type]
            Filter("page", "overlaps", (5, 1)),
        ):
            with pytest.raises(quoth.InputError, match="filter"):
                library.search(BEES, filters=[wrong])
        with pytest.raises(quoth.InputError, match="home folder"):
            quoth.open("", embedder="fake")
        for source in ("", "https://example.org/bees"):
            with pytest.raises(quoth.InputError, match=r"empty|quoth add https://example\.org"):
                library.add(source)
        wrong_types: list[Callable[[], object]] = [
            lambda: library.ask(None),  # type: ignore[arg-type]
            lambda: library.ask_all(BEES),
            lambda: library.ask_all([BEES, " "]),
            lambda: library.add([tmp_path]),  # type: ignore[arg-type]
            lambda: library.add_text(3),  # type: ignore[arg-type]
            lambda: library.ask(BEES, filters={"colour": "red"}),
            lambda: library.ask(BEES, filters={"kind": ["pdf", "text"]}),
            lambda: library.add_text("x", name=None),  # type: ignore[arg-type]
        ]
        for call in wrong_types:
            with pytest.raises(quoth.InputError):
                call()
        assert library.search(
            BEES, filters=Filter("language", "in", ("en",)), collections="default"
        )
        assert library.ask(BEES, filters=None).citations


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"url": "javascript:alert(1)"}, "is not a web address"),
        ({"url": "file:///etc/passwd"}, "is not a web address"),
        ({"language": "klingon"}, "Write one such as en or fr"),
        ({"title": "Bees"}, "A title is for a single file"),
        ({"url": "https://example.org/bees"}, "A URL is for a single file"),
    ],
)
def test_what_cannot_hold_for_the_files_is_refused_before_any_is_read(
    tmp_path: Path, sources: Path, given: dict[str, str], says: str
) -> None:
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        with pytest.raises(quoth.InputError, match=says):
            library.add(sources, **given)
        assert library.documents() == []


def test_a_title_for_a_folder_with_a_single_file(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        (added,) = library.add(folder, title="Bees", language="en-GB")
    assert (added.title, added.language) == ("Bees", "en")


def test_a_date_that_is_given_stands_for_that_of_the_file(tmp_path: Path, sources: Path) -> None:
    notes = sources / "notes.md"
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        with pytest.raises(quoth.InputError, match="not a date"):
            library.add(notes, date="soon")
        (added,) = library.add(notes, date="1 March 2024")
        (again,) = library.add(notes, date="2024-03-01")
        asked = library.ask(BEES, filters={"date": "2024"})
    assert (added.date, again.status) == ("2024-03-01", "unchanged")
    assert {each.document_id for each in asked.citations} == {added.document_id}


def test_a_speaker_and_a_language_hold_for_all_files(tmp_path: Path, sources: Path) -> None:
    with quoth.open(str(tmp_path / "home"), embedder="fake") as library:
        added = library.add(sources, speaker="Ada", language="en")
    assert {(each.speaker, each.language) for each in added} == {("Ada", "en")}


@pytest.mark.parametrize("name", ["a/b", "../x", "..", "a\\b"])
def test_a_new_collection_has_a_name_that_fits_into_a_url(
    tmp_path: Path, sources: Path, name: str
) -> None:
    with (
        quoth.open(str(tmp_path / "home"), embedder="fake", collection=name) as library,
        pytest.raises(quoth.InputError, match="part of its URL"),
    ):
        library.add(sources)


def test_everything_promised_is_there() -> None:
    assert all(hasattr(quoth, name) for name in quoth.__all__)
    assert quoth.__version__


@pytest.mark.parametrize("stores", [("sqlite-vec", "lancedb"), ("lancedb", "sqlite-vec")])
def test_an_index_in_another_store_is_looked_for_there(
    tmp_path: Path, sources: Path, stores: tuple[str, str]
) -> None:
    """The advice is not only to build it again: it is whole, in the other store."""
    pytest.importorskip("sqlite_vec")
    first, second = stores
    with quoth.open(tmp_path, embedder="fake", store=first) as library:
        library.add(sources)
    with (
        quoth.open(tmp_path, embedder="fake", store=second) as library,
        pytest.raises(IndexCorrupt, match=r"name that store \(--store.*quoth.* reindex"),
    ):
        library.ask(BEES)

"""The library map: headings, places, summaries and tuning, kept with the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from quoth.core.calibration import Calibration, Tuning
from quoth.core.outline import Heading, Summary, SummarySentence
from quoth.core.types import (
    Filter,
    Locator,
    Pages,
    Seconds,
    SpanLocator,
)
from quoth.store import outline
from quoth.store.catalogue import Catalogue
from quoth.store.metadata import metadata
from quoth.store.rows import Collection, Entry, IndexBuild
from tests.support.made_documents import IDENTITY, entry, open_catalogue

Library = tuple[Catalogue, Collection]


@pytest.fixture
def library(address: Path | str) -> Iterator[Library]:
    catalogue, collection = open_catalogue(address)
    yield catalogue, collection
    catalogue.close()


def mapped(document_id: str, *, title: str = "Animals") -> Entry:
    """A document with everything on the map."""
    made = entry(document_id, title=title)
    return replace(
        made,
        document=replace(made.document, date="2024-03"),
        headings=(
            Heading(document_id, ("Foxes",), 0, 1, chapter="1"),
            Heading(document_id, ("Foxes", "Dens"), 1, 1, chapter="1"),
            Heading(document_id, (), 1, 1, segment="qa"),
        ),
        summaries=(
            Summary(document_id, 0, (), 0, 1, (SummarySentence(f"{document_id}.0", 0, 11),)),
            Summary(
                document_id, 1, ("Foxes",), 0, 1, (SummarySentence(f"{document_id}.1", 11, 21),)
            ),
        ),
    )


def commit(library: Library, *entries: Entry) -> Collection:
    """Commit and give the collection as it is then."""
    catalogue, collection = library
    catalogue.commit(collection, entries)
    return catalogue.collection(collection.name)


def count(library: Library, table: str) -> int:
    with library[0].reading() as connection:
        rows = connection.execute(select(func.count()).select_from(metadata.tables[table]))
        return rows.scalar_one()


# --- written and taken away with the document --------------------------------------------------


def test_chunks_keep_their_chapter_segment_and_date(library: Library) -> None:
    made = entry("d1", chunks=1)
    given_chunk = replace(made.chunks[0], chapter="3", segment="demo", date="2024-03-01")
    commit(library, replace(made, chunks=(given_chunk,)))
    assert library[0].document_chunks("d1") == [given_chunk]


TABLES = ("spots", "headings", "summaries")


def test_removing_a_document_takes_its_map_away(library: Library) -> None:
    collection = commit(library, mapped("d1"), mapped("d2"))
    before = [count(library, table) for table in TABLES]
    library[0].remove(collection, ["d1"])
    assert [2 * count(library, table) for table in TABLES] == before


def test_a_new_version_of_a_source_replaces_the_map(library: Library) -> None:
    old = mapped("d1")
    collection = commit(library, old)
    before = [count(library, table) for table in TABLES]
    new = mapped("d2")
    same_source = replace(new.document, source=old.document.source)
    library[0].commit(collection, [replace(new, document=same_source)])
    assert [count(library, table) for table in TABLES] == before


# --- the shelf --------------------------------------------------------------------------------


def test_a_shelf_holds_documents_languages_and_headings(library: Library) -> None:
    made = mapped("d1")
    collection = commit(library, made, entry("d2", language="fr"), entry("d3", language="fr"))
    shelf = library[0].collection_outline(collection)
    assert [each.document_id for each in shelf.documents] == ["d1", "d2", "d3"]
    assert shelf.documents == tuple(library[0].documents(collection))
    assert shelf.languages == ("fr", "en")
    assert shelf.headings == made.headings
    assert shelf.version == collection.index_version


def test_a_damaged_name_of_a_speaker_is_not_used(library: Library) -> None:
    talk = placed("c", Seconds(0, 60, speaker="Ada"), Seconds(60, 130, speaker="Bob"))
    collection = commit(library, replace(talk, speakers=("Ada", "Bob")))
    with library[0].database.engine.begin() as connection:
        connection.execute(text("UPDATE speakers SET name = 'Job' WHERE name = 'Bob'"))
    assert library[0].collection_outline(collection).speakers == (("Ada", "c"),)


def test_a_shelf_is_kept_until_the_collection_changes(library: Library) -> None:
    collection = commit(library, mapped("d1"))
    first = library[0].collection_outline(collection)
    assert library[0].collection_outline(collection) is first
    later = commit((library[0], collection), mapped("d2"))
    assert len(library[0].collection_outline(later).documents) == 2


def test_a_shelf_is_of_one_collection_and_one_tenant(address: Path | str, library: Library) -> None:
    commit(library, mapped("d1"))
    other = library[0].make_collection("other", identity=IDENTITY)
    stranger, theirs = open_catalogue(address, tenant="stranger")
    assert (
        library[0].collection_outline(other).headings
        == stranger.collection_outline(theirs).headings
        == ()
    )
    assert library[0].headings(other, ["d1"]) == stranger.headings(theirs, ["d1"]) == []
    stranger.close()


def test_a_large_library_keeps_the_headings_that_lead(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outline, "MAX_HEADINGS", 5)
    collection = commit(library, mapped("d1"), mapped("d2"))
    shelf = library[0].collection_outline(collection)
    assert [(each.path, each.segment) for each in shelf.headings] == [
        (("Foxes",), ""),
        ((), "qa"),
    ] * 2
    assert len(library[0].headings(collection, ["d2", "d1"])) == 6


# --- look-up by place -------------------------------------------------------------------------


def pages(first: int, last: int, *, shift: int = 10) -> Pages:
    """PDF pages with labels: Roman up to `shift`, decimal numbers from there on."""
    roman = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"]
    name = [roman[n] if n <= shift else str(n - shift) for n in (first, last)]
    return Pages(first, last, name[0], name[1])


def placed(document_id: str, *places: Locator, chapters: Sequence[str] = ()) -> Entry:
    """A document with a chunk at each place."""
    made = entry(document_id, chunks=len(places), title=f"Book {document_id}")
    chunks = tuple(
        replace(
            each,
            locator=place,
            places=(SpanLocator(each.start, each.end, place),),
            chapter=chapters[at] if at < len(chapters) else "",
        )
        for at, (each, place) in enumerate(zip(made.chunks, places, strict=True))
    )
    return replace(made, chunks=chunks)


def found(library: Library, collection: Collection, *filters: Filter, limit: int = 9) -> list[str]:
    chunks = library[0].look_up(collection, filters=filters, limit=limit)
    return [each.chunk_id for each in chunks]


@pytest.fixture
def books(library: Library) -> Library:
    one = placed("a", pages(9, 9), pages(11, 12), pages(12, 14), chapters=["", "1", "2"])
    two = placed("b", pages(3, 4, shift=0), pages(12, 12, shift=0), chapters=["1", "2"])
    talk = placed("c", Seconds(0, 60, speaker="Ada"), Seconds(60, 130, speaker="Bob"))
    return library[0], commit(library, one, two, talk)


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        (Filter("label", "in", ("2",)), ["a.1", "a.2"]),
        (Filter("label", "in", ("IX",)), ["a.0"]),
        (Filter("label", "in", ("1", "12")), ["a.1", "b.1"]),
        (Filter("label", "in", ("99",)), []),
        (Filter("label", "in", ("%",)), []),
        (Filter("label", "in", ("",)), []),
        (Filter("page", "overlaps", (12, 13)), ["a.1", "a.2", "b.1"]),
        (Filter("chapter", "in", ("1",)), ["a.1", "b.0"]),
        (Filter("seconds", "overlaps", (60, 61)), ["c.0", "c.1"]),
        (Filter("seconds", "overlaps", (61, 900)), ["c.1"]),
        # The author of all three; in the talk, Bob speaks second.
        (Filter("speaker", "in", ("Ada",)), ["a.0", "a.1", "a.2", "b.0", "b.1", "c.0"]),
        (Filter("speaker", "in", ("Bob",)), ["c.1"]),
        (Filter("section", "in", ("FÔXES",)), ["a.0", "a.1", "a.2", "b.0", "b.1", "c.0", "c.1"]),
        (Filter("section", "in", ("fox",)), []),
        (Filter("section", "in", ("_____",)), []),
        (Filter("kind", "in", ("pdf",)), []),
        (Filter("language", "in", ("en", "fr")), ["a.0", "a.1", "a.2", "b.0", "b.1", "c.0", "c.1"]),
        (Filter("document", "in", ("b",)), ["b.0", "b.1"]),
    ],
    ids=lambda each: f"{each.field}={each.values}" if isinstance(each, Filter) else "",
)
def test_chunks_are_looked_up_by_place(
    books: Library, condition: Filter, ids: Sequence[str]
) -> None:
    assert found(books, books[1], condition) == ids


@pytest.mark.parametrize("kept", ["2024", "2024-03", "2024-03-15", None])
@pytest.mark.parametrize(
    ("low", "high"),
    [(20240101, 20241231), (20240301, 20240331), (20240315, 20240315), (20240316, 20240401)],
)
def test_dates_overlap_as_days_do(library: Library, kept: str | None, low: int, high: int) -> None:
    made = entry("d1", chunks=1)
    dated = replace(made, document=replace(made.document, date=kept))
    collection = commit(library, dated)
    days = {
        "2024": (20240101, 20241231),
        "2024-03": (20240301, 20240331),
        "2024-03-15": (20240315, 20240315),
    }
    there = kept is not None and days[kept][0] <= high and low <= days[kept][1]
    assert bool(found(library, collection, Filter("date", "overlaps", (low, high)))) is there


_PLACES = st.lists(
    st.tuples(st.integers(1, 20), st.integers(0, 3)).map(lambda p: pages(p[0], p[0] + p[1])),
    min_size=1,
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_PLACES, st.integers(1, 22), st.integers(0, 5), st.sampled_from(["label", "page"]))
def test_a_look_up_finds_what_a_look_at_all_chunks_finds(
    library: Library, places: Sequence[Pages], first: int, more: int, field: str
) -> None:
    made = placed("p", *places)
    collection = commit((library[0], library[0].collection("default")), made)
    if field == "page":
        condition = Filter("page", "overlaps", (first, first + more))
        wanted = [p.first <= first + more and p.last >= first for p in places]
    else:
        condition = Filter("label", "in", (str(first),))
        wanted = [str(first) in (p.label_first, p.label_last) for p in places]
    expected = [c.chunk_id for c, there in zip(made.chunks, wanted, strict=True) if there]
    assert found(library, collection, condition) == expected


def test_a_look_up_is_of_one_tenant_and_collection(address: Path | str, books: Library) -> None:
    stranger, theirs = open_catalogue(address, tenant="stranger")
    mine = Filter("document", "in", ("a",))
    assert stranger.look_up(theirs, filters=[mine], limit=5) == []
    other = books[0].make_collection("other", identity=IDENTITY)
    assert books[0].look_up(other, filters=[mine], limit=5) == []
    stranger.close()


# --- summaries --------------------------------------------------------------------------------


def test_summaries_come_from_the_whole_to_its_parts(library: Library) -> None:
    one, two = mapped("d1"), mapped("d2")
    collection = commit(library, one, two)
    found = library[0].summaries(collection, ["d2", "d1", "nonsense"])
    assert found == [*two.summaries, *one.summaries]


def test_summaries_are_of_one_tenant_and_collection(address: Path | str, library: Library) -> None:
    commit(library, mapped("d1"))
    stranger, theirs = open_catalogue(address, tenant="stranger")
    assert stranger.summaries(theirs, ["d1"]) == []
    stranger.close()


# --- tuning -----------------------------------------------------------------------------------

LEARNT = Tuning(
    dense_weight={"": 0.5, "fr": 0.7},
    answerable=Calibration(-1.5, {"score": 2.0}, questions=80, source="made"),
    answer_from=0.4,
    questions=80,
    made_at="2024-03-01T10:00:00+00:00",
)


def test_what_was_learnt_is_kept_until_it_is_forgotten(library: Library) -> None:
    catalogue, collection = library
    assert catalogue.tune(collection, LEARNT)
    after = catalogue.collection("default")
    assert after.tuning == LEARNT
    assert after.index_version != collection.index_version
    assert catalogue.collections()[0].tuning == LEARNT
    catalogue.tune(after, None)
    assert catalogue.collection("default").tuning is None


@pytest.mark.parametrize(("embedder", "kept"), [(IDENTITY.embedder, LEARNT), ("other", None)])
def test_a_rebuild_keeps_what_was_learnt_with_the_same_identity(
    library: Library, embedder: str, kept: Tuning | None
) -> None:
    library[0].tune(library[1], LEARNT)
    tuned = library[0].collection("default")
    identity = replace(IDENTITY, embedder=embedder)
    assert library[0].switch_index(tuned, IndexBuild("c_2", identity))
    assert library[0].collection("default").tuning == kept

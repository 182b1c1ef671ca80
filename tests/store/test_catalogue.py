"""The catalogue keeps documents whole, tenants apart and collections consistent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from quoth.core.errors import ConfigError, InputError, NotFound
from quoth.core.types import Document
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.store.history import StoredRecord
from quoth.store.rows import BATCH, ChunkContext, Collection, IndexBuild, digest
from quoth.store.schema import collections
from tests.support.made_documents import IDENTITY, entry, open_catalogue

Shelf = tuple[Catalogue, Collection]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "catalogue.sqlite"


@pytest.fixture
def shelf(address: Path | str) -> Iterator[Shelf]:
    catalogue, collection = open_catalogue(address)
    yield catalogue, collection
    catalogue.close()


def test_a_collection_with_an_earlier_name_is_still_opened(shelf: Shelf) -> None:
    catalogue, collection = shelf
    with pytest.raises(InputError, match="part of its URL"):
        catalogue.make_collection("a/b", identity=IDENTITY)
    with catalogue.writing("rename") as connection:
        connection.execute(update(collections).values(name="a/b"))
    again = catalogue.make_collection("a/b", identity=IDENTITY)
    assert (again.id, again.name) == (collection.id, "a/b")


# --- tables -----------------------------------------------------------------------------------


def test_a_catalogue_from_the_future_is_left_alone(address: Path | str) -> None:
    opened = open_database(address)
    with opened.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    opened.close()
    with pytest.raises(ConfigError, match="newer version of quoth"):
        open_database(address)


@pytest.mark.parametrize("at", [0, 100, 4096])
def test_a_damaged_file_is_named_with_the_way_out(file: Path, at: int) -> None:
    catalogue, collection = open_catalogue(file)
    catalogue.commit(collection, [entry(f"d{at}") for at in range(50)])
    catalogue.close()
    content = bytearray(file.read_bytes())
    content[at : at + 65_536] = b"\xff" * 65_536  # pages of tables that are read
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"damaged.*backup"):  # noqa: PT012 - where it shows depends on the page
        catalogue, collection = open_catalogue(file)
        catalogue.commit(collection, [entry("d99")])
        catalogue.documents(collection)
        catalogue.chunks([f"d{at}.0" for at in range(50)])


def test_a_file_that_cannot_be_opened_is_a_matter_of_configuration(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot be opened"):
        open_database(file)


def test_ids_depend_on_every_part_and_where_it_ends() -> None:
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"), ("a\x00b", "c"), ("\ud800",)]
    assert len({digest(*each) for each in parts}) == len(parts)


# --- collections ------------------------------------------------------------------------------


def test_an_unknown_collection_is_answered_with_those_there_are(shelf: Shelf) -> None:
    assert shelf[0].find_collection("nonsense") is None
    with pytest.raises(NotFound, match=r"nonsense.*default"):
        shelf[0].collection("nonsense")


def test_switching_lets_another_table_serve(shelf: Shelf) -> None:
    catalogue, collection = shelf
    other = replace(IDENTITY, embedder="other")
    assert catalogue.switch_index(collection, IndexBuild("c_2", other, "folder"))
    found = catalogue.collection("default")
    assert (found.table, found.identity) == ("c_2", other)
    assert found.index_version != collection.index_version


def test_switching_is_refused_when_the_collection_has_changed(shelf: Shelf) -> None:
    catalogue, collection = shelf
    catalogue.commit(collection, [entry("d1")])
    assert not catalogue.switch_index(collection, IndexBuild("c_2", IDENTITY))
    assert catalogue.collection("default").table == collection.table


# --- documents --------------------------------------------------------------------------------


def test_what_is_committed_is_there(shelf: Shelf) -> None:
    catalogue, collection = shelf
    made = entry("d1")
    assert catalogue.commit(collection, [made]) == ()
    assert catalogue.documents(collection) == [made.document]
    assert catalogue.documents_by_id(collection, ["d1", "d2"]) == {"d1": made.document}
    assert catalogue.document_chunks("d1") == list(made.chunks)


def test_committing_again_changes_nothing_but_the_version(shelf: Shelf) -> None:
    catalogue, collection = shelf
    for _ in range(2):
        assert catalogue.commit(collection, [entry("d1")]) == ()
    assert len(catalogue.documents(collection)) == 1
    assert catalogue.collection("default").version == 2


def test_other_content_from_the_same_source_replaces(shelf: Shelf) -> None:
    catalogue, collection = shelf
    catalogue.commit(collection, [entry("d1", source="/a.md"), entry("d2", source="/b.md")])
    assert catalogue.commit(collection, [entry("d3", source="/a.md", chunks=1)]) == ("d1",)
    assert catalogue.ready_ids(collection) == {"d2", "d3"}
    assert catalogue.document_chunks("d1") == []


def test_a_commit_is_done_as_a_whole_or_not_at_all(shelf: Shelf) -> None:
    catalogue, collection = shelf
    broken = entry("d2")
    twice = replace(broken, chunks=(*broken.chunks, broken.chunks[0]))
    with pytest.raises(IntegrityError):
        catalogue.commit(collection, [entry("d1"), twice])
    assert catalogue.documents(collection) == []
    assert catalogue.collection("default") == collection


def test_a_commit_is_refused_when_another_table_serves(shelf: Shelf) -> None:
    catalogue, collection = shelf
    catalogue.switch_index(collection, IndexBuild("c_2", IDENTITY))
    assert catalogue.commit(collection, [entry("d1")]) is None
    assert catalogue.commit(catalogue.collection("default"), [entry("d1")]) == ()


def test_a_removed_document_leaves_nothing(shelf: Shelf) -> None:
    catalogue, collection = shelf
    catalogue.commit(collection, [entry("d1"), entry("d2")])
    assert catalogue.remove(collection, ["d1", "nonsense"]) == ["d1"]
    assert catalogue.ready_ids(collection) == {"d2"}
    assert set(catalogue.chunks(["d1.0", "d1.1", "d2.0", "d2.1"])) == {"d2.0", "d2.1"}


def test_collections_do_not_mix(shelf: Shelf) -> None:
    catalogue, collection = shelf
    other = catalogue.make_collection("other", identity=IDENTITY)
    catalogue.commit(collection, [entry("d1", source="/a.md")])
    assert catalogue.commit(other, [entry("d2", source="/a.md")]) == ()
    assert catalogue.remove(other, ["d1"]) == []
    assert (catalogue.ready_ids(collection), catalogue.ready_ids(other)) == ({"d1"}, {"d2"})


# --- chunks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranges", "ids"),
    [
        ([], []),
        ([("d1", 1, 2)], ["d1.1", "d1.2"]),
        ([("d1", -5, 0)], ["d1.0"]),
        ([("d1", 3, 99)], ["d1.3", "d1.4"]),
        ([("d1", 2, 1)], []),
        ([("d2", 0, 0), ("d1", 4, 4)], ["d1.4", "d2.0"]),
        ([("d1", 0, 1), ("d1", 1, 2)], ["d1.0", "d1.1", "d1.2"]),
        ([("nonsense", 0, 9)], []),
        ([("d2", 0, 0)] * (2 * BATCH + 1), ["d2.0"]),
    ],
)
def test_ranges_of_chunks(shelf: Shelf, ranges: list[tuple[str, int, int]], ids: list[str]) -> None:
    catalogue, collection = shelf
    catalogue.commit(collection, [entry("d1", chunks=5), entry("d2", chunks=2)])
    assert [each.chunk_id for each in catalogue.chunk_ranges(ranges)] == ids


def test_more_ids_than_fit_one_statement(shelf: Shelf) -> None:
    catalogue, collection = shelf
    many = 2 * BATCH + 1
    ids = [f"d{at}" for at in range(many)]
    catalogue.commit(collection, [entry(key, chunks=1) for key in ids])
    assert len(catalogue.chunks([f"{key}.0" for key in ids])) == many
    assert len(catalogue.documents_by_id(collection, ids)) == many
    assert sorted(catalogue.remove(collection, ids)) == sorted(ids)
    assert catalogue.chunks([f"{key}.0" for key in ids]) == {}


@pytest.mark.parametrize("text", ["👩‍🔬 é 漢字", "' OR 1=1 --", "a\r\nb\t"])
def test_text_comes_back_as_it_was(shelf: Shelf, text: str) -> None:
    catalogue, collection = shelf
    made = entry("d1", chunks=1)
    catalogue.commit(collection, [replace(made, chunks=(replace(made.chunks[0], text=text),))])
    assert catalogue.chunks(["d1.0"])["d1.0"].text == text


# --- history ----------------------------------------------------------------------------------


def record(catalogue: Catalogue, query_id: str, answer: str = "{}") -> None:
    catalogue.record(
        StoredRecord(
            query_id=query_id,
            collection="default",
            text="Why?",
            plan="{}",
            answer=answer,
            version="v",
        )
    )


# --- tenants ----------------------------------------------------------------------------------


@pytest.fixture
def theirs(address: Path | str, shelf: Shelf) -> Iterator[Shelf]:
    """The collection of another tenant in the same database, with one document and one answer."""
    catalogue, collection = open_catalogue(address, tenant="theirs")
    catalogue.commit(collection, [entry("t1", source="/a.md", labels=["i"])])
    record(catalogue, "tq")
    yield catalogue, catalogue.collection("default")
    catalogue.close()


def state(of: Shelf) -> list[Any]:
    """All that a tenant sees."""
    catalogue, collection = of
    return [
        catalogue.collections(),
        catalogue.documents(collection),
        catalogue.document_chunks("t1"),
        catalogue.labels(collection),
        catalogue.answer("tq"),
    ]


def test_the_same_name_is_another_collection(shelf: Shelf, theirs: Shelf) -> None:
    assert shelf[1].id != theirs[1].id
    assert shelf[0].collections() == [shelf[1]]


@pytest.mark.parametrize(
    ("read", "nothing"),
    [
        (lambda ours, foreign: ours.documents(foreign), []),
        (lambda ours, foreign: ours.documents_by_id(foreign, ["t1"]), {}),
        (lambda ours, foreign: ours.ready_ids(foreign), set()),
        (lambda ours, foreign: ours.collection_outline(foreign).languages, ()),
        (lambda ours, foreign: ours.labels(foreign), {}),
        (lambda ours, foreign: ours.chunks(["t1.0", "t1.1"]), {}),
        (
            lambda ours, foreign: ours.chunk_contexts(foreign, entry("t1").chunks, window=1),
            ChunkContext({}, {}),
        ),
        (lambda ours, foreign: ours.chunk_ranges([("t1", 0, 9)]), []),
        (lambda ours, foreign: ours.document_chunks("t1"), []),
    ],
)
def test_what_is_theirs_is_not_seen(shelf: Shelf, theirs: Shelf, read: Any, nothing: Any) -> None:
    assert read(shelf[0], theirs[1]) == nothing


def test_their_answers_are_not_seen(shelf: Shelf, theirs: Shelf) -> None:
    with pytest.raises(NotFound):
        shelf[0].answer("tq")


def test_their_collections_are_not_named(shelf: Shelf, theirs: Shelf) -> None:
    theirs[0].make_collection("secret", identity=IDENTITY)
    assert shelf[0].find_collection("secret") is None
    with pytest.raises(NotFound) as caught:
        shelf[0].collection("secret")
    assert "There are: default." in str(caught.value)


@pytest.mark.parametrize(
    ("write", "result"),
    [
        (lambda ours, own, foreign: ours.remove(foreign, ["t1"]), []),
        (lambda ours, own, foreign: ours.remove(own, ["t1"]), []),
        (lambda ours, own, foreign: ours.commit(foreign, [entry("d1", source="/a.md")]), None),
        (lambda ours, own, foreign: ours.commit(own, [entry("d1", source="/a.md")]), ()),
        (lambda ours, own, foreign: ours.commit(foreign, [entry("t1", chunks=1)]), None),
        (
            lambda ours, own, foreign: ours.switch_index(foreign, IndexBuild("c", IDENTITY)),
            False,
        ),
    ],
)
def test_what_is_theirs_is_not_changed(
    shelf: Shelf, theirs: Shelf, write: Any, result: Any
) -> None:
    before = state(theirs)
    assert write(shelf[0], shelf[1], theirs[1]) == result
    assert state(theirs) == before


@pytest.mark.parametrize(
    "write",
    [
        lambda ours, own: ours.commit(own, [entry("t1", chunks=1)]),
        lambda ours, own: ours.commit(own, [replace(entry("d1"), chunks=entry("t1").chunks)]),
        lambda ours, own: record(ours, "tq", answer="{1}"),
    ],
    ids=["a document's id", "chunk ids", "a question's id"],
)
def test_an_id_that_is_theirs_cannot_be_taken(shelf: Shelf, theirs: Shelf, write: Any) -> None:
    before = state(theirs)
    with pytest.raises(IntegrityError):
        write(*shelf)
    assert state(theirs) == before


def test_a_source_may_be_ours_and_theirs(shelf: Shelf, theirs: Shelf) -> None:
    assert shelf[0].commit(shelf[1], [entry("d1", source="/a.md")]) == ()
    found: list[Document] = [*shelf[0].documents(shelf[1]), *theirs[0].documents(theirs[1])]
    assert [each.document_id for each in found] == ["d1", "t1"]


def test_a_read_shelf_changes_nothing_of_what_stands_around(shelf: Shelf) -> None:
    catalogue, collection = shelf
    catalogue.commit(collection, [entry("d1"), entry("d2")])
    now = catalogue.collection(collection.name)
    hits = list(catalogue.chunks(["d1.1", "d2.0"]).values())
    before = catalogue.chunk_contexts(now, hits, window=1)
    catalogue.collection_outline(now)
    assert catalogue.chunk_contexts(now, hits, window=1) == before
    assert {"d1.0", "d1.1", "d2.0", "d2.1"} <= set(before.chunks)
    assert set(catalogue.chunk_contexts(now, hits, window=0).chunks) == {"d1.1", "d2.0"}
    assert set(before.documents) == {"d1", "d2"}


def test_nothing_stands_around_what_was_removed_since_the_shelf_was_read(shelf: Shelf) -> None:
    catalogue, collection = shelf
    catalogue.commit(collection, [entry("d1"), entry("d2")])
    now = catalogue.collection(collection.name)
    catalogue.collection_outline(now)
    catalogue.remove(now, ["d1"])
    hits = list(catalogue.chunks(["d1.1", "d2.0"]).values())
    assert set(catalogue.chunk_contexts(now, hits, window=1).documents) == {"d2"}

"""What every index must do, whatever stores it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from quoth.backends.indexes.keywords import SqlKeywords
from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.backends.indexes.page_vectors import SqlPageVectors
from quoth.backends.indexes.registry import StorePlace
from quoth.backends.indexes.rows import index_row
from quoth.backends.indexes.sparse import SqlSparse
from quoth.backends.indexes.vector_store import StoreAccess, conditions_of
from quoth.backends.registry import require
from quoth.core.errors import MissingExtra
from quoth.core.protocols import Index, Matrix
from quoth.core.types import (
    Chars,
    Chunk,
    Filter,
    Pages,
    Seconds,
    SpanLocator,
)
from quoth.store.database import connect
from quoth.testing import MemoryIndex
from tests.support.chroma_server import chroma_server
from tests.support.databases import Server
from tests.support.milvus_server import milvus_server
from tests.support.pinecone_server import KEY, PineconeState, pinecone_server

DIMENSION = 8
BOOK = Chunk("book.0", "book", 0, 0, 9, "", Chars(0, 9), "text")
TEXTS = {
    "book.0": "a fox is a fox is a fox",
    "book.1": "the fox runs through the forest in the evening",
    "book.2": "whales swim in cold water",
    "talk.0": "the dog sleeps beside the fire",
    "talk.1": "C++ with AT&T are words of their own",
}
LANGUAGES = ["en"]


def units(rows: int, *, seed: int = 7, dimension: int = DIMENSION) -> Matrix:
    """Unit vectors that are always the same."""
    made = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def corpus() -> list[Chunk]:
    return [
        replace(
            BOOK, chunk_id=key, document_id=key.partition(".")[0], ordinal=int(key[-1]), text=text
        )
        for key, text in TEXTS.items()
    ]


STORES = (
    *("sqlite-vec", "chroma", "pgvector", "pinecone"),
    *("chroma server", "qdrant", "milvus", "milvus server"),
)
ONE_HANDLE = ("qdrant", "milvus")
"""Stores that one process opens once."""
LEAKS = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""Some clients leave their connections to the garbage collection."""
pytestmark = [pytest.mark.filterwarnings(each) for each in LEAKS]
SOAK = [pytest.param(store, marks=pytest.mark.soak) for store in STORES[4:]]
words = pytest.mark.parametrize("make", ["memory", "lance", "sqlite-vec"], indirect=True)
"""For what concerns words alone, and is the same code in every store."""


def skip_without(store: str) -> None:
    """Skip the test where the packages of a store are not installed."""
    try:
        require("store", store.partition(" ")[0])
    except MissingExtra as error:
        pytest.skip(str(error))


def place(store: str, folder: Path, request: pytest.FixtureRequest) -> StorePlace:
    """Return where a store of the tests is: the folder, or its server."""
    access = StoreAccess(folder, "", DIMENSION, connect)
    if store == "pgvector":
        address = request.getfixturevalue("postgresql")
        return StorePlace(store, replace(access, address=address), address)
    if store == "pinecone":
        address, _ = request.getfixturevalue("pinecone")
        return StorePlace(store, replace(access, address=address, key=KEY))
    if store == "chroma server":
        address = request.getfixturevalue("chroma_address")
        return StorePlace("chroma", replace(access, address=address))
    if store == "milvus server":
        address = request.getfixturevalue("milvus_address")
        return StorePlace("milvus", replace(access, address=address))
    return StorePlace(store, access)


@pytest.fixture(scope="session")
def postgresql(server: Server) -> str:
    return server.empty()


@pytest.fixture(scope="session")
def chroma_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chroma_server(tmp_path_factory.mktemp("chroma")) as served:
        yield served


@pytest.fixture(scope="session")
def milvus_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with milvus_server(tmp_path_factory.mktemp("milvus")) as served:
        yield served


@pytest.fixture(scope="session")
def pinecone() -> Iterator[tuple[str, PineconeState]]:
    with pinecone_server() as served:
        yield served


@pytest.fixture(params=["memory", "lance", *STORES[:4], *SOAK])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Index]]:
    """Makes a new handle on one and the same index, and closes all of them."""
    opened: list[Index] = []
    handle = maker(request, tmp_path)

    def make_one() -> Index:
        opened.append(handle())
        return opened[-1]

    yield make_one
    for index in opened:
        index.close()


def maker(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Index]:
    if request.param == "memory":
        rows: dict[str, Any] = {}
        return lambda: MemoryIndex(rows)
    if request.param in STORES:
        skip_without(request.param)
        opened = place(request.param, tmp_path, request)
        table = f"c_{uuid4().hex[:12]}"
        if request.param in ONE_HANDLE:
            only = opened.open(table, on_operation=lambda _name: None)
            return lambda: only
        return lambda: opened.open(table, on_operation=lambda _name: None)
    return lambda: LanceIndex(tmp_path, "c_1", dimension=DIMENSION)


@pytest.fixture
def index(make: Callable[[], Index]) -> Index:
    return make()


@pytest.fixture
async def filled(index: Index) -> Index:
    await index.upsert(corpus(), vectors=units(len(TEXTS)))
    return index


async def matched(index: Index, text: str, **choices: Any) -> list[str]:
    found = await index.match(text, **{"languages": LANGUAGES, "limit": 10, **choices})
    return [key for key, _ in found]


# --- writing ----------------------------------------------------------------------------------


async def test_an_emptied_index_is_empty(index: Index) -> None:
    await index.upsert([BOOK], vectors=units(1))
    await index.delete([BOOK.document_id])
    assert await index.nearest(units(1)[0], limit=5) == []
    assert await matched(index, "fox") == []
    assert dict(await index.vectors(["book.0"])) == {}
    assert dict(await index.document_ids()) == {}


async def test_nothing_needs_no_table(index: Index) -> None:
    await index.upsert([], vectors=units(0))
    await index.delete([])
    assert dict(await index.vectors([])) == {}
    assert not await index.build()
    await index.optimize()


async def test_each_document_has_its_chunks(filled: Index) -> None:
    assert dict(await filled.document_ids()) == {"book": 3, "talk": 2}


async def test_writing_again_changes_nothing(filled: Index) -> None:
    vector = units(1, seed=9)[0]
    before, words = dict(await filled.nearest(vector, limit=9)), await matched(filled, "fox")
    await filled.upsert(corpus(), vectors=units(len(TEXTS)))
    assert dict(await filled.nearest(vector, limit=9)) == pytest.approx(before, abs=1e-6)
    assert await matched(filled, "fox") == words
    assert dict(await filled.document_ids()) == {"book": 3, "talk": 2}


async def test_writing_a_chunk_anew_replaces_it(filled: Index) -> None:
    changed = replace(corpus()[0], text="an owl", document_id="birds")
    await filled.upsert([changed], vectors=units(1, seed=9))
    assert await matched(filled, "owl") == ["book.0"]
    assert await matched(filled, "fox") == ["book.1"]
    assert (await filled.nearest(units(1, seed=9)[0], limit=1))[0][0] == "book.0"
    assert dict(await filled.document_ids()) == {"birds": 1, "book": 2, "talk": 2}


async def test_a_deleted_document_is_gone(filled: Index) -> None:
    await filled.delete(["book", "nonsense"])
    assert await matched(filled, "fox dog whales") == ["talk.0"]
    assert {key for key, _ in await filled.nearest(units(1)[0], limit=9)} == {"talk.0", "talk.1"}
    assert dict(await filled.document_ids()) == {"talk": 2}


async def test_a_deleted_document_can_come_back(filled: Index) -> None:
    await filled.delete(["book"])
    await filled.upsert(corpus()[:3], vectors=units(3))
    assert await matched(filled, "whales") == ["book.2"]
    assert dict(await filled.document_ids()) == {"book": 3, "talk": 2}


async def test_a_dropped_index_is_empty_and_usable(filled: Index) -> None:
    await filled.drop()
    assert dict(await filled.document_ids()) == {}
    await filled.upsert(corpus()[:1], vectors=units(1))
    assert await matched(filled, "fox") == ["book.0"]


async def test_dropping_what_is_not_there_does_no_harm(index: Index) -> None:
    await index.drop()
    await index.drop()


async def test_optimizing_changes_no_result(filled: Index) -> None:
    vector = units(1, seed=9)[0]
    before = [
        await filled.nearest(vector, limit=9),
        await filled.match("the fox", languages=LANGUAGES, limit=9),
    ]
    await filled.optimize()
    after = [
        await filled.nearest(vector, limit=9),
        await filled.match("the fox", languages=LANGUAGES, limit=9),
    ]
    for one, other in zip(before, after, strict=True):
        assert [key for key, _ in one] == [key for key, _ in other]
        assert [s for _, s in one] == pytest.approx([s for _, s in other], rel=1e-5)


async def test_another_handle_sees_every_write(filled: Index, make: Callable[[], Index]) -> None:
    other = make()
    assert dict(await other.document_ids()) == {"book": 3, "talk": 2}
    await filled.upsert([replace(BOOK, chunk_id="new.0", text="an owl")], vectors=units(1))
    assert await matched(other, "owl") == ["new.0"]
    await other.delete(["talk"])
    assert await matched(filled, "dog") == []
    other.close()


# --- vectors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("store", [*STORES[:4], *SOAK])
async def test_searches_at_once_of_an_index_opened_again(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    skip_without(store)
    opened, table = place(store, tmp_path, request), f"c_{uuid4().hex[:12]}"
    for _ in range(2):
        index = opened.open(table, on_operation=lambda _name: None)
        await index.upsert(corpus()[:2], vectors=units(2))
        index.close()
    index = opened.open(table, on_operation=lambda _name: None)
    try:
        found = await asyncio.gather(*(index.nearest(units(1)[0], limit=2) for _ in range(4)))
    finally:
        index.close()
    assert [len(each) for each in found] == [2, 2, 2, 2]


@pytest.mark.soak
@pytest.mark.parametrize("store", ONE_HANDLE)
def test_one_process_searches_what_another_has_written(store: str, tmp_path: Path) -> None:
    skip_without(store)
    spawned = get_context("spawn")
    for _ in range(2):
        process = spawned.Process(target=write_and_search, args=(store, tmp_path))
        process.start()
        process.join()
        assert process.exitcode == 0


def write_and_search(store: str, folder: Path) -> None:
    """Search what is there, and write it again."""
    written = any(folder.iterdir())

    async def run() -> None:
        access = StoreAccess(folder, "", DIMENSION, connect)
        index = StorePlace(store, access).open("c_1", on_operation=lambda _name: None)
        if written:
            assert len(await index.nearest(units(1)[0], limit=2)) == 2
        await index.upsert(corpus()[:2], vectors=units(2))
        index.close()

    asyncio.run(run())


async def test_the_nearest_are_those_of_exact_cosine(index: Index) -> None:
    rows = units(40)
    chunks = [replace(BOOK, chunk_id=f"c{at}", ordinal=at) for at in range(40)]
    await index.upsert(chunks, vectors=rows)
    vector = units(1, seed=9)[0]
    exact = rows @ vector
    found = await index.nearest(vector, limit=10)
    assert [key for key, _ in found] == [f"c{at}" for at in np.argsort(-exact)[:10]]
    best = sorted(exact, reverse=True)[:10]
    assert [score for _, score in found] == pytest.approx(best, abs=3e-5)


async def test_a_limit_above_what_is_there_gives_all(filled: Index) -> None:
    assert len(await filled.nearest(units(1)[0], limit=1000)) == len(TEXTS)


async def test_vectors_come_back_as_they_were(filled: Index) -> None:
    found = await filled.vectors(["talk.0", "nonsense", "book.1"])
    assert set(found) == {"talk.0", "book.1"}
    assert found["talk.0"] == pytest.approx(units(len(TEXTS))[3], abs=3e-5)
    assert found["book.1"] == pytest.approx(units(len(TEXTS))[1], abs=3e-5)


async def test_many_ids_at_once(filled: Index) -> None:
    ids = [f"nonsense.{at}" for at in range(3000)]
    assert set(await filled.vectors([*ids, "book.0"])) == {"book.0"}
    await filled.delete([*ids, "book"])
    assert dict(await filled.document_ids()) == {"talk": 2}


# --- words ------------------------------------------------------------------------------------


BEST: dict[str, list[str]] = {
    "fox": ["book.0", "book.1"],
    "FOX?": ["book.0", "book.1"],
    "forest fox": ["book.1", "book.0"],
    "whales in water": ["book.2"],
    "fire": ["talk.0"],
    "elephant": [],
}


@words
async def test_the_best_match_comes_first(filled: Index) -> None:
    for text, ids in BEST.items():
        found = await matched(filled, text)
        assert [key for key in found if key in ids] == ids, text
        assert found[:1] == ids[:1], text


@words
async def test_a_repeated_term_counts_as_often_as_it_stands_in_the_query(filled: Index) -> None:
    once = dict(await filled.match("fox dog", languages=LANGUAGES, limit=9))
    twice = dict(await filled.match("fox dog fox", languages=LANGUAGES, limit=9))
    assert twice["book.1"] == pytest.approx(2 * once["book.1"], rel=1e-5)
    assert twice["talk.0"] == pytest.approx(once["talk.0"], rel=1e-5)


@words
async def test_scores_fall(filled: Index) -> None:
    found = await filled.match("the fox in the forest", languages=LANGUAGES, limit=9)
    scores = [score for _, score in found]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


@words
async def test_no_more_than_asked(filled: Index) -> None:
    assert await matched(filled, "fox", limit=1) == ["book.0"]


@words
async def test_the_prefix_is_searched_too(index: Index) -> None:
    await index.upsert([replace(BOOK, text="red", prefix="Colours")], vectors=units(1))
    assert await matched(index, "colours") == ["book.0"]


ODD = (
    *("", " ", "?!…", "\x00", "\ud800", "x\udfffy", "()[]{}^~*?:\\/", "\u200b", "🦊"),
    *('"', "'", '"unbalanced', "AND", "NOT OR", "+-", "*", "~2", "^3", "\n\t"),
)


@words
async def test_odd_text_is_safe(filled: Index) -> None:
    for text in ODD:
        assert await matched(filled, text) == [], ascii(text)


AMONG_ODD = {
    'what is C++? "AND" OR *': "talk.1",
    "fox\x00": "book.0",
    "\ud800 whales": "book.2",
    '"whales" -fox +"dog': "book.2",
    "id:book.0 terms:(whales)^9": "book.2",
    "whales' OR 1=1 --": "book.2",
    "whales " + "nonsense" * 600: "book.2",
    "whales " * 700: "book.2",
}


@words
async def test_a_word_among_odd_text_is_found(filled: Index) -> None:
    for text, first in AMONG_ODD.items():
        assert first in await matched(filled, text), ascii(text)


@words
async def test_a_question_of_five_thousand_different_words(filled: Index) -> None:
    words = " ".join(f"w{at}" for at in range(5000))
    assert await matched(filled, f"{words} whales") == ["book.2"]


@words
@pytest.mark.parametrize("text", ["NUL \x00 owl", "\ud800 owl", "owl \udfff", "🦉 owl " * 400])
async def test_odd_chunks_can_be_stored_and_found(index: Index, text: str) -> None:
    await index.upsert([replace(BOOK, text=text)], vectors=units(1))
    assert await matched(index, "owl") == ["book.0"]


@words
async def test_a_chunk_without_words_can_be_stored(index: Index) -> None:
    await index.upsert([replace(BOOK, text="— … —")], vectors=units(1))
    assert len(await index.nearest(units(1)[0], limit=1)) == 1


def test_words_are_ranked_alike_on_both_databases(tmp_path: Path, postgresql: str) -> None:
    file = tmp_path / "words.sqlite"
    here = SqlKeywords(lambda: connect(file), table="c_words", file=file)
    there = SqlKeywords(lambda: connect(postgresql), table="c_words", file=None)
    rows = [index_row(chunk) for chunk in corpus()]
    first = [Filter("document", "in", ("book",))]
    for keywords in (here, there):
        keywords.upsert(rows)
        keywords.upsert(rows[:2])
        keywords.delete(["nonsense"])
    for terms in (["fox"], ["fox", "fox", "dog"], ["forst"], ["water", "nonsens"], []):
        for filters in ([], first):
            conditions = conditions_of(filters)
            one, other = (
                dict(keywords.match(terms, limit=9, conditions=conditions))
                for keywords in (here, there)
            )
            assert one == pytest.approx(other)
    assert here.document_ids() == there.document_ids() == {"book": 3, "talk": 2}
    for keywords in (here, there):
        keywords.drop()
        assert keywords.count() == 0
        keywords.close()


def test_lexical_weights_rank_alike_on_both_databases(tmp_path: Path, postgresql: str) -> None:
    file = tmp_path / "weights.sqlite"
    here = SqlSparse(lambda: connect(file), table="c_weights", file=file)
    there = SqlSparse(lambda: connect(postgresql), table="c_weights", file=None)
    chunks = corpus()
    weights = [{7: 0.5 + at, 8 + at: 1.0} for at in range(len(chunks))]
    conditions = conditions_of([Filter("document", "in", ("talk",))])
    found = []
    for sparse in (here, there):
        sparse.upsert([index_row(chunk) for chunk in chunks], weights=weights)
        whole = sparse.match({7: 2.0, 9: 1.0}, limit=2, conditions=())
        found.append((whole, sparse.match({7: 1.0}, limit=1, conditions=conditions)))
        sparse.drop()
        sparse.close()
    assert found[0] == found[1]
    assert [key for key, _ in found[0][0]] == ["talk.1", "talk.0"]
    assert found[0][1] == [("talk.1", 4.5)]


async def test_vectors_of_pages_on_a_server_go_with_their_document_without_the_model(
    tmp_path: Path, postgresql: str
) -> None:
    table = f"c_{uuid4().hex[:12]}"
    access = StoreAccess(tmp_path, "", DIMENSION, connect, address=postgresql)
    index = StorePlace("pgvector", access, postgresql).open(table, on_operation=lambda _name: None)
    stored = SqlPageVectors(lambda: connect(postgresql), table=table, file=None)
    chunks = corpus()
    await index.upsert(chunks, vectors=units(len(chunks)))
    assert not stored.exists(), "nothing is made for a model that was never there"
    pages = [{1: units(1)[0]} for _ in chunks]
    stored.upsert([index_row(chunk) for chunk in chunks], pages=pages, model="before")
    await index.delete(["book"])
    assert set(stored.document_ids()) == {"talk"}
    stored.close()
    await index.drop()
    index.close()
    assert not stored.exists()
    stored.close()


# --- filters ----------------------------------------------------------------------------------

LINES = tuple(SpanLocator(at, at + 1, Pages(7 + at, 7 + at, str(at), str(at))) for at in (3, 4, 5))
SHELF = [
    replace(BOOK, chunk_id="plain", document_id="a"),
    replace(BOOK, chunk_id="front", document_id="b", kind="pdf", locator=Pages(4, 5, "iv", "V")),
    replace(
        BOOK,
        chunk_id="page",
        document_id="b",
        ordinal=1,
        kind="pdf",
        locator=Pages(10, 12, "3", "5"),
        places=LINES,
    ),
    replace(
        BOOK,
        chunk_id="spoken",
        document_id="c",
        kind="transcript",
        language="fr",
        locator=Seconds(10, 20, speaker="Ada O'Hara"),
    ),
    replace(BOOK, chunk_id="said", document_id="c", ordinal=1, locator=Seconds(0, 1.5)),
    replace(
        BOOK,
        chunk_id="closing",
        document_id="d",
        chapter="12",
        segment="qa",
        date="2025-11-20",
        section=("Études  avancées", "Wrap-up | end"),
    ),
    replace(BOOK, chunk_id="month", document_id="e", chapter="a", segment="demo", date="2025-12"),
    replace(BOOK, chunk_id="year", document_id="f", chapter="1", date="2026", section=("Wrap",)),
]
CONDITIONS: list[tuple[list[Filter], set[str]]] = [
    ([Filter("document", "in", ("a",))], {"plain"}),
    ([Filter("document", "in", ("a", "b", "nonsense"))], {"plain", "front", "page"}),
    ([Filter("kind", "in", ("pdf",))], {"front", "page"}),
    ([Filter("kind", "in", ("pdf", "transcript"))], {"front", "page", "spoken"}),
    ([Filter("language", "in", ("fr",))], {"spoken"}),
    ([Filter("speaker", "in", ("Ada O'Hara",))], {"spoken"}),
    ([Filter("speaker", "in", ("Ada",))], set()),
    ([Filter("label", "in", ("3",))], {"page"}),
    ([Filter("label", "in", ("4",))], {"page"}),
    ([Filter("label", "in", ("v",))], {"front"}),
    ([Filter("label", "in", ("IV",))], {"front"}),
    ([Filter("label", "in", ("5", "iv"))], {"front", "page"}),
    ([Filter("label", "in", ("i",))], set()),
    ([Filter("label", "in", ("%",))], set()),
    ([Filter("label", "in", ("_",))], set()),
    ([Filter("label", "in", tuple(str(at) for at in range(5, 505)))], {"page"}),
    ([Filter("page", "overlaps", (5, 9))], {"front"}),
    ([Filter("page", "overlaps", (5.0, 10.0))], {"front", "page"}),
    ([Filter("page", "overlaps", (11, 11))], {"page"}),
    ([Filter("page", "overlaps", (-9, 3))], set()),
    ([Filter("page", "overlaps", (13, 10**9))], set()),
    ([Filter("seconds", "overlaps", (1.5, 10))], {"spoken", "said"}),
    ([Filter("seconds", "overlaps", (1.6, 9.9))], set()),
    ([Filter("seconds", "overlaps", (15, 15))], {"spoken"}),
    ([Filter("seconds", "overlaps", (-5, -1))], set()),
    ([Filter("seconds", "overlaps", (0, 0))], {"said"}),
    ([Filter("chapter", "in", ("12",))], {"closing"}),
    ([Filter("chapter", "in", ("1", "a"))], {"month", "year"}),
    ([Filter("chapter", "in", ("2",))], set()),
    ([Filter("segment", "in", ("qa",))], {"closing"}),
    ([Filter("segment", "in", ("qa", "demo"))], {"closing", "month"}),
    ([Filter("section", "in", ("Études avancées",))], {"closing"}),
    ([Filter("section", "in", ("etudes AVANCEES",))], {"closing"}),
    ([Filter("section", "in", ("wrap",))], {"year"}),
    ([Filter("section", "in", ("Wrap-up | end", "Wrap"))], {"closing", "year"}),
    ([Filter("section", "in", ("etudes",))], set()),
    ([Filter("date", "overlaps", (20251120, 20251120))], {"closing"}),
    ([Filter("date", "overlaps", (20251121, 20251231))], {"month"}),
    ([Filter("date", "overlaps", (20251101, 20261231))], {"closing", "month", "year"}),
    ([Filter("date", "overlaps", (-5, 0))], set()),
    ([Filter("chapter", "in", ("12",)), Filter("segment", "in", ("demo",))], set()),
    ([Filter("document", "in", ("b",)), Filter("label", "in", ("3",))], {"page"}),
    ([Filter("document", "in", ("a",)), Filter("kind", "in", ("pdf",))], set()),
    ([Filter("kind", "in", ("pdf",)), Filter("page", "overlaps", (1, 4))], {"front"}),
    ([Filter("kind", "in", ("pdf",)), Filter("seconds", "overlaps", (0, 99))], set()),
]


@pytest.fixture
async def shelf(index: Index) -> Index:
    chunks = [replace(each, text="fox " * (12 - at)) for at, each in enumerate(SHELF)]
    rows = np.zeros((len(chunks), DIMENSION), np.float32)
    for at, row in enumerate(rows):
        row[:2] = np.cos(at / 5), np.sin(at / 5)
    await index.upsert(chunks, vectors=rows)
    return index


async def test_every_filter_holds_for_both_legs(shelf: Index) -> None:
    vector = np.eye(1, DIMENSION, dtype=np.float32)[0]
    wrong = []
    for filters, ids in CONDITIONS:
        near = {key for key, _ in await shelf.nearest(vector, limit=9, filters=filters)}
        match = set(await matched(shelf, "fox", filters=filters))
        if not near == match == ids:
            wrong.append((filters, near, match, ids))
    assert wrong == []


async def test_filters_come_before_the_limit(shelf: Index) -> None:
    """The worst chunk of all is found when it alone passes."""
    vector = np.eye(1, DIMENSION, dtype=np.float32)[0]
    assert (await shelf.nearest(vector, limit=9))[-1][0] == "year"
    only = [Filter("section", "in", ("wrap",))]
    assert [key for key, _ in await shelf.nearest(vector, limit=1, filters=only)] == ["year"]
    assert await matched(shelf, "fox", limit=1, filters=only) == ["year"]


ATTACKS = ["' OR 1=1 --", "') OR ('1'='1", '" OR ""="', "a'; DROP TABLE c_1; --", "\\", "%", "\x00"]


async def test_values_are_never_code(shelf: Index) -> None:
    vector = np.eye(1, DIMENSION, dtype=np.float32)[0]
    fields = ("document", "kind", "language", "speaker", "label", "chapter", "segment", "section")
    alone = [(field, (value,)) for field, value in zip(fields, ATTACKS, strict=False)]
    for field, values in (*alone, *((field, tuple(ATTACKS)) for field in fields)):
        filters = [Filter(field, "in", values)]  # type: ignore[arg-type]
        assert await shelf.nearest(vector, limit=9, filters=filters) == []
        assert await matched(shelf, "fox", filters=filters) == []
    await shelf.delete(ATTACKS)
    assert dict(await shelf.vectors(ATTACKS)) == {}
    assert dict(await shelf.document_ids()) == {"a": 1, "b": 2, "c": 2, "d": 1, "e": 1, "f": 1}


async def test_a_speaker_may_be_called_anything(index: Index) -> None:
    places = [Seconds(at, at + 1.0, speaker=name) for at, name in enumerate(ATTACKS[:6])]
    chunks = [replace(BOOK, chunk_id=f"c{n}", locator=place) for n, place in enumerate(places)]
    await index.upsert(chunks, vectors=units(len(chunks)))
    for at, name in enumerate(ATTACKS[:6]):
        filters = [Filter("speaker", "in", (name,))]
        found = await index.nearest(units(1)[0], limit=9, filters=filters)
        assert [key for key, _ in found] == [f"c{at}"]


@words
async def test_an_unknown_word_is_searched_as_the_nearest_known_one(filled: Index) -> None:
    meant = await filled.match("forest", languages=LANGUAGES, limit=9)
    for typo in ("forrest", "forst", "froest", "foreest"):
        found = await filled.match(typo, languages=LANGUAGES, limit=9)
        assert [key for key, _score in found] == [key for key, _score in meant] != [], typo
        assert all(less < full for (_, less), (_, full) in zip(found, meant, strict=True))

"""The id of a document that was replaced leads to the present one, as far as both texts agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from quoth.core.errors import NotFound
from quoth.operations.tenant_data import TenantData
from quoth.store.catalogue import Catalogue
from quoth.store.database import TenantConnection
from quoth.store.document_list import DocumentLists
from quoth.store.rows import Collection, Entry
from quoth.store.schema import replaced_documents
from tests.support.made_documents import IDENTITY, entry, open_catalogue

Stored = tuple[Catalogue, Collection]
BEES = ("Bees fly. ", "Wasps fly. ", "Ants walk. ")


@pytest.fixture
def library(address: Path | str) -> Iterator[Stored]:
    catalogue, collection = open_catalogue(address)
    yield catalogue, collection
    catalogue.close()


def version(key: str, *texts: str, source: str = "/a.md", title: str = "Animals") -> Entry:
    """A document with these chunks."""
    made = entry(key, chunks=len(texts), source=source, title=title)
    parts = tuple(replace(part, text=text) for part, text in zip(made.chunks, texts, strict=True))
    return replace(made, chunks=parts)


def present(catalogue: TenantConnection, key: str, end: int = 0, **only: str) -> str | None:
    """The id of the document that an id leads to, None for none."""
    try:
        return DocumentLists.of(catalogue).present(key, end=end, **only).document_id
    except NotFound:
        return None


def rows(catalogue: Catalogue) -> dict[str, tuple[str, int]]:
    """What is stored of all tenants: the document and the characters of each old id."""
    with catalogue.reading() as connection:
        found = connection.execute(select(replaced_documents)).all()
    return {row.id: (row.document_id, row.same_until) for row in found}


def test_a_text_that_has_grown_is_the_same_up_to_its_earlier_end(library: Stored) -> None:
    catalogue, collection = library
    catalogue.commit(collection, [version("d1", *BEES)])
    assert rows(catalogue) == {}
    # Cut into other chunks: what counts is the text.
    catalogue.commit(collection, [version("d2", BEES[0] + BEES[1], BEES[2], "Flies fly.")])
    assert rows(catalogue) == {"d1": ("d2", 32)}
    assert [present(catalogue, "d1", end) for end in (0, 32, 33)] == ["d2", "d2", None]
    assert present(catalogue, "d2", 99) == "d2"
    with pytest.raises(NotFound, match="'d1'"):
        DocumentLists.of(catalogue).document("d1")


def test_a_text_with_another_middle_is_the_same_up_to_there(library: Stored) -> None:
    catalogue, collection = library
    catalogue.commit(collection, [version("d1", *BEES)])
    catalogue.commit(collection, [version("d2", BEES[0], "Walnuts. ", BEES[2])])
    assert rows(catalogue) == {"d1": ("d2", len("Bees fly. Wa"))}


@pytest.mark.parametrize("texts", [BEES, BEES[:1], ("Cats.",), ()])
def test_other_titles_shorter_and_other_texts(library: Stored, texts: tuple[str, ...]) -> None:
    catalogue, collection = library
    catalogue.commit(collection, [version("d1", *BEES)])
    catalogue.commit(collection, [version("d2", *texts, title="Insects")])
    same = 0 if texts == ("Cats.",) else len("".join(texts))
    assert rows(catalogue) == {"d1": ("d2", same)}
    assert present(catalogue, "d1") == "d2"
    assert present(catalogue, "d1", same + 1) is None


def test_a_chain_leads_to_the_last_with_the_smallest_common_text(library: Stored) -> None:
    catalogue, collection = library
    catalogue.commit(collection, [version("d1", *BEES)])
    catalogue.commit(collection, [version("d2", *BEES[:2])])
    catalogue.commit(collection, [version("d3", *BEES[:2], "More.")])
    assert rows(catalogue) == {"d1": ("d3", 21), "d2": ("d3", 21)}
    catalogue.commit(collection, [version("d4", BEES[0]), version("e1", source="/b.md")])
    assert rows(catalogue) == dict.fromkeys(("d1", "d2", "d3"), ("d4", 10))


def test_an_id_that_comes_back_is_the_document_again(library: Stored) -> None:
    catalogue, collection = library
    for made in (version("d1", *BEES), version("d2", *BEES[:2]), version("d1", *BEES)):
        catalogue.commit(collection, [made])
    assert rows(catalogue) == {"d2": ("d1", 21)}
    assert present(catalogue, "d1", 99) == "d1"


def test_a_document_that_is_written_again_keeps_its_earlier_ids(library: Stored) -> None:
    catalogue, collection = library
    for made in (version("d1", *BEES), version("d2", *BEES), version("d2", *BEES)):
        catalogue.commit(collection, [made])
    assert rows(catalogue) == {"d1": ("d2", 32)}
    # Its file has moved, and another has taken its place.
    catalogue.commit(
        collection, [version("d2", *BEES, source="/b.md"), version("d3", "Cats.", source="/a.md")]
    )
    assert rows(catalogue) == {"d1": ("d2", 32)}


def test_one_document_is_led_to_another_before_it_is_removed(library: Stored) -> None:
    catalogue, collection = library
    catalogue.commit(collection, [version("d1", BEES[0]), version("d2", *BEES, source="/b.md")])
    catalogue.commit(collection, [version("d3", *BEES[:2])])
    catalogue.lead_to(old="d3", new="d2")
    catalogue.remove(collection, ["d3"])
    assert rows(catalogue) == {"d1": ("d2", 10), "d3": ("d2", 21)}
    assert present(catalogue, "d3", 21) == "d2"


def test_rows_go_with_their_document_and_collection(library: Stored) -> None:
    catalogue, collection = library
    other = catalogue.make_collection("other", identity=IDENTITY)
    for key in ("d1", "d2"):
        catalogue.commit(collection, [version(key, *BEES)])
        catalogue.commit(other, [version(f"{key}o", *BEES)])
    assert present(catalogue, "d1", collection="default") == "d2"
    assert present(catalogue, "d1", collection="other") is None
    catalogue.remove(collection, ["d2"])
    assert rows(catalogue) == {"d1o": ("d2o", 32)}
    assert present(catalogue, "d1") is None
    catalogue.delete_collection(other)
    assert rows(catalogue) == {}


def test_other_tenants_neither_see_nor_lose_them(library: Stored) -> None:
    catalogue, collection = library
    bob = Catalogue(catalogue.database, tenant="bob")
    shelf_of_bob = bob.make_collection("default", identity=IDENTITY)
    for key in ("d1", "d2"):
        catalogue.commit(collection, [version(key, *BEES)])
        bob.commit(shelf_of_bob, [version(f"{key}b", *BEES)])
    assert (present(bob, "d1"), present(catalogue, "d1b")) == (None, None)
    with pytest.raises(NotFound, match="There is no document with the id 'd1'"):
        DocumentLists.of(bob).present("d1")
    own = TenantData(catalogue.database, tenant="local")
    exported = [row for row in own.rows() if row["table"] == "replaced_documents"]
    assert [(row["id"], row["document_id"], row["same_until"]) for row in exported] == [
        ("d1", "d2", 32)
    ]
    assert own.delete().rows["replaced_documents"] == 1
    assert rows(catalogue) == {"d1b": ("d2b", 32)}


def test_of_many_versions_those_that_agree_longest_are_kept(
    library: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.store.replaced.MAX_EARLIER", 2)
    catalogue, collection = library
    for key, texts in (("d1", BEES[:1]), ("d2", BEES[:2]), ("d3", BEES), ("d4", (*BEES, "Flies."))):
        catalogue.commit(collection, [version(key, *texts)])
    assert set(rows(catalogue)) == {"d2", "d3"}
    assert set(DocumentLists.of(catalogue).earlier_ids("d4")) == set(rows(catalogue))

"""Custom metadata of documents: where they come from, what keeps them, and what they filter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import quoth
from quoth.core.errors import InputError, NotFound
from quoth.core.types import Document
from quoth.library import Library

TEXT = "A colony swarms in May when the hive is crowded."
SWARM = "When does a colony swarm?"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with quoth.open(tmp_path / "home", embedder="fake") as opened:
        yield opened


def stored(library: Library) -> dict[str, Document]:
    return {each.title: each for each in library.documents()}


def test_they_filter_every_document_that_fits_and_none_else(library: Library) -> None:
    library.add_text(TEXT, name="a.txt", metadata={"team": "legal", "year": 2021})
    library.add_text(TEXT + " Or in June.", name="b.txt", metadata={"team": "sales", "year": 2024})
    library.add_text(TEXT + " Or never.", name="c.txt")

    def titles(**filters: object) -> set[str]:
        own = {f"meta.{key}": value for key, value in filters.items()}
        hits = library.search(SWARM, filters=own)
        return {hit.document for hit in hits}

    assert titles(team="Legal") == {"a"}
    assert titles(team="legal,sales") == {"a", "b"}
    assert titles(nobody="any"), "no filter at all"
    assert titles(year="2022..") == {"b"}
    assert titles(team="sales", year="..2021") == set()
    assert library.ask(SWARM, filters={"meta.team": "nobody"}).citations == ()
    with pytest.raises(InputError, match="There are: team, year"):
        library.search(SWARM, filters={"meta.owner": "Ada"})


def test_they_are_given_taken_from_beside_the_file_or_kept(
    library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(TEXT, encoding="utf-8")
    library.add(path, metadata={"team": "legal"})
    assert library.add(path)[0].metadata == {"team": "legal"}
    (again,) = library.add(path, metadata={"team": "sales"})
    assert (again.status, again.metadata) == ("unchanged", {"team": "sales"})
    assert library.add(path, metadata={"year": 1})[0].metadata == {"team": "sales", "year": 1}
    library.set_metadata(again, {"team": "sales"})
    path.write_text(TEXT + " Or in June.", encoding="utf-8")
    assert library.add(path)[0].metadata == {"team": "sales"}, "of the version before"
    beside = path.with_name("talk.txt.meta.json")
    beside.write_text(json.dumps({"metadata": {"tags": ["bees"]}}), encoding="utf-8")
    (described,) = library.add(path)
    assert (described.metadata, described.warnings) == ({"tags": ("bees",)}, ())
    beside.write_text(json.dumps({"metadata": {"tags": {}}}), encoding="utf-8")
    (wrong,) = library.add(path)
    assert wrong.metadata == {"tags": ("bees",)}
    assert "its metadata were not used" in wrong.warnings[0]
    (tmp_path / "talks.meta.csv").write_text("file,meta.room\nnext.txt,12\n", encoding="utf-8")
    path.with_name("next.txt").write_text(TEXT, encoding="utf-8")
    (row,) = library.add(path.with_name("next.txt"))
    assert (row.metadata, row.warnings) == ({"room": "12"}, ())


def test_they_are_replaced_without_reading_again(library: Library) -> None:
    added = library.add_text(TEXT, name="a.txt", metadata={"team": "legal"})
    changed = library.set_metadata("a", {"tags": ["bees"]})
    assert changed.document_id == added.document_id
    assert stored(library)["a"].metadata == {"tags": ("bees",)}
    assert library.search(SWARM, filters={"meta.tags": "bees"})
    assert library.health().ok
    library.set_metadata(added, {})
    assert stored(library)["a"].metadata == {}
    with pytest.raises(NotFound):
        library.set_metadata("nothing", {})
    with pytest.raises(InputError):
        library.set_metadata(added, {"a b": "c"})

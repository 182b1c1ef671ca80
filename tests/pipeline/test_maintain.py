"""The doctor says who would write answers and which host would get questions and passages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.bootstrap import open_engine
from quoth.core.errors import BackendError, ConfigError, InputError, NotFound
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.pipeline.add import add_documents
from quoth.pipeline.components import make_collection
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.pipeline.maintain import Check
from quoth.pipeline.retrieve import Request
from quoth.pipeline.uploads import find_document
from quoth.store.ingest_jobs import Jobs
from quoth.store.job_rows import LEASE_SECONDS
from quoth.testing import MemoryIndex
from tests.support.small_library import add, open_tour, write_sources


async def answers(home: Path, **given: Any) -> Check:
    async with open_engine(Settings(home=home, embedder="fake", **given)) as engine:
        health = await engine.health()
    return next(check for check in health.checks if check.name == "answers")


async def test_without_a_language_model_nothing_leaves(tmp_path: Path) -> None:
    check = await answers(tmp_path, anthropic_api_key="a-stray-key")
    assert check.ok
    assert "nothing leaves this machine" in check.found


async def test_a_far_host_is_named(tmp_path: Path) -> None:
    check = await answers(tmp_path, generator="anthropic:claude", anthropic_api_key="key")
    assert check.found == ("anthropic:claude; questions and passages would go to api.anthropic.com")
    assert "QUOTH_GENERATOR=none" in str(check.advice)


async def test_a_part_that_is_left_alone_is_named(tmp_path: Path) -> None:
    async with open_engine(Settings(home=tmp_path, embedder="fake")) as engine:
        (breaker,) = engine.parts.breakers
        for _ in range(5):
            with pytest.raises(BackendError), breaker.call():
                raise BackendError("It is made to fail.")
        health = await engine.health()
    assert not health.ok
    found = next(check.found for check in health.checks if check.name == "left alone")
    assert found.startswith("The embedder ")


async def test_an_interrupted_add_is_named_everywhere(tmp_path: Path) -> None:
    async with open_engine(Settings(home=tmp_path, embedder="fake")) as engine:
        note = tmp_path / "notes.md"
        note.write_text("# Notes\n\nBees hum.\n", encoding="utf-8")
        (added,) = [step async for step in engine.add([note]) if isinstance(step, Document)]
        await engine.remove([added.document_id])
        collection = engine.parts.catalogue.collection("default")
        lost = Jobs(engine.parts.catalogue, clock=lambda: time.time() - 2 * LEASE_SECONDS)
        lost.claim(collection, added.document_id, source=str(note), title="notes.md")

        (left,) = await engine.documents()
        assert (left.status, left.error and left.error.code) == ("running", "interrupted")
        health = await engine.health()
        check = next(check for check in health.checks if check.name == "interrupted")
        assert not check.ok
        assert check.found.endswith("notes.md")
        assert "Run the same quoth add again" in str(check.advice)
        with pytest.raises(NotFound, match=r"Adding notes\.md was interrupted. Run the same"):
            await engine.answer("What do bees do?")
        assert find_document([left], "notes") == find_document([left], "notes.md") == left
        assert await engine.remove([left.document_id]) == [left.document_id]
        assert await engine.documents() == []


def test_documents_of_one_name_are_told_apart_by_their_collections_and_files() -> None:
    one, other = (
        Document(f"abc{number}", "Bees", "pdf", "ready", collection=name)
        for number, name in enumerate(("default", "course"))
    )
    with pytest.raises(InputError, match=r"abc0  Bees \(default\)\n  abc1  Bees \(course\)$"):
        find_document([one, other], "bees")
    with pytest.raises(InputError, match=r"abc0  Bees\n  abc1  Bees$"):
        find_document([one, replace(other, collection="default")], "bees")
    talk = replace(one, source="/talks/bees.srt")
    slides = replace(other, collection="default", source="/talks/bees.pptx")
    with pytest.raises(InputError, match=r"abc0  Bees · bees\.srt\n  abc1  Bees · bees\.pptx$"):
        find_document([talk, slides], "bees")


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (1, "A file is still being read; ask again when it is ready."),
        (3, "3 files are still being read; ask again when they are ready."),
    ],
)
async def test_files_that_are_being_read_are_named_where_nothing_is_found(
    tmp_path: Path, count: int, says: str
) -> None:
    async with open_tour(tmp_path / "home") as engine:
        sources = write_sources(tmp_path / "sources")
        await add(engine, sources)
        catalogue = engine.parts.catalogue
        other, collection = Jobs(catalogue), catalogue.collection("default")
        for at in range(count):
            key = f"d{at}"
            assert other.claim(collection, key, source=f"/{key}.md", title=key) == "claimed"
        unknown = Request("What is the melting point of tungsten carbide?", {"cache": "exact"})
        answer = await engine.answer(unknown)
        assert answer.status in ("no_results", "low_relevance")
        assert answer.warnings[-1] == says
        other.release([f"d{at}" for at in range(count)])
        assert says not in (await engine.answer(unknown)).warnings
        known = await engine.answer("When does a colony swarm?")
        assert says not in known.warnings


async def test_files_that_are_being_read_are_named_in_an_empty_collection(tmp_path: Path) -> None:
    async with open_engine(Settings(home=tmp_path, embedder="fake")) as engine:
        collection = make_collection(engine.parts, "default")
        Jobs(engine.parts.catalogue).claim(collection, "d1", source="/d1.md", title="d1")
        with pytest.raises(NotFound, match="A file is still being read"):
            await engine.answer("What do bees do?")


async def test_a_generator_without_its_key_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        await answers(tmp_path, generator="openai")


class SlowIndex(MemoryIndex):
    """Deletes once another worker has written, as an index does that waits for its lock."""

    def __init__(self) -> None:
        super().__init__()
        self.before: Callable[[], Awaitable[object]] | None = None

    async def delete(self, document_ids: Sequence[str]) -> None:
        before, self.before = self.before, None
        if before is not None:
            await before()
        await super().delete(document_ids)


async def test_a_document_that_is_added_again_while_its_old_rows_are_deleted_is_found(
    tmp_path: Path,
) -> None:
    note, other = tmp_path / "notes.md", tmp_path / "other.md"
    note.write_text("# Notes\n\nBees hum.\n", encoding="utf-8")
    other.write_text("# Other\n\nWax melts.\n", encoding="utf-8")
    index = SlowIndex()
    async with open_tour(tmp_path / "home", index=index) as engine:
        (added,) = await add(engine, note)
        parts = engine.parts
        collection = parts.catalogue.find_collection(added.collection)
        assert collection is not None
        # What a worker leaves behind that was killed before it could commit.
        parts.catalogue.remove(collection, [added.document_id])

        async def add_again() -> None:
            steps = add_documents(parts, collection, sources=[note], given=DocumentMetadata())
            assert [each async for each in steps if isinstance(each, Document)]

        index.before = add_again
        (more,) = await add(engine, other)
        assert set(await index.document_ids()) == {added.document_id, more.document_id}

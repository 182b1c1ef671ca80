"""What is added is on the map at once: headings, places, summaries, in one transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quoth.core.types import Filter
from quoth.engine import Engine
from quoth.pipeline.maintain import rebuild
from quoth.store.catalogue import Catalogue
from quoth.store.rows import Collection
from tests.support.small_library import add, open_tour, write_sources

DATED = """---
title: The year of the bees
date: 2024-03
---

# Chapter 1: Spring

The colonies of the valley wake up in March, when the willows flower by the river.
The colonies of the valley need much pollen from the willows for their brood in March.

# Chapter 2: Summer

In June the lime trees flower, and every strong colony fills its combs within two weeks.

# Q&A

Somebody asked whether bees sleep, and they do, for some hours of every night.
"""


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    sources = write_sources(tmp_path / "sources")
    (sources / "year.md").write_text(DATED, encoding="utf-8")
    async with open_tour(tmp_path / "home") as opened:
        await add(opened, sources)
        yield opened


def library(engine: Engine) -> tuple[Catalogue, Collection]:
    catalogue = engine.parts.catalogue
    return catalogue, catalogue.collection("default")


def key_of(engine: Engine, title: str) -> str:
    catalogue, collection = library(engine)
    return next(
        d.document_id
        for d in catalogue.collection_outline(collection).documents
        if d.title == title
    )


async def test_headings_of_an_added_document_are_on_the_shelf(engine: Engine) -> None:
    catalogue, collection = library(engine)
    key = key_of(engine, "The year of the bees")
    found = [
        each
        for each in catalogue.collection_outline(collection).headings
        if each.document_id == key
    ]
    assert [(each.path[-1], each.chapter, each.segment) for each in found] == [
        ("Chapter 1: Spring", "1", ""),
        ("Chapter 2: Summer", "2", ""),
        ("Q&A", "", "qa"),
    ]


async def test_the_printed_pages_of_a_book_can_be_looked_up(engine: Engine) -> None:
    catalogue, collection = library(engine)
    labels = catalogue.labels(collection)
    (key,) = labels
    for label in labels[key]:
        here = Filter("label", "in", (label,))
        for each in catalogue.look_up(collection, filters=[here], limit=50):
            assert each.document_id == key
            assert label in str(each.locator)


async def test_every_document_is_summed_up_by_its_own_sentences(engine: Engine) -> None:
    catalogue, collection = library(engine)
    documents = catalogue.collection_outline(collection).documents
    summaries = catalogue.summaries(collection, [each.document_id for each in documents])
    found = [each for each in summaries if each.level == 0]
    assert len(found) == len(documents)
    for each in found:
        text = "".join(c.text for c in catalogue.document_chunks(each.document_id))
        chunks = catalogue.chunks([sentence.chunk_id for sentence in each.sentences])
        for sentence in each.sentences:
            source = chunks[sentence.chunk_id]
            said = source.text[sentence.start - source.start : sentence.end - source.start]
            assert said == text[sentence.start : sentence.end]
            assert said[0].isupper()
            assert said.endswith(".")


async def test_a_rebuilt_index_knows_the_chapters(engine: Engine) -> None:
    catalogue, collection = library(engine)
    before = catalogue.collection_outline(collection).headings
    async for _ in rebuild(engine.parts, collection):
        pass
    catalogue, collection = library(engine)
    index = engine.parts.open_index(collection.table)
    chapter = Filter("chapter", "in", ("2",))
    found = await index.match("lime trees", languages=["en"], limit=5, filters=[chapter])
    assert [each.text for each in catalogue.chunks([key for key, _ in found]).values()]
    assert catalogue.collection_outline(collection).headings == before

"""A correction of a source embeds the chunks that it touches, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.ingest.chunker import chunk
from quoth.ingest.readers.registry import read
from quoth.testing import HashEmbedder
from tests.support.recording_embedder import RecordingEmbedder
from tests.support.small_library import add, open_tour

WORDS = (
    "queen worker drone honey nectar pollen wax comb brood swarm hive frame smoke sting keeper "
    "winter spring flower clover lime acacia sugar feeder entrance guard forager dance cell larva "
    "pupa royal jelly propolis varroa mite treatment colony cluster heat water"
).split()


def chunks_in(embedder: RecordingEmbedder) -> list[str]:
    """Return what was embedded without the titles."""
    return [text for text in embedder.documents if "\n" in text]


def talk(*, hours: float = 2.0) -> list[str]:
    """The sentences of a talk, eight seconds each."""
    choice = random.Random(7)
    return [
        " ".join(choice.choices(WORDS, k=choice.randint(5, 30))).capitalize() + "."
        for _ in range(int(hours * 450))
    ]


def captions(sentences: Sequence[str]) -> str:
    """SRT of the sentences."""
    clock = [f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02},000" for s in range(0, 9000, 8)]
    return "\n".join(
        f"{at}\n{clock[at]} --> {clock[at + 1]}\n{text}\n" for at, text in enumerate(sentences)
    )


async def added(engine: Engine, path: Path) -> Document:
    (document,) = await add(engine, path)
    assert document.status == "ready"
    return document


async def test_one_word_of_a_long_talk_embeds_two_chunks_at_most(tmp_path: Path) -> None:
    embedder = RecordingEmbedder()
    sentences = talk()
    path = tmp_path / "talk.srt"
    path.write_text(captions(sentences))
    async with open_tour(tmp_path / "home", embedder=embedder) as engine:
        document = await added(engine, path)
        assert len(chunks_in(embedder)) == document.chunks > 200
        for at in (0, 450, 899):
            sentences[at] = sentences[at].replace(" ", " zygomorphic ", 1)
            path.write_text(captions(sentences))
            embedder.documents.clear()
            document = await added(engine, path)
            assert 1 <= len(chunks_in(embedder)) <= 2
            assert "zygomorphic" in "".join(chunks_in(embedder))
        chunks = engine.parts.catalogue.document_chunks(document.document_id)
        assert "".join(each.text for each in chunks) == read(path).text
        assert [each.document_id for each in await engine.documents()] == [document.document_id]
        table = engine.parts.catalogue.collection("default").table
        stored = await engine.parts.open_index(table).vectors([each.chunk_id for each in chunks])
        assert len(stored) == len(chunks)


async def test_what_no_vector_depends_on_embeds_nothing(tmp_path: Path) -> None:
    embedder = RecordingEmbedder()
    path = tmp_path / "talk.srt"
    path.write_text(captions(talk(hours=0.1)))
    async with open_tour(tmp_path / "home", embedder=embedder) as engine:
        await added(engine, path)
        embedder.documents.clear()
        (tmp_path / "talk.srt.meta.json").write_text('{"url": "https://a.example/b"}')
        assert (await added(engine, path)).url == "https://a.example/b"
        assert chunks_in(embedder) == []
        (tmp_path / "talk.srt.meta.json").write_text('{"title": "Bees"}')
        document = await added(engine, path)
        assert len(chunks_in(embedder)) == document.chunks


async def test_another_chunk_size_chunks_a_document_anew(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_text(captions(talk(hours=0.1)))
    fresh: list[int] = []
    kept: list[int] = []
    for size in (60, 200, 60):
        settings = Settings(home=tmp_path / f"home{len(fresh)}", chunk_tokens=size)
        async with open_tour(settings.home, settings=settings) as engine:
            fresh.append((await added(engine, path)).chunks)
        settings = Settings(home=tmp_path / "home", chunk_tokens=size)
        async with open_tour(settings.home, settings=settings) as engine:
            kept.append((await added(engine, path)).chunks)
    assert kept == fresh
    assert fresh[0] > fresh[1]


def test_chunks_with_earlier_ones_partition_the_text(tmp_path: Path) -> None:
    """Whatever is inserted, deleted or moved, and whatever the earlier chunks are."""
    choice = random.Random(5)
    path = tmp_path / "talk.srt"
    earlier: list[str] = []
    sentences = talk(hours=0.2)
    for _ in range(30):
        path.write_text(captions(sentences))
        reading = read(path)
        chunks = chunk(
            reading,
            document_id="d",
            chunk_id=str,
            count_tokens=HashEmbedder().count_tokens,
            target_tokens=60,
            language="en",
            earlier=earlier,
        )
        assert "".join(each.text for each in chunks) == reading.text
        assert all(each.tokens <= 90 for each in chunks)
        earlier = [each.text for each in chunks]
        at = choice.randrange(len(sentences) - 8)
        change = choice.choice(["insert", "delete", "move", "repeat"])
        part = sentences[at : at + choice.randint(1, 8)]
        if change in ("delete", "move"):
            del sentences[at : at + len(part)]
        if change in ("insert", "move", "repeat"):
            new = talk(hours=0.01) if change == "insert" else part
            to = choice.randrange(len(sentences))
            sentences[to:to] = new

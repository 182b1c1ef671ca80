"""Summaries are made of whole sentences of the document, for the whole and for its parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.outline import Heading, Summary
from quoth.core.protocols import Matrix
from quoth.core.types import (
    Chunk,
    ParsedDocument,
    Seconds,
)
from quoth.ingest.chunker import chunk
from quoth.ingest.enrich.chapters import contents_of
from quoth.ingest.enrich.summaries import make_summaries
from quoth.ingest.enrich.summary_sentences import LONGEST, SHORTEST
from quoth.ingest.readers.markdown import read_markdown
from quoth.ingest.readers.registry import read
from quoth.ingest.readers.source_file import SourceFile
from quoth.text.sentences import sentences
from tests.conftest import SAMPLES

BEES = (
    "Bees build their combs of wax with six sides. "
    "Bees keep honey in the cells of the combs for winter. "
    "The queen of the bees lays all the eggs of the hive. Bees dance to tell where flowers stand. "
)
ANTS = (
    "Ants follow a trail of scent to their food. Ants carry many times the weight of their bodies. "
    "The ants of one nest know each other by smell. Ants keep lice and milk them like small cows. "
)


def made(text: str) -> tuple[ParsedDocument, list[Chunk]]:
    reading = read_markdown(SourceFile("a.md", b"", text=text))
    return reading, cut(reading)


def cut(reading: ParsedDocument, target: int = 40) -> list[Chunk]:
    return chunk(
        reading,
        document_id="d",
        chunk_id=lambda number: f"c{number}",
        count_tokens=lambda texts: [len(text) // 4 for text in texts],
        target_tokens=target,
        language="en",
    )


def vectors_of(chunks: Sequence[Chunk]) -> Matrix:
    """Counts of letters, as unit rows."""
    rows = np.array(
        [[each.text.casefold().count(letter) + 0.1 for letter in "abcdehnst"] for each in chunks],
        dtype=np.float32,
    )
    found: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def summed_up(reading: ParsedDocument, chunks: Sequence[Chunk]) -> tuple[Summary, ...]:
    known, headings = contents_of(reading, chunks)
    return make_summaries(known, headings=headings, vectors=vectors_of(known))


def shown(summary: Summary, text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in summary.sentences]


def two_chapters() -> tuple[ParsedDocument, list[Chunk]]:
    parts = [f"## On {name}\n\n" + "\n\n".join([text] * 3) for name, text in BOTH]
    more = "\n\n".join(f"# {title}\n\n" + "\n\n".join(parts) for title in ("Field", "Garden"))
    return made(more)


BOTH = (("bees", BEES), ("ants", ANTS))


# --- what a sentence is ---------------------------------------------------------------------------


def assert_whole_sentences(found: Sequence[Summary], *, chunks: Sequence[Chunk], text: str) -> None:
    by_id = {each.chunk_id: each for each in chunks}
    for summary in found:
        assert summary.sentences
        for sentence in summary.sentences:
            source = by_id[sentence.chunk_id]
            assert source.start <= sentence.start < sentence.end <= source.end
            assert summary.first <= source.ordinal <= summary.last
            assert SHORTEST <= sentence.end - sentence.start <= LONGEST
            breaks = [each.start - source.start for each in source.places]
            spoken = breaks if source.kind == "transcript" else []
            spans = sentences(source.text, breaks=spoken)
            assert (sentence.start - source.start, sentence.end - source.start) in spans
            assert "?" not in text[sentence.start : sentence.end]
        starts = [sentence.start for sentence in summary.sentences]
        assert starts == sorted(set(starts))


@pytest.mark.parametrize(
    "file",
    sorted([*SAMPLES.glob("books/*.pdf"), *SAMPLES.glob("talks/*/0[04]*.srt")]),
    ids=lambda file: file.name,
)
def test_leaves_of_the_samples_are_whole_sentences(file: object) -> None:
    reading = read(file)  # type: ignore[arg-type]
    chunks = cut(reading, 200)
    found = summed_up(reading, chunks)
    assert found[0].level == 0
    assert 1 <= len(found[0].sentences) <= 8
    assert all(len(each.sentences) <= 6 for each in found[1:])
    assert_whole_sentences(found, chunks=chunks, text=reading.text)


_PIECES = st.sampled_from(
    [
        "# A heading\n\n",
        "## Another one below it\n\n",
        "The bees of the valley fly out early in spring. ",
        "Why do they fly out so early in the year? ",
        "It is known that they like warm stones and walls. ",
        "Yes. ",
        "- an item of a list that is long enough to be one\n",
        "| 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 |\n\n",
        "蜜蜂在春天飞出来采花蜜，然后回到蜂巢，把花蜜交给其他的蜜蜂，它们把花蜜变成蜂蜜，一直到晚上才休息。",
        "\n\n",
    ]
)


@given(st.lists(_PIECES, max_size=40))
def test_leaves_of_any_text_are_whole_sentences(pieces: Sequence[str]) -> None:
    reading, chunks = made("".join(pieces) + "x")
    assert_whole_sentences(summed_up(reading, chunks), chunks=chunks, text=reading.text)


# --- what is chosen ---------------------------------------------------------------------------


def test_the_tree_follows_the_chapters_and_their_sections() -> None:
    reading, chunks = two_chapters()
    found = summed_up(reading, chunks)
    assert [(each.level, each.path) for each in found] == [
        (0, ()),
        (1, ("Field",)),
        (2, ("Field", "On bees")),
        (2, ("Field", "On ants")),
        (1, ("Garden",)),
        (2, ("Garden", "On bees")),
        (2, ("Garden", "On ants")),
    ]


# --- small and bad documents ------------------------------------------------------------------


def test_a_document_of_one_chunk_has_one_summary() -> None:
    reading, _ = made(f"# Bees\n\n{BEES}")
    found = summed_up(reading, cut(reading, 400))
    assert [(each.level, each.first, each.last) for each in found] == [(0, 0, 0)]


def test_a_short_document_without_headings_is_summed_up_from_each_of_its_chunks() -> None:
    reading, _ = made(f"{BEES}\n\n{ANTS}")
    chunks = cut(reading, 40)
    assert len(chunks) == 2
    (found,) = summed_up(reading, chunks)
    assert {each.chunk_id for each in found.sentences} == {"c0", "c1"}


def test_a_segment_that_was_heard_is_summed_up_by_its_own_sentences() -> None:
    texts = (BEES, ANTS, ANTS)
    chunks, at = [], 0
    for n, text in enumerate(texts):
        place = Seconds(60.0 * n, 60.0 * n + 60)
        chunks.append(Chunk(f"c{n}", "d", n, at, at + len(text), text, place, "transcript"))
        at += len(text)
    heard = Heading("d", (), 1, 2, segment="qa")
    whole, segment = make_summaries(chunks, headings=[heard], vectors=vectors_of(chunks))
    assert (whole.level, segment.level, segment.path) == (0, 2, ())
    assert (segment.first, segment.last) == (1, 2)
    assert_whole_sentences([whole, segment], chunks=chunks, text="".join(texts))


def test_chapter_and_document_are_summed_up_from_the_opening_on_but_for_a_copyright() -> None:
    opening = "Smoke calms the bees of a hive before its keeper opens it."
    notice = "Copyright 1999 by Harbour Press, every printed page reserved in all countries."
    for first, expected in ((opening, True), (notice, False)):
        reading, chunks = made(f"# Bees\n\n{first} {BEES * 3}\n\n# Ants\n\n{ANTS * 3}")
        _, headings = contents_of(reading, chunks)
        found = make_summaries(chunks, headings=headings, vectors=vectors_of(chunks))
        for part in ("Bees",), ():
            sentence = next(each for each in found if each.path == part).sentences[0]
            assert (reading.text[sentence.start : sentence.end] == first) is expected

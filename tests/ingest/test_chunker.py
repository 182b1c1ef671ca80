"""Chunks partition a text, keep its sections, and know where each of their words stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import (
    Chars,
    Chunk,
    Pages,
    ParsedDocument,
    Seconds,
    SpanLocator,
)
from quoth.ingest.chunker import SLACK, chunk
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.captions import make_transcript
from quoth.ingest.readers.cue_parsers import Cue
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read
from quoth.ingest.readers.source_file import SourceFile
from quoth.text.locators import locate

TALKS = Path(__file__).parents[2] / "examples" / "hf-course" / "talks"
FIXTURES = Path(__file__).parents[1] / "fixtures"


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def cut(reading: ParsedDocument, target: int = 40, *, begins: Sequence[int] = ()) -> list[Chunk]:
    return chunk(
        reading,
        document_id="d",
        chunk_id=lambda ordinal: f"c{ordinal}",
        count_tokens=count,
        target_tokens=target,
        language="en",
        begins=begins,
    )


def page(blocks: Sequence[Block]) -> ParsedDocument:
    text, places, sections = assemble(blocks)
    return ParsedDocument(
        kind="markdown", title="Title", text=text, places=places, sections=sections
    )


words = st.lists(
    st.sampled_from(["a", "bé", "word.", "e.g.", "So!", "x,", "«", "»", "1."]), min_size=1
)
blocks = st.builds(Block, words.map(" ".join), level=st.sampled_from([0, 0, 0, 1, 2]))
pages = st.lists(blocks, min_size=1, max_size=25).map(page)
talks = st.lists(
    st.tuples(st.floats(0, 900), st.floats(0, 9), words.map(" ".join), st.sampled_from(["A", "B"])),
    min_size=1,
    max_size=25,
).map(
    lambda cues: make_transcript(
        [
            Cue(0, 1, "Begin."),
            *(Cue(start, start + length, text, who) for start, length, text, who in cues),
        ],
        SourceFile("talk", b""),
    )
)
readings = st.one_of(pages, talks)
targets = st.integers(1, 60)


@given(readings, targets)
def test_chunks_partition_the_text(reading: ParsedDocument, target: int) -> None:
    chunks = cut(reading, target)
    assert "".join(each.text for each in chunks) == reading.text
    assert all(each.text == reading.text[each.start : each.end] for each in chunks)
    assert [each.ordinal for each in chunks] == list(range(len(chunks)))


@given(readings, targets)
def test_every_word_is_in_a_chunk_whose_locator_contains_it(
    reading: ParsedDocument, target: int
) -> None:
    chunks = cut(reading, target)
    for word in re.finditer(r"\S+", reading.text):
        (home,) = [each for each in chunks if each.start <= word.start() < each.end]
        end = min(word.end(), home.end)
        there = locate(reading.places, word.start(), end)
        whole = home.locator
        if isinstance(there, Seconds) and isinstance(whole, Seconds):
            # Rounded to a tenth, the chunk's twice.
            assert whole.start <= there.start + 0.1
            assert there.end <= whole.end + 0.1
        else:
            assert isinstance(there, Chars)
            assert isinstance(whole, Chars)
            assert whole.start <= there.start
            assert there.end <= whole.end


def test_a_chunk_begins_where_it_is_required() -> None:
    text = "One red fox ran. Two grey owls slept. Six hens sat down. Ten cats came in."
    places = (SpanLocator(0, len(text), Seconds(0, 10)),)
    reading = ParsedDocument(kind="transcript", title="t", text=text, places=places)
    six = text.index("Six")
    assert [each.start for each in cut(reading)] == [0]
    assert [each.start for each in cut(reading, begins=[six])] == [0, six]
    assert [each.start for each in cut(reading, begins=[0, six - 3, len(text)])] == [0, six]


def test_a_chunk_that_begins_within_a_cue_knows_its_time() -> None:
    text = "One red fox ran. Two grey owls slept. Six hens sat down. Ten cats came in."
    second = text.index("Six")
    places = (
        SpanLocator(0, second, Seconds(0, 10)),
        SpanLocator(second, len(text), Seconds(10, 20)),
    )
    reading = ParsedDocument(kind="transcript", title="t", text=text, places=places)
    (inside,) = [each for each in cut(reading, 4) if each.text.startswith("Two")]
    assert isinstance(inside.locator, Seconds)
    assert 0 < inside.locator.start < inside.locator.end < 10


@given(readings, targets)
def test_no_chunk_crosses_a_section(reading: ParsedDocument, target: int) -> None:
    for each in cut(reading, target):
        for section in reading.sections:
            assert not each.start < section.start < each.end
            if section.start <= each.start < section.end:
                assert each.section == section.path


@given(readings, targets)
def test_no_chunk_is_above_the_maximum(reading: ParsedDocument, target: int) -> None:
    for each in cut(reading, target):
        assert each.tokens <= max(1, SLACK * target)
        # A word that no chunk could hold is cut, and its parts count one by one.
        assert each.tokens >= len(each.text.split())


@given(readings, targets)
def test_the_same_reading_gives_the_same_chunks(reading: ParsedDocument, target: int) -> None:
    assert cut(reading, target) == cut(reading, target)


@given(readings, targets)
def test_places_are_clipped_to_the_chunk(reading: ParsedDocument, target: int) -> None:
    for each in cut(reading, target):
        for place in each.places:
            assert each.start <= place.start < place.end <= each.end


@given(
    st.text(alphabet="ab. \n\u4e00", min_size=1, max_size=900).filter(str.strip), st.integers(1, 30)
)
def test_a_sentence_too_long_for_a_chunk_is_cut(text: str, target: int) -> None:
    reading = ParsedDocument(
        kind="text", title="t", text=text, places=(SpanLocator(0, len(text), Chars(0, len(text))),)
    )
    chunks = chunk(
        reading,
        document_id="d",
        chunk_id=str,
        count_tokens=count_characters,
        target_tokens=target,
        language="en",
    )
    assert "".join(each.text for each in chunks) == text
    assert all(each.tokens <= max(1, SLACK * target) for each in chunks)


def test_tokens_of_all_sentences_are_counted_in_one_call() -> None:
    calls: list[int] = []

    def counted(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return count(texts)

    reading = read(TALKS / "en" / "00-welcome.srt")
    chunk(reading, document_id="d", chunk_id=str, count_tokens=counted, language="en")
    assert len(calls) == 1


def test_chunks_of_a_talk_are_near_the_target_and_end_with_sentences() -> None:
    for path in sorted(TALKS.glob("*/*.srt")):
        chunks = cut(read(path), 120)
        assert all(80 <= each.tokens <= 160 for each in chunks)
        assert all(each.text.rstrip()[-1] in ".!?»" for each in chunks)


def test_a_term_stays_with_its_definition() -> None:
    terms = ("Anvil", "Bellows", "Chisel", "Drill", "Emery", "File", "Gouge", "Hammer")
    told = "This is a tool that many people who work with metal or with wood use all day long."
    reading = page([Block(f"{each}\n\n{told} {told}") for each in terms])
    for target in (30, 40, 50, 70):
        chunks = cut(reading, target)
        assert len(chunks) > 1
        assert all(each.text.rstrip().endswith(".") for each in chunks)


def test_prefix_and_section_say_where_a_chunk_stands() -> None:
    reading = read(FIXTURES / "pages" / "guide.md")
    last = cut(reading)[-1]
    assert last.section == ("Hedges", "Planting & care", "Odds")
    assert last.locator.section == "Hedges ▸ Planting & care ▸ Odds"
    assert last.prefix == "The hedge ▸ Hedges ▸ Planting & care ▸ Odds"
    assert isinstance(last.locator, Chars)
    assert last.locator.anchor == "ends"


def test_prefix_names_the_author_of_a_text_but_not_of_a_pdf() -> None:
    guide = replace(read(FIXTURES / "pages" / "guide.md"), speaker="Ann Berg")
    assert all(each.prefix.endswith(" ▸ Ann Berg") for each in cut(guide))
    assert not any("Ann" in each.prefix for each in cut(replace(guide, kind="pdf")))


def test_prefix_names_the_only_speaker_of_a_chunk() -> None:
    cues = [Cue(0, 1, "One two.", "Ann"), Cue(1, 2, "Three four.", "Bo")]
    chunks = cut(make_transcript(cues, SourceFile("t", b"", Metadata(title="Talk"))), 2)
    assert [each.prefix for each in chunks] == ["Talk ▸ Ann", "Talk ▸ Bo"]


def test_a_long_cue_shared_by_two_chunks_shares_its_seconds() -> None:
    text = "One two three four. " + "Five six seven nine."
    chunks = cut(make_transcript([Cue(10, 20, text)], SourceFile("t", b"")), 4)
    assert [
        (each.locator.start, each.locator.end)
        for each in chunks
        if isinstance(each.locator, Seconds)
    ] == [
        (10.0, 14.8),
        (15.0, 20.0),
    ]


def test_a_chunk_over_two_pages_says_so() -> None:
    text = "Bottom of one page. Top of the next."
    places = (
        SpanLocator(0, 19, Pages(3, 3, "i", "i")),
        SpanLocator(20, 36, Pages(4, 4, "ii", "ii")),
    )
    (only,) = cut(ParsedDocument(kind="pdf", title="t", text=text, places=places), 20)
    assert only.locator == Pages(3, 4, "i", "ii")

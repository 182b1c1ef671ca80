"""Captions of every sort become text that reads well, each word with its second."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument, Seconds
from quoth.ingest.readers.captions import make_transcript, read_json_transcript, strip_sound_cues
from quoth.ingest.readers.cue_parsers import Cue, timing
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read

FIXTURES = Path(__file__).parents[1] / "fixtures" / "transcripts"
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def said(reading: ParsedDocument) -> list[tuple[str, str | None]]:
    return [
        (reading.text[place.start : place.end], place.locator.speaker)
        for place in reading.places
        if isinstance(place.locator, Seconds)
    ]


def times(reading: ParsedDocument) -> list[tuple[float, float]]:
    return [
        (place.locator.start, place.locator.end)
        for place in reading.places
        if isinstance(place.locator, Seconds)
    ]


def talk(*cues: tuple[float, float, str], speaker: str | None = None) -> ParsedDocument:
    return make_transcript([Cue(*cue) for cue in cues], meta=Metadata(speaker=speaker), name="talk")


def test_srt_lecture_reads_well() -> None:
    reading = read(FIXTURES / "lecture.srt")
    assert reading.text == (
        "Let us begin. The rule has a name: lambda.\n\nWhy?\n\nBecause it is short. "
        "And [INAUDIBLE] too. Example: it has two parts. A last word."
    )


def test_srt_speakers_are_taken_out_of_the_text() -> None:
    speakers = [speaker for _, speaker in said(read(FIXTURES / "lecture.srt"))]
    assert speakers == ["PROFESSOR", "AUDIENCE", "PROFESSOR", "PROFESSOR", "PROFESSOR"]


def test_cues_are_sorted() -> None:
    assert times(read(FIXTURES / "lecture.srt"))[-2:] == [(12.0, 14.0), (14.0, 15.0)]


def test_length_is_the_end_of_the_last_cue() -> None:
    assert read(FIXTURES / "lecture.srt").seconds == 15.0


def test_vtt_voices_styles_notes_and_entities() -> None:
    reading = read(FIXTURES / "talk.vtt")
    assert said(reading) == [
        ("The engine weaves algebraic patterns.", "Ada Byron"),
        ("It does & it <computes>.", "Ada Byron"),
        ("Who built it?", "Charles"),
        ("You did.", "Ada Byron"),
        ("And nobody finished it.", "Ada Byron"),
    ]


def test_paragraphs_begin_with_speakers_and_after_pauses() -> None:
    paragraphs = read(FIXTURES / "talk.vtt").text.split("\n\n")
    assert [paragraph.split()[0] for paragraph in paragraphs] == ["The", "Who", "You", "And"]


def test_rolling_captions_are_not_doubled() -> None:
    reading = read(FIXTURES / "rolling.vtt")
    assert reading.text == "welcome to the garden today we plant beans and peas"
    assert times(reading) == [(0.16, 2.389), (2.399, 4.71), (4.72, 7.0)]


def test_captions_that_grow_word_by_word_are_not_doubled() -> None:
    reading = talk((0, 1, "we plant"), (1, 2, "we plant beans"), (2, 3, "we plant beans and peas"))
    assert reading.text == "we plant beans and peas"


def test_a_word_said_twice_stays_twice() -> None:
    reading = talk((0, 1, "Yes."), (1, 2, "Yes."), (2, 3, "Let us go on."), (3, 4, "So we do."))
    assert reading.text == "Yes. Yes. Let us go on. So we do."


def test_a_cue_shown_twice_at_once_is_said_once() -> None:
    assert (
        talk((0, 2, "We plant."), (0, 2, "We plant."), (2, 3, "Beans.")).text == "We plant. Beans."
    )


def test_language_of_a_vtt_header() -> None:
    assert read(FIXTURES / "rolling.vtt").language == "en"


def test_sbv() -> None:
    reading = read(FIXTURES / "jardin.sbv")
    assert reading.text == "Bonjour à tous. Nous parlons de jardins et de haies."
    assert times(reading) == [(1.0, 3.0), (3.0, 6.5)]


def test_whisper_json() -> None:
    reading = read(FIXTURES / "whisper.json")
    assert (reading.text, reading.language) == ("Le chat dort. Il rêve.", "fr")


def test_youtube_json_events_end_where_the_next_begins() -> None:
    reading = read(FIXTURES / "events.json3")
    assert (reading.text, times(reading)) == ("a river runs to the sea", [(1.0, 3.0), (3.0, 7.0)])


def test_json_lines_with_durations_and_clocks() -> None:
    reading = read(FIXTURES / "twice.jsonl")
    assert said(reading) == [("First.", "Ann"), ("Second.", "Bo")]
    assert times(reading) == [(1.0, 3.5), (4.0, 6.0)]


def test_spoken_markdown() -> None:
    reading = read(FIXTURES / "podcast.md")
    assert (reading.kind, reading.title) == ("transcript", "Bread and machines")
    assert reading.text == (
        "Welcome back. Today we talk about bread.\n\n"
        "Thank you, Ann. I bake every day, and it helps.\n\n"
        "It really does. The oven is the model here.\n\n"
        "And the flour is the data [unintelligible] of course."
    )
    assert [speaker for _, speaker in said(reading)] == [
        *("Ann Lee", "Bo Chen", "Bo Chen", "Bo Chen", "Ann Lee"),
    ]


def test_spoken_markdown_places_reach_from_mark_to_mark() -> None:
    found = times(read(FIXTURES / "podcast.md"))
    assert found[:4] == [(0.0, 267.0), (0.0, 267.0), (0.0, 267.0), (267.0, 491.0)]
    assert found[4][0] == 491.0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[MUSIC PLAYING]", ""),
        ("(screen whooshes)", ""),
        ("(Applaudissements)", ""),
        ("♪ la la ♪", "la la"),
        ("♪♪♪", ""),
        ("[INAUDIBLE]", ""),
        ("we go [LAUGHTER] on", "we go on"),
        ("we [INAUDIBLE] go on", "we [INAUDIBLE] go on"),
        ("(since a model wants numbers)", "(since a model wants numbers)"),
        ("[1] is a number", "[1] is a number"),
    ],
)
def test_asides(text: str, kept: str) -> None:
    assert strip_sound_cues(text) == kept


@pytest.mark.parametrize(
    ("cues", "speakers"),
    [
        (["EINSTEIN: So.", "Well.", "BOHR: No.", "EINSTEIN: Yes.", "BOHR: Oh."], "EEBEB"),
        ([">> Eve: Hello.", "And more.", ">> Bob: Hi."], "EEB"),
        (["Eve: One.", "Bob: Two.", "Eve: Three.", "Bob: 4.", "Eve: 5.", "Bob: 6."], "EBEBEB"),
        (["Note: one.", "Note: two.", "Note: three."], "---"),
        (["SQL: a language.", "It is old.", "We like it."], "---"),
        (["The answer is: yes.", "The answer is: no.", "The answer is: ah."], "---"),
    ],
)
def test_labels_are_speakers_only_where_that_is_certain(cues: list[str], speakers: str) -> None:
    reading = talk(*((float(n), n + 1.0, text) for n, text in enumerate(cues)))
    assert "".join((speaker or "-")[0] for _, speaker in said(reading)) == speakers


def test_a_label_that_is_no_speaker_stays_in_the_text() -> None:
    assert talk((0, 1, "Note: it is green."), (1, 2, "It is.")).text == "Note: it is green. It is."


def test_a_dash_marks_somebody_else() -> None:
    reading = talk((0, 1, "- Hello there."), (1, 2, "I am Ann."), (2, 3, "- And I am Bo."))
    assert reading.text == "Hello there. I am Ann.\n\nAnd I am Bo."


def test_the_described_speaker_holds_until_somebody_else_begins() -> None:
    reading = talk((0, 1, "- Hello."), (1, 2, ">> A question."), speaker="Ann")
    assert [speaker for _, speaker in said(reading)] == ["Ann", None]


def test_dialogue_within_a_cue() -> None:
    assert talk((0, 2, "-Où vas-tu ?\n-Au jardin.")).text == "Où vas-tu ?\n\nAu jardin."


def test_an_aside_over_several_cues() -> None:
    reading = talk((0, 1, '[MUSIC-- "JESU, JOY'), (1, 2, 'OF MAN" BY BACH]'), (2, 3, "Welcome."))
    assert reading.text == "Welcome."


def test_pauses_make_paragraphs_in_captions_without_full_stops() -> None:
    assert talk((0, 1, "we plant beans"), (4, 5, "and peas")).text == "we plant beans\n\nand peas"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("00:01:02,500 --> 00:01:04,000", (62.5, 64.0)),
        ("1:02.5 --> 1:04", (62.5, 64.0)),
        ("  100:00:00.000 --> 100:00:01.000 align:left", (360000.0, 360001.0)),
        ("0:00:05.440,0:00:09.360", (5.44, 9.36)),
        ("00:01 to 00:02", None),
        ("x --> y", None),
    ],
)
def test_timing_lines(line: str, expected: tuple[float, float] | None) -> None:
    assert timing(line) == expected


def test_a_number_without_an_empty_line_before_it_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text(
        "1\n0:01.0 --> 0:02.0\nOne.\n2\n0:02.0 --> 0:03.0\n42\n\n3\n0:03.0 --> 0:04.0\nX."
    )
    assert read(path).text == "One. 42 X."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "1\n00:00:00,000 --> 00:00:01,000\n\n2\n00:00:01,000 --> 00:00:02,000\n[MUSIC]\n",
            "empty",
        ),
        ("1\nyesterday --> today\nHello.\n", "damaged"),
    ],
)
def test_captions_without_a_usable_cue(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "a.srt"
    path.write_text(text)
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"segments": [', "damaged"),
        ("[" * 100_000, "damaged"),
        ('{"name": "x"}', "unsupported"),
        ("[1, 2]", "unsupported"),
        ('{"segments": []}', "empty"),
        ('[{"start": 0, "text": " "}]', "empty"),
        ('[{"start": "soon", "text": "x"}]', "unsupported"),
    ],
)
def test_json_that_is_no_transcript(text: str, code: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_json_transcript(text, meta=Metadata(), name="a.json")
    assert caught.value.code == code


def test_odd_values_in_json_cost_one_cue_only() -> None:
    rows = [
        {"start": float("nan"), "text": "a"},
        {"start": -1, "text": "b"},
        {"start": 10**400, "text": "c"},
        {"start": 1, "end": 0, "text": "kept \ud800"},
        {"start": True, "text": "d"},
        {"start": 2, "text": None},
    ]
    reading = read_json_transcript(json.dumps(rows), meta=Metadata(), name="a.json")
    assert (reading.text, times(reading)) == ("kept \ufffd", [(1.0, 1.0)])


words = st.text(alphabet="abcé.?!,:[]()-<>&;♪1\n ", max_size=20)


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e5), words), max_size=12))
def test_places_cover_the_text_in_order(cues: list[tuple[float, float, str]]) -> None:
    try:
        reading = talk(*cues)
    except DocumentError:
        return  # no cue had a word in it
    position = 0
    for place in reading.places:
        assert not reading.text[position : place.start].strip()
        assert place.start < place.end
        position = place.end
    assert position == len(reading.text)
    starts = [start for start, _ in times(reading)]
    assert starts == sorted(starts)


@pytest.mark.skipif(not DATA.is_dir(), reason="the larger data sets are not here")
@pytest.mark.parametrize("pattern", ["hf-course-ch1/srt/*/*.srt", "sicp-lectures/srt/*.srt"])
def test_real_captions_read_without_leftovers(pattern: str) -> None:
    for path in sorted(DATA.glob(pattern)):
        reading = read(path)
        assert "-->" not in reading.text
        assert "[MUSIC" not in reading.text
        assert "PROFESSOR:" not in reading.text
        assert "  " not in reading.text

"""Captions of every sort become text that reads well, each word with its second."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument, Seconds
from quoth.ingest.readers.captions import make_transcript, read_json_transcript, strip_sound_cues
from quoth.ingest.readers.cue_parsers import Cue, read_json, timing
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read
from quoth.ingest.readers.source_file import SourceFile
from tests.support.tables import rows as table_rows

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
    return make_transcript(
        [Cue(*cue) for cue in cues], SourceFile("talk", b"", Metadata(speaker=speaker))
    )


def test_vtt_voices_styles_notes_and_entities() -> None:
    reading = read(FIXTURES / "talk.vtt")
    assert said(reading) == [
        ("The engine weaves algebraic patterns.", "Ada Byron"),
        ("It does & it <computes>.", "Ada Byron"),
        ("Who built it?", "Charles"),
        ("You did.", "Ada Byron"),
        ("And nobody finished it.", "Ada Byron"),
    ]


def test_rolling_captions_are_not_doubled() -> None:
    reading = read(FIXTURES / "rolling.vtt")
    assert reading.text == "welcome to the garden today we plant beans and peas"
    assert times(reading) == [(0.16, 2.389), (2.399, 4.71), (4.72, 7.0)]


def test_rolling_captions_are_not_doubled_after_a_pause() -> None:
    reading = talk(
        (0, 2, "welcome to the garden"),
        (2, 4, "welcome to the garden\ntoday we plant"),
        (4, 6, "today we plant\nbeans and peas"),
        (9, 11, "beans and peas\nin three rows"),
        (14, 16, "in three rows the beans grow"),
    )
    assert reading.text.split("\n\n") == [
        "welcome to the garden today we plant beans and peas",
        "in three rows",
        "in three rows the beans grow",
    ]


def test_a_name_before_every_cue_begins_no_new_turn() -> None:
    reading = talk(
        (0, 2, "Ada Byron: The engine weaves"),
        (2, 4, "Ada Byron: algebraic patterns."),
        (4, 6, "Charles: Who built it?"),
        (6, 8, "Ada Byron: You did, I"),
        (8, 10, "Ada Byron: suppose."),
    )
    assert reading.text.split("\n\n") == [
        "The engine weaves algebraic patterns.",
        "Who built it?",
        "You did, I suppose.",
    ]
    assert {speaker for _, speaker in said(reading)} == {"Ada Byron", "Charles"}


def test_json_lines_with_durations_and_clocks(tmp_path: Path) -> None:
    reading = read(FIXTURES / "twice.jsonl")
    assert said(reading) == [("First.", "Ann"), ("Second.", "Bo")]
    assert times(reading) == [(1.0, 3.5), (4.0, 6.0)]
    single = tmp_path / "one.jsonl"
    single.write_text('{"start": 2, "end": 5, "text": "First.", "speaker": "Ann"}\n', "utf-8")
    one = read(single)
    assert (said(one), times(one)) == ([("First.", "Ann")], [(2.0, 5.0)])


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
        *("Ann Lee", "Ann Lee", "Bo Chen", "Bo Chen", "Bo Chen", "Bo Chen", "Ann Lee"),
    ]


def test_spoken_markdown_estimates_times_between_its_marks() -> None:
    found = times(read(FIXTURES / "podcast.md"))
    starts = [start for start, _ in found]
    assert starts[0] == 0.0
    assert {267.0, 491.0} <= set(starts)
    assert starts == sorted(set(starts))
    assert all(end == start for (_, end), start in zip(found, starts[1:], strict=False))


def test_what_is_said_after_a_break_is_timed_back_from_the_next_mark(tmp_path: Path) -> None:
    file = tmp_path / "show.md"
    words = "one two three four five six seven eight nine ten. " * 6
    file.write_text(
        f"**Ann Lee:** {words}\n\n**Bo Chen:** \\[02:00\\] {words}\n\n"
        f"**Break:** \\[04:00\\]\n\n**Ann Lee:** {words}\n\n**Bo Chen:** \\[08:00\\] {words}\n"
    )
    starts = [start for start, _ in times(read(file))]
    assert starts[0] == 0.0
    assert not [start for start in starts if 240 <= start < 355]
    assert {360.0, 480.0} <= {round(start) for start in starts}


@pytest.mark.parametrize(
    ("speaker", "labels", "expected"),
    [
        ("Ada Keeper", ("PROFESSOR", "AUDIENCE"), ["Ada Keeper", "AUDIENCE", "Ada Keeper"]),
        (None, ("PROFESSOR", "AUDIENCE"), ["PROFESSOR", "AUDIENCE", "PROFESSOR"]),
        ("Ada Keeper, Bo Chen", ("PROFESSOR", "AUDIENCE"), ["PROFESSOR", "AUDIENCE", "PROFESSOR"]),
        ("Ada Keeper", ("PROFESSOR", "LECTURER"), ["PROFESSOR", "LECTURER", "PROFESSOR"]),
        ("Ada Keeper", ("SPEAKER", "AUDIENCE"), ["SPEAKER", "AUDIENCE", "SPEAKER"]),
        ("Ada Keeper", ("DOZENTIN", "PUBLIKUM"), ["Ada Keeper", "PUBLIKUM", "Ada Keeper"]),
        ("Ada Keeper", ("PROFESORA", "ALUMNA"), ["Ada Keeper", "ALUMNA", "Ada Keeper"]),
    ],
)
def test_the_lecturer_of_a_recording_is_its_speaker(
    speaker: str | None, labels: tuple[str, str], expected: list[str]
) -> None:
    first, second = labels
    cues = [Cue(0, 1, f"{first}: Bees dance."), Cue(1, 2, f"{second}: Why?")]
    cues.append(Cue(2, 3, f"{first}: To show the way."))
    meta = Metadata(speaker=speaker)
    reading = make_transcript(cues, SourceFile("talk.srt", b"", meta), lecturer=speaker)
    assert [who for _, who in said(reading)] == expected


def test_a_person_who_has_a_label_is_not_the_lecturer() -> None:
    labels = ["PROFESSOR", "ADA KEEPER"] * 3
    cues = [Cue(at, at + 1, f"{label}: Bees dance {at}.") for at, label in enumerate(labels)]
    reading = make_transcript(cues, SourceFile("talk.srt", b""), lecturer="Ada Keeper")
    assert [who for _, who in said(reading)] == labels


@pytest.mark.parametrize(("text", "kept"), table_rows("ingest", "captions.asides"))
def test_asides(text: str, kept: str) -> None:
    assert strip_sound_cues(text) == kept


@pytest.mark.parametrize(
    ("cues", "speakers"),
    table_rows("ingest", "captions.labels_are_speakers_only_where_that_is_certain"),
)
def test_labels_are_speakers_only_where_that_is_certain(cues: list[str], speakers: str) -> None:
    reading = talk(*((float(n), n + 1.0, text) for n, text in enumerate(cues)))
    assert "".join((speaker or "-")[0] for _, speaker in said(reading)) == speakers


LUND = ["Henrik Lund: Sponges filter water.", "They do.", "Henrik Lund: They are old.", "Very old."]
LUND += ["They are slow.", "Henrik Lund: So.", "That is all.", "It is."]
ADA = [line.replace("Henrik Lund", "Ada") for line in LUND]


@pytest.mark.parametrize(
    ("before", "cue", "speaker"),
    [
        (LUND, "Mira Okafor: Thank you, Henrik.", None),
        (LUND, "Los Angeles: It has forty berths.", None),
        (LUND, "Question from the audience: Can a broken reef grow back?", None),
        (LUND, "Frage aus dem Saal: Wie tief?", None),
        (LUND, "Audience member: How deep?", None),
        (LUND, "A woman in the audience: How deep?", None),
        (LUND, "Sponges Filter: A device.", None),  # words of the text
        (ADA, "Mira: Thank you.", None),
        ([*LUND, "And that is"], "Mira Okafor: the chair.", "Henrik Lund"),
        ([*LUND, "I lived in"], "New York: The city.", "Henrik Lund"),
        (LUND, "One thing: It rains.", "Henrik Lund"),
        (LUND, "First Question: What is silica?", "Henrik Lund"),
        (LUND, "We asked the audience: Who has seen one?", "Henrik Lund"),
        (LUND, "Public transport: A mess.", "Henrik Lund"),
        (LUND, "Silica: It is glass.", "Henrik Lund"),  # others have two names
        (["Bees dance.", "They do."], "Mira Okafor: Thank you.", None),  # no speaker is known
    ],
)
def test_a_label_that_occurs_once_is_never_of_the_person_before(
    before: list[str], cue: str, speaker: str | None
) -> None:
    reading = talk(*((float(n), n + 1.0, text) for n, text in enumerate([*before, cue, "Yes."])))
    *_, (words, who), (_, after) = said(reading)
    assert (who, after) == (speaker, speaker)
    assert words == cue


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (["Question from the audience: Why?", "Henrik Lund: So."], [None, "Henrik Lund"]),
        (["Mira Okafor: Welcome.", "Henrik Lund: So."], [None, "Henrik Lund"]),
        (["Sponges filter.", "Audience member: Why?"], ["Henrik Lund", None]),
        (["Sponges filter.", "Machine Learning: A tool."], ["Henrik Lund", "Henrik Lund"]),
    ],
)
def test_other_labels_are_not_of_the_speaker_who_is_known(
    cues: list[str], expected: list[str | None]
) -> None:
    meta = Metadata(speaker="Henrik Lund")
    timed = [Cue(at, at + 1, text) for at, text in enumerate(cues)]
    reading = make_transcript(timed, SourceFile("talk.srt", b"", meta))
    assert [who for _, who in said(reading)] == expected


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
    ("text", "code"), table_rows("ingest", "captions.captions_without_a_usable_cue")
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
        read_json_transcript(SourceFile("a.json", b"", text=text))
    assert caught.value.code == code


def test_the_transcript_of_a_podcast_in_json_is_read() -> None:
    rows = [
        {"speaker": "Ada", "startTime": 0.5, "endTime": 2.5, "body": "Bees dance."},
        {"speaker": "Bob", "startTime": 3, "endTime": 4, "body": "They do."},
    ]
    text = json.dumps({"version": "1.0.0", "segments": rows})
    reading = read_json_transcript(SourceFile("a.json", b"", text=text))
    assert [speaker for _, speaker in said(reading)] == ["Ada", "Bob"]
    assert times(reading) == [(0.5, 2.5), (3.0, 4.0)]


@pytest.mark.parametrize("key", ["word", "punctuated_word", "text"])
def test_the_time_of_a_sentence_in_a_long_segment_is_that_of_its_words(key: str) -> None:
    said_at = {"It": 4, "waits": 5, "for": 5.5, "mail.": 6, "The": 40, "captain": 41, "rows.": 42}
    spoken = [
        {key: f" {word}", "start": start, "end": start + 0.5} for word, start in said_at.items()
    ]
    row = {"start": 4, "end": 44, "text": " It waits for mail. The captain rows.", "words": spoken}
    text = json.dumps({"segments": [row]})
    reading = read_json_transcript(SourceFile("a.json", b"", text=text))
    assert times(reading) == [(4.0, 6.5), (40.0, 44.0)]
    other = [*spoken[:-1], {key: "sings.", "start": 42, "end": 43}, 7]
    text = json.dumps({"segments": [{**row, "words": other}]})
    assert times(read_json_transcript(SourceFile("a.json", b"", text=text))) == [(4.0, 44.0)]


@pytest.mark.parametrize(("factor", "added"), [(1, -600), (1000, 0), (-1, 1210), (0.1, 535)])
def test_times_of_words_that_are_not_those_of_the_segment_do_not_count(
    factor: float, added: float
) -> None:
    """They count from its begin, are milliseconds, go backwards, or begin too early."""
    said_at = {"Hello": 600, "world.": 601, "Next": 604, "thing.": 605, "Last.": 608}
    spoken = [
        {"word": word, "start": start * factor + added, "end": start * factor + added + 0.5}
        for word, start in said_at.items()
    ]
    before = {"start": 0, "end": 5, "text": "Intro words."}
    row = {"start": 600, "end": 610, "text": " ".join(said_at), "words": spoken}
    text = json.dumps({"segments": [before, row]})
    reading = read_json_transcript(SourceFile("a.json", b"", text=text))
    assert reading.text.split() == ["Intro", "words.", *said_at]
    assert times(reading) == [(0.0, 5.0), (600.0, 610.0)]


def test_a_word_that_ends_after_its_segment_changes_no_order() -> None:
    spoken = [
        {"word": "One.", "start": 0, "end": 1},
        {"word": "Two.", "start": 5.5, "end": 5.8},
    ]
    rows = [
        {"start": 0, "end": 5, "text": "One. Two.", "words": spoken},
        {"start": 5, "end": 9, "text": "Three."},
    ]
    text = json.dumps({"segments": rows})
    reading = read_json_transcript(SourceFile("a.json", b"", text=text))
    assert reading.text.split() == ["One.", "Two.", "Three."]


def test_a_segment_of_very_many_words_is_read_at_once() -> None:
    """Of equal times; a time that grows with the square of the words would be a minute."""
    spoken = [{"word": "word", "start": 0, "end": 1}] * 60_000
    row = {"start": 0, "end": 9, "text": "word " * 60_000, "words": spoken}
    text, started = json.dumps([row]), time.process_time()
    read_json(text)
    assert time.process_time() - started < 2


def test_odd_values_in_json_cost_one_cue_only() -> None:
    rows = [
        {"start": float("nan"), "text": "a"},
        {"start": -1, "text": "b"},
        {"start": 10**400, "text": "c"},
        {"start": 1, "end": 0, "text": "kept \ud800"},
        {"start": True, "text": "d"},
        {"start": 2, "text": None},
    ]
    reading = read_json_transcript(SourceFile("a.json", b"", text=json.dumps(rows)))
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
    for path in sorted(DATA.glob(pattern))[::4]:
        reading = read(path)
        assert "-->" not in reading.text
        assert "[MUSIC" not in reading.text
        assert "PROFESSOR:" not in reading.text
        assert "  " not in reading.text

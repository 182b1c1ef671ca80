"""Messages as the providers document them become segments; what is damaged is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import InputError
from quoth.core.lecture import SpeechFormat, TranscriptSegment
from quoth.live.adapters import MAX_REMEMBERED, TranscriptSource
from quoth.live.segments import clean_segment
from quoth.live.session import LectureProgress
from quoth.live.sources import growing_captions, read_transcript


def _deepgram(text: str, start: float, duration: float, **more: Any) -> dict[str, Any]:
    words = [
        {"word": word.lower().strip("."), "punctuated_word": word, "confidence": 0.99,
         "start": start + 0.4 * at, "end": start + 0.4 * at + 0.3, "speaker": 0}
        for at, word in enumerate(text.split())
    ]  # fmt: skip
    said = {"transcript": text, "confidence": 0.99, "languages": ["en-US"], "words": words}
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "start": start,
        "duration": duration,
        "is_final": False,
        "speech_final": False,
        "channel": {"alternatives": [said]},
        "metadata": {"request_id": "a0", "model_info": {"name": "general"}},
        "from_finalize": False,
        **more,
    }


def _openai(kind: str, **more: Any) -> dict[str, Any]:
    return {"event_id": "event_1", "type": kind, **more}


HEARD = "conversation.item.input_audio_transcription"


def _livekit(text: str, at: int, *, final: str, key: str = "SG_1") -> dict[str, Any]:
    about = {
        "lk.segment_id": key, "lk.transcription_final": final, "lk.transcribed_track_id": "TR_1",
    }  # fmt: skip
    return {"text": text, "timestamp": at, "participant": "ada", "attributes": about}


def _zoom(text: str, at: int, **more: Any) -> dict[str, Any]:
    said = {"user_id": 16778240, "user_name": "Ada", "data": text, "timestamp": at, **more}
    return {"msg_type": 17, "content": said}


CASES: list[tuple[SpeechFormat, list[Any], list[tuple[Any, ...]]]] = [
    (
        "deepgram",
        [
            {"type": "Metadata", "request_id": "a0", "duration": 0.0},
            {"type": "SpeechStarted", "channel": [0, 1], "timestamp": 0.1},
            _deepgram("A queue", 0.0, 1.0),
            _deepgram("A queen lays eggs.", 0.0, 2.0, is_final=True, speech_final=True),
            _deepgram("", 2.0, 1.0, is_final=True),
            _deepgram("She mates once.", 3.0, 2.0, is_final=True),
            {"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": 5.0},
        ],
        [
            ("d0-0000000.00", 0, 0.0, 0.7, "A queue", False, "Speaker 1", "en"),
            ("d0-0000000.00", 1, 0.0, 1.5, "A queen lays eggs.", True, "Speaker 1", "en"),
            ("d0-0000003.00", 0, 3.0, 4.1, "She mates once.", True, "Speaker 1", "en"),
        ],
    ),
    (
        "openai",
        [
            _openai("session.created", session={"id": "sess_1"}),
            _openai("input_audio_buffer.speech_started", audio_start_ms=1000, item_id="i1"),
            _openai("input_audio_buffer.speech_stopped", audio_end_ms=3000, item_id="i1"),
            _openai("input_audio_buffer.speech_started", audio_start_ms=4000, item_id="i2"),
            _openai(f"{HEARD}.delta", item_id="i1", content_index=0, delta="A que"),
            _openai("input_audio_buffer.speech_stopped", audio_end_ms=6000, item_id="i2"),
            _openai(f"{HEARD}.completed", item_id="i2", content_index=0, transcript="Wax."),
            _openai(f"{HEARD}.delta", item_id="i1", content_index=0, delta="en lays"),
            _openai(f"{HEARD}.completed", item_id="i1", content_index=0, transcript="A queen."),
            _openai("conversation.item.added", item={"id": "i3"}),
        ],
        [
            ("i1", 0, 1.0, 3.0, "A que", False, None, None),
            ("i2", 0, 4.0, 6.0, "Wax.", True, None, None),
            ("i1", 1, 1.0, 3.0, "A queen lays", False, None, None),
            ("i1", 2, 1.0, 3.0, "A queen.", True, None, None),
        ],
    ),
    (
        "livekit",
        [
            _livekit("A que", 1_790_000_000_000, final="false"),
            _livekit("A queen.", 1_790_000_002_000, final="true"),
            {
                "transcribedParticipantIdentity": "bob",
                "trackId": "TR_2",
                "segments": [
                    {
                        "id": "SG_2",
                        "text": "Wax.",
                        "startTime": 1_790_000_003_000,
                        "endTime": 1_790_000_004_500,
                        "language": "en",
                        "final": True,
                    }
                ],
            },
        ],
        [
            ("SG_1", 0, 0.0, 0.0, "A que", False, "ada", None),
            ("SG_1", 1, 0.0, 2.0, "A queen.", True, "ada", None),
            ("SG_2", 0, 3.0, 4.5, "Wax.", True, "bob", "en"),
        ],
    ),
    (
        "zoom",
        [
            {"msg_type": 4, "status_code": 0},
            _zoom("A queen.", 1_790_000_000_000_000),
            {"msg_type": 12, "timestamp": 1_790_000_001_000},
            _zoom("Wax.", 1_790_000_005_000_000, start_time=1_790_000_003_000_000),
        ],
        [
            ("z16778240-1790000000000000", 0, 0.0, 0.0, "A queen.", True, "Ada", None),
            ("z16778240-1790000003000000", 0, 3.0, 5.0, "Wax.", True, "Ada", None),
        ],
    ),
    (
        "quoth",
        [{"start": 1, "end": 2, "text": "Wax."}, {"segments": [{"start": 3, "text": "Honey."}]}],
        [
            ("t0000001.00", 0, 1.0, 2.0, "Wax.", True, None, None),
            ("t0000003.00", 0, 3.0, 3.0, "Honey.", True, None, None),
        ],
    ),
]


def _row(each: TranscriptSegment) -> tuple[Any, ...]:
    return (
        each.segment_id, each.revision, each.start, round(each.end, 3), each.text, each.final,
        each.speaker, each.language,
    )  # fmt: skip


@pytest.mark.parametrize(("form", "messages", "expected"), CASES, ids=[case[0] for case in CASES])
def test_messages_become_segments(
    form: SpeechFormat, messages: list[Any], expected: list[tuple[Any, ...]]
) -> None:
    source = TranscriptSource(form)
    found = [segment for message in messages for segment in source.read(message)]
    assert [_row(each) for each in found] == expected
    # A session takes them as they come; the last revision of each is the transcript.
    progress = LectureProgress()
    assert all(progress.add(each).accepted for each in found)
    finals = {row[0]: row[4] for row in expected if row[5]}
    assert {each.segment_id: each.text for each in progress.finals} == finals


@pytest.mark.parametrize("form", [case[0] for case in CASES])
@pytest.mark.parametrize(
    "message",
    [None, 1, "text", [], {}, {"type": "Results"}, {"msg_type": 17}, {"segments": [1]},
     {"attributes": 3, "text": "x"}, {"type": f"{HEARD}.completed", "item_id": "i"}],
)  # fmt: skip
def test_damaged_messages_are_refused_or_say_nothing(form: SpeechFormat, message: Any) -> None:
    with suppress(InputError):
        assert TranscriptSource(form).read(message) == []


def test_segments_that_never_end_are_forgotten() -> None:
    source = TranscriptSource("openai")
    for at in range(3 * MAX_REMEMBERED):
        source.read(_openai(f"{HEARD}.delta", item_id=f"i{at}", delta="word"))
    assert source.heard("new").text == ""
    assert len(source._heard) <= MAX_REMEMBERED


@pytest.mark.parametrize("head", ["WEBVTT\n\n", ""])
def test_a_growing_file_gives_each_caption_once_it_is_whole(head: str) -> None:
    comma = "." if head else ","
    text = head + "".join(
        f"{at}\n00:00:{at:02}{comma}000 --> 00:00:{at + 1:02}{comma}000\nSentence {at}.\n\n"
        for at in range(5)
    )
    seen: dict[str, str] = {}
    for end in range(len(text) + 1):
        for each in growing_captions(text[:end]):
            assert seen.setdefault(each.segment_id, each.text) == each.text
    assert list(seen.values()) == [f"Sentence {at}." for at in range(5)]


def test_a_speaker_of_captions_speaks_until_another_is_named(tmp_path: Path) -> None:
    says = ["PROFESSOR: Bees dance.", "They show the way.", "STUDENT: Why?", ">> To find food."]
    text = "".join(
        f"{at}\n00:00:{at:02},000 --> 00:00:{at + 1:02},000\n{each}\n\n"
        for at, each in enumerate(says)
    )
    file = tmp_path / "talk.srt"
    file.write_text(text)
    for found in (read_transcript(file), growing_captions(text)):
        speakers = [clean_segment(each).speaker for each in found]
        assert speakers == ["Professor", "Professor", "Student", None]


def test_marks_of_captions_are_no_words(tmp_path: Path) -> None:
    text = (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ada Keeper>Bees &amp; <i>wasps</i>.</v>\n\n"
        "00:00:02.000 --> 00:00:03.000\n<v Bo Chen>Why?</v>\n\n"
    )
    file = tmp_path / "talk.vtt"
    file.write_text(text)
    for found in (read_transcript(file), growing_captions(text)):
        heard = [(each.speaker, each.text) for each in map(clean_segment, found)]
        assert heard == [("Ada Keeper", "Bees & wasps."), ("Bo Chen", "Why?")]


def _said(source: TranscriptSource, message: Any, connection: str) -> list[tuple[str, float, str]]:
    found = source.read(message, connection=connection)
    return [(each.segment_id, each.start, each.text) for each in found]


@pytest.mark.parametrize("named", [True, False])
def test_a_stream_that_begins_anew_goes_on_behind_what_was_said(named: bool) -> None:
    source = TranscriptSource("deepgram")
    first, second = ({"metadata": {"request_id": key} if named else {}} for key in ("a0", "b1"))
    one = _deepgram("She lays eggs.", 60.0, 2.0, is_final=True, **first)
    assert _said(source, one, "1") == [("d0-0000060.00", 60.0, "She lays eggs.")]
    # The same provider on another connection of the caller: it may say its last words again.
    assert _said(source, one, "2") == [("d0-0000060.00", 60.0, "She lays eggs.")]
    again = _deepgram("Wax is sweated.", 62.0, 1.0, is_final=True, **first)
    assert _said(source, again, "2") == [("d0-0000062.00", 62.0, "Wax is sweated.")]
    # The provider itself was connected anew: its times begin at zero.
    new = _deepgram("Mites breed.", 0.0, 2.0, is_final=True, **second)
    [(key, start, _text)] = _said(source, new, "3")
    assert key == "1-d0-0000000.00"
    assert start == pytest.approx(62.0 + 1.1, abs=0.1)


def test_items_of_a_new_realtime_session_go_on_behind_those_of_the_last() -> None:
    source = TranscriptSource("openai", behind=100.0)
    for connection, at in (("1", 50_000), ("2", 900)):
        item = f"item_{connection}"
        for kind, more in (
            ("input_audio_buffer.speech_started", {"audio_start_ms": at}),
            ("input_audio_buffer.speech_stopped", {"audio_end_ms": at + 2000}),
        ):
            source.read(_openai(kind, item_id=item, **more), connection=connection)
        [segment] = source.read(
            _openai(f"{HEARD}.completed", item_id=item, transcript="Wax."), connection=connection
        )
        expected = {"1": (150.0, 152.0), "2": (152.9, 154.9)}[connection]
        assert (segment.start, segment.end) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("zoom", _zoom("Wax.", 1_790_000_000_000)),
        ("livekit", _livekit("Wax.", 1_790_000_000_000, final="true")),
    ],
)
def test_a_clock_goes_on_behind_what_a_restarted_service_has_stored(
    form: SpeechFormat, message: Any
) -> None:
    [segment] = TranscriptSource(form, behind=3000.0).read(message)
    assert segment.start == 3000.0

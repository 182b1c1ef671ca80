"""Recordings become transcripts with seconds, and work that was broken off goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.backends.transcribers.whisper import sentences_of
from quoth.core.errors import DocumentError
from quoth.core.speech import SpokenWord
from quoth.core.types import Seconds
from quoth.ingest.readers.media import captions_beside
from quoth.ingest.sandbox.parent import ParserPool
from quoth.ingest.sandbox.speech import SpeechReader, SpeechSettings

CAPTIONS = "1\n00:00:01,000 --> 00:00:05,000\nA hive has one queen.\n"


def reader(work: Path, lines: list[str], *, problem: str = "") -> SpeechReader:
    settings = SpeechSettings(
        module="tests.support.spoken_double", folder=work / "weights", work=work, problem=problem
    )
    pools = [ParserPool(seconds=60, memory_mb=512) for _ in range(2)]
    return SpeechReader(pools[0], pools[1], settings, progress=lines.append)


async def test_a_recording_is_transcribed_by_the_minute_and_goes_on_where_it_stopped(
    tmp_path: Path,
) -> None:
    lines: list[str] = []
    flag = tmp_path / "flag"
    flag.touch()
    path = tmp_path / "my_talk.mp3"
    path.write_text(f"5\n{flag}\n")
    (tmp_path / "my_talk.mp3.meta.json").write_text('{"speaker": "Ada", "date": "2024-05-01"}')
    speech = reader(tmp_path / "work", lines)
    try:
        with pytest.raises(DocumentError, match="too long"):
            await speech.read(path)
        assert lines[-1] == "my_talk.mp3: 3 of 5 minutes transcribed"
        count = len(lines)
        flag.unlink()
        reading = await speech.read(path)
        assert len(lines) - count < count
        again = await speech.read(path)
    finally:
        await speech.close()
    assert again == reading
    assert (reading.kind, reading.title, reading.speaker, reading.date) == (
        "transcript",
        "my talk",
        "Ada",
        "2024-05-01",
    )
    starts = [place.locator.start for place in reading.places if isinstance(place.locator, Seconds)]
    assert starts == [float(at) for at in range(0, 300, 10)]
    assert reading.text.count("This is said at 290.") == 1


async def test_captions_beside_a_recording_are_its_transcript(tmp_path: Path) -> None:
    path = tmp_path / "talk.mp4"
    path.write_bytes(b"x")
    (tmp_path / "talk.en.srt").write_text(CAPTIONS)
    (tmp_path / "talks.srt").write_text(CAPTIONS)
    assert captions_beside(path) == tmp_path / "talk.en.srt"
    speech = reader(tmp_path / "work", [], problem="There are no weights.")
    try:
        assert (await speech.read(path)).text == "A hive has one queen."
        (tmp_path / "talk.en.srt").unlink()
        with pytest.raises(DocumentError, match=r"talk\.mp4: There are no weights"):
            await speech.read(path)
    finally:
        await speech.close()


def test_sentences_end_at_full_stops_and_pauses() -> None:
    words = [
        SpokenWord(0.0, 0.4, " Bees"),
        SpokenWord(0.4, 0.9, " dance."),
        SpokenWord(1.0, 1.3, " They"),
        SpokenWord(1.3, 1.6, " sleep"),
        SpokenWord(4.0, 4.5, " Honey"),
    ]
    assert [(each.start, each.end, each.text) for each in sentences_of(words)] == [
        (0.0, 0.9, "Bees dance."),
        (1.0, 1.6, "They sleep"),
        (4.0, 4.5, "Honey"),
    ]
    assert sentences_of([]) == []
    late = [SpokenWord(4.0, 4.9, " Bees"), SpokenWord(4.9, 5.8, " dance.")]
    assert [each.start for each in sentences_of(late)] == [4.3]  # the pause before is no word

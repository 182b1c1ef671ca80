"""The process for live speech, its work in this process: lag, silence, sound left out."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quoth.core.errors import DocumentError
from quoth.ingest.sandbox import listen
from quoth.ingest.sandbox.listen import Listener, SoundQueue
from tests.support import heard_double
from tests.support.heard_double import pcm, silence, speech, write_weights

RATE = 16_000


def request(tmp_path: Path, *, slow: float = 0.0) -> dict[str, Any]:
    large = write_weights(tmp_path / "large", seconds=slow)
    small = write_weights(tmp_path / "small")
    return {
        "module": heard_double.__name__,
        "folders": [str(large), str(small)],
        "english": None,
        "threads": 1,
        "name": "m",
        "start": 0.0,
        "rate": RATE,
        "language": "en",
        "file": None,
    }


def heard(given: dict[str, Any], *sounds: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
    """What is answered to sounds that have all come at once."""
    queue = SoundQueue(RATE)
    for sound in sounds:
        queue.put(pcm(sound))
    queue.closed = True
    answers: list[dict[str, Any]] = []
    Listener(given, queue, answers.append).run()
    return answers


def finals(answers: list[dict[str, Any]]) -> str:
    return " ".join(each["text"] for each in answers if each.get("final"))


def test_recognition_that_lags_says_so_and_takes_the_smaller_weights_and_loses_nothing(
    tmp_path: Path,
) -> None:
    words = [f"lag{at}" for at in range(30)]
    sounds = [speech(" ".join(words[:20])), silence(1.0), speech(" ".join(words[20:]))]
    given = request(tmp_path, slow=0.2)
    queue = SoundQueue(RATE)
    queue.put(pcm(np.concatenate(sounds)))
    answers: list[dict[str, Any]] = []
    work = threading.Thread(target=Listener(given, queue, answers.append).run)
    work.start()
    deadline = time.monotonic() + 20
    while sum("state" in each for each in answers) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    queue.closed = True
    work.join(timeout=20)
    states = [(each["state"], each["model"]) for each in answers if "state" in each]
    assert states == [("listening", "large"), ("lagging", "small"), ("listening", "small")]
    assert finals(answers).split() == words


def test_of_sound_beyond_a_minute_the_oldest_is_left_out(tmp_path: Path) -> None:
    queue = SoundQueue(RATE)
    for _ in range(300):
        queue.put(pcm(silence(0.3)))
    words = speech("kept words.")
    queue.put(pcm(words))
    queue.put(pcm(silence(1.0)))
    total = queue.seconds
    queue.closed = True
    answers: list[dict[str, Any]] = []
    Listener(request(tmp_path), queue, answers.append).run()
    [said] = [each for each in answers if each.get("final")]
    assert said["text"] == "kept words."
    assert said["end"] == pytest.approx(total - 1.0, abs=0.5)


def test_ten_minutes_of_silence_are_said_and_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen, "SILENT_S", 3.0)
    given = request(tmp_path)
    answers: list[dict[str, Any]] = []
    queue = SoundQueue(RATE)
    work = threading.Thread(target=Listener(given, queue, answers.append).run)
    work.start()
    for sound in (silence(4.0), speech("hello."), silence(1.0)):
        queue.put(pcm(sound))
        count = len(answers)
        deadline = time.monotonic() + 5
        while len(answers) == count and time.monotonic() < deadline:
            time.sleep(0.02)
    queue.closed = True
    work.join(timeout=10)
    assert [each["state"] for each in answers if "state" in each] == [
        *("listening", "silent", "listening"),
    ]


def test_a_damaged_recording_is_named(tmp_path: Path) -> None:
    file = tmp_path / "noise.wav"
    file.write_bytes(b"RIFFnothing")
    queue = SoundQueue(RATE)
    listen.read_file(file, queue, module=heard_double, speed=1.0)
    with pytest.raises(DocumentError, match=r"noise\.wav cannot be played"):
        Listener(request(tmp_path), queue, lambda _answer: None).run()


def test_a_queue_holds_ten_minutes_at_most() -> None:
    queue = SoundQueue(RATE)
    for _ in range(700):
        queue.put(pcm(silence(1.0)))
    assert queue.seconds < 602
    assert len(queue.take()) == queue.rate * 2 * 601
    assert queue.take() == b""


@pytest.mark.parametrize("language", ["en", None])
def test_weights_for_english_are_taken_once_that_is_spoken(
    language: str | None, tmp_path: Path
) -> None:
    sounds = [speech("one two three four five six seven."), silence(1.0), speech("eight.")]
    given = {**request(tmp_path), "language": language}
    given["folders"] = [str(write_weights(tmp_path / "tiny.en"))]
    given["english"] = str(write_weights(tmp_path / "english"))
    answers = heard(given, *sounds)
    models = [each["model"] for each in answers if each.get("state") == "listening"]
    assert models == (["english"] if language else ["tiny.en", "english"])
    assert finals(answers) == "one two three four five six seven. eight."


def test_other_languages_stay_with_the_other_weights(tmp_path: Path) -> None:
    sound = speech("un deux trois quatre cinq six sept.")
    given = {**request(tmp_path), "language": None}
    given["english"] = str(write_weights(tmp_path / "english"))
    answers = heard(given, sound, silence(1.0))
    assert {each["model"] for each in answers if "model" in each} == {"large"}

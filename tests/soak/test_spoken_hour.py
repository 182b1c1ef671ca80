"""A spoken hour, synthesised, from `quoth add` through kill -9 to places in seconds.

It needs espeak-ng, `quoth[speech]` and the weights of ``fetch_models.py speech``; it is skipped
where one is not there. The figures are printed (``pytest -s``).
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import wave
from dataclasses import dataclass
from itertools import cycle, pairwise
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

from quoth.core.extras import is_installed
from quoth.text.sentences import sentences
from tests.support.fetch_models import speech_folder
from tests.support.web_app import PROGRAM, environment

CORPUS = Path(__file__).parents[1] / "data" / "hf-course" / "corpus.jsonl"
SECONDS = float(os.environ.get("SPOKEN_SECONDS") or 3600.0)
KILLED_AT_S = SECONDS / 4
PAUSE_S = 0.6
LATE_S = 0.5
MIN_WITHIN = 0.95
"""Measured with tiny.en and a synthetic voice."""
NEEDED = {
    "espeak-ng": shutil.which("espeak-ng"),
    "quoth[speech]": is_installed("faster_whisper"),
    "fetch_models.py speech": (speech_folder() / "model.bin").is_file(),
}
_WORD = re.compile(r"[a-z0-9']+")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.timed,
    pytest.mark.timeout(3600),
    *(pytest.mark.skipif(not there, reason=f"needs {name}") for name, there in NEEDED.items()),
]


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, and the second at which it begins."""

    start: float
    text: str


def spoken() -> list[str]:
    """Sentences of English prose that a voice can read."""
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    texts = [row["text"] for row in rows if "-en-" in row["id"]]
    found = [text[start:end] for text in texts for start, end in sentences(text)]
    return [each for each in found if re.fullmatch(r"[A-Z][A-Za-z ,'.?-]{40,300}[.?]", each)]


def speak(file: Path) -> list[Said]:
    """Write an hour of speech, a pause after each sentence; gives when each begins."""
    said: list[Said] = []
    part, frames, rate = file.with_name("part.wav"), 0, 22_050
    with wave.open(str(file), "wb") as sound:
        sound.setparams((1, 2, rate, 0, "NONE", ""))
        for text in cycle(spoken()):
            if frames >= SECONDS * rate:
                break
            subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", part, text], check=True)
            with wave.open(str(part)) as one:
                assert one.getframerate() == rate
                data = one.readframes(one.getnframes())
            silent = len(data) - len(data.lstrip(b"\0"))
            said.append(Said((frames + silent // 2) / rate, text))
            pause = bytes(2 * int(PAUSE_S * rate))
            sound.writeframes(data + pause)
            frames += (len(data) + len(pause)) // 2
    part.unlink()
    return said


def words_of(text: str) -> list[str]:
    """The words, as they are compared."""
    return _WORD.findall(text.lower().replace("-", " "))


def compare(said: list[Said], heard: list[dict[str, Any]]) -> tuple[float, list[float]]:
    """The word error rate, and how late the segments begin that begin with a sentence."""
    expected = [(word, each) for each in said for word in words_of(each.text)]
    found = [(word, each) for each in heard for word in words_of(each["text"])]
    ops = Levenshtein.opcodes([word for word, _ in expected], [word for word, _ in found])
    errors = Levenshtein.distance([word for word, _ in expected], [word for word, _ in found])
    late = []
    for op in ops:
        if op.tag != "equal":
            continue
        for at in range(op.src_end - op.src_start):
            one, other = op.src_start + at, op.dest_start + at
            begins = one == 0 or expected[one - 1][1] is not expected[one][1]
            opens = other == 0 or found[other - 1][1] is not found[other][1]
            if begins and opens:
                late.append(found[other][1]["start"] - expected[one][1].start)
    return errors / len(expected), late


def add(sound: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Begin to add the recording, in a process group of its own."""
    return subprocess.Popen([*PROGRAM, "add", str(sound)], env=env, start_new_session=True)


def progress(home: Path) -> float:
    """How many seconds are transcribed and kept."""
    try:
        (file,) = home.rglob("*.part.json")
        return float(json.loads(file.read_text())["next"] or 0)
    except (ValueError, OSError):
        return 0.0


def test_a_spoken_hour_is_transcribed_through_a_kill(tmp_path: Path) -> None:
    sound, home = tmp_path / "talk.wav", tmp_path / "home"
    said = speak(sound)
    env = {**environment(home), "QUOTH_SPEECH_MODEL": str(speech_folder())}
    made = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    process = add(sound, env)
    while progress(home) < KILLED_AT_S:
        assert process.poll() is None
        time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = time.monotonic() - began
    kept = progress(home)
    assert kept >= KILLED_AT_S
    process = add(sound, env)
    least = SECONDS
    while process.poll() is None:
        least = min(least, progress(home) or SECONDS)
        time.sleep(0.5)
    assert process.returncode == 0
    assert least >= kept  # nothing is transcribed twice
    wall = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    (done,) = (home / "transcripts").glob("*.json")
    heard = json.loads(done.read_text())["segments"]
    starts = [each["start"] for each in heard]
    assert starts == sorted(starts)
    assert all(one["end"] <= other["start"] + 0.01 for one, other in pairwise(heard))
    errors, late = compare(said, heard)
    assert errors < 0.3
    within = sum(abs(each) <= LATE_S for each in late) / len(late)
    seconds = used.ru_utime + used.ru_stime - made.ru_utime - made.ru_stime
    low, middle, high = (quantiles(late, n=20)[at] for at in (0, 9, 18))
    print(  # noqa: T201
        f"\n{len(said)} sentences, {len(heard)} segments; {wall:.0f} s wall ({before:.0f} to the "
        f"kill at {kept:.0f} s of sound), {seconds / SECONDS:.3f} processor seconds a second, "
        f"largest process {used.ru_maxrss / 1024:.0f} MB; word error {errors:.3f}; {len(late)} "
        f"sentences begin a segment, {within:.3f} of them within {LATE_S} s; late by {low:.2f}, "
        f"{middle:.2f}, {high:.2f} s (percentiles 5, 50, 95)"
    )
    assert within >= MIN_WITHIN

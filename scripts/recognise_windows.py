"""Speaks windows of lectures and writes what a recogniser hears, for `scripts/collect_live.py`.

    python scripts/recognise_windows.py DATA HEARD [--model base] [--every 10] [--live]

DATA is what `scripts/collect_live.py` reads. It needs espeak-ng, `quoth[speech]` and the weights of
``tests/support/fetch_models.py speech``. HEARD is a file of JSON lines; a run that was stopped goes
on with it. All windows that stand alone are spoken by one voice, and of the others every tenth, by
voices that change with the lecture. ``--live`` hears them utterance by utterance, as a microphone
is heard; Moonshine always does.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import collect_live
import numpy as np
from rapidfuzz.distance import Levenshtein

from quoth.backends.transcribers.live_speech import (
    open_recogniser,
    sound_blocks,
    start_transcription,
)
from quoth.backends.transcribers.utterances import Recogniser
from quoth.backends.transcribers.whisper import WhisperTranscriber

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.support.fetch_models import MOONSHINE, SPEECH, fetch_speech

ALONE = "en-us"
VOICES = ("en-gb", "en-us+f3", "en-gb-scotland", "en-us+m7")
WORDS_PER_MINUTE = 150

BLOCK = 3200
"""Samples of .2 s, in which a microphone sends them: where an utterance ends depends on it."""


def chosen(data: Path, every: int) -> Iterator[tuple[collect_live.Item, str]]:
    """Return English windows against an English book, each with a voice."""
    items = [
        item
        for item in collect_live.items(data)
        if item.speech == "plain" and item.language == "en" and item.book != "hf-fr"
    ]
    yield from ((item, ALONE) for item in items if item.source == "sicp alone")
    others = [item for item in items if item.source != "sicp alone" and item.pages is not None]
    lectures = list(dict.fromkeys(item.lecture for item in others))
    for item in others[::every]:
        yield item, VOICES[lectures.index(item.lecture) % len(VOICES)]


def hear(recogniser: Recogniser, text: str, *, voice: str, folder: Path, live: bool) -> str:
    """Return what is heard of a text that a voice speaks."""
    file = folder / "spoken.wav"
    command = ["espeak-ng", "-v", voice, "-s", str(WORDS_PER_MINUTE), "-w", str(file), "--stdin"]
    subprocess.run(command, input=text, text=True, check=True)
    sound = np.frombuffer(b"".join(sound_blocks(file)), "<i2").astype(np.float32) / 32768.0
    if not live:
        return " ".join(each.text for each in recogniser.segments(sound, "en", 0.0)[0])
    heard = start_transcription(recogniser, language="en", start=0.0)
    blocks = np.split(sound, range(BLOCK, len(sound), BLOCK))
    found = [each for block in blocks for each in heard.add(block, provisional=False)]
    return " ".join(each.text for each in (*found, *heard.close()))


def error_rate(said: str, heard: str) -> float:
    """Return words replaced, left out and added, by words said."""
    words = [re.findall(r"[\w']+", text.casefold()) for text in (said, heard)]
    return Levenshtein.distance(*words) / max(1, len(words[0]))


def main() -> None:
    """Hear what is not known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("heard", type=Path)
    parser.add_argument("--model", choices=(*SPEECH, MOONSHINE), default="tiny.en")
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    given.heard.touch()
    known = {tuple(json.loads(line)["key"]) for line in given.heard.read_text("utf-8").splitlines()}
    live = given.live or given.model == MOONSHINE
    opened = open_recogniser if live else WhisperTranscriber
    recogniser: Recogniser = opened(fetch_speech(given.model), threads=given.threads)
    with tempfile.TemporaryDirectory() as folder, given.heard.open("a", encoding="utf-8") as out:
        order = list(chosen(given.data, given.every))
        random.Random(7).shuffle(order)  # a part of the run is of every lecture
        for item, voice in order:
            if item.key in known:
                continue
            said = re.sub(r"\b[A-Z]{4,}: ", "", item.text)  # "PROFESSOR: "
            heard = hear(recogniser, said, voice=voice, folder=Path(folder), live=live)
            rate = round(error_rate(said, heard), 3)
            row = {"key": item.key, "heard": heard, "errors": rate}
            out.write(json.dumps(row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()

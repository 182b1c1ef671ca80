"""What the process for live speech uses, without weights: each word is a tone of half a second.

The loudness of a tone names its word in a list that a process shares by a folder's file ``words``
(tests in one process use `speech`). Silence is silence. It stands in for
`quoth.backends.transcribers.live_speech`, whose functions it has.
"""

from __future__ import annotations

import time
import wave
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from quoth.backends.transcribers.utterances import SAMPLE_RATE, LiveTranscription, Recogniser
from quoth.backends.transcribers.whisper import sentences_of
from quoth.core.errors import DocumentError
from quoth.core.protocols import Matrix
from quoth.core.speech import SpokenSegment, SpokenWord

WORD = SAMPLE_RATE // 2
PAUSE = int(0.2 * SAMPLE_RATE)
STEP = 1 / 1000
FIRST = 100
"""Words have the loudness 0.100, 0.101 …; recognised as words of `VOCABULARY`, in order."""
VOCABULARY: list[str] = []


def speech(text: str) -> Matrix:
    """Return the sound of words, half a second each."""
    sounds = []
    for word in text.split():
        if word not in VOCABULARY:
            VOCABULARY.append(word)
        loud = (FIRST + VOCABULARY.index(word)) * STEP
        sounds.append(np.full(WORD, loud, np.float32))
    return np.concatenate(sounds)


def silence(seconds: float) -> Matrix:
    """Return no sound for some time."""
    return np.zeros(int(seconds * SAMPLE_RATE), np.float32)


def pcm(sound: Matrix) -> bytes:
    """Return a sound as PCM of 16 bits."""
    return (sound * 32768).round().astype("<i2").tobytes()


def write_wav(file: Path, sound: Matrix) -> Path:
    """Write a sound file, and the words beside it for another process."""
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(pcm(sound))
    return file


def write_weights(folder: Path, *, seconds: float = 0.0) -> Path:
    """Write "weights": the vocabulary, and how long one recognition takes."""
    folder.mkdir(parents=True)
    (folder / "words").write_text("\n".join([str(seconds), *VOCABULARY]))
    return folder


class WordReader:
    """Recognises the tones of `speech`, in English by weights whose name ends so."""

    def __init__(self, name: str, *, seconds: float = 0.0) -> None:
        self.name = name
        self.calls = 0
        self._seconds = seconds

    def segments(
        self, sound: Matrix, language: str | None, start: float
    ) -> tuple[list[SpokenSegment], str]:
        """Return the words of a sound in sentences."""
        self.calls += 1
        time.sleep(self._seconds)
        words: list[SpokenWord] = []
        at = 0
        while at < len(sound):
            number = round(float(sound[at]) / STEP) - FIRST
            end = at
            while end < len(sound) and round(float(sound[end]) / STEP) - FIRST == number:
                end += 1
            whole = end - at > WORD // 2
            if whole and 0 <= number < len(VOCABULARY):
                times = (start + at / SAMPLE_RATE, start + end / SAMPLE_RATE)
                words.append(SpokenWord(*times, f" {VOCABULARY[number]}"))
            at = end
        return sentences_of(words), language or ("en" if self.name.endswith(".en") else "fr")


def open_recogniser(folder: Path, *, threads: int) -> Recogniser:
    """Open "weights"."""
    del threads
    seconds, *words = (folder / "words").read_text().split("\n")
    if seconds == "broken":
        raise SystemExit(7)
    VOCABULARY[:] = words
    return WordReader(folder.name, seconds=float(seconds))


def start_transcription(
    recogniser: Recogniser, *, language: str | None, start: float
) -> LiveTranscription:
    """Return a transcription as the real module does."""
    return LiveTranscription(recogniser, find_speech, language=language, start=start)


def find_speech(sound: Matrix) -> Sequence[tuple[int, int]]:
    """Return where it is loud, joined over pauses of less than 0.2 s."""
    loud = np.flatnonzero(np.abs(sound) > FIRST * STEP / 2)
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) >= PAUSE)
    begins = [loud[0], *loud[breaks + 1]]
    ends = [*loud[breaks], loud[-1]]
    spans = [(int(begin), int(end) + 1) for begin, end in zip(begins, ends, strict=True)]
    if len(sound) - spans[-1][1] < PAUSE:
        spans[-1] = (spans[-1][0], len(sound))
    return spans


class Resampler:
    """Takes 16 kHz only."""

    def __init__(self, rate: int) -> None:
        assert rate == SAMPLE_RATE

    def __call__(self, samples: bytes) -> Matrix:
        """Return the sound of PCM."""
        return np.frombuffer(samples, "<i2").astype(np.float32) / 32768.0


def sound_blocks(path: Path) -> Iterator[bytes]:
    """Yield the PCM of a WAV file."""
    try:
        file = wave.open(str(path), "rb")  # noqa: SIM115 - closed below, after the last block
    except (wave.Error, EOFError) as error:
        raise DocumentError("damaged", f"{path.name} cannot be played ({error}).") from None
    with file:
        while block := file.readframes(1600):
            yield block

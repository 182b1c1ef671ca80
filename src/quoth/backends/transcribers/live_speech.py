"""What the process for live speech uses: recognisers, Silero's voice detection, and sound files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import av
import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps

from quoth.backends.transcribers.moonshine import MoonshineRecogniser
from quoth.backends.transcribers.registry import ENCODER
from quoth.backends.transcribers.utterances import SAMPLE_RATE, LiveTranscription, Recogniser
from quoth.backends.transcribers.whisper import WhisperTranscriber
from quoth.core.errors import DocumentError
from quoth.core.protocols import Matrix

VOICE = VadOptions(min_silence_duration_ms=250, speech_pad_ms=100, min_speech_duration_ms=100)


def open_recogniser(folder: Path, *, threads: int) -> Recogniser:
    """Open the weights of whisper or Moonshine in a folder; raises ConfigError."""
    if (folder / ENCODER).is_file():
        return MoonshineRecogniser(folder)
    return WhisperTranscriber(folder, threads=threads, live=True)


def start_transcription(
    recogniser: Recogniser, *, language: str | None, start: float
) -> LiveTranscription:
    """Return a transcription that begins at this second of the lecture."""
    return LiveTranscription(recogniser, find_speech, language=language, start=start)


def find_speech(sound: Matrix) -> Sequence[tuple[int, int]]:
    """Return where speech begins and ends, in samples."""
    return [(int(each["start"]), int(each["end"])) for each in get_speech_timestamps(sound, VOICE)]


class Resampler:
    """Turns mono PCM of 16 bits at any rate into sound of 16 kHz."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)

    def __call__(self, samples: bytes) -> Matrix:
        """Return the sound of samples, whose number may differ by what is still to come."""
        pcm = np.frombuffer(samples, "<i2")
        if self._rate != SAMPLE_RATE and len(pcm):
            frame = av.AudioFrame.from_ndarray(pcm.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate = self._rate
            parts = [part.to_ndarray().reshape(-1) for part in self._resampler.resample(frame)]
            pcm = np.concatenate(parts) if parts else pcm[:0]
        return pcm.astype(np.float32) / 32768.0


def sound_blocks(path: Path) -> Iterator[bytes]:
    """Yield the first sound track of a file as PCM of 16 bits, mono, 16 kHz.

    Raises DocumentError: ``damaged``, ``empty``.
    """
    try:
        with closing(av.open(str(path), metadata_errors="ignore")) as file:
            if not file.streams.audio:
                raise DocumentError("empty", f"{path.name} has no sound.")
            resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
            for frame in file.decode(audio=0):
                for part in resampler.resample(frame):
                    yield part.to_ndarray().tobytes()
    except av.FFmpegError as error:
        raise DocumentError(
            "damaged", f"{path.name} cannot be played ({error.strerror}). Convert it and try again."
        ) from None

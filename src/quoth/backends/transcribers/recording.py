"""Transcribe a stretch of a sound or video file; runs in the sandbox process."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from pathlib import Path

import av
import numpy as np

from quoth.backends.transcribers.whisper import SAMPLE_RATE, WhisperTranscriber
from quoth.core.errors import DocumentError
from quoth.core.protocols import Matrix
from quoth.core.types import Json
from quoth.text.json_codec import to_json

MIN_SECONDS = 0.3
"""A stretch of sound that is shorter holds no words."""


def transcribe_stretch(path: Path, request: Json) -> Json:
    """Return the segments of the stretch that a request names, and where the next one begins.

    The last sentence of a stretch may be cut off, so that the next one begins with it. ``next`` is
    None at the end of the file. Raises DocumentError.
    """
    start, seconds = float(request["start"]), float(request["length"])
    sound, total = read_sound(path, start=start, seconds=seconds)
    end = start + len(sound) / SAMPLE_RATE
    more = len(sound) >= int(seconds * SAMPLE_RATE)
    if len(sound) < MIN_SECONDS * SAMPLE_RATE:
        return {"segments": [], "next": None, "seconds": total or start, "language": None}
    speech = _transcriber(Path(request["folder"]), int(request["threads"]))
    segments, language = speech.segments(sound, request["language"], start)
    following: float | None = end if more else None
    if more and len(segments) > 1 and segments[-1].end > end - 5:
        following = segments.pop().start
    return {
        "segments": [to_json(segment) for segment in segments],
        "next": following,
        "seconds": total or end,
        "language": language,
    }


@lru_cache(maxsize=1)
def _transcriber(folder: Path, threads: int) -> WhisperTranscriber:
    return WhisperTranscriber(folder, threads=threads)


def read_sound(path: Path, *, start: float, seconds: float) -> tuple[Matrix, float | None]:
    """Return a stretch of the first sound track as mono of 16 kHz, and the seconds of the file.

    Raises DocumentError: ``damaged``, ``empty``.
    """
    try:
        with closing(av.open(str(path), metadata_errors="ignore")) as file:
            if not file.streams.audio:
                raise DocumentError("empty", f"{path.name} has no sound.")
            total = file.duration / 1e6 if file.duration else None
            if start > 0:
                file.seek(int(start * 1e6), backward=True)
            resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
            parts: list[Matrix] = []
            wanted = int(seconds * SAMPLE_RATE)
            count = 0
            for frame in file.decode(audio=0):
                begins = float(frame.time or 0.0)
                for part in resampler.resample(frame):
                    samples = part.to_ndarray().reshape(-1).astype(np.float32) / 32768.0
                    early = int((start - begins) * SAMPLE_RATE) if not parts else 0
                    if early >= len(samples):
                        continue
                    parts.append(samples[max(0, early) :])
                    count += len(parts[-1])
                if count >= wanted:
                    break
    except av.FFmpegError as error:
        raise DocumentError(
            "damaged", f"{path.name} cannot be played ({error.strerror}). Convert it and try again."
        ) from None
    sound = np.concatenate(parts)[:wanted] if parts else np.zeros(0, np.float32)
    return sound, total

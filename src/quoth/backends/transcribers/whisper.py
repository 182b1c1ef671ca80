"""Speech to text on this machine, by faster-whisper and its voice detection (Silero)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faster_whisper import WhisperModel

from quoth.core.errors import BackendError, ConfigError
from quoth.core.protocols import Matrix
from quoth.core.speech import SpokenSegment, SpokenWord

SAMPLE_RATE = 16_000
RECORDED: Mapping[str, Any] = {"vad_filter": True}
LIVE: Mapping[str, Any] = {"vad_filter": False, "temperature": 0.0}
"""Live sound comes without its silence, and there is no time to recognise it more than once."""


class WhisperTranscriber:
    """Transcribes sound with the weights in a folder; one call at a time.

    ``live`` is for utterances that a voice detection has cut out already.
    """

    def __init__(self, folder: Path, *, threads: int = 2, live: bool = False) -> None:
        self._options = LIVE if live else RECORDED
        self.name = folder.name
        if not (folder / "model.bin").is_file():
            raise ConfigError(
                f"There are no weights for speech in {folder}: `quoth models` says how to get them."
            )
        self._model = WhisperModel(
            str(folder),
            device="cpu",
            compute_type="int8",
            cpu_threads=threads,
            local_files_only=True,
        )

    def segments(
        self, sound: Matrix, language: str | None, start: float
    ) -> tuple[list[SpokenSegment], str]:
        """Return what is said, sentence by sentence, and in which language."""
        try:
            found, about = self._model.transcribe(
                sound,
                language=language,
                beam_size=1,
                word_timestamps=True,
                condition_on_previous_text=False,
                **self._options,
            )
            words = [
                SpokenWord(
                    round(start + float(word.start), 2),
                    round(start + float(word.end), 2),
                    word.word,
                )
                for segment in found
                for word in segment.words or ()
            ]
        except (RuntimeError, ValueError) as error:
            raise BackendError(f"The speech could not be recognised: {error}.") from error
        return sentences_of(words), about.language


PAUSE_S = 1.5
"""Silence that ends a sentence without a full stop."""
MAX_SENTENCE_S = 30.0
FIRST_WORD_S = 0.6
"""Longest first word of a sentence: a recogniser counts the pause before it to the word. Of 29
sentences with pauses of .6 s all begin within .5 s, .79 of them without this."""
_STOPS = (".", "!", "?", "…", "。")


def sentences_of(words: Sequence[SpokenWord]) -> list[SpokenSegment]:
    """Group words into sentences: to a full stop, a pause, or `MAX_SENTENCE_S`."""
    groups: list[list[SpokenWord]] = []
    for word in words:
        last = groups[-1] if groups else []
        ended = last and (
            last[-1].text.rstrip().endswith(_STOPS)
            or word.start - last[-1].end >= PAUSE_S
            or word.end - last[0].start > MAX_SENTENCE_S
        )
        if ended or not last:
            groups.append([word])
        else:
            last.append(word)
    return [
        SpokenSegment(
            max(group[0].start, round(group[0].end - FIRST_WORD_S, 2)),
            group[-1].end,
            "".join(word.text for word in group).strip(),
            tuple(group),
        )
        for group in groups
    ]

"""Speech to text on this machine, by faster-whisper and its voice detection (Silero)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faster_whisper import WhisperModel

from quoth.backends.transcribers.spoken_sentences import sentences_of
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

"""Where the weights for speech to text are, and what is missing for it."""

from __future__ import annotations

from pathlib import Path

from quoth.backends.registry import require
from quoth.core.errors import MissingExtra
from quoth.core.lecture import LiveSpeechSettings
from quoth.core.settings import Settings

WORKER = "quoth.backends.transcribers.recording"
"""The module that transcribes recordings in the sandbox process."""
LIVE_WORKER = "quoth.backends.transcribers.live_speech"
"""The module that the process for live speech uses."""
ENCODER = "onnx/encoder_model.onnx"
DECODER = "onnx/decoder_model_merged.onnx"
TOKENIZER = "tokenizer.json"
"""The files that a folder with weights of Moonshine has."""


def speech_folder(settings: Settings) -> Path:
    """Return the folder of the weights."""
    return _folder(settings, settings.speech_model)


def _folder(settings: Settings, name: str) -> Path:
    named = Path(name).expanduser()
    return named if named.is_dir() else settings.models / name


def _live_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the folders of the weights, the largest first; the smaller are for when they lag."""
    small = _folder(settings, settings.speech_model_small)
    folders = (speech_folder(settings), small)
    return folders if (small / "model.bin").is_file() else folders[:1]


def speech_problem(settings: Settings) -> str:
    """Return why recordings cannot be transcribed here, and the way out; empty if they can."""
    try:
        require("transcriber", "whisper")
    except MissingExtra as error:
        return str(error)
    folder = speech_folder(settings)
    if (folder / "model.bin").is_file():
        return ""
    return (
        f"There are no weights for speech to text in {folder}. `quoth models` says how to get "
        "them; captions (.srt, .vtt) do as well, beside the recording or uploaded in its place."
    )


def live_speech_settings(settings: Settings) -> LiveSpeechSettings:
    """Return how live speech is transcribed, or why it cannot be."""
    english = _folder(settings, settings.speech_model_english)
    whole = all((english / name).is_file() for name in (ENCODER, DECODER, TOKENIZER))
    return LiveSpeechSettings(
        module=LIVE_WORKER,
        folders=_live_folders(settings),
        english=english if whole else None,
        memory_mb=settings.speech_memory_mb,
        threads=settings.threads,
        problem=speech_problem(settings),
    )

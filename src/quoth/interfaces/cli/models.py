"""`quoth models`: what there is, and building the default model ahead of its first use."""

from __future__ import annotations

from pathlib import Path

from quoth.backends.transcribers.registry import speech_folder, speech_problem
from quoth.bootstrap import DEFAULT_EMBEDDER, build_default_model, default_model
from quoth.core.errors import InputError
from quoth.interfaces.cli.session import DONE, CliSession

HOW_TO_GET_SPEECH = (
    "  pip install 'quoth[speech]', and put a Whisper model for CTranslate2 into that folder "
    "(model.bin, config.json, tokenizer.json and a vocabulary), such as "
    "Systran/faster-whisper-base of the Hugging Face hub; or name another folder with "
    "QUOTH_SPEECH_MODEL."
)


async def models_command(session: CliSession, action: str, *, weights: Path | None) -> int:
    """Show or build the default model; raises InputError and ConfigError."""
    if action not in ("list", "build"):
        raise InputError(f"'{action}' is not something to do with models. Use list or build.")
    if action == "build":
        build_default_model(session.settings, weights=weights, progress=session.say)
    folder, built = default_model(session.settings)
    speech, problem = speech_folder(session.settings), speech_problem(session.settings)
    if session.json:
        rows = ((DEFAULT_EMBEDDER, folder, built), ("speech", speech, not problem))
        session.put([{"name": name, "folder": str(at), "built": ok} for name, at, ok in rows])
    else:
        state = "ready" if built else "not built yet (quoth models build)"
        session.out.print(f"{DEFAULT_EMBEDDER}: {state}\n  {folder}", highlight=False)
        text = f"speech to text: {'not there' if problem else 'ready'}\n  {speech}"
        session.out.print(text, highlight=False, markup=False)
        if problem:
            session.out.print(HOW_TO_GET_SPEECH, highlight=False, markup=False, soft_wrap=True)
    return DONE

"""Sound for `quoth live`: a recording, or the microphone of this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quoth.bootstrap import live_speech_settings, open_microphone
from quoth.core.errors import BackendError, InputError
from quoth.interfaces.cli.session import CliSession
from quoth.pipeline.live_session import LiveSession
from quoth.pipeline.live_speech import LiveSpeech


async def speak_file(
    session: CliSession, file: Path, running: LiveSession, *, speed: float
) -> None:
    """Transcribe a recording into a session, at most ``speed`` times as fast as it was spoken.

    Raises InputError, NoTranscriber, and BackendError where recognition fails.
    """
    if not await asyncio.to_thread(file.is_file):
        raise InputError(f"There is no file {file}.")
    settings = live_speech_settings(session.settings)
    speech = await LiveSpeech.start(running, settings, file=file, speed=speed)
    try:
        await speech.wait()
    finally:
        await speech.stop()
    _require(speech)


async def speak_microphone(session: CliSession, running: LiveSession) -> None:
    """Transcribe the microphone into a session until Ctrl-C; raises as `speak_file` does."""
    settings = live_speech_settings(session.settings)
    speech = await LiveSpeech.start(running, settings)
    loop = asyncio.get_running_loop()
    try:
        with open_microphone(lambda pcm: loop.call_soon_threadsafe(speech.feed, pcm)):
            await speech.wait()
    except asyncio.CancelledError:  # Ctrl-C ends the lecture; what was said last is still taken
        await speech.finish()
    finally:
        await speech.stop()
    _require(speech)


def _require(speech: LiveSpeech) -> None:
    if speech.state.state == "failed":
        raise BackendError(speech.state.message)

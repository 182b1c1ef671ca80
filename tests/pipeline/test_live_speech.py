"""Speech of a real process as the voice of a session: words and consent are stored, sound never."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from quoth.core.errors import Conflict, NoTranscriber
from quoth.core.lecture import LiveSpeechSettings
from quoth.engine import Engine
from quoth.pipeline.live_session import LiveSession
from quoth.pipeline.live_speech import LiveSpeech
from quoth.store.lectures import Lectures
from tests.support import heard_double
from tests.support.busy import writers
from tests.support.heard_double import pcm, silence, speech, write_wav, write_weights
from tests.support.lectures import spoken, write_book
from tests.support.small_library import add, open_tour

SAID = " ".join(each.text for each in spoken("Honey", "Queens"))


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_tour(tmp_path / "home") as opened:
        await add(opened, write_book(tmp_path / "sources"))
        yield opened


def _session(engine: Engine) -> LiveSession:
    store = Lectures.of(engine.parts.catalogue)
    return LiveSession(engine.parts, store.start(title="Bees", collections=("default",)))


def _settings(folder: Path) -> LiveSpeechSettings:
    return LiveSpeechSettings(heard_double.__name__, (folder,), memory_mb=2048, threads=1)


def _feed(heard: LiveSpeech, sound: np.ndarray) -> None:
    for at in range(0, len(sound), 1600):
        heard.feed(pcm(sound[at : at + 1600]))


def _files_with(folder: Path, parts: Sequence[bytes]) -> list[Path]:
    files = [each for each in folder.rglob("*") if each.is_file()]
    return [each for each in files if any(part in each.read_bytes() for part in parts)]


async def test_a_microphone_is_transcribed_and_its_sound_is_nowhere(
    engine: Engine, tmp_path: Path
) -> None:
    session = _session(engine)
    sound = np.concatenate([speech(SAID), silence(1.0)])
    settings = _settings(write_weights(tmp_path / "weights"))
    heard = await LiveSpeech.start(session, settings, language="en")
    assert session.lecture.consent_at is not None
    _feed(heard, sound)
    await heard.finish()
    await session.end()
    await session.stop()
    store, key = session.store, session.lecture.session_id
    assert store.lecture(key).consent_at == session.lecture.consent_at
    said = store.segments(key)
    assert " ".join(each.text for each in said) == SAID
    assert {each.speaker for each in said} == {None}
    assert said[-1].end == pytest.approx(len(SAID.split()) / 2, abs=0.2)
    assert store.citations(key)
    states = [event.speech.state for _, event in session.events.after(0) if event.event == "speech"]
    assert (states[0], states[-1]) == ("starting", "off")
    samples = pcm(sound)
    parts = [samples[at : at + 64] for at in range(0, len(samples) - 64, len(samples) // 20)]
    assert _files_with(tmp_path, [part for part in parts if any(part)]) == []


async def test_a_sentence_that_cannot_be_stored_yet_is_kept_and_the_microphone_stays_on(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session = _session(engine)
    sound = np.concatenate([speech("bees carry nectar home."), silence(1.0)])
    heard = await LiveSpeech.start(session, _settings(write_weights(tmp_path / "weights")))
    with writers(engine.parts.catalogue.database):
        _feed(heard, sound)
        while "segments_wait" not in caplog.messages:  # noqa: ASYNC110 - the log tells nobody
            await asyncio.sleep(0.01)
    _feed(heard, sound)
    await heard.finish()
    assert heard.state.state == "off"
    said = session.store.segments(session.lecture.session_id)
    assert [each.text for each in said] == ["bees carry nectar home."] * 2
    await session.stop()


async def test_a_recording_goes_on_behind_what_was_said(engine: Engine, tmp_path: Path) -> None:
    session = _session(engine)
    file = write_wav(tmp_path / "talk.wav", speech("so much for today."))
    settings = _settings(write_weights(tmp_path / "weights"))
    for _ in range(2):
        heard = await LiveSpeech.start(session, settings, file=file, speed=50)
        await heard.wait()
        await heard.stop()
    first, second = session.store.segments(session.lecture.session_id)
    assert (first.text, second.text) == ("so much for today.", "so much for today.")
    assert second.start >= first.end
    await session.end()
    with pytest.raises(Conflict, match="has ended"):
        await LiveSpeech.start(session, settings)
    await session.stop()


async def test_what_is_missing_and_what_breaks_down_is_a_sentence(
    engine: Engine, tmp_path: Path
) -> None:
    session = _session(engine)
    nothing = LiveSpeechSettings("", (), memory_mb=512, problem="pip install 'quoth[speech]'")
    with pytest.raises(NoTranscriber, match=r"quoth\[speech\]"):
        await LiveSpeech.start(session, nothing)
    assert session.lecture.consent_at is None
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "words").write_text("broken\n")
    heard = await LiveSpeech.start(session, _settings(broken))
    await asyncio.wait_for(heard.wait(), 30)
    assert heard.state.state == "failed"
    assert "broke down" in heard.state.message
    await heard.stop()
    assert heard.state.state == "failed"
    await session.stop()

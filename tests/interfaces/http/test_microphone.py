"""The microphone of a session on its WebSocket: consent first, sound in, one at a time."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from quoth.core.lecture import LiveSpeechSettings
from quoth.interfaces.http.routes import microphone
from tests.support import heard_double
from tests.support.heard_double import pcm, silence, speech, write_weights
from tests.support.service_client import House, listening

HELLO = '{"consent": true}'


def _messages(socket: ClientConnection) -> list[dict[str, Any]]:
    """What is sent until the connection is closed."""
    found = []
    try:
        while True:
            found.append(json.loads(socket.recv(timeout=30)))
    except ConnectionClosed:
        return found


def _problem(url: str, headers: dict[str, str], hello: str) -> str:
    with connect(url, additional_headers=headers) as socket:
        socket.send(hello)
        [message] = _messages(socket)
    assert message["event"] == "error"
    return str(message["problem"]["detail"])


def test_a_microphone_from_consent_to_its_last_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def prepare(house: House) -> str:
        return house.key("ada")

    sound = pcm(np.concatenate([speech("bees carry nectar home."), silence(1.0)]))
    there = LiveSpeechSettings(
        heard_double.__name__, (write_weights(tmp_path / "weights"),), memory_mb=2048, threads=1
    )
    missing = LiveSpeechSettings("", (), memory_mb=512, problem="pip install 'quoth[speech]'")
    with listening(tmp_path / "home", prepare) as (address, key, _house):
        headers = {"authorization": f"Bearer {key}"}
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            session = client.post("/v1/sessions", json={"title": "Bees"}).json()
            path = f"/v1/sessions/{session['session_id']}"
            url = f"{address.replace('http', 'ws')}{path}/microphone"
            for hello in ('{"consent": false}', "{}", '{"consent": true, "rate": 1}', "nonsense"):
                assert "agrees" in _problem(url, headers, hello)
            monkeypatch.setattr(microphone, "live_speech_settings", lambda _settings: missing)
            assert "pip install 'quoth[speech]'" in _problem(url, headers, HELLO)
            assert client.get(path).json()["session"]["consent_at"] is None
            monkeypatch.setattr(microphone, "live_speech_settings", lambda _settings: there)

            def state() -> str:
                return str(client.get(path).json()["speech"]["state"])

            with connect(url, additional_headers=headers) as socket:
                socket.send(HELLO)
                while state() != "listening":
                    time.sleep(0.05)
                assert "Another microphone" in _problem(url, headers, HELLO)
                socket.send(sound)
            # This one was lost: what was said is kept, and the next one goes on behind it.
            while state() != "off":
                time.sleep(0.05)
            with connect(url, additional_headers=headers) as socket:
                socket.send(HELLO)
                socket.send(sound)
                while state() != "listening":
                    time.sleep(0.05)
                client.post(f"{path}/end")
                assert _messages(socket) == [{"event": "end"}]
            shown = client.get(path).json()
            first, second = shown["segments"]
            assert first["text"] == second["text"] == "bees carry nectar home."
            assert first["end"] <= second["start"]
            assert shown["session"]["consent_at"]
            assert shown["speech"]["state"] == "off"
            assert "has ended" in _problem(url, headers, HELLO)
            share = client.post(f"{path}/share", json={}).json()["token"]
        viewer = {"authorization": f"Bearer {share}"}
        with pytest.raises(InvalidStatus, match="403"), connect(url, additional_headers=viewer):
            pass

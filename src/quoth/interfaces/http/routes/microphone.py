"""The microphone of a live session: sound in on a WebSocket, segments to every viewer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import Field, ValidationError

from quoth.bootstrap import live_speech_settings
from quoth.core.errors import Busy, Conflict, InputError, QuothError
from quoth.interfaces.http.dependencies import require_scopes
from quoth.interfaces.http.live_sessions import RunningSessions
from quoth.interfaces.http.problem_details import send_problem
from quoth.interfaces.http.request_state import Principal, request_state
from quoth.interfaces.http.schemas import Body
from quoth.pipeline.live_speech import LiveSpeech

router = APIRouter(tags=["live"])

HELLO_S = 30.0
MAX_SECONDS = 5
"""Seconds of sound in one message."""


class MicrophoneRequest(Body):
    """The first message: the speaker agrees, and says what sound comes."""

    consent: Literal[True]
    rate: Annotated[int, Field(ge=8_000, le=192_000)] = 16_000
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2}$")] = None


@router.websocket("/v1/sessions/{session_id}/microphone")
async def microphone(websocket: WebSocket, session_id: str) -> None:
    """Transcribe the sound of a microphone into a session; the sound is not kept.

    The first message is {"consent": true, "rate", "language"}; then come binary messages of PCM
    (16 bits, little-endian, mono), and {"end": true} at the end, which is answered with
    {"event": "end"} when the last sentence is recognised. What is refused is an ``error``.
    """
    caller = require_scopes(request_state(websocket.scope).principal, "live")
    sessions: RunningSessions = websocket.app.state.live
    await sessions.of(caller, session_id)
    await websocket.accept()
    try:
        async with asyncio.timeout(HELLO_S):
            hello = MicrophoneRequest.model_validate(await websocket.receive_json())
        speech = await _start(websocket, caller, session_id, hello)
        try:
            hear = asyncio.create_task(_hear(websocket, speech, most=2 * hello.rate * MAX_SECONDS))
            ended = asyncio.create_task(speech.wait())
            await asyncio.wait({hear, ended}, return_when=asyncio.FIRST_COMPLETED)
            hear.cancel()
            ended.cancel()
        finally:  # goes on when the connection is gone
            await asyncio.shield(sessions.end_speech(caller, session_id))
        with suppress(RuntimeError, WebSocketDisconnect):  # the speaker may have left
            await websocket.send_json({"event": "end"})
            await websocket.close()
    except (ValidationError, ValueError, KeyError, TimeoutError):
        await _refuse(
            websocket,
            InputError(
                'Begin with {"consent": true, "rate": 16000}: nothing is heard before the speaker '
                "agrees that it is transcribed. Then send PCM of 16 bits, mono."
            ),
        )
    except QuothError as error:
        await _refuse(websocket, error)
    except WebSocketDisconnect:
        return


async def _start(
    websocket: WebSocket, caller: Principal, session_id: str, hello: MicrophoneRequest
) -> LiveSpeech:
    sessions: RunningSessions = websocket.app.state.live
    settings = websocket.app.state.tenants.settings
    # Looked up again: it may have been deleted before the speaker agreed.
    session = await sessions.of(caller, session_id)
    key = (caller.tenant, session_id)
    if (last := sessions.speech.get(key)) is not None and last.ending:
        await sessions.end_speech(caller, session_id)
    if key in sessions.speech:
        raise Conflict("Another microphone is on in this session. Switch it off first.")
    if len(sessions.speech) >= settings.speech_at_once:
        raise Busy(
            f"This service transcribes {settings.speech_at_once} microphones at once, and so many "
            "are on. Try again later, or send the transcript of another program."
        )
    sessions.speech[key] = None  # taken while the process starts
    try:
        made = await LiveSpeech.start(
            session, live_speech_settings(settings), rate=hello.rate, language=hello.language
        )
    except BaseException:
        sessions.speech.pop(key, None)
        raise
    sessions.speech[key] = made
    return made


async def _hear(websocket: WebSocket, speech: LiveSpeech, *, most: int) -> None:
    """Take sound until the speaker ends or leaves."""
    with suppress(WebSocketDisconnect):
        while True:
            message: Any = await websocket.receive()
            if message["type"] == "websocket.disconnect" or message.get("bytes") is None:
                return
            speech.feed(message["bytes"][:most])


async def _refuse(websocket: WebSocket, error: QuothError) -> None:
    with suppress(RuntimeError, WebSocketDisconnect):
        await send_problem(websocket, error)
        await websocket.close(code=1008)

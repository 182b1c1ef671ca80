"""The live sessions that run in this process, restored from the catalogue when first used."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from quoth.core.errors import Denied, NotFound
from quoth.core.lecture import SpeechState
from quoth.interfaces.http.dependencies import require_scopes
from quoth.interfaces.http.request_state import Principal, request_state
from quoth.interfaces.http.schemas import OneId
from quoth.live.events import KEPT_S
from quoth.pipeline.live_session import LiveSession
from quoth.pipeline.live_speech import LiveSpeech
from quoth.store.lectures import Lectures


class RunningSessions:
    """Sessions by tenant and id; ended ones are kept for as long as their events are."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], LiveSession] = {}
        self._used: dict[tuple[str, str], float] = {}
        self._lock = asyncio.Lock()
        self.speech: dict[tuple[str, str], LiveSpeech | None] = {}
        """The microphones that are on; None while one is being switched on."""

    async def of(self, caller: Principal, session_id: str) -> LiveSession:
        """Return a session of the caller's tenant; raises NotFound."""
        key = (caller.tenant, session_id)
        async with self._lock:
            self._forget()
            session = self._running.get(key)
            if session is None:
                store = Lectures.of(caller.engine.parts.catalogue)
                lecture = await asyncio.to_thread(store.lecture, session_id)
                session = LiveSession(caller.engine.parts, lecture)
                await session.load()
                self._running[key] = session
            self._used[key] = time.monotonic()
            return session

    def speech_state(self, caller: Principal, session_id: str) -> SpeechState:
        """Return the state of a session's microphone."""
        speech = self.speech.get((caller.tenant, session_id))
        return SpeechState() if speech is None else speech.state

    async def end_speech(self, caller: Principal, session_id: str) -> None:
        """Switch a session's microphone off, and wait for its last sentence."""
        key = (caller.tenant, session_id)
        if (speech := self.speech.get(key)) is None:
            return
        try:
            await speech.finish()
        finally:
            if self.speech.get(key) is speech:
                del self.speech[key]

    async def drop(self, caller: Principal, session_id: str) -> None:
        """Stop a session that is deleted, and end the streams of those who follow it."""
        if (speech := self.speech.get((caller.tenant, session_id))) is not None:
            await speech.stop()
        session = self._running.pop((caller.tenant, session_id), None)
        if session is not None:
            await session.stop()
            session.events.close()

    def _forget(self) -> None:
        old = time.monotonic() - KEPT_S
        for key, used in list(self._used.items()):
            session = self._running.get(key)
            if session is None or (session.lecture.state == "ended" and used < old):
                self._running.pop(key, None)
                del self._used[key]


def require_viewer(caller: Principal | None, session_id: str) -> Principal:
    """Return a caller who may follow a session, a share of this one included; raises Denied."""
    caller = require_scopes(caller)
    if caller.lecture is not None:
        if caller.lecture != session_id:
            raise NotFound(f"There is no session with the id '{session_id}'.")
        return caller
    if caller.collection is not None or not {"live", "read"} & caller.scopes:
        raise Denied("This key may not follow live sessions: it lacks the scope 'live'.")
    return caller


def viewer(request: Request, session_id: OneId) -> Principal:
    """Return a caller who may follow the session."""
    return require_viewer(request_state(request.scope).principal, session_id)


Viewer = Annotated[Principal, Depends(viewer)]
"""A caller who may follow one live session; also a share of it."""

"""The line in front of the routes that answer questions: the ASGI side of `admission`.

It stands behind the gate, which knows whose a request is, and reads the body before it asks for a
turn, so that a slow sender takes nobody's place. Whoever hangs up leaves the line, and what is
being worked out for him ends.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.interfaces.http.dependencies import Principal
from quoth.interfaces.http.middleware.concurrency_limit import Admission
from quoth.interfaces.http.openai_schemas import spoken_at
from quoth.interfaces.http.problem_details import as_response, problem
from quoth.interfaces.http.server.state import ServerState

QUESTIONS = re.compile(r"/v1/(query|search|chat/completions)|/mcp")
"""The addresses at which an engine works out an answer."""


def is_question_request(scope: Scope) -> bool:
    """Whether a request is a question, which an engine works at."""
    posts = scope["type"] == "http" and scope["method"] == "POST"
    return posts and QUESTIONS.fullmatch(scope["path"]) is not None


def arrive(state: MutableMapping[str, Any], admission: Admission) -> None:
    """Say once of a request that was let near that it is through the walls, or will not be."""
    if state.pop("comes", False):
        admission.arrive()


class AdmissionMiddleware:
    """Lets a question pass when its turn has come, and tells it to come again when it does not."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, in its turn where it is a question."""
        caller: Principal | None = scope.get("state", {}).get("caller")
        operation: ServerState | None = getattr(scope["app"].state, "operation", None)
        if caller is None or operation is None or not is_question_request(scope):
            await self.app(scope, receive, send)
            return
        state, admission = scope["state"], operation.admission
        arrive(state, admission)
        # In a crowd the gate takes a while; what the sender of a body takes is his own affair.
        waited_s = monotonic() - state["came"]
        connection = Connection(receive, send)
        if not await connection.read():
            return
        try:
            may_wait = state.get("may_wait", True)
            turn = admission.turn(caller.tenant, waited_s=waited_s, may_wait=may_wait)
            async with connection.while_there(), turn:
                await self.app(scope, connection.receive, connection.send)
        except Busy as error:
            told = spoken_at(scope["path"], problem(error, request_id=caller.request_id))
            await as_response(told)(scope, receive, send)


class Connection:
    """One request whose body was read ahead, and which is watched for its sender hanging up."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._body = bytearray()
        self._given = False
        self._gone = asyncio.Event()
        self._answered = False

    async def read(self) -> bool:
        """Take in the body, which the gate bounds; false where the sender went away."""
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return False
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                return True

    @asynccontextmanager
    async def while_there(self) -> AsyncIterator[None]:
        """Do the block as long as somebody waits for its answer, and leave it quietly if not."""
        task = asyncio.current_task()
        assert task is not None
        left = False

        async def watch() -> None:
            nonlocal left
            while (await self._receive())["type"] != "http.disconnect":
                pass
            self._gone.set()
            if not self._answered:
                left = True
                task.cancel()

        watching = asyncio.create_task(watch())
        try:
            yield
            if left:
                await asyncio.sleep(0)  # what was to end the work comes here at the latest
        except asyncio.CancelledError:
            if not left or task.uncancel():
                raise
        finally:
            watching.cancel()

    async def receive(self) -> Message:
        """Give the body again, and then what comes of the connection."""
        if not self._given:
            self._given = True
            return {"type": "http.request", "body": bytes(self._body), "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Pass on a message of the answer."""
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._answered = True
        await self._send(message)

"""Adds uploaded files in processes of their own, whose crash stops nothing else.

A process adds one file after another, so that only the first waits for its start; its end is the
doing of the file that it works on.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from threading import Thread
from typing import Any, Self

from pydantic import SecretStr

from quoth.bootstrap import open_tenants
from quoth.core.errors import QuothError, StoreDown
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.operations.add_uploads import Progress, add_file, failed_document
from quoth.operations.worker import DOWN, ChildDied
from quoth.store.upload_tasks import Task
from quoth.tenants import Tenants
from quoth.text.json_codec import decode_json, to_json

COMMAND = (sys.executable, "-m", "quoth.interfaces.isolated_add")
MAX_LINE_BYTES = 1 << 24
IDLE_SECONDS = 10.0
READY = "ready"


class IsolatedAdder:
    """Adds files in other processes; one without a file waits `IDLE_SECONDS` for the next.

    Use it in one event loop, as an async context manager.
    """

    def __init__(self, settings: Settings, *, command: Sequence[str] = COMMAND) -> None:
        self._settings = settings
        self._command = command
        self._idle: dict[Process, asyncio.TimerHandle] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        while self._idle:
            child, timer = self._idle.popitem()
            timer.cancel()
            await _end(child)

    async def add(self, tenant: str, task: Task, progress: Progress) -> Document:
        """Add a tenant's file; raises ChildDied, and StoreDown for a part that is down."""
        child = await self._take()
        try:
            document = await _ask(child, tenant, task, progress)
        except StoreDown:
            self._keep(child)
            raise
        except BaseException:
            await _end(child)
            raise
        self._keep(child)
        return document

    async def _take(self) -> Process:
        while self._idle:
            child, timer = self._idle.popitem()
            timer.cancel()
            if child.returncode is None:
                return child
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, start_new_session=True, limit=MAX_LINE_BYTES
        )
        try:
            _send(child, dict(self._settings))
            greeting = await _receive(child)
        except BaseException:
            await _end(child)
            raise
        if greeting != READY:  # no file has been touched yet
            await _end(child)
            raise StoreDown(greeting or "The process that adds files does not start.")
        return child

    def _keep(self, child: Process) -> None:
        loop = asyncio.get_running_loop()
        self._idle[child] = loop.call_later(IDLE_SECONDS, self._discard, child)

    def _discard(self, child: Process) -> None:
        del self._idle[child]
        assert child.stdin is not None
        child.stdin.close()  # which ends it


async def _ask(child: Process, tenant: str, task: Task, progress: Progress) -> Document:
    """Return the document: the child answers with its progress as pairs of numbers, and then with
    the document, or as text what is down.
    """
    _send(child, (tenant, to_json(task)))
    while isinstance(outcome := await _receive(child), list):
        progress(*outcome)
    if outcome is None:
        raise ChildDied(f"The process that added {task.name} ended with {await child.wait()}.")
    if isinstance(outcome, str):
        raise StoreDown(outcome)
    return decode_json(Document, outcome)


def _send(child: Process, value: Any) -> None:
    assert child.stdin is not None
    child.stdin.write(json.dumps(value, default=_plain).encode() + b"\n")


async def _receive(child: Process) -> Any:
    """Return the next line, or None at the end, where a child that died may leave a part."""
    assert child.stdout is not None
    line = await child.stdout.readline()
    return json.loads(line) if line.endswith(b"\n") else None


async def _end(child: Process) -> None:
    if child.returncode is None:
        child.kill()
    await child.wait()


def _plain(value: Any) -> str:
    """Return a value of a setting as text, secrets included: only our own process reads them."""
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


# --- the other process ------------------------------------------------------------------------


def main(opener: Callable[[Settings], AbstractAsyncContextManager[Tenants]] = open_tenants) -> None:
    """Add the files that standard input names; write the documents to standard output.

    The first line holds the settings. The process ends when the input does.
    """
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what libraries print must not mix with the answers

        def say(value: Any) -> None:
            answer.write(json.dumps(to_json(value)).encode() + b"\n")
            answer.flush()

        settings = Settings(**json.loads(sys.stdin.buffer.readline()))
        try:
            asyncio.run(_add_all(opener(settings), say))
        except QuothError as error:  # of the opening
            say(str(error))


async def _add_all(
    opening: AbstractAsyncContextManager[Tenants], say: Callable[[Any], None]
) -> None:
    requests: asyncio.Queue[bytes] = asyncio.Queue()
    put = (asyncio.get_running_loop(), requests)
    Thread(target=_read, args=put, daemon=True).start()
    async with opening as tenants:
        say(READY)
        while True:
            tenant, data = json.loads(await requests.get())
            say(await _add(tenants.engine(tenant), decode_json(Task, data), say))


def _read(loop: asyncio.AbstractEventLoop, requests: asyncio.Queue[bytes]) -> None:
    """Hand over the lines of the input; at its end, also within a file, end the process."""
    for line in sys.stdin.buffer:
        loop.call_soon_threadsafe(requests.put_nowait, line)
    os._exit(0)


async def _add(engine: Engine, task: Task, say: Callable[[Any], None]) -> Document | str:
    try:
        return await add_file(engine, task, progress=lambda *counts: say(counts))
    except DOWN as error:
        return str(error)
    except QuothError as error:
        return failed_document(error.code, str(error))


if __name__ == "__main__":
    main()

"""Adds one uploaded file in a process of its own, whose crash stops nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from threading import Thread
from typing import Any

from pydantic import SecretStr

from quoth.bootstrap import open_tenants
from quoth.core.errors import QuothError, StoreDown
from quoth.core.settings import Settings
from quoth.core.types import Document, Problem
from quoth.operations.add_uploads import Progress, add_file
from quoth.operations.worker import DOWN, ChildDied
from quoth.store.upload_tasks import Task
from quoth.tenants import Tenants
from quoth.text.json_codec import decode_json, to_json

COMMAND = (sys.executable, "-m", "quoth.interfaces.isolated_add")
MAX_LINE_BYTES = 1 << 24


async def add_in_child(
    settings: Settings,
    tenant: str,
    task: Task,
    progress: Progress,
    *,
    command: Sequence[str] = COMMAND,
) -> Document:
    """Add a tenant's file in another process; raises ChildDied, and StoreDown for a part that is
    down.

    The child answers with lines of JSON: its progress as pairs of numbers, and then the document,
    or as text what is down.
    """
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, start_new_session=True, limit=MAX_LINE_BYTES
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        request = json.dumps((dict(settings), tenant, to_json(task)), default=_plain)
        child.stdin.write(request.encode() + b"\n")
        outcome: Any = None
        async for line in child.stdout:
            # A child that was killed may have written a part of a line.
            outcome = json.loads(line) if line.endswith(b"\n") else None
            if isinstance(outcome, list):
                progress(*outcome)
        await child.wait()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode or isinstance(outcome, list | None):
        raise ChildDied(f"The process that added {task.name} ended with {child.returncode}.")
    if isinstance(outcome, str):
        raise StoreDown(outcome)
    return decode_json(Document, outcome)


def _plain(value: Any) -> str:
    """Return a value of a setting as text, secrets included: only our own process reads them."""
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def main(opener: Callable[[Settings], AbstractAsyncContextManager[Tenants]] = open_tenants) -> None:
    """Add the file that standard input names; write the document to standard output."""
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what libraries print must not mix with the answer
        values, tenant, data = json.loads(sys.stdin.buffer.readline())
        settings, task = Settings(**values), decode_json(Task, data)
        Thread(target=_end_with_parent, daemon=True).start()

        def say(value: Any) -> None:
            answer.write(json.dumps(to_json(value)).encode() + b"\n")
            answer.flush()

        say(asyncio.run(_add(opener(settings), tenant, task, lambda *counts: say(counts))))
    os._exit(0)  # the other thread still reads


async def _add(
    opening: AbstractAsyncContextManager[Tenants], tenant: str, task: Task, progress: Progress
) -> Document | str:
    async with opening as tenants:
        try:
            return await add_file(tenants.engine(tenant), task, progress=progress)
        except DOWN as error:
            return str(error)
        except QuothError as error:
            problem = Problem(error.code, str(error))
            return Document("", "", kind=None, status="failed", error=problem)


def _end_with_parent() -> None:
    """End this process when its parent does, which closes the pipe."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()

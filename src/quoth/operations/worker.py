"""Ingest workers: lease uploaded files, round-robin over the tenants, and add them.

A worker renews the lease on its task; the task of a dead worker is taken over by others, safely:
the same file yields the same document. A file whose workers died is added in a process of its own,
and fails only if that one dies while its worker lives. So is a large file, whose text would keep
this process from answering. Lanes for the files of tenants without a file in work embed part by
part in turn with the workers, so that no tenant delays another and no large file the small ones.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from quoth.core.errors import (
    BackendError,
    ConfigError,
    NotFound,
    QuothError,
    StoreDown,
)
from quoth.core.types import Document
from quoth.operations.add_uploads import Progress, add_batch, add_file, failed_document
from quoth.pipeline.commit import delete_stale_vectors
from quoth.pipeline.uploads import delete_stale_parts, tenant_blobs
from quoth.store.blobs import stored_name
from quoth.store.ingest_jobs import MAX_ATTEMPTS, POISON
from quoth.store.rows import new_owner
from quoth.store.upload_queue import Queue, TenantRoundRobin
from quoth.store.upload_tasks import State, Task
from quoth.tenants import Tenants

log = logging.getLogger("quoth.operations.worker")

LANES = 8
OWN_LANES = 2
"""Files of other tenants that are added beside the workers' own, and how many of them may have a
process of their own."""
CHILD_TRIALS = 2
SET_ASIDE = (
    "Work on this file ended its own process every time it was tried, so it is set aside. "
    "Upload it again to try once more."
)
TOGETHER = 32
TOGETHER_BYTES = 4_000_000
"""Files that a worker adds together, and their bytes: each addition reads the index once."""
DOWN = (BackendError, StoreDown)
"""Temporary failures: work waits and is retried."""


@dataclass(frozen=True, slots=True)
class WorkerTimings:
    """Intervals of the workers, in seconds.

    ``wait_s`` is the delay of a file while a component that it needs is down; ``grace_s`` is the
    time that running work has to finish when the workers are stopped.
    """

    lease_s: float = 60.0
    poll_s: float = 0.25
    beat_s: float = 1.0
    wait_s: float = 30.0
    grace_s: float = 3.0
    tidy_s: float = 600.0


class ChildDied(QuothError):
    """The process in which a file was added alone ended without a result."""


Isolate = Callable[[str, Task, Progress], Awaitable[Document]]
"""Adds a tenant's file in a process of its own; raises ChildDied."""


@dataclass(slots=True, eq=False)
class LeasedTasks:
    """Tasks that a worker has leased, by id, and their progress.

    They are taken by a lane ``beside`` the workers, or not; an ``isolated`` one has a process of
    its own.
    """

    queue: Queue
    tasks: dict[str, Task]
    beside: bool
    isolated: bool
    seen: tuple[int, int] = (0, 0)

    def note(self, chunks: int, of_chunks: int) -> None:
        """Keep the progress."""
        self.seen = chunks, of_chunks


async def run_workers(
    tenants: Tenants,
    *,
    count: int,
    stop: asyncio.Event,
    rhythm: WorkerTimings | None = None,
    isolate: Isolate | None = None,
) -> None:
    """Ingest files with workers until ``stop`` is set; running work is finished or put back.

    Raises ConfigError where the catalogue cannot be used at all.
    """
    crew = WorkerPool(tenants, stop=stop, rhythm=rhythm or WorkerTimings(), isolate=isolate)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(crew.work())
            for _ in range(LANES if count else 0):
                group.create_task(crew.work(beside=True))
            group.create_task(crew.run_maintenance())
    except ExceptionGroup as several:
        found, rest = several.split(ConfigError)
        if found is None or rest is not None:
            raise
        raise found.exceptions[0] from several


class WorkerPool:
    """The workers of one process."""

    def __init__(
        self,
        tenants: Tenants,
        *,
        stop: asyncio.Event,
        rhythm: WorkerTimings,
        isolate: Isolate | None = None,
    ) -> None:
        self._tenants = tenants
        self._isolate = isolate
        self._stop = stop
        self._rhythm = rhythm
        self._owner = new_owner()
        self._line = TenantRoundRobin(tenants.database)
        self._last = ""  # the last tenant served
        self._added: set[tuple[str, str]] = set()
        self._held: list[LeasedTasks] = []
        self._taking = asyncio.Lock()

    async def work(self, *, beside: bool = False) -> None:
        """Process tasks until stopped; ``beside`` the workers only other tenants' or small ones."""
        poll_s = self._rhythm.poll_s * (LANES if beside else 1)
        while not self._stop.is_set():
            if beside and not self._held:
                await self._idle(self._rhythm.poll_s)  # the workers take what comes
                continue
            try:
                async with self._taking:
                    hand = await asyncio.to_thread(self._take, beside=beside)
                    if hand is not None:
                        self._held.append(hand)
                if hand is None:
                    if not beside:
                        await self._settle()
                    await self._idle(poll_s)
                    continue
                try:
                    up = await self._do(hand)
                finally:
                    self._held.remove(hand)
                if not up:
                    await self._idle(self._rhythm.wait_s / 10)
            except DOWN as error:
                log.warning("queue_waits", extra={"code": error.code})
                await self._idle(self._rhythm.wait_s / 10)

    async def run_maintenance(self) -> None:
        """Fail abandoned tasks and delete unused files at intervals."""
        while not self._stop.is_set():
            try:
                await asyncio.to_thread(self._maintain)
            except (*DOWN, OSError) as error:
                log.warning("not_tidied", extra={"kind": type(error).__name__})
            await self._idle(self._rhythm.tidy_s)

    def _maintain(self) -> None:
        for tenant in self._line.tenants():
            parts = self._tenants.engine(tenant).parts
            delete_stale_vectors(parts.settings)
            delete_stale_parts(self._tenants.database, tenant_blobs(parts))

    def _take(self, *, beside: bool) -> LeasedTasks | None:
        """Lease the next tasks of the next tenant."""
        held = tuple(self._held)
        busy = [hand.queue.tenant for hand in held] if beside else ()
        full = beside and sum(hand.beside and hand.isolated for hand in held) >= OWN_LANES
        while True:
            turn = self._line.next(self._last, without=busy, isolated=not full)
            if turn is None and beside:
                # While a tenant's large file is read, its small ones need not wait.
                reading = [hand.queue.tenant for hand in held if not hand.isolated]
                turn = self._line.next(self._last, without=reading, isolated=False)
            if turn is None:
                return None
            self._last, key = turn
            queue = Queue(
                self._tenants.database,
                tenant=self._last,
                owner=self._owner,
                lease_s=self._rhythm.lease_s,
            )
            if tasks := queue.lease(key, together=TOGETHER, most_bytes=TOGETHER_BYTES):
                isolated = any(task.isolated for task in tasks)
                return LeasedTasks(queue, {task.id: task for task in tasks}, beside, isolated)

    async def _do(self, hand: LeasedTasks) -> bool:
        """Work on tasks as long as they are ours; False when a part that they need is down."""
        adding = asyncio.create_task(self._add(hand))
        try:
            await self._watch(adding, hand)
        finally:
            # Also on cancellation: no other worker starts while this one still works.
            adding.cancel()
            await asyncio.wait({adding})
            if adding.cancelled():
                await asyncio.shield(asyncio.to_thread(hand.queue.put_back, list(hand.tasks)))
        return adding.cancelled() or await self._finish(adding, hand)

    async def _watch(self, adding: asyncio.Task[None], hand: LeasedTasks) -> None:
        """Renew the leases and report progress, until the work ends or a lease is lost."""
        seen, renewed = hand.seen, time.monotonic()
        stopped: float | None = None
        while not adding.done():
            await asyncio.wait({adding}, timeout=self._rhythm.beat_s)
            at = time.monotonic()
            if self._stop.is_set():
                stopped = stopped or at
                if at - stopped >= self._rhythm.grace_s:
                    return
            late = at - renewed > self._rhythm.lease_s / 4
            if adding.done() or not (late or seen != hand.seen):
                continue
            seen, keys = hand.seen, list(hand.tasks)
            # A failed write is repeated with the next heartbeat.
            with suppress(*DOWN):
                renew = hand.queue.renew
                ours = await asyncio.to_thread(renew, keys, chunks=seen[0], of_chunks=seen[1])
                if ours < sum(key in hand.tasks for key in keys):
                    return
                renewed = at

    async def _add(self, hand: LeasedTasks) -> None:
        """Add the files; a large one, and one on which workers died, in a process of its own."""
        engine = self._tenants.engine(hand.queue.tenant)
        if len(hand.tasks) > 1:
            batch = list(hand.tasks.values())
            async for task, document in add_batch(engine, batch, progress=hand.note):
                await self._end(hand, task, document)
        for task in list(hand.tasks.values()):
            try:
                if self._isolate is not None and task.isolated:
                    document = await self._add_isolated(task, hand, isolate=self._isolate)
                else:
                    document = await add_file(engine, task, progress=hand.note)
            except DOWN:
                raise
            except QuothError as error:
                document = failed_document(error.code, str(error))
            await self._end(hand, task, document)

    async def _add_isolated(self, task: Task, hand: LeasedTasks, *, isolate: Isolate) -> Document:
        for _ in range(CHILD_TRIALS):
            try:
                return await isolate(hand.queue.tenant, task, hand.note)
            except ChildDied:
                log.warning("file_ended_its_process", extra={"task": task.id})
                if self._stop.is_set():  # which may have ended it as well
                    raise StoreDown("The service stops.") from None
        return failed_document(POISON, SET_ASIDE)

    async def _end(self, hand: LeasedTasks, task: Task, document: Document) -> None:
        self._added.add((hand.queue.tenant, task.collection))
        ours = await asyncio.to_thread(_ended, hand.queue, task, document)
        hand.tasks.pop(task.id, None)
        if not ours:
            await self._take_back(hand.queue.tenant, task, document)
        code = None if document.error is None else document.error.code
        _tell(task, state="failed" if code else document.status, code=code)

    async def _take_back(self, tenant: str, task: Task, document: Document) -> None:
        """Remove a document whose upload was cancelled during ingest: its file is gone. A document
        with the same content from another source stays.
        """
        engine = self._tenants.engine(tenant)
        blobs = tenant_blobs(engine.parts)
        name = blobs.path(task.sha256 or "", name=task.name).name
        ours = stored_name(document.source) == name
        if ours and not await asyncio.to_thread(blobs.exists, name):
            with suppress(NotFound):
                await engine.remove([document.document_id], collection=task.collection)

    async def _finish(self, adding: asyncio.Task[None], hand: LeasedTasks) -> bool:
        """Requeue or fail the tasks that the work did not complete."""
        error = adding.exception()
        if isinstance(error, DOWN):
            log.info("tasks_wait", extra={"tasks": list(hand.tasks), "code": error.code})
            delay_s = self._rhythm.wait_s
            await asyncio.to_thread(hand.queue.put_back, list(hand.tasks), delay_s=delay_s)
            return False
        if error is not None:
            log.error("tasks_broke", extra={"tasks": list(hand.tasks)}, exc_info=error)
            for task in hand.tasks.values():
                await asyncio.to_thread(_crashed, hand.queue, task)
        return True

    async def _settle(self) -> None:
        """Build the indexes of changed collections once the queue is empty."""
        while self._added:
            tenant, collection = self._added.pop()
            # One that was deleted in the meantime needs none.
            with suppress(NotFound):
                await self._tenants.engine(tenant).settle(collection=collection)

    async def _idle(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()


def _ended(queue: Queue, task: Task, document: Document) -> bool:
    """Store the result of a task; return False when it is no longer ours."""
    if document.error is not None:
        return queue.end(
            task.id,
            state="failed",
            document_id=document.document_id or None,
            code=document.error.code,
            message=document.error.message,
        )
    # What a worker finds done that died over it before, it may have done itself.
    new = document.status == "ready" or task.attempts > 1
    state: State = "ready" if new else "unchanged"
    return queue.end(task.id, state=state, document_id=document.document_id, chunks=document.chunks)


def _tell(task: Task, *, state: str, code: str | None) -> None:
    log.info("file_ended", extra={"task": task.id, "state": state, "code": code})


def _crashed(queue: Queue, task: Task) -> None:
    if task.attempts >= MAX_ATTEMPTS:
        queue.end(task.id, state="failed", code=POISON, message=SET_ASIDE)
        _tell(task, state="failed", code=POISON)
    else:
        queue.put_off(task.id)

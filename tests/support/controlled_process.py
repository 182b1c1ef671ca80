"""A process that does as it is told, line by line, and can be killed at any moment.

One process has everything loaded and makes a copy of itself for each that is wanted: a start takes
milliseconds instead of seconds. Run as
``python -m tests.support.controlled_process`` it is that process; `Hand` speaks to
a copy of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quoth.core.settings import Settings
from quoth.core.types import Document, ParsedDocument
from quoth.engine import Engine
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.interfaces import isolated_add
from quoth.pipeline.retrieve import Request
from quoth.pipeline.uploads import delete_stale_parts, tenant_blobs
from quoth.store.blobs import Blobs, stored_name
from quoth.store.rows import Collection
from quoth.store.upload_queue import Queue, TenantRoundRobin
from quoth.tenants import Tenants
from tests.support.small_library import ReadHere
from tests.support.upload_service import files_in, open_quickly, send, work_off

ROOT = Path(__file__).parents[2]
COMMON = "honey"
"""A word that every text holds, so that the keyword leg can be asked for all that it has."""
DEADLY = "deadly nightshade"
"""Words over which the process that reads them dies."""


class Killed(Exception):
    """The process was killed while it was at work, or before."""


class ReadAndDie(ReadHere):
    """Reads in this process, and kills it over one kind of text."""

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        if DEADLY in await asyncio.to_thread(path.read_text, "utf-8"):
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().read(path, given)


ALONE = "alone"
ADD_ALONE = (sys.executable, "-m", "tests.support.controlled_process", ALONE)
"""Adds files as the service does that was killed over them, with this reader."""


def open_alone(settings: Settings) -> AbstractAsyncContextManager[Tenants]:
    """Open the tenants of a process that adds single files."""
    return open_quickly(settings.home, readers=ReadAndDie())


class Trap:
    """Kills this process at the n-th operation from when it was set."""

    left = 0

    def __call__(self, _name: str) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Deeds:
    """What the process can be told to do."""

    def __init__(self, tenants: Tenants, trap: Trap) -> None:
        self._tenants = tenants
        self._trap = trap

    async def arm(self, *, at: int) -> None:
        self._trap.left = at

    async def send(self, *, tenant: str, name: str, text: str, times: int = 1) -> list[str]:
        """Upload a text, several times at once; gives the ids of the uploads."""
        sending = (send(self._tenants, text, name=name, tenant=tenant) for _ in range(times))
        return [task.id for task in await asyncio.gather(*sending)]

    async def work(self, *, count: int = 2) -> None:
        """Let workers work until nothing waits."""
        adder = isolated_add.IsolatedAdder(self._tenants.settings, command=ADD_ALONE)
        async with adder:
            await work_off(self._tenants, count=count, isolate=adder.add)

    async def tasks(self, *, tenant: str) -> list[list[Any]]:
        """Every upload with its state, code and document, the oldest first."""
        found = Queue(self._tenants.database, tenant=tenant).tasks(limit=10_000)
        return [[each.name, each.state, each.code, each.document_id] for each in found[::-1]]

    async def add(self, *, tenant: str, paths: list[str]) -> list[str]:
        """Add files from the disk; gives the status of each document."""
        steps = self._tenants.engine(tenant).add([Path(each) for each in paths])
        return [each.status async for each in steps if isinstance(each, Document)]

    async def ready(self, *, tenant: str) -> dict[str, str]:
        """The ready documents: their text by their id."""
        parts = self._tenants.engine(tenant).parts
        found = await self._documents(tenant)
        return {
            each.document_id: "".join(
                chunk.text for chunk in parts.catalogue.document_chunks(each.document_id)
            )
            for each in found
        }

    async def remove(self, *, tenant: str, ids: list[str]) -> None:
        """Delete documents, as the route does."""
        engine = self._tenants.engine(tenant)
        if await self._documents(tenant):
            await engine.remove(ids)

    async def query(self, *, tenant: str, text: str) -> list[str]:
        """The documents that a question finds, by id."""
        if not await self._documents(tenant):
            return []
        return [each.document_id for each in await self._tenants.engine(tenant).search(text)]

    async def compact(self, *, tenant: str) -> None:
        """Do all that is done now and then."""
        engine = self._tenants.engine(tenant)
        delete_stale_parts(self._tenants.database, tenant_blobs(engine.parts))
        if (found := engine.parts.catalogue.find_collection("default")) is not None:
            await engine.parts.open_index(found.table).optimize()
            await engine.settle()

    async def faults(self, *, tidy: bool) -> list[str]:
        """Look for anything lost, twice, orphaned or in the wrong hands.

        ``tidy`` says that the work was done to its end, after which the index holds no more
        than the catalogue.
        """
        found: list[str] = []
        for tenant in TenantRoundRobin(self._tenants.database).tenants():
            engine = self._tenants.engine(tenant)
            for collection in engine.parts.catalogue.collections():
                found += await _faults(engine, collection, tidy=tidy)
            queue = Queue(self._tenants.database, tenant=tenant)
            found += [f"{t.name} still {t.state}" for t in queue.tasks() if tidy and not t.ended]
        return found + ([] if not tidy else self._stray_files())

    def _stray_files(self) -> list[str]:
        used = set()
        home = self._tenants.settings.home
        for tenant in TenantRoundRobin(self._tenants.database).tenants():
            delete_stale_parts(self._tenants.database, Blobs(home, tenant=tenant), hours=0)
            catalogue = self._tenants.engine(tenant).parts.catalogue
            for collection in catalogue.collections():
                used |= {stored_name(each.source) for each in catalogue.documents(collection)}
        return [f"stray {each}" for each in files_in(home) if Path(each).name not in used]

    async def _documents(self, tenant: str) -> list[Document]:
        found = await self._tenants.engine(tenant).documents()
        return [each for each in found if each.status == "ready"]


async def _faults(engine: Engine, collection: Collection, *, tidy: bool) -> list[str]:
    catalogue, index = engine.parts.catalogue, engine.parts.open_index(collection.table)
    found: list[str] = []
    chunks: set[str] = set()
    ready = {}
    for each in catalogue.documents(collection):
        if each.status == "running":
            found += [f"{each.title} is running without a lease"] if tidy else []
        if each.status != "ready":
            continue
        own = catalogue.document_chunks(each.document_id)
        ready[each.document_id] = len(own)
        chunks |= {chunk.chunk_id for chunk in own}
        if len(own) != each.chunks or [c.ordinal for c in own] != list(range(len(own))):
            found.append(f"{each.title} has {len(own)} of {each.chunks} chunks")
    stored = await index.document_ids()
    if any(stored.get(key) != count for key, count in ready.items()):
        found.append(f"the index lacks chunks: {ready} {stored}")
    if tidy and stored != ready:
        found.append(f"the index has orphans or copies: {ready} {stored}")
    if not (stored or chunks):
        return found  # an index that was never written to
    worded = await index.match(COMMON, languages=("en",), limit=10_000)
    keys = [key for key, _score in worded]
    if len(keys) != len(set(keys)) or not chunks <= set(keys) or (tidy and set(keys) != chunks):
        found.append(f"{len(keys)} rows have words, {len(chunks)} should")
    # Asked for after a search, whose segments they are read from.
    vectors = await index.vectors(sorted(chunks))
    if set(vectors) != chunks or any(abs(float(row @ row) - 1) > 1e-3 for row in vectors.values()):
        found.append("a chunk has no vector, or a wrong one")
    if ready:
        asked = Request(COMMON, collections=(collection.name,))
        hits = await engine.search(asked)
        found += [f"{each.chunk_id} was found" for each in hits if each.chunk_id not in chunks]
    return found


# --- the process ------------------------------------------------------------------------------


async def _obey(order: dict[str, Any]) -> None:
    reader, writer = await asyncio.open_unix_connection(order["socket"], limit=1 << 26)
    trap = Trap()
    async with open_quickly(
        Path(order["home"]), readers=ReadAndDie(), on_operation=trap
    ) as tenants:
        deeds = Deeds(tenants, trap)
        while line := await reader.readline():
            told = json.loads(line)
            deed: Callable[..., Awaitable[Any]] = getattr(deeds, told.pop("do"))
            answer = json.dumps(await deed(**told))
            writer.write(answer.encode() + b"\n")
            await writer.drain()


def load_all() -> None:
    """Load now what every copy would load for itself."""
    import lancedb  # noqa: F401
    import pyarrow.dataset  # noqa: F401

    import quoth.backends.indexes.lancedb.index  # noqa: F401
    from quoth.pipeline.add import LANGUAGES
    from quoth.text.language import detect_language

    detect_language("What language is this?", among=LANGUAGES, fallback="en")


def main() -> None:
    """Make a copy of this process for every line that comes in, and say its id."""
    load_all()
    warnings.simplefilter("ignore")
    # The dead are not waited for: a process that is dead but still there would seem alive.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                asyncio.run(_obey(json.loads(line)))
                os._exit(0)
            except BaseException:  # noqa: BLE001 - told, and the end of this process
                traceback.print_exc()
                os._exit(1)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


# --- the way to it ----------------------------------------------------------------------------


class Maker:
    """The process that makes others."""

    def __init__(self, process: subprocess.Popen[str], *, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._made = 0

    async def hand(self, home: Path) -> Hand:
        """Start a process that works in this home."""
        self._made += 1
        address = self._folder / str(self._made)
        met: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        met = asyncio.get_running_loop().create_future()
        server = await asyncio.start_unix_server(
            lambda *streams: met.set_result(streams), address, limit=1 << 26
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = json.dumps({"socket": str(address), "home": str(home)})
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        pid = int(await asyncio.to_thread(self._process.stdout.readline))
        async with asyncio.timeout(30):
            reader, writer = await met
        server.close()
        return Hand(pid, reader, writer)


class Hand:
    """A process at work in a home."""

    def __init__(
        self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.pid = pid
        self._reader = reader
        self._writer = writer

    async def do(self, deed: str, **about: Any) -> Any:
        """Have something done; raises Killed when the process dies over it."""
        try:
            self._writer.write(json.dumps({"do": deed, **about}).encode() + b"\n")
            await self._writer.drain()
            async with asyncio.timeout(270):
                line = await self._reader.readline()
        except ConnectionError:
            line = b""
        if not line:
            self._writer.close()
            await self._gone()
            raise Killed(deed)
        return json.loads(line)

    async def kill(self) -> None:
        """Kill it, whatever it is doing."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._writer.close()
        await self._gone()

    async def leave(self) -> None:
        """Let it go: it closes its stores and ends."""
        self._writer.close()
        await self._gone()

    async def _gone(self) -> None:
        async with asyncio.timeout(30):
            while True:
                try:
                    os.kill(self.pid, 0)
                except ProcessLookupError:
                    return
                await asyncio.sleep(0.002)


@contextmanager
def make_hands() -> Iterator[Maker]:
    """Start the process that makes others, and end it with all of them."""
    with (
        TemporaryDirectory(prefix="quoth-") as folder,
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.controlled_process"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            yield Maker(process, folder=Path(folder))
        finally:
            assert process.stdin is not None
            process.stdin.close()


if __name__ == "__main__":
    if sys.argv[1:] == [ALONE]:
        isolated_add.main(open_alone)
    else:
        main()

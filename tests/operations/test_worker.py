"""Workers: files become documents, whatever dies, hangs or comes twice."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import update

from quoth.core.errors import EmbeddingError, StoreDown
from quoth.core.protocols import Matrix, Role
from quoth.core.settings import Settings
from quoth.core.types import Document, ParsedDocument
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.interfaces.isolated_add import IsolatedAdder
from quoth.operations.add_uploads import Progress
from quoth.operations.worker import ChildDied
from quoth.pipeline.uploads import delete_stale_parts
from quoth.store.blobs import Blobs
from quoth.store.schema import tasks
from quoth.store.upload_queue import Queue
from quoth.store.upload_tasks import Task
from quoth.store.uploads import UploadStore
from quoth.testing import HashEmbedder
from tests.support.controlled_process import ADD_ALONE, COMMON, DEADLY, Killed, Maker, make_hands
from tests.support.failing_backends import SlowEmbedder
from tests.support.small_library import ReadHere
from tests.support.upload_service import QUICK, drained, files_in, open_house, send, until, working


@pytest.fixture(scope="module")
def maker() -> Iterator[Maker]:
    with make_hands() as made:
        yield made


def text(number: int) -> str:
    return f"# File {number}\n\nFile {number} is about {COMMON} and topic{number}.\n"


class Moody(HashEmbedder):
    """An embedder that works when it is well."""

    well = False

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        if not self.well:
            raise EmbeddingError("The embedder is down.")
        return await super().embed(texts, role=role)


class Broken(ReadHere):
    """A reader with a bug that one file brings out."""

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        if DEADLY in await asyncio.to_thread(path.read_text, "utf-8"):
            raise RuntimeError("a bug")
        return await super().read(path, given)


async def test_files_wait_for_an_embedder_that_is_down(tmp_path: Path) -> None:
    embedder = Moody()
    async with open_house(tmp_path, embedder=embedder) as house:
        sent = [await send(house.tenants, text(number)) for number in range(3)]
        queue = Queue(house.tenants.database, tenant="local")
        async with working(house.tenants):
            await asyncio.sleep(0.5)
            assert {each.state for each in queue.tasks()} <= {"queued", "running"}
            assert all(each.code is None for each in queue.tasks())
            embedder.well = True
            done = await drained(house.tenants)
        assert [(each.id, each.state) for each in done] == [(each.id, "ready") for each in sent]


async def test_a_bug_over_one_file_stops_nothing(tmp_path: Path) -> None:
    async with open_house(tmp_path, readers=Broken()) as house:
        for number in range(12):
            await send(house.tenants, DEADLY if number == 4 else text(number), name=f"{number}.md")
        async with working(house.tenants) as workers:
            done = await drained(house.tenants)
            assert not workers.done()
    failed = [each for each in done if each.state == "failed"]
    assert [(each.name, each.code, each.attempts) for each in failed] == [
        ("4.md", "crashes_reader", 3)
    ]
    assert sum(each.state == "ready" for each in done) == 11


async def test_work_that_is_stopped_is_put_back(tmp_path: Path) -> None:
    async with open_house(tmp_path, embedder=SlowEmbedder(60)) as house:
        sent = await send(house.tenants, text(1))
        queue = Queue(house.tenants.database, tenant="local")
        hasty = replace(QUICK, grace_s=0.1)
        began = time.monotonic()
        async with working(house.tenants, rhythm=hasty):
            await until(lambda: queue.find(sent.id).state == "running")
        assert time.monotonic() - began < 5
        assert (queue.find(sent.id).state, queue.find(sent.id).attempts) == ("queued", 0)
    async with open_house(tmp_path) as house, working(house.tenants):
        (task,) = await drained(house.tenants)
        assert task.state == "ready"


async def test_an_upload_that_is_stopped_while_it_is_read_leaves_nothing(tmp_path: Path) -> None:
    async with open_house(tmp_path, embedder=SlowEmbedder(60)) as house:
        sent = await send(house.tenants, text(1))
        catalogue = house.tenants.engine("local").parts.catalogue

        def listed() -> bool:
            found = catalogue.find_collection("default")
            return found is not None and bool(catalogue.documents(found))

        async with working(house.tenants, rhythm=replace(QUICK, lease_s=0.4)):
            await until(listed)
            UploadStore(house.tenants.database, tenant="local").drop(sent.id)
            await until(lambda: not listed())


async def test_an_upload_that_is_stopped_takes_no_other_files_document_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.md"
    own.write_text(text(1), "utf-8")
    async with open_house(tmp_path / "home") as house:
        engine = house.tenants.engine("local")
        first = [each async for each in engine.add([own]) if isinstance(each, Document)]
        sent, done = await send(house.tenants, text(1), name="copy.md"), Event()
        end = Queue.end

        def stopped_first(queue: Queue, key: str, **fate: Any) -> bool:
            UploadStore(house.tenants.database, tenant="local").drop(sent.id)
            delete_stale_parts(house.tenants.database, Blobs(tmp_path / "home", tenant="local"))
            done.set()
            return end(queue, key, **fate)

        monkeypatch.setattr(Queue, "end", stopped_first)
        async with working(house.tenants, rhythm=replace(QUICK, beat_s=5)):
            assert await asyncio.to_thread(done.wait, 5)
        assert files_in(tmp_path / "home") == []
        assert [each.document_id for each in await engine.documents()] == [first[0].document_id]


@pytest.mark.soak
async def test_two_processes_share_the_queue(maker: Maker, tmp_path: Path) -> None:
    hands = [await maker.hand(tmp_path / "home") for _ in range(2)]
    for number in range(12):
        tenant = ("ada", "bob")[number % 2]
        await hands[0].do("send", tenant=tenant, name=f"{number}.md", text=text(number))
    await asyncio.gather(*(each.do("work", count=2) for each in hands))
    for tenant in ("ada", "bob"):
        tasks = await hands[1].do("tasks", tenant=tenant)
        assert [each[1] for each in tasks] == ["ready"] * 6
        assert len(await hands[0].do("ready", tenant=tenant)) == 6
    assert await hands[0].do("faults", tidy=True) == []
    for each in hands:
        await each.leave()


async def test_twenty_uploads_of_one_file_are_one_document(maker: Maker, tmp_path: Path) -> None:
    hands = [await maker.hand(tmp_path / "home") for _ in range(2)]
    about: dict[str, Any] = {"tenant": "ada", "name": "a.md", "text": text(1)}
    given = await asyncio.gather(*(each.do("send", times=10, **about) for each in hands))
    await asyncio.gather(*(each.do("work") for each in hands))
    ids = [key for each in given for key in each]
    assert len(ids) == 20
    assert len(set(ids)) == 1
    assert len(await hands[0].do("ready", tenant="ada")) == 1
    assert await hands[0].do("faults", tidy=True) == []
    for each in hands:
        await each.leave()


async def test_a_file_whose_workers_died_gets_a_process_of_its_own(tmp_path: Path) -> None:
    trials: list[str] = []

    async def die(_tenant: str, task: Task, _say: Progress) -> Document:
        trials.append(task.id)
        raise ChildDied("killed")

    async with open_house(tmp_path) as house:
        sent = await send(house.tenants, text(1))
        with house.tenants.database.writing("local") as connection:
            connection.execute(update(tasks).values(attempts=2))
        async with working(house.tenants, isolate=die):
            (failed,) = await drained(house.tenants)
        assert (failed.state, failed.code, trials) == ("failed", "crashes_reader", [sent.id] * 2)
        assert "Upload it again" in (failed.message or "")
        await send(house.tenants, text(1))
        async with working(house.tenants, isolate=die):
            (healed,) = await drained(house.tenants, within_s=120)
        assert (healed.state, len(trials)) == ("ready", 2)


async def test_a_large_file_has_a_process_of_its_own_and_leaves_room_to_other_tenants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.store.upload_tasks.LARGE_BYTES", 1000)
    ended, began = asyncio.Event(), list[str]()

    async def wait(tenant: str, _task: Task, say: Progress) -> Document:
        say(1, 9)
        began.append(tenant)
        await ended.wait()
        return Document("", "", kind=None, status="ready")

    async with open_house(tmp_path) as house:
        for tenant in ("ada", "bob", "carol", "dan"):
            await send(house.tenants, "word " * 300, tenant=tenant)
        async with working(house.tenants, isolate=wait, count=1):
            ada = Queue(house.tenants.database, tenant="ada")
            await until(lambda: len(began) == 3 and ada.tasks(state="running")[0].of_chunks == 9)
            small = await send(house.tenants, text(1), tenant="eve")
            eve = UploadStore(house.tenants.database, tenant="eve")
            await until(lambda: eve.find(small.id).state == "ready")
            assert len(set(began)) == 3, "one by the worker, and two of other tenants beside it"
            own = await send(house.tenants, text(2), tenant="ada")
            await until(lambda: ada.find(own.id).state == "ready")
            assert len(began) == 3, "the small file of a tenant does not wait for its large one"
            ended.set()


@pytest.mark.soak
async def test_a_file_that_kills_its_reader_is_set_aside(maker: Maker, tmp_path: Path) -> None:
    hand = await maker.hand(tmp_path / "home")
    for number in range(12):
        words = f"{text(number)} {DEADLY}" if number == 5 else text(number)
        await hand.do("send", tenant="ada", name=f"{number}.md", text=words)
    deaths = 0
    while True:
        try:
            await hand.do("work")
            break
        except Killed:
            deaths += 1
            hand = await maker.hand(tmp_path / "home")
    assert deaths == 2, "then it was tried in a process of its own"
    tasks = await hand.do("tasks", tenant="ada")
    assert [each[:3] for each in tasks if each[1] != "ready"] == [
        ["5.md", "failed", "crashes_reader"]
    ]
    assert len(tasks) == 12
    await hand.leave()


async def test_a_kill_loses_nothing(maker: Maker, tmp_path: Path) -> None:
    assert await kill_and_recover(maker, tmp_path / "home", at=19)


async def test_a_kill_at_any_time_loses_nothing(maker: Maker, tmp_path: Path) -> None:
    await kill_and_recover(maker, tmp_path / "home", after_s=random.Random(7).uniform(0.05, 0.3))


async def kill_and_recover(
    maker: Maker, home: Path, *, at: int | None = None, after_s: float = 0.0
) -> bool:
    """Kill the workers at a store operation or a moment, and check that nothing is lost.

    Gives False when the work was done before that.
    """
    hand = await maker.hand(home)
    for number in range(3):
        await hand.do("send", tenant="ada", name=f"{number}.md", text=text(number))
    done = True
    try:
        if at is None:
            work = asyncio.create_task(hand.do("work"))
            await asyncio.sleep(after_s)
            done = work.done()
            await hand.kill()
            await work
        else:
            await hand.do("arm", at=at)
            await hand.do("work")
    except Killed:
        done = False
    if at is not None and done:
        await hand.leave()
        return False
    hand = await maker.hand(home)
    assert await hand.do("faults", tidy=False) == []
    before = await hand.do("ready", tenant="ada")
    # The dead worker's files are free at once, and the same bytes may come again.
    states = [each[1] for each in await hand.do("tasks", tenant="ada")]
    assert "running" not in states
    for number in range(3):
        await hand.do("send", tenant="ada", name=f"{number}.md", text=text(number))
    await hand.do("work")
    assert [each[1] for each in await hand.do("tasks", tenant="ada")] == ["ready"] * 3
    after = await hand.do("ready", tenant="ada")
    assert len(after) == 3
    assert before.items() <= after.items(), "committed and lost"
    assert await hand.do("faults", tidy=True) == []
    await hand.do("send", tenant="ada", name="4.md", text=text(4))
    await hand.do("work")
    await hand.leave()
    hand = await maker.hand(home)
    assert len(await hand.do("ready", tenant="ada")) == 4
    assert await hand.do("faults", tidy=True) == []
    await hand.leave()
    return not done


@pytest.mark.soak
async def test_one_process_adds_many_files_and_its_end_condemns_one(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        words = [text(number) + (DEADLY if number == 2 else "") for number in range(5)]
        for number, each in enumerate(words):
            await send(house.tenants, each, name=f"{number}.md")
        with house.tenants.database.writing("local") as connection:
            connection.execute(update(tasks).values(attempts=2))
        async with (
            IsolatedAdder(Settings(home=tmp_path), command=ADD_ALONE) as adder,
            working(house.tenants, isolate=adder.add, count=1),
        ):
            ended = await drained(house.tenants, within_s=120)
    found = [each.code or each.state for each in ended]
    assert found == ["ready", "ready", "crashes_reader", "ready", "ready"]


ADD_OR_DIE = """
import os, sys
sys.stdin.readline()
print('"ready"', flush=True)
for line in sys.stdin:
    if "deadly" in line:
        break
    print('[1, 2]')
    print('{"document_id": "%d", "title": "", ' % os.getpid(), end="")
    print('"kind": null, "status": "ready"}', flush=True)
"""
"""A process that adds files by name, and whose documents have its own number."""


async def test_one_process_adds_one_file_after_another(tmp_path: Path) -> None:
    seen = list[tuple[int, int]]()
    command = (sys.executable, "-c", ADD_OR_DIE)
    async with IsolatedAdder(Settings(home=tmp_path), command=command) as adder:

        async def add(name: str) -> str:
            task = replace(SENT, name=name)
            document = await adder.add("local", task, lambda *counts: seen.append(counts))
            return document.document_id

        first = [await add("1.md"), await add("2.md")]
        with pytest.raises(ChildDied, match=r"deadly\.md"):
            await add("deadly.md")
        after = [await add("3.md"), await add("4.md")]
        at_once = await asyncio.gather(add("5.md"), add("6.md"))
    assert len(set(first)) == len(set(after)) == 1 != len({*first, *after})
    assert len(set(at_once)) == 2, "each process has one file at a time"
    assert seen == [(1, 2)] * 6


async def test_a_process_that_cannot_start_is_not_the_files_fault(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "print('\"the catalogue is down\"')")
    async with IsolatedAdder(Settings(home=tmp_path), command=command) as adder:
        with pytest.raises(StoreDown, match="the catalogue is down"):
            await adder.add("local", SENT, print)


async def test_a_child_that_is_killed_within_a_line_has_died(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "print('\"ready\"'); print('[1, ', end='')")
    async with IsolatedAdder(Settings(home=tmp_path), command=command) as adder:
        with pytest.raises(ChildDied):
            await adder.add("local", SENT, print)


SENT = Task(
    *("t1", "default", "a.md", {}, 1, 1, "0" * 64, "running", 1),
    *(None, 0, 0, None, None, "", ""),
)

"""The queue: one worker for each file, nobody waits for the dead, and every tenant has its turn."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quoth.core.errors import BackendError, Busy, NotFound
from quoth.store.database import Database, open_database
from quoth.store.ingest_jobs import MAX_ATTEMPTS
from quoth.store.upload_queue import Queue, TenantRoundRobin
from quoth.store.upload_tasks import Task
from quoth.store.uploads import MAX_RECEIVING, Requirements, UploadStore
from tests.support.clock import Clock
from tests.support.made_documents import SOURCE, put_catalogue

DEAD_WORKER = """
import os, signal, sys
from pathlib import Path
from quoth.store.database import open_database
from quoth.store.ingest_jobs import MAX_ATTEMPTS
from quoth.store.upload_queue import Queue
at = sys.argv[1]
queue = Queue(open_database(at if "://" in at else Path(at)), tenant="ada")
assert queue.lease(sys.argv[2])
os.kill(os.getpid(), signal.SIGKILL)
"""


class Hall:
    """A catalogue, a clock, and as many workers as are wanted."""

    def __init__(self, address: Path | str) -> None:
        if isinstance(address, Path):
            address.parent.mkdir()
            put_catalogue(address)
        self.address = address
        self.clock = Clock()
        self.database: Database = open_database(address)

    def arrivals(self, tenant: str = "ada") -> UploadStore:
        return UploadStore(self.database, tenant=tenant, clock=self.clock)

    def worker(self, tenant: str = "ada") -> Queue:
        return Queue(self.database, tenant=tenant, clock=self.clock)

    def line(self) -> TenantRoundRobin:
        return TenantRoundRobin(self.database, clock=self.clock)

    def put(
        self, key: str, tenant: str = "ada", *, share: Callable[[], object] | None = None
    ) -> bool:
        _task, new = self.arrivals(tenant).submit(
            key,
            name=f"{key}.md",
            collection="default",
            given={},
            size=3,
            sha256=key,
            key_id="k",
            place=lambda: None,
            share=share,
        )
        return new

    def shown(self, key: str) -> tuple[str, int, str | None]:
        task = self.worker().find(key)
        return task.state, task.attempts, task.code


@pytest.fixture
def hall(address: Path | str) -> Iterator[Hall]:
    hall = Hall(address)
    yield hall
    hall.database.close()


def _leased(worker: Queue, key: str = "t1") -> Task:
    (task,) = worker.lease(key)
    return task


def test_a_task_is_leased_once(hall: Hall) -> None:
    hall.put("t1")
    assert len(hall.worker().lease("t1")) == 1
    assert hall.worker().lease("t1") == []
    assert hall.shown("t1") == ("running", 1, None)


def test_a_file_is_copied_to_shared_storage_while_others_write(hall: Hall) -> None:
    held: list[Requirements] = []

    def share() -> None:
        hall.put("t2", tenant="bob")
        hall.arrivals().clear(lambda needs: held.append(needs) or 0, before="2000")

    assert hall.put("t1", share=share)
    assert [needs.tasks for needs in held] == [(("t1", "t1.md"),)]
    assert hall.shown("t1")[0] == "queued"
    task = hall.arrivals().begin(name="r.md", collection="c", given={}, size=3, key_id="k")
    hall.arrivals().complete(task.id, sha256="t3", place=lambda: None, share=share)
    assert ("t3", "r.md") in held[1].tasks


def test_a_file_whose_document_is_gone_is_held_while_it_is_copied_again(hall: Hall) -> None:
    assert hall.put("t1")
    worker = hall.worker()
    _leased(worker)
    assert worker.end("t1", state="ready", document_id="removed")
    held: list[Requirements] = []

    def share() -> None:
        hall.arrivals().clear(lambda needs: held.append(needs) or 0, before="2000")

    assert hall.put("t1", share=share)
    assert [needs.tasks for needs in held] == [(("t1", "t1.md"),)]
    assert hall.shown("t1")[0] == "queued"


def test_a_file_that_cannot_be_copied_leaves_nothing(hall: Hall) -> None:
    def share() -> None:
        raise BackendError("The storage is down.")

    with pytest.raises(BackendError):
        hall.put("t1", share=share)
    assert hall.worker().tasks() == []
    assert hall.put("t1", share=lambda: None)


def test_a_task_of_another_tenant_is_nobodys(hall: Hall) -> None:
    hall.put("t1", tenant="bob")
    assert hall.worker("ada").lease("t1") == []
    with pytest.raises(NotFound):
        hall.arrivals("ada").find("t1")
    with pytest.raises(NotFound):
        hall.arrivals("ada").drop("t1")


def test_a_lease_that_ends_is_free(hall: Hall) -> None:
    hall.put("t1")
    _leased(hall.worker())
    hall.clock.now += 61
    assert hall.shown("t1")[0] == "queued"
    assert _leased(hall.worker()).attempts == 2


def test_a_renewed_lease_is_not_free(hall: Hall) -> None:
    hall.put("t1")
    worker = hall.worker()
    _leased(worker)
    for _ in range(3):
        hall.clock.now += 40
        assert worker.renew(["t1"], chunks=64, of_chunks=128)
    assert hall.worker().lease("t1") == []
    assert (worker.find("t1").chunks, worker.find("t1").of_chunks) == (64, 128)


def test_who_lost_a_lease_says_nothing_more_about_the_task(hall: Hall) -> None:
    hall.put("t1")
    slow, quick = hall.worker(), hall.worker()
    _leased(slow)
    hall.clock.now += 61
    _leased(quick)
    assert not slow.renew(["t1"])
    assert not slow.end("t1", state="failed", code="damaged")
    slow.put_back(["t1"])
    assert hall.shown("t1") == ("running", 2, None)


def test_a_dead_process_frees_its_task_at_once(hall: Hall) -> None:
    hall.put("t1")
    ended = subprocess.run(
        [sys.executable, "-c", DEAD_WORKER, str(hall.address), "t1"],
        env={"PYTHONPATH": str(SOURCE), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == -9, ended.stderr
    assert hall.shown("t1") == ("queued", 1, None)
    assert hall.line().next("") == ("ada", "t1")
    assert _leased(hall.worker()).attempts == 2


def test_a_task_whose_workers_are_killed_stays_queued(hall: Hall) -> None:
    hall.put("t1")
    counted = []
    for _ in range(10):
        counted.append(_leased(hall.worker()).attempts)
        hall.clock.now += 61
    assert counted == [1, 2, *[MAX_ATTEMPTS] * 8]  # from then on it has a process of its own
    assert hall.shown("t1") == ("queued", MAX_ATTEMPTS, None)


def test_a_task_that_waits_counts_no_attempt(hall: Hall) -> None:
    hall.put("t1")
    for _ in range(10):
        worker = hall.worker()
        _leased(worker)
        worker.put_back(["t1"], delay_s=30)
        assert worker.lease("t1") == []
        assert hall.line().next("") is None
        hall.clock.now += 30
    assert hall.shown("t1") == ("queued", 0, None)


def test_every_tenant_has_its_turn(hall: Hall) -> None:
    for number in range(20):
        hall.put(f"a{number:02}", tenant="ada")
    hall.put("b0", tenant="bob")
    hall.put("c0", tenant="cy")
    line, last, served = hall.line(), "", []
    for _ in range(6):
        turn = line.next(last)
        assert turn is not None
        last, key = turn
        _leased(hall.worker(last), key)
        served.append(key)
    assert served == ["a00", "b0", "c0", "a01", "a02", "a03"]


def test_small_new_files_of_a_collection_go_together(hall: Hall) -> None:
    for key in ("t1", "t2", "t3", "t4", "t5"):
        hall.put(key)
    hall.put("b1", tenant="bob")
    other = hall.worker()
    _leased(other, "t3")
    other.put_off("t3")
    keys = {each.id for each in hall.worker().lease("t1", together=3, most_bytes=100)}
    assert keys == {"t1", "t2", "t4"}
    assert [each.id for each in hall.worker().lease("t5", together=9, most_bytes=100)] == ["t5"]
    assert [each.id for each in hall.worker().lease("t3", together=9, most_bytes=100)] == ["t3"]


def test_the_same_file_is_queued_once(hall: Hall) -> None:
    assert [hall.put("t1"), hall.put("t1")] == [True, False]
    _leased(hall.worker())
    assert not hall.put("t1")


def test_a_failed_file_is_queued_again(hall: Hall) -> None:
    hall.put("t1")
    worker = hall.worker()
    _leased(worker)
    assert worker.end("t1", state="failed", code="damaged", message="No.")
    assert hall.shown("t1") == ("failed", 1, "damaged")
    assert hall.put("t1")
    assert hall.shown("t1") == ("queued", 0, None)


def test_one_request_at_a_time_writes_to_an_upload(hall: Hall) -> None:
    first, second = hall.arrivals(), hall.arrivals()
    task = first.begin(name="a.md", collection="default", given={}, size=9, key_id="k")
    first.take(task.id)
    with pytest.raises(Busy, match="Another request"):
        second.take(task.id)
    first.save_progress(task.id, received=4)
    assert second.take(task.id).received == 4


def test_an_upload_whose_request_hangs_is_taken_over(hall: Hall) -> None:
    first, second = hall.arrivals(), hall.arrivals()
    task = first.begin(name="a.md", collection="default", given={}, size=9, key_id="k")
    first.take(task.id)
    hall.clock.now += 61
    second.take(task.id)
    first.save_progress(task.id, received=1)
    assert second.find(task.id).received == 0


def test_uploads_under_way_are_bounded(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_RECEIVING >= 100
    monkeypatch.setattr("quoth.store.uploads.MAX_RECEIVING", 2)
    for tenant in ("ada", "ada", "bob"):
        hall.arrivals(tenant).begin(name="", collection="c", given={}, size=9, key_id="k")
    with pytest.raises(Busy, match="uploads in progress") as caught:
        hall.arrivals("ada").begin(name="", collection="c", given={}, size=9, key_id="k")
    assert caught.value.status == 429


def test_what_stands_still_is_given_up(hall: Hall) -> None:
    arrivals = hall.arrivals()
    task = arrivals.begin(name="a.md", collection="c", given={}, size=9, key_id="k")
    hall.put("t1")
    needs: list[Requirements] = []

    def look(each: Requirements) -> int:
        needs.append(each)
        return 0

    arrivals.clear(look, before="2000")
    arrivals.clear(look, before="9999")
    assert [each.uploads for each in needs] == [frozenset({task.id}), frozenset()]
    assert [each.tasks for each in needs] == [(("t1", "t1.md"),)] * 2
    with pytest.raises(NotFound):
        arrivals.find(task.id)

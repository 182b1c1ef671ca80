"""Leases on documents: one worker at a time, and nobody waits for the dead."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from quoth.core.errors import DocumentError
from quoth.store.catalogue import Catalogue
from quoth.store.ingest_jobs import (
    MAX_ATTEMPTS,
    Claim,
    Jobs,
)
from quoth.store.job_rows import LEASE_SECONDS, count_unread
from quoth.store.rows import Collection, is_dead, machine
from tests.support.clock import Clock
from tests.support.made_documents import SOURCE, entry, open_catalogue

DEAD_WORKER = """
import sys
from quoth.store.ingest_jobs import Jobs
from quoth.store.database import open_database
from quoth.store.catalogue import Catalogue
catalogue = Catalogue(open_database(sys.argv[1]), tenant="local")
jobs = Jobs(catalogue)
for key in sys.argv[2:]:
    claim = jobs.claim(catalogue.collection("default"), key, source=f"/{key}.md", title=key)
    assert claim == "claimed", claim
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""


UPLOAD = f"file:///home/blobs/0123/ab/{'ab' * 32}.md#notes.md"


class Office:
    """A collection, a clock and as many workers as are wanted."""

    def __init__(self, address: Path | str) -> None:
        self.address = address
        self.clock = Clock()
        self.catalogue: Catalogue
        self.collection: Collection
        self.catalogue, self.collection = open_catalogue(address)

    def worker(self) -> Jobs:
        return Jobs(self.catalogue, clock=self.clock)

    def claim(self, worker: Jobs, key: str = "d1", source: str = "/d1.md") -> Claim:
        return worker.claim(self.collection, key, source=source, title="Animals")

    def fail(
        self, worker: Jobs, key: str = "d1", source: str = "/d1.md", text: str = "No."
    ) -> None:
        error = DocumentError("damaged", text)
        worker.fail(self.collection, key, source=source, title="Animals", error=error)

    def shown(self) -> list[tuple[str, str, str | None]]:
        """Every document with its status and the code of its error."""
        found = self.catalogue.documents(self.collection)
        return [(d.document_id, d.status, d.error and d.error.code) for d in found]

    def dies_holding(self, *keys: str) -> None:
        """A real process takes the leases and is killed."""
        ended = subprocess.run(
            [sys.executable, "-c", DEAD_WORKER, str(self.address), *keys],
            env={"PYTHONPATH": str(SOURCE), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == -9, ended.stderr


@pytest.fixture
def office(address: Path | str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    office = Office(address)
    monkeypatch.setattr("quoth.store.job_rows.time", office.clock)
    yield office
    office.catalogue.close()


def test_another_worker_finds_it_held(office: Office) -> None:
    office.claim(office.worker())
    assert office.claim(office.worker()) == "held"


def test_an_expired_lease_is_taken_over(office: Office) -> None:
    office.claim(office.worker())
    office.clock.now += LEASE_SECONDS + 1
    assert office.worker().running(office.collection) == set()
    assert office.claim(office.worker()) == "claimed"


def test_a_renewed_lease_is_kept(office: Office) -> None:
    worker = office.worker()
    office.claim(worker)
    office.clock.now += LEASE_SECONDS - 1
    worker.renew()
    office.clock.now += LEASE_SECONDS - 1
    assert office.claim(office.worker()) == "held"


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_moved_an_hour_costs_a_dead_holder_nothing(
    office: Office, hours: int
) -> None:
    office.claim(office.worker())
    office.clock.now += hours * 3600
    assert office.claim(office.worker()) == "claimed"


@pytest.mark.parametrize("hours", [-1, 1])
def test_who_renews_keeps_the_lease_though_the_clock_was_moved(office: Office, hours: int) -> None:
    worker = office.worker()
    office.claim(worker)
    office.clock.now += hours * 3600
    worker.renew()
    assert office.claim(office.worker()) == "held"
    office.catalogue.commit(office.collection, [entry("d1")])
    assert office.shown() == [("d1", "ready", None)]


def test_nothing_is_known_of_the_processes_of_another_machine() -> None:
    nobody = 2**22 + 1
    assert is_dead(f"{nobody}.{machine()}.abc")
    assert not is_dead(f"{nobody}.00000000.abc")
    assert not is_dead(Jobs(None).owner)  # type: ignore[arg-type]


def test_renewing_keeps_the_leases_of_others_as_they_are(office: Office) -> None:
    office.claim(office.worker())
    office.clock.now += LEASE_SECONDS - 1
    office.worker().renew()
    office.clock.now += 2
    assert office.claim(office.worker()) == "claimed"


def test_a_released_lease_is_free_and_not_counted(office: Office) -> None:
    for _ in range(MAX_ATTEMPTS + 1):
        worker = office.worker()
        assert office.claim(worker) == "claimed"
        worker.release(["d1"])
    assert office.shown() == []


def test_releasing_leaves_the_leases_of_others(office: Office) -> None:
    office.claim(office.worker())
    office.worker().release(["d1"])
    assert office.claim(office.worker()) == "held"


def test_the_leases_of_a_dead_process_are_free_at_once(office: Office) -> None:
    office.dies_holding("d1", "d2")
    assert office.shown() == [("d1", "running", "interrupted"), ("d2", "running", "interrupted")]
    worker = Jobs(office.catalogue)
    assert worker.running(office.collection) == set()
    assert office.claim(worker) == "claimed"


def test_a_document_whose_workers_end_is_set_aside(office: Office) -> None:
    claims = []
    for _ in range(MAX_ATTEMPTS + 1):
        claims.append(office.claim(office.worker()))
        office.clock.now += LEASE_SECONDS + 1
    assert claims == ["claimed"] * MAX_ATTEMPTS + ["poison"]
    assert office.shown() == [("d1", "failed", "crashes_reader")]


def test_a_document_whose_lease_is_over_is_interrupted_and_no_upload_is(office: Office) -> None:
    worker = office.worker()
    office.claim(worker)
    office.claim(worker, "d2", UPLOAD)
    assert office.shown() == [("d1", "running", None), ("d2", "running", None)]
    assert count_unread(office.catalogue, ["default"]) == 1
    assert count_unread(office.catalogue, ["other"]) == 0
    office.clock.now += LEASE_SECONDS + 1
    assert office.shown() == [("d1", "running", "interrupted"), ("d2", "running", None)]
    assert count_unread(office.catalogue, ["default"]) == 0
    worker.renew()
    assert office.shown() == [("d1", "running", None), ("d2", "running", None)]


def test_an_uploaded_document_is_never_set_aside_here(office: Office) -> None:
    source = UPLOAD
    for _ in range(MAX_ATTEMPTS + 3):
        assert office.claim(office.worker(), source=source) == "claimed"
        office.clock.now += LEASE_SECONDS + 1


def test_a_document_that_was_set_aside_stays_so_until_it_is_removed(office: Office) -> None:
    for _ in range(MAX_ATTEMPTS + 1):
        office.claim(office.worker())
        office.clock.now += LEASE_SECONDS + 1
    assert office.claim(office.worker()) == "poison"
    office.catalogue.remove(office.collection, ["d1"])
    assert office.claim(office.worker()) == "claimed"
    assert office.shown() == [("d1", "running", None)]


def test_a_failed_document_may_be_tried_again(office: Office) -> None:
    worker = office.worker()
    office.claim(worker)
    office.fail(worker)
    assert office.claim(office.worker()) == "claimed"
    assert office.shown() == [("d1", "running", None)]


def test_a_failure_takes_the_place_of_an_older_one_of_the_source(office: Office) -> None:
    worker = office.worker()
    office.fail(worker, "d1", "/a.md")
    office.fail(worker, "d2", "/a.md")
    office.fail(worker, "d3", "/b.md")
    assert office.shown() == [("d2", "failed", "damaged"), ("d3", "failed", "damaged")]


def test_who_lost_the_lease_cannot_fail_the_document(office: Office) -> None:
    slow, quick = office.worker(), office.worker()
    office.claim(slow)
    office.clock.now += LEASE_SECONDS + 1
    office.claim(quick)
    office.fail(slow)
    assert office.shown() == [("d1", "running", None)]


# --- tenants ----------------------------------------------------------------------------------


@pytest.fixture
def theirs(office: Office) -> Iterator[tuple[Catalogue, Collection]]:
    """Another tenant in the same database: one document under way, one failed."""
    catalogue, collection = open_catalogue(office.address, tenant="theirs")
    worker = Jobs(catalogue, clock=office.clock)
    worker.claim(collection, "t1", source="/d1.md", title="Animals")
    error = DocumentError("damaged", "No.")
    worker.fail(collection, "t2", source="/d2.md", title="Animals", error=error)
    yield catalogue, collection
    catalogue.close()


def test_their_work_is_not_seen(office: Office, theirs: Any) -> None:
    worker = office.worker()
    assert worker.running(theirs[1]) == worker.running(office.collection) == set()
    assert office.catalogue.documents(theirs[1]) == office.shown() == []


def test_their_work_is_not_changed(office: Office, theirs: Any) -> None:
    before = theirs[0].documents(theirs[1])
    office.clock.now += LEASE_SECONDS + 1
    worker = office.worker()
    worker.renew()
    worker.release(["d1"])
    office.fail(worker, "t1", "/d1.md")
    office.fail(worker, "t2", "/d2.md")
    office.catalogue.remove(office.collection, ["t1", "t2"])
    office.catalogue.commit(office.collection, [entry("d2", source="/d2.md")])
    office.clock.now -= LEASE_SECONDS + 1
    assert theirs[0].documents(theirs[1]) == before
    assert Jobs(theirs[0], clock=lambda: 1_000_000.0).running(theirs[1]) == {"t1"}


def test_their_lease_cannot_be_taken(office: Office, theirs: Any) -> None:
    office.clock.now += LEASE_SECONDS + 1
    for collection in (office.collection, theirs[1]):
        with pytest.raises(IntegrityError):
            office.worker().claim(collection, "t1", source="/", title="")
    assert Jobs(theirs[0], clock=lambda: 1_000_000.0).running(theirs[1]) == {"t1"}

"""The application with all its walls, in this process: health, counters, the line, the spans."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry import trace as telemetry
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import text

from quoth.bootstrap import open_tenants
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware import admission as admitting
from quoth.interfaces.http.middleware.concurrency_limit import Admission, Bounds
from quoth.interfaces.http.server.run import create_server_app, listening, operation_of
from quoth.interfaces.http.server.state import ServerState
from quoth.operations.metrics import Metrics
from quoth.operations.otel import observe_spans
from tests.support.counting import samples
from tests.support.service_client import PATIENT
from tests.support.small_library import write_sources
from tests.support.upload_service import send

SECRET = "zirkonwald"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    settings = Settings(home=tmp_path / "home", embedder="fake", keys_needed="never", **PATIENT)
    async with open_tenants(settings) as tenants:
        operation = operation_of(settings)
        app = create_server_app(tenants, operation=operation, settings=settings)
        async for _step in tenants.engine("local").add([write_sources(tmp_path / "sources")]):
            pass
        yield app


def client(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def ask(app: FastAPI, question: str = "What is honey made from?") -> httpx.Response:
    async with client(app) as asking:
        return await asking.post("/v1/query", json={"query": question})


async def counters(app: FastAPI) -> dict[str, float]:
    """The samples of /metrics, by name and labels as they are written."""
    async with client(app) as asking:
        return samples((await asking.get("/metrics")).text)


async def test_readiness_tells_what_there_is(app: FastAPI) -> None:
    async with client(app) as asking:
        found = await asking.get("/readyz")
    said = found.json()
    assert found.status_code == 200
    assert (said["ready"], said["catalogue"], said["index"]) == (True, "ok", "ok")
    assert said["models"]["embedder"].startswith("hash")
    assert said["rss_mb"] > 1
    assert said["sandbox"].pop("offline") in ("yes", "no")
    assert said["sandbox"] == {"seconds": 120, "memory_mb": 2048}


async def test_a_service_that_stops_is_not_ready_but_alive(app: FastAPI) -> None:
    app.state.operation.presence.state = "stopping"
    async with client(app) as asking:
        assert (await asking.get("/readyz")).status_code == 503
        assert (await asking.get("/healthz")).json() == {"status": "ok"}
        assert (await asking.post("/v1/query", json={"query": "Who?"})).status_code == 503


async def test_time_at_the_gate_counts_as_waited(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = app.state.operation.admission
    line.bounds = Bounds(in_flight=1, wait_s=60)
    monkeypatch.setattr(admitting, "monotonic", lambda: monotonic() + 60)
    async with line.turn("somebody"), asyncio.timeout(5):
        assert (await ask(app)).status_code == 503


async def test_a_store_that_is_gone_is_told(app: FastAPI) -> None:
    app.state.tenants.database.engine.dispose()
    for file in app.state.tenants.settings.home.glob("catalogue.sqlite*"):
        file.unlink()
    app.state.tenants.settings.home.joinpath("catalogue.sqlite").mkdir()
    async with client(app) as asking:
        found = await asking.get("/readyz")
    assert found.status_code == 503


async def test_files_are_counted_over_all_tenants_without_their_names(app: FastAPI) -> None:
    for tenant, count in ((SECRET, 2), ("bob", 1)):
        for number in range(count):
            await send(app.state.tenants, f"File {number}.", tenant=tenant)
    found = await counters(app)
    assert found['quoth_files{state="queued"}'] == 3
    assert found['quoth_files{state="failed"}'] == 0
    assert SECRET not in str(found)


async def test_memory_models_and_look_ups_of_vectors_are_told(app: FastAPI) -> None:
    for _ in range(2):
        await ask(app)
    found = await counters(app)
    assert found["quoth_resident_bytes"] > 1e6
    assert any(name.startswith('quoth_model{name="hash') for name in found)
    assert found['quoth_vector_cache_total{result="miss"}'] >= 1


async def test_counters_are_given_also_while_the_catalogue_is_gone(app: FastAPI) -> None:
    app.state.tenants.database.engine.dispose()
    with app.state.tenants.database.writing("") as connection:
        connection.execute(text("DROP TABLE tasks"))
    found = await counters(app)
    assert not any(name.startswith("quoth_files") for name in found)
    assert found["quoth_in_flight"] == 0


async def test_each_request_is_counted_once_by_its_route(app: FastAPI) -> None:
    await ask(app)
    async with client(app) as asking:
        await asking.get(f"/v1/documents/{SECRET}")
        await asking.get(f"/{SECRET}")
    found = await counters(app)
    assert found['quoth_requests_total{method="POST",route="/v1/query",status="200"}'] == 1
    assert found['quoth_request_seconds_count{route="/v1/query"}'] == 1
    assert found['quoth_requests_total{method="GET",route="unknown",status="404"}'] == 1
    assert SECRET not in str(found)


async def test_the_line_is_counted(app: FastAPI) -> None:
    await ask(app)
    found = await counters(app)
    assert (found["quoth_admitted_total"], found["quoth_in_flight"]) == (1, 0)


async def test_who_finds_the_line_full_is_told_when_to_come_again(app: FastAPI) -> None:
    line = Admission(Bounds(in_flight=1, waiting=2, wait_s=60))
    app.state.operation = replace(app.state.operation, admission=line)
    told = await asyncio.gather(*(ask(app, f"Who is bee number {at}?") for at in range(12)))
    assert set(Counter(each.status_code for each in told)) == {200, 503}
    shed = [each for each in told if each.status_code == 503]
    assert {each.json()["code"] for each in shed} == {"busy"}
    assert all(int(each.headers["retry-after"]) >= 1 for each in shed)
    assert all(each.headers["x-request-id"] == each.json()["request_id"] for each in shed)


async def test_a_body_that_cannot_be_read_costs_nobody_a_place(app: FastAPI) -> None:
    async with client(app) as asking:
        answer = await asking.post(
            "/v1/query", content=b"{", headers={"content-type": "application/json"}
        )
    line: ServerState = app.state.operation
    assert answer.status_code in (400, 422)
    assert line.admission.in_flight == 0


async def test_a_request_has_one_span_with_its_route_and_no_text(app: FastAPI) -> None:
    kept = spans()
    await ask(app, f"What is {SECRET}?")
    (found,) = [each for each in kept.get_finished_spans() if each.name == "POST /v1/query"]
    assert found.attributes is not None
    assert found.attributes["http.response.status_code"] == 200
    assert SECRET not in found.to_json()


async def test_the_stages_of_a_question_are_spans_below_it(app: FastAPI) -> None:
    kept = spans()
    engine = app.state.tenants.engine("local")
    answer, trace = await observed(engine)
    kept.clear()
    observe_spans(trace, answer)
    found = {each.name: each for each in kept.get_finished_spans()}
    whole = found["quoth.question"]
    assert {"quoth.embed", "quoth.keyword", "quoth.fuse"} <= set(found)
    stage = found["quoth.embed"]
    assert stage.parent is not None
    assert stage.parent.span_id == whole.context.span_id
    assert whole.start_time <= stage.start_time <= stage.end_time <= whole.end_time


async def test_the_stages_of_a_question_are_counted(app: FastAPI) -> None:
    answer, trace = await observed(app.state.tenants.engine("local"))
    counts = Metrics()
    counts.observe(trace, answer)
    text = counts.text().decode()
    assert 'quoth_stage_seconds_count{stage="embed"} 1.0' in text
    assert f'quoth_questions_total{{cached="false",status="{answer.status}"}} 1.0' in text
    assert 'stage="total"' not in text


def test_labels_are_bounded_and_hold_no_names_of_collections() -> None:
    from quoth.core.trace import Trace

    counts, trace = Metrics(), Trace()
    for number in range(300):
        with trace.stage(f"stage{number}"):
            pass
    trace.note(f"collection {SECRET}", reason="a", fallback="b")
    counts.observe(trace)
    text = counts.text().decode()
    assert text.count("quoth_stage_seconds_sum{") <= 101
    assert SECRET not in text


def test_a_port_in_use_is_a_wrong_set_up() -> None:
    with listening("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        told = f"Port {port} of 127.0.0.1 is in use"
        with pytest.raises(ConfigError, match=told), listening("127.0.0.1", port):
            pass


POOLS = """
import os
import threading
from pathlib import Path
from quoth.interfaces.http.server.run import share_memory

share_memory()
count = 8 * (os.cpu_count() or 1)
held, together = [], threading.Barrier(count)

def take():
    held.append(bytearray(100_000))
    together.wait()

threads = [threading.Thread(target=take) for _ in range(count)]
for each in threads: each.start()
for each in threads: each.join()
rows = []
for line in Path("/proc/self/maps").read_text().splitlines():
    (begin, end), use = line.split()[0].split("-"), line.split()[1]
    rows.append((int(begin, 16), int(end, 16), use))
pairs = zip(rows, rows[1:])
print(sum(
    not begin % 2**26 and (use, rest) == ("rw-p", "---p") and last - begin == 2**26
    for (begin, _end, use), (_begin, last, rest) in pairs
))
"""
"""Says how many pools, each in 64 MB of addresses, many threads made beside the first."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this library has no pools")
def test_threads_share_a_pool_of_memory_for_each_core() -> None:
    found = subprocess.run(
        [sys.executable, "-c", POOLS], capture_output=True, check=True, text=True
    )
    assert int(found.stdout) == max(2, os.cpu_count() or 1) - 1


def test_what_stays_is_not_looked_through_again() -> None:
    code = (
        "import gc, quoth.interfaces.http.server.run as s; "
        "s.keep_for_good(); print(len(gc.get_objects()))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert int(found.stdout) < 1000


async def observed(engine):  # type: ignore[no-untyped-def]
    """Answer a question and give the answer with its trace, as the engine's hook gets them."""
    seen = []
    parts = replace(engine.parts, observe=lambda trace, answer: seen.append((trace, answer)))
    await type(engine)(parts).answer("What is honey made from?")
    ((trace, answer),) = seen
    return answer, trace


def spans() -> InMemorySpanExporter:
    """Begin to keep spans; the first call sets up the one provider that a process can have."""
    provider = telemetry.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        telemetry.set_tracer_provider(provider)
    kept = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    return kept

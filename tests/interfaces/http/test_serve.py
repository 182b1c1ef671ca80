"""The application with all middleware, in this process: health, metrics, admission, tracing."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

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
from quoth.interfaces.http.middleware.concurrency_limit import Bounds
from quoth.interfaces.http.server.run import (
    HttpServer,
    bound_address,
    create_server_app,
    listening,
    server_config,
    server_state,
)
from quoth.interfaces.http.server.start import read_certificate
from quoth.operations.metrics import Metrics
from quoth.operations.otel import observe_spans
from tests.support.counting import samples
from tests.support.service_client import PATIENT
from tests.support.small_library import write_sources
from tests.support.upload_service import send
from tests.support.youtube_server import make_certificate

SECRET = "zirkonwald"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    limits = {**PATIENT, "questions_at_once": 4}
    settings = Settings(home=tmp_path / "home", embedder="fake", keys_needed="never", **limits)
    async with open_tenants(settings) as tenants:
        state = server_state(settings)
        app = create_server_app(tenants, state=state, settings=settings)
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
    assert said["sandbox"].pop("offline") in ("yes", "no", "unknown")
    assert said["sandbox"] == {"seconds": 120, "memory_mb": 2048}


async def test_a_service_that_stops_is_not_ready_but_alive(app: FastAPI) -> None:
    app.state.server.requests.state = "stopping"
    async with client(app) as asking:
        assert (await asking.get("/readyz")).status_code == 503
        assert (await asking.get("/healthz")).json() == {"status": "ok"}
        assert (await asking.post("/v1/query", json={"query": "Who?"})).status_code == 503


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


async def test_counters_are_given_also_while_the_catalogue_is_gone(app: FastAPI) -> None:
    app.state.tenants.database.engine.dispose()
    with app.state.tenants.database.writing("") as connection:
        connection.execute(text("DROP TABLE tasks"))
    found = await counters(app)
    assert not any(name.startswith("quoth_files") for name in found)
    assert found["quoth_in_flight"] == 0


async def test_look_ups_of_cached_answers_are_counted(app: FastAPI) -> None:
    for cached in (False, True, True):
        assert (await ask(app)).json()["cached"] is cached
    found = await counters(app)
    assert found['quoth_answer_cache_total{result="hit"}'] == 2
    assert found['quoth_answer_cache_total{result="miss"}'] == 1


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


@pytest.mark.parametrize("path", ["/openapi.json", "/v1/service"])
async def test_a_request_that_is_refused_before_routing_is_counted_by_its_route(
    app: FastAPI, path: str
) -> None:
    async with client(app) as asking:
        refused = await asking.get(path, headers={"host": "elsewhere.example"})
    assert refused.status_code >= 400
    found = await counters(app)
    counted = f'quoth_requests_total{{method="GET",route="{path}",status="{refused.status_code}"}}'
    assert found[counted] == 1


async def test_queries_over_the_limit_are_told_when_to_retry(app: FastAPI) -> None:
    app.state.server.limit.bounds = Bounds(in_flight=4, waiting=2, wait_s=60)
    answers = await asyncio.gather(*(ask(app, f"Who is bee number {at}?") for at in range(12)))
    assert set(Counter(answer.status_code for answer in answers)) == {200, 503}
    shed = [answer for answer in answers if answer.status_code == 503]
    assert {answer.json()["code"] for answer in shed} == {"busy"}
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in shed)
    assert all(answer.headers["x-request-id"] == answer.json()["request_id"] for answer in shed)
    assert not any("connection" in answer.headers for answer in shed)


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


async def observed(engine):  # type: ignore[no-untyped-def]
    """Answer a question and give the answer with its trace, as the engine's hook gets them."""
    seen = []
    parts = replace(engine.parts, observe=lambda *given, measures: seen.append(given))
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


async def test_a_service_with_a_certificate_speaks_https(app: FastAPI, tmp_path: Path) -> None:
    file = make_certificate(tmp_path / "both.pem")
    server = HttpServer(server_config(app, certificate=read_certificate(file, None)))
    with listening("127.0.0.1", 0) as bound:
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        address = bound_address(bound, "127.0.0.1", secure=True)
        trusted = ssl.create_default_context(cafile=file)
        trusted.check_hostname = False  # it is of another name
        async with httpx.AsyncClient(base_url=address, verify=trusted) as client:
            assert (await client.get("/healthz")).json() == {"status": "ok"}
            own = {"origin": address}
            asked = await client.post("/v1/query", json={"query": "What is honey?"}, headers=own)
            assert asked.status_code == 200
        server.should_exit = True
        await serving


def test_a_certificate_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    both = make_certificate(tmp_path / "both.pem")
    key, _end, chain = both.read_text().partition("-----END PRIVATE KEY-----\n")
    alone, secret = tmp_path / "chain.pem", tmp_path / "key.pem"
    alone.write_text(chain)
    secret.write_text(f"{key}-----END PRIVATE KEY-----\n")
    assert read_certificate(None, None) is None
    assert read_certificate(alone, secret) is not None
    for files in ((alone, None), (tmp_path / "none.pem", secret), (secret, alone)):
        with pytest.raises(ConfigError, match="cannot be used as a certificate"):
            read_certificate(*files)
    with pytest.raises(ConfigError, match="--certfile"):
        read_certificate(None, secret)

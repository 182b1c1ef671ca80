"""Behind a proxy: who asks, under which address, and below which path."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from quoth.core.errors import ConfigError
from quoth.core.load_settings import load_settings
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.client_address import ClientAddressMiddleware
from quoth.interfaces.http.middleware.telemetry import TelemetryMiddleware
from quoth.operations.metrics import Metrics
from tests.support.service_client import served

PROXY, CLIENT = "10.0.0.7", "203.0.113.9"


async def seen(peer: str, headers: dict[str, str], *, path: str = "/", **choices: Any) -> Scope:
    scopes: list[Scope] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        scopes.append(scope)

    settings = Settings(trusted_proxies="10.0.0.0/8, ::1", **choices)
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "client": (peer, 1), "scheme": "http", "path": path, "headers": raw}
    await ClientAddressMiddleware(inside, settings=settings)(scope, None, None)  # type: ignore[arg-type]
    return scopes[0]


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        (PROXY, {"x-forwarded-for": CLIENT}, CLIENT),
        (PROXY, {"x-forwarded-for": f"6.6.6.6, {CLIENT}, 10.1.1.1"}, CLIENT),
        (PROXY, {"forwarded": f'for=6.6.6.6, for="{CLIENT}:80";proto=https'}, CLIENT),
        (PROXY, {"forwarded": 'for="[2001:db8::1]:4711"'}, "2001:db8::1"),
        (PROXY, {"x-forwarded-for": CLIENT, "forwarded": "for=6.6.6.6"}, CLIENT),
        (PROXY, {"x-forwarded-for": "10.2.2.2"}, "10.2.2.2"),
        (PROXY, {}, PROXY),
        ("::ffff:10.0.0.7", {"x-forwarded-for": CLIENT}, CLIENT),
        ("8.8.8.8", {"x-forwarded-for": CLIENT, "forwarded": "for=1.1.1.1"}, "8.8.8.8"),
    ],
)
async def test_a_trusted_proxy_names_the_client(
    peer: str, headers: dict[str, str], client: str
) -> None:
    assert (await seen(peer, headers))["client"][0] == client


async def test_the_scheme_is_that_of_the_proxy() -> None:
    for headers in (
        {"x-forwarded-for": CLIENT, "x-forwarded-proto": "https"},
        {"forwarded": f"for={CLIENT};proto=https"},
    ):
        assert (await seen(PROXY, headers))["scheme"] == "https"
    assert (await seen("8.8.8.8", {"x-forwarded-proto": "https"}))["scheme"] == "http"


@pytest.mark.parametrize(
    ("path", "served_path"),
    [
        ("/library/v1/query", "/v1/query"),
        ("/library", "/"),
        ("/v1/query", "/v1/query"),
        ("/librarys", "/librarys"),
    ],
)
async def test_a_base_path_is_taken_off(path: str, served_path: str) -> None:
    scope = await seen(PROXY, {}, path=path, public_url="https://quoth.example/library/")
    assert scope["path"] == served_path


def test_a_proxy_that_is_no_network_is_named() -> None:
    with pytest.raises(ConfigError, match=r"QUOTH_TRUSTED_PROXIES.*'nginx'"):
        load_settings({"trusted_proxies": "127.0.0.1, nginx"})
    with pytest.raises(ValueError, match="https://HOST/PATH"):
        Settings(public_url="quoth.example")


async def test_links_begin_with_the_public_address(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Bees\n\nA queen bee lives for five years.\n")
    public = "https://quoth.example/library"
    async with served(tmp_path / "home", public_url=public) as house:
        await house.add("ada", tmp_path / "bees.md")
        async with house.client(house.key("ada")) as client:
            body = {
                "model": "quoth",
                "messages": [{"role": "user", "content": "How long does a queen live?"}],
            }
            headers = {"host": "quoth.example", "origin": "https://quoth.example"}
            answer = (await client.post("/v1/chat/completions", json=body, headers=headers)).json()
            link = answer["quoth"]["citations"][0]["link"]
            assert link.startswith(f"{public}/d/")
            page = await client.get(link.removeprefix(public), headers={"authorization": ""})
            assert page.status_code == 200
            assert "text/html" in page.headers["content-type"]


async def test_the_access_log_names_client_and_route(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path / "home") as house:
        app = TelemetryMiddleware(house.app, metrics=Metrics())

        async def with_app(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "app": house.app}, receive, send)

        transport = httpx.ASGITransport(app=with_app, client=(CLIENT, 5))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            with caplog.at_level(logging.INFO, logger="quoth.access"):
                response = await client.get(
                    "/v1/documents/abc", headers={"authorization": "Bearer qth_AAAAAAAA_guess"}
                )
    assert response.status_code == 401, json.dumps(response.json())
    line: Any = caplog.records[-1]
    assert (line.client, line.route, line.status) == (CLIENT, "/v1/documents/{document_id}", 401)


async def test_a_probe_needs_no_key(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        key = house.key("ada")
        async with house.client("") as probe, house.client(key) as ada:
            del probe.headers["authorization"]
            assert (await probe.get("/readyz")).json() == {"ready": True, "state": "serving"}
            await ada.post("/v1/collections", json={"name": "default"})
            empty = await ada.get("/readyz")
            assert (empty.status_code, empty.json()["index"]) == (200, "ok")
            probe.headers["authorization"] = "Bearer qth_AAAAAAAA_guess"
            assert (await probe.get("/readyz")).status_code == 401

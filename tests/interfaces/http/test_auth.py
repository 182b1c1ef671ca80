"""The gate: who comes in, as whom, and what everybody else is told."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from starlette.types import Message, Scope

from quoth.core.errors import ConfigError
from quoth.pipeline.components import embedding_fingerprint
from quoth.store.catalogue import Catalogue
from quoth.store.keys import Keys
from quoth.store.shares import Shares
from tests.support.auth_app import House, gated

CHUNK = b"x" * 65_536
PROXY_HEADERS = (
    *("forwarded", "via", "x-forwarded-for", "x-real-ip"),
    *("x-forwarded-proto", "x-forwarded-host", "cf-connecting-ip"),
)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with gated(tmp_path) as opened:
        yield opened


# --- who asks -------------------------------------------------------------------------------------


async def test_a_key_leads_to_its_own_tenant(house: House) -> None:
    mine, theirs = house.key("ada", scopes=("read",)), house.key("bob")
    async with house.client(mine.token) as client:
        said = (await client.get("/v1/x")).json()
    assert said["tenant"] == said["engine"] == "ada"
    assert said["key_id"] == mine.key.key_id
    assert said["scopes"] == ["read"]
    async with house.client(x_api_key=theirs.token) as client:
        said = (await client.get("/v1/x")).json()
    assert (said["tenant"], said["engine"]) == ("bob", "bob")


async def test_a_share_leads_to_one_collection_for_reading(house: House) -> None:
    catalogue = house.tenants.engine("ada").parts.catalogue
    identity = embedding_fingerprint(house.tenants.engine("ada").parts.embedder)
    assert isinstance(catalogue, Catalogue)
    catalogue.make_collection("talks", identity=identity)
    made = Shares(house.tenants.database, tenant="ada").add(collection="talks", expires_days=1)
    async with house.client(made.token) as client:
        said = (await client.get("/v1/x")).json()
    assert (said["tenant"], said["collection"], said["scopes"]) == ("ada", "talks", ["read"])
    assert said["key_id"] == made.share.share_id
    assert made.share.share_id.startswith("sh_")


async def test_a_program_that_must_send_a_key_may_send_any_where_none_is_needed(
    house: House,
) -> None:
    async with house.client("sk-not-needed") as client:
        assert (await client.get("/v1/x")).json()["key_id"] == "local"
    async with house.client("qth_00000000_" + "A" * 43) as client:
        assert (await client.get("/v1/x")).status_code == 401


async def test_the_first_key_closes_the_door_and_its_end_does_not_open_it(house: House) -> None:
    async with house.client() as client:
        assert (await client.get("/v1/x")).status_code == 200
        made = house.key()
        house.clock.now += 1
        assert (await client.get("/v1/x")).status_code == 401
        Keys(house.tenants.database, tenant="ada").revoke(made.key.key_id)
        house.clock.now += 1
        assert (await client.get("/v1/x")).status_code == 401


@pytest.mark.parametrize(
    ("bound", "settings", "address", "status"),
    [
        ("127.0.0.1", {}, "127.0.0.1", 200),
        ("::1", {}, "::1", 200),
        ("127.0.0.1", {"keys_needed": "always"}, "127.0.0.1", 401),
        ("127.0.0.1", {"hosts": "quoth.example"}, "127.0.0.1", 401),
        ("127.0.0.1", {}, "192.0.2.7", 401),
        ("0.0.0.0", {}, "127.0.0.1", 401),
        ("192.0.2.1", {"keys_needed": "never"}, "127.0.0.1", 401),
    ],
)
async def test_only_on_this_machine_is_there_an_owner(
    tmp_path: Path, bound: str, settings: dict[str, Any], address: str, status: int
) -> None:
    async with (
        gated(tmp_path, bound=bound, **settings) as house,
        house.client(host=address) as client,
    ):
        assert (await client.get("/v1/x")).status_code == status


async def test_who_comes_through_a_proxy_is_not_the_owner(house: House) -> None:
    for name in PROXY_HEADERS:
        async with house.client(**{name: "192.0.2.7"}) as client:
            assert (await client.get("/v1/x")).status_code == 401


GARBAGE = [
    "x",
    "qth_",
    "qth_00000000_" + "A" * 43,
    "qth_" + "A" * 10_000,
    "qsh_" + "A" * 43,
    "ключ",
    "é" * 51,
    "' OR 1=1 --",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
]


async def test_garbage_opens_nothing(tmp_path: Path) -> None:
    async with gated(tmp_path, wrong_keys_per_minute=100) as house, house.client() as client:
        house.key()
        for token in GARBAGE:
            for name, sent in (("authorization", f"Bearer {token}"), ("x-api-key", token)):
                answer = await client.get("/v1/x", headers={name: sent.encode()})
                assert (answer.status_code, answer.json()["code"]) == (401, "denied")
                assert answer.headers["www-authenticate"] == "Bearer"
        assert house.inside.calls == 0


async def test_a_key_comes_as_a_bearer_token_only(house: House) -> None:
    token = house.key().token
    for sent in ("Basic QTpC", "Bearer", "Bearer ", "Token {}", "{}"):
        async with house.client(authorization=sent.format(token)) as client:
            assert (await client.get("/v1/x")).status_code == 401
            assert (await client.get(f"/v1/x?key={token}&token={token}")).status_code == 401


async def test_all_keys_that_are_not_good_get_the_same_answer(house: House) -> None:
    keys = Keys(house.tenants.database, tenant="ada")
    expired, revoked = house.key(expires_days=1e-9), house.key()
    keys.revoke(revoked.key.key_id)
    good = house.key().token
    bodies = []
    for token in (expired.token, revoked.token, good[:-1] + "!", "qth_00000000_" + good[13:]):
        async with house.client(token, x_request_id="same") as client:
            bodies.append((await client.get("/v1/x")).content)
    assert len(set(bodies)) == 1


async def test_a_revoked_key_is_remembered_for_less_than_a_second(house: House) -> None:
    made = house.key()
    async with house.client(made.token) as client:
        assert (await client.get("/v1/x")).status_code == 200
        Keys(house.tenants.database, tenant="ada").revoke(made.key.key_id)
        house.clock.now += 0.6
        assert (await client.get("/v1/x")).status_code == 401


async def test_the_last_use_of_a_key_is_noted_once_a_minute(house: House) -> None:
    made = house.key()
    house.writes.clear()
    async with house.client(made.token) as client:
        for _ in range(5):
            assert (await client.get("/v1/x")).status_code == 200
            house.clock.now += 0.6
    (found,) = Keys(house.tenants.database, tenant="ada").all()
    assert found.last_used is not None
    assert found.last_used >= made.key.created_at
    assert house.writes == ["before use key", "after use key"]


async def test_who_writes_for_long_keeps_no_key_out(house: House, tmp_path: Path) -> None:
    made = house.key()
    keys = Keys(house.tenants.database, tenant="ada")
    writer = sqlite3.connect(tmp_path / "catalogue.sqlite", isolation_level=None)
    with closing(writer):
        writer.execute("BEGIN IMMEDIATE")
        async with house.client(made.token) as client:
            for _ in range(3):
                assert (await client.get("/v1/x")).status_code == 200
                house.clock.now += 0.6
        assert keys.all()[0].last_used is None
        writer.execute("ROLLBACK")
    for _ in range(200):
        if "after use key" in house.writes:
            break
        await asyncio.sleep(0.05)
    assert keys.all()[0].last_used is not None


# --- what comes before the key --------------------------------------------------------------------


async def test_only_whether_it_lives_is_told_without_a_key(house: House) -> None:
    house.key()
    async with house.client() as client:
        assert (await client.get("/healthz")).json() == {"caller": None}
        for path in ("/docs", "/redoc", "/openapi.json", "/metrics", "/healthz/"):
            assert (await client.get(path)).status_code == 401
        assert (await client.post("/healthz")).status_code == 401
        assert (await client.get("/%68ealthz")).status_code == 200


STRANGE_HOSTS = [
    "evil.test",
    "127.0.0.1.evil.test",
    "localhost@evil.test",
    "evil.test:8765",
    "",
    "[",
    "127.0.0.1:x",
    "2130706433",
    "0x7f.1",
    "localhost/evil",
    "192.0.2.9",
]


async def test_a_foreign_host_is_turned_away(house: House) -> None:
    async with house.client() as client:
        for host in STRANGE_HOSTS:
            answer = await client.get("/healthz", headers={"host": host})
            assert (answer.status_code, answer.json()["code"]) == (421, "misdirected")
    assert house.inside.calls == 0


async def test_the_names_of_this_machine_and_of_the_settings_are_its_own(tmp_path: Path) -> None:
    async with (
        gated(tmp_path, hosts=" Q.test:8080 , [2001:db8::1],2001:db8::2 ") as house,
        house.client() as client,
    ):
        for host in (
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1",
            "[::1]:8765",
            "q.test",
            "Q.test.:1",
            "[2001:db8::1]",
            "[2001:db8::2]",
        ):
            assert (await client.get("/healthz", headers={"host": host})).status_code == 200


async def test_the_address_that_was_reached_is_a_name_too(house: House) -> None:
    scope = http("GET", "/healthz", headers={"host": "192.0.2.1:8765"})
    assert (await answered(house, {**scope, "server": ("192.0.2.1", 8765)}))["status"] == 200
    assert (await answered(house, {**scope, "server": ("192.0.2.2", 8765)}))["status"] == 421


FOREIGN = [
    {"origin": "https://evil.test"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://localhost:8765"},
    {"origin": "http://[::1"},
    {"origin": "file://"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


async def test_a_page_of_another_site_changes_nothing(house: House) -> None:
    async with house.client() as client:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            for headers in FOREIGN:
                answer = await client.request(method, "/v1/x", headers=headers)
                assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
    assert house.inside.calls == 0


async def test_our_own_page_and_programs_may_change_things(house: House) -> None:
    async with house.client() as client:
        for headers in ({"origin": "http://127.0.0.1:8765"}, {"sec-fetch-site": "same-origin"}, {}):
            assert (await client.post("/v1/x", headers=headers)).status_code == 200


async def test_a_page_of_another_site_opens_no_websocket(house: House) -> None:
    scope = {**http("GET", "/v1/live", headers={"origin": "https://evil.test"})}
    scope.update(type="websocket", scheme="ws", subprotocols=[])
    assert (await answered(house, scope))["type"] == "websocket.close"
    with_answers = {**scope, "extensions": {"websocket.http.response": {}}}
    assert (await answered(house, with_answers))["status"] == 403
    own = {**scope, "headers": [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1")]}
    assert (await answered(house, own))["type"] == "websocket.accept"
    house.key()
    house.clock.now += 1
    assert (await answered(house, {**own, "extensions": with_answers["extensions"]}))[
        "status"
    ] == 401


# --- every response -------------------------------------------------------------------------------


async def test_every_response_has_the_headers(house: House) -> None:
    token = house.key().token
    async with house.client(token) as client:
        good = await client.get("/v1/x")
        bad = await client.get("/v1/x", headers={"host": "evil.test"})
    async with house.client() as client:
        unknown = await client.get("/v1/x")
    assert [good.status_code, bad.status_code, unknown.status_code] == [200, 421, 401]
    for answer in (good, bad, unknown):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "private, no-store"
        assert "access-control-allow-origin" not in answer.headers


async def test_a_plain_request_id_is_kept_and_a_strange_one_replaced(house: House) -> None:
    async with house.client() as client:

        async def given(request_id: str) -> str:
            headers = {"x-request-id": request_id.encode()}
            answer = await client.get("/v1/x", headers=headers)
            return str(answer.headers["x-request-id"])

        for plain in ("abc-1.2_3", "x" * 64):
            assert await given(plain) == plain
        for strange in ("", "x" * 65, "a b", "a\tb", "é", '"', "<x>"):
            assert len(await given(strange)) == 32


async def test_a_route_may_be_stricter_and_nothing_of_the_api_is_kept(tmp_path: Path) -> None:
    async def strict(scope: Scope, receive: Any, send: Any) -> None:
        headers = [(b"content-security-policy", b"sandbox"), (b"cache-control", b"public")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body"})

    async with gated(tmp_path, app=strict) as house, house.client() as client:
        own, page = await client.get("/v1/x"), await client.get("/assets/x.js")
    assert own.headers["content-security-policy"] == "sandbox"
    assert own.headers["cache-control"] == "private, no-store"
    assert page.headers["cache-control"] == "public"


# --- how much -------------------------------------------------------------------------------------


def http(method: str, path: str, *, headers: dict[str, str] | None = None) -> dict[str, Any]:
    given = {"host": "127.0.0.1", **(headers or {})}
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "scheme": "http",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }


class Sender:
    """A client that sends chunks as long as it is asked to; ``asked`` counts them."""

    def __init__(self, *, chunks: int, wait_s: float = 0.0) -> None:
        self.chunks, self.wait_s, self.asked = chunks, wait_s, 0

    async def __call__(self) -> Message:
        await asyncio.sleep(self.wait_s)
        self.asked += 1
        return {"type": "http.request", "body": CHUNK, "more_body": self.asked < self.chunks}


async def answered(house: House, scope: dict[str, Any], sender: Any = None) -> dict[str, Any]:
    """Give the first message that comes back."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def connect() -> Message:
        return {"type": "websocket.connect"}

    scope = {**scope, "state": {}}
    await house.gate(scope, sender or (connect if scope["type"] == "websocket" else none), send)
    return dict(sent[0])


async def none() -> Message:
    return {"type": "http.request"}


async def test_nothing_of_a_body_is_read_for_who_is_not_known(house: House) -> None:
    house.key()
    sender = Sender(chunks=16_384)
    announced = {"content-length": str(2**30), "content-type": "application/json"}
    first = await answered(house, http("POST", "/v1/query", headers=announced), sender)
    assert first["status"] == 401
    assert (b"connection", b"close") in first["headers"]
    assert sender.asked == house.inside.calls == 0


@pytest.mark.parametrize("announced", ["1048577", "9" * 400, "100000000000"])
async def test_a_body_that_is_announced_too_large_is_not_read(house: House, announced: str) -> None:
    sender = Sender(chunks=17)
    scope = http("POST", "/v1/query", headers={"content-length": announced})
    assert (await answered(house, scope, sender))["status"] == 413
    assert sender.asked == house.inside.calls == 0


async def test_a_length_that_is_no_number_is_refused(house: House) -> None:
    for wrong in ("-1", "1e9", "x", "١"):
        scope = http("POST", "/v1/query")
        scope["headers"].append((b"content-length", wrong.encode()))
        assert (await answered(house, scope, Sender(chunks=1)))["status"] == 422


@pytest.mark.parametrize("headers", [{}, {"content-length": "10"}], ids=["no length", "a lie"])
async def test_a_body_is_counted_while_it_comes(house: House, headers: dict[str, str]) -> None:
    sender = Sender(chunks=10_000)
    first = await answered(house, http("POST", "/v1/query", headers=headers), sender)
    assert first["status"] == 413
    assert sender.asked == 17
    assert house.inside.received <= 2**20


async def test_a_file_may_be_larger_and_has_a_limit_too(tmp_path: Path) -> None:
    form = {"content-type": "multipart/form-data; boundary=x"}
    async with gated(tmp_path, max_upload_mb=2) as house:
        fits = await answered(house, http("POST", "/v1/documents", headers=form), Sender(chunks=32))
        part = http("PUT", "/v1/uploads/1", headers={"content-type": "application/octet-stream"})
        over = await answered(house, part, Sender(chunks=1000))
        asked = await answered(house, http("POST", "/v1/query", headers=form), Sender(chunks=32))
        json = {"content-type": "application/json"}
        plan = await answered(house, http("POST", "/v1/uploads", headers=json), Sender(chunks=32))
    assert [each["status"] for each in (fits, over, asked, plan)] == [200, 413, 413, 413]


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with gated(tmp_path, body_seconds=0.3) as house:
        slow = http("POST", "/v1/query")
        assert (await answered(house, slow, Sender(chunks=9, wait_s=0.04)))["status"] == 408
        part = http("PUT", "/v1/uploads/1")
        assert (await answered(house, part, Sender(chunks=9, wait_s=0.04)))["status"] == 200
        assert (await answered(house, part, Sender(chunks=9, wait_s=0.9)))["status"] == 408


async def test_a_key_asks_so_often_and_another_is_not_slowed(house: House) -> None:
    mine, theirs = house.key(), house.key()
    async with house.client(mine.token) as client:
        burst = [(await client.post("/v1/query")).status_code for _ in range(21)]
        assert burst == [200] * 20 + [429]
        refused = await client.post("/v1/query")
        assert refused.json()["code"] == "busy"
        assert "60 questions a minute, in bursts of up to 20. Try" in refused.json()["detail"]
        assert refused.headers["retry-after"] == "1"
        house.clock.now += 1.01
        assert (await client.post("/v1/query")).status_code == 200
        assert (await client.post("/v1/query")).status_code == 429
        assert (await client.get("/v1/documents")).status_code == 200
    async with house.client(theirs.token) as client:
        assert (await client.post("/v1/query")).status_code == 200


async def test_the_owner_of_the_machine_is_not_counted(house: House) -> None:
    async with house.client() as client:
        assert {(await client.post("/v1/query")).status_code for _ in range(50)} == {200}


async def test_so_many_of_a_key_are_under_way_at_once(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    under_way = asyncio.Semaphore(0)

    async def slow(scope: Scope, receive: Any, send: Any) -> None:
        under_way.release()
        await go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    async with (
        gated(tmp_path, app=slow, key_waiting=0) as house,
        house.client(house.key().token) as client,
    ):
        waiting = [asyncio.create_task(client.post("/v1/query")) for _ in range(4)]
        for _ in waiting:
            await under_way.acquire()
        fifth = await client.post("/v1/query")
        assert (fifth.status_code, fifth.headers["retry-after"]) == (429, "1")
        go_on.set()
        assert {(await each).status_code for each in waiting} == {200}
        assert (await client.post("/v1/query")).status_code == 200


async def test_web_apps_of_named_origins_come_in_with_a_key_and_never_with_a_cookie(
    tmp_path: Path,
) -> None:
    app, other = "https://app.example", "https://evil.example"
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "x-a"}
    async with gated(tmp_path, cors_origins=f"{app}, https://b.example") as house:
        async with house.client() as client:
            asked = await client.options("/v1/query", headers={"origin": app, **asks})
            assert asked.status_code == 200
            assert asked.headers["access-control-allow-origin"] == app
            assert "access-control-allow-credentials" not in asked.headers
            refused = await client.options("/v1/query", headers={"origin": other, **asks})
            assert "access-control-allow-origin" not in refused.headers
            # Without a key even this machine's owner is not let in by a page of another origin.
            keyless = await client.post("/v1/query", headers={"origin": app})
            assert (keyless.status_code, keyless.headers["access-control-allow-origin"]) == (
                401,
                app,
            )
            assert (await client.get("/v1/documents", headers={"origin": app})).status_code == 401
        async with house.client(house.key().token) as client:
            for origin, status in ((app, 200), (other, 403)):
                found = await client.post("/v1/query", headers={"origin": origin})
                assert found.status_code == status
                assert found.headers.get("access-control-allow-origin") == (
                    app if status == 200 else None
                )
                exposed = found.headers["access-control-expose-headers"].casefold()
                read = {"upload-offset", "upload-length", "location", "etag", "content-range"}
                read |= {"content-disposition", "accept-ranges", "retry-after", "x-request-id"}
                assert set(exposed.split(", ")) == read


async def test_any_origin_may_be_let_in_but_none_is_by_default(tmp_path: Path) -> None:
    origin = {"origin": "https://any.example"}
    for origins, status, allowed in (("*", 200, "*"), ("", 403, None)):
        async with (
            gated(tmp_path / str(status), cors_origins=origins) as house,
            house.client(house.key().token) as client,
        ):
            found = await client.post("/v1/query", headers=origin)
            assert found.status_code == status
            assert found.headers.get("access-control-allow-origin") == allowed
    with pytest.raises(ConfigError, match="is no origin"):
        async with gated(tmp_path / "wrong", cors_origins="https://a.example/path"):
            pass


async def test_wrong_keys_are_tried_so_often_and_a_right_one_goes_on(house: House) -> None:
    right = house.key()
    async with house.client("qth_00000000_" + "A" * 43) as client:
        tried = [(await client.get("/v1/x")).status_code for _ in range(12)]
        assert tried == [401] * 10 + [429, 429]
        assert (await client.get("/v1/x")).headers["retry-after"] == "6"
    async with house.client(right.token) as client:
        assert (await client.get("/v1/x")).status_code == 200


async def test_where_keys_cannot_be_looked_up_nobody_comes_in(house: House) -> None:
    token = house.key().token
    async with house.client(token) as client:
        with house.tenants.database.writing("ada") as connection:
            connection.execute(text("DROP TABLE keys"))
        answer = await client.get("/v1/x")
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    assert house.inside.calls == 0

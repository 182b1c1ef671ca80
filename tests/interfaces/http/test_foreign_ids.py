"""Every id in every position of every operation, made from what the service says of itself.

What is another tenant's is answered byte for byte like what is not there, and stays untouched. An
operation or a parameter that is not described here fails: whoever adds one says what it names.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import select

from quoth.store.lectures import Lectures
from quoth.store.metadata import metadata
from quoth.tenants import Tenants
from tests.store.test_lectures import card, window
from tests.support.service_client import House, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "How does a colony stay warm in winter?"
NAMED = {
    "document_id": "document",
    "documents": "document",
    "query_id": "query",
    "after": "query",
    "upload_id": "upload",
    "around": "chunk",
    "collection": "collection",
    "collections": "collection",
    "name": "collection",
    "key_id": "key",
    "share_id": "share",
    "session_id": "lecture",
    "sessions": "talk",
    "citation_id": "card",
    "model": "model",
}
"""What a parameter of this name names."""
PLAIN = {
    *("query", "filters", "mode", "policy", "llm", "profile", "cache", "session", "history"),
    "kinds",
    *(
        "scope",
        "comment",
        "beginning",
        "words",
        "q",
        "links",
        "sidecar",
        "metadata",
        "why_not",
        "format",
        "state",
        "label",
        "scopes",
    ),
    *("title", "url", "speaker", "language", "date", "messages", "user", "key"),
    *("segment_id", "text", "transcript_text"),
}
"""Texts that name nothing of anybody's."""
OWN_NAME = {("post", "/v1/collections"), ("post", "/v1/uploads")}
"""Operations in which the name of a collection is given, not looked up: each tenant has his own."""
OWN_NAMES = {("/v1/uploads", "name"), ("/v1/sessions/{session_id}/talk", "collection")}
"""Names that are given by their path and field, and not looked up."""
APART = ("/mcp", "/v1/operator/", "/v1/links/")
"""Addresses with a protocol of their own, of all tenants, or signed: they have their own tests."""


@dataclass
class Case:
    """How the owner calls an operation; ``NAME`` stands for his own thing of that name."""

    params: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None


ASK = {"query": QUESTION, "llm": "none"}
CHAT = {"model": "MODEL", "messages": [{"role": "user", "content": QUESTION}]}
CASES: dict[tuple[str, str], Case] = {
    ("post", "/v1/query"): Case(body=ASK),
    ("post", "/v1/search"): Case(body={"query": QUESTION}),
    ("get", "/v1/queries"): Case(),
    ("get", "/v1/queries/{query_id}"): Case(),
    ("get", "/v1/queries/{query_id}/explain"): Case(),
    ("get", "/v1/queries/{query_id}/export"): Case(),
    ("post", "/v1/queries/{query_id}/replay"): Case(),
    ("patch", "/v1/queries/{query_id}"): Case(body={"title": "Another"}),
    ("delete", "/v1/queries/{query_id}"): Case(),
    ("get", "/v1/collections"): Case(),
    ("post", "/v1/collections"): Case(body={"name": "COLLECTION"}),
    ("get", "/v1/collections/{name}"): Case(),
    ("delete", "/v1/collections/{name}"): Case(),
    ("post", "/v1/collections/{name}/reindex"): Case(),
    ("get", "/v1/documents"): Case(),
    ("get", "/v1/documents/{document_id}"): Case(),
    ("patch", "/v1/documents/{document_id}"): Case(body={"title": "Another"}),
    ("delete", "/v1/documents/{document_id}"): Case(),
    ("get", "/v1/documents/{document_id}/original"): Case(),
    ("get", "/v1/documents/{document_id}/media"): Case(),
    ("get", "/v1/documents/{document_id}/passages"): Case(),
    ("get", "/v1/documents/{document_id}/outline"): Case(),
    ("get", "/v1/documents/{document_id}/reading"): Case(params={"start": "0", "end": "9"}),
    ("get", "/v1/documents/{document_id}/marks"): Case(params={"start": "0", "end": "9"}),
    ("get", "/v1/documents/{document_id}/pages/{page}/image"): Case(),
    ("post", "/v1/uploads"): Case(params={"name": "a.md"}, content=b"# A\n\nAn upload."),
    ("get", "/v1/uploads"): Case(),
    ("get", "/v1/uploads/{upload_id}"): Case(),
    ("patch", "/v1/uploads/{upload_id}"): Case(
        headers={"upload-offset": "0", "content-type": "application/offset+octet-stream"},
        content=b"# ",
    ),
    ("delete", "/v1/uploads/{upload_id}"): Case(),
    ("get", "/v1/uploads/{upload_id}/events"): Case(),
    ("get", "/v1/suggestions"): Case(),
    ("post", "/v1/feedback"): Case(body={"query_id": "QUERY", "rating": 1}),
    ("get", "/v1/analytics"): Case(),
    ("post", "/v1/keys"): Case(body={"label": "another", "scopes": ["read"]}),
    ("get", "/v1/keys"): Case(),
    ("delete", "/v1/keys/{key_id}"): Case(),
    ("get", "/v1/session"): Case(),
    ("post", "/v1/session"): Case(body={"key": "none"}),
    ("delete", "/v1/session"): Case(),
    ("post", "/v1/shares"): Case(body={"collection": "COLLECTION"}),
    ("get", "/v1/shares"): Case(),
    ("delete", "/v1/shares/{share_id}"): Case(),
    ("get", "/v1/privacy"): Case(),
    ("put", "/v1/privacy"): Case(
        body={"history": "full", "retention_days": 30, "may_leave": False}
    ),
    ("get", "/v1/privacy/export"): Case(),
    ("get", "/v1/audit"): Case(),
    ("get", "/v1/service"): Case(),
    ("post", "/v1/sample"): Case(),
    ("delete", "/v1/privacy/data"): Case(),
    ("post", "/v1/privacy/purge"): Case(),
    ("post", "/v1/sessions"): Case(body={"collections": ["COLLECTION"], "documents": []}),
    ("get", "/v1/sessions"): Case(),
    ("get", "/v1/sessions/{session_id}"): Case(),
    ("patch", "/v1/sessions/{session_id}"): Case(
        body={"collections": ["COLLECTION"], "documents": []}
    ),
    ("delete", "/v1/sessions/{session_id}"): Case(),
    ("post", "/v1/sessions/{session_id}/segments"): Case(
        body={"segments": [{"start": 1.0, "end": 2.0, "text": "Said."}]}
    ),
    ("post", "/v1/sessions/{session_id}/end"): Case(),
    ("post", "/v1/sessions/{session_id}/talk"): Case(body={}),
    ("post", "/v1/sessions/{session_id}/share"): Case(body={}),
    ("get", "/v1/sessions/{session_id}/citations"): Case(),
    ("get", "/v1/sessions/{session_id}/events"): Case(),
    ("get", "/v1/sessions/{session_id}/windows/{window_index}/caption"): Case(
        params={"language": "fr"}
    ),
    ("get", "/v1/sessions/{session_id}/export"): Case(),
    ("get", "/v1/citations/{citation_id}"): Case(),
    ("get", "/v1/documents/{document_id}/explained"): Case(),
    ("post", "/v1/rag/query"): Case(
        body={"session_id": "LECTURE", "transcript_text": QUESTION, "window_index": 0}
    ),
    ("get", "/v1/models"): Case(),
    ("get", "/v1/models/{model}"): Case(),
    ("post", "/v1/embeddings"): Case(body={"model": "quoth", "input": "Bees."}),
    ("post", "/v1/chat/completions"): Case(body=CHAT),
    ("get", "/healthz"): Case(),
    ("get", "/readyz"): Case(),
    ("get", "/metrics"): Case(),
}
UNSHARED = {
    *(("get", "/v1/sessions/{session_id}/events"), ("post", "/v1/rag/query")),
    ("get", "/v1/sessions/{session_id}/windows/{window_index}/caption"),
    *(("get", "/v1/uploads/{upload_id}/events"), ("get", "/readyz"), ("get", "/metrics")),
    *(("patch", "/v1/documents/{document_id}"), ("post", "/v1/sessions/{session_id}/talk")),
    *(("get", f"/v1/documents/{{document_id}}/{part}") for part in ("pages/{page}/image", "media")),
}
"""Operations that wait for a worker or for the server around the application, need a PDF, a
recording or an uploaded file, a language model, or a session that numbers its windows otherwise."""
ABSENT = {
    "document": "0" * 24,
    "query": "q_" + "0" * 12,
    "upload": "0" * 24,
    "chunk": "0" * 24,
    "collection": "no-such-thing",
    "key": "zzzzzzzz",
    "share": "shzzzzzzzz",
    "lecture": "00000000-0000-0000-0000-000000000000",
    "talk": "00000000-0000-0000-0000-000000000000",
    "card": "00000000-0000-0000-0000-000000000000",
    "model": "quoth/no-such-thing",
}


@dataclass
class Things:
    """The ids of what one tenant has."""

    tenant: str
    key: str
    ids: dict[str, str]
    other_chunk: str


@dataclass(frozen=True)
class Position:
    """A place in an operation in which an id stands."""

    method: str
    path: str
    where: str
    name: str
    kind: str

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.where}:{self.name}"


@dataclass
class World:
    """A house with two tenants who have the same sorts of things."""

    house: House
    ada: Things
    bob: Things
    schema: dict[str, Any]


async def make_things(house: House, tenant: str, sources: Path) -> Things:
    collection = f"books-of-{tenant}"
    token = house.key(tenant)
    documents = await house.add(tenant, sources, collection=collection)
    async with house.client(token) as client:
        asked = (await client.post("/v1/query", json={**ASK, "collection": collection})).json()
        doomed = (await client.post("/v1/keys", json={"label": "x", "scopes": ["read"]})).json()
        share = (await client.post("/v1/shares", json={"collection": collection})).json()
        opened = await client.post(
            "/v1/uploads", params={"name": "a.md"}, headers={"upload-length": "9"}
        )
    cited = asked["citations"][0]
    store = Lectures(house.tenants.database, tenant=tenant)
    lecture = store.start(title="Bees", collections=[collection]).session_id
    talk = store.start(title="Honey", collections=[collection]).session_id
    store.change(talk, document_id=cited["document_id"])
    shown = replace(card(lecture, window=5), document_id=cited["document_id"])
    store.put_windows(lecture, [replace(window(lecture, 5), citations=(shown,))])
    (other,) = house.tenants.engine(tenant).parts.catalogue.chunk_ranges(
        [(next(each for each in documents if each != cited["document_id"]), 0, 0)]
    )
    ids = {
        "document": cited["document_id"],
        "chunk": cited["chunk_id"],
        "query": asked["query_id"],
        "collection": collection,
        "upload": opened.json()["id"],
        "key": find(doomed, "key_id"),
        "share": find(share, "share_id"),
        "lecture": lecture,
        "talk": talk,
        "card": shown.id,
        "model": f"quoth/{collection}",
    }
    return Things(tenant, token, ids, other.chunk_id)


def find(value: Any, name: str) -> str:
    """Find a field wherever it stands in an object."""
    if isinstance(value, dict):
        if name in value:
            return str(value[name])
        return next((found for each in value.values() if (found := find(each, name))), "")
    return ""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    sources = write_sources(tmp_path_factory.mktemp("foreign") / "sources")
    async with served(tmp_path_factory.mktemp("house")) as house:
        ada = await make_things(house, "ada", sources)
        bob = await make_things(house, "bob", sources)
        yield World(house, ada, bob, house.app.openapi())


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if not path.startswith(APART):
                yield method, path, operation


def positions(schema: dict[str, Any]) -> Iterator[Position]:
    """Every parameter and field that names a thing."""
    for method, path, operation in operations(schema):
        for each in operation.get("parameters", []):
            if each["in"] in ("path", "query") and (kind := kind_of(each["name"], each, path)):
                yield Position(method, path, each["in"], each["name"], kind)
        content = operation.get("requestBody", {}).get("content", {})
        body = content.get("application/json", {}).get("schema", {})
        for name, kind in fields_of(body, schema, path):
            yield Position(method, path, "body", name, kind)


def fields_of(
    body: dict[str, Any], schema: dict[str, Any], path: str, within: str = ""
) -> Iterator[tuple[str, str]]:
    if "$ref" in body:
        body = schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    if path in ("/v1/embeddings", "/v1/uploads"):
        return  # its model is the service's own; a page that is fetched is sent as a file is
    if path == "/v1/chat/completions" and not within:
        # The fields of another's protocol: only one of them names something here.
        yield "model", "model"
        return
    for name, about in body.get("properties", {}).items():
        if kind := kind_of(name, about, path):
            yield within + name, kind
        for each in (about, *about.get("anyOf", [])):
            if "$ref" in each:
                yield from fields_of(each, schema, path, f"{within}{name}.")


def kind_of(name: str, about: dict[str, Any], path: str) -> str | None:
    """What a parameter names; fails for a text of which nobody has said what it is."""
    if name in PLAIN or (path, name) in OWN_NAMES:
        return None
    kind = NAMED.get(name)
    kinds = json.dumps(about)
    assert kind or '"string"' not in kinds, f"say in NAMED or PLAIN what '{name}' of {path} is"
    return kind


async def test_every_operation_and_every_name_is_described(world: World) -> None:
    there = {(method, path) for method, path, _about in operations(world.schema)}
    assert there <= set(CASES)
    assert list(positions(world.schema))


async def test_what_is_foreign_looks_like_what_is_not_there(world: World) -> None:
    before = rows_of(world.house.tenants, "ada")
    async with world.house.client(world.bob.key) as client:
        for place in positions(world.schema):
            if (place.method, place.path) in OWN_NAME:
                continue
            foreign = await call(client, place, world.bob, world.ada.ids[place.kind])
            absent = await call(client, place, world.bob, ABSENT[place.kind])
            assert (foreign.status_code, absent.status_code) == (404, 404), str(place)
            assert foreign.content == absent.content, str(place)
            assert told(foreign) == told(absent), str(place)
    assert rows_of(world.house.tenants, "ada") == before


async def test_a_foreign_child_is_not_found_under_an_own_parent(world: World) -> None:
    place = Position("get", "/v1/documents/{document_id}/passages", "query", "around", "chunk")
    async with world.house.client(world.bob.key) as client:
        absent = await call(client, place, world.bob, ABSENT["chunk"])
        for child in (world.ada.ids["chunk"], world.bob.other_chunk):
            found = await call(client, place, world.bob, child)
            assert (found.status_code, found.content) == (404, absent.content)


async def test_the_owner_is_served_and_what_he_deleted_is_gone(
    world: World, tmp_path: Path
) -> None:
    before = rows_of(world.house.tenants, "ada")
    eve = await make_things(world.house, "eve", write_sources(tmp_path / "sources"))
    last = [each for each in positions(world.schema) if each.method == "delete"]
    first = [each for each in positions(world.schema) if each not in last]
    # The collection goes last, since all the others hang on it.
    last.sort(key=lambda each: each.kind == "collection")
    async with world.house.client(eve.key) as client:
        for place in (*first, *last):
            if (place.method, place.path) in UNSHARED or is_unready(place):
                continue
            found = await call(client, place, eve, eve.ids[place.kind])
            assert 200 <= found.status_code < 300, f"{place}: {found.status_code} {found.text}"
        for place in (*last, *first):
            if (place.method, place.path) in OWN_NAME or place.kind in ("key", "share", "talk"):
                # A revoked key stays in the list, so that one sees when it was, and the session
                # of a talk stays without it.
                continue
            gone = await call(client, place, eve, eve.ids[place.kind])
            absent = await call(client, place, eve, ABSENT[place.kind])
            assert (gone.status_code, gone.content) == (404, absent.content), str(place)
    assert rows_of(world.house.tenants, "ada") == before


def is_unready(place: Position) -> bool:
    """Whether it names an upload that no worker has read yet."""
    return place.kind == "upload" and place.path in ("/v1/query", "/v1/search")


async def call(
    client: httpx.AsyncClient, place: Position, mine: Things, value: str
) -> httpx.Response:
    """Call an operation as the owner does, with one id in one position."""
    case = CASES[place.method, place.path]
    ids = dict(mine.ids)
    params, body = dict(case.params), filled(deepcopy(case.body), ids)
    path = place.path.replace("{page}", "1").replace("{window_index}", "0")
    if place.where == "path":
        path = path.replace(f"{{{place.name}}}", value)
    for name, kind in NAMED.items():
        path = path.replace(f"{{{name}}}", ids[kind])
    if place.where == "query":
        params[place.name] = value
        if place.name == "after":
            params.setdefault("collection", ids["collection"])
    if place.where == "body":
        assert body is not None
        put(body, place.name, value, ids)
    elif place.path in ("/v1/query", "/v1/search") and body is not None:
        body["collection"] = ids["collection"]
    return await client.request(
        place.method,
        path,
        params=params,
        json=body,
        content=case.content,
        headers={"x-request-id": "the-same", **case.headers},
    )


def filled(body: Any, ids: dict[str, str]) -> Any:
    """Put the owner's ids where the case names them."""
    if isinstance(body, dict):
        return {name: filled(each, ids) for name, each in body.items()}
    if isinstance(body, list):
        return [filled(each, ids) for each in body]
    return ids.get(body.lower(), body) if isinstance(body, str) and body.isupper() else body


def put(body: dict[str, Any], name: str, value: str, ids: dict[str, str]) -> None:
    outer, _, inner = name.rpartition(".")
    if outer:
        body[outer] = {"collections": [ids["collection"]], inner: [value]}
    else:
        body[name] = [value] if isinstance(body.get(name), list) else value


def told(response: httpx.Response) -> dict[str, str]:
    return {name: text for name, text in response.headers.items() if name != "date"}


def rows_of(tenants: Tenants, tenant: str) -> dict[str, str]:
    """A hash of everything that the database holds of a tenant, by table."""
    found: dict[str, str] = {}
    with tenants.database.engine.connect() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(select(table).where(table.c.tenant == tenant)).mappings()
            plain = [
                {name: value for name, value in row.items() if name != "last_used"} for row in rows
            ]
            text = "\n".join(sorted(json.dumps(row, default=str, sort_keys=True) for row in plain))
            found[table.name] = sha256(text.encode()).hexdigest()
    return found

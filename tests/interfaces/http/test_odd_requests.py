"""Requests at the edges: each is refused in the one form, and the sentence says the way out."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from quoth.interfaces.http.middleware.trusted_host import MAX_HEAD_BYTES
from tests.support.service_client import served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "How does a colony stay warm in winter?"
JSON = {"content-type": "application/json"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ada(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path_factory.mktemp("odd")
    async with served(folder / "home") as house:
        await house.add("ada", write_sources(folder / "sources"))
        async with house.client(house.key("ada")) as client:
            yield client


async def original_of(ada: httpx.AsyncClient) -> str:
    [first, *_] = (await ada.get("/v1/documents")).json()["documents"]
    return f"/v1/documents/{first['document_id']}/original"


async def test_a_part_that_a_file_has_not_is_a_problem(ada: httpx.AsyncClient) -> None:
    address = await original_of(ada)
    size = len((await ada.get(address)).content)
    found = await ada.get(address, headers={"range": f"bytes={size}-"})
    assert (found.status_code, found.json()["code"]) == (416, "no_such_part")
    assert found.headers["content-range"] == f"bytes */{size}"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 422, "body.0: this is not JSON"),
        (b'{"x": 1}', 422, "x: There is no such field."),
        (b"[]", 422, "body: Send a JSON object"),
        (b'{"url": "\xff"}', 400, "UTF-8"),
        (b"[" * 100_000, 400, "nested"),
        (b'{"url": ' + b"9" * 5000 + b"}", 400, "cannot be read"),
    ],
    ids=["empty", "unknown", "list", "utf-8", "deep", "long number"],
)
async def test_json_for_an_upload_is_read_as_everywhere(
    ada: httpx.AsyncClient, body: bytes, status: int, said: str
) -> None:
    found = await ada.post("/v1/uploads", content=body, headers=JSON)
    assert found.status_code == status
    assert said in found.json()["detail"]


@pytest.mark.parametrize(
    ("rating", "status"), [("true", 422), ("1.5", 422), ('"1"', 422), ("1.0", 204)]
)
async def test_a_rating_is_a_whole_number(ada: httpx.AsyncClient, rating: str, status: int) -> None:
    key = (await ada.post("/v1/query", json={"query": QUESTION})).json()["query_id"]
    body = f'{{"query_id": "{key}", "rating": {rating}}}'
    assert (await ada.post("/v1/feedback", content=body, headers=JSON)).status_code == status


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_another_method_is_refused_in_openais_words(
    ada: httpx.AsyncClient, method: str
) -> None:
    found = await ada.request(method, "/v1/chat/completions")
    assert (found.status_code, found.headers["allow"]) == (405, "POST")
    assert found.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "sent", [{"params": {"q": "a" * MAX_HEAD_BYTES}}, {"headers": {"x-long": "a" * MAX_HEAD_BYTES}}]
)
async def test_a_head_that_is_too_long_is_refused(
    ada: httpx.AsyncClient, sent: dict[str, dict[str, str]]
) -> None:
    found = await ada.get("/healthz", **sent)  # type: ignore[arg-type]
    assert (found.status_code, found.json()["code"]) == (431, "too_large")
    assert "16 kB" in found.json()["detail"]


async def test_probes_may_ask_for_the_head_alone(ada: httpx.AsyncClient) -> None:
    found = await ada.head("/healthz")
    assert (found.status_code, found.content) == (200, b"")

"""The tools for agents, called by the official client over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from tests.support.socket_service import House, open_house, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

HONEY = {"question": "What is honey made from?", "collection": "bees"}
TOOLS = ["ask", "list_documents", "open_passage", "search"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("mcp")) as opened:
        yield opened


@asynccontextmanager
async def agent(house: House, key: str = "ada", *, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {house.keys.get(key, key)}"}
    async with httpx.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"{house.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def said(result: CallToolResult) -> str:
    """The text of a result."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


async def values(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    found: dict[str, Any] = result.structured_content
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools_only_read_and_say_what_they_give(house: House, mode: str) -> None:
    async with agent(house, mode=mode) as client:
        tools = (await client.list_tools()).tools
    assert sorted(each.name for each in tools) == TOOLS
    for each in tools:
        assert each.annotations is not None
        assert each.annotations.read_only_hint is True
        assert each.output_schema is not None
        assert each.description


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_search_then_open_then_ask(house: House, mode: str) -> None:
    async with agent(house, mode=mode) as client:
        first = (await values(client, "search", **HONEY, k=2))["passages"][0]
        assert first["document"] == "Inside the hive"
        assert first["link"] == "https://www.youtube.com/watch?v=aaaaaaaaaaa&t=5"
        passage = await values(client, "open_passage", passage_id=first["passage_id"])
        assert passage["text"] == first["text"]
        answer = await client.call_tool("ask", HONEY)
        assert answer.structured_content is not None
        cited = answer.structured_content["citations"][0]
        assert answer.structured_content["status"] == "answered"
        assert f"> {cited['snippet']}" in said(answer)
        proof = await values(client, "open_passage", passage_id=cited["passage_id"])
        assert proof["text"] == cited["snippet"]
        assert "Honey is made from nectar" in proof["text"]
        assert proof["place"] == "0:05–0:30 · Ada"
        assert cited["link"].endswith("&t=12")


async def test_links_to_files_open_their_words_in_the_web_app(house: House) -> None:
    asked = {"question": "Le miel d'acacia reste-t-il liquide ?", "collection": "default"}
    async with agent(house) as client:
        (first, *_more) = (await values(client, "search", **asked))["passages"]
        (cited, *_more) = (await values(client, "ask", **asked))["citations"]
        opened = await values(client, "open_passage", passage_id=cited["passage_id"])
        listed = (await values(client, "list_documents"))["documents"]
    page = f"{house.url}/d/{first['document_id']}"
    assert re.fullmatch(rf"{re.escape(page)}\?start=\d+&end=\d+", first["link"])
    start, end = cited["passage_id"].partition(":")[2].split("-")
    assert cited["link"] == opened["link"] == f"{page}?start={start}&end={end}"
    assert page in [each["link"] for each in listed]


async def test_a_follow_up_is_read_with_the_turns_before_it(house: House) -> None:
    earlier = [{"question": "What does a strong colony need until spring?", "answer": "Honey."}]
    async with agent(house) as client:
        found = await values(
            client, "ask", question="How much of it?", collection="bees", history=earlier
        )
    assert "kilograms" in found["answer"]


async def test_no_result_holds_a_path_of_the_server(house: House) -> None:
    root = str(house.tenants.settings.home.parent)
    async with agent(house) as client:
        results = [
            await client.call_tool("search", HONEY),
            await client.call_tool("ask", {**HONEY, "question": "When does a colony swarm?"}),
            await client.call_tool("list_documents", {"collection": "bees"}),
        ]
    for each in results:
        text = each.model_dump_json()
        assert root not in text
        assert "file:" not in text


async def test_each_request_reaches_its_callers_documents_alone(house: House) -> None:
    async with agent(house, "bob") as bob:
        secret = (await values(bob, "search", question="Where does the canary sing?"))["passages"]
        assert (await values(bob, "list_documents"))["collections"] == ["default"]
    foreign = {"passage_id": secret[0]["passage_id"]}
    async with agent(house) as ada, agent(house, "guest") as guest:
        absent = await ada.call_tool("open_passage", {"passage_id": "0" * 24})
        for client in (ada, guest):
            assert await client.call_tool("open_passage", foreign) == absent
            found = await client.call_tool("ask", {"question": "Where does the canary sing?"})
            assert "cellar" not in found.model_dump_json()


async def test_a_share_reaches_its_collection_alone(house: House) -> None:
    async with agent(house) as ada, agent(house, "guest") as guest:
        french = {"question": "Le miel d'acacia reste-t-il liquide ?", "collection": "default"}
        inside = (await values(ada, "search", **french))["passages"][0]
        assert (await values(guest, "list_documents"))["collections"] == ["bees"]
        refused = await guest.call_tool("search", french)
        assert refused.is_error
        unknown = await guest.call_tool("search", {**french, "collection": "nowhere"})
        assert said(refused) == said(unknown)
        kept = await guest.call_tool("open_passage", {"passage_id": inside["passage_id"]})
        absent = await guest.call_tool("open_passage", {"passage_id": "0" * 24})
        assert kept == absent
        assert (await values(guest, "search", question=HONEY["question"]))["passages"]


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("search", {"question": "What is honey?", "k": 21}, "k:"),
        ("search", {"question": "x" * 1001}, "question:"),
        ("search", {"question": "hi"}, "at least 3"),
        ("search", {**HONEY, "filter": ["page=1"], "top_k": 1}, "no argument filter, top_k;"),
        ("search", {"question": "What is honey?", "filters": ["nonsense"]}, "nonsense"),
        ("ask", {}, "question:"),
        ("ask", {**HONEY, "history": [{"question": "a", "role": "system"}]}, "history"),
        ("ask", {**HONEY, "collection": "nowhere"}, "no such collection"),
        ("open_passage", {"passage_id": "../../../etc/passwd"}, "no passage"),
        ("open_passage", {"passage_id": f"{'0' * 24}:5-1"}, "no passage"),
        ("open_passage", {"passage_id": "0" * 24, "around": 6}, "around:"),
        ("list_documents", {"limit": 101}, "limit:"),
        ("list_documents", {"offset": -1}, "offset:"),
    ],
)
async def test_what_goes_wrong_is_told_in_a_sentence(
    house: House, tool: str, arguments: dict[str, Any], word: str
) -> None:
    async with agent(house) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert word in said(result)
    assert "Traceback" not in said(result)
    assert "pydantic" not in said(result)


async def test_the_door_wants_a_key_and_takes_any_name_that_the_gate_takes(house: House) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(headers=accept) as http:
        assert (await http.post(f"{house.url}/mcp", json=body)).status_code == 401
        http.headers["Authorization"] = f"Bearer {house.keys['ada']}"
        named = {"Host": "quoth.example", "Origin": "https://quoth.example"}
        found = await http.post(f"{house.url}/mcp", json=body, headers=named)
        assert found.status_code == 200
        assert len(found.json()["result"]["tools"]) == len(TOOLS)
        assert (await http.get(f"{house.url}/mcp")).status_code == 405
        assert (await http.delete(f"{house.url}/mcp")).status_code == 405
        broken = await http.post(f"{house.url}/mcp", content=b"{", headers=accept)
        assert broken.status_code < 500


async def test_behind_the_gate_the_protocol_works_and_a_wrong_key_opens_nothing(
    house: House,
) -> None:
    own = {"tenant": "ada", "hosts": "", "keys_needed": "never"}
    settings = house.tenants.settings.model_copy(update=own)
    async with serving(house.tenants, settings=settings) as url:
        async with Client(f"{url}/mcp") as client:
            found = await values(client, "ask", **HONEY)
            assert found["status"] == "answered"
        async with httpx.AsyncClient() as http:
            unread = await http.post(f"{url}/mcp", content=b"{}")
            assert (unread.status_code, unread.json()["code"]) == (400, "invalid_input")
        headers = {"Authorization": f"Bearer qth_{'a' * 8}_{'b' * 43}"}
        async with httpx.AsyncClient(headers=headers) as http:
            refused = await http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1})
        assert refused.status_code == 401

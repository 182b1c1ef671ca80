"""Live sessions over HTTP and WebSocket: segments in, citations out, a share only follows."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from quoth.core.lecture import Lecture
from quoth.interfaces.http.live_sessions import RunningSessions
from quoth.interfaces.http.responses import to_json
from quoth.pipeline.components import Components
from quoth.pipeline.live_session import LiveSession
from quoth.store.document_list import DocumentLists
from quoth.store.lectures import Lectures
from quoth.testing import ScriptedGenerator
from tests.support.lectures import TOPICS, spoken, write_book
from tests.support.service_client import House, listening, served

TITLES = ("Queens", "Wax", "Dances", "Mites", "Honey", "Drones", "Winter", "Pollen", "Stings")


def _segments(*titles: str) -> dict[str, Any]:
    rows = [json.loads(to_json(_plain(each))) for each in spoken(*titles)]
    return {"segments": rows}


def _plain(segment: Any) -> dict[str, Any]:
    return {"segment_id": segment.segment_id, "start": segment.start, "end": segment.end,
            "text": segment.text}  # fmt: skip


async def _started(client: httpx.AsyncClient) -> str:
    made = await client.post("/v1/sessions", json={"title": "Bees", "collections": ["default"]})
    assert made.status_code == 201, made.text
    return str(made.json()["session_id"])


async def _with_book(house: House, tmp_path: Path) -> str:
    await house.add("ada", write_book(tmp_path / "sources"))
    return house.key("ada")


async def test_a_lecture_is_asked_while_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        served(tmp_path / "home") as house,
        house.client(await _with_book(house, tmp_path)) as client,
    ):
        session = f"/v1/sessions/{await _started(client)}"
        nothing = await client.post(f"{session}/talk", json={})
        assert nothing.status_code == 409
        of_session = {"sessions": [session.rpartition("/")[2]]}
        early = await client.post("/v1/query", json={"query": TOPICS["Mites"], "scope": of_session})
        assert early.status_code == 409
        await client.post(f"{session}/segments", json=_segments(*TITLES[:3]))
        cited = await client.post(f"{session}/talk", json={"collection": "default"})
        assert cited.status_code == 409
        first = (await client.post(f"{session}/talk", json={})).json()["document_id"]
        assert first in {each["document_id"] for each in await _talks(client)}
        for own in ({"collections": ["talks"]}, {"documents": [first]}):
            assert (await client.patch(session, json=own)).status_code == 409
        await client.post(f"{session}/segments", json=_segments(*TITLES[:5]))
        second = (await client.post(f"{session}/talk", json={})).json()["document_id"]
        assert [each["document_id"] for each in await _talks(client)] == [second] != [first]
        asked = {"query": TOPICS["Mites"], "filters": {"document": second}}
        answer = await client.post("/v1/query", json={**asked, "collection": "talks"})
        scoped = {"query": TOPICS["Mites"], "scope": of_session, "contextWindowSize": 0}
        within = (await client.post("/v1/query", json=scoped)).json()["citations"]
        assert {each["document_id"] for each in within} == {second}
        [book, *_] = (await client.get("/v1/documents")).json()["documents"]
        both = {**of_session, "documents": [book["document_id"]]}
        wide = {"query": TOPICS["Mites"], "scope": both, "top_k": 20}
        among = await client.post("/v1/search", json=wide)
        assert among.status_code == 200, among.text
        assert book["document_id"] in {each["document_id"] for each in among.json()["hits"]}
        other = {**both, "documents": ["d_none"]}
        assert (await client.post("/v1/query", json={**wide, "scope": other})).status_code == 404
        with monkeypatch.context() as patched:
            patched.setattr(DocumentLists, "all_there", lambda *_, **__: False)
            unread = await client.post("/v1/query", json=scoped)
            assert (unread.status_code, "still being read" in unread.text) == (409, True)
        [citation, *_] = answer.json()["citations"]
        assert TOPICS["Mites"] in citation["snippet"]
        assert citation["document_id"] == second
        query = answer.json()["query_id"]
        await client.post(f"{session}/segments", json=_segments(*TITLES))
        ended = (await client.post(f"{session}/end")).json()["document_id"]
        [talk] = await _talks(client)
        assert talk["document_id"] == ended != second
        read = await client.get(f"/v1/documents/{ended}/reading")
        assert TOPICS["Stings"] in read.text
        # The talk has grown: what was cited of it before is opened in it.
        span = {"start": citation["snippet_start"], "end": citation["snippet_end"]}
        opened = await client.get(f"/v1/documents/{second}/reading", params=span)
        assert opened.json()["document_id"] == ended
        assert opened.json()["span"] == span
        assert (await client.get(f"/v1/documents/{first}")).json() == talk
        stored = (await client.get(f"/v1/queries/{query}")).json()
        assert stored["changed"] == []


async def test_a_share_learns_nothing_of_sessions_outside_its_collection(tmp_path: Path) -> None:
    async with (
        served(tmp_path / "home") as house,
        house.client(await _with_book(house, tmp_path)) as client,
    ):
        session = await _started(client)
        await client.post(f"/v1/sessions/{session}/segments", json=_segments(*TITLES[:3]))

        async def shared(name: str) -> str:
            made = await client.post("/v1/shares", json={"collection": name})
            return str(made.json()["token"])

        async def asked(key: str, session_id: str) -> tuple[int, str]:
            body = {"query": TOPICS["Mites"], "scope": {"sessions": [session_id]}}
            async with house.client(key) as guest:
                answer = await guest.post("/v1/query", json=body, headers={"x-request-id": "same"})
            return answer.status_code, answer.text.replace(session_id, "ID")

        of_book = await shared("default")
        unknown = await asked(of_book, "no-session")
        assert unknown[0] == 404
        assert await asked(of_book, session) == unknown
        assert (await client.post(f"/v1/sessions/{session}/talk", json={})).is_success
        assert await asked(of_book, session) == unknown
        assert (await asked(await shared("talks"), session))[0] == 200


async def _talks(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    listed = await client.get("/v1/documents", params={"collection": "talks"})
    documents: list[dict[str, Any]] = listed.json()["documents"]
    return documents


async def test_a_session_from_its_start_to_its_export(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        key = await _with_book(house, tmp_path)
        async with house.client(key) as client:
            session = await _started(client)
            sent = await client.post(f"/v1/sessions/{session}/segments", json=_segments(*TITLES))
            assert (sent.status_code, sent.json()) == (202, {"accepted": len(TITLES)})
            again = await client.post(f"/v1/sessions/{session}/segments", json=_segments("Queens"))
            assert again.json() == {"accepted": 0}
            ended = await client.post(f"/v1/sessions/{session}/end")
            assert ended.json()["state"] == "ended"
            listed = (await client.get(f"/api/v1/sessions/{session}/citations")).json()["citations"]
            assert listed
            card = (await client.get(f"/v1/citations/{listed[0]['id']}")).json()
            assert card["snippet"] in card["full_chunk_text"]
            assert card["session_id"] == session
            events = (await client.get(f"/v1/sessions/{session}/events")).text
            ids = [int(line[4:]) for line in events.split("\n") if line.startswith("id: ")]
            assert ids == sorted(set(ids))
            for name in ("segment", "window", "citations", "end"):
                assert f"event: {name}\n" in events
            rest = await client.get(
                f"/v1/sessions/{session}/events", headers={"last-event-id": str(ids[-2])}
            )
            assert rest.text.count("id: ") == 1
            late = await client.post(f"/v1/sessions/{session}/segments", json=_segments("Law"))
            assert late.status_code == 409
            for form, begins in (("vtt", "WEBVTT"), ("md", "# Bees"), ("html", "<!doctype html>")):
                found = await client.get(f"/v1/sessions/{session}/export", params={"format": form})
                assert found.text.startswith(begins)
                assert TOPICS["Honey"] in found.text
                assert re.search(r"\[\d+\]", found.text)
            where = f"/v1/documents/{card['document_id']}/explained"
            moments = (await client.get(where)).json()["moments"]
            assert {each["address"] for each in moments} == {f"/live/{session}"}
            kept = await client.post(f"/v1/sessions/{session}/talk", json={"collection": "talks"})
            talk = kept.json()["document_id"]
            again = await client.post(f"/v1/sessions/{session}/talk", json={"collection": "talks"})
            assert again.json()["document_id"] == talk
            for moment in (await client.get(where)).json()["moments"]:
                path, _, query = moment["address"].partition("?")
                assert path == f"/d/{talk}"
                read = await client.get(f"/v1/documents/{talk}/reading?{query}")
                [first, *_] = [
                    block
                    for block in read.json()["blocks"]
                    if block["end"] > read.json()["span"]["start"]
                ]
                assert first["locator"]["start"] <= moment["start"] < first["locator"]["end"]
            shown = (await client.get(f"/v1/sessions/{session}")).json()
            assert len(shown["segments"]) == len(TITLES)
            assert (await client.delete(f"/v1/sessions/{session}")).status_code == 204
            watched = await _started(client)
            following = asyncio.create_task(client.get(f"/v1/sessions/{watched}/events"))
            await asyncio.sleep(0.2)
            assert (await client.delete(f"/v1/sessions/{watched}")).status_code == 204
            assert (await asyncio.wait_for(following, 10)).status_code == 200
            assert (await client.get(f"/v1/sessions/{session}")).status_code == 404


async def test_a_session_that_another_process_runs_is_shown(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        key = await _with_book(house, tmp_path)
        async with house.client(key) as client:
            session = await _started(client)
            shown = (await client.get(f"/v1/sessions/{session}")).json()
            assert (shown["session"]["state"], shown["segments"]) == ("open", [])
            other = LiveSession(
                parts := house.tenants.engine("ada").parts, lecture_of(parts, session)
            )
            await other.push(spoken("Honey"))
            await other.end()
            await other.stop()
            shown = (await client.get(f"/v1/sessions/{session}")).json()
            assert (shown["session"]["state"], len(shown["segments"])) == ("ended", 1)


def lecture_of(parts: Components, session_id: str) -> Lecture:
    return Lectures.of(parts.catalogue).lecture(session_id)


async def test_the_lecture_route_of_a_caller_that_numbers_windows(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        key = await _with_book(house, tmp_path)
        async with house.client(key) as client:
            session = await _started(client)
            asked = {"session_id": session, "transcript_text": spoken("Honey")[0].text}
            first = await client.post("/api/v1/rag/query", json={**asked, "window_index": 3})
            assert first.status_code == 200, first.text
            assert first.json()["window_index"] == 3
            assert set(first.json()["query_metadata"]) == {
                *("keywords", "expanded_concepts", "processing_time_ms"),
            }
            same = await client.post("/v1/rag/query", json={**asked, "window_index": 3})
            assert same.json()["citations"] == first.json()["citations"]
            other = {**asked, "transcript_text": "Another text.", "window_index": 3}
            refused = await client.post("/v1/rag/query", json=other)
            assert refused.status_code == 409
            at_once = [
                {**asked, "transcript_text": each.text, "window_index": 4}
                for each in spoken("Wax", "Wax", "Mites")
            ]
            sent = (client.post("/v1/rag/query", json=each) for each in at_once)
            told = [reply.status_code for reply in await asyncio.gather(*sent)]
            assert sorted(told) in ([200, 200, 409], [200, 409, 409])
            events = (await client.get(f"/v1/sessions/{session}")).json()["windows"]
            assert [each["index"] for each in events] == [3, 4]
            assert "another text before" in refused.json()["detail"]
            mixed = await client.post(f"/v1/sessions/{session}/segments", json=_segments("Wax"))
            assert mixed.status_code == 409


async def test_a_share_follows_one_session_and_nothing_else(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        key = await _with_book(house, tmp_path)
        async with house.client(key) as client:
            session, other = await _started(client), await _started(client)
            made = await client.post(f"/v1/sessions/{session}/share", json={"expires_days": 1})
        async with house.client(made.json()["token"]) as viewer:
            assert (await viewer.get(f"/v1/sessions/{session}")).status_code == 200
            assert (await viewer.get(f"/v1/sessions/{session}/citations")).status_code == 200
            assert (await viewer.get(f"/v1/sessions/{other}")).status_code == 404
            for refused in (
                viewer.post(f"/v1/sessions/{session}/segments", json=_segments("Wax")),
                viewer.post(f"/v1/sessions/{session}/end"),
                viewer.get("/v1/sessions"),
                viewer.get("/v1/documents"),
                viewer.post("/v1/query", json={"query": "What is wax?"}),
            ):
                assert (await refused).status_code == 403
        # A browser exchanges the token for a cookie, as the page of the live view does.
        async with house.client("") as browser:
            entered = await browser.post("/v1/session", json={"key": made.json()["token"]})
            assert (entered.status_code, entered.json()["scopes"]) == (201, [])
            assert (await browser.get(f"/v1/sessions/{session}")).status_code == 200
            assert (await browser.get(f"/v1/sessions/{other}")).status_code == 404
        async with house.client(house.key("ada", scopes=("read",))) as reader:
            assert (await reader.get(f"/v1/sessions/{session}")).status_code == 200
            assert (await reader.post("/v1/sessions", json={})).status_code == 403


async def test_single_documents_are_attached_and_must_be_there(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        key = await _with_book(house, tmp_path)
        async with house.client(key) as client:
            [book] = (await client.get("/v1/documents")).json()["documents"]
            for unknown in ({"documents": ["a" * 32]}, {"collections": ["bees"]}):
                assert (await client.post("/v1/sessions", json=unknown)).status_code == 404
            query = {"name": "bees.md", "collection": "bees"}  # on its way from here on
            assert (await client.post("/v1/uploads", params=query, content=b"# Wax")).is_success
            early = await client.post("/v1/sessions", json={"collections": ["bees"]})
            assert early.status_code == 201, early.text
            made = await client.post("/v1/sessions", json={"documents": [book["document_id"]]})
            assert made.json()["documents"] == [book["document_id"]]
            path = f"/v1/sessions/{made.json()['session_id']}"
            await client.post(f"{path}/segments", json=_segments(*TITLES))
            await client.post(f"{path}/end")
            first = (await client.get("/v1/sessions", params={"limit": 1})).json()
            assert (len(first["sessions"]), first["total"]) == (1, 2)
            cards = (await client.get(f"{path}/citations")).json()["citations"]
            assert {each["document_id"] for each in cards} == {book["document_id"]}
            await client.delete(f"/v1/documents/{book['document_id']}")
            kept = await client.patch(
                path, json={"title": "Bees", "documents": [book["document_id"]]}
            )
            assert kept.json()["documents"] == [book["document_id"]]
            changed = await client.patch(path, json={"documents": []})
            assert changed.json()["documents"] == []


@pytest.mark.parametrize(
    "segment",
    [
        {"start": -1, "end": 2, "text": "x"},
        {"start": 5, "end": 2, "text": "x"},
        {"start": 1e12, "end": 1e12, "text": "x"},
        {"start": 0, "text": "x"},
        {"start": 0, "end": 1, "text": "x", "unknown": 1},
    ],
)
async def test_bad_segments_are_refused(tmp_path: Path, segment: dict[str, Any]) -> None:
    async with served(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        made = await client.post("/v1/sessions", json={})
        session = made.json()["session_id"]
        path = f"/v1/sessions/{session}/segments"
        sent = await client.post(path, json={"segments": [segment]})
        assert sent.status_code == 422, sent.text
        before = await client.post("/v1/sessions/none/segments", json=_segments("Wax"))
        assert before.status_code == 404


@pytest.mark.soak
def test_segments_and_events_on_one_websocket(tmp_path: Path) -> None:
    async def prepare(house: House) -> str:
        return await _with_book(house, tmp_path)

    with listening(tmp_path / "home", prepare) as (address, key, _house):
        headers = {"authorization": f"Bearer {key}"}
        made = httpx.post(f"{address}/v1/sessions", json={"collections": ["default"]},
                          headers=headers, timeout=90)  # fmt: skip
        url = f"{address.replace('http', 'ws')}/v1/sessions/{made.json()['session_id']}/socket"
        names: list[str] = []
        with connect(url, additional_headers=headers) as socket:
            socket.send('{"start": 3, "end": 1, "text": "backwards"}')
            socket.send(json.dumps(_segments(*TITLES)))
            socket.send('{"end": true}')
            while "end" not in names:
                names.append(json.loads(socket.recv(timeout=90))["event"])
        made = httpx.post(f"{address}/v1/sessions", json={}, headers=headers, timeout=90)
        url = f"{address.replace('http', 'ws')}/v1/sessions/{made.json()['session_id']}/socket"
        said = {"user_id": 1, "user_name": "Ada", "data": "Wax.", "timestamp": 1.79e12}
        with connect(f"{url}?format=zoom", additional_headers=headers) as socket:
            socket.send(json.dumps({"msg_type": 17, "content": said}))
            answers = [json.loads(socket.recv(timeout=90)) for _ in range(2)]
        assert {each["event"] for each in answers} == {"accepted", "segment"}
        with pytest.raises(InvalidStatus), connect(f"{url}?format=x", additional_headers=headers):
            pass
        assert {"error", "accepted", "segment", "window", "citations"} <= set(names)
        assert names.count("segment") == len(TITLES)


async def test_captions_are_translated_once_and_an_audience_has_the_open_languages(
    tmp_path: Path,
) -> None:
    async with served(tmp_path / "home") as house:
        key = await _with_book(house, tmp_path)
        async with house.client(key) as client:
            session = await _started(client)
            await client.post(f"/v1/sessions/{session}/segments", json=_segments(*TITLES))
            await client.post(f"/v1/sessions/{session}/end")
            where = f"/v1/sessions/{session}/windows/0/caption"
            without = await client.get(where, params={"language": "fr"})
            assert (without.status_code, "QUOTH_GENERATOR" in without.text) == (422, True)
            engine = house.tenants.engine("ada")
            model = ScriptedGenerator("Une ruche\n", "a une reine.")
            engine.parts = replace(engine.parts, generator=model)
            house.app.state.live = RunningSessions()  # as after a restart
            made = await client.post(f"/v1/sessions/{session}/share", json={"expires_days": 1})
            async with house.client(made.json()["token"]) as viewer:
                assert (await viewer.get(where, params={"language": "fr"})).status_code == 404
                both = (client.get(where, params={"language": "fr"}) for _ in range(2))
                for found in await asyncio.gather(*both):
                    assert found.json() == {
                        "window_index": 0,
                        "language": "fr",
                        "text": "Une ruche a une reine.",
                        "model": "scripted:script",
                    }
                assert (await viewer.get(where, params={"language": "fr"})).status_code == 200
                ((instructions, spoken_text),) = model.told
                assert "into French" in instructions.text
                assert TOPICS["Queens"] in spoken_text.text
                assert (await viewer.get(where, params={"language": "de"})).status_code == 404
            for path, language, status in (
                (where, "xx", 422),
                (where.replace("/0/", "/9000/"), "fr", 404),
            ):
                assert (await client.get(path, params={"language": language})).status_code == status

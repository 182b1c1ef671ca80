"""Routes of the library page: corrected metadata, a new index, the sample, the audit log."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.support.service_client import House, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    sources = write_sources(tmp_path_factory.mktemp("changes") / "sources")
    async with served(tmp_path_factory.mktemp("house"), audit=True) as opened:
        await opened.add("ada", sources / "notes.md")
        yield opened


async def test_metadata_of_an_upload_is_corrected_and_stays_one_document(
    ada: httpx.AsyncClient, house: House
) -> None:
    text = b"# Wasps\n\nWasps make paper from wood.\n"
    about = {"name": "wasps.md", "collection": "more", "sidecar": '{"date": 2023}'}
    upload = (await ada.post("/v1/uploads", params=about, content=text)).json()
    async with house.working():
        await ada.get(f"/v1/uploads/{upload['id']}/events")  # ends with the upload
    listed = {"collection": "more"}
    (before,) = (await ada.get("/v1/documents", params=listed)).json()["documents"]
    assert before["date"] == "2023"
    path = f"/v1/documents/{before['document_id']}"
    changes = {"title": "On wasps", "speaker": "A. Person", "date": "March 2024"}
    answer = await ada.patch(path, json=changes)
    assert answer.status_code == 200, answer.text
    corrected = answer.json()
    assert (corrected["title"], corrected["speaker"]) == ("On wasps", "A. Person")
    assert corrected["date"] == "2024-03"
    (after,) = (await ada.get("/v1/documents", params=listed)).json()["documents"]
    assert after["document_id"] == corrected["document_id"] != before["document_id"]
    assert (await ada.get(f"/v1/documents/{after['document_id']}/original")).content == text
    assert (await ada.get(path)).json() == corrected
    for change in (ada.delete(path), ada.patch(path, json={"title": "On wasps"})):
        assert (await change).status_code == 404
    wrong = await ada.patch(f"/v1/documents/{after['document_id']}", json={"date": "2023-02-29"})
    assert (wrong.status_code, "is not a date" in wrong.text) == (422, True)
    back = (await ada.patch(f"/v1/documents/{after['document_id']}", json={"speaker": ""})).json()
    assert (back["title"], back["speaker"], back["date"]) == ("On wasps", None, "2024-03")
    followed = (await ada.get(f"/v1/uploads/{upload['id']}")).json()
    assert (followed["state"], followed["document_id"]) == ("ready", back["document_id"])
    ask = {"query": "What do wasps make?", "upload_id": upload["id"]}
    assert "paper" in (await ada.post("/v1/query", json=ask)).json()["text"]
    async with house.working():
        for title in ("Wasps", None):  # another than the document has by now, and none
            given = {**about, **({"title": title} if title else {})}
            sent = (await ada.post("/v1/uploads", params=given, content=text)).json()
            await ada.get(f"/v1/uploads/{sent['id']}/events")
        (again,) = (await ada.get("/v1/documents", params=listed)).json()["documents"]
        assert again["title"] == "Wasps"
        await ada.patch(f"/v1/documents/{again['document_id']}", json={"title": "Hornets"})
        given = {**about, "title": "Wasps"}
        sent = await ada.post("/v1/uploads", params=given, content=text)
        assert (sent.status_code, sent.json()["state"]) == (202, "queued")
        done = (await ada.get(f"/v1/uploads/{sent.json()['id']}/events")).text
    (again,) = (await ada.get("/v1/documents", params=listed)).json()["documents"]
    assert again["title"] == "Wasps"
    assert again["document_id"] in done


async def test_custom_metadata_come_with_an_upload_are_changed_in_place_and_filter(
    ada: httpx.AsyncClient, house: House
) -> None:
    text = b"# Hornets\n\nHornets make paper from wood.\n"
    about = {"name": "hornets.md", "collection": "own", "metadata": '{"team": "legal"}'}
    async with house.working():
        for metadata in (about["metadata"], '{"team": "sales", "year": 2024}'):
            given = {**about, "metadata": metadata}
            upload = (await ada.post("/v1/uploads", params=given, content=text)).json()
            await ada.get(f"/v1/uploads/{upload['id']}/events")  # ends with the upload
    (stored,) = (await ada.get("/v1/documents", params={"collection": "own"})).json()["documents"]
    assert stored["metadata"] == {"team": "sales", "year": 2024}
    for value, count in ((2024, 1), (2024.0, 1), (2023, 0), ("2020..2024", 1)):
        asked = {"query": "What do hornets make?", "collection": "own"}
        numbered = await ada.post("/v1/search", json={**asked, "filters": {"meta.year": value}})
        assert len(numbered.json()["hits"]) == count
    path = f"/v1/documents/{stored['document_id']}"
    changed = (await ada.patch(path, json={"metadata": {"tags": ["wasps", "wood"]}})).json()
    assert changed == {**stored, "metadata": {"tags": ["wasps", "wood"]}}
    query = {"query": "What do hornets make?", "collection": "own"}
    for value, count in (("wood", 1), ("stone", 0)):
        asked = {**query, "filters": {"meta.tags": value}}
        assert len((await ada.post("/v1/search", json=asked)).json()["hits"]) == count
    unknown = await ada.post("/v1/search", json={**query, "filters": {"meta.team": "legal"}})
    assert unknown.status_code == 422
    assert "There are: tags." in unknown.json()["detail"]
    for _ in range(2):
        back = await ada.post("/v1/uploads", params=about, content=text)
        assert back.status_code == 200
        added = {"tags": ["wasps", "wood"], "team": "legal"}
        assert (await ada.get(path)).json()["metadata"] == added
    both = await ada.patch(path, json={"title": "Other", "metadata": {"1": "x"}})
    assert both.status_code == 422
    assert (await ada.get(path)).json()["title"] == stored["title"]
    for wrong in ("no object", '{"1": "a"}', '{"a": {}}'):
        sent = await ada.post("/v1/uploads", params={**about, "metadata": wrong}, content=text)
        assert sent.status_code == 422


async def test_a_file_on_the_disk_is_not_changed_with_a_key(ada: httpx.AsyncClient) -> None:
    documents = (await ada.get("/v1/documents")).json()["documents"]
    answer = await ada.patch(
        f"/v1/documents/{documents[0]['document_id']}", json={"title": "Another"}
    )
    assert answer.status_code == 403
    assert "quoth set" in answer.json()["detail"]


@pytest.mark.parametrize("wrong", [{"url": "javascript:x"}, {"language": "?"}, {"place": "x"}])
async def test_values_that_are_none_are_refused(
    ada: httpx.AsyncClient, wrong: dict[str, str]
) -> None:
    answer = await ada.patch("/v1/documents/" + "0" * 24, json=wrong)
    assert answer.status_code == 422


async def test_an_index_is_rebuilt_with_progress(ada: httpx.AsyncClient) -> None:
    before = (await ada.get("/v1/collections/default")).json()
    stream = (await ada.post("/v1/collections/default/reindex")).text
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]
    assert events[-1]["event"] == "done"
    assert events[-1]["documents"] == events[-1]["of_documents"] == before["documents"]
    after = (await ada.get("/v1/collections/default")).json()
    assert after["index_version"] != before["index_version"]
    found = await ada.post("/v1/search", json={"query": "honey bees"})
    assert found.json()["hits"]
    assert (await ada.post("/v1/collections/none/reindex")).status_code == 404


async def test_documents_and_questions_are_found_by_words(ada: httpx.AsyncClient) -> None:
    known = (await ada.get("/v1/documents")).json()["documents"][0]["title"]
    word = known.split()[0].upper()
    found = (await ada.get("/v1/documents", params={"words": word})).json()
    assert found["total"] == 1
    assert (await ada.get("/v1/documents", params={"words": f"{word} zzz"})).json()["total"] == 0
    assert (await ada.get("/v1/documents", params={"words": "%"})).json()["total"] == 0
    await ada.post("/v1/query", json={"query": "Which insect makes honey?"})
    await ada.post("/v1/query", json={"query": "Which insect stings only once?"})
    asked = (await ada.get("/v1/queries", params={"words": "INSECT once"})).json()["queries"]
    assert [each["text"] for each in asked] == ["Which insect stings only once?"]


async def test_a_question_is_replayed_and_not_stored(ada: httpx.AsyncClient) -> None:
    answer = (await ada.post("/v1/query", json={"query": "Which insect makes wax?"})).json()
    replayed = await ada.post(f"/v1/queries/{answer['query_id']}/replay")
    assert replayed.json()["same"] is True
    assert replayed.json()["text_same"] is True
    newest = (await ada.get("/v1/queries", params={"limit": 1})).json()["queries"]
    assert newest[0]["query_id"] == answer["query_id"]


async def test_the_sample_is_one_request_away(house: House) -> None:
    async with house.client(house.key("bob")) as bob:
        assert (await bob.get("/v1/service")).json()["sample"] is True
        added = await bob.post("/v1/sample")
        files = added.json()["files"]
        assert added.status_code == 202
        assert files >= 10
        queued = (await bob.get("/v1/uploads", params={"state": "queued"})).json()["total"]
        assert queued == files
        assert (await bob.post("/v1/sample")).status_code == 202
        assert (await bob.get("/v1/uploads")).json()["total"] == files


async def test_the_audit_log_is_for_admins_of_the_tenant(house: House) -> None:
    async with house.client(house.key("carol")) as carol:
        await carol.post("/v1/query", json={"query": "Where is the queen?"})
        rows = (await carol.get("/v1/audit")).json()["rows"]
        assert "ask" in {each["action"] for each in rows}
        older = (await carol.get("/v1/audit", params={"before": rows[0]["number"]})).json()["rows"]
        assert all(each["number"] < rows[0]["number"] for each in older)
    async with house.client(house.key("carol", scopes=("read",))) as reader:
        assert (await reader.get("/v1/audit")).status_code == 403


async def test_the_player_of_youtube_is_a_page_of_its_own_with_its_own_policy(
    house: House, tmp_path: Path
) -> None:
    async with house.client("") as nobody:
        assert (await nobody.get("/youtube/dQw4w9WgXcQ")).status_code == 404
    async with served(tmp_path, youtube_player=True) as open_house, open_house.client("") as page:
        answer = await page.get("/youtube/dQw4w9WgXcQ?start=43")
        assert "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?start=43" in answer.text
        policy = answer.headers["content-security-policy"]
        assert "frame-src https://www.youtube-nocookie.com" in policy
        assert "script-src" not in policy
        assert "youtube" not in (await page.get("/")).headers["content-security-policy"]
        for wrong in ("dQw4w9WgXc", 'a"onload=x()', "dQw4w9WgXcQ?start=x"):
            assert (await page.get(f"/youtube/{wrong}")).status_code in (404, 422)
        reader = (await page.get("/pdf/d1")).headers["content-security-policy"]
        assert "'wasm-unsafe-eval'" in reader
        assert (
            "'wasm-unsafe-eval'" not in (await page.get("/d/d1")).headers["content-security-policy"]
        )

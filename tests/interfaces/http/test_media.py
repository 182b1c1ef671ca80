"""Original files and recordings: sent in ranges, hashed once, kept by their reader's browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quoth.ingest.sources.files import fingerprint
from quoth.interfaces.http import originals
from quoth.pipeline.uploads import keep_data
from quoth.store.blobs import source_of
from tests.support.made_documents import entry
from tests.support.service_client import House, served
from tests.support.small_library import TALK

pytestmark = pytest.mark.asyncio(loop_scope="module")
SOUND = bytes(range(256)) * 40


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with served(tmp_path_factory.mktemp("house")) as opened:
        yield opened


def write_talk(file: Path) -> None:
    """Write a talk that no other test has added."""
    text = TALK.replace("queen", f"queen named {file.parent.name} {file.name}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


async def add(house: House, file: Path) -> str:
    write_talk(file)
    (added,) = await house.add("ada", file)
    return f"/v1/documents/{added}"


@pytest.mark.parametrize(
    ("transcript", "recording", "media_type"),
    [
        ("talk.srt", "talk.mp4", "video/mp4"),
        ("talk.en.srt", "talk.MP3", "audio/mpeg"),
        ("talk.en.srt", "talk.en.webm", "video/webm"),
    ],
)
async def test_a_recording_beside_its_transcript_plays_in_ranges(
    ada: httpx.AsyncClient,
    house: House,
    tmp_path: Path,
    transcript: str,
    recording: str,
    media_type: str,
) -> None:
    (tmp_path / recording).write_bytes(SOUND)
    talk = await add(house, tmp_path / transcript)
    whole = await ada.get(f"{talk}/media")
    assert (whole.status_code, whole.content) == (200, SOUND)
    assert whole.headers["content-type"] == media_type
    assert whole.headers["cache-control"] == "private, max-age=600"
    part = await ada.get(f"{talk}/media", headers={"range": "bytes=300-399"})
    assert (part.status_code, part.content) == (206, SOUND[300:400])
    beyond = await ada.get(f"{talk}/media", headers={"range": "bytes=99999-"})
    assert beyond.status_code == 416
    same = await ada.get(f"{talk}/media", headers={"if-none-match": whole.headers["etag"]})
    assert same.status_code == 304
    assert (await ada.head(f"{talk}/media")).headers["content-length"] == str(len(SOUND))
    reading = (await ada.get(f"{talk}/reading")).json()
    assert reading["media"] == media_type
    assert reading["blocks"][0]["link"].startswith(f"{talk}/media#t=")


async def test_a_recording_that_was_transcribed_is_played_as_long_as_it_is_unchanged(
    ada: httpx.AsyncClient, house: House, tmp_path: Path
) -> None:
    await add(house, tmp_path / "other.srt")
    sound = tmp_path / "talk.mp4"
    sound.write_bytes(SOUND)
    sound.with_suffix(".mp3").write_bytes(SOUND)
    talk = entry("d0000000000000001", source=str(sound))
    said = (talk.document.title, talk.document.url, talk.document.speaker, talk.document.language)
    talk = replace(
        talk,
        document=replace(talk.document, kind="transcript"),
        sha256=fingerprint(sound, given=said),
    )
    catalogue = house.tenants.engine("ada").parts.catalogue
    catalogue.commit(catalogue.collection("default"), [talk])
    path = f"/v1/documents/{talk.document.document_id}/media"
    whole = await ada.get(path)
    assert (whole.status_code, whole.content) == (200, SOUND)
    sound.write_bytes(SOUND[::-1])
    assert (await ada.get(path)).status_code == 410
    sound.unlink()
    assert (await ada.get(path)).status_code == 410


async def test_an_uploaded_recording_is_played(ada: httpx.AsyncClient, house: House) -> None:
    parts = house.tenants.engine("ada").parts
    stored = keep_data(parts, SOUND, name="talk.mp3")
    talk = entry("d0000000000000002", source=source_of(stored, name="talk.mp3"))
    talk = replace(talk, document=replace(talk.document, kind="transcript"))
    parts.catalogue.commit(parts.catalogue.collection("default"), [talk])
    path = f"/v1/documents/{talk.document.document_id}"
    assert (await ada.get(f"{path}/reading")).json()["media"] == "audio/mpeg"
    played = await ada.get(f"{path}/media", headers={"range": "bytes=256-511"})
    assert (played.status_code, played.content) == (206, SOUND[256:512])
    assert played.headers["content-type"] == "audio/mpeg"
    assert 'filename="talk.mp3"' in played.headers["content-disposition"]
    stored.unlink()
    assert (await ada.get(f"{path}/reading")).json()["media"] is None


async def test_only_a_file_of_the_same_folder_is_a_recording(
    ada: httpx.AsyncClient, house: House, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.mp4"
    secret.write_bytes(SOUND)
    folder = tmp_path / "talks"
    talk = await add(house, folder / "talk.srt")
    (folder / "talk.mp4").symlink_to(secret)
    (folder / "talk.webm").mkdir()
    (folder / "other.mp3").write_bytes(SOUND)
    (folder / "talk.html").write_text("no recording")
    found = await ada.get(f"{talk}/media")
    assert found.status_code == 404
    assert found.headers["cache-control"] == "private, no-store"
    assert (await ada.get(f"{talk}/reading")).json()["media"] is None


async def test_a_file_is_hashed_once_until_it_changes(
    ada: httpx.AsyncClient, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = 0
    is_unchanged = originals.is_unchanged

    def counted(*given: Any, **named: Any) -> bool:
        nonlocal hashed
        hashed += 1
        return is_unchanged(*given, **named)

    monkeypatch.setattr(originals, "is_unchanged", counted)
    path = f"{await add(house, tmp_path / 'talk.srt')}/original"
    text = (tmp_path / "talk.srt").read_text(encoding="utf-8")
    for start in (0, 10, 20):
        part = await ada.get(path, headers={"range": f"bytes={start}-{start + 9}"})
        assert part.text == text[start : start + 10]
    assert hashed == 1
    (tmp_path / "talk.srt").write_text(text.replace("queen", "drone"), encoding="utf-8")
    assert (await ada.get(path)).status_code == 410
    (tmp_path / "talk.srt").write_text(text, encoding="utf-8")
    whole = await ada.get(path)
    assert (whole.status_code, hashed) == (200, 3)
    same = await ada.get(path, headers={"if-none-match": whole.headers["etag"]})
    assert same.status_code == 304
    (tmp_path / "talk.srt.meta.json").write_text('{"title": "Another"}')
    assert (await ada.get(path)).status_code == 410

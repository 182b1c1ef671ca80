"""Captions of YouTube: the best there are, with chapters, one video after the other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import DocumentError
from quoth.ingest.readers.registry import read
from quoth.ingest.sources.mirror import FetchedItem, locked
from quoth.ingest.sources.youtube.captions import description_chapters
from quoth.ingest.sources.youtube.videos import VideoOptions, fetch_videos, is_youtube
from quoth.text.recordings import watch_url
from tests.support.youtube_server import YouTube, make_certificate, open_youtube, player, trust

VIDEO = "GJLlxj_dtq8"
LIST = "https://www.youtube.com/playlist?list=PL0123456789ABCDEF"
DESCRIPTION = "A talk.\n0:00 Queens\n0:10 - Honey\n00:20 Wax\nSee 1:00 for more"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("tls") / "youtube.pem")


@pytest.fixture
async def youtube(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[YouTube]:
    trust(certificate, monkeypatch)
    async with open_youtube(certificate) as made:
        yield made


async def fetched(
    youtube: YouTube,
    folder: Path,
    address: str = f"https://youtu.be/{VIDEO}",
    *,
    languages: tuple[str, ...] = (),
    most: int | None = None,
    **given: Any,
) -> list[FetchedItem]:
    """Fetch what is at an address; with ``most`` the work is broken off after so many."""
    items: list[FetchedItem] = []
    with locked(folder) as mirror:
        steps = fetch_videos(
            address,
            mirror=mirror,
            options=VideoOptions(languages, pause_s=0),
            internet=youtube.internet,
            **given,
        )
        async with aclosing(steps):
            async for item in steps:
                items.append(item)
                if len(items) == most:
                    break
    return items


async def test_a_video_becomes_a_transcript_with_chapters_and_what_is_known_of_it(
    youtube: YouTube, tmp_path: Path
) -> None:
    lines = ("A hive has one queen.", "Honey is thick.", "It is made of nectar.")
    youtube.add(VIDEO, *lines, title="Bees", description=DESCRIPTION)
    (item,) = await fetched(youtube, tmp_path)
    assert item.path == tmp_path / f"{VIDEO}.json"
    reading = read(item.path)
    assert (reading.kind, reading.title, reading.speaker, reading.date, reading.language) == (
        "transcript",
        "Bees",
        "Ada",
        "2018-08-02",
        "en",
    )
    assert reading.url == f"https://www.youtube.com/watch?v={VIDEO}"
    named = [
        (section.path, reading.text[section.start : section.end]) for section in reading.sections
    ]
    assert named == [(("Queens",), lines[0]), (("Honey",), lines[1]), (("Wax",), lines[2])]
    assert json.loads(item.path.read_text())["automatic"] is False
    assert len(youtube.asked) == 3


@pytest.mark.parametrize(
    ("languages", "language", "automatic"),
    [((), "en", False), (("fr", "de"), "de", False), (("cs-CZ",), "cs", False)],
)
async def test_captions_made_by_people_in_the_wanted_language_come_first(
    youtube: YouTube,
    tmp_path: Path,
    languages: tuple[str, ...],
    language: str,
    automatic: bool,
) -> None:
    youtube.add(VIDEO, "Bees.")
    (item,) = await fetched(youtube, tmp_path, languages=languages)
    assert item.path is not None
    values = json.loads(item.path.read_text())
    assert (values["language"], values["automatic"]) == (language, automatic)


def transcripts(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("[!.]*.json") if ".meta" not in path.name}


PROBLEMS = {
    "youtube_video_unavailable": ("not_found", "does not exist any more"),
    "youtube_transcripts_disabled": ("empty", "has no captions"),
    "youtube_transcripts_disabled2": ("empty", "has no captions"),
    "youtube_age_restricted": ("unsupported", "needs a login"),
    "youtube_unplayable": ("unsupported", "cannot be played"),
    "youtube_request_blocked": ("unreadable", "refuses to send"),
    "youtube_po_token_required": ("unreadable", "refuses to send"),
}


@pytest.mark.parametrize("name", PROBLEMS)
async def test_a_video_without_captions_is_named_with_the_reason_and_not_tried_again(
    youtube: YouTube, tmp_path: Path, name: str
) -> None:
    youtube.players[VIDEO] = player(name, VIDEO, title="")
    (item,) = await fetched(youtube, tmp_path)
    code, words = PROBLEMS[name]
    assert item.problem is not None
    assert (item.problem.code, words in str(item.problem), VIDEO in str(item.problem)) == (
        code,
        True,
        True,
    )
    assert len(youtube.asked) <= 3


@pytest.mark.parametrize(
    ("page", "words"),
    [("youtube_too_many_requests", "refuses"), ("youtube_consent_page_invalid", "cannot be read")],
)
async def test_a_page_that_is_no_video(
    youtube: YouTube, tmp_path: Path, page: str, words: str
) -> None:
    youtube.page = f"{page}.html.static"
    (item,) = await fetched(youtube, tmp_path)
    assert item.problem is not None
    assert words in str(item.problem)


async def test_a_playlist_that_is_interrupted_twice_is_fetched_once_and_whole(
    youtube: YouTube, tmp_path: Path
) -> None:
    videos = {f"video{number:06d}": f"Talk {number}" for number in range(25)}
    for video, title in videos.items():
        youtube.add(video, f"This is {title}.", title=title)
    youtube.players["video000007"] = player("youtube_video_unavailable", "video000007", title="")
    youtube.lists["PL0123456789ABCDEF"] = {**videos, "private0000": "[Private video]"}
    await fetched(youtube, tmp_path, LIST, most=10)
    await fetched(youtube, tmp_path, LIST, most=18)
    items = await fetched(youtube, tmp_path, LIST)
    assert sorted(youtube.videos_asked()) == sorted(videos)
    assert [item.address for item in items] == list(map(watch_url, [*videos, "private0000"]))
    problems = [str(item.problem) for item in items if item.problem]
    assert len(problems) == 2
    assert "private video" in problems[1]
    assert transcripts(tmp_path) == set(videos) - {"video000007"}


async def test_a_sync_of_a_playlist_drops_what_left_it_and_a_block_ends_the_work(
    youtube: YouTube, tmp_path: Path
) -> None:
    for video in ("a" * 11, "b" * 11, "c" * 11):
        youtube.add(video, "Words.", title=video)
    youtube.lists["PL0123456789ABCDEF"] = {"a" * 11: "A", "b" * 11: "B"}
    await fetched(youtube, tmp_path, LIST)
    youtube.lists["PL0123456789ABCDEF"] = {"b" * 11: "B", "d" * 11: "D", "c" * 11: "C"}
    youtube.players["d" * 11] = player("youtube_request_blocked", "d" * 11, title="")
    lines: list[str] = []
    items = await fetched(youtube, tmp_path, LIST, drop_gone=True, warn=lines.append)
    assert [item.problem is None for item in items] == [True, False]
    assert "1 more videos" in lines[0]
    assert transcripts(tmp_path) == {"b" * 11}


async def test_a_list_without_its_videos_changes_nothing(youtube: YouTube, tmp_path: Path) -> None:
    youtube.add("a" * 11, "Words.", title="A")
    youtube.lists["PL0123456789ABCDEF"] = {"a" * 11: "A"}
    await fetched(youtube, tmp_path, LIST)
    youtube.lists["PL0123456789ABCDEF"] = {}
    with pytest.raises(DocumentError, match="is empty now"):
        await fetched(youtube, tmp_path, LIST, drop_gone=True)
    assert transcripts(tmp_path) == {"a" * 11}


async def test_a_list_that_cannot_be_read_is_one_sentence(youtube: YouTube, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be read") as failed:
        await fetched(youtube, tmp_path, "https://www.youtube.com/@nobody")
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (DESCRIPTION, 3),
        ("0:00 A\n0:10 B", 0),
        ("0:05 A\n0:10 B\n0:20 C", 0),
        ("0:00 A\n0:30 B\n0:20 C", 0),
        ("0:00 A\n1:00:00 B\n1:10:00 C\n", 3),
    ],
)
def test_chapters_of_a_description(text: str, count: int) -> None:
    assert len(description_chapters(text)) == count


def test_what_is_youtube() -> None:
    assert is_youtube("https://m.youtube.com/@ada")
    assert not is_youtube("https://notyoutube.com/watch?v=aaaaaaaaaaa")

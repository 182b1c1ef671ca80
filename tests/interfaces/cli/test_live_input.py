"""What `quoth live` reads: files that grow, lines of other programs, recordings."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.interfaces.cli import live_input
from quoth.interfaces.cli.live_input import followed, piped
from tests.support.cli import quoth
from tests.support.lectures import write_book


async def _follow(file: Path, parts: list[str]) -> list[TranscriptSegment]:
    """What is read of a file to which parts are added, until Ctrl-C."""
    found: list[TranscriptSegment] = []

    async def read() -> None:
        async for segment in followed(file, "quoth"):
            found.append(segment)

    file.write_text("", "utf-8")  # noqa: ASYNC240 - a small local file
    reading = asyncio.create_task(read())
    for part in parts:
        with file.open("a", encoding="utf-8") as out:
            out.write(part)
        await asyncio.sleep(0.03)
    reading.cancel()
    await reading
    return found


async def test_a_file_that_grows_is_read_to_its_last_whole_caption_or_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_input, "POLL_S", 0.01)
    parts = [
        "WEBVTT\n\n00:01.000 --> 00:02.000\nA que",
        "en.\n\n00:03.000 --> 00:04.000\nWax.\n",
        "\n00:05.0",
    ]
    captions = await _follow(tmp_path / "talk.vtt", parts)
    assert [(each.text, each.end) for each in captions] == [("A queen.", 2.0), ("Wax.", 4.0)]
    parts = ['{"start": 1, "text": "A qu', 'een."}\n{"start": 2, "text": "Wax."}\n{"sta', "rt"]
    lines = await _follow(tmp_path / "talk.jsonl", parts)
    assert [(each.text, each.start) for each in lines] == [("A queen.", 1.0), ("Wax.", 2.0)]


async def test_lines_of_a_provider_are_read_and_a_damaged_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"msg_type": 17, "content": {"user_id": 1, "data": "Wax.", "timestamp": 1.79e12}}
    text = json.dumps(said) + "\n\n" + json.dumps({"msg_type": 12}) + "\nnonsense\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    lines = piped("zoom")
    assert (await anext(lines)).text == "Wax."
    with pytest.raises(InputError, match="nonsense"):
        await anext(lines)


def test_a_lecture_that_fails_at_its_start_leaves_no_session(tmp_path: Path) -> None:
    write_book(tmp_path)
    assert quoth(tmp_path / "home", "add", str(tmp_path / "bees.md")).code == 0
    failed = quoth(tmp_path / "home", "live", str(tmp_path / "missing.mp3"))
    assert failed.code != 0
    assert "missing.mp3" in failed.err
    catalogue = tmp_path / "home" / "catalogue.sqlite"
    with closing(sqlite3.connect(catalogue)) as connection:
        assert connection.execute("select count(*) from lectures").fetchone() == (0,)

"""What `quoth live` reads: files that grow, lines of other programs, recordings."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.interfaces.cli import live_input
from quoth.interfaces.cli.live_input import LineReader, followed, piped
from tests.support.cli import quoth
from tests.support.lectures import write_book


async def _follow(
    file: Path, parts: list[str], patch: pytest.MonkeyPatch
) -> list[TranscriptSegment]:
    """What is read of a file that has one part more at each reading, until Ctrl-C."""
    found: list[TranscriptSegment] = []
    left = iter(parts)
    all_read = asyncio.Event()
    loop = asyncio.get_running_loop()

    def growing(_file: Path) -> str:
        with file.open("a+", encoding="utf-8") as out:
            if (part := next(left, None)) is None:
                loop.call_soon_threadsafe(all_read.set)
            out.write(part or "")
            out.seek(0)
            return out.read()

    async def read() -> None:
        async for segment in followed(file, LineReader("quoth", print)):
            found.append(segment)

    patch.setattr(live_input, "_text", growing)
    reading = asyncio.create_task(read())
    await all_read.wait()
    reading.cancel()
    with suppress(asyncio.CancelledError):
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
    captions = await _follow(tmp_path / "talk.vtt", parts, monkeypatch)
    assert [(each.text, each.end) for each in captions] == [("A queen.", 2.0), ("Wax.", 4.0)]
    parts = ['{"start": 1, "text": "A qu', 'een."}\n{"start": 2, "text": "Wax."}\n{"sta', "rt"]
    lines = await _follow(tmp_path / "talk.jsonl", parts, monkeypatch)
    assert [(each.text, each.start) for each in lines] == [("A queen.", 1.0), ("Wax.", 2.0)]


async def test_a_damaged_line_is_named_and_the_lecture_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"msg_type": 17, "content": {"user_id": 1, "data": "Wax.", "timestamp": 1.79e12}}
    later = {
        "msg_type": 17,
        "content": {"user_id": 1, "data": "Honey.", "timestamp": 1.79e12 + 5000},
    }
    text = "\n".join([json.dumps(said), "", json.dumps({"msg_type": 12}), "nonsense"])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n{json.dumps(later)}\n"))
    warnings: list[str] = []
    lines = [each.text async for each in piped(LineReader("zoom", warnings.append))]
    assert lines == ["Wax.", "Honey."]
    assert len(warnings) == 1
    assert "nonsense" in warnings[0]


@pytest.mark.parametrize(
    "damaged",
    ['{"start": 1e999, "end": 2, "text": "x"}', "[" * 100_000, '{"start": 3, "revision": 1e999}'],
    ids=["no time", "deep", "no number"],
)
async def test_a_line_of_impossible_values_is_passed_over(
    damaged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = (
        '{"start": 1, "end": 2, "text": "Wax."}',
        '{"start": 3, "end": 4, "text": "Comb."}',
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{first}\n{damaged}\n{last}\n"))
    warnings: list[str] = []
    lines = [each.text async for each in piped(LineReader("quoth", warnings.append))]
    assert lines == ["Wax.", "Comb."]
    assert len(warnings) == 1


async def test_a_program_of_another_form_is_refused_at_its_first_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('nonsense\n{"start": 1, "text": "Wax."}\n'))
    with pytest.raises(InputError, match=r"'nonsense'\. Write JSON with start, end and text"):
        await anext(piped(LineReader("quoth", print)))


def test_a_lecture_that_fails_at_its_start_leaves_no_session(tmp_path: Path) -> None:
    write_book(tmp_path)
    assert quoth(tmp_path / "home", "add", str(tmp_path / "bees.md")).code == 0
    failed = quoth(tmp_path / "home", "live", str(tmp_path / "missing.mp3"))
    assert failed.code != 0
    assert "missing.mp3" in failed.err
    catalogue = tmp_path / "home" / "catalogue.sqlite"
    with closing(sqlite3.connect(catalogue)) as connection:
        assert connection.execute("select count(*) from lectures").fetchone() == (0,)


@pytest.mark.parametrize(("words", "title"), [((), "Of wax"), (("--title", "Wax"), "Wax")])
def test_a_lecture_of_captions_is_kept_as_their_file(
    tmp_path: Path, words: tuple[str, ...], title: str
) -> None:
    write_book(tmp_path)
    home, captions = tmp_path / "home", tmp_path / "day_1.srt"
    captions.write_text("1\n00:00:01,000 --> 00:00:04,000\nThe bees of row 1 are brown.\n")
    (tmp_path / "day_1.srt.meta.json").write_text('{"title": "Of wax"}')
    assert quoth(home, "add", str(tmp_path / "bees.md")).code == 0
    live = ("live", str(captions), "--speed", "1000", "--keep", "talks", *words)
    assert f"Kept as '{title}'" in quoth(home, *live).err
    (talk,) = quoth(home, "--collection", "talks", "list", "--json").json
    assert talk["title"] == title
    asked = quoth(home, "--collection", "talks", "search", "brown bees", "--json").json
    assert asked[0]["link"] == f"{captions.as_uri()}#t=1"


@pytest.mark.parametrize(("file", "title"), [("-", "Lecture"), ("day.srt", "day")])
def test_of_a_lecture_that_is_stopped_what_was_said_is_kept(
    tmp_path: Path, file: str, title: str
) -> None:
    write_book(tmp_path)
    (tmp_path / "day.srt").write_text(
        "1\n00:00:00,000 --> 00:00:01,000\nThe bees of row 1 are brown.\n\n"
        "2\n00:10:00,000 --> 00:10:04,000\nThey are asleep.\n"
    )
    home = tmp_path / "home"
    assert quoth(home, "add", str(tmp_path / "bees.md")).code == 0
    words = ("live", file, "--keep", "talks")
    with subprocess.Popen(
        [sys.executable, "-m", "quoth", *words],
        cwd=tmp_path,
        env={**os.environ, "QUOTH_HOME": str(home), "QUOTH_EMBEDDER": "fake"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write('{"start": 1, "end": 2, "text": "The bees of row 1 are brown."}\n')
        running.stdin.flush()
        assert "row 1 are" in running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=60) in (0, 1)  # It ends, though the pipe is still open.
        told = running.stderr.read() if running.stderr is not None else ""
    assert f"Kept as '{title}'" in told
    with closing(sqlite3.connect(home / "catalogue.sqlite")) as connection:
        (kept,) = connection.execute("select title, source from documents where kind='transcript'")
        said = " ".join(text for (text,) in connection.execute("select text from chunks"))
    assert kept[0] == title
    assert kept[1].startswith("file:")  # not the captions, of which the rest was not said
    assert "asleep" not in said

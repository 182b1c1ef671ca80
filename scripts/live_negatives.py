"""Writes off-book windows by the thousand for `quoth eval live`, each with its source.

    python scripts/live_negatives.py DATA OUT
    quoth eval live OUT/sicp --book DATA/sicp-lectures/sicp.pdf
    quoth eval live OUT/hf-en --book DATA/hf-course-ch1/book.en.pdf

DATA is what `scripts/collect_live.py` reads. Against the book of a course stand podcasts, meetings,
videos and greetings; against the book of another course the lectures of the first one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import collect_live as windows_of

MOST, MEETING = 60, 6
"""Windows of one recording; there are many meetings."""
Row = dict[str, str]


def podcasts(data: Path) -> Iterator[tuple[str, str]]:
    """Return names and texts of podcasts."""
    for path in sorted((data / "practical-ai").glob("practical-ai-*.md")):
        yield path.name, re.sub(r"\*\*.*?\*\*|\\\[[\d:]+\\\]", "", path.read_text("utf-8"))


def meetings(data: Path) -> Iterator[tuple[str, str]]:
    """Return names and texts of meetings."""
    with gzip.open(data / "qmsum" / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for name in sorted({row["meeting"] for row in rows}):
        text = " ".join(row["text"] for row in rows if row["meeting"] == name)
        yield name, re.sub(r"\{\w+\}", "", text)


def rows_of(
    source: str, name: str, cues: Sequence[windows_of.Cue], *, most: int = MOST
) -> Iterator[Row]:
    """Return the windows of a recording, spread over its length."""
    windows = windows_of._windows(cues)
    for window in windows[:: max(1, len(windows) // most)][:most]:
        key = f"{source} {name} {window.index}"
        yield {"id": key, "lecture": name, "source": source, "lang": "en", "text": window.query,
               "kind": "off-book"}  # fmt: skip


def against_course(data: Path) -> Iterator[Row]:
    """Return speech that has nothing to do with the course."""
    for name, text in podcasts(data):
        yield from rows_of("podcast", name, windows_of._read_aloud(text))
    for name, text in meetings(data):
        yield from rows_of("meeting", name, windows_of._read_aloud(text), most=MEETING)
    greetings = " ".join(windows_of.HOUSEKEEPING["en"])
    yield from rows_of("housekeeping", "greetings", windows_of._read_aloud(greetings))
    folder = data / "hf-course-ch1"
    for row in windows_of._rows(folder / "lectures.jsonl"):
        if row["lang"] == "en":
            yield from rows_of("video", row["id"], windows_of._cues(folder / row["srt"]))


def against_other_book(data: Path) -> Iterator[Row]:
    """Return the lectures of the course."""
    folder = data / "sicp-lectures"
    for row in windows_of._rows(folder / "lectures.jsonl"):
        yield from rows_of("lecture", row["id"], windows_of._cues(folder / row["srt"]))


def main() -> None:
    """Write a folder for each book."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    for book, rows in (
        ("sicp", against_course(given.data)),
        ("hf-en", against_other_book(given.data)),
    ):
        folder = given.out / book
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "windows.jsonl").write_text(lines, "utf-8")


if __name__ == "__main__":
    main()

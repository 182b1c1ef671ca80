"""Looks windows of lectures up in books, with what is right, for `scripts/train_live.py`.

    python scripts/collect_live.py DATA FEATURES [--heard HEARD]

DATA holds the sets sicp-lectures, hf-course-ch1, practical-ai, qmsum and culture-num-fr. Windows
are those that the product cuts, in the order of their lecture. FEATURES is a file of JSON lines;
a run that was stopped goes on with it. HEARD is what `scripts/recognise_windows.py` writes.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from quoth.bootstrap import open_engine
from quoth.core.lecture import TranscriptSegment
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.core.types import Pages
from quoth.engine import Engine
from quoth.evaluation.speech_errors import with_errors
from quoth.ingest.readers.cue_parsers import Cue, read_lines
from quoth.live.segments import clean_segment
from quoth.live.windows import LectureWindow, cut_windows
from quoth.pipeline.lecture import LookupScope, judge_window, retrieve_window
from quoth.text.sentences import sentences

BOOKS = {
    "sicp": ("sicp-lectures/sicp.pdf", "en"),
    "hf-en": ("hf-course-ch1/book.en.pdf", "en"),
    "hf-fr": ("hf-course-ch1/book.fr.pdf", "fr"),
}
CONSECUTIVE = {"lec1b": 1000, "lec4a": 130}
"""Lectures of which the first windows are looked up, judged or not."""
JUDGED, VIDEO, STRETCH, SHORT = 30, 6, 15, 6
"""Windows of a lecture, of a video, and of speech that the book has nothing about."""
HOUSEKEEPING = {
    "en": (
        "Good morning, everybody. Can you hear me at the back? Please sit down, we start soon.",
        "The homework is due on Friday at noon. If you hand it in late, you lose ten points a day.",
        "There will be a midterm in three weeks in the large lecture hall. You may bring one page.",
        "Are there any questions? No? Then let us take a break of ten minutes. There is coffee.",
        "My office hours are on Tuesday from two to four. If you can't come, send me an email.",
        "I think the projector is not working. Could you call the technician? In the meantime, "
        "let me tell you what happened to me on the train this morning.",
        "Thank you very much, that is all for today. See you on Thursday, have a good weekend.",
    ),
    "fr": (
        "Bonjour à toutes et à tous. Est-ce que vous m'entendez au fond ? On commence bientôt.",
        "Le devoir est à rendre vendredi à midi. Les retards comptent un point par jour.",
        "Est-ce qu'il y a des questions ? Non ? Alors on fait une pause de dix minutes.",
        "L'examen a lieu le douze juin dans le grand amphithéâtre. Une feuille de notes suffit.",
        "Voilà, c'est tout pour aujourd'hui. Merci de votre attention, à jeudi, bon week-end.",
    ),
}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """Words to look up in a book, with the pages about them; none where they are off-book.

    ``pages`` is None where the window is not judged; ``lecture_pages`` are those of the sections
    that the whole lecture is about. ``index`` counts the windows of a lecture.
    """

    source: str
    lecture: str
    book: str
    language: str
    index: int
    text: str
    pages: tuple[int, ...] | None = ()
    lecture_pages: tuple[int, ...] = ()
    seconds: tuple[float, float] = (0.0, 0.0)
    speech: Literal["plain", "misheard", "recognised"] = "plain"

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Return what tells an item from others."""
        return self.source, self.lecture, self.book, self.index, self.speech


def items(data: Path, *, heard: Sequence[Row] = ()) -> Iterator[Item]:
    """Return all windows: lectures, windows on their own, other speech against the books.

    Each comes as it was written, then with random errors, and then as a recogniser heard it where
    that is known.
    """
    plain = [
        *_lectures(data / "sicp-lectures"),
        *_videos(data / "hf-course-ch1"),
        *_other_speech(data),
    ]
    yield from plain
    for lecture in dict.fromkeys(item.lecture for item in plain):
        own = [item for item in plain if item.lecture == lecture]
        texts = with_errors([item.text for item in own], speech="misheard", seed=lecture)
        for item, text in zip(own, texts, strict=True):
            yield replace(item, text=text, speech="misheard")
    by_key = {item.key: item for item in plain}
    for row in heard:
        yield replace(by_key[tuple(row["key"])], text=row["heard"], speech="recognised")


def _lectures(folder: Path) -> Iterator[Item]:
    rng = random.Random(7)
    spans: dict[str, list[Row]] = {}
    for number, row in enumerate(_rows(folder / "windows.jsonl")):
        spans.setdefault(row["lecture"], []).append(row)
        gold = tuple(row["pdf_pages"] or ())
        yield Item("sicp alone", row["lecture"], "sicp", "en", number, row["text"], gold, gold)
    for row in _rows(folder / "lectures.jsonl"):
        windows = _windows(_cues(folder / row["srt"]))
        name, pages = row["id"], tuple(row["pdf_pages"])
        for window, gold in _judged(windows, spans.get(name, []), name):
            known = gold if row["on_book"] else ()
            yield from _items([window], "sicp", name, "sicp", "en", known, pages)
        for book, size in (("hf-en", 10), ("hf-fr", 5)):
            yield from _items(_stretch(windows, rng, size), "sicp x hf", name, book, "en")


def _videos(folder: Path) -> Iterator[Item]:
    for row in _rows(folder / "lectures.jsonl"):
        lang, windows = row["lang"], _windows(_cues(folder / row["srt"]))[:VIDEO]
        for book in ("hf-en", "hf-fr"):
            gold = tuple(row["pdf_pages"][BOOKS[book][1]])
            yield from _items(windows, f"hf {lang}", row["id"], book, lang, gold, gold)
        yield from _items(windows, f"hf {lang} x sicp", row["id"], "sicp", lang)


def _other_speech(data: Path) -> Iterator[Item]:
    rng = random.Random(7)
    for path in sorted((data / "practical-ai").glob("practical-ai-*.md"))[::2]:
        spoken = re.sub(r"\*\*.*?\*\*|\\\[[\d:]+\\\]", "", path.read_text("utf-8"))
        windows = _stretch(_windows(_read_aloud(spoken)), rng, STRETCH)
        yield from _items(windows, "podcast", path.name, "sicp", "en")
    for book in BOOKS:
        for language, texts in HOUSEKEEPING.items():
            windows = _windows(_read_aloud(" ".join(texts)))
            yield from _items(windows, "housekeeping", f"housekeeping {language}", book, language)
    for name, language, key in (("qmsum", "en", "meeting"), ("culture-num-fr", "fr", "title")):
        with gzip.open(data / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        for number, title in enumerate(sorted({row[key] for row in rows})[:9]):
            text = " ".join(row["text"] for row in rows if row[key] == title)
            windows = _windows(_read_aloud(re.sub(r"\{\w+\}", "", text)))
            book = tuple(BOOKS)[number % 3]
            yield from _items(_stretch(windows, rng, SHORT), name, title, book, language)


def _items(
    windows: Sequence[LectureWindow],
    source: str,
    lecture: str,
    book: str,
    language: str,
    pages: tuple[int, ...] | None = (),
    lecture_pages: tuple[int, ...] = (),
) -> Iterator[Item]:
    for window in windows:
        seconds = (window.start, window.end)
        yield Item(
            *(source, lecture, book, language, window.index, window.query),
            pages=pages,
            lecture_pages=lecture_pages,
            seconds=seconds,
        )


def _judged(
    windows: Sequence[LectureWindow], spans: Sequence[Row], name: str
) -> Sequence[tuple[LectureWindow, tuple[int, ...] | None]]:
    """Return windows with the pages of the span that their middle lies in, where one is known."""
    rows: list[tuple[LectureWindow, tuple[int, ...] | None]] = []
    for window in windows:
        middle = (window.start + window.end) / 2
        within = [row for row in spans if row["start"] <= middle < row["end"]]
        gold = {page for row in within for page in row["pdf_pages"]}
        rows.append((window, tuple(sorted(gold)) or None))
    if name in CONSECUTIVE:
        return rows[: CONSECUTIVE[name]]
    return [row for row in rows if row[1]][:JUDGED]


def _stretch(
    windows: Sequence[LectureWindow], rng: random.Random, size: int
) -> Sequence[LectureWindow]:
    start = rng.randrange(max(1, len(windows) - size))
    return windows[start : start + size]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def _cues(path: Path) -> list[Cue]:
    return read_lines(path.read_text("utf-8").replace("\r", ""), vtt=False)


def _read_aloud(text: str) -> list[Cue]:
    """Return sentences as cues at the speed of speech."""
    cues, at = [], 0.0
    for low, high in sentences(text):
        words = text[low:high].split()
        cues.append(Cue(at, at + len(words) / 2.4, " ".join(words)))
        at = cues[-1].end
    return cues


def _windows(cues: Sequence[Cue]) -> list[LectureWindow]:
    segments = [
        clean_segment(TranscriptSegment(f"{at:06}", cue.start, max(cue.start, cue.end), cue.text))
        for at, cue in enumerate(cues)
    ]
    spoken = sorted((each for each in segments if each.text), key=lambda each: each.place)
    return cut_windows(spoken, closed=True)[0]


async def collect(data: Path, home: Path, features: Path, *, heard: Sequence[Row]) -> None:
    """Look up every window that is not in the file, and append its features with what is right."""
    done = {tuple(row["key"]) for row in await asyncio.to_thread(_rows, features)}
    async with open_engine(Settings(home=home)) as engine:
        for book, (path, _language) in BOOKS.items():
            async for _ in engine.add([data / path], collection=book):
                pass
        for item in items(data, heard=heard):
            if item.key not in done:
                row = json.dumps(await _looked_up(engine, item))
                with features.open("a", encoding="utf-8") as file:
                    file.write(row + "\n")


async def _looked_up(engine: Engine, item: Item) -> dict[str, Any]:
    found = await retrieve_window(
        engine.parts,
        item.text,
        scope=LookupScope((item.book,)),
        language=item.language,
        trace=Trace(),
    )
    chunks = {key: each for ranked in found.ranked for key, each in ranked.chunks.items()}
    candidates = []
    for candidate, features, _model in judge_window(engine.parts, found) or ():
        place = chunks[candidate.chunk_id].locator
        assert isinstance(place, Pages)
        own = set(range(place.first, place.last + 1))
        right = bool(own & set(item.pages or ()))
        in_lecture = bool(own & set(item.lecture_pages))
        candidates.append(
            {"right": right, "in_lecture": in_lecture, "page": place.first, **features}
        )
    return {
        "key": item.key,
        "source": item.source,
        "lecture": item.lecture,
        "book": item.book,
        "index": item.index,
        "speech": item.speech,
        "seconds": item.seconds,
        "foreign": BOOKS[item.book][1] != item.language,
        "judged": item.pages is not None,
        "on_book": bool(item.pages),
        "candidates": candidates,
    }


def main() -> None:
    """Look up what is not known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("features", type=Path)
    parser.add_argument("--home", type=Path, default=Path("live-home"))
    parser.add_argument("--heard", type=Path)
    given = parser.parse_args()
    given.features.touch()
    heard = _rows(given.heard) if given.heard else ()
    asyncio.run(collect(given.data, given.home, given.features, heard=heard))


if __name__ == "__main__":
    main()

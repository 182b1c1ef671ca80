"""Whole lectures replayed segment by segment: when cards come, and whether they stay.

Times are those of the lecture: a card comes when the last segment of its window was spoken and the
look-up has taken its time. Segments come in order, and the next one waits for the look-up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.evaluation.corpus import COLLECTION, Progress
from quoth.evaluation.live import find_book
from quoth.evaluation.people import open_files
from quoth.evaluation.significance import latency_ms, mean_of
from quoth.live.sources import read_transcript
from quoth.pipeline.live_session import LiveSession
from quoth.store.lectures import Lectures

SUFFIXES = (".srt", ".vtt")
CHURN_S = 30.0
"""Seconds within which a card that goes, is replaced or loses its rank counts as churn."""


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A card of a window: its page and rank, the second at which it came, whether it stayed."""

    window: int
    page: tuple[str, int | None]
    rank: int
    at: float
    early: bool
    stayed: bool = True


@dataclass(frozen=True, slots=True)
class StreamReport:
    """Shares from 0 to 1, and seconds of the lecture.

    ``time_to_citation_s`` is from the end of each sentence of a window with a card to that card.
    ``churn`` is the share of cards that went, were replaced or lost their rank within 30 s,
    ``duplicates`` that of cards whose page the window before had shown. ``waits_s`` are all times
    to a citation.
    """

    windows: int
    cards: int
    time_to_citation_s: Mapping[str, float]
    churn: float
    duplicates: float
    merged: int
    latency_ms: Mapping[str, float]
    waits_s: Sequence[float]
    lectures: Mapping[str, Mapping[str, int]]


async def evaluate_stream(
    folder: Path,
    *,
    book: Path | None,
    language: str | None,
    book_language: str | None,
    settings: Settings,
    progress: Progress,
) -> StreamReport:
    """Replay every transcript of a folder against the book; raises InputError."""
    files = await asyncio.to_thread(_transcripts, folder, language)
    path = find_book(folder, book, language=book_language or language)
    cards: list[ShownCard] = []
    waits: list[float] = []
    spent: list[float] = []
    lectures: dict[str, dict[str, int]] = {}
    merged = 0
    async with open_files(await asyncio.to_thread(path.resolve), settings=settings,
                          progress=progress) as engine:  # fmt: skip
        for at, file in enumerate(files):
            progress("Replaying", at, len(files))
            segments = await asyncio.to_thread(read_transcript, file)
            replay = await _replay(engine, segments, title=file.stem, language=language)
            cards += replay.cards
            waits += replay.waits
            spent += replay.spent
            merged += replay.merged
            lectures[str(file.relative_to(folder).with_suffix(""))] = {
                "segments": len(segments),
                "windows": replay.windows,
                "cards": len(replay.cards),
                "churned": sum(not each.stayed for each in replay.cards),
            }
    return StreamReport(
        windows=sum(each["windows"] for each in lectures.values()),
        cards=len(cards),
        time_to_citation_s=latency_ms(waits),
        churn=round(mean_of(not each.stayed for each in cards), 4),
        duplicates=round(_repeats(cards), 4),
        merged=merged,
        latency_ms=latency_ms(spent),
        waits_s=[round(each, 2) for each in waits],
        lectures=lectures,
    )


def _transcripts(folder: Path, language: str | None) -> list[Path]:
    """Return the transcripts, of a language those in a folder of its name where there is one."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    if not files:
        raise InputError(f"There is no SRT or WebVTT file in {folder}.")
    spoken = [path for path in files if path.parent.name == language]
    return spoken or files


@dataclass(frozen=True, slots=True)
class _Replay:
    cards: list[ShownCard]
    waits: list[float]
    spent: list[float]
    windows: int
    merged: int


async def _replay(
    engine: Engine, segments: Sequence[TranscriptSegment], *, title: str, language: str | None
) -> _Replay:
    store = Lectures.of(engine.parts.catalogue)
    lecture = await asyncio.to_thread(
        store.start, title=title, collections=[COLLECTION], language=language
    )
    running = LiveSession(engine.parts, lecture)
    shown: dict[tuple[int, tuple[str, int | None]], ShownCard] = {}
    waits: list[float] = []
    spent: list[float] = []
    position = 0
    try:
        for segment in segments:
            began = time.perf_counter()
            await running.push([segment])
            await running.finish()
            took = time.perf_counter() - began
            position = _see(running, position, shown, now=segment.end + took)
            if (
                running.progress.windows
                and running.progress.windows[-1].decided_by == segment.place
            ):
                spent.append(took * 1000)
        await running.end()
        _see(running, position, shown, now=segments[-1].end)
    finally:
        await running.stop()
        await asyncio.to_thread(store.delete, lecture.session_id)
    for window in running.progress.windows:
        times = [card.at for card in shown.values() if card.window == window.index and card.stayed]
        ends = [piece.end for piece in window.pieces[window.carried :] if piece.ends]
        waits += [max(0.0, min(times) - end) for end in ends if times]
    return _Replay(
        list(shown.values()), waits, spent, len(running.progress.windows), running.merged
    )


def _see(
    running: LiveSession,
    position: int,
    shown: dict[tuple[int, tuple[str, int | None]], ShownCard],
    *,
    now: float,
) -> int:
    """Take the events behind a position; note cards that come, and those that do not stay."""
    for number, event in running.events.after(position):
        position = number
        if event.event != "citations":
            continue
        index = event.window_index
        ranks = {(each.document_id, each.page_number): each.rank for each in event.citations}
        for key, card in list(shown.items()):
            lost = card.rank != ranks.get(card.page)
            if card.window == index and lost and card.stayed and now - card.at <= CHURN_S:
                shown[key] = ShownCard(
                    card.window, card.page, card.rank, card.at, card.early, stayed=False
                )
        for page, rank in ranks.items():
            shown.setdefault((index, page), ShownCard(index, page, rank, now, event.early))
    return position


def _repeats(cards: Sequence[ShownCard]) -> float:
    pages: dict[int, set[tuple[str, int | None]]] = {}
    for card in cards:
        pages.setdefault(card.window, set()).add(card.page)
    return mean_of(card.page in pages.get(card.window - 1, ()) for card in cards)

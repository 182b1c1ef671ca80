"""Windows of lectures against the book they belong to: what is shown, where, and when not.

Each window is looked up on its own, as the first of a session, with the shipped calibration.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.evaluation.calibration import calibration_error
from quoth.evaluation.corpus import COLLECTION, Progress
from quoth.evaluation.jsonl import locate_file, optional, read_rows, text
from quoth.evaluation.people import open_files
from quoth.evaluation.significance import latency_ms, mean_of, share_interval
from quoth.evaluation.speech_errors import Speech, with_errors
from quoth.live.cards import CardRules, PageCandidate, choose_cards
from quoth.pipeline.lecture import LookupScope, WindowLookup, cite_candidate, look_up_window

ON_BOOK, OFF_BOOK = "on-book", "off-book"
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Shares of the on-book windows, the most certain first, whose precision is reported."""
POINTS = 50


@dataclass(frozen=True, slots=True)
class JudgedWindow:
    """A window of a lecture with the PDF pages that are about it; none where it is off-book.

    ``source`` says what kind of speech it is, such as "podcast".
    """

    id: str
    lecture: str
    language: str | None
    text: str
    gold: frozenset[int]
    source: str = ""

    @property
    def on_book(self) -> bool:
        """Return whether the book has pages about the window."""
        return bool(self.gold)


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """What a window showed: PDF pages in rank order, and the probability of the first candidate."""

    window: JudgedWindow
    pages: tuple[int, ...]
    best: tuple[int, ...]
    probability: float
    latency_ms: float

    def right(self, pages: Sequence[int]) -> bool:
        """Return whether one of the pages is a gold page."""
        return bool(self.window.gold.intersection(pages))


@dataclass(frozen=True, slots=True)
class LiveReport:
    """Shares from 0 to 1.

    ``shown`` counts windows with a card; precision is over these, off-book ones included;
    ``coverage`` is the share of on-book windows that show a card, ``silence`` that of off-book ones
    that show none. ``hits`` are of the ranking, shown or not. ``curve`` is the precision of the
    first candidate by the share of on-book windows shown, and ``precision_by_coverage`` the same
    in fifty points. ``ece`` is of the first candidate. ``sources`` has the silence of each source
    of off-book windows, with its 95 % interval.
    """

    windows: int
    on_book: int
    off_book: int
    shown: int
    precision_shown: float
    precision_rank1: float
    coverage: float
    hits: Mapping[str, float]
    silence: float
    ece: float
    latency_ms: Mapping[str, float]
    curve: Mapping[str, float]
    precision_by_coverage: Sequence[tuple[float, float]]
    sources: Mapping[str, Mapping[str, float]]
    latencies_ms: Sequence[float]
    per_question: Mapping[str, Mapping[str, float]]
    misses: tuple[Mapping[str, Any], ...]


def load_windows(
    folder: Path, *, language: str | None = None, book_language: str | None = None
) -> tuple[JudgedWindow, ...]:
    """Read ``windows.jsonl``, those of a language where one is given; raises InputError."""
    path = locate_file(folder, "windows.jsonl")
    windows = []
    for row, at in read_rows(path):
        spoken = optional(row, "lang", at) or None
        if language is not None and spoken not in (None, language):
            continue
        kind, pages = text(row, "kind", at), row.get("pdf_pages") or []
        if kind not in (ON_BOOK, OFF_BOOK):
            raise InputError(f"{at} has the kind '{kind}'. It is {ON_BOOK} or {OFF_BOOK}.")
        if isinstance(pages, Mapping):
            pages = pages.get(book_language or spoken or "en") or []
        if not isinstance(pages, list) or not all(isinstance(each, int) for each in pages):
            raise InputError(f"{at} needs numbers of PDF pages under 'pdf_pages'.")
        gold = frozenset(pages) if kind == ON_BOOK else frozenset()
        if kind == ON_BOOK and not gold:
            raise InputError(f"{at} is {ON_BOOK} and names no page of this book.")
        name = text(row, "id", at)
        spoken = language or spoken
        lecture = optional(row, "lecture", at)
        source = optional(row, "source", at)
        windows.append(JudgedWindow(name, lecture, spoken, text(row, "text", at), gold, source))
    if not windows:
        raise InputError(f"There is no window to measure in {path}.")
    return tuple(windows)


def misspoken(windows: Sequence[JudgedWindow], speech: Speech) -> tuple[JudgedWindow, ...]:
    """Return windows with the errors of a recogniser, the same ones each time."""
    texts: dict[str, str] = {}
    for lecture in dict.fromkeys(window.lecture for window in windows):
        own = [window for window in windows if window.lecture == lecture]
        written = with_errors([window.text for window in own], speech=speech, seed=lecture)
        texts |= dict(zip((window.id for window in own), written, strict=True))
    return tuple(replace(window, text=texts[window.id]) for window in windows)


def find_book(folder: Path, book: Path | None, *, language: str | None) -> Path:
    """Return the book: the one given, that of the language, or the only PDF of the folder."""
    if book is not None:
        if not book.is_file():
            raise InputError(f"There is no file {book}.")
        return book
    pdfs = sorted(folder.glob("*.pdf"))
    named = [each for each in pdfs if language and f".{language}." in each.name]
    if len(found := named or pdfs) == 1:
        return found[0]
    raise InputError(f"Name the book with --book: {folder} has {len(pdfs)} PDF files.")


async def evaluate_live(
    folder: Path,
    *,
    book: Path | None,
    language: str | None,
    book_language: str | None,
    speech: Speech = "plain",
    settings: Settings,
    progress: Progress,
) -> LiveReport:
    """Look up every window of a folder in the book; raises InputError."""
    windows = misspoken(
        load_windows(folder, language=language, book_language=book_language), speech
    )
    path = find_book(folder, book, language=book_language or language)
    outcomes = []
    async with open_files(await asyncio.to_thread(path.resolve), settings=settings,
                          progress=progress) as engine:  # fmt: skip
        await look_up(engine, windows[0])
        for at, window in enumerate(windows):
            progress("Looking up", at, len(windows))
            outcomes.append(await look_up(engine, window))
    return report_windows(outcomes)


async def look_up(engine: Engine, window: JudgedWindow) -> WindowOutcome:
    """Look up a window, and choose its cards."""
    began = time.perf_counter()
    scope = LookupScope((COLLECTION,))
    found = await look_up_window(engine.parts, window.text, scope=scope, language=window.language)
    choice = choose_cards(found.candidates, rules=CardRules(show_from=found.show_from))
    spent = round((time.perf_counter() - began) * 1000, 2)
    order = sorted(found.candidates, key=lambda each: (-each.probability, each.chunk_id))
    return WindowOutcome(
        window,
        tuple(_page(found, each, window.text) for each in choice.cards),
        tuple(dict.fromkeys(_page(found, each, window.text) for each in order[:6]))[:3],
        order[0].probability if order else 0.0,
        spent,
    )


def _page(found: WindowLookup, candidate: PageCandidate, spoken: str) -> int:
    """Return the PDF page that a card opens."""
    return cite_candidate(found, candidate, spoken=spoken, number=1).page_number or 0


def report_windows(outcomes: Sequence[WindowOutcome]) -> LiveReport:
    """Sum up what the windows showed."""
    on = [each for each in outcomes if each.window.on_book]
    off = [each for each in outcomes if not each.window.on_book]
    shown = [each for each in outcomes if each.pages]
    ranked = sorted(on, key=lambda each: -each.probability)
    return LiveReport(
        windows=len(outcomes),
        on_book=len(on),
        off_book=len(off),
        shown=len(shown),
        precision_shown=_share(each.right(each.pages) for each in shown),
        precision_rank1=_share(each.right(each.pages[:1]) for each in shown),
        coverage=_share(bool(each.pages) for each in on),
        hits={
            "hit@1": _share(each.right(each.best[:1]) for each in on),
            "hit@3": _share(each.right(each.best) for each in on),
        },
        silence=_share(not each.pages for each in off),
        ece=round(
            calibration_error(
                [each.probability for each in outcomes],
                [each.right(each.best[:1]) for each in outcomes],
            ),
            4,
        ),
        latency_ms=latency_ms([each.latency_ms for each in outcomes]),
        curve={f"{share:.0%}": _precision(ranked, share) for share in SHARES if ranked},
        precision_by_coverage=[
            (at / POINTS, _precision(ranked, at / POINTS)) for at in range(1, POINTS + 1) if ranked
        ],
        sources=_silences(off),
        latencies_ms=[each.latency_ms for each in outcomes],
        per_question={
            "rank 1 right where shown": {
                each.window.id: float(each.right(each.pages[:1])) for each in shown
            },
            "shown on-book": {each.window.id: float(bool(each.pages)) for each in on},
            "silent off-book": {each.window.id: float(not each.pages) for each in off},
        },
        misses=tuple(
            {
                "id": each.window.id,
                "pages": ", ".join(map(str, each.pages)),
                "gold": ", ".join(map(str, sorted(each.window.gold)[:6])) or "none",
                "probability": round(each.probability, 3),
                "text": each.window.text[:120],
            }
            for each in shown
            if not each.right(each.pages[:1])
        ),
    )


def _precision(ranked: Sequence[WindowOutcome], share: float) -> float:
    first = ranked[: max(1, round(share * len(ranked)))]
    return _share(each.right(each.best[:1]) for each in first)


def _silences(off: Sequence[WindowOutcome]) -> dict[str, dict[str, float]]:
    sources: dict[str, list[WindowOutcome]] = {}
    for each in off:
        sources.setdefault(each.window.source or OFF_BOOK, []).append(each)
    return {name: _silence(outcomes) for name, outcomes in sorted(sources.items())}


def _silence(outcomes: Sequence[WindowOutcome]) -> dict[str, float]:
    silent = sum(not each.pages for each in outcomes)
    low, high = share_interval(silent, len(outcomes))
    return {
        "windows": len(outcomes),
        "silence": round(silent / len(outcomes), 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def _share(values: Any) -> float:
    return round(mean_of(values), 4)

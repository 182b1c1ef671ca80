"""A running lecture: takes segments at once, looks windows up behind them, tells every viewer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache

from quoth.core.errors import Conflict, QuothError
from quoth.core.lecture import Lecture, LiveCitation, TranscriptSegment, WindowRecord
from quoth.live.cards import CardChoice, CardRules, choose_cards
from quoth.live.events import (
    CitationsFound,
    CitationsStale,
    EventLog,
    LectureEnded,
    LookupSlow,
    SegmentSpoken,
    WindowCompleted,
)
from quoth.live.segments import clean_segment
from quoth.live.session import LectureProgress, SegmentChange
from quoth.live.windows import MAX_WORDS, LectureWindow
from quoth.pipeline.components import Components
from quoth.pipeline.lecture import (
    WindowLookup,
    candidate_of,
    cite_candidate,
    cited_place,
    look_up_window,
    same_cards,
    window_record,
)
from quoth.store.lectures import Lectures
from quoth.store.rows import now

log = logging.getLogger("quoth.live")

MAX_WAITING = 8
"""Windows that wait to be looked up; beyond, the oldest two become one look-up."""
DEADLINE_MS = 10_000.0
"""Time for one look-up: a late card is better than none."""
SLOW_S = 2.0
EARLY = 0.95
"""Probability from which a card is shown before its window ends, twice in a row."""
MIN_EARLY_WORDS = 15
MAX_LOOKUPS = 64
"""Look-ups that are remembered with their passages; an older window is looked up again."""
STALE_SHARE = 0.6
"""Share of the threshold below which the new words no longer support a card."""


@dataclass(slots=True)
class _Job:
    """Windows that are looked up together, and when the first began to wait."""

    windows: list[int]
    since: float


class LiveSession:
    """One lecture in this process.

    Segments are stored and acknowledged without waiting for retrieval. `stop` ends the work;
    `finish` waits for it.
    """

    def __init__(self, parts: Components, lecture: Lecture, *, early: bool = True) -> None:
        self.parts = parts
        self.lecture = lecture
        self.store = Lectures.of(parts.catalogue)
        self.progress = LectureProgress()
        self.events = EventLog()
        self.merged = 0
        self._early = early
        self._guess: tuple[str, tuple[str, str] | None] = ("", None)
        self._cards: dict[int, tuple[LiveCitation, ...]] = {}
        self._lookups: LRUCache[str, WindowLookup] = LRUCache(MAX_LOOKUPS)
        self._waiting: list[_Job] = []
        self._again: list[int] = []
        self._checks: list[LectureWindow] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._numbered = 0
        self._task: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Restore what was stored, as after a restart: words, windows and their cards."""
        key = self.lecture.session_id
        segments = await asyncio.to_thread(self.store.segments, key)
        records = await asyncio.to_thread(self.store.windows, key)
        stored = {record.index: record for record in records}
        if self.lecture.numbering == "caller":
            self._cards = {record.index: record.citations for record in records}
        else:
            for segment in segments:
                self.progress.add(segment)
            if self.lecture.state == "ended":
                self.progress.close()
        for window in self.progress.windows:
            record = stored.get(window.index)
            if record is None or record.text != window.text:
                self._queue(window)
                continue
            self._cards[window.index] = record.citations
            found = tuple(candidate_of(citation) for citation in record.citations)
            self.progress.resolve(window.query, found, rules=CardRules(show_from=0.0, sure=0.0))
        self._numbered = max(
            (card.number for cards in self._cards.values() for card in cards), default=0
        )

    async def push(self, segments: Sequence[TranscriptSegment]) -> int:
        """Take segments; return how many are new. Raises InputError, and Conflict after the end."""
        clean = [clean_segment(segment) for segment in segments]
        await self._claim("server")
        if self.lecture.state == "ended":
            raise Conflict("This session has ended. Start another one.")
        changes = [(segment, self.progress.add(segment)) for segment in clean]
        accepted = [(segment, change) for segment, change in changes if change.accepted]
        finals = [segment for segment, _ in accepted if segment.final and segment.text]
        if finals:
            key = self.lecture.session_id
            await asyncio.to_thread(self.store.put_segments, key, finals)
        for segment, change in accepted:
            if segment.text:
                self.events.put(SegmentSpoken(segment))
            await self._apply(change)
        self._work()
        return len(accepted)

    async def ask(self, window_index: int, text: str) -> tuple[LiveCitation, ...]:
        """Look up a window that the caller numbers; the same again gives the stored result.

        Raises Conflict for another text under the same number.
        """
        await self._claim("caller")
        known = {record.index: record for record in await self._records()}
        if (record := known.get(window_index)) is not None:
            if record.text != text:
                raise Conflict(f"Window {window_index} was asked with another text before.")
            return record.citations
        found = await self._look_up(text)
        self._lookups[text] = found
        before = known.get(window_index - 1)
        shown = {
            (card.document_id, cited_place(card)): card.relevance_score or 0.0
            for card in (before.citations if before else ())
        }
        rules = CardRules(show_from=found.show_from)
        choice = choose_cards(found.candidates, rules=rules, before=shown)
        cards = self._cite(choice, found, index=window_index, transcript_id="", text=text)
        record = WindowRecord(window_index, 0.0, 0.0, text, "", now(), cards)
        await asyncio.to_thread(self.store.put_windows, self.lecture.session_id, [record])
        self._cards[window_index] = cards
        self.events.put(WindowCompleted(window_index, 0.0, 0.0, ""))
        self.events.put(CitationsFound(window_index, cards))
        return cards

    def lookup(self, text: str) -> WindowLookup:
        """Return what a window's text found, as far as it is remembered."""
        return self._lookups.get(text, WindowLookup())

    async def end(self) -> None:
        """Complete the last window, wait for all look-ups, and end the session."""
        if self.lecture.state == "ended":
            return
        self.lecture = replace(self.lecture, state="ended", ended_at=now())
        await self._apply(self.progress.close())
        self._work()
        await self.finish()
        await asyncio.to_thread(
            self.store.change,
            self.lecture.session_id,
            state="ended",
            ended_at=self.lecture.ended_at,
        )
        self.events.put(LectureEnded(len(self._cards)))

    async def finish(self) -> None:
        """Wait until every window has been looked up."""
        if self._task is None:
            return
        idle = asyncio.create_task(self._idle.wait())
        await asyncio.wait({idle, self._task}, return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        if self._task.done() and not self._task.cancelled():
            self._task.result()  # raises what ended the work

    async def stop(self) -> None:
        """Stop looking up; what was said is stored."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """Return the number of look-ups that wait."""
        return len(self._waiting)

    # --- work ---------------------------------------------------------------------------------

    async def _claim(self, numbering: str) -> None:
        if self.lecture.numbering != numbering:
            key = self.lecture.session_id
            decided = await asyncio.to_thread(
                self.store.claim, key, "caller" if numbering == "caller" else "server"
            )
            self.lecture = replace(self.lecture, numbering=decided)
        if self.lecture.numbering != numbering:
            who = "the caller" if self.lecture.numbering == "caller" else "the session"
            raise Conflict(f"In this session {who} numbers the windows, from its first call on.")

    async def _records(self) -> list[WindowRecord]:
        return await asyncio.to_thread(self.store.windows, self.lecture.session_id)

    async def _apply(self, change: SegmentChange) -> None:
        for window in change.windows:
            self._queue(window)
        if change.gone:
            last = len(self.progress.windows)
            gone = range(last, last + change.gone)
            await asyncio.to_thread(
                self.store.put_windows, self.lecture.session_id, [], gone=list(gone)
            )
            for index in gone:
                self._cards.pop(index, None)
                self.events.put(CitationsFound(index, ()))
        self._checks += change.revised

    def _queue(self, window: LectureWindow) -> None:
        self.events.put(
            WindowCompleted(window.index, window.start, window.end, window.segment_ids[-1])
        )
        self._cards.pop(window.index, None)
        self._waiting = [job for job in self._waiting if job.windows != [window.index]]
        self._waiting.append(_Job([window.index], time.monotonic()))
        if len(self._waiting) > MAX_WAITING:
            first, second, *rest = self._waiting
            self.merged += 1
            both = [*first.windows, *second.windows]
            self._again += [index for index in both if index not in self._again]
            self._waiting = [_Job(both, first.since), *rest]

    def _work(self) -> None:
        self._idle.clear()
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            if self._waiting:
                await self._do(self._waiting.pop(0))
            elif self._checks:
                await self._check(self._checks.pop(0))
            elif self._again:
                await self._do(_Job([self._again.pop(0)], time.monotonic()))
            else:
                await self._guess_early()
                if self._waiting or self._checks:
                    continue
                self._idle.set()
                self._wake.clear()
                await self._wake.wait()

    async def _do(self, job: _Job) -> None:
        windows = [
            self.progress.windows[index]
            for index in job.windows
            if index < len(self.progress.windows)
        ]
        if not windows:
            return
        last = windows[-1]
        text = " ".join(" ".join(each.text for each in windows).split()[-MAX_WORDS:])
        text = last.query if len(windows) == 1 else text
        watch = asyncio.create_task(self._warn_slow(last.index, job.since))
        try:
            found = await self._look_up(text)
        finally:
            watch.cancel()
        self._lookups[last.query] = found
        rules = CardRules(show_from=found.show_from)
        changed = self.progress.resolve(last.query, found.candidates, rules=rules)
        for window in windows[:-1]:
            changed += self.progress.resolve(window.query, (), rules=rules)
        await self._publish(sorted({*changed, last.index}))

    async def _publish(self, indexes: Sequence[int]) -> None:
        records = []
        for index in (each for each in indexes if each < len(self.progress.windows)):
            window, choice = self.progress.windows[index], self.progress.choices[index]
            if window.query not in self.progress.found:
                continue
            found = self._lookups.get(window.query, WindowLookup())
            last = window.segment_ids[-1]
            cards = self._cite(choice, found, index=index, transcript_id=last, text=window.text)
            if len(cards) < len(choice.cards):  # its passages are forgotten
                self._again.append(index)
                continue
            if index in self._cards and same_cards(cards, self._cards[index]):
                continue
            self._cards[index] = cards
            records.append(window_record(window, cards))
        if records:
            await asyncio.to_thread(self.store.put_windows, self.lecture.session_id, records)
        for record in records:
            self.events.put(CitationsFound(record.index, record.citations))

    async def _look_up(self, text: str) -> WindowLookup:
        """Look up a text; what fails is logged and finds nothing (one retry where it may help)."""
        if not self.lecture.collections:
            return WindowLookup()
        for attempt in (1, 2):
            try:
                return await look_up_window(
                    self.parts,
                    text,
                    collections=self.lecture.collections,
                    language=self.lecture.language,
                    deadline_ms=DEADLINE_MS,
                )
            except QuothError as error:
                log.warning(
                    "window_not_looked_up",
                    extra={"session": self.lecture.session_id, "code": error.code},
                )
                if attempt == 2 or not getattr(error, "retryable", False):
                    break
        return WindowLookup()

    async def _warn_slow(self, index: int, since: float) -> None:
        await asyncio.sleep(max(0.0, since + SLOW_S - time.monotonic()))
        self.events.put(LookupSlow(index, round(time.monotonic() - since, 1)))

    async def _check(self, window: LectureWindow) -> None:
        """Mark the cards of a window stale that its revised words no longer support."""
        cards = self._cards.get(window.index, ())
        if not cards:
            return
        found = await self._look_up(self.progress.revised_query(window))
        supported = {
            candidate.chunk_id
            for candidate in found.candidates
            if candidate.probability >= STALE_SHARE * found.show_from
        }
        gone = [card for card in cards if card.chunk_id not in supported]
        if not gone:
            return
        marked = tuple(replace(card, stale=card.stale or card in gone) for card in cards)
        self._cards[window.index] = marked
        record = window_record(window, marked)
        await asyncio.to_thread(self.store.put_windows, self.lecture.session_id, [record])
        self.events.put(CitationsStale(window.index, tuple(card.id for card in gone)))

    async def _guess_early(self) -> None:
        """Show a card before its window ends where it is almost certain, twice in a row."""
        text = self.progress.open_text
        last, key = self._guess
        if not self._early or text == last or len(text.split()) < MIN_EARLY_WORDS:
            return
        found = await self._look_up(text)
        rules = CardRules(show_from=max(EARLY, found.show_from), max_cards=1)
        current = self.progress.choices[-1].current if self.progress.choices else {}
        choice = choose_cards(found.candidates, rules=rules, before=current)
        best = choice.cards[0].key if choice.cards else None
        self._guess = (text, best)
        index = len(self.progress.windows)
        if best is not None and best == key and text.startswith(last):
            segment = self.progress.open[-1].segment.segment_id
            cards = self._cite(choice, found, index=index, transcript_id=segment, text=text)
            self.events.put(CitationsFound(index, cards, early=True))

    def _cite(
        self, choice: CardChoice, found: WindowLookup, *, index: int, transcript_id: str, text: str
    ) -> tuple[LiveCitation, ...]:
        known = {card.chunk_id: card for card in self._cards.get(index, ())}
        cards = []
        for rank, candidate in enumerate(choice.cards, start=1):
            if (old := known.get(candidate.chunk_id)) is not None:
                cards.append(replace(old, rank=rank))
            elif candidate.chunk_id in found.passages:
                self._numbered += 1
                made = cite_candidate(found, candidate, spoken=text, number=self._numbered)
                cards.append(
                    replace(
                        made,
                        rank=rank,
                        session_id=self.lecture.session_id,
                        transcript_id=transcript_id,
                        window_index=index,
                    )
                )
        return tuple(cards)

"""A running lecture: takes segments at once, looks windows up behind them, tells every viewer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cachetools import LRUCache

from quoth.core.errors import Busy, Conflict, QuothError
from quoth.core.lecture import (
    Lecture,
    LiveCitation,
    Numbering,
    SpeechFormat,
    TranscriptSegment,
)
from quoth.live.adapters import TranscriptSource
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
from quoth.live.queue import LookupJob, LookupQueue
from quoth.live.segments import clean_segment, newer
from quoth.live.session import LectureProgress, SegmentChange
from quoth.live.windows import MAX_WORDS, LectureWindow
from quoth.pipeline.components import Components
from quoth.pipeline.lecture import (
    WindowLookup,
    candidate_of,
    cite_candidate,
    look_up_for,
    same_cards,
    window_record,
)
from quoth.pipeline.live_language_model import TranslatedCaptions, WindowKeywords
from quoth.store.lectures import Lectures
from quoth.store.rows import now

log = logging.getLogger("quoth.live")

SLOW_S = 2.0
EARLY = 0.95
"""Probability from which a card is shown before its window ends, twice in a row."""
MIN_EARLY_WORDS = 15
MAX_LOOKUPS = 64
"""Look-ups that are remembered with their passages; an older window is looked up again."""
WRITE_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""Pauses between the attempts to store what was found."""
STALE_SHARE = 0.6
"""Share of the threshold below which the new words no longer support a card."""


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
        self.captions = TranslatedCaptions()
        self._early = early
        self._keywords = WindowKeywords()
        self._guess: tuple[str, tuple[str, str] | None] = ("", None)
        self.cards: dict[int, tuple[LiveCitation, ...]] = {}
        self.lookups: LRUCache[str, WindowLookup] = LRUCache(MAX_LOOKUPS)
        self._queue = LookupQueue()
        self._checks: list[LectureWindow] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._numbered = 0
        self._sources: dict[SpeechFormat, TranscriptSource] = {}
        self._pushing = asyncio.Lock()
        self.asking = asyncio.Lock()
        """Held while the result of a window that the caller numbers is stored."""
        self._task: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Restore what was stored, as after a restart: words, windows and their cards."""
        key = self.lecture.session_id
        segments = await asyncio.to_thread(self.store.segments, key)
        records = await asyncio.to_thread(self.store.windows, key)
        stored = {record.index: record for record in records}
        if self.lecture.numbering == "caller":
            self.cards = {record.index: record.citations for record in records}
        else:
            for segment in segments:
                self.progress.add(segment)
            if self.lecture.state == "ended":
                self.progress.close()
        for window in self.progress.windows:
            record = stored.get(window.index)
            if record is None or record.text != window.text:
                self._await(window)
                continue
            self.cards[window.index] = record.citations
            # It may be about the pages of the window before, too, which it did not cite again.
            near = (*record.citations, *self.cards.get(window.index - 1, ()))
            found = tuple(map(candidate_of, near))
            self.progress.resolve(window.query, found, rules=CardRules(show_from=0.0, sure=0.0))
        self._numbered = max(
            (card.number for cards in self.cards.values() for card in cards), default=0
        )
        if self._queue.waiting:
            self._work()

    async def push(self, segments: Sequence[TranscriptSegment]) -> int:
        """Take segments; return how many are new.

        Raises InputError, Conflict after the end, and Busy where they could not be stored: then
        none is taken, and they may be sent again.
        """
        clean = [clean_segment(segment) for segment in segments]
        await self.claim("server")
        async with self._pushing:
            if self.lecture.state == "ended":
                raise Conflict("This session has ended. Start another one.")
            new: dict[str, TranscriptSegment] = {}
            known = ChainMap(new, self.progress.segments)
            accepted = []
            for segment in clean:
                if newer(segment, known):
                    new[segment.segment_id] = segment
                    accepted.append(segment)
            finals = [each for each in new.values() if each.final and each.text]
            if finals:
                key = self.lecture.session_id
                await asyncio.to_thread(self.store.put_segments, key, finals)
            for segment in accepted:
                change = self.progress.add(segment)
                if segment.text:
                    self.events.put(SegmentSpoken(segment))
                await self._apply(change)
        language = self.lecture.language or "en"
        at, words = len(self.progress.windows), self.progress.open_text
        self._keywords.ask(self.parts, at, words, language=language)
        self._work()
        return len(accepted)

    async def claim(self, numbering: Numbering) -> None:
        """Set who numbers the windows; raises Conflict where that was decided otherwise."""
        if self.lecture.numbering != numbering:
            key = self.lecture.session_id
            decided = await asyncio.to_thread(self.store.claim, key, numbering)
            self.lecture = replace(self.lecture, numbering=decided)
        if self.lecture.numbering != numbering:
            who = "the caller" if self.lecture.numbering == "caller" else "the session"
            raise Conflict(f"In this session {who} numbers the windows, from its first call on.")

    def source(self, form: SpeechFormat) -> TranscriptSource:
        """Return the reader of a provider's messages, which outlives each of its connections."""
        made = self._sources.setdefault(form, TranscriptSource(form))
        made.behind = max(made.behind, self.said_until)
        return made

    @property
    def said_until(self) -> float:
        """Return the second up to which something was said."""
        return max((each.end for each in self.progress.segments.values()), default=0.0)

    async def end(self) -> None:
        """Complete the last window, wait for all look-ups, and end the session.

        Where that cannot be stored the session stays open, and may be ended again.
        """
        async with self._pushing:
            if self.lecture.state == "ended":
                return
            ended_at = now()
            self.lecture = replace(self.lecture, state="ended", ended_at=ended_at)
        try:
            await self._apply(self.progress.close())
            self._work()
            await self.finish()
            change = partial(self.store.change, state="ended", ended_at=ended_at)
            await self._written(change)
        except BaseException:  # also where the caller is cancelled
            self.lecture = replace(self.lecture, state="open", ended_at=None)
            raise
        self.events.put(LectureEnded(len(self.cards)))

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
        await self._keywords.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """Return the number of look-ups that wait."""
        return len(self._queue.waiting)

    @property
    def merged(self) -> int:
        """Return how often two windows became one look-up."""
        return self._queue.merged

    # --- work ---------------------------------------------------------------------------------

    async def _written(self, write: Callable[[str], object]) -> None:
        """Write to the catalogue; while others write, try again for a while."""
        for pause in WRITE_PAUSES_S:
            try:
                await asyncio.to_thread(write, self.lecture.session_id)
                return
            except Busy:
                await asyncio.sleep(pause)
        await asyncio.to_thread(write, self.lecture.session_id)

    async def _apply(self, change: SegmentChange) -> None:
        for window in change.windows:
            self._await(window)
        if change.gone:
            last = len(self.progress.windows)
            gone = range(last, last + change.gone)
            await self._written(partial(self.store.put_windows, windows=[], gone=list(gone)))
            for index in gone:
                self.cards.pop(index, None)
                self.events.put(CitationsFound(index, ()))
        self._checks += change.revised

    def _await(self, window: LectureWindow) -> None:
        self.events.put(
            WindowCompleted(window.index, window.start, window.end, window.segment_ids[-1])
        )
        self.cards.pop(window.index, None)
        self._queue.put(window.index)

    def _work(self) -> None:
        self._idle.clear()
        self._wake.set()
        if self._task is None or self._task.done():
            if self._task is not None and not self._task.cancelled():
                log.warning("lookups_begin_again", exc_info=self._task.exception())
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            if (job := self._queue.next()) is not None:
                await self._do(job)
            elif self._checks:
                await self._check(self._checks.pop(0))
            elif (job := self._queue.next_again()) is not None:
                await self._do(job)
            else:
                await self._guess_early()
                if self._queue.waiting or self._checks:
                    continue
                self._idle.set()
                self._wake.clear()
                await self._wake.wait()

    async def _do(self, job: LookupJob) -> None:
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
            found = await self.look_up(text, keywords=self._keywords.take(last.index))
        finally:
            watch.cancel()
        self.lookups[last.query] = found
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
            found = self.lookups.get(window.query, WindowLookup())
            last = window.segment_ids[-1]
            cards = self.cite(choice, found, index=index, transcript_id=last, text=window.text)
            if len(cards) < len(choice.cards):  # its passages are forgotten
                self._queue.again.append(index)
                continue
            if index in self.cards and same_cards(cards, self.cards[index]):
                continue
            self.cards[index] = cards
            records.append(window_record(window, cards))
        if records:
            try:
                await self._written(partial(self.store.put_windows, windows=records))
            except QuothError:  # looked up again with what comes next
                for record in records:
                    self.cards.pop(record.index, None)
                    self._queue.again.append(record.index)
                raise
        for record in records:
            self.events.put(CitationsFound(record.index, record.citations))

    async def look_up(self, text: str, *, keywords: str = "") -> WindowLookup:
        """Look up a text; what fails finds nothing."""
        return await look_up_for(self.parts, self.lecture, text, keywords=keywords)

    async def _warn_slow(self, index: int, since: float) -> None:
        await asyncio.sleep(max(0.0, since + SLOW_S - time.monotonic()))
        self.events.put(LookupSlow(index, round(time.monotonic() - since, 1)))

    async def _check(self, window: LectureWindow) -> None:
        """Mark the cards of a window stale that its revised words no longer support."""
        cards = self.cards.get(window.index, ())
        if not cards:
            return
        found = await self.look_up(self.progress.revised_query(window))
        supported = {
            candidate.chunk_id
            for candidate in found.candidates
            if candidate.probability >= STALE_SHARE * found.show_from
        }
        gone = [card for card in cards if card.chunk_id not in supported]
        if not gone:
            return
        marked = tuple(replace(card, stale=card.stale or card in gone) for card in cards)
        self.cards[window.index] = marked
        record = window_record(window, marked)
        await self._written(partial(self.store.put_windows, windows=[record]))
        self.events.put(CitationsStale(window.index, tuple(card.id for card in gone)))

    async def _guess_early(self) -> None:
        """Show a card before its window ends where it is almost certain, twice in a row."""
        text = self.progress.open_text
        last, key = self._guess
        if not self._early or text == last or len(text.split()) < MIN_EARLY_WORDS:
            return
        found = await self.look_up(self.progress.open_query)
        rules = CardRules(show_from=max(EARLY, found.show_from), max_cards=1)
        current = self.progress.choices[-1].current if self.progress.choices else {}
        choice = choose_cards(found.candidates, rules=rules, before=current)
        best = choice.cards[0].key if choice.cards else None
        self._guess = (text, best)
        index = len(self.progress.windows)
        if best is not None and best == key and text.startswith(last):
            segment = self.progress.open[-1].segment.segment_id
            cards = self.cite(choice, found, index=index, transcript_id=segment, text=text)
            self.events.put(CitationsFound(index, cards, early=True))

    def cite(
        self, choice: CardChoice, found: WindowLookup, *, index: int, transcript_id: str, text: str
    ) -> tuple[LiveCitation, ...]:
        """Cite the cards of a window; those that it has keep their number, new ones count on."""
        known = {card.chunk_id: card for card in self.cards.get(index, ())}
        cards = []
        for rank, candidate in enumerate(choice.cards, start=1):
            card = known.get(candidate.chunk_id)
            if card is None and candidate.chunk_id in found.passages:
                self._numbered += 1
                card = cite_candidate(found, candidate, spoken=text, number=self._numbered)
            if card is not None:
                cards.append(
                    replace(
                        card,
                        rank=rank,
                        session_id=self.lecture.session_id,
                        transcript_id=transcript_id,
                        window_index=index,
                    )
                )
        return tuple(cards)

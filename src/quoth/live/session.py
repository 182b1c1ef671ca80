"""The state of a lecture, the same for segments and results in any order of arrival."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from quoth.core.lecture import TranscriptSegment
from quoth.live.cards import CardChoice, CardRules, PageCandidate, choose_cards
from quoth.live.segments import newer
from quoth.live.windows import QUERY_WORDS, LectureWindow, SpokenPiece, cut_windows


@dataclass(frozen=True, slots=True)
class SegmentChange:
    """What a segment changed.

    ``accepted`` is False for one that was known already. ``windows`` are those that are new or
    have other words than before; ``gone`` counts the last ones that are no longer there;
    ``revised`` are complete windows that a later revision has changed the words of.
    """

    accepted: bool = False
    windows: tuple[LectureWindow, ...] = ()
    gone: int = 0
    revised: tuple[LectureWindow, ...] = ()


@dataclass(slots=True)
class LectureProgress:
    """Segments, the windows that they make, what these found, and the cards that follow.

    The windows and cards at the end are the same for every order of arrival: a segment that comes
    late cuts the windows behind it anew, and each choice of cards is made again from the first
    window that changed. A revision of a segment in a complete window changes no window.
    """

    segments: dict[str, TranscriptSegment] = field(default_factory=dict)
    finals: list[TranscriptSegment] = field(default_factory=list)
    windows: list[LectureWindow] = field(default_factory=list)
    choices: list[CardChoice] = field(default_factory=list)
    found: dict[str, tuple[PageCandidate, ...]] = field(default_factory=dict)
    rules: CardRules = field(default_factory=lambda: CardRules(show_from=0.5))
    open: list[SpokenPiece] = field(default_factory=list)

    @property
    def open_text(self) -> str:
        """Return the words of the window that is being filled."""
        return " ".join(piece.text for piece in self.open)

    @property
    def open_query(self) -> str:
        """Return what is looked up of the window that is being filled: as `LectureWindow.query`."""
        last = self.windows[-1] if self.windows else None
        fresh = [each for each in self.open if last is None or each.place > last.pieces[-1].place]
        words = " ".join([last.query if last else "", *(each.text for each in fresh)]).split()
        return " ".join(words[-QUERY_WORDS:])

    def add(self, segment: TranscriptSegment) -> SegmentChange:
        """Take a clean segment, final or interim."""
        if not newer(segment, self.segments):
            return SegmentChange()
        known = self.segments.get(segment.segment_id)
        self.segments[segment.segment_id] = segment
        if not segment.final:
            return SegmentChange(accepted=True)
        if known is not None and known.final:
            its = [each for each in self.windows if segment.segment_id in each.segment_ids]
            if its:
                return SegmentChange(accepted=True, revised=tuple(its))
            if known.text:  # one without words never was among them
                self.finals.remove(known)
        if not segment.text:
            return SegmentChange(accepted=True)
        places = [each.place for each in self.finals]
        self.finals.insert(bisect_left(places, segment.place), segment)
        return self._cut(segment)

    def close(self) -> SegmentChange:
        """Complete the last window, however short."""
        return self._cut(None)

    def resolve(
        self, query: str, candidates: Sequence[PageCandidate], *, rules: CardRules
    ) -> list[int]:
        """Take what a window's query found; return the windows whose cards changed."""
        self.rules = rules
        self.found[query] = tuple(candidates)
        first = next((w.index for w in self.windows if w.query == query), None)
        return [] if first is None else self._choose(first)

    def revised_query(self, window: LectureWindow) -> str:
        """Return what is looked up of a window with the newest revision of each segment."""
        words = [self.segments[key].text for key in window.segment_ids]
        return " ".join([window.before, *words]).strip()

    def _cut(self, segment: TranscriptSegment | None) -> SegmentChange:
        kept = len(self.windows)
        while segment and kept and self.windows[kept - 1].decided_by >= segment.place:
            kept -= 1
        before = self.windows[kept:]
        last = self.windows[kept - 1] if kept else None
        start = 0
        if last is not None:
            place = last.pieces[-1].segment.place
            start = bisect_left([each.place for each in self.finals], place)
        made, self.open = cut_windows(self.finals[start:], after=last, closed=segment is None)
        self.windows = [*self.windows[:kept], *made]
        queries = {each.index: each.query for each in before}
        changed = tuple(each for each in made if queries.get(each.index) != each.query)
        self.choices = self.choices[: min(kept, len(self.choices))]
        self._choose(kept)
        return SegmentChange(True, changed, max(0, len(before) - len(made)))

    def _choose(self, first: int) -> list[int]:
        """Choose cards again from a window on, as far as that changes anything."""
        changed = []
        for index in range(first, len(self.windows)):
            current = self.choices[index - 1].current if index else {}
            candidates = self.found.get(self.windows[index].query)
            choice = (
                CardChoice((), current)
                if candidates is None
                else choose_cards(candidates, rules=self.rules, before=current)
            )
            if index < len(self.choices):
                if self.choices[index] == choice and index > first:
                    break
                if self.choices[index].cards != choice.cards or index == first:
                    changed.append(index)
                self.choices[index] = choice
            else:
                self.choices.append(choice)
                changed.append(index)
        return changed

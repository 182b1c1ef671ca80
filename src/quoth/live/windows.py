"""Windows of a lecture: the few sentences at a time that citations are looked up for.

A window is complete at two sentences and 30 words beyond the sentence that it repeats from the
window before, at 150 words, or at a pause, a new topic's opening or the age limit with 30 words.
Each decision depends only on segments up to the one that it names, so that the windows are a
function of the segments, whatever the order of their arrival.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from quoth.core.lecture import TranscriptSegment
from quoth.text.analyzer import normalize_name
from quoth.text.sentences import openings, sentences

MIN_WORDS, MAX_WORDS = 30, 150
MIN_SENTENCES = 2
PAUSE_S = 1.5
"""Silence that ends a window of enough words."""
MAX_AGE_S = 30.0
"""Seconds of speech after which a window of enough words ends, in mid-sentence if need be."""
UNPUNCTUATED_WORDS = 60
"""Words that count as two sentences where the transcript has no punctuation."""
OPENING_WORDS = 45
"""Words from which "so", "now" or "donc" at the beginning of a segment opens a new window."""
MAX_CARRIED = 60
"""Words of a last sentence that the next window repeats; a longer one is not repeated."""
QUERY_WORDS = 110
"""Words that are looked up where the lecture has them: a shorter text is about too little."""

_LAST_WORD = re.compile(r"(\S+)[\"'”’»)\]]*$")
Place = tuple[float, float, str]


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """A sentence or a part of one within a segment; ``ends`` says whether a sentence ends here."""

    text: str
    start: float
    end: float
    segment: TranscriptSegment
    number: int
    ends: bool

    @property
    def words(self) -> int:
        """Return the number of words."""
        return len(self.text.split())

    @property
    def place(self) -> tuple[Place, int]:
        """Return the position in the lecture."""
        return self.segment.place, self.number


@dataclass(frozen=True, slots=True)
class LectureWindow:
    """Consecutive pieces of a lecture, the first ``carried`` of them repeated from before.

    ``decided_by`` is the segment that completed it: a segment that comes later in the lecture
    cannot change the window. ``before`` holds the words before a short window.
    """

    index: int
    pieces: tuple[SpokenPiece, ...]
    carried: int
    decided_by: Place
    before: str = ""

    @property
    def text(self) -> str:
        """Return the words of the window."""
        return " ".join(piece.text for piece in self.pieces)

    @property
    def query(self) -> str:
        """Return what is looked up: the words of the window, after those before a short one."""
        return f"{self.before} {self.text}".strip()

    @property
    def start(self) -> float:
        """Return the second of the first word that is not repeated from the window before."""
        return self.pieces[self.carried].start

    @property
    def end(self) -> float:
        """Return the second of the last word."""
        return self.pieces[-1].end

    @property
    def segment_ids(self) -> tuple[str, ...]:
        """Return the segments that the window has words of, in order."""
        return tuple(dict.fromkeys(piece.segment.segment_id for piece in self.pieces))


@dataclass(slots=True)
class _Open:
    """The window being filled."""

    pieces: list[SpokenPiece] = field(default_factory=list)
    carried: int = 0

    @property
    def words(self) -> int:
        return sum(piece.words for piece in self.pieces)

    @property
    def fresh(self) -> list[SpokenPiece]:
        return self.pieces[self.carried :]


def cut_windows(
    segments: Sequence[TranscriptSegment],
    *,
    after: LectureWindow | None = None,
    closed: bool = False,
) -> tuple[list[LectureWindow], list[SpokenPiece]]:
    """Return the complete windows of final segments in order, and the pieces of the open one.

    ``after`` continues behind a window that is complete. ``closed`` completes the last window,
    however short.
    """
    windows: list[LectureWindow] = []
    number = 0 if after is None else after.index + 1
    filling = _Open() if after is None else _carry(after.pieces)

    def complete(by: SpokenPiece) -> None:
        nonlocal filling
        before = _words_before(windows[-1] if windows else after, filling)
        place = by.segment.place
        made = LectureWindow(
            number + len(windows), tuple(filling.pieces), filling.carried, place, before
        )
        windows.append(made)
        filling = _carry(made.pieces)

    for piece in _pieces(segments, after=after):
        if filling.fresh and _ends_before(filling, piece):
            complete(piece)
        filling.pieces.append(piece)
        if _is_complete(filling):
            complete(piece)
    if closed and filling.fresh:
        complete(filling.pieces[-1])
    return windows, filling.pieces


def ends_sentence(text: str) -> bool:
    """Return whether a text's last word ends a sentence, without knowing what follows.

    Abbreviations, initials, numbers with a full stop (perhaps half of a decimal) and an ellipsis
    do not.
    """
    last = _LAST_WORD.search(text)
    if last is None:
        return False
    word = last[1].rstrip("\"'”’»)]")
    if word.endswith(("?", "!", "。", "！", "？")):
        return True
    if not word.endswith(".") or word.endswith("..") or word[:-1].isdigit():
        return False
    if word.casefold() == "etc.":
        return False
    return len(sentences(f"{text[-60:]} 9 ok.")) > len(sentences(text[-60:])) or _plain(word)


def _plain(word: str) -> bool:
    return len(word) > 5 and word[:-1].isalpha()


def pieces_of(segment: TranscriptSegment) -> list[SpokenPiece]:
    """Split a segment into sentences, with times in proportion to the characters."""
    text = segment.text
    spans = sentences(text)
    seconds = (segment.end - segment.start) / max(1, len(text))
    pieces = []
    for number, (low, high) in enumerate(spans):
        last = number == len(spans) - 1
        ends = ends_sentence(text[low:high]) if last else text[high - 1] not in ",;:–—-"
        stopped = re.search(r"[.?!…。！？][\"'”’»)\]]*$", text[low:high]) is not None
        pieces.append(
            SpokenPiece(
                text[low:high],
                segment.start + low * seconds,
                segment.start + high * seconds,
                segment,
                number,
                ends and stopped,
            )
        )
    return pieces


def _pieces(
    segments: Sequence[TranscriptSegment], *, after: LectureWindow | None
) -> Iterator[SpokenPiece]:
    done = None if after is None else after.pieces[-1].place
    for segment in segments:
        if done is None or segment.place >= done[0]:
            yield from (piece for piece in pieces_of(segment) if done is None or piece.place > done)


def _words_before(last: LectureWindow | None, filling: _Open) -> str:
    missing = QUERY_WORDS - filling.words
    if last is None or missing <= 0:
        return ""
    own = last.pieces[: len(last.pieces) - filling.carried]
    words = [*last.before.split(), *(word for piece in own for word in piece.text.split())]
    return " ".join(words[-missing:])


def _carry(pieces: Sequence[SpokenPiece]) -> _Open:
    """Begin a window with the last sentence of the one before."""
    first = len(pieces) - 1
    while first > 0 and not pieces[first - 1].ends:
        first -= 1
    sentence = list(pieces[first:])
    if sum(piece.words for piece in sentence) > MAX_CARRIED:
        sentence = [pieces[-1]] if pieces[-1].words <= MAX_CARRIED else []
    if len(sentence) == len(pieces) and len(pieces) > 1:
        sentence = [pieces[-1]]
    return _Open(sentence, len(sentence))


def _is_complete(filling: _Open) -> bool:
    """Return whether the window is complete with the piece just added."""
    words, fresh = filling.words, filling.fresh
    if words < MIN_WORDS:
        return False
    if words >= MAX_WORDS:
        return True
    ended = sum(piece.ends for piece in fresh)
    return ended >= MIN_SENTENCES and fresh[-1].ends


def _ends_before(filling: _Open, piece: SpokenPiece) -> bool:
    """Return whether the window ends before a piece: no room, a pause, a new topic, too old."""
    words, last = filling.words, filling.pieces[-1]
    if words < MIN_WORDS:
        return False
    if words + piece.words > MAX_WORDS:
        return True
    if piece.start - last.end >= PAUSE_S:
        return True
    if piece.end - filling.fresh[0].start > MAX_AGE_S and (
        not any(each.ends for each in filling.fresh) or last.ends
    ):
        return True
    if any(each.ends for each in filling.fresh) or piece.number:
        return False
    topics = openings("next_topic", piece.segment.language or "")
    opens = words >= OPENING_WORDS and topics.match(normalize_name(piece.text)) is not None
    return opens or words >= UNPUNCTUATED_WORDS

"""Runs of sentences: how a quotation grows from its best sentence.

It grows to its neighbours, and to what it cannot be read without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from quoth.answering.extractive.candidates import Quotable
from quoth.answering.extractive.score import CandidateSentences, Scores
from quoth.core.types import Passage
from quoth.text.locators import CELL_GAP, locate_in, speakers_in
from quoth.text.sentences import LABEL

MAX_LIST = 1600
"""Maximum characters of a run with a list or a table."""
MIN_CHARACTERS = 450
"""A shorter run goes on in the next paragraph of its section (docs/decisions/042)."""
FRAGMENT = 80
"""A shorter run takes the sentence after it along, even of the next section; so does one that ends
in a question or a colon."""

MAX_TERM = 60
"""Maximum characters of a term that has a line of its own before its definition."""

MAX_REST = 300
"""Characters of a section beside a run, or between two, that are quoted with them."""
BETWEEN_ITEMS = 3
"""Sentences that may stand between two items of a list."""

_CODE = re.compile(
    r"[$#>%] \S|[a-z][\w.-]* (?:\S+ )*?--?[a-z]|[\w.$]+ ?= ?\S|(?:[a-z]\S* )?[~.]?/\w+/"
    r"|[\w.]+\(.*\)$"
)
"""The beginning of code: a prompt, a command with an option, an assignment, a path, a call."""
_STOPS = tuple(".!?…:。！？：।؟۔")
_CLOSERS = " )]\"'”’»*_`」』）"
_NUMBER = re.compile(r"^[^\S\n]*\(?(\d{1,2})[.)°]\s", re.MULTILINE)
_NOTE = re.compile(r"\^\[\d{1,3}\]\s")
_MARKS = re.compile(r"(?:\[\^?\w{1,4}\]){1,9}$")
"""The marks of footnotes behind a sentence."""
_RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
_INTRODUCED = re.compile(r":\s*(?:\n|$)")


@dataclass(slots=True)
class SentenceRun:
    """A run of sentences of a passage while it grows, from ``first`` to ``last``.

    ``start`` and ``text`` are those of the passage.
    """

    candidates: CandidateSentences
    passage: Passage
    used: set[int]
    left: int
    first: int
    last: int
    start: int = field(init=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        self.start, self.text = self.passage.start, self.passage.text

    def adds(self, at: int, *, longest: int) -> bool:
        """Add the sentence before or after the run if it is free and fits; return whether."""
        sentences = self.candidates.sentences
        if not 0 <= at < len(sentences) or at in self.used:
            return False
        first, last = min(self.first, at), max(self.last, at)
        if (
            sentences[at].passage != sentences[self.first].passage
            or self.note_of(at) != self.note_of(self.first)
            or self.candidates.asked_speaker(at) != self.candidates.asked_speaker(self.first)
            or last - first >= self.left
            or sentences[last].end - sentences[first].start > longest
        ):
            return False
        self.first, self.last = first, last
        return True

    def note_of(self, at: int) -> int | None:
        """Return the sentence with which the footnote of a sentence begins, None outside of one."""
        sentences = self.candidates.sentences
        while (
            not (mark := self.mark_before(at))
            and self.follows(at)
            and sentences[at].joined
            and not begins_note(sentences[at].text)
        ):
            at -= 1
        is_noted = (mark and _RAISED.issuperset(mark)) or begins_note(sentences[at].text)
        return at if is_noted else None

    def mark_before(self, at: int) -> str:
        """Return what stands between a sentence and the one before, such as the mark of an item."""
        before, own = self.candidates.sentences[at - 1], self.candidates.sentences[at]
        is_first = at == 0 or before.passage != own.passage
        begin = 0 if is_first else before.end - self.start
        return self.text[begin : own.start - self.start].strip()

    def follows(self, at: int) -> bool:
        """Return whether a sentence and the one before it are of one passage."""
        sentences = self.candidates.sentences
        return 0 < at < len(sentences) and sentences[at - 1].passage == sentences[at].passage

    @property
    def length(self) -> int:
        """Return the characters of the run."""
        sentences = self.candidates.sentences
        return sentences[self.last].end - sentences[self.first].start

    def is_code(self, at: int) -> bool:
        """Return whether a sentence is a line of code, as a step has its command."""
        sentences = self.candidates.sentences
        if at == len(sentences) or sentences[at].text.endswith(_STOPS):
            return False
        opening = self.text[max(0, sentences[at].start - 2 - self.start) :]
        return bool(_CODE.match(sentences[at].text) or re.match(r"[$#>%] \S", opening))

    def goes_on_after_code(self, at: int) -> bool:
        """Return whether a sentence goes on after a line of code: "use / f(x) / to get it"."""
        text = self.candidates.sentences[at].text
        return at > 0 and text[:1].islower() and self.is_code(at - 1) and not self.is_code(at)

    def up_to_brace(self) -> int:
        """Return how many sentences follow up to the brace that closes one open at the end.

        0 where none is open, and where none of the section closes it within `MAX_LIST`.
        """
        sentences = self.candidates.sentences
        begin = sentences[self.first].start - self.start
        for at in range(self.last, len(sentences)):
            end = sentences[at].end - self.start
            if not are_in_one_section(sentences[at], sentences[self.last]):
                break
            text = self.text[begin:end]
            if text.count("{") <= text.count("}"):
                return at - self.last
            if end - begin > MAX_LIST:
                break
        return 0

    def ends_within_list(self) -> bool:
        """Return whether the list that the run quotes goes on after it."""
        goes_on = self.continues(self.last + 1) or self.next_item() is not None
        return self.has_list() and goes_on

    def is_item(self, at: int) -> bool:
        """Return whether a list marker stands between a sentence and the one before it."""
        return self.follows(at) and self.mark_before(at) != ""

    def announcement(self) -> str:
        """Return the words that announce the list in whose middle the run begins, else "".

        An ellipsis on the next line stands for what is left out between both, or for the items
        before the run where no words announce them.
        """
        sentences, at, in_list, skips = self.candidates.sentences, self.first, False, False
        while self.is_item(at) or (self.follows(at) and sentences[at].joined):
            skips = skips or (in_list and self.is_item(at))
            in_list = in_list or self.is_item(at)
            at -= 1
            if in_list and (colon := _INTRODUCED.search(sentences[at].text)):
                words = sentences[at].text[: colon.start() + 1]
                apart = at + 1 < self.first or colon.end() < len(sentences[at].text)
                words += "\n…" if apart else ""
                if len(words) <= MAX_REST:
                    return words
                break
        return "…" if skips else ""

    def numbers(self, first: int, last: int) -> list[int]:
        """Return the numbers of the items of lists from one sentence to another."""
        sentences = self.candidates.sentences
        begin = sentences[first - 1].end - self.start if self.follows(first) else 0
        text = self.text[begin : sentences[last].end - self.start]
        return [int(each) for each in _NUMBER.findall(text)]

    def next_item(self) -> int | None:
        """Return the next item of the run's list where a few sentences stand between, else None.

        An item of a numbered list has the next number; what is announced begins another list.
        """
        sentences = self.candidates.sentences
        own = self.numbers(self.first, self.last)
        if not (own or self.has_item()):
            return None
        for at in range(self.last + 1, min(self.last + 2 + BETWEEN_ITEMS, len(sentences))):
            if not are_in_one_section(sentences[at], sentences[self.last]):
                return None
            if found := self.numbers(at, at):
                return at if own and found[0] == own[-1] + 1 else None
            if own:
                continue
            if self.is_item(at):
                return at
            if sentences[at].text.endswith(":"):
                return None
        return None

    def has_item(self) -> bool:
        """Return whether the run quotes an item of a list."""
        run = range(self.first, self.last + 1)
        texts = (self.candidates.sentences[at].text for at in run)
        return any(map(self.is_item, run)) or any("\n- " in text for text in texts)

    def is_row(self, at: int) -> bool:
        """Return whether a sentence is a row of a table, as is the one before it."""
        pair = self.candidates.sentences[at - 1 : at + 1]
        return self.follows(at) and all(CELL_GAP in each.text for each in pair)

    def heads_table(self, at: int) -> bool:
        """Return whether a sentence is the caption of the table below: "Table 2. Metals"."""
        if not self.follows(at + 1):
            return False
        caption, row = self.candidates.sentences[at : at + 2]
        return LABEL.match(caption.text) is not None and CELL_GAP in row.text

    def names(self, at: int) -> bool:
        """Return whether the run names the label of a caption: "as Table 2 shows"."""
        sentences = self.candidates.sentences
        label = LABEL.match(sentences[at].text)
        said = self.text[
            sentences[self.first].start - self.start : sentences[self.last].end - self.start
        ]
        return label is not None and label[0] in {found[0] for found in LABEL.finditer(said)}

    def continues(self, at: int) -> bool:
        """Return whether a sentence goes on in the paragraph, list or table of the one before."""
        sentences = self.candidates.sentences
        return 0 <= at < len(sentences) and (
            sentences[at].joined or self.is_item(at) or self.is_row(at)
        )

    def neighbours(self) -> list[int]:
        """Return the sentences before and after the run: in its paragraph, or list or table.

        A short run without a list goes on in the next paragraph of its section, unless that is a
        heading. In program text a colon announces no list, and no line is a heading. What another
        speaker says before is no neighbour.
        """
        sentences, first = self.candidates.sentences, self.first
        goes_back = (
            first > 0
            and self.continues(first)
            and not are_of_two_speakers(self.passage, sentences[first - 1], sentences[first])
        )
        before = [first - 1] if goes_back else []
        after = self.last + 1
        goes_on = self.continues(after)
        is_short = self.length < MIN_CHARACTERS and after < len(self.candidates.sentences)
        if not goes_on and is_short and (is_program(self.passage) or not self.has_list()):
            same_section = are_in_one_section(sentences[after], sentences[self.last])
            goes_on = same_section and (is_program(self.passage) or self.is_no_heading(after))
        return before + ([after] if goes_on else [])

    def is_no_heading(self, at: int) -> bool:
        """Return whether a sentence ends with a stop or a comma, as headings do not.

        Nor does a term on a line of its own, with its definition in the next one.
        """
        text = self.candidates.sentences[at].text
        opening = text.partition("\n")[0] if self.is_entry(at) else text
        return _MARKS.sub("", opening).rstrip(_CLOSERS).endswith((*_STOPS, ","))

    def is_entry(self, at: int) -> bool:
        """Return whether a sentence has a term on a line of its own before its first words."""
        first, _, below = self.candidates.sentences[at].text.partition("\n")
        return len(first) <= MAX_TERM and below.lstrip()[:1].isupper()

    def is_fragment(self) -> bool:
        """Return whether the run is too short to stand alone.

        A sentence does, however short, before the header of a table, which tells nothing alone.
        """
        after = self.candidates.sentences[self.last + 1 : self.last + 2]
        before_header = any(each.listing and CELL_GAP in each.text for each in after)
        return self.length < FRAGMENT and not (before_header and self.is_no_heading(self.last))

    def has_list(self) -> bool:
        """Return whether the run quotes a part of a list or a table."""
        sentences, run = self.candidates.sentences, range(self.first, self.last + 1)
        return any(_INTRODUCED.search(sentences[at].text) for at in run) or any(
            self.is_item(at) or self.is_row(at) for at in run[1:]
        )


def is_speech(passage: Passage) -> bool:
    """Return whether a passage is of a recording or of a dialogue."""
    return passage.document.kind == "transcript" or any(map(speakers_in, passage.chunks))


def are_of_two_speakers(passage: Passage, one: Quotable, two: Quotable) -> bool:
    """Return whether two sentences are said by different people, both named."""
    if not any(map(speakers_in, passage.chunks)):
        return False
    places = [locate_in(passage.chunks, each.start, each.end) for each in (one, two)]
    names = {each.speaker for each in places if each.speaker}
    return len(names) > 1


def turns_of(passage: Passage, start: int, end: int) -> tuple[tuple[int, str], ...]:
    """Return where each turn of a span of the document begins, and whose it is.

    Empty where one person speaks, and where not all that is said has a name.
    """
    places = [
        (max(place.start, start), place.locator.speaker)
        for chunk in passage.chunks
        for place in chunk.places
        if place.start < end and start < place.end
    ]
    if len({name for _, name in places}) < 2 or not all(name for _, name in places):
        return ()
    turns = (next(group) for _, group in groupby(places, key=itemgetter(1)))
    return tuple((at, name or "") for at, name in turns)


def begins_note(text: str) -> bool:
    """Return whether a text begins with the number of a footnote in brackets."""
    return _NOTE.match(text) is not None


def is_program(passage: Passage) -> bool:
    """Return whether a passage is one of a file of program text."""
    return passage.document.kind == "code"


def may_be_wrapped(passage: Passage) -> bool:
    """Return whether lines of a passage may be parts of a paragraph.

    Readers of other formats join these, so that what has lines is code, a verse or the like.
    """
    return passage.document.kind in ("text", "pdf", "mail", "archive", "transcript")


def are_in_one_section(one: Quotable, two: Quotable) -> bool:
    """Return whether two sentences are of one section of one passage."""
    return one.passage == two.passage and one.section == two.section


def grow(run: SentenceRun, *, scores: Scores, longest: int, before: int) -> range:
    """Extend a run to its neighbours, best first, and then to what it cannot be read without.

    Of the neighbours only those within ``before`` characters before the run are taken.
    """
    sentences = run.candidates.sentences
    earliest = sentences[run.first].start - before
    growing = True
    while growing:
        beside = [at for at in run.neighbours() if sentences[at].start >= earliest]
        beside.sort(key=scores.__getitem__, reverse=True)
        growing = any(run.adds(at, longest=longest) for at in beside)
    most = longest + MAX_REST
    _complete(run, longest=most)
    if run.goes_on_after_code(run.first) and not is_program(run.passage):
        for at in (run.first - 1, run.first - 2):  # The code, and what announces it.
            run.adds(at, longest=most)
    first = run.first
    refers_back = first > 0 and sentences[first].anaphoric
    if refers_back and are_in_one_section(sentences[first - 1], sentences[first]):
        run.adds(first - 1, longest=most)
    return range(run.first, run.last + 1)


def _complete(run: SentenceRun, *, longest: int) -> None:
    """Extend a run by what its end announces or asks: a list, a table, code, an answer."""
    last = run.candidates.sentences[run.last]
    while last.question or last.text.endswith(":") or run.is_fragment():
        if not run.adds(run.last + 1, longest=longest):
            break
        last = run.candidates.sentences[run.last]
    # All of a list or table of which the run quotes a part, and a step's command.
    if run.heads_table(run.last + 1) and run.names(run.last + 1):
        run.adds(run.last + 1, longest=MAX_LIST)
    growing = run.has_list() or run.heads_table(run.last)
    while growing:
        goes_on = run.heads_table(run.last) or run.continues(run.last + 1)
        step = run.last + 1 if goes_on else run.next_item()
        growing = step is not None and run.adds(step, longest=MAX_LIST)
    if not run.is_code(run.last):
        while run.is_code(run.last + 1) and run.adds(run.last + 1, longest=MAX_LIST):
            pass
    for _ in range(run.up_to_brace()):
        run.adds(run.last + 1, longest=MAX_LIST)

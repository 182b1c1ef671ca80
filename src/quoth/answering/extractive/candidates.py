"""Splits passages into quotable sentences and scores their quality."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from threading import Lock

from cachetools import LRUCache, cached

from quoth.core.types import Passage, Query
from quoth.query.filters.patterns import word_set
from quoth.query.tokens import folded_words
from quoth.text.contents import LEADERS, is_index
from quoth.text.locators import CELL_GAP
from quoth.text.sentences import is_anaphoric, openings, sentences, trim_span

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})

ASKING_WEIGHT = 0.3
"""Weight of a question word relative to its rarity."""
INVERTED = re.compile(r"-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)(?=\W*$)")
"""The inverted subject of a French question ("sait-il")."""

_ACCENTS = re.compile("[\u0300-\u036f]+")


def normalize(text: str) -> str:
    """Return the text in lower case, without accents and with straight apostrophes."""
    if text.isascii():
        return text.lower()
    flat = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold())
    return _ACCENTS.sub("", flat)


MAX_SENTENCE = 400
"""Characters from which a sentence is cut at its clauses; a printed sentence rarely has more."""
TARGET_PIECE = 240
"""Target characters of a piece of a cut sentence."""
OPENING = 120
"""Characters in which the opening of a sentence is looked for."""
BEHIND = 12
"""Characters behind a sentence in which the dots of a table of contents begin."""
AROUND = 100
"""Characters before and behind a piece of text that show whether it is in an index."""
HEADING = 0.3
"""Fitness of a heading, or of what is as short."""
OTHER_TEXT = 0.4
"""Fitness of what is no prose: questions, program text, tables of contents, indexes."""
INCOMPLETE = 0.9
"""Fitness of a few words, of names, and of a sentence that does not end."""
MAX_LABEL_WORDS = 8
"""Words of a line with a colon at its end that only says what follows."""
MAX_LIST = 600
"""Maximum characters of a list quoted with its introduction."""
MAX_ROW = 1200
"""Maximum characters of a row of a table that is quoted as a whole."""
MAX_TITLE = 120
"""Maximum characters of the title that a text begins with."""

HEADER_ROWS = 8
"""Lines, empty ones included, in which the first row below the header of a table stands."""

_MARK = "[-–—•‣▪◦·*>»#]"
_OPENING = re.compile(
    rf"(?:(?<!{_MARK}){_MARK}+|[⁰¹²³⁴-⁹]{{1,4}}"
    r"|\(?(?:\d{1,2}[.)°]|(?:[a-z]|[ivx]{2,4})[.)](?!\s+\d)))\s+"
)
_NEXT_ITEM = re.compile(rf"\n[^\S\n]*{_OPENING.pattern}")
_NOISE = re.compile(r"[\[(♪][^\])]*[\])♪]?")
_COMMENT = re.compile(r"[ \t]*(?:#[!+#\s]|//|/\*)")
"""The beginning of a line that is a comment in program text."""
_BULLET = re.compile(r"(?<=\s)[•‣▪◦](?=\s)")
_NO_TITLE = ("\n", ": ", CELL_GAP)
_CLAUSE = re.compile(r"[,;:.!?…–—]\)?[ \n]|\n")
_ADDRESS = re.compile(r"https?://\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SIGN = re.compile(r"[^\w\s]|_")
_CAPITAL = re.compile(r"\b[^\W\d_a-zà-öø-ÿ]\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ENDS = (".", "!", "…", "。", "！", ":", ";", "।", "؟", "۔")
_QUESTION_ENDS = ("?", "？", "؟")
MIN_STANDALONE_SCORE = 0.5
"""Minimum fitness of the sentence that a quotation grows from: no question, heading or noise."""


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence of a passage that may be quoted.

    ``start`` and ``end`` count characters of the document's stored text. ``passage`` is the index
    of its passage, ``section`` the path of its headings. ``standalone_score`` is 1 for a plain
    statement and less for what reads badly in an answer. ``anaphoric`` means that its opening
    refers to the sentence before, ``joined`` that only a space separates them. ``title`` means that
    it is the title of its document or section, or the header of a table. ``cut`` means that it is
    only a piece of a longer sentence, ``listing`` that it is program text, a line of a table of
    contents or an index, or the header of a table.
    """

    document_id: str
    chunk_id: str
    start: int
    end: int
    text: str
    language: str
    passage: int
    section: tuple[str, ...] = ()
    standalone_score: float = 1.0
    anaphoric: bool = False
    joined: bool = False
    question: bool = False
    title: bool = False
    cut: bool = False
    listing: bool = False

    @property
    def has_cells(self) -> bool:
        """Return whether it has the cells of a row, and is not the header of its table."""
        return CELL_GAP in self.text and not self.listing


def is_sound(sentence: Quotable) -> bool:
    """Return whether a sentence is no question, heading or noise."""
    return sentence.standalone_score >= MIN_STANDALONE_SCORE


def asks_title(query: Query) -> bool:
    """Return whether a question asks for a title: "What is the title of …?"."""
    return not word_set("title_words").isdisjoint(folded_words(query.standalone))


def quotable_sentences(passages: Sequence[Passage]) -> tuple[Quotable, ...]:
    """Return the sentences of the passages in order, without pure noise such as "[Music]".

    Overlapping passages share characters; these are quoted from the first one only.
    """
    seen: set[tuple[str, int]] = set()
    found: list[Quotable] = []
    for index, passage in enumerate(passages):
        for each in _of_passage(passage):
            if (each.document_id, each.start) not in seen:
                seen.add((each.document_id, each.start))
                found.append(replace(each, passage=index))
    return tuple(found)


def _identity(passage: Passage) -> tuple[Hashable, ...]:
    # Only what `_of_passage` reads: the boxes of a page take longer to hash than all the rest.
    chunks = tuple(
        (
            *(each.chunk_id, each.start, each.text, each.section, each.language),
            tuple([place.end for place in each.places]),
        )
        for each in passage.chunks
    )
    return passage.document.document_id, passage.document.title, chunks


@cached(LRUCache(256), key=_identity, lock=Lock())
def _of_passage(passage: Passage) -> tuple[Quotable, ...]:
    """Return the sentences of a passage; questions on one subject share many passages."""
    text = passage.text
    starts = [chunk.start - passage.start for chunk in passage.chunks]
    titles = {normalize(title).strip() for chunk in passage.chunks for title in chunk.section}
    titles.add(normalize(passage.document.title).strip())
    titles.add(_first_line(passage, text))
    found: list[Quotable] = []
    before = 0
    for first, last in _with_lists(text, _spans(passage, text)):
        listing = any(
            is_one(text, first, last) for is_one in (_is_program, _is_contents, _is_header)
        )
        opening = _OPENING.match(text, first, last)
        if opening and opening.end() < last:
            first = opening.end()
        shown = text[first:last]
        if _count_words(shown) == 0 or _NOISE.fullmatch(shown):
            continue
        chunk = passage.chunks[max(0, bisect_right(starts, first) - 1)]
        folded = normalize(shown[:OPENING])
        question = _is_question(shown, chunk.language)
        below = bool(found) and _is_heading(found[-1].text, titles)
        found.append(
            Quotable(
                document_id=passage.document.document_id,
                chunk_id=chunk.chunk_id,
                start=passage.start + first,
                end=passage.start + last,
                text=shown,
                language=chunk.language,
                passage=0,
                section=chunk.section,
                standalone_score=OTHER_TEXT
                if listing
                else _fitness(shown, titles=titles, question=question),
                anaphoric=is_anaphoric(folded, language=chunk.language),
                joined=bool(found) and "\n\n" not in text[before:first],
                question=question,
                title=_is_heading(shown, titles) or _is_header(text, first, last),
                cut=CELL_GAP not in shown and _is_cut(text, first, last, below_heading=below),
                listing=listing,
            )
        )
        before = last
    return tuple(found)


def list_start(text: str, first: int, last: int) -> int:
    """Return where a quotation begins: before its own list marker if an item follows in it."""
    return marker_start(text, first) if _NEXT_ITEM.search(text, first, last) else first


def marker_start(text: str, first: int) -> int:
    """Return where the list marker right before a character begins; the character without one."""
    line = text.rfind("\n", 0, first) + 1
    begin = first - len(text[line:first].lstrip())
    return begin if _OPENING.fullmatch(text, begin, first) else first


def _count_words(text: str) -> int:
    """Return the words of a text; two characters of Chinese or Japanese count as one."""
    words = len(_WORD.findall(text))
    return words if text.isascii() else words + len(_CJK.findall(text)) // 2


def _is_question(text: str, language: str) -> bool:
    """Return whether a sentence asks; "It is nowhere near five, right?" does not."""
    bare = text.rstrip("\"'»”’) ")
    tag = rf",\s*(?:{openings('tag', language).pattern})\s*\?$"
    return bare.endswith(_QUESTION_ENDS) and not re.search(tag, normalize(bare[-20:]))


def _spans(passage: Passage, text: str) -> list[tuple[int, int]]:
    """Return the sentences of each section and the items of lists, long ones cut."""
    cues = [place.end - passage.start for chunk in passage.chunks for place in chunk.places]
    openers = [right for left, right in pairwise(passage.chunks) if left.section != right.section]
    borders = [0, *(chunk.start - passage.start for chunk in openers), len(text)]
    found: list[tuple[int, int]] = []
    for opening, closing in pairwise(borders):
        for first, last in sentences(text[opening:closing], breaks=[c - opening for c in cues]):
            first, last = first + opening, last + opening
            bullets = [match.start() for match in _BULLET.finditer(text, first + 1, last)]
            for low, high in pairwise([first, *bullets, last]):
                low, high = trim_span(text, low, high)
                long = high - low > MAX_SENTENCE
                found += cut_at_clauses(text, low, high, cues=cues) if long else [(low, high)]
    return _whole_rows(text, found)


def _whole_rows(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the sentences of a row of a table: one cell without its others is incomplete."""
    found: list[tuple[int, int]] = []
    for _, pieces in groupby(spans, key=lambda span: text.rfind("\n", 0, span[0])):
        group = list(pieces)
        first, last = group[0][0], group[-1][1]
        row = text[first:last]
        is_row = CELL_GAP in row and "\n" not in row and len(row) <= MAX_ROW
        found += [(first, last)] if is_row else group
    return found


def _with_lists(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join a sentence that ends in a colon with its list: alone it is incomplete."""
    found: list[tuple[int, int]] = []
    group: list[tuple[int, int]] = []
    for span in (*spans, None):
        if group and (span is None or not _OPENING.match(text, *span)):
            first, last = group[0][0], group[-1][1]
            found += [(first, last)] if last - first <= MAX_LIST else group
            group = []
        if span is not None and (group or text[span[1] - 1] == ":"):
            group.append(span)
        elif span is not None:
            found.append(span)
    return found


def cut_at_clauses(
    text: str, first: int, last: int, *, cues: Sequence[int] = ()
) -> Iterator[tuple[int, int]]:
    """Cut a long sentence into spans of about `TARGET_PIECE` characters, after clauses or cues.

    If neither is within reach the cut is made between words, or else between characters.
    """
    borders = sorted(
        {match.end() for match in _CLAUSE.finditer(text, first, last)}
        | {cue for cue in cues if first < cue < last}
    )
    while last - first > MAX_SENTENCE:
        near = [
            border
            for border in borders
            if first + TARGET_PIECE // 3 < border <= first + TARGET_PIECE
        ]
        space = max(
            text.rfind(" ", first, first + TARGET_PIECE),
            text.rfind("\n", first, first + TARGET_PIECE),
        )
        cut = near[-1] if near else space + 1 if space > first else first + TARGET_PIECE
        yield trim_span(text, first, cut)
        first = trim_span(text, cut, last)[0]
    yield first, last


def _is_cut(text: str, first: int, last: int, *, below_heading: bool) -> bool:
    """Return whether a piece starts in lower case after a comma, or ends without a stop."""
    ahead = text[last:].lstrip()[:1]
    behind = text[:first].rstrip()[-1:]
    starts_inside = text[first : first + 1].islower() and behind.isalnum() | (behind in ",;")
    stops_inside = text[last - 1 : last] not in ".!?…:;\"'»”)" and ahead.islower()
    return bool(behind and starts_inside and not below_heading) or stops_inside


def _is_program(text: str, first: int, last: int) -> bool:
    """Return whether a piece of text has comments of a program, but as the lines announced."""
    opening, *others = text[text.rfind("\n", 0, first) + 1 : last].split("\n")
    announced = opening.rstrip().endswith(":")
    return bool(_COMMENT.match(opening) or (not announced and any(map(_COMMENT.match, others))))


def _is_contents(text: str, first: int, last: int) -> bool:
    """Return whether a piece of text is a line of a table of contents or of an index."""
    if LEADERS.search(text, first, min(len(text), last + BEHIND)):
        return True
    return is_index(text[max(0, first - AROUND) : last + AROUND])


def _is_header(text: str, first: int, last: int) -> bool:
    """Return whether a row has the names of columns, with which the cells below it begin."""
    cells = text[first:last].split(CELL_GAP)
    if len(cells) < 2 or ": " in text[first:last]:
        return False
    rows = (line for line in text[last:].split("\n", HEADER_ROWS)[:HEADER_ROWS] if ": " in line)
    labels = [cell.partition(": ")[0] for cell in next(rows, "").split(CELL_GAP)]
    named = sum(any(cell.strip() in label for label in labels) for cell in cells)
    return named >= max(2, len(cells) / 2)


def _first_line(passage: Passage, text: str) -> str:
    """Return the title that a text begins with: a line of its own that is no sentence, else ""."""
    line, gap, _ = text.partition("\n\n") if passage.start == 0 else ("", "", "")
    is_title = gap and len(line) <= MAX_TITLE and not any(mark in line for mark in _NO_TITLE)
    end = line.rstrip("\"'»”’)]^[0123456789 ")  # notes may follow a stop
    if not is_title or end.endswith((*_ENDS, *_QUESTION_ENDS, ",")) or _OPENING.match(line):
        return ""
    return "" if passage.document.kind == "transcript" else normalize(line).strip()


def _is_heading(shown: str, titles: set[str]) -> bool:
    bare = normalize(shown).strip(" .:#") if len(shown) <= MAX_SENTENCE else ""
    return bool(bare) and any(bare in title for title in titles)


def _fitness(shown: str, *, titles: set[str], question: bool) -> float:
    """Score quality by form alone: questions, headings and fragments make poor answers.

    An address is no word.
    """
    if question:
        return OTHER_TEXT
    words = _count_words(_ADDRESS.sub("", shown))
    if words <= 2 or _is_heading(shown, titles):
        return HEADING
    is_row = CELL_GAP in shown
    if not is_row and len(_SIGN.findall(shown)) > 0.15 * len(shown) + 3:
        return OTHER_TEXT
    if shown.endswith(":") and words <= MAX_LABEL_WORDS:
        return HEADING
    ends = shown.rstrip("\"'»”’)] ").endswith((*_ENDS, *_QUESTION_ENDS)) and not shown.endswith(":")
    capitals = words >= 8 and len(_CAPITAL.findall(shown)) > 0.5 * words
    return 1.0 if ends and words > 4 and not capitals else INCOMPLETE

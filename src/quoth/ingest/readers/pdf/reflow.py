"""Build running text from printed lines: paragraphs that span columns and pages.

Running heads are gone already (`furniture`). Two more things split the sentences of a book, and
are undone here: footnotes at the bottom of a page (moved before the paragraph that continues on the
next page), and words broken by a hyphen (joined, when the document gives no reason to think that
the hyphen belongs to the word). Lines that were broken on purpose (code, lists, verse, tables)
stay lines: they are set apart by a line feed, paragraphs by an empty line, everything else by a
space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quoth.core.types import Box, Pages, SpanLocator
from quoth.ingest.readers.hyphens import WORD, belongs
from quoth.ingest.readers.pdf.lines import PrintedLine

_BULLET = re.compile(r"^[•▪◦‣●○■*]\s")
_ITEM = re.compile(r"^(?:\(?\d{1,3}[.)°]|\(?[a-zA-Z][.)]|\[\d+\]|[–—-])\s")
_NOTE = re.compile(r"^(?:[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[*†‡§∗]+|\d{1,3})\s?[^\W\d_(“\"‘']")
_TERMINAL = re.compile(r"[.!?:;…。！？؟][\"'”’»)\]⁰¹²³⁴⁵⁶⁷⁸⁹]*$")
_UNSPACED = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
"""Chinese and Japanese, which are written without spaces between words, and so between lines."""

_TEXT_PITCH = 1.45
_CODE_PITCH = 2.0
_WIDE_PITCH = 1.9
"""Distances of baselines within one block, in font heights: code is set wider, and so is a line
with a word in another font, in the middle of a sentence."""
_LEADING_ON = frozenset(
    "a an and as at by from in into of or that the their these this to which with "
    "à au aux avec ces cette dans de des du en et la le les leur ou par que sur un une".split()
)
"""Words that no sentence and no cell of a table ends with."""
_WRAPPED = 50
"""Least characters of a line that was wrapped."""


@dataclass(frozen=True, slots=True)
class FlowedText:
    """A document's text with a place for each line, and the offset at which each line begins."""

    text: str
    places: tuple[SpanLocator, ...]
    starts: Mapping[PrintedLine, int]


@dataclass(frozen=True, slots=True)
class _Block:
    """The edges of a block of lines, and whether most of its lines reach the right one."""

    left: float
    right: float
    justified: bool


# --- the order of notes -----------------------------------------------------------------------


def _with_notes_before(lines: Sequence[PrintedLine], *, body: float) -> list[PrintedLine]:
    """Move a page's footnotes before its last paragraph, if that continues on the next page.

    Pages stay in order, and the sentence across the page break is not interrupted.
    """
    first = len(lines)
    while first and lines[first - 1].size < 0.93 * body and not lines[first - 1].code:
        first -= 1
    notes = lines[first:]
    if not notes or not first or not _NOTE.match(notes[0].text):
        return list(lines)
    text = lines[:first]
    last = text[-1]
    if _TERMINAL.search(last.text) and not last.hyphen:
        return list(lines)
    start = len(text) - 1
    while start and _gap(text[start - 1], text[start], edges=_edges(text)) != "\n\n":
        start -= 1
    return [*text[:start], *notes, *text[start:]]


# --- paragraphs -------------------------------------------------------------------------------


def flow(
    pages: Mapping[int, Sequence[PrintedLine]],
    *,
    labels: Mapping[int, str],
    heads: frozenset[PrintedLine] = frozenset(),
    tails: frozenset[PrintedLine] = frozenset(),
) -> FlowedText:
    """Join the lines to paragraphs; one begins at each of `heads` and ends at each of `tails`."""
    everything = [line for lines in pages.values() for line in lines]
    body = body_size(everything)
    lines: list[PrintedLine] = []
    edges: dict[PrintedLine, _Block] = {}
    for page_lines in pages.values():
        ordered = _with_notes_before(page_lines, body=body)
        edges |= _edges(ordered)
        lines += ordered
    words = _vocabulary(lines)
    parts: list[str] = []
    places: list[SpanLocator] = []
    starts: dict[PrintedLine, int] = {}
    offset = 0
    following: list[PrintedLine | None] = [*lines[1:], None]
    for line, after in zip(lines, following, strict=True):
        starts.setdefault(line, offset)
        text, hyphen, gap = line.text + line.hyphen, "", ""
        if after is not None:
            apart = after in heads or line in tails
            gap = "\n\n" if apart else _gap(line, after, edges=edges)
            if line.hyphen and gap != "\n\n" and _is_word_joint(line, after):
                gap = ""
                soft = line.hyphen == "\u00ad"
                if soft or not belongs(line.text, after.text, words=words):
                    text, hyphen = line.text, line.hyphen
            elif gap == " " and _UNSPACED.match(text[-1]) and _UNSPACED.match(after.text):
                gap = ""
        label = labels.get(line.page) or str(line.page)
        for start, end, box in _spots(line, text):
            locator = Pages(line.page, line.page, label, label, boxes=(box,))
            broken = hyphen if end == len(text) else ""
            places.append(SpanLocator(offset + start, offset + end, locator, hyphen=broken))
        parts += (text, gap)
        offset += len(text) + len(gap)
    return FlowedText("".join(parts), tuple(places), starts)


def _spots(line: PrintedLine, text: str) -> Iterator[tuple[int, int, Box]]:
    """Return the characters of the line's text that each box holds: one, or one for each word."""
    if " ".join(word for word, _box in line.words) not in (text, text + line.hyphen):
        yield 0, len(text), line.box
        return
    start = 0
    for word, box in line.words:
        end = min(start + len(word), len(text))
        yield start, end, box
        start = end + 1


def body_size(lines: Sequence[PrintedLine]) -> float:
    """Return the font height in which most characters are set, in points; 0 without lines."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _edges(lines: Sequence[PrintedLine]) -> dict[PrintedLine, _Block]:
    """Return the block edges of each line; a block is a run of one size, column and pitch."""
    edges: dict[PrintedLine, _Block] = {}
    block: list[PrintedLine] = []
    for line in [*lines, None]:
        if line is not None and (not block or _same_block(block[-1], line)):
            block.append(line)
            continue
        if block:
            right = max(b.x1 for b in block)
            full = sum(right - b.x1 < 0.5 * b.size for b in block)
            span = _Block(min(b.x0 for b in block), right, full >= 3 and 2 * full > len(block))
            edges |= dict.fromkeys(block, span)
        block = [line] if line is not None else []
    return edges


def _same_block(line: PrintedLine, after: PrintedLine) -> bool:
    if (line.page, line.column, line.turn) != (after.page, after.column, after.turn):
        return False
    drop = line.baseline - after.baseline
    small, large = sorted((line.size, after.size))
    pitch = _CODE_PITCH if line.code and after.code else _TEXT_PITCH
    return 0 < drop < pitch * large and small > 0.85 * large


def _gap(line: PrintedLine, after: PrintedLine, *, edges: Mapping[PrintedLine, _Block]) -> str:
    """Return the separator of two lines: a space, a line feed or an empty line."""
    if line.code and after.code:
        return _gap_in_code(line, after, edges=edges)
    if _same_block(line, after):
        return _gap_in_block(line, after, edges=edges)
    if _goes_on(line, after, edges=edges):
        return " "
    return "\n\n"


def _gap_in_block(
    line: PrintedLine, after: PrintedLine, *, edges: Mapping[PrintedLine, _Block]
) -> str:
    left, right = edges[line].left, edges[line].right
    step = 0.6 * line.size
    ended = bool(_TERMINAL.search(line.text)) and not line.hyphen
    short = (line.row and after.row) or _is_short(line, after, right=right)
    if _BULLET.match(after.text):
        return "\n"
    if _ITEM.match(after.text) and (ended or short):
        return "\n"
    if after.x0 - line.x0 > step and (ended or short) and line.x0 - left < step:
        return "\n" if _BULLET.match(line.text) or _ITEM.match(line.text) else "\n\n"
    if short:
        return "\n"
    return " "


def _gap_in_code(
    line: PrintedLine, after: PrintedLine, *, edges: Mapping[PrintedLine, _Block]
) -> str:
    """Return the separator of two code lines, with the indentation of the second."""
    if not _same_block(line, after):
        return "\n\n" if line.page == after.page else "\n"
    width = (after.x1 - after.x0) / max(1, len(after.text))
    return "\n" + " " * min(40, max(0, round((after.x0 - edges[after].left) / width)))


def _is_short(line: PrintedLine, after: PrintedLine, *, right: float) -> bool:
    """Return whether the next line's first word would have fitted (an intended break)."""
    if line.hyphen:
        return False
    first = len(after.text.split(maxsplit=1)[0]) + 1
    width = (after.x1 - after.x0) / max(1, len(after.text))
    return right - line.x1 > first * width + 0.5 * line.size


def _goes_on(line: PrintedLine, after: PrintedLine, *, edges: Mapping[PrintedLine, _Block]) -> bool:
    """Return whether a paragraph continues in another column, page or after a formula."""
    small, large = sorted((line.size, after.size))
    if small < 0.9 * large or line.code != after.code:
        return False
    if line.hyphen:
        return True
    ended = bool(_TERMINAL.search(line.text))
    moved = line.page != after.page or after.baseline > line.baseline
    if line.page != after.page and line.row and after.row:
        return False
    if not moved:
        near = line.baseline - after.baseline < _WIDE_PITCH * large
        items = _BULLET.match(after.text) or _ITEM.match(after.text)
        begins = items or line.row or after.row or after.x0 - line.x0 > 0.6 * after.size
        goes_on = after.text[0].islower() or (_is_unfinished(line.text) and not begins)
        return near and not ended and goes_on
    block = edges[line]
    if _BULLET.match(after.text):
        return False
    if not ended and after.text[0].islower():
        return True
    indented = after.x0 - edges[after].left > 0.6 * after.size
    gap = block.right - line.x1
    if ended:
        full = block.justified and gap < 0.5 * line.size
        return full and not indented and not line.text.endswith(":")
    return not indented and gap < 0.25 * (block.right - block.left)


def _is_unfinished(text: str) -> bool:
    """Return whether a long line ends with a comma or with a word that leads on."""
    last = text.rsplit(maxsplit=1)[-1].casefold()
    return (last.endswith(",") or last in _LEADING_ON) and len(text) >= _WRAPPED


# --- broken words -----------------------------------------------------------------------------


def _vocabulary(lines: Sequence[PrintedLine]) -> Counter[str]:
    """Count the words that are not broken, with inner hyphens."""
    words: Counter[str] = Counter()
    for before, line in pairwise([None, *lines]):
        if line is None:
            continue
        found = WORD.findall(line.text)
        if line.hyphen:
            found = found[:-1]
        if before is not None and before.hyphen:
            found = found[1:]
        words.update(found)
    return words


def _is_word_joint(line: PrintedLine, after: PrintedLine) -> bool:
    return bool(line.text) and line.text[-1].isalnum() and after.text[0].isalnum()

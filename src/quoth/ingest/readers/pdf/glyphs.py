"""Glyphs of a PDF page from PDFium, cleaned, in runs without a wide gap.

Ligatures and presentation forms become plain letters, white space becomes one space, and control
characters, private glyphs and lone surrogates are left out.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

Glyph = tuple[str, float, float, float, float]
"""A character and its left, bottom, right and top, in the direction of reading."""

_BULLETS = {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "‣", "\uf0fc": "✓"}
TEX_GLYPHS = {
    **{"\x0b": "ff", "\x0c": "fi", "\x0e": "ffi", "\x0f": "ffl"},
    **{"\x15": "–", "\x16": "—", "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi"},
    **{"\x1f": "ffl", "\x7f": "-"},
}
"""What stands within words at codes of control characters, in the encodings OT1 and T1 of TeX,
whose bitmap fonts do not say which characters they show."""
_CODE_FONT = re.compile(
    rb"mono|courier|consol|typewriter|cmtt|lmtt|nimbusmon|menlo|inconsolata", re.I
)
SAMPLE = 400
"""Characters of a page that tell whether its fonts say which characters they are."""
MIN_MEASURED = 60
"""Characters below which a page is too short to tell."""
MAX_UNMAPPED = 0.3
MIN_LETTERS, MIN_VOWELS = 0.5, 0.22
"""Least shares of letters in text without spaces, and of vowels in Latin letters; every language
that is written with them has more than a third."""
SPACE_GAP = 0.15
"""Font heights between two letters that part words."""
_WORD_END = re.compile(r"[^\W_]|[,;:.!?)\]’”»]")
_WORD_START = re.compile(r"[^\W_]|[(\[‘“«]")
COLUMN_GAP = 1.0
"""Ems of white space that may lie between two columns; words of a justified line are closer."""


@dataclass(frozen=True, slots=True)
class Run:
    """Glyph indices of one stretch without a wide gap, as PDFium ordered them."""

    glyphs: list[Glyph]
    indices: list[int]
    turn: int
    size: float
    hyphen: str = ""
    follows: bool = False


def page_characters(textpage: object) -> list[str]:
    """Return one character per PDFium index, or the letters of a ligature of TeX.

    The second half of a surrogate pair is empty.
    """
    count = pdfium.FPDFText_CountChars(textpage)
    if count <= 0:
        return []
    buffer = (ctypes.c_ushort * (count + 1))()
    if pdfium.FPDFText_GetText(textpage, 0, count, buffer) == count + 1:
        units = list(buffer[:count])
    else:
        # Given singly, the end of a broken word has another mark.
        units = [
            0xFFFE
            if pdfium.FPDFText_IsHyphen(textpage, index) == 1
            else pdfium.FPDFText_GetUnicode(textpage, index)
            for index in range(count)
        ]
    characters = [chr(unit) if unit <= 0x10FFFF else "" for unit in units]
    for index, unit in enumerate(units[:-1]):
        if 0xD800 <= unit < 0xDC00 and 0xDC00 <= units[index + 1] < 0xE000:
            pair = characters[index] + characters[index + 1]
            characters[index] = pair.encode("utf-16", "surrogatepass").decode("utf-16")
            characters[index + 1] = ""
    for index, character in enumerate(characters):
        if character in TEX_GLYPHS and _is_in_word(characters, index):
            characters[index] = TEX_GLYPHS[character]
    return characters


@cache
def clean_character(character: str) -> str:
    """Return the text for a character from PDFium, which may be empty."""
    if character.isascii():
        return " " if character.isspace() else character if character.isprintable() else ""
    if character.isspace() or character == "\u2028":
        return " "
    if "\ufb00" <= character <= "\ufdff" or "\ufe70" <= character <= "\ufefc":
        return unicodedata.normalize("NFKC", character)
    if character in _BULLETS:
        return _BULLETS[character]
    if unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn"):
        return ""
    return "" if character in "\u200b\u2060\ufeff" else character


def clean_text(text: str) -> str:
    """Clean a title or label as the text of the pages is cleaned, on one line."""
    kept = "".join(clean_character(character) for character in text)
    return unicodedata.normalize("NFC", " ".join(kept.split()))


@contextmanager
def text_page(document: pdfium2.PdfDocument, page: int) -> Iterator[tuple[Any, Any]]:
    """Open a page, counted from 1, and its text; either is None where it cannot be opened."""
    opened = pdfium.FPDF_LoadPage(document.raw, page - 1)
    text = pdfium.FPDFText_LoadPage(opened) if opened else None
    try:
        yield opened, text
    finally:
        if text:
            pdfium.FPDFText_ClosePage(text)
        if opened:
            pdfium.FPDF_ClosePage(opened)


def turn_of(textpage: object, index: int) -> int:
    """Return by how many clockwise quarters a glyph is turned."""
    angle: float = pdfium.FPDFText_GetCharAngle(textpage, index)
    return round(angle / (math.pi / 2)) % 4


def read_string(ask: Callable[[object, int], int]) -> str:
    """Return the text that a function of PDFium writes into a buffer, whose size it tells."""
    size = ask(None, 0)
    buffer = ctypes.create_string_buffer(max(size, 2))
    ask(buffer, size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")


def is_unreadable(textpage: object) -> bool:
    """Return whether a page has fonts without a Unicode map, and its characters make no words.

    Without a map PDFium guesses that glyphs are numbered as characters are, which is often right.
    """
    count = pdfium.FPDFText_CountChars(textpage)
    sample = [
        index
        for index in range(0, count, max(1, count // SAMPLE))
        if pdfium.FPDFText_IsGenerated(textpage, index) != 1
    ]
    unmapped = sum(pdfium.FPDFText_HasUnicodeMapError(textpage, index) == 1 for index in sample)
    if len(sample) < MIN_MEASURED or unmapped < MAX_UNMAPPED * len(sample):
        return False
    text = [character for character in page_characters(textpage) if not character.isspace()]
    letters = [character.lower() for character in text if character.isalpha()]
    if len(letters) < MIN_LETTERS * len(text):
        return True
    latin = [letter for letter in letters if "a" <= letter <= "z"]
    vowels = sum(letter in "aeiouy" for letter in latin)
    return 2 * len(latin) > len(letters) and vowels < MIN_VOWELS * len(latin)


def page_runs(textpage: object) -> Iterator[Run]:
    """Split the page's glyphs at PDFium's line ends and at gaps wide enough to part columns."""
    characters = page_characters(textpage)
    edges = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = edges
    references = [ctypes.byref(edge) for edge in edges]
    box_of = pdfium.FPDFText_GetCharBox
    glyphs: list[Glyph] = []
    indices: list[int] = []
    for index, character in enumerate(characters):
        if character == "\n" or character == "\ufffe":
            yield from _split(
                textpage, glyphs, indices, hyphen="-" if character == "\ufffe" else ""
            )
            glyphs, indices = [], []
            continue
        text = clean_character(character)
        if text == " ":
            if glyphs and glyphs[-1][0] != " ":
                glyphs.append((" ", 0.0, 0.0, 0.0, 0.0))
                indices.append(index)
        elif text and box_of(textpage, index, *references):
            glyphs.append((text, left.value, bottom.value, right.value, top.value))
            indices.append(index)
    yield from _split(textpage, glyphs, indices, hyphen="")


def _is_in_word(characters: Sequence[str], index: int) -> bool:
    return any(character.isalpha() for character in characters[max(0, index - 1) : index + 2])


def _split(
    textpage: object, glyphs: list[Glyph], indices: list[int], *, hyphen: str
) -> Iterator[Run]:
    while glyphs and glyphs[-1][0] == " ":
        glyphs.pop()
        indices.pop()
    if not glyphs:
        return
    turn = turn_of(textpage, indices[0])
    if turn:
        glyphs = [(glyph[0], *turned(glyph[1:], turn=turn)) for glyph in glyphs]
    size = _size(textpage, indices, turn=turn)
    _add_spaces(textpage, glyphs, indices, turn=turn, size=size)
    start, follows, (_, left, _, right, _) = 0, False, glyphs[0]
    for position, (text, x0, _, x1, _) in enumerate(glyphs):
        if text == " ":
            continue
        if 0 < COLUMN_GAP * size < max(x0 - right, left - x1) and position > start:
            yield Run(glyphs[start:position], indices[start:position], turn, size, follows=follows)
            start, follows = position, True
        left, right = x0, x1
    yield Run(glyphs[start:], indices[start:], turn, size, hyphen=hyphen, follows=follows)


def _add_spaces(
    textpage: object, glyphs: list[Glyph], indices: list[int], *, turn: int, size: float
) -> None:
    """Add the spaces that PDFium did not guess, between words that are set at their own places.

    Where the gaps before and behind are as wide, or there are none and these are letters, the
    letters of one word are spaced.
    """

    def gap(at: int) -> float | None:
        """Return the gap between the widths of two glyphs, in heights of the larger font."""
        if not 0 < at < len(glyphs) or " " in (glyphs[at - 1][0], glyphs[at][0]):
            return None
        before, after = (_loose_box(textpage, indices[each], turn=turn) for each in (at - 1, at))
        height = max(before[3] - before[1], after[3] - after[1])
        return (after[0] - before[2]) / height if height else None

    def parts_words(at: int) -> bool:
        own = gap(at)
        if own is None or own <= SPACE_GAP:
            return False
        around = [each for each in (gap(at - 1), gap(at + 1)) if each is not None]
        if not around:
            return glyphs[at - 1][0].isdigit() and glyphs[at][0].isdigit()
        return own >= 2 * min(around)

    wide = [
        at
        for at in range(1, len(glyphs))
        if glyphs[at][1] - glyphs[at - 1][3] > SPACE_GAP / 2 * size and may_part(glyphs, at)
    ]
    for at in reversed([each for each in wide if parts_words(each)]):
        glyphs.insert(at, (" ", 0.0, 0.0, 0.0, 0.0))
        indices.insert(at, indices[at - 1])


def may_part(glyphs: Sequence[Glyph], at: int) -> bool:
    """Return whether a space may stand before a glyph: none does within a number."""
    before, after = glyphs[at - 1][0][-1], glyphs[at][0]
    number = after.isdigit() and before in ".," and at > 1 and glyphs[at - 2][0].isdigit()
    return bool(_WORD_END.match(before) and _WORD_START.match(after)) and not number


def _loose_box(textpage: object, index: int, *, turn: int) -> tuple[float, float, float, float]:
    """Return the box of a glyph with the white space of its width, in the direction of reading."""
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(textpage, index, box)
    return turned((box.left, box.bottom, box.right, box.top), turn=turn)


def turned(box: Sequence[float], *, turn: int) -> tuple[float, float, float, float]:
    """Turn a box of the page so that its text reads from left to right (clockwise quarters)."""
    x0, y0, x1, y1 = box
    if turn == 1:
        return -y1, x0, -y0, x1
    if turn == 2:
        return -x1, -y1, -x0, -y0
    if turn == 3:
        return y0, -x1, y1, -x0
    return x0, y0, x1, y1


def _size(textpage: object, indices: Sequence[int], *, turn: int) -> float:
    """Measure the height of a run's font, in points, as the median of a few glyphs."""
    boxes = [
        _loose_box(textpage, index, turn=turn) for index in indices[:: max(1, len(indices) // 5)]
    ]
    heights = [abs(top - bottom) for _, bottom, _, top in boxes]
    return median([height for height in heights if height] or [0.0])


def is_code(textpage: object, indices: Sequence[int]) -> bool:
    """Return whether the first, middle and last glyph are in a monospaced font."""
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    for index in (indices[0], indices[len(indices) // 2], indices[-1]):
        pdfium.FPDFText_GetFontInfo(textpage, index, name, 128, flags)
        if not flags.value & 1 and not _CODE_FONT.search(name.value):
            return False
    return True

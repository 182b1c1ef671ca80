"""The printed lines of a PDF page, in reading order, each with its box.

PDFium gives glyphs in the order in which the page draws them, with a guess at line ends. This
module reassembles the pieces of a line (superscripts and formulas split it) and separates columns.
Accents that were drawn as glyphs of their own are composed with their
letter, and raised digits become superscript digits.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from quoth.core.types import Box
from quoth.ingest.readers.pdf.glyphs import (
    COLUMN_GAP,
    Glyph,
    Run,
    is_code,
    page_runs,
    turned,
)

HYPHENS = "-\u2010\u00ad"
CEDILLA = "\u00b8"
SPACING_ACCENTS = {
    "\u00a8": "\u0308",
    "\u00b4": "\u0301",
    "`": "\u0300",
    "\u02c6": "\u0302",
    "^": "\u0302",
    "\u02dc": "\u0303",
    "\u02c7": "\u030c",
    CEDILLA: "\u0327",
    "\u02da": "\u030a",
}
DOTLESS = {"\u0131": "i", "\u0237": "j"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARK_BEFORE = re.compile(r"^[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?=[^\W\d_])")
_MARK_AFTER = re.compile(r"(?<=[^\W\d_]{4})(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])|(?<=[^\W\d_]{2})(?=[⁰¹²³⁴⁵⁶⁷⁸⁹]{2})")
WORD_GAP = 0.11
"""Font heights of white space that part words."""
_DESCENDING = frozenset("gjpqyQJ,;()[]{}|/@$_")


@dataclass(frozen=True, slots=True, eq=False)
class PrintedLine:
    """A printed line: clean text, its box, and the geometry that layout is read from.

    Two lines are equal only when they are the same line.

    ``x0 y0 x1 y1`` and ``baseline`` are in points in the direction of reading (x grows along the
    line, y towards the line above), whichever way the text is turned; ``box`` is what `Box` says.
    ``hyphen`` is the hyphen at the end that may only mark a broken word; it is not in ``text``.
    """

    page: int
    text: str
    box: Box
    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    size: float
    turn: int = 0
    column: int = 0
    hyphen: str = ""
    code: bool = False
    follows: bool = False
    """Whether PDFium saw this piece on the same line as the one before."""
    row: bool = False
    """Whether wide gaps part the line, as they part the cells of a table."""
    words: tuple[tuple[str, Box], ...] = ()
    """The words of a recognised line, which no glyphs place; joined by spaces they are its text."""


def page_pieces(textpage: object, *, page: int) -> list[PrintedLine]:
    """Return the pieces of a page's lines, parted at wide gaps; `textpage` is raw PDFium's."""
    runs = _with_accents_at_letters(list(page_runs(textpage)))
    pieces = [piece for run in runs if (piece := _piece(run, page=page, textpage=textpage))]
    return _join(pieces, across_gaps=False)


def page_lines(pieces: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the lines of a page in reading order."""
    if not pieces:
        return []
    cells = list(pieces)
    gutters = _column_gaps(cells)
    if gutters:
        cells = [replace(cell, column=_column(cell, gutters)) for cell in cells]
        cells = _ordered(cells, columns=len(gutters) + 1)
    lines = _join(cells, across_gaps=True)
    if not gutters:
        lines = _downwards(lines)
    return [replace(line, text=_with_marks_apart(line.text)) for line in lines]


# --- pieces -----------------------------------------------------------------------------------


LARGER = 1.5
"""Times the size of an accent from which a letter is one of another text."""
MOST_APART = 50
"""Accents of a line that are looked for; more are a formula or a drawing."""


def _with_accents_at_letters(runs: Sequence[Run]) -> list[Run]:
    """Move each accent before the letter that it stands at, of its own line or the next run.

    PDFium gives an accent over a capital, which TeX draws apart, after the text of its line, or
    as a line of its own.
    """
    for number, run in enumerate(runs):
        accents = [
            (glyph, index)
            for glyph, index, after in itertools.zip_longest(
                run.glyphs, run.indices, run.glyphs[1:]
            )
            if glyph[0] in SPACING_ACCENTS and not (after and _is_at(glyph, after))
        ]
        for glyph, index in accents[:MOST_APART]:
            around = (run, *_line_before(runs[:number]), *runs[number + 1 : number + 2])
            found = _letter_at(glyph, [each for each in around if each.size < LARGER * run.size])
            if found is not None:
                place, under = found
                _remove(run, run.indices.index(index))
                at = place.indices.index(under)
                place.glyphs.insert(at, glyph)
                place.indices.insert(at, index)
    return [run for run in runs if run.glyphs]


def _letter_at(accent: Glyph, runs: Sequence[Run]) -> tuple[Run, int] | None:
    """Return the first letter that an accent stands at: its run and its index in PDFium."""
    for run in runs:
        for glyph, index in zip(run.glyphs, run.indices, strict=True):
            if _is_at(accent, glyph):
                return run, index
    return None


def _remove(run: Run, at: int) -> None:
    """Remove a glyph and the spaces around it, but one where what is around lies apart."""
    start, end = at, at + 1
    while start and run.glyphs[start - 1][0] == " ":
        start -= 1
    while end < len(run.glyphs) and run.glyphs[end][0] == " ":
        end += 1
    apart = start > 0 and end < len(run.glyphs) and end - start > 1
    apart = apart and run.glyphs[end][1] - run.glyphs[start - 1][3] > WORD_GAP * run.size
    run.glyphs[start:end] = [(" ", 0.0, 0.0, 0.0, 0.0)] * apart
    run.indices[start:end] = run.indices[start : start + apart]


def _line_before(runs: Sequence[Run]) -> Iterator[Run]:
    """Return the last runs, back to the one with which PDFium began a line."""
    for run in reversed(runs):
        yield run
        if not run.follows:
            return


def _is_at(accent: Glyph, letter: Glyph) -> bool:
    """Return whether a letter is under an accent (over a cedilla), by less than half its height."""
    character, x0, y0, x1, y1 = letter
    gap = y0 - accent[4] if accent[0] == CEDILLA else accent[2] - y1
    return (
        character.isalpha()
        and character not in SPACING_ACCENTS
        and x0 < (accent[1] + accent[3]) / 2 < x1
        and abs(gap) < 0.5 * (y1 - y0)
    )


def _piece(run: Run, *, page: int, textpage: object) -> PrintedLine | None:
    """Return the line of one run, or None when none of it is printable."""
    inked = [glyph for glyph in run.glyphs if glyph[0] != " "]
    if not inked:
        return None
    _, lefts, bottoms, rights, tops = zip(*inked, strict=True)
    x0, y0, x1, y1 = min(lefts), min(bottoms), max(rights), max(tops)
    letters = [g for g in inked if g[0] not in _DESCENDING and g[0].isalpha()]
    baseline = median(g[2] for g in letters or inked)
    # Old-style figures have varying heights: without letters, none counts as superscript.
    cap = max(g[4] for g in letters) - baseline if letters else 0.0
    text = _text(run.glyphs, baseline=baseline, cap=cap)
    hyphen = run.hyphen
    if not hyphen and len(text) > 1 and text[-1] in HYPHENS and text[-2].isalnum():
        text, hyphen = text[:-1], text[-1]
    text = text.replace("\u00ad", "")
    if not text.strip():
        return None
    ux0, uy0, ux1, uy1 = turned((x0, y0, x1, y1), turn=-run.turn % 4)
    return PrintedLine(
        page=page,
        text=text,
        box=Box(page, *(round(edge, 2) for edge in (ux0, uy0, ux1, uy1))),
        x0=x0,
        y0=y0,
        x1=x1,
        y1=y1,
        baseline=baseline,
        size=run.size or (y1 - y0),
        turn=run.turn,
        hyphen=hyphen,
        code=is_code(textpage, run.indices),
        follows=run.follows,
    )


def _text(glyphs: Sequence[Glyph], *, baseline: float, cap: float) -> str:
    """Return the text of a run, with accents composed and superscript digits."""
    parts: list[str] = []
    accent: tuple[str, float, float] | None = None
    for character, x0, y0, x1, _ in glyphs:
        if accent and parts and x0 < (accent[1] + accent[2]) / 2 < x1:
            parts[-1] = DOTLESS.get(character, character)
            parts.append(SPACING_ACCENTS[accent[0]])
            accent = None
            continue
        accent = (character, x0, x1) if character in SPACING_ACCENTS else None
        if "0" <= character <= "9" and y0 - baseline > 0.25 * cap > 0:
            character = character.translate(_SUPERSCRIPTS)
        parts.append(character)
    return unicodedata.normalize("NFC", "".join(parts)).strip()


def _with_marks_apart(text: str) -> str:
    """Separate a footnote mark from its word, so that both can be found."""
    return _MARK_AFTER.sub(" ", _MARK_BEFORE.sub(r"\g<0> ", text))


def _join(pieces: Sequence[PrintedLine], *, across_gaps: bool) -> list[PrintedLine]:
    """Join the pieces of one line; across wide gaps only those that PDFium joined."""
    lines: list[PrintedLine] = []
    for piece in pieces:
        if lines and _continues(lines[-1], piece, across_gaps=across_gaps):
            lines[-1] = _joined(lines[-1], piece)
        else:
            lines.append(piece)
    return lines


def _continues(line: PrintedLine, piece: PrintedLine, *, across_gaps: bool) -> bool:
    if line.turn != piece.turn or line.column != piece.column:
        return False
    overlap = min(line.y1, piece.y1) - max(line.y0, piece.y0)
    if overlap < 0.3 * min(line.y1 - line.y0, piece.y1 - piece.y0):
        return False
    size = max(line.size, piece.size)
    gap = piece.x0 - line.x1
    if across_gaps and (piece.follows or _is_level(line, piece)):
        return gap > -0.5 * size
    return -0.5 * size < gap < COLUMN_GAP * size


def _is_level(line: PrintedLine, piece: PrintedLine) -> bool:
    """Return whether two pieces of one size have one baseline.

    PDFium ends a line between two cells of a table that are as short as a digit.
    """
    drop = abs(line.baseline - piece.baseline)
    return drop < 0.05 * line.size and abs(line.size - piece.size) < 0.05 * line.size


def _joined(line: PrintedLine, piece: PrintedLine) -> PrintedLine:
    main = line if len(line.text) >= len(piece.text) else piece
    other = piece if main is line else line
    gap = piece.x0 - line.x1
    left = line.text + line.hyphen
    right = piece.text
    raised = other.size < 0.9 * main.size and other.y0 - main.baseline > 0.1 * main.size
    if raised and other.text.isascii() and other.text.isdigit():
        if other is piece:
            right = right.translate(_SUPERSCRIPTS)
        else:
            left = left.translate(_SUPERSCRIPTS)
    a, b = line.box, piece.box
    return replace(
        main,
        text=f"{left} {right}" if gap > WORD_GAP * main.size else left + right,
        box=Box(a.page, min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1)),
        x0=min(line.x0, piece.x0),
        y0=min(line.y0, piece.y0),
        x1=max(line.x1, piece.x1),
        y1=max(line.y1, piece.y1),
        hyphen=piece.hyphen,
        code=line.code and piece.code,
        row=line.row or piece.row or gap > COLUMN_GAP * main.size,
        follows=line.follows,
    )


# --- columns ----------------------------------------------------------------------------------


def _column_gaps(cells: Sequence[PrintedLine]) -> list[float]:
    """Return the x positions of the gaps between text columns; none for tables.

    A gap separates columns when lines with several words lie side by side on both sides of it, and
    few lines cross it.
    """
    prose = [cell for cell in cells if cell.turn == cells[0].turn and len(cell.text) >= 15]
    if len(prose) < 8:
        return []
    width = max(c.x1 for c in prose) - min(c.x0 for c in prose)
    starts = sorted(round(cell.x0) for cell in prose)
    gutters: list[float] = []
    for x in sorted(set(starts)):
        if starts.count(x) < 3 or (gutters and x - gutters[-1] < 0.15 * width):
            continue
        edge = x - 2.0
        left = [c for c in prose if c.x1 < edge and (not gutters or c.x0 > gutters[-1])]
        right = [c for c in prose if c.x0 >= edge]
        crossing = len(prose) - sum(1 for c in prose if c.x1 < edge or c.x0 >= edge)
        if len(left) < 4 or len(right) < 4 or crossing > 0.3 * len(prose):
            continue
        if _beside(left, right) and min(_typical(left), _typical(right)) > 0.18 * width:
            gutters.append(edge)
    return gutters


def _typical(cells: Sequence[PrintedLine]) -> float:
    return median(cell.x1 - cell.x0 for cell in cells)


def _beside(left: Sequence[PrintedLine], right: Sequence[PrintedLine]) -> bool:
    top = min(max(c.y1 for c in left), max(c.y1 for c in right))
    bottom = max(min(c.y0 for c in left), min(c.y0 for c in right))
    size = median(cell.size for cell in left)
    return top - bottom > 3 * size


def _column(cell: PrintedLine, gutters: Sequence[float]) -> int:
    """Number the column of a cell from 1; 0 for one that crosses a gutter."""
    if any(cell.x0 < gutter < cell.x1 for gutter in gutters):
        return 0
    return 1 + sum(1 for gutter in gutters if cell.x0 >= gutter)


def _ordered(cells: list[PrintedLine], *, columns: int) -> list[PrintedLine]:
    """Keep the order of the page content unless it alternates between columns."""
    flow = [cell.column for cell in cells if cell.column and len(cell.text) >= 15]
    jumps = sum(1 for a, b in itertools.pairwise(flow) if a != b)
    spans = sum(1 for cell in cells if not cell.column)
    if jumps <= 2 * columns + spans + len(flow) // 20:
        return cells
    walls = sorted((cell.baseline for cell in cells if not cell.column), reverse=True)

    def key(cell: PrintedLine) -> tuple[int, int, float, float]:
        band = sum(1 for wall in walls if wall > cell.baseline + 0.1)
        return (band, cell.column if cell.column else columns + 1, -cell.baseline, cell.x0)

    return sorted(cells, key=key)


def _downwards(lines: list[PrintedLine]) -> list[PrintedLine]:
    """Order a page from top to bottom if no two of its lines are side by side."""
    falling = sorted(lines, key=lambda line: -line.baseline)
    for above, below in itertools.pairwise(falling):
        if above.turn != below.turn or below.y1 - above.y0 > 0.5 * below.size:
            return lines
    return falling

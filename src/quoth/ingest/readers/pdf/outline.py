"""Chapters and sections of a PDF, from its outline or else from its headings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from quoth.core.types import Section
from quoth.ingest.readers.pdf.glyphs import clean_text, read_string
from quoth.ingest.readers.pdf.lines import PrintedLine
from quoth.ingest.readers.pdf.reflow import body_size
from quoth.text.numbers import WORDS

_MAX_ENTRIES = 20_000
_MAX_HEADING = 160
_IN_WORDS = "|".join(word.replace(" ", "") for word in WORDS)
_NUMBERING = re.compile(
    r"(?:chapter|section|part|appendix|kapitel|chapitre|anhang|annexe|partie|lecture)?"
    rf"(?:[0-9ivxlcdm]{{0,8}}[a-z]?|{_IN_WORDS})"
)
_COUNTED = re.compile(r"(.{0,20}?)(\d{1,4})")
_TOP_PARAMETER = {
    pdfium.PDFDEST_VIEW_XYZ: 1,
    pdfium.PDFDEST_VIEW_FITH: 0,
    pdfium.PDFDEST_VIEW_FITBH: 0,
    pdfium.PDFDEST_VIEW_FITR: 3,
}


@dataclass(frozen=True, slots=True)
class PdfOutlineEntry:
    """A title of the outline, the titles above it, and where it points to.

    ``page`` is 1-based, ``top`` is a height in the page's user space; None where the entry does
    not say. ``line`` is the line that begins it, once found; ``tail`` is the last line of the title
    as it is printed, None where the title is not on the page; ``number`` is what is printed before
    it and not in the outline, as "Chapter 2" or "3.5".
    """

    path: tuple[str, ...]
    page: int | None
    top: float | None = None
    line: PrintedLine | None = None
    tail: PrintedLine | None = None
    number: str = ""


def read_outline(document: pdfium2.PdfDocument) -> list[PdfOutlineEntry]:
    """Read the outline in its own order; entries without a title are left out."""
    headings: list[PdfOutlineEntry] = []
    path: list[str] = []
    for mark in islice(document.get_toc(max_depth=12), _MAX_ENTRIES):
        title = clean_text(_title(mark))
        del path[mark.level :]
        path += [""] * (mark.level - len(path)) + [title]
        if not title:
            continue
        page, top = None, None
        target = mark.get_dest()
        if target is not None and (index := target.get_index()) is not None:
            page = index + 1
            mode, position = target.get_view()
            parameter = _TOP_PARAMETER.get(mode)
            if parameter is not None and parameter < len(position):
                top = float(position[parameter]) or None
        headings.append(PdfOutlineEntry(tuple(part for part in path if part), page, top))
    return headings


def _title(mark: pdfium2.PdfBookmark) -> str:
    return read_string(lambda buffer, size: pdfium.FPDFBookmark_GetTitle(mark.raw, buffer, size))


def find_lines(
    headings: Sequence[PdfOutlineEntry], pages: Mapping[int, Sequence[PrintedLine]]
) -> list[PdfOutlineEntry]:
    """Return the first line of each section, in order of the text.

    Entries that point to the same line are one section: the last of those whose title is printed
    there, which is the deepest, gives the name.

    An entry is found by its words on the page it points to, else by the height it points to,
    else it begins with the page. Entries that point nowhere are left out.
    """
    order = {
        line: place for place, line in enumerate(ln for lines in pages.values() for ln in lines)
    }
    keys = {page: [_key(line.text) for line in lines] for page, lines in pages.items()}
    last = max(pages, default=0)
    found: list[PdfOutlineEntry] = []
    for heading in headings:
        if heading.page is None:
            continue
        lines = pages.get(heading.page, ())
        match = _by_words(heading, lines, keys.get(heading.page, ()))
        line, tail, number = match or (_by_height(heading, lines), None, "")
        page = heading.page
        while line is None and page < last:
            page += 1
            line = next(iter(pages.get(page, ())), None)
        if line is not None:
            found.append(replace(heading, line=line, tail=tail, number=number))
    found.sort(key=lambda heading: order[heading.line])  # type: ignore[index]
    begun: dict[PrintedLine | None, PdfOutlineEntry] = {}
    for heading in found:
        before = begun.get(heading.line)
        if before is None or before.tail is None or heading.tail is not None:
            begun[heading.line] = heading
    return _with_numbers(_between_numbers(list(begun.values())))


def _between_numbers(headings: Sequence[PdfOutlineEntry]) -> list[PdfOutlineEntry]:
    """Number a heading that was not read as it is printed, between those of 3.1 and 3.3."""
    siblings: dict[tuple[str, ...], list[PdfOutlineEntry]] = {}
    for heading in headings:
        siblings.setdefault(heading.path[:-1], []).append(heading)
    missing: dict[PdfOutlineEntry, str] = {}
    for group in siblings.values():
        for before, heading, after in zip(group, group[1:], group[2:], strict=False):
            first, last = _COUNTED.fullmatch(before.number), _COUNTED.fullmatch(after.number)
            if heading.number or not first or not last or first[1] != last[1]:
                continue
            if int(last[2]) - int(first[2]) == 2:
                missing[heading] = f"{first[1]}{int(first[2]) + 1}"
    return [replace(each, number=missing.get(each, each.number)) for each in headings]


def _with_numbers(headings: Sequence[PdfOutlineEntry]) -> list[PdfOutlineEntry]:
    """Return the headings with the numbers that are printed before their titles."""
    titles = {
        heading.path: f"{heading.number} {heading.path[-1]}"
        for heading in headings
        if heading.number
    }
    return [
        replace(
            heading,
            path=tuple(
                titles.get(heading.path[: depth + 1], title)
                for depth, title in enumerate(heading.path)
            ),
        )
        for heading in headings
    ]


def _key(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _by_words(
    heading: PdfOutlineEntry, lines: Sequence[PrintedLine], keys: Sequence[str]
) -> tuple[PrintedLine, PrintedLine, str] | None:
    """Return the first and last line of a title as printed, and the number before it."""
    wanted = _key(heading.path[-1])
    if not wanted:
        return None
    matches: dict[PrintedLine, tuple[PrintedLine, PrintedLine, str]] = {}
    for start, line in enumerate(lines):
        joined = ""
        for end in range(start, min(start + 4, len(lines))):
            joined += keys[end]
            if len(joined) > len(wanted) + 20:
                break
            if _same_title(joined, wanted):
                # The same title may be found with the number on the line above, and without it.
                printed = " ".join(each.text for each in lines[start : end + 1])
                number = _beginning(printed, letters=len(joined) - len(wanted))
                if number and heading.path[-1][0].isdigit():
                    break  # a number of a drawing above it, or of a page
                matches.setdefault(lines[end], (line, lines[end], number))
                break
    if not matches:
        return None
    top = heading.top
    if top is None:
        return max(matches.values(), key=lambda match: match[1].size)
    return min(matches.values(), key=lambda match: abs(match[0].box.y1 - top))


def _beginning(printed: str, *, letters: int) -> str:
    """Return the words of a title that its first letters and digits belong to."""
    for place, character in enumerate(printed):
        if letters <= 0:
            return printed[:place].rstrip(" .:–—|-")
        letters -= len(_key(character))
    return ""


def _same_title(printed: str, wanted: str) -> bool:
    if printed.endswith(wanted):
        return _NUMBERING.fullmatch(printed[: len(printed) - len(wanted)]) is not None
    if len(printed) > 3 and wanted.endswith(printed):
        return _NUMBERING.fullmatch(wanted[: len(wanted) - len(printed)]) is not None
    return False


def _by_height(heading: PdfOutlineEntry, lines: Sequence[PrintedLine]) -> PrintedLine | None:
    top = heading.top
    if top is None or not lines or lines[0].turn:
        return lines[0] if lines else None
    return next((line for line in lines if line.box.y1 <= top + 4), None)


def find_headings(pages: Mapping[int, Sequence[PrintedLine]]) -> list[PdfOutlineEntry]:
    """Return short lines set clearly larger than the text as headings, nested by size."""
    lines = [line for page in pages.values() for line in page]
    least = 1.15 * body_size(lines)
    groups: list[list[PrintedLine]] = []
    for line in lines:
        if line.size < least or line.code or not any(c.isalpha() for c in line.text):
            continue
        if groups and _same_heading(groups[-1][-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    groups = [g for g in groups if sum(len(line.text) for line in g) <= _MAX_HEADING]
    if len(groups) > 0.15 * len(lines):
        return []
    sizes = sorted({round(group[0].size) for group in groups}, reverse=True)
    path: list[str] = []
    headings: list[PdfOutlineEntry] = []
    for group in groups:
        level = min(sizes.index(round(group[0].size)), 3)
        path = [*path[:level], clean_text(" ".join(line.text + line.hyphen for line in group))]
        headings.append(
            PdfOutlineEntry(tuple(path), group[0].page, group[0].box.y1, group[0], group[-1])
        )
    return headings


def _same_heading(line: PrintedLine, after: PrintedLine) -> bool:
    drop = line.baseline - after.baseline
    return (
        line.page == after.page
        and abs(line.size - after.size) < 0.05 * line.size
        and 0 < drop < 1.6 * line.size
    )


def sections(
    headings: Sequence[PdfOutlineEntry], *, starts: Mapping[PrintedLine, int], end: int
) -> tuple[Section, ...]:
    """Return the section of each heading, up to the next heading or `end`."""
    begun = sorted(
        ((starts[heading.line], heading.path) for heading in headings if heading.line is not None),
        key=lambda item: item[0],
    )
    limits = [*(start for start, _ in begun), end][1:]
    return tuple(
        Section(start, limit, path)
        for (start, path), limit in zip(begun, limits, strict=True)
        if limit > start
    )

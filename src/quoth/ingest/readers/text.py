"""Plain text: paragraphs as they are, wrapped lines joined, and the plainest of headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.metadata import Metadata, file_title

MIN_WRAP_WIDTH = 50
MAX_WRAP_WIDTH = 120
"""Characters between which lines are taken for wrapped prose."""

_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\*{3,})")
_NUMBERED = re.compile(
    r"(?:\d{1,2}|[A-Z])(?P<deeper>(?:\.\d{1,2}){1,3})\.?[ \t]+[^\W\d_].{0,70}(?<![.,;:!])"
)
_CHAPTER = re.compile(
    r"(?:chapter|chapitre|part|partie)\s+(?:\d{1,3}|[ivxlc]{1,7})\b[.:]?(?:\s*[-–—:]?\s+.{1,70})?",
    re.IGNORECASE,
)
_NOT_PROSE = re.compile(r"\s|[-*•+>|#]\s|\(?\d{1,3}[.)]\s|[a-z]\)\s|.*\S(?: {3,}|\t)\S")


def read_plain(text: str, *, meta: Metadata, name: str) -> ParsedDocument:
    """Read a text; the ``name`` of the file is its title unless a better one is known."""
    stored, places, sections = assemble(list(plain_blocks(text)))
    return ParsedDocument(
        kind="text",
        title=meta.title or file_title(name),
        text=stored,
        places=places,
        sections=sections,
        language=meta.language,
        url=meta.url,
        speaker=meta.speaker,
    )


def plain_blocks(text: str) -> Iterator[Block]:
    """Return the paragraphs of a text in order, and headings that are beyond doubt."""
    paragraphs = [part.strip("\n") for part in re.split(r"\n(?:[ \t]*\n)+", text)]
    width = _wrap_width(paragraphs)
    for paragraph in paragraphs:
        lines = [line.rstrip() for line in paragraph.split("\n") if line.strip()]
        if len(lines) > 1 and _is_underline(lines[1], below=lines[0]):
            level = 1 if lines[1].strip()[0] == "=" else 2
            yield Block(lines[0].strip(), level=level)
            lines = lines[2:]
        elif len(lines) == 1 and (level := _heading_level(lines[0].strip())):
            yield Block(lines[0].strip(), level=level)
            continue
        if lines:
            wrapped = width is not None and _is_wrapped(lines, width)
            yield Block(_join(lines) if wrapped else "\n".join(lines))


def _is_underline(line: str, *, below: str) -> bool:
    drawn, title = line.strip(), below.strip()
    return (
        _UNDERLINE.fullmatch(drawn) is not None
        and any(character.isalnum() for character in title)
        and len(title) <= 100
        and 0.5 * len(title) <= len(drawn) <= len(title) + 10
    )


def _heading_level(line: str) -> int:
    if _CHAPTER.fullmatch(line):
        return 1
    numbered = _NUMBERED.fullmatch(line)
    return 1 + numbered["deeper"].count(".") if numbered else 0


def _wrap_width(paragraphs: Sequence[str]) -> int | None:
    """Return the column at which a text is hard-wrapped; None when it is not."""
    inner = sorted(
        len(line.rstrip()) for part in paragraphs for line in part.split("\n")[:-1] if line.strip()
    )
    if len(inner) < 3:
        return None
    width = inner[int(0.95 * (len(inner) - 1))]
    return width if MIN_WRAP_WIDTH <= width <= MAX_WRAP_WIDTH else None


def _is_wrapped(lines: Sequence[str], width: int) -> bool:
    """Return whether every line break is due to wrapping."""
    if any(_NOT_PROSE.match(line) for line in lines):
        return False
    return all(
        len(line) + 1 + len(following.split(maxsplit=1)[0]) >= width - 2
        for line, following in pairwise(lines)
    )


def _join(lines: Sequence[str]) -> str:
    text = lines[0]
    for line in lines[1:]:
        # "well-" and "known" stay one word, with the hyphen that was printed.
        broken = re.search(r"[^\W\d_]-$", text[-2:]) is not None and line[:1].islower()
        text += line if broken else f" {line}"
    return text

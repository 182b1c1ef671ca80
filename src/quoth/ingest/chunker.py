"""Split a document into chunks of whole sentences near a target size, per section."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import add

from quoth.core.types import Chars, Chunk, ParsedDocument, Section, SpanLocator
from quoth.text.locators import ARROW, clip, locate
from quoth.text.sentences import last_pause, sentences, trim_span

SLACK = 1.5
"""How far above its target a chunk may go."""
MID_PARAGRAPH = 0.06
"""What it costs to end within a paragraph, where being off the target by half costs 0.25."""

MAX_LINE = 300
"""Characters of a line that is not cut at full stops: a longer one is a paragraph of prose."""
MAX_HEAD = 80
"""Characters of a line that may be a heading."""
_ENDS = (".", "!", "?", "…", ";", "。", "！", "？", "؟", "।", "۔")
_CLOSING = "\"'»”’)]」』）"
_PAUSES = (re.compile(r"\n"), re.compile(r"[.;:!?…—–]\s"), re.compile(r"[,)]\s"), re.compile(r"\s"))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence with the white space after it; ``closes`` marks the end of a paragraph."""

    start: int
    end: int
    tokens: int
    closes: bool


def chunk(
    reading: ParsedDocument,
    *,
    document_id: str,
    chunk_id: Callable[[int], str],
    count_tokens: Callable[[Sequence[str]], list[int]],
    target_tokens: int = 200,
    language: str,
    earlier: Sequence[str] = (),
    begins: Sequence[int] = (),
) -> list[Chunk]:
    """Partition the text of a document into chunks.

    ``earlier`` are the texts of the chunks of the version before, which stay where they are there.
    At the offsets of ``begins`` a chunk begins, as at those of sections.

    ``count_tokens`` is called once for all sentences, and again only for the parts of sentences
    that are too long for a chunk. The tokens of a chunk are the sum of those of its sentences,
    at most SLACK times the target unless a single character has more.
    """
    borders = _section_borders(reading)
    spans = _sentence_spans(reading, borders)
    pieces = _counted(reading.text, spans, count_tokens=count_tokens, target=target_tokens)
    kept = set(_kept(reading.text, pieces, earlier, borders=borders, target=target_tokens))
    borders = sorted({*borders, *begins, *(border for span in kept for border in span)})
    starts = [place.start for place in reading.places]
    chunks: list[Chunk] = []
    first = 0
    while first < len(pieces):
        border = borders[bisect_right(borders, pieces[first].start)]
        last = bisect_left(pieces, border, lo=first, key=lambda piece: piece.start)
        part = pieces[first:last]
        is_kept = (part[0].start, part[-1].end) in kept
        for group in [part] if is_kept else _groups(part, target=target_tokens):
            number = len(chunks)
            chunks.append(
                _make(
                    reading,
                    group,
                    starts=starts,
                    ids=(chunk_id(number), document_id),
                    ordinal=number,
                    language=language,
                )
            )
        first = last
    return chunks


def _kept(
    text: str,
    pieces: Sequence[_Piece],
    earlier: Sequence[str],
    *,
    borders: Sequence[int],
    target: int,
) -> list[tuple[int, int]]:
    """Return the spans of a text that are ``earlier`` chunks, in order.

    The borders of chunks are chosen for a whole section at once, so that one word can move many of
    them. With the earlier ones kept, a correction changes the chunks that it touches. A chunk is
    kept where sentences begin and end as it does and no section border is inside. A change that
    is less than half a chunk by itself takes the chunk after it along, or the one before.
    """
    starts = [*(piece.start for piece in pieces), len(text)]
    before = dict(zip(starts, accumulate((p.tokens for p in pieces), initial=0), strict=True))
    spans: list[tuple[int, int]] = []
    position = 0
    for earlier_chunk in earlier:
        start = text.find(earlier_chunk, position) if earlier_chunk else -1
        end = start + len(earlier_chunk)
        if start < 0 or start not in before or end not in before:
            continue
        if bisect_left(borders, end) <= bisect_left(borders, start + 1):
            spans.append((start, end))
            position = end
    return _with_room(spans, before=before, target=target, length=len(text))


def _with_room(
    spans: Sequence[tuple[int, int]], *, before: dict[int, int], target: int, length: int
) -> list[tuple[int, int]]:
    """Drop the neighbour of every gap that is too small for a chunk of its own."""
    dropped: set[int] = set()
    for number in range(len(spans) + 1):
        low = spans[number - 1][1] if number else 0
        high = spans[number][0] if number < len(spans) else length
        if low < high and before[high] - before[low] < target / 2:
            dropped.add(number if number < len(spans) else number - 1)
    return [span for number, span in enumerate(spans) if number not in dropped]


def _section_borders(reading: ParsedDocument) -> list[int]:
    """Return the offsets at which sections begin or end, and both ends of the text."""
    inner = {offset for section in reading.sections for offset in (section.start, section.end)}
    length = len(reading.text)
    return sorted({0, length, *(offset for offset in inner if 0 < offset < length)})


def _sentence_spans(reading: ParsedDocument, borders: Sequence[int]) -> list[tuple[int, int]]:
    """Return sentence spans extended by their trailing white space, covering the text."""
    breaks = [place.start for place in reading.places] if reading.kind == "transcript" else []
    begins: list[int] = []
    for low, high in pairwise(borders):
        inside = [offset - low for offset in breaks[bisect_left(breaks, low) :] if offset < high]
        begins.extend(low + start for start, _ in sentences(reading.text[low:high], breaks=inside))
    if not begins:
        return []
    begins = _between_units(reading, begins)
    return list(pairwise([0, *begins[1:], len(reading.text)]))


def _is_unit(place: SpanLocator, framed: str) -> bool:
    """Return whether a place is a row, or a short line that is no part of a wrapped paragraph.

    ``framed`` is the text between two line feeds.
    """
    at = place.locator
    if not isinstance(at, Chars) or at.label_first != at.label_last:
        return False
    alone = framed[place.start] == framed[place.end + 1] == "\n"
    short = place.end - place.start <= MAX_LINE
    return at.unit == "row" or (at.unit == "line" and alone and short)


def _between_units(reading: ParsedDocument, begins: Sequence[int]) -> list[int]:
    """Leave out what begins within a line of code or a row: these are not cut at full stops."""
    framed = f"\n{reading.text}\n"
    units = [(place.start, place.end) for place in reading.places if _is_unit(place, framed)]
    if not units:
        return list(begins)
    starts = [start for start, _ in units]

    def is_inside(begin: int) -> bool:
        at = bisect_right(starts, begin) - 1
        return at >= 0 and starts[at] < begin < units[at][1]

    return [begin for begin in begins if not is_inside(begin)]


def _counted(
    text: str,
    spans: Sequence[tuple[int, int]],
    *,
    count_tokens: Callable[[Sequence[str]], list[int]],
    target: int,
) -> list[_Piece]:
    """Count the tokens of all sentences; split those that exceed a chunk."""
    most = int(SLACK * target)
    done: list[tuple[int, int, int]] = []
    waiting = list(spans)
    while waiting:
        counts = count_tokens([text[start:end] for start, end in waiting])
        longer: list[tuple[int, int]] = []
        for (start, end), tokens in zip(waiting, counts, strict=True):
            if tokens > most and end - start > 1:
                longer.extend(_parts(text, start, end, parts=1 + tokens // target))
            else:
                done.append((start, end, tokens))
        waiting = longer
    return [
        _Piece(start, end, tokens, closes=_ends_paragraph(text, start, end))
        for start, end, tokens in sorted(done)
    ]


def _ends_paragraph(text: str, start: int, end: int) -> bool:
    """Return whether a paragraph ends with a piece; a line without a full stop leads to the next.

    Such are the terms of a glossary, headings that are not marked as such, and items of a list.
    """
    if end == len(text):
        return True
    piece = text[start:end]
    line = piece.rstrip()
    leads_on = len(line) <= MAX_HEAD and not line.rstrip(_CLOSING).endswith(_ENDS)
    return "\n\n" in piece[len(line) :] and not leads_on


def _parts(text: str, start: int, end: int, *, parts: int) -> list[tuple[int, int]]:
    """Split a span into parts of similar length, at a line, a clause or a word."""
    size = max(1, (end - start) // max(2, parts))
    cuts = [start]
    while end - cuts[-1] > 1.5 * size and len(cuts) < parts + 8:
        least, most = cuts[-1] + max(1, size // 2), min(end - 1, cuts[-1] + size)
        cuts.append(last_pause(text, least, most, pauses=_PAUSES) or max(least, most))
    if len(cuts) == 1:
        cuts.append(start + max(1, (end - start) // 2))
    return list(pairwise([*cuts, end]))


def _groups(pieces: Sequence[_Piece], *, target: int) -> list[Sequence[_Piece]]:
    """Group the sentences of one section so that the chunks are closest to the target.

    Minimises the sum of squared relative distances to the target, plus a penalty for every chunk
    that ends within a paragraph, over all partitions (shortest path, as in line breaking:
    Knuth and Plass 1981). No chunk has more than SLACK times the target.
    """
    totals = [0, *accumulate(piece.tokens for piece in pieces)]
    best = [0.0] + [float("inf")] * len(pieces)
    origin = [0] * (len(pieces) + 1)
    most = int(SLACK * target)
    distances = [(tokens - target) / target for tokens in range(most + 1)]
    squares = [distance * distance for distance in distances]
    for end in range(1, len(pieces) + 1):
        price = 0.0 if pieces[end - 1].closes or end == len(pieces) else MID_PARAGRAPH
        total = totals[end]
        # Not more sentences than a chunk has tokens, or those without any would have no end.
        low = bisect_left(totals, total - most, max(0, end - most), end)
        if low == end:  # one sentence that is too long for a chunk
            distance = (total - totals[end - 1] - target) / target
            best[end], origin[end] = best[end - 1] + distance * distance + price, end - 1
            continue
        # For every start, the nearest first; in one pass, since a text may have very many.
        tokens = map(total.__sub__, totals[low:end][::-1])
        costs = list(map(add, best[low:end][::-1], map(squares.__getitem__, tokens)))
        least = min(costs)
        best[end], origin[end] = least + price, end - 1 - costs.index(least)
    groups: list[Sequence[_Piece]] = []
    end = len(pieces)
    while end:
        groups.append(pieces[origin[end] : end])
        end = origin[end]
    return groups[::-1]


def _make(
    reading: ParsedDocument,
    group: Sequence[_Piece],
    *,
    starts: Sequence[int],
    ids: tuple[str, str],
    ordinal: int,
    language: str,
) -> Chunk:
    start, end = group[0].start, group[-1].end
    path = _path(reading.sections, start)
    section = ARROW.join(path) or None
    low = max(0, bisect_right(starts, start) - 1)
    near = reading.places[low : bisect_left(starts, end)]
    places = tuple(
        _in_section(clip(place, start, end), section) for place in near if place.end > start
    )
    words = trim_span(reading.text, start, end)
    locator = locate(places or near or reading.places[-1:], *words)
    return Chunk(
        chunk_id=ids[0],
        document_id=ids[1],
        ordinal=ordinal,
        start=start,
        end=end,
        text=reading.text[start:end],
        locator=replace(locator, section=section) if path else locator,
        kind=reading.kind,
        places=places,
        section=path,
        prefix=_prefix(reading, path, places),
        language=language,
        tokens=sum(piece.tokens for piece in group),
        date=reading.date,
    )


def _path(sections: Sequence[Section], offset: int) -> tuple[str, ...]:
    number = bisect_right(sections, offset, key=lambda section: section.start) - 1
    return sections[number].path if number >= 0 and offset < sections[number].end else ()


def _in_section(place: SpanLocator, section: str | None) -> SpanLocator:
    locator = place.locator
    if section is None or locator.section:
        return place
    return replace(place, locator=replace(locator, section=section))


def _prefix(reading: ParsedDocument, path: Sequence[str], places: Sequence[SpanLocator]) -> str:
    """Return title, section titles and speakers, without case-insensitive duplicates.

    The author of a PDF is left out: the same names in every passage of a book tell none apart.
    """
    locators = (place.locator for place in places)
    said = [each.speaker for each in locators if each.speaker]
    author = reading.speaker if reading.kind != "pdf" else None
    speakers = ", ".join(dict.fromkeys(said)) or author or ""
    seen: dict[str, str] = {}
    for part in (reading.title, *path, speakers):
        if part.strip():
            seen.setdefault(part.strip().casefold(), part.strip())
    return ARROW.join(seen.values())

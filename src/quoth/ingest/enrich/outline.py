"""Document outline: headings, segments, and their assignment to chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quoth.core.outline import Heading
from quoth.core.types import Chunk, ParsedDocument
from quoth.ingest.enrich.chapters import headings_of
from quoth.ingest.enrich.segments import segments_of


def contents_of(
    reading: ParsedDocument, chunks: Sequence[Chunk]
) -> tuple[tuple[Chunk, ...], tuple[Heading, ...]]:
    """Return the chunks with chapter and segment, and the headings in order of the text.

    A segment that a heading names is marked on that heading; one detected from speech is a heading
    of its own, without a title.
    """
    segments = segments_of(chunks)
    titled = {(segment.path, segment.first): segment for segment in segments if segment.path}
    found = [
        replace(heading, segment=titled[heading.path, heading.first].segment)
        if (heading.path, heading.first) in titled
        else heading
        for heading in headings_of(reading, chunks)
    ]
    found += [segment for segment in segments if not segment.path]
    return _marked(chunks, found, segments=segments), tuple(found)


def _marked(
    chunks: Sequence[Chunk], headings: Sequence[Heading], *, segments: Sequence[Heading]
) -> tuple[Chunk, ...]:
    chapters: dict[int, str] = {}
    for heading in headings:  # inner headings follow outer ones
        if heading.chapter:
            chapters.update(dict.fromkeys(range(heading.first, heading.last + 1), heading.chapter))
    kinds = {
        at: segment.segment for segment in segments for at in range(segment.first, segment.last + 1)
    }
    return tuple(
        replace(chunk, chapter=chapters.get(at, ""), segment=kinds.get(at, ""))
        if at in chapters or at in kinds
        else chunk
        for at, chunk in enumerate(chunks)
    )

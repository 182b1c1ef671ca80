"""Documents within a document: the files of an archive, the attachments of a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from quoth.core.errors import DocumentError
from quoth.core.types import Chars, Pages, ParsedDocument, Seconds, Section, SpanLocator
from quoth.ingest.readers.blocks import GAP, Content
from quoth.ingest.readers.source_file import MAX_NESTING, SourceFile
from quoth.text.locators import ARROW, label

MAX_CHARACTERS = 50_000_000
"""Characters of all files within one."""


@dataclass(slots=True)
class Enclosure:
    """Collects the texts of documents, each below the titles that lead to it."""

    parts: list[str] = field(default_factory=list)
    places: list[SpanLocator] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def content(self) -> Content:
        """Return the text of all documents, with their places and sections."""
        return "".join(self.parts), tuple(self.places), tuple(self.sections)

    def add(self, content: Content, *, path: Sequence[str], anchor: str | None = None) -> None:
        """Add a text below these titles; ``anchor`` names the file within that it is of."""
        text, places, sections = content
        if not text.strip():
            return
        if self.parts:
            self.parts.append(GAP)
            self.length += len(GAP)
        if self.length + len(text) > MAX_CHARACTERS:
            raise DocumentError(
                "too_large",
                f"{path[0]} and what is before it have more than {MAX_CHARACTERS:,} characters; "
                "unpack them and add what you need.",
            )
        self.places += [_moved(place, self.length, path, anchor) for place in places]
        self.sections += _below(sections, self.length, path, end=self.length + len(text))
        self.parts.append(text)
        self.length += len(text)

    def add_file(self, file: SourceFile, *, path: Sequence[str]) -> None:
        """Read a file with its own reader; one that cannot be read costs a warning."""
        from quoth.ingest.readers.registry import read_data

        name = path[-1]
        try:
            if file.nesting > MAX_NESTING:
                raise DocumentError(
                    "unsupported", f"{name} is packed more than {MAX_NESTING} times over."
                )
            document: ParsedDocument = read_data(file)
        except DocumentError as error:
            if error.code == "too_large":
                raise
            self.warnings.append(f"A part was not read: {error}")
            return
        self.warnings += [f"{name}: {warning}" for warning in document.warnings]
        content = (document.text, document.places, document.sections)
        self.add(content, path=path, anchor=name)


def _moved(place: SpanLocator, offset: int, path: Sequence[str], anchor: str | None) -> SpanLocator:
    """Return a place of a document within another: its pages and seconds become labels."""
    locator = place.locator
    start, end = place.start + offset, place.end + offset
    timed = replace(locator, speaker=None)
    said = label(replace(timed, end=timed.start)) if isinstance(timed, Seconds) else ""
    section = ARROW.join(filter(None, (*path, locator.section, said)))
    made = Chars(start, end, section, anchor, speaker=locator.speaker)
    if not isinstance(locator, Seconds):
        first, last = locator.label_first, locator.label_last
        if isinstance(locator, Pages):
            first, last = first or str(locator.first), last or str(locator.last)
        made = replace(made, unit=locator.unit, label_first=first, label_last=last)
    return SpanLocator(start, end, made, place.hyphen)


def _below(
    sections: Sequence[Section], offset: int, path: Sequence[str], *, end: int
) -> Iterator[Section]:
    """Return the sections of a document below a path, which is the section of all else in it."""
    position = offset
    for section in sections:
        start, stop = section.start + offset, section.end + offset
        if position < start:
            yield Section(position, start, tuple(path))
        yield Section(start, stop, (*path, *section.path), section.anchor)
        position = stop
    if position < end:
        yield Section(position, end, tuple(path))

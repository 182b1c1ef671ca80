"""The table at the end of `quoth add` and `quoth sync`: what became of every file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from quoth.core.command_line import command_line
from quoth.core.types import Document, Json
from quoth.ingest.readers.formats import SUFFIX_FORMATS
from quoth.ingest.sources.files import GENERATED, LINKED, SHOWN
from quoth.interfaces.cli.session import CliSession
from quoth.store.blobs import source_path
from quoth.text.json_codec import to_json

NOTHING = "Nothing to add: there is no file here that quoth reads. It reads {known}."
LISTED_TYPES = 8
"""Types that are named for one way to get their text."""
LISTED_ALIKE = 50
"""Further files that are named for one reason; programs get them all."""
LISTED_FAILURES = 20
"""Reasons of failures that a person is shown; programs get them all, and `quoth list` has them."""

ADVICE: dict[str, tuple[str, ...]] = {
    "save them as PDF, DOCX or HTML": (
        *(".doc", ".mobi", ".azw3", ".ppt", ".key", ".pages", ".numbers", ".ps", ".djvu", ".msg"),
        *(".fodt", ".fods", ".fodp"),
    ),
    "add their captions or a transcript (.srt, .vtt)": (
        *(".mp3", ".m4a", ".wav", ".ogg", ".oga", ".flac", ".opus", ".aac"),
        *(".mp4", ".m4v", ".mkv", ".webm", ".mov", ".avi"),
    ),
    "save pictures of text as PNG, JPEG or TIFF": (".gif", ".webp", ".svg", ".bmp", ".heic"),
    "unpack them": (".7z", ".rar", ".zst"),
    "name the folder as well to have it added": (LINKED,),
    'add them with --include "*.png" to have the words in them read': (SHOWN,),
    'add them with --include "*"': (GENERATED,),
}
"""What gets a text out of files that are not read, by suffix."""
OTHERWISE = "name them one by one to have them read as text"


@dataclass(frozen=True, slots=True)
class LeftOutFiles:
    """The files of folders that are not read, counted by suffix, and the way to their text."""

    types: Mapping[str, int]
    way: str

    def __str__(self) -> str:
        ordered = sorted(self.types.items(), key=lambda each: (-each[1], each[0]))
        listed = ", ".join(
            f"{count} {suffix or 'without a suffix'}" for suffix, count in ordered[:LISTED_TYPES]
        )
        more = sum(count for _, count in ordered[LISTED_TYPES:])
        return f"{listed}{f' and {more} others' if more else ''}: {self.way}"


@dataclass(frozen=True, slots=True)
class AddReport:
    """The documents of an add, the sources that were there before, and what was left out.

    ``known`` are their documents, by source. ``types_left_out`` are the files that were not read
    for their type, ``named`` the sources of files that were given by their name. What failed is
    named by its path below the ``folders``.
    """

    documents: Sequence[Document]
    known: Mapping[str, str] = field(default_factory=dict)
    types_left_out: Sequence[LeftOutFiles] = ()
    named: frozenset[str] = frozenset()
    folders: Sequence[Path] = ()

    @property
    def failed(self) -> list[Document]:
        """The documents that could not be read."""
        failed = [each for each in self.documents if each.status == "failed"]
        return [each for each in failed if not self._is_without_text(each)]

    @property
    def left_out(self) -> list[LeftOutFiles]:
        """The files of folders that are not read, and pictures without text."""
        paths = [PurePath(each.source) for each in self.documents if self._is_without_text(each)]
        types = Counter(path.suffix.lower() for path in paths)
        names = _listed([path.name for path in paths])
        empty = [LeftOutFiles(types, f"no text was found in them: {names}")] if paths else []
        return [*empty, *self.types_left_out]

    def _is_without_text(self, document: Document) -> bool:
        """Whether a new file of a folder is a picture without text, such as a logo."""
        source = document.source
        empty = document.error is not None and document.error.code == "empty"
        is_picture = SUFFIX_FORMATS.get(PurePath(source).suffix.lower()) == "picture"
        return empty and is_picture and source not in {*self.named, *self.known}

    def name_of(self, document: Document) -> str:
        """Return the path of a document below the folder that was added, or else its title."""
        path = source_path(document.source)
        for folder in self.folders:
            if path is not None and path.is_relative_to(folder):
                return str(path.relative_to(folder))
        return document.title

    def counts(self) -> dict[str, int]:
        """Return the number of documents by what became of them."""
        ready = [each for each in self.documents if each.status == "ready"]
        updated = sum(each.source in self.known for each in ready)
        before = {*self.known.values()}
        moved = sum(e.source not in self.known and e.document_id in before for e in ready)
        unchanged = sum(each.status == "unchanged" for each in self.documents)
        return {
            "added": len(ready) - updated - moved,
            "updated": updated,
            "moved": moved,
            "unchanged": unchanged,
            "failed": len(self.failed),
        }

    def to_json(self) -> Json:
        """Return the report for programs."""
        documents = [to_json(each) for each in self.documents]
        left_out = [{"types": dict(each.types), "way": each.way} for each in self.left_out]
        return {**self.counts(), "documents": documents, "left_out": left_out}


def ways_of(counts: Mapping[str, int]) -> list[LeftOutFiles]:
    """Return files that were left out, by suffix, in groups with one way to get their text."""
    rest = dict(counts)
    groups = []
    for way, suffixes in {**_installs(counts), **ADVICE, OTHERWISE: tuple(counts)}.items():
        types = {suffix: rest.pop(suffix) for suffix in suffixes if suffix in rest}
        if types:
            groups.append(LeftOutFiles(types, way))
    return groups


def show_report(session: CliSession, report: AddReport) -> None:
    """Show the table; with --quiet only what failed."""
    from quoth.ingest.readers.formats import KNOWN

    if not report.documents:
        session.err.print_message(NOTHING.format(known=KNOWN))
    failures = _failures(session, report)
    counts = report.counts()
    left_out = sum(sum(each.types.values()) for each in report.left_out)
    rows = [(word, count, failures if word == "failed" else []) for word, count in counts.items()]
    rows.append(("left out", left_out, [str(each) for each in report.left_out]))
    width = len(str(max(count for _, count, _ in rows)))
    for word, count, details in rows:
        if count and (not session.quiet or word == "failed"):
            _show_row(session, f"{word:<10} {count:>{width}}", details)


def _failures(session: CliSession, report: AddReport) -> list[str]:
    """Return a line for each reason, and below it the names of the others that it holds for."""
    groups: dict[tuple[str, str], list[Document]] = {}
    for each in report.failed:
        if each.error is not None:
            said = each.error.message.replace(PurePath(each.source).name, "")
            groups.setdefault((each.error.code, said), []).append(each)
    lines = []
    ways = list(groups.items())
    for (code, _), (first, *others) in ways[:LISTED_FAILURES]:
        assert first.error is not None
        said, name = first.error.message, report.name_of(first)
        if said.startswith(f"{PurePath(name).name} "):
            said = f"{name.removesuffix(PurePath(name).name)}{said}"
        begin = "" if name in said else f"{name}: "
        lines.append(f"{begin}{said} [{code}]")
        if others:
            lines.append(f"the same: {_listed([*map(report.name_of, others)])}")
    if more := sum(len(alike) for _, alike in ways[LISTED_FAILURES:]):
        lines.append(f"… and {more} more: {command_line('list', session.settings)}")
    return lines


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED_ALIKE
    return f"{', '.join(names[:LISTED_ALIKE])}{f' and {more} more (--json)' if more > 0 else ''}"


def _show_row(session: CliSession, head: str, details: Sequence[str]) -> None:
    style = "red" if head.startswith("failed") else ""
    for number, detail in enumerate(details or [""]):
        begin = " " * len(head) if number else head
        session.err.print_message(f"{begin}  {detail}".rstrip(), style=style)


def _installs(suffixes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the suffixes of formats whose package is missing, by the command that installs it."""
    from quoth.ingest.readers.formats import install_line

    lines = {suffix: line for suffix in sorted(suffixes) if (line := install_line(suffix))}
    return {
        f"install what reads them: {line}": tuple(each for each in lines if lines[each] == line)
        for line in dict.fromkeys(lines.values())
    }

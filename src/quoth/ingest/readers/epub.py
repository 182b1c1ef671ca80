"""EPUB 2 and 3: the chapters in reading order, with the outline and the printed pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from quoth.core.errors import DocumentError
from quoth.core.types import Pages, ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, to_plain_text
from quoth.ingest.readers.detect import decode
from quoth.ingest.readers.epub_package import EpubPackage, Target, as_html, read_package
from quoth.ingest.readers.html import body_blocks, parse_html
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.zip_container import ZipContainer, open_container

FRONT = "front"
"""The label of what stands before the first page that has one."""
MAX_TARGETS = 20_000
"""Entries of the outline and the page list that are looked for."""

_MARK = re.compile("\ue000([ep][0-9]{1,6})\ue001")
_MARK_SPACE = re.compile(r"(?<=\s)(?:\ue000[ep]\d{1,6}\ue001)+\s|\ue000[ep]\d{1,6}\ue001")
_PRIVATE = re.compile("[\ue000\ue001]")
_PAGE_BREAKS = "[epub\\:type~=pagebreak], [role=doc-pagebreak]:not([epub\\:type~=pagebreak])"
_BACK = ("↩", "↩︎", "↩\ufe0e", "↑", "^")
"""Links from a note back to its number."""
_NOTE = re.compile(r"\[?[\d*†‡§]{1,4}\]?")


@dataclass(slots=True)
class _BookDraft:
    """The state of the walk through the chapters."""

    outline: dict[str, list[Target]] = field(default_factory=dict)
    level: int = 0
    """The depth of the entry of the outline that the text is below."""
    labels: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)


def read_epub(file: SourceFile) -> ParsedDocument:
    """Read an e-book; raises DocumentError, ``encrypted`` for one that is protected.

    Its pages are those of the printed book where it lists them; else a place is a section.
    """
    container = open_container(file.data, name=file.name)
    package = read_package(container)
    draft = _BookDraft()
    for entry in package.outline[:MAX_TARGETS]:
        draft.outline.setdefault(entry.member, []).append(entry)
    blocks: list[Block] = []
    unread: list[str] = []
    for member in package.chapters:
        try:
            blocks += _chapter(container, member, package, draft)
        except DocumentError as error:
            if error.code not in ("empty", "damaged"):
                raise
            unread += [member] if error.code == "damaged" else []
    if not blocks and unread:
        raise DocumentError("damaged", f"{file.name} is damaged: no chapter of it can be read.")
    first_member = package.chapters[0] if package.chapters else None
    labels = (FRONT, *draft.labels) if draft.labels else ()
    warnings = (f"Chapters that cannot be read: {', '.join(unread[:5])}.",) if unread else ()
    return file.document(
        "book",
        assemble(_located(blocks, draft, first_member=first_member)),
        meta=package.meta,
        pages=len(labels) or None,
        labels=labels,
        warnings=warnings,
    )


def _chapter(
    container: ZipContainer, member: str, package: EpubPackage, draft: _BookDraft
) -> Iterator[Block]:
    """Return the blocks of a chapter, its headings at their depth in the outline."""
    text = _PRIVATE.sub("", decode(container.read(member), name=container.name)[0])
    tree = parse_html(as_html(text))
    entries = draft.outline.get(member, [])
    pages = [page for page in package.pages[:MAX_TARGETS] if page.member == member]
    _mark_targets(tree, entries, pages, draft=draft, member=member)
    blocks = body_blocks(tree, nav=False)
    levels = [block.level for block in blocks if block.level]
    base = min((entry.level for entry in entries), default=draft.level + 1 if levels else 0)
    shift = base - min(levels) if levels and package.outline else 0
    for entry in entries:
        if not entry.fragment:
            yield from _open(entry, blocks[:3], member=member)
    draft.level = max(draft.level, 1) if package.outline and not entries else base
    if entries:
        draft.level = entries[-1].level
    first = next((block for block in blocks if _unmarked(block.text)), None)
    for block in blocks:
        numbers = [int(each[1:]) for each in _MARK.findall(block.text) if each[:1] == "e"]
        for number in numbers:
            yield from _open(entries[number], [block], member=member)
        anchor = f"{member}#{block.anchor}" if block.anchor else member
        yield replace(
            block,
            level=block.level and min(max(1, block.level + shift), 6),
            anchor=anchor if block.level or block.anchor or block is first else None,
        )


def _open(entry: Target, blocks: Sequence[Block], *, member: str) -> Iterator[Block]:
    """Begin the section of an entry, unless a heading here says the same."""
    title = _bare(entry.label)
    headings = [_bare(_unmarked(block.text)) for block in blocks if block.level]
    if not any(title in heading or heading in title for heading in headings):
        anchor = f"{member}#{entry.fragment}" if entry.fragment else member
        yield Block(entry.label, level=entry.level, anchor=anchor, silent=True)


def _mark_targets(
    tree: LexborHTMLParser,
    entries: Sequence[Target],
    pages: Sequence[Target],
    *,
    draft: _BookDraft,
    member: str,
) -> None:
    """Mark in the text where entries of the outline and pages begin, and the numbers of notes."""
    sections = {entry.fragment: number for number, entry in enumerate(entries) if entry.fragment}
    labels = {page.fragment: page.label for page in pages}
    if "" in labels and tree.body is not None:
        tree.body.insert_child(_page_mark(draft, labels[""], member))
    nodes = {node.mem_id: node for node in tree.css(f"[id], a[name], {_PAGE_BREAKS}")}
    for node in nodes.values():
        attributes = node.attributes
        name = attributes.get("id") or attributes.get("name") or ""
        kind = f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}"
        label = labels.get(name)
        if label is None and "pagebreak" in kind and not labels:
            label = attributes.get("title") or attributes.get("aria-label") or node.text()
        if name in sections:
            node.insert_before(f"\ue000e{sections[name]}\ue001")
        if label is not None and to_plain_text(label):
            anchor = f"{member}#{name}" if name else member
            node.insert_before(_page_mark(draft, to_plain_text(label), anchor))
    for node in tree.css(_PAGE_BREAKS):
        if len(node.css(_PAGE_BREAKS)) < 2:  # what is within one that is removed is gone, too
            node.decompose()
    for node in tree.css("a[href]"):
        _set_off_note(node)


def _page_mark(draft: _BookDraft, label: str, anchor: str) -> str:
    draft.labels.append(label.removeprefix("Page ").removeprefix("p. "))
    draft.anchors.append(anchor)
    return f"\ue000p{len(draft.labels)}\ue001"


def _set_off_note(node: LexborNode) -> None:
    """Write the number of a note as "[1]", so that it is no part of the word before it."""
    kind = f"{node.attributes.get('epub:type') or ''} {node.attributes.get('role') or ''}"
    leads_on = "noteref" in kind or "#" in (node.attributes.get("href") or "")
    number = (node.text(deep=True) or "").strip()
    if number in _BACK:
        node.decompose()
    elif leads_on and _NOTE.fullmatch(number):
        node.replace_with(f"[{number.strip('[]')}]")


def _located(
    blocks: Sequence[Block], draft: _BookDraft, *, first_member: str | None
) -> Iterator[Block]:
    """Return the blocks without marks, each on the pages that it stands on."""
    labels, anchors = (FRONT, *draft.labels), (first_member, *draft.anchors)
    current = 0
    for block in blocks:
        marks = [match for match in _MARK.finditer(block.text) if match[1].startswith("p")]
        numbers = [int(match[1][1:]) for match in marks]
        begins = bool(marks) and not _unmarked(block.text[: marks[0].start()])
        first = numbers[0] if begins else current
        current = last = numbers[-1] if numbers else current
        page = Pages(first + 1, last + 1, labels[first], labels[last], anchor=anchors[first])
        text = block.text if block.silent else _unmarked(block.text)
        yield replace(block, text=text, place=page if draft.labels else None)


def _unmarked(text: str) -> str:
    return _MARK_SPACE.sub("", text).strip()


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())

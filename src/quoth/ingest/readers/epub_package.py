"""The package of an e-book: its metadata, reading order, outline and page list."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag

from selectolax.lexbor import LexborNode

from quoth.core.errors import DocumentError
from quoth.ingest.readers.blocks import plain_line
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.detect import decode
from quoth.ingest.readers.html import parse_html
from quoth.ingest.readers.metadata import Metadata, normalize_language
from quoth.ingest.readers.xml_parts import Element, below, children, local, text_of
from quoth.ingest.readers.zip_container import ZipContainer

MAX_LEVEL = 6
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc")
"""Algorithms that only make fonts unusable elsewhere."""
_SCHEMES = {
    "META-INF/sinf.xml": "Apple FairPlay",
    "META-INF/license.lcpl": "Readium LCP",
    "META-INF/rights.xml": "Adobe ADEPT",
}

_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"([a-zA-Z][\w:.-]*+)((?:\s[^<>]*+(?<=/))|/)>"
)
"""An element of XHTML that closes itself, which a parser of HTML does not know."""


@dataclass(frozen=True, slots=True)
class Target:
    """An entry of the outline or the page list: where it leads, and its depth from 1."""

    label: str
    member: str
    fragment: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class EpubPackage:
    """What the package document says; ``chapters`` are members in reading order, each once."""

    meta: Metadata
    chapters: tuple[str, ...]
    outline: tuple[Target, ...]
    pages: tuple[Target, ...]


def read_package(container: ZipContainer) -> EpubPackage:
    """Read the package of an e-book; raises DocumentError, ``encrypted`` for a protected one."""
    refuse_protected(container)
    root = _xml(container, "META-INF/container.xml")
    path = next((each.get("full-path", "") for each in below(root, "rootfile")), "")
    package = _xml(container, path)
    base = posixpath.dirname(path)
    items = {each.get("id", ""): each for each in below(package, "item")}
    members = {key: _resolve(base, each.get("href", ""))[0] for key, each in items.items()}
    nav = next(
        (members[key] for key, each in items.items() if "nav" in _words(each, "properties")), None
    )
    chapters = [
        members[key]
        for each in below(package, "itemref")
        if (key := each.get("idref", "")) in items
        and "html" in items[key].get("media-type", "html")
        and members[key] != nav
        and container.has(members[key])
    ]
    outline: Sequence[Target] = ()
    pages: Sequence[Target] = ()
    if nav is not None and container.has(nav):
        outline, pages = _navigation(container, nav)
    ncx = next((key for key, each in items.items() if "ncx" in each.get("media-type", "")), None)
    if not outline and ncx is not None and container.has(members[ncx]):
        table = _xml(container, members[ncx])
        outline = list(_points(table, members[ncx], "navPoint"))
        pages = pages or list(_points(table, members[ncx], "pageTarget"))
    once = tuple(dict.fromkeys(chapters))  # a file has an entry for each of its sections
    return EpubPackage(_metadata(package), once, tuple(outline), tuple(pages))


def refuse_protected(container: ZipContainer) -> None:
    """Raise DocumentError for a book whose text is encrypted, with the name of the scheme."""
    part = "META-INF/encryption.xml"
    if not container.has(part):
        return
    methods = [
        each.get("Algorithm", "")
        for parent in below(_xml(container, part), "EncryptedData")
        for each in children(parent, "EncryptionMethod")
    ]
    if all(method.lower() in _FONTS for method in methods):
        return
    scheme = next((name for each, name in _SCHEMES.items() if container.has(each)), "encryption")
    raise DocumentError(
        "encrypted",
        f"{container.name} is protected against copying ({scheme}) and cannot be read; "
        "get an edition without protection.",
    )


def _metadata(package: Element) -> Metadata:
    authors = [" ".join("".join(each.itertext()).split()) for each in below(package, "creator")]
    return Metadata(
        title=plain_line(text_of(package, "title")) or None,
        speaker=", ".join(filter(None, authors)) or None,
        language=normalize_language(text_of(package, "language")),
        date=normalize_date(text_of(package, "date")),
    )


def _navigation(container: ZipContainer, member: str) -> tuple[list[Target], list[Target]]:
    """Return the outline and the page list of a navigation document (EPUB 3)."""
    tree = parse_html(as_html(decode(container.read(member), name=member)[0]))
    lists: dict[str, list[Target]] = {}
    for nav in tree.css("nav"):
        kind = nav.attributes.get("epub:type") or nav.attributes.get("role") or "toc"
        lists.setdefault(
            kind.removeprefix("doc-").replace("pagelist", "page-list"),
            [target for link in nav.css("a") if (target := _link(link, nav, member)) is not None],
        )
    return lists.get("toc", []), lists.get("page-list", [])


def _link(link: LexborNode, nav: LexborNode, member: str) -> Target | None:
    level, node = 0, link.parent
    while node is not None and node != nav:
        level += node.tag == "ol"
        node = node.parent
    label = plain_line(link.text(deep=True) or "")
    path, fragment = _resolve(posixpath.dirname(member), link.attributes.get("href") or "")
    if not label or not path:
        return None
    return Target(label, path, fragment, min(max(level, 1), MAX_LEVEL))


def _points(root: Element, member: str, name: str) -> Iterator[Target]:
    """Return the entries of an NCX table (EPUB 2) in order, parents before children."""
    stack: list[tuple[Element, int]] = [(root, 0)]
    while stack:
        element, level = stack.pop()
        if local(element) == name:
            level += 1
            parts: Mapping[str, Element] = {local(each): each for each in element}
            label, content = parts.get("navLabel"), parts.get("content")
            if label is not None and content is not None:
                path, fragment = _resolve(posixpath.dirname(member), content.get("src", ""))
                shown = plain_line("".join(label.itertext()))
                if shown:
                    yield Target(shown, path, fragment, min(level, MAX_LEVEL))
        stack.extend((each, level) for each in reversed(element))


def _resolve(base: str, href: str) -> tuple[str, str]:
    """Return the member and the fragment that an address leads to."""
    address, fragment = urldefrag(href)
    path = posixpath.normpath(posixpath.join(base, unquote(address))) if address else ""
    return path, unquote(fragment)


def _xml(container: ZipContainer, member: str) -> Element:
    return container.xml(member, allow_external=True)


def _words(element: Element, name: str) -> list[str]:
    return element.get(name, "").split()


def as_html(text: str) -> str:
    """Return a page with ``<a id="x"/>`` written as ``<a id="x"></a>``, as HTML has it."""
    return _CLOSED.sub(lambda tag: f"<{tag[1]}{tag[2][:-1]}></{tag[1]}>", text)

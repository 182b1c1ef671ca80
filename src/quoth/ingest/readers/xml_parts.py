"""XML without document types: the one place where XML is parsed.

A document type can declare entities that grow without end, or name files to open. It can stand
only before the first element, so that is where it is looked for; expat opens no other file.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element as Element
from xml.etree.ElementTree import SubElement as SubElement
from xml.parsers import expat

from quoth.core.errors import DocumentError

PROLOG = 1 << 16
"""Bytes within which the first element begins."""

XML_FAULTS = (ElementTree.ParseError, expat.ExpatError, ValueError, LookupError)
"""What parsers of XML raise over damaged files."""


class _Begun(Exception):
    """The first element, or a document type, was reached."""


def refuse_doctype(data: bytes, *, name: str, allow_external: bool = False) -> None:
    """Raise DocumentError for XML with a document type; ``allow_external`` permits a mere name.

    Old e-books name the document type of their table of contents, which is not opened.
    """
    found: list[bool] = []

    def doctype(_name: str, _system: str | None, _public: str | None, subset: int) -> None:
        found.append(bool(subset) or not allow_external)

    def begin(_name: str, _attributes: object) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = begin
    try:
        parser.Parse(data[:PROLOG], len(data) <= PROLOG)
        reached = False
    except _Begun:
        reached = True
    except (expat.ExpatError, LookupError, ValueError):
        reached = True  # parsing it reports the problem
    if any(found) or not reached:
        raise DocumentError(
            "unsupported",
            f"{name} declares an XML document type, which can make a parser grow without end; "
            "save the file again with the program that made it.",
        )


def parse_xml(data: bytes, *, name: str, allow_external: bool = False) -> Element:
    """Return the root element; raises DocumentError for what is no XML or has a document type."""
    refuse_doctype(data, name=name, allow_external=allow_external)
    try:
        return ElementTree.fromstring(data)  # noqa: S314 - without a document type
    except XML_FAULTS as error:
        raise _damaged(name, error) from None


def streamed(data: bytes, *, begin: str, end: str, name: str) -> Iterator[tuple[bool, Element]]:
    """Return elements by their local names: those of ``begin`` as they begin, with True, and those
    of ``end`` as they end, with False, each emptied before the next. Large sheets are read so.
    """
    refuse_doctype(data, name=name)
    try:
        parts = ElementTree.iterparse(BytesIO(data), events=("start", "end"))  # noqa: S314
        for event, element in parts:
            if event == "start" and local(element) == begin:
                yield True, element
            elif event == "end" and local(element) == end:
                yield False, element
                element.clear()
    except XML_FAULTS as error:
        raise _damaged(name, error) from None


def to_bytes(root: Element) -> bytes:
    """Write a tree as XML."""
    return bytes(ElementTree.tostring(root))


def walk(root: Element, *, skip: frozenset[str] = frozenset()) -> Iterator[tuple[Element, bool]]:
    """Visit a tree in order, each element when it is entered and left, without calling itself.

    Elements whose local name is in ``skip`` are only left, for the text that follows them.
    """
    stack: list[tuple[Element, bool]] = [(root, True)]
    while stack:
        element, entering = stack.pop()
        yield element, entering
        if entering:
            stack.append((element, False))
            stack.extend((each, local(each) not in skip) for each in reversed(element))


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its local name, "" without it."""
    own = element.get(name)
    if own is not None:
        return own
    end = f"}}{name}"
    return next((value for key, value in element.items() if key.endswith(end)), "")


def child(element: Element, name: str) -> Element | None:
    """Return the first child with this local name, None without one."""
    return next(children(element, name), None)


def children(element: Element, name: str) -> Iterator[Element]:
    """Return the children with this local name."""
    return (each for each in element if local(each) == name)


def below(root: Element, name: str) -> Iterator[Element]:
    """Return an element and those below it that have this local name, in order."""
    return (each for each in root.iter() if local(each) == name)


def whole_number(element: Element, name: str, *, default: int) -> int:
    """Return the whole number, of at most nine digits, that an attribute gives."""
    stated = attribute(element, name)
    return int(stated) if stated.isdecimal() and len(stated) <= 9 else default


def local(element: Element) -> str:
    """Return the name of an element without its namespace, "" of a comment."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def text_of(root: Element, wanted: str) -> str:
    """Return the text of the first element of this name below another, "" without one."""
    for element in below(root, wanted):
        if text := " ".join("".join(element.itertext()).split()):
            return text
    return ""


def _damaged(name: str, error: Exception) -> DocumentError:
    return DocumentError(
        "damaged", f"{name} is damaged: its XML cannot be read ({error}); repair the file."
    )

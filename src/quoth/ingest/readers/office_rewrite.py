"""Copies of Office files with parts changed, for libraries that overlook what is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from quoth.ingest.readers.equations import equation_text
from quoth.ingest.readers.xml_parts import Element, SubElement, local, parse_xml, to_bytes
from quoth.ingest.readers.zip_container import ZipContainer

_EQUATIONS = ("oMath", "oMathPara")


def rewritten(
    container: ZipContainer,
    change: Callable[[Element], None],
    *,
    changes: Callable[[str], bool],
    unread: tuple[str, ...] = (),
) -> io.BytesIO:
    """Return a copy of a file in which ``change`` has worked on the root of the parts that
    ``changes`` names; parts that begin with ``unread`` are left out.
    """
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as archive:
        for member in container.members:
            if unread and member.startswith(unread):
                continue
            data = container.read(member)
            if changes(member):
                root = parse_xml(data, name=container.name)
                change(root)
                data = to_bytes(root)
            archive.writestr(member, data)
    copy.seek(0)
    return copy


def set_equations(root: Element, *, namespace: str) -> None:
    """Put the text of each equation in its place, as a run of this namespace."""
    for parent in list(root.iter()):
        if local(parent) in _EQUATIONS:
            continue
        for at, child in enumerate(parent):
            if local(child) in _EQUATIONS or (local(child) == "m" and len(child)):
                run = Element(f"{namespace}r")
                SubElement(run, f"{namespace}t").text = equation_text(child)
                parent[at] = run


def choose_content(root: Element) -> None:
    """Put the first choice of alternative contents in their place."""
    for parent in list(root.iter()):
        for child in [each for each in parent if local(each) == "AlternateContent"]:
            at = list(parent).index(child)
            chosen = next(iter(child), None)
            parent.remove(child)
            for offset, each in enumerate(chosen if chosen is not None else ()):
                parent.insert(at + offset, each)

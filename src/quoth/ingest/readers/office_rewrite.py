"""Copies of Office files with parts changed, for libraries that overlook what is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from quoth.ingest.readers.xml_parts import Element, SubElement, below, children, local, to_bytes
from quoth.ingest.readers.zip_container import ZipContainer

MAX_DEPTH = 40
"""Parts of an equation within one another whose form is read."""

_BETWEEN = {"f": "/", "sSup": "^", "sSub": "_"}
_LIMITS = ("sub", "sup")
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
            if changes(member):
                root = container.xml(member)
                change(root)
                archive.writestr(member, to_bytes(root))
            else:
                archive.writestr(member, container.read(member))
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
                SubElement(run, f"{namespace}t").text = _equation_text(child)
                parent[at] = run


def choose_content(root: Element) -> None:
    """Put the first choice of alternative contents in their place."""
    for parent in list(root.iter()):
        for child in list(children(parent, "AlternateContent")):
            at = list(parent).index(child)
            chosen = next(iter(child), None)
            parent.remove(child)
            for offset, each in enumerate(chosen if chosen is not None else ()):
                parent.insert(at + offset, each)


def _equation_text(element: Element, depth: int = 0) -> str:
    """Return the text of an equation or of a part of it: "x^2 + √(a/b)"."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if depth > MAX_DEPTH:
        return "".join(each.text or "" for each in below(element, "t"))
    parts = {local(each): _equation_text(each, depth + 1) for each in element}
    if name in _BETWEEN:
        first, second = (
            parts.get(each, "") for each in (("num", "den") if name == "f" else _parts_of(name))
        )
        return f"{_grouped(first)}{_BETWEEN[name]}{_grouped(second)}"
    if name == "sSubSup":
        base, low, high = (parts.get(each, "") for each in ("e", "sub", "sup"))
        return f"{_grouped(base)}_{_grouped(low)}^{_grouped(high)}"
    if name == "rad":
        return f"√({parts.get('e', '')})"
    if name == "nary":
        sign = next(map(_value, below(element, "chr")), "∫")
        low, high = (_grouped(parts.get(each, "")) for each in _LIMITS)
        return f"{sign}{'_' * bool(low)}{low}{'^' * bool(high)}{high} {parts.get('e', '')}"
    if name == "d":
        inner = ", ".join(_equation_text(each, depth + 1) for each in children(element, "e"))
        return f"({inner})"
    return "".join(_equation_text(each, depth + 1) for each in element)


def _parts_of(name: str) -> tuple[str, str]:
    return ("e", "sup") if name == "sSup" else ("e", "sub")


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _value(element: Element) -> str:
    return next(iter(element.attrib.values()), "")

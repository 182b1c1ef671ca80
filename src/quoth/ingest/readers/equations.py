"""Equations of Word (OMML) as one line of text: "x^2 + √(a/b)"."""

from __future__ import annotations

from quoth.ingest.readers.xml_parts import Element, local

MAX_DEPTH = 40

_BETWEEN = {"f": "/", "sSup": "^", "sSub": "_"}
_LIMITS = ("sub", "sup")


def equation_text(element: Element, depth: int = 0) -> str:
    """Return the text of an equation or of a part of it."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if depth > MAX_DEPTH:
        return "".join(each.text or "" for each in element.iter() if local(each) == "t")
    parts = {local(each): equation_text(each, depth + 1) for each in element}
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
        sign = next((_value(each) for each in element.iter() if local(each) == "chr"), "∫")
        low, high = (_grouped(parts.get(each, "")) for each in _LIMITS)
        return f"{sign}{'_' * bool(low)}{low}{'^' * bool(high)}{high} {parts.get('e', '')}"
    if name == "d":
        inner = ", ".join(equation_text(each, depth + 1) for each in element if local(each) == "e")
        return f"({inner})"
    return "".join(equation_text(each, depth + 1) for each in element)


def _parts_of(name: str) -> tuple[str, str]:
    return ("e", "sup") if name == "sSup" else ("e", "sub")


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _value(element: Element) -> str:
    return next(iter(element.attrib.values()), "")

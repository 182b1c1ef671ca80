"""Charts and diagrams (SmartArt) of DrawingML, as Word and PowerPoint have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from quoth.ingest.readers.blocks import Block, to_plain_text
from quoth.ingest.readers.number_formats import parse_format, show_number
from quoth.ingest.readers.rows import table_blocks
from quoth.ingest.readers.xml_parts import Element, attribute, below, child, children, local

DIAGRAM = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
"""The attribute that names the part with the points of a diagram."""
MAX_POINTS = 200
"""Points of a chart that are read."""
FIRST_DAY = date(1899, 12, 30)
"""The day from which spreadsheets count."""
_DAY = re.compile(r"[yd]", re.IGNORECASE)
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]{0,255}\]|[\\_*].|;.*')
"""What stands for itself in the format of a number, is a colour, or is for negative numbers."""


def chart_blocks(root: Element) -> Iterator[Block]:
    """Return a chart's title, the titles of its axes, and the table of each kind of its series."""
    area = next(below(root, "plotArea"), None)
    if area is None:
        return
    for title in below(root, "title"):
        yield Block(to_plain_text(" ".join(_texts(title, "t"))))
    for plot in area:
        series = list(children(plot, "ser"))
        if any(child(each, "xVal") is not None for each in series):
            for each in series:
                yield from _points_of(each)
        elif series:
            yield from _table(series)


def diagram_blocks(root: Element) -> Iterator[Block]:
    """Return the texts of a diagram, a block for each of its points."""
    for point in below(root, "pt"):
        runs = ((each.text or "" for each in part.iter()) for part in below(point, "p"))
        lines = (to_plain_text("".join(each)) for each in runs)
        yield Block("\n".join(filter(None, lines)))


def _table(series: list[Element]) -> Iterator[Block]:
    """Return the values of series by the categories that they share."""
    columns = [_points(child(each, "val")) for each in series]
    names = next(filter(None, map(_categories, series)), {})
    rows = [["", *map(_name, series)]]
    last = max((at for column in (names, *columns) for at in column), default=-1)
    for at in range(min(last + 1, MAX_POINTS)):
        rows.append([names.get(at, ""), *(column.get(at, "") for column in columns)])
    yield from table_blocks(rows, header=True)


def _points_of(series: Element) -> Iterator[Block]:
    """Return the points of a series whose places are numbers."""
    kinds = [kind for kind in ("xVal", "yVal", "bubbleSize") if child(series, kind) is not None]
    columns = [_points(child(series, kind)) for kind in kinds]
    names = {"xVal": "", "yVal": _name(series), "bubbleSize": ""}
    rows = [[names[kind] for kind in kinds]]
    for at in sorted(columns[0])[:MAX_POINTS]:
        rows.append([column.get(at, "") for column in columns])
    yield from table_blocks(rows, header=True)


def _name(series: Element) -> str:
    return " ".join(_texts(child(series, "tx"), "v"))


def _categories(series: Element) -> Mapping[int, str]:
    """Return the names of categories, each after those of the wider ones that it is in."""
    category = child(series, "cat")
    if category is None:
        return {}
    levels = list(below(category, "lvl")) or [category]
    names, *wider = map(_points, levels)
    for level in wider:
        for at in names:
            above = [each for each in level if each <= at]
            names[at] = f"{level[max(above)]} {names[at]}" if above else names[at]
    return names


def _points(element: Element | None) -> dict[int, str]:
    """Return the texts and numbers of points by their indices, numbers as they are shown."""
    found: dict[int, str] = {}
    if element is None:
        return found
    code = "".join(_texts(element, "formatCode")[:1])
    are_numbers = any(local(each) in ("numCache", "numLit") for each in element.iter())
    for point in below(element, "pt"):
        at = attribute(point, "idx")
        if at.isdecimal() and len(at) < 4 and int(at) < MAX_POINTS:
            text = " ".join(_texts(point, "v"))
            found[int(at)] = _shown(text, code) if are_numbers else text
    return found


def _shown(text: str, code: str) -> str:
    """Return a number in its format, a day as a date; what is no number, such as #N/A, as it is."""
    try:
        value = float(text)
        if _DAY.search(_LITERAL.sub("", code)):
            return (FIRST_DAY + timedelta(days=value)).isoformat()
        return show_number(value, parse_format(0, {0: code}))
    except (ValueError, OverflowError):
        return text


def _texts(element: Element | None, name: str) -> list[str]:
    parts = () if element is None else below(element, name)
    return [part.text.strip() for part in parts if part.text]

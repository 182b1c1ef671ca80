"""The numbers that Word shows before paragraphs, which are not in their text: "3.", "2.1", "(b)".

Word counts when it shows a document: a level goes on wherever its list is used again, and deeper
levels begin anew (ECMA-376 part 1, 17.9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quoth.ingest.readers.list_numbers import BULLET, LEVELS, ListLevel, NumberedList
from quoth.ingest.readers.xml_parts import (
    Element,
    attribute,
    child,
    children,
    local,
    walk,
    whole_number,
)

DEEPEST = 20
"""Styles that a style may be based on, one on the other."""


class WordNumbers:
    """The lists of a document and the styles whose paragraphs they number."""

    def __init__(self, numbering: Element, styles: Element | None) -> None:
        self._lists: dict[str, NumberedList] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._of_style: dict[str, tuple[str, int]] = {}
        definitions = {
            attribute(each, "abstractNumId"): each for each in children(numbering, "abstractNum")
        }
        linked = {_value(each, "styleLink"): each for each in definitions.values()}
        counted: dict[str, NumberedList] = {}
        for each in children(numbering, "num"):
            name = _value(each, "abstractNumId")
            if name not in definitions:
                continue
            link = _value(definitions[name], "numStyleLink")
            definition = linked.get(link, definitions[name]) if link else definitions[name]
            name = attribute(definition, "abstractNumId")
            found = counted.setdefault(name, NumberedList(dict(_levels(definition))))
            self._add(each, found, definition)
        if styles is not None:
            self._add_styles(
                {attribute(each, "styleId"): each for each in children(styles, "style")}
            )

    def _add(self, element: Element, found: NumberedList, definition: Element) -> None:
        """Add a use of a list, which may have levels of its own and begin anew."""
        number = attribute(element, "numId")
        overrides = list(children(element, "lvlOverride"))
        own = dict(_levels(*overrides))
        self._lists[number] = NumberedList({**found.levels, **own}) if own else found
        for override in overrides:
            for start in children(override, "startOverride"):
                at = whole_number(override, "ilvl", default=0)
                self._restarts[number, at] = whole_number(start, "val", default=1)
        for at, level in _level_elements(definition, *overrides):
            if style := _value(level, "pStyle"):
                self._of_style.setdefault(style, (number, at))

    def _add_styles(self, styles: Mapping[str, Element]) -> None:
        """Add the numbers of paragraphs that a style states or inherits."""
        for name in styles:
            named = _inherited(name, styles)
            if named is not None and named[0]:
                level = self._of_style.get(name, ("", 0))[1] if named[1] is None else named[1]
                self._of_style[name] = named[0], level

    def label(self, paragraph: Element) -> str:
        """Return what Word shows before the next paragraph, "" for nothing or a bullet."""
        number, at = self._place(paragraph)
        found = self._lists.get(number)
        if found is None or at not in found.levels:
            return ""
        first = self._restarts.pop((number, at), None)
        if first is not None:
            found.restart(at, first)
        return found.next(at)

    def _place(self, paragraph: Element) -> tuple[str, int]:
        """Return the list and the level of a paragraph, "" for none."""
        properties = child(paragraph, "pPr")
        if properties is None or _grandchild(properties, "rPr", "del") is not None:
            return "", 0
        inherited = self._of_style.get(_value(properties, "pStyle"), ("", 0))
        named = _number_properties(paragraph)
        if named is None:
            return inherited
        number, at = named
        return number or inherited[0], inherited[1] if at is None else at


def number_paragraphs(root: Element, numbers: WordNumbers) -> Iterator[tuple[Element, str]]:
    """Return each paragraph that has a number, and the number, in the order of the document."""
    for element, entering in walk(root, skip=frozenset({"Choice"})):  # the same text twice
        if entering and local(element) == "p" and (label := numbers.label(element)):
            yield element, label


def remove_numbered_levels(numbering: Element) -> None:
    """Leave only the levels with bullets: the numbers are in the text of the paragraphs."""
    for parent in list(numbering.iter()):
        for level in [*children(parent, "lvl")]:
            if _value(level, "numFmt") != BULLET:
                parent.remove(level)


def _levels(*definitions: Element) -> Iterator[tuple[int, ListLevel]]:
    for at, each in _level_elements(*definitions):
        start = child(each, "start")
        level = ListLevel(
            first=0 if start is None else whole_number(start, "val", default=1),
            kind=_value(each, "numFmt") or "decimal",
            pattern=_value(each, "lvlText"),
            decimal=child(each, "isLgl") is not None,
            restarts=_value(each, "lvlRestart") != "0",
        )
        yield at, level


def _level_elements(*definitions: Element) -> Iterator[tuple[int, Element]]:
    for definition in definitions:
        for each in children(definition, "lvl"):
            at = whole_number(each, "ilvl", default=0)
            if at < LEVELS:
                yield at, each


def _inherited(name: str, styles: Mapping[str, Element]) -> tuple[str, int | None] | None:
    """Return the list and the level that a style or one that it is based on states, or None."""
    for _ in range(DEEPEST):
        if name not in styles:
            return None
        if (named := _number_properties(styles[name])) is not None:
            return named
        name = _value(styles[name], "basedOn")
    return None


def _number_properties(element: Element) -> tuple[str, int | None] | None:
    """Return the list and the level that a paragraph or a style states, None without any."""
    properties = _grandchild(element, "pPr", "numPr")
    if properties is None:
        return None
    level = child(properties, "ilvl")
    stated = None if level is None else whole_number(level, "val", default=0)
    return _value(properties, "numId"), stated


def _grandchild(element: Element, outer: str, inner: str) -> Element | None:
    between = child(element, outer)
    return None if between is None else child(between, inner)


def _value(element: Element, name: str) -> str:
    """Return the value of the first child with this name, "" without one."""
    found = child(element, name)
    return "" if found is None else attribute(found, "val")

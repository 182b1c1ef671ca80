"""What of a web page is no content: its scripts, controls and navigation, and what is hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborNode

SKIPPED = frozenset(
    [
        *("script", "style", "template", "head", "noscript", "svg", "iframe", "object", "canvas"),
        *("audio", "video", "button", "select", "textarea", "datalist", "dialog", "rp"),
        *("annotation", "annotation-xml"),
    ]
)
BOILERPLATE = frozenset(["nav", "footer", "aside"])
_LANDMARKS = frozenset(
    ["navigation", "search", "contentinfo", "banner", "menu", "menubar", "toolbar", "doc-toc"]
)
"""Roles of what stands around the content of a page."""
_TOC_NAMES = frozenset(["toc", "toctree-wrapper"])
"""Classes and ids of tables of contents as DocBook, Asciidoctor, Pandoc and Sphinx write them."""
_NAVIGATION_CLASSES = frozenset(
    [
        *("navheader", "navfooter", "navcenter", "pg-boilerplate", "noprint", "printfooter"),
        *("catlinks", "navbox", "mw-editsection", "mw-jump-link", "mw-portlet", "vector-dropdown"),
    ]
)
"""Classes of the links to the neighbours of a page as DocBook and the handbooks of KDE write them,
which have the titles of these beside them, of the licence around books of Project Gutenberg, and of
what MediaWiki has around and in its pages: "[edit]" at headings, other languages, categories."""
_NEIGHBOURS = frozenset(["next", "prev", "previous", "up"])
"""Link types of the pages or sections before, after and above, such as Texinfo writes them."""
_NEIGHBOUR_TITLES = frozenset(
    ["Previous section in reading order", "Next section in reading order"]
)
"""How texi2html names its links to them."""
MAX_LABELS = 30
"""Most letters beside the links in a line of them, such as "Next:" and "Up:"."""
MIN_CONTENTS = 4
"""Links of a table of contents."""
MIN_LINKED = 0.85
"""Share of its letters that are in them; "Q:" may stand before each."""
_IN_LINES = frozenset(
    [
        *("-text", "a", "abbr", "b", "br", "em", "i", "img", "small", "span", "strong"),
        *("table", "tbody", "tr", "td", "th"),
    ]
)
_NOTES = frozenset(["note", "doc-footnote", "doc-tip"])
"""Roles by which an ``aside`` is a part of the content."""
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"\W*+\d*+\W*+")


def is_left_out(node: LexborNode, left_out: frozenset[str]) -> bool:
    """Return whether a node is no content; ``left_out`` are the tags of what never is.

    Where they are those of `BOILERPLATE`, elements with a role or class of navigation are none.
    """
    tag = node.tag or ""
    if tag == "-text":
        return False
    if tag.startswith("-"):
        return True
    attributes = node.attributes
    if tag in left_out:
        return tag != "aside" or attributes.get("role") not in _NOTES
    if tag == "label" and _is_sign(node):
        return True
    if tag in ("p", "div", "table") and "nav" in left_out and _leads_to_neighbours(node):
        return True
    if not attributes:
        return False
    inner = "nav" in left_out
    if inner and _is_landmark(node, attributes.get("role") or ""):
        return True
    if tag == "a" and (attributes.get("href") or "").startswith("#"):
        # The permalink after a heading, which links to the heading itself: "¶" or an icon.
        return _WORD.search(node.text(deep=True) or "") is None
    if inner and _is_toc(node):
        return True
    return attributes.get("aria-hidden") == "true" or is_hidden(node)


def _is_sign(node: LexborNode) -> bool:
    """Return whether a label is but a sign, or a whole number that belongs to no control."""
    text = node.text(deep=True) or ""
    if "for" in node.attributes or node.css_first("input") is not None:
        return _WORD.search(text) is None
    return _NUMBER.fullmatch(text) is not None


def is_hidden(node: LexborNode) -> bool:
    """Return whether no browser shows an element, so that none scrolls to it."""
    style = node.attributes.get("style") or ""
    return "hidden" in node.attributes or _HIDDEN_STYLE.search(style) is not None


def _is_landmark(node: LexborNode, role: str) -> bool:
    """Return whether an element stands around the content; a banner may have the page's title."""
    classes = (node.attributes.get("class") or "").casefold().split()
    if not _NAVIGATION_CLASSES.isdisjoint(classes) or node.attributes.get("id") == "footer":
        return True
    return role in _LANDMARKS and not (role == "banner" and node.css_first("h1"))


def _leads_to_neighbours(node: LexborNode) -> bool:
    """Return whether an element is a line of links to what stands before, after or above."""
    links = node.css("a")
    if not any(map(_is_to_neighbour, links)):
        return False
    linked = sum(map(_letters, links))
    in_line = all(child.tag in _IN_LINES for child in node.iter(include_text=True))
    return in_line and _letters(node) - linked <= MAX_LABELS


def _is_to_neighbour(link: LexborNode) -> bool:
    kinds = (link.attributes.get("rel") or "").casefold().split()
    return not _NEIGHBOURS.isdisjoint(kinds) or link.attributes.get("title") in _NEIGHBOUR_TITLES


def _letters(node: LexborNode) -> int:
    return sum(map(str.isalpha, node.text(deep=True) or ""))


def contents_lists(root: LexborNode) -> frozenset[int]:
    """Return the lists that are but links to places further on in their page, by ``mem_id``."""
    order: dict[str, int] = {}
    lists: list[tuple[int, LexborNode]] = []
    for at, node in enumerate(root.css("[id], a[name], dl, ol, ul")):
        if name := node.attributes.get("id") or node.attributes.get("name"):
            order.setdefault(name, at)
        if node.tag in ("dl", "ol", "ul"):
            lists.append((at, node))
    return frozenset(node.mem_id for at, node in lists if _is_contents(node, at, order))


def _is_contents(node: LexborNode, at: int, order: Mapping[str, int]) -> bool:
    links = node.css("a[href]")
    if len(links) < MIN_CONTENTS:
        return False
    addresses = [(link.attributes.get("href") or "").partition("#") for link in links]
    inside = len(node.css("[id], a[name], dl, ol, ul"))
    return (
        len({path for path, _, _ in addresses}) == 1
        and all(order.get(name, 0) >= at + inside for _, _, name in addresses)
        and MIN_LINKED * _letters(node) <= sum(map(_letters, links))
    )


def _is_toc(node: LexborNode) -> bool:
    """Return whether an element is named a table of contents and most of its letters are links."""
    names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    if _TOC_NAMES.isdisjoint(names.casefold().split()) or node.tag == "body":
        return False
    linked = sum(len(link.text(strip=True)) for link in node.css("a[href]"))
    return 2 * linked > len(node.text(strip=True))

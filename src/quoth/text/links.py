"""The address that opens a place of a document, and the words that a browser marks there."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import assert_never
from urllib.parse import quote, unquote, urldefrag

from quoth.core.types import Chars, Document, Locator, Pages, Seconds
from quoth.text.locators import CELL_GAP
from quoth.text.recordings import address_at, recording_of, split_address

FRAGMENT_WORDS = 6
"""Words at either end that name a long text."""
MIN_BLOCK_WORDS = 3
"""Words of a line that names a text; one of fewer may stand elsewhere on the page, too."""
TEXT_MARK = ":~:text="
"""What precedes, in a link, the words that a browser marks."""

_BETWEEN = r"[\s\S]{1,5000}?"
"""What may stand between the first and the last words of a text."""
_LIST_MARK = re.compile(r"^(?:-|\d{1,4}\.) +", re.MULTILINE)


def link(locator: Locator, document: Document, *, text: str = "", before: str = "") -> str | None:
    """Return the address that opens a place of a document, or None when that has no address.

    Its url is preferred; its source is a file path or an address, that of captions the recording
    beside them. No link points beyond the end of a recording. ``text`` is what a browser marks on a
    page of the web or in a file of HTML; ``before`` is what that page has before it.
    """
    recording = None if document.url else recording_of(document)
    base = address_of(document.url) or address_of(str(recording or document.source))
    if base is None:
        return None
    match locator:
        case Pages():
            return f"{base}#{_fragment(locator.anchor) or f'{locator.unit}={locator.first}'}"
        case Seconds():
            end = math.inf if document.seconds is None else document.seconds
            return address_at(base, seconds=int(max(0.0, min(locator.start, end))))
        case Chars():
            fragment = _fragment(locator.anchor) or _count_fragment(locator)
            fragment += text_fragment(text, before=before) if _is_web_page(base) else ""
            return f"{base}#{fragment}" if fragment else base
        case _:
            assert_never(locator)


def opens_page(document: Document) -> bool:
    """Return whether a link to a document opens a page, on which a browser marks words."""
    address = address_of(document.url) or address_of(document.source)
    return address is not None and _is_web_page(address)


def _is_web_page(address: str) -> bool:
    return address.startswith("http") or address.lower().endswith((".html", ".htm", ".xhtml"))


def text_fragment(text: str, *, before: str = "") -> str:
    """Return the directive that makes a browser mark a text on a page; empty where it cannot.

    A long text is named by its first and last words, each of one block of the page
    (https://wicg.github.io/scroll-to-text-fragment); those of a short line such as a heading only
    where there is no other. The cells of a table are not written as the page has them. ``before``
    is what the page has before the text: where the words stand there, too, those that precede the
    text are named with them, as a browser marks the first words that match.
    """
    lines = [_LIST_MARK.sub("", line).split() for line in text.strip().splitlines()]
    blocks = [line for line in lines if len(line) >= MIN_BLOCK_WORDS] or [
        max(lines, key=len, default=[])
    ]
    first, last = blocks[0], blocks[-1]
    if not first or CELL_GAP.strip() in chain(*lines):
        return ""
    whole = first is last and len(first) <= 2 * FRAGMENT_WORDS
    named = [first] if whole else [first[:FRAGMENT_WORDS], last[-FRAGMENT_WORDS:]]
    parts = [_quoted(part) for part in named]
    if before and (preceding := _preceding_words(named[0], before=before, text=text)):
        parts.insert(0, f"{_quoted(preceding)}-")
    return TEXT_MARK + ",".join(parts)


def _quoted(words: Sequence[str]) -> str:
    return quote(" ".join(words), safe="").replace("-", "%2D")


def _preceding_words(words: Sequence[str], *, before: str, text: str) -> list[str]:
    """Return the fewest words before some of a text that tell them from the same ones before.

    They are of one line; none where the words are the first of their kind, or no words tell them.
    """
    whole = before + text
    start = r"(?<!\w)" if words[0][0].isalnum() else ""
    end = r"(?!\w)" if words[-1][-1].isalnum() else ""
    named = f"{start}{_words(words)}{end}"
    found = re.compile(named, re.IGNORECASE).search(whole, len(before))
    if found is None or not re.search(named, before, re.IGNORECASE):
        return []
    lines = reversed(whole[: found.start()].splitlines())
    preceding = next(filter(None, (_plain(line.rpartition(CELL_GAP)[2]) for line in lines)), [])
    for count in range(1, min(len(preceding), FRAGMENT_WORDS) + 1):
        first = re.search(_following(preceding[-count:]) + named, whole, re.IGNORECASE)
        if first and first.end() == found.end():
            return preceding[-count:]
    return []


def _plain(line: str) -> list[str]:
    return _LIST_MARK.sub("", line).split()


def _words(words: Sequence[str]) -> str:
    return r"\s+".join(map(re.escape, words))


def _following(words: Sequence[str]) -> str:
    """Return a pattern of words and what a list may have before the next ones."""
    return rf"{_words(words)}\s*(?:-\s+|\d{{1,4}}\.\s+)?"


def find_fragment(text: str, directive: str, *, start: int = 0) -> tuple[int, int] | None:
    """Return the first characters of a text, from ``start`` on, that `text_fragment` has named.

    ``directive`` is what follows `TEXT_MARK`.
    """
    prefix, mark, ends = directive.rpartition("-,")
    parts = [unquote(part).split() for part in ends.split(",", 1)]
    before = unquote(prefix).split()
    if not all(parts) or (mark and not before):
        return None
    preceding = _following(before) if mark else ""
    named = _BETWEEN.join(map(_words, parts))
    pattern = f"{preceding}({named})"
    found = re.compile(pattern).search(text, start) or re.search(pattern, text)
    return found and found.span(1)


def address_of(text: str | None) -> str | None:
    """Return an address without fragment; a path becomes a file URI; None for other schemes."""
    if not text or "\x00" in text:
        return None
    if re.match(r"(?i)(?:https?|file)://", text):
        return (
            quote(urldefrag(text).url, safe="%/:=&?~+!$,;'@()*[]") if split_address(text) else None
        )
    if re.match(r"(?i)[a-z][a-z0-9+.-]+:", text):
        return None
    return Path(text).absolute().as_uri()


def _fragment(anchor: str | None) -> str:
    """Return an anchor as the fragment of an address; an e-book's is ``chapter.xhtml#id``."""
    return quote(anchor, safe="/#!=") if anchor else ""


def _count_fragment(locator: Chars) -> str:
    """Return the fragment of lines (as on code sites) or of rows (RFC 7111), with their sheet."""
    first = quote(locator.label_first)
    if locator.unit is None or not first:
        return ""
    if locator.unit == "line":
        return f"L{first}"
    sheet = locator.section if locator.unit == "row" else None
    return f"sheet={quote(sheet, safe='')}&row={first}" if sheet else f"{locator.unit}={first}"

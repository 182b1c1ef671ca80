"""Recognises tables of contents and indexes of books, which only name places."""

from __future__ import annotations

import re

LEADERS = re.compile(r"(?:\.[ \t]?){5,}")
"""The dots before a page number in a table of contents."""
MIN_TITLES, MIN_TERMS = 3, 4
"""Minimum entries of a table of contents, and of an index."""
MAX_TITLE, MAX_TERM = 25, 5
"""Maximum words of an entry there, in the mean."""

_PAGE_OF_TITLE = re.compile(
    rf"(?<!\.)(?<!\.[ \t]){LEADERS.pattern}\s*(\d{{1,4}})"
    r"(?![.,]?\w|\s?(?:[a-z€$£%°]|[A-Z]{1,3}\b))"
)
"""Dots and a page number, which is no price and has no unit."""
_PAGE_OF_TERM = re.compile(r"[^\W\d_]\)?, (?!(?:1[5-9]|20)\d\d\b)\d{1,4}(?:[-–]\d{1,4})?(?![\w.;])")
"""A term of an index and its page; a year is none."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_contents(text: str) -> bool:
    """Return whether a text is a part of a table of contents: its numbers grow."""
    if text.count(".") < 5 * MIN_TITLES:  # most texts, at once
        return False
    titles = len(LEADERS.findall(text))
    pages = [int(page) for page in _PAGE_OF_TITLE.findall(text)]
    return (
        titles >= MIN_TITLES
        and len(pages) >= titles - 1  # the last one may be cut off
        and pages == sorted(pages)
        and len(_WORD.findall(text)) <= MAX_TITLE * titles
    )


def is_index(text: str) -> bool:
    """Return whether a text is a part of the index of a book: terms and numbers of pages."""
    if text.count(", ") < MIN_TERMS:  # most texts, at once
        return False
    entries = len(_PAGE_OF_TERM.findall(text))
    return entries >= MIN_TERMS and len(_WORD.findall(text)) <= MAX_TERM * entries

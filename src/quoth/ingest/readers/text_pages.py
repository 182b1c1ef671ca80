"""Plain texts that are divided into pages of equal length, as printed by groff and in RFCs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

MIN_PAGES = 4
MIN_PAGE_LINES = 20
MAX_SHIFT = 2
"""Lines by which the head of a page may stand higher or lower than those of the others."""
MIN_REGULAR_SHARE = 0.9

_NUMBER = re.compile(r"\d{1,9}")
_SET_APART = re.compile(r"\S {3,}\S")
_SENTENCE_END = re.compile(r"[.!?:][\"'”’»)\]]*$")


def without_page_heads(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines with their numbers, from 1, without the heads and feet of pages.

    One of them counts the pages, with a gap within the line; it recurs as often as there are pages,
    and as far apart as these are long. So do those that only blank lines part from it. A sentence
    over the end of a page is one again.
    """
    heads = _page_heads(lines)
    kept: list[tuple[int, str]] = []
    between = False
    for at, line in enumerate(lines):
        if at in heads:
            between = True
            while kept and not kept[-1][1].strip():
                kept.pop()
        elif line.strip() or not between:
            if between and not (kept and _goes_on(kept[-1][1], line)):
                kept.append((at, ""))
            between = False
            kept.append((at + 1, line))
    return kept


def _goes_on(before: str, line: str) -> bool:
    return line.lstrip()[:1].islower() and not _SENTENCE_END.search(before[-10:])


def _page_heads(lines: Sequence[str]) -> set[int]:
    places: dict[str, list[int]] = defaultdict(list)
    blank = [True, *(not line.strip() for line in lines), True]
    for at, line in enumerate(lines):
        if blank[at] and not blank[at + 1] and blank[at + 2]:
            places[_NUMBER.sub("#", " ".join(line.split()))].append(at)
    regular = [found for found in places.values() if _is_regular(found)]
    heads = {at for found in regular if _counts_pages([lines[at] for at in found]) for at in found}
    others = {at for found in regular for at in found} - heads
    for ahead in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        near = False
        for at in ahead:
            near = at in heads or (near and (blank[at + 1] or at in others))
            if near and at in others:
                heads.add(at)
    return heads


def _counts_pages(heads: Sequence[str]) -> bool:
    """Return whether lines have gaps, and nearly all last numbers are greater than those before."""
    if not all(map(_SET_APART.search, heads)):
        return False
    numbers = [int(found[-1]) for line in heads if (found := _NUMBER.findall(line))]
    growing = sum(before < after for before, after in pairwise(numbers))
    return growing >= MIN_REGULAR_SHARE * (len(heads) - 1)


def _is_regular(places: Sequence[int]) -> bool:
    """Return whether most distances are multiples of the most frequent one, a page's length."""
    if len(places) < MIN_PAGES:
        return False
    gaps = [after - before for before, after in pairwise(places)]
    page, _ = Counter(gaps).most_common(1)[0]
    off = [min(gap % page, page - gap % page) for gap in gaps]
    regular = sum(each <= MAX_SHIFT for each in off)
    return page >= MIN_PAGE_LINES and regular >= MIN_REGULAR_SHARE * len(gaps)

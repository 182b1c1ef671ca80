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
_GOES_ON = re.compile(r"\s*[^\W\d_A-Z]")


def without_page_heads(lines: Sequence[str]) -> list[str]:
    """Return the lines without the heads and feet of pages.

    These recur but for numbers, stand apart from the text, and are as far from one another as the
    pages are long; one of them counts the pages. A sentence over the end of a page is one again.
    """
    heads = _page_heads(lines)
    kept: list[str] = []
    between = False
    for at, line in enumerate(lines):
        if at in heads:
            between = True
            while kept and not kept[-1].strip():
                kept.pop()
        elif line.strip() or not between:
            if between and not _GOES_ON.match(line):
                kept.append("")
            between = False
            kept.append(line)
    return kept


def _page_heads(lines: Sequence[str]) -> set[int]:
    places: dict[str, list[int]] = defaultdict(list)
    blank = [True, *(not line.strip() for line in lines), True]
    for at, line in enumerate(lines):
        if blank[at] and not blank[at + 1] and blank[at + 2]:
            places[_NUMBER.sub("#", " ".join(line.split()))].append(at)
    regular = [found for found in places.values() if _is_regular(found)]
    if not any(_count_pages([lines[at] for at in found]) for found in regular):
        return set()
    return {at for found in regular for at in found}


def _count_pages(heads: Sequence[str]) -> bool:
    """Return whether the last numbers of nearly all lines are greater than those before."""
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

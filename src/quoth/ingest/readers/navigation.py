"""Navigation and boilerplate of a site, recognised because its other pages have them, too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from quoth.ingest.readers.blocks import Block, drop_label, is_introduced, is_item
from quoth.text.locators import CELL_GAP

MIN_PAGES = 2
"""Other pages that must have a block for it to be part of the site and not of the page."""
MIN_SHARE = 0.25
MIN_LINKS = 3
"""Minimum number of links of a list of contents."""

_NUMBER = re.compile(r"\d+")


def block_keys(block: Block) -> frozenset[str]:
    """Return what is the same on other pages: the text, or how its links begin ("Next: ")."""
    return frozenset(_NUMBER.sub("#", text.casefold()) for text in (block.text, *block.links))


def repeated_keys(pages: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the keys that several of the pages have."""
    counts = Counter(key for page in pages for key in page)
    least = max(MIN_PAGES, MIN_SHARE * len(pages))
    return frozenset(key for key, count in counts.items() if count >= least)


def without_navigation(
    blocks: Sequence[Block],
    repeated: frozenset[str],
    *,
    title: str = "",
    beside: frozenset[str] = frozenset(),
) -> list[Block]:
    """Leave out what is repeated at the beginning and at the end of a page, and lists of contents.

    Links between repeated blocks are navigation, too, and so are the page's title before its
    heading and the titles of the pages ``beside`` it there. What is repeated within the text, such
    as the headings of a manual, stays; so do the heading that begins the page's ``title`` and
    a page that has nothing else.
    """
    own = _own_heading(blocks, title)
    first = _edge(blocks, repeated, beside=beside, own=own, through=True)
    own = len(blocks) - 1 - own if own is not None else None
    last = len(blocks) - _edge(blocks[first:][::-1], repeated, beside=beside, own=own)
    return _without_contents(blocks[first:last]) or list(blocks)


def _without_contents(blocks: Sequence[Block]) -> list[Block]:
    """Leave out the lists of links that are contents of the page or lead to its neighbours."""
    content: list[Block] = []
    first = 0
    for linked, group in groupby(blocks, key=lambda block: bool(block.targets and not block.level)):
        run = list(group)
        first += len(run)
        if not linked:
            content += run
        elif not is_introduced(content) and (
            not content
            or (
                _is_contents(run)
                and not _is_part_of_list(run, content[-1], blocks[first : first + 1])
            )
            or (first == len(blocks) and not content[-1].level)
        ):
            drop_label(content)
        else:
            content += run
    return content


def _is_contents(run: Sequence[Block]) -> bool:
    """Return whether the links lead to places of few pages, such as the sections of chapters."""
    targets = [target.partition("#") for block in run for target in block.targets]
    pages = Counter(page for page, _, _ in targets)
    within = sum(not page or pages[page] > 1 for page, _, _ in targets)
    return len(targets) >= MIN_LINKS and 2 * within >= len(targets)


def _is_part_of_list(run: Sequence[Block], before: Block, after: Sequence[Block]) -> bool:
    """Return whether the links are items of a list that has others without links."""
    goes_on = bool(after) and is_item(run[-1]) and is_item(after[0])
    return goes_on or (is_item(before) and is_item(run[0]))


def _own_heading(blocks: Sequence[Block], title: str) -> int | None:
    """Return the index of the heading that begins the page's title: "Quick start - the manual"."""
    levels = Counter(block.level for block in blocks)
    words = title.split()
    for at, block in enumerate(blocks):
        own = block.text.split()
        if block.level and levels[block.level] == 1 and words[: len(own)] == own:
            return at
    return None


def _edge(
    blocks: Sequence[Block],
    repeated: frozenset[str],
    *,
    beside: frozenset[str],
    own: int | None,
    through: bool = False,
) -> int:
    """Return how many blocks from the edge to the ``own`` heading are navigation.

    With ``through``, links and titles up to that heading are navigation, too.
    """
    count = 0
    coming = Counter(block.text for block in blocks)
    for number, block in enumerate(blocks):
        coming[block.text] -= 1
        if number == own:
            return number if through else count
        if not repeated.isdisjoint(block_keys(block)) or beside.issuperset(_cells(block)):
            count = number + 1
        elif not block.links and not coming[block.text]:
            break
    return count


def _cells(block: Block) -> list[str]:
    return [" ".join(cell.split()) for cell in block.text.split(CELL_GAP)]

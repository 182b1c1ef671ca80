"""Navigation and boilerplate of a site, recognised because its other pages have them, too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from quoth.ingest.readers.blocks import Block

MIN_PAGES = 2
"""Other pages that must have a block for it to be part of the site and not of the page."""
MIN_SHARE = 0.25

_NUMBER = re.compile(r"\d+")


def block_keys(block: Block) -> frozenset[str]:
    """Return what is the same on other pages: the text, or how its links begin ("Next: ")."""
    return frozenset(_NUMBER.sub("#", text.casefold()) for text in (block.text, *block.links))


def repeated_keys(pages: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the keys that several of the pages have."""
    counts = Counter(key for page in pages for key in page)
    least = max(MIN_PAGES, MIN_SHARE * len(pages))
    return frozenset(key for key, count in counts.items() if count >= least)


def without_navigation(blocks: Sequence[Block], repeated: frozenset[str]) -> list[Block]:
    """Leave out what is repeated at the beginning and at the end of a page.

    Links between repeated blocks are navigation, too, and so is the page's title before its heading
    there. What is repeated within the text, such as the headings of a manual, stays; so does a page
    that has nothing else.
    """
    first = _edge(blocks, repeated)
    last = len(blocks) - _edge(blocks[first:][::-1], repeated)
    return list(blocks[first:last]) or list(blocks)


def _edge(blocks: Sequence[Block], repeated: frozenset[str]) -> int:
    """Return how many blocks from the edge are navigation."""
    count = 0
    coming = Counter(block.text for block in blocks)
    for number, block in enumerate(blocks, start=1):
        coming[block.text] -= 1
        if not repeated.isdisjoint(block_keys(block)):
            count = number
        elif not block.links and not coming[block.text]:
            break
    return count

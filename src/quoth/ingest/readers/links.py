"""The links of a page or of a sitemap, and what a page asks of programs that visit it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser

from quoth.ingest.readers.detect import decode
from quoth.ingest.readers.feed import feed_entries, is_feed
from quoth.ingest.readers.page_links import PageLinks

MAX_LINKS = 5000

_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)


def page_links(path: Path, *, address: str) -> PageLinks:
    """Read the links of an HTML page that was fetched from an address, a sitemap's, or a feed's.

    Raises DocumentError.
    """
    data = path.read_bytes()
    if is_feed(data):
        return PageLinks((), entries=feed_entries(data, address=address))
    text, _guess = decode(data, name=path.name)
    tree = LexborHTMLParser(_CDATA.sub(r"\1", text))
    listed = [node.text(strip=True) for node in tree.css("urlset loc, sitemapindex loc")]
    if listed:
        return PageLinks(_addresses(listed, base=address))
    base = tree.css_first("base[href]")
    inside = urljoin(address, (base.attributes["href"] or "") if base is not None else "")
    robots = ",".join(
        (node.attributes.get("content") or "").casefold()
        for node in tree.css("meta[name=robots i], meta[name=quoth i]")
    )
    words = {word.strip() for word in robots.split(",")}
    links = (
        node.attributes.get("href") or ""
        for node in tree.css("a[href], area[href]")
        if "nofollow" not in (node.attributes.get("rel") or "").casefold().split()
    )
    canonical = tree.css_first("link[rel=canonical i][href]")
    own = canonical.attributes["href"] if canonical is not None else None
    return PageLinks(
        _addresses(links, base=inside),
        canonical=urljoin(address, own) if own else None,
        index=words.isdisjoint({"noindex", "none"}),
        follow=words.isdisjoint({"nofollow", "none"}),
    )


def _addresses(links: Iterable[str], *, base: str) -> tuple[str, ...]:
    addresses: dict[str, None] = {}
    for link in links:
        try:
            address = urldefrag(urljoin(base, link.strip())).url
        except ValueError:
            continue
        if address.startswith(("http://", "https://")):
            addresses.setdefault(address)
        if len(addresses) == MAX_LINKS:
            break
    return tuple(addresses)

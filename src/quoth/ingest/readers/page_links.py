"""Where a page leads to, and what it asks of programs that visit it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of a feed: the address of its page, or of its recording or transcript with suffix.

    ``recording`` is the recording of a transcript, with a suffix of its own.
    """

    address: str
    title: str = ""
    author: str = ""
    date: str | None = None
    suffix: str = ""
    recording: str = ""
    recording_suffix: str = ""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The web addresses that a page leads to, without fragments, each once and in order.

    ``canonical`` is where the page says that it belongs. ``index`` and ``follow`` are whether the
    page may be added, and its links visited. A feed has ``entries`` in place of links.
    """

    links: tuple[str, ...]
    canonical: str | None = None
    index: bool = True
    follow: bool = True
    entries: tuple[FeedEntry, ...] = ()

"""What the doors for other programs share: the addresses they show, and what they keep."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urldefrag

from quoth.record import Record
from quoth.service.asking import keeper_of
from quoth.service.caller import Caller
from quoth.service.present import is_web, original_link


def shown_link(base: str, link: str | None, document_id: str) -> str | None:
    """Give the address to show of a link: one of the web as it is, else the document's own.

    ``base`` is where the service was asked.
    """
    if link is None or is_web(link):
        return link
    return base + original_link(document_id, fragment=urldefrag(link).fragment)


def keeper(caller: Caller, *, store: bool = True) -> Callable[[Record], None]:
    """Give what keeps the record of an answer as ``POST /v1/query`` does, or nothing of it."""
    return keeper_of(caller, store=store)

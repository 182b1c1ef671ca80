"""Links into the web app for what is shown elsewhere: the command line, agents, chats, exports."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urldefrag, urlsplit

from quoth.answering.citations import marked_runs
from quoth.core.settings import Settings
from quoth.core.types import Answer, Citation, Hit, Sentence
from quoth.text.locators import cited_end
from quoth.text.recordings import is_recording

Place = TypeVar("Place", Citation, Hit)
"""What is linked: the words of a citation or of a hit."""
WEB_SCHEMES = ("http", "https")
_MARK = re.compile(r"\[(\d+)\]")


def answer_page(settings: Settings, query_id: str) -> str | None:
    """Return the address of a stored answer; None without a ``public_url`` or a full history."""
    if not settings.public_url or settings.history != "full" or not query_id:
        return None
    return f"{settings.public_url}/q/{query_id}"


def mark_links(
    text: str, sentences: Sequence[Sentence], *, page: str
) -> Iterator[tuple[int, int, str]]:
    """Return start and end of each mark behind sentences, and the address of their first."""
    runs = [*marked_runs(text, sentences)]
    starts = [first.start for _number, first, _last in runs]
    for mark in _MARK.finditer(text):
        place = bisect_left(starts, mark.start())
        if place and int(mark[1]) in runs[place - 1][1].citations:
            yield mark.start(), mark.end(), f"{page}#s{runs[place - 1][0]}"


def public_answer(answer: Answer, *, base: str) -> Answer:
    """Return an answer with public links, on the service at ``base``."""
    return replace(
        answer,
        citations=tuple(public_place(base, citation) for citation in answer.citations),
        closest=tuple(public_place(base, hit) for hit in answer.closest),
    )


def public_place(base: str, place: Place) -> Place:
    """Link a citation or a hit to its source's web address, else to its words in the web app."""
    span = shown_span(place)
    return replace(place, link=reading_link(place.link, place.document_id, base=base, span=span))


def reading_link(
    link: str | None, document_id: str, *, base: str | None, span: tuple[int, int] | None = None
) -> str | None:
    """Return a web address unchanged, any other as that of the document in the web app.

    ``base`` is the address of the service, None where no person reaches it; ``span`` are the
    characters that are shown.
    """
    if link is not None and is_web(link):
        return link
    words = f"?start={span[0]}&end={span[1]}" if span else ""
    return None if base is None else f"{base}/d/{document_id}{words}"


def shown_span(place: Citation | Hit) -> tuple[int, int]:
    """Return where the telling words of a citation or a hit begin and end in the document."""
    if isinstance(place, Citation):
        if place.marked is None:
            return place.snippet_start, cited_end(place)
        first, last = place.marked
        return place.snippet_start + first, place.snippet_start + last
    first, last = place.marked or (0, len(place.text))
    return place.start + first, place.start + last


def public_link(base: str, link: str | None, document_id: str | None) -> str | None:
    """Return a web address unchanged, and any other link as that of the document's file or
    recording.

    ``base`` is the address of the service, "" for paths from its root.
    """
    if link is None or is_web(link) or link.startswith("/v1/"):
        return link
    if document_id is None:
        return None
    address, fragment = urldefrag(link)
    file = "media" if is_recording(Path(address)) else "original"
    return f"{base}/v1/documents/{document_id}/{file}{'#' * bool(fragment)}{fragment}"


def is_web(address: str) -> bool:
    """Return whether an address is a web address."""
    try:
        return urlsplit(address).scheme.lower() in WEB_SCHEMES
    except ValueError:
        return False

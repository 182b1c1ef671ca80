"""Links into the web app for what is shown elsewhere: the command line, agents, chats, exports."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urldefrag, urlsplit

from quoth.answering.marked_runs import marked_runs
from quoth.core.settings import Settings
from quoth.core.types import Answer, Citation, Sentence

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
        citations=tuple(public_citation(base, citation) for citation in answer.citations),
        closest=tuple(
            replace(hit, link=public_link(base, hit.link, hit.document_id))
            for hit in answer.closest
        ),
    )


def public_citation(base: str, citation: Citation) -> Citation:
    """Link a citation to the source's web address, else to the cited words in the web app."""
    if citation.link is not None and is_web(citation.link):
        return citation
    span = f"start={citation.snippet_start}&end={citation.span_end or citation.snippet_end}"
    return replace(citation, link=f"{base}/d/{citation.document_id}?{span}")


def public_link(base: str, link: str | None, document_id: str | None) -> str | None:
    """Return a web address unchanged, and any other link as that of the document's file.

    ``base`` is the address of the service, "" for paths from its root.
    """
    if link is None or is_web(link) or link.startswith("/v1/"):
        return link
    if document_id is None:
        return None
    fragment = urldefrag(link).fragment
    return f"{base}/v1/documents/{document_id}/original{'#' * bool(fragment)}{fragment}"


def is_web(address: str) -> bool:
    """Return whether an address is a web address."""
    try:
        return urlsplit(address).scheme.lower() in WEB_SCHEMES
    except ValueError:
        return False

"""Short-lived signed links to the places that an answer cites, for readers without a key.

A link names the tenant and one document, ends at a time, and is signed (HMAC-SHA-256, RFC 2104)
with a key of the service: it opens nothing else.
"""

from __future__ import annotations

import binascii
import hmac
import json
import os
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, Protocol

from fastapi import Query
from starlette.requests import Request

from quoth.core.errors import Denied
from quoth.core.events import AnswerCompleted, CitationAdded, Event, EvidenceFound, HitsFound
from quoth.core.settings import Settings
from quoth.core.types import Answer, Citation, Hit, Pages, Seconds
from quoth.interfaces.http.request_state import LINKS_PATH, Principal
from quoth.interfaces.http.responses import answer_for, service_address
from quoth.interfaces.links import Place, is_web, shown_span

KEY_FILE = "links.key"
KEY_BYTES = 32
REFUSED = "This link is not valid any more: it has expired or was altered. Ask for a new one."

LinkKind = Annotated[
    Literal["signed"] | None,
    Query(
        description="`signed`: links of citations and passages open without a key for a short time."
    ),
]


class Sign(Protocol):
    """Returns a citation or a hit with a signed link."""

    def __call__(self, place: Place, /) -> Place:
        """Return the place with its signed link."""


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """What a link opens: a document of a tenant, in one collection where a share asked for it."""

    tenant: str
    document_id: str
    collection: str | None


class LinkSigner:
    """Writes and reads the tokens of links; ``clock`` gives seconds since the epoch."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        self._key = service_key(settings.home)
        self._seconds = settings.link_minutes * 60
        self._clock = clock

    def sign(self, target: LinkTarget) -> str:
        """Return the token of a link that is valid from now on."""
        expires_at = int(self._clock() + self._seconds)
        about = [target.tenant, target.document_id, target.collection, expires_at]
        data = json.dumps(about).encode()
        return f"{_encode(data)}.{_encode(self._mac(data))}"

    def read(self, token: str) -> LinkTarget:
        """Return what a token opens; raises Denied where it has expired or is not ours."""
        data, _dot, mac = token.partition(".")
        with suppress(binascii.Error, ValueError):
            plain = _decode(data)
            if hmac.compare_digest(self._mac(plain), _decode(mac)):
                *target, expires_at = json.loads(plain)
                if self._clock() < expires_at:
                    return LinkTarget(*target)
        raise Denied(REFUSED)

    def _mac(self, data: bytes) -> bytes:
        return hmac.digest(self._key, data, sha256)


def service_key(home: Path) -> bytes:
    """Return the key of the service, made on first use; all processes of a home share it."""
    path = home / KEY_FILE
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        draft = home / f"{KEY_FILE}.{secrets.token_hex(8)}.draft"
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):  # another process was first
            os.link(draft, path)
        draft.unlink()
    return path.read_bytes()


def citation_signer(request: Request, caller: Principal, links: LinkKind) -> Sign | None:
    """Return what signs the links of citations; None where they are not to be signed."""
    if links is None:
        return None
    state = request.app.state
    if state.link_signer is None:
        state.link_signer = LinkSigner(state.tenants.settings)
    signer: LinkSigner = state.link_signer
    base = service_address(request)

    def sign(place: Place) -> Place:
        if place.link is not None and is_web(place.link):
            return place
        token = signer.sign(LinkTarget(caller.tenant, place.document_id, caller.collection))
        start, end = shown_span(place)
        query = f"start={start}&end={end}{_page_or_time(place)}"
        return replace(place, link=f"{base}{LINKS_PATH}{token}?{query}")

    return sign


def _page_or_time(place: Citation | Hit) -> str:
    if isinstance(place.locator, Seconds):
        return f"#t={place.locator.start:g}"
    if isinstance(place, Citation):
        return "" if place.page_number is None else f"&page={place.page_number}"
    return f"&page={place.locator.first}" if isinstance(place.locator, Pages) else ""


def sign_answer(answer: Answer, sign: Sign | None) -> Answer:
    """Return an answer with the links of its citations and closest passages signed."""
    if sign is None:
        return answer
    citations = tuple(sign(citation) for citation in answer.citations)
    return replace(answer, citations=citations, closest=tuple(sign(hit) for hit in answer.closest))


async def shown_events(
    events: AsyncGenerator[Event, None], sign: Sign | None, *, language: str | None = None
) -> AsyncGenerator[Event, None]:
    """Yield the events of an answer, links signed and warnings in a language if there is one."""
    async with aclosing(events):
        async for event in events:
            match event:
                case CitationAdded() if sign is not None:
                    yield replace(event, citation=sign(event.citation))
                case EvidenceFound() if sign is not None:
                    yield replace(event, citations=tuple(sign(each) for each in event.citations))
                case HitsFound() if sign is not None:
                    yield replace(event, hits=tuple(sign(hit) for hit in event.hits))
                case AnswerCompleted():
                    answer = answer_for(sign_answer(event.answer, sign), language)
                    yield replace(event, answer=answer)
                case _:
                    yield event


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))

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
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request

from quoth.core.errors import Denied
from quoth.core.events import AnswerCompleted, CitationAdded, Event, EvidenceFound
from quoth.core.settings import Settings
from quoth.core.types import Answer, Citation, Seconds
from quoth.interfaces.http.request_state import LINKS_PATH, Principal
from quoth.interfaces.http.responses import answer_for, service_address
from quoth.interfaces.links import is_web

KEY_FILE = "links.key"
KEY_BYTES = 32
REFUSED = "This link is not valid any more: it has expired or was altered. Ask for a new one."

LinkKind = Annotated[
    Literal["signed"] | None,
    Query(description="`signed`: links of citations open without a key for a short time."),
]
Sign = Callable[[Citation], Citation]


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
    return partial(_signed, signer=state.link_signer, base=service_address(request), caller=caller)


def _signed(citation: Citation, *, signer: LinkSigner, base: str, caller: Principal) -> Citation:
    if citation.link is not None and is_web(citation.link):
        return citation
    token = signer.sign(LinkTarget(caller.tenant, citation.document_id, caller.collection))
    link = f"{base}{LINKS_PATH}{token}?start={citation.snippet_start}"
    link += f"&end={citation.span_end or citation.snippet_end}"
    if citation.page_number is not None:
        link += f"&page={citation.page_number}"
    if isinstance(citation.locator, Seconds):
        link += f"#t={citation.locator.start:g}"
    return replace(citation, link=link)


def sign_answer(answer: Answer, sign: Sign | None) -> Answer:
    """Return an answer with the links of its citations signed."""
    return answer if sign is None else replace(answer, citations=tuple(map(sign, answer.citations)))


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
                    yield replace(event, citations=tuple(map(sign, event.citations)))
                case AnswerCompleted():
                    answer = answer_for(sign_answer(event.answer, sign), language)
                    yield replace(event, answer=answer)
                case _:
                    yield event


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))

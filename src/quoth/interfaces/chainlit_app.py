"""Chat page: Chainlit in front of the engine, on this machine only.

``quoth chainlit`` starts it. Chainlit itself accepts requests from any web page, and loads external
fonts; `SecurityMiddleware` prevents both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import chainlit as cl
from chainlit.server import app
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.answering.generative.sanitize import plain_quotation
from quoth.bootstrap import open_engine
from quoth.core.errors import Denied, InputError, QuothError
from quoth.core.load_settings import load_settings
from quoth.core.types import Answer, Citation, Document, Turn
from quoth.engine import Engine
from quoth.interfaces.http.middleware.trusted_host import LOOPBACK, check_host, check_origin
from quoth.interfaces.links import answer_page, public_answer
from quoth.interfaces.markdown import break_links, to_markdown, web_link
from quoth.pipeline.retrieve import Request
from quoth.text.locators import label
from quoth.text.place_name import place_name

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
TURNS = 10
"""Turns of a conversation that are passed to the next question."""

LARGEST = 50_000_000
"""Size limit of a PDF that is shown next to the text."""

closing = AsyncExitStack()
engines: list[Engine] = []


class SecurityMiddleware:
    """Accepts requests of this page only, and blocks external resources."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            check_host(headers, names=LOOPBACK, server=scope.get("server"))
            check_origin(headers, method=scope.get("method", "WEBSOCKET"))
        except (Denied, InputError):
            await refuse(scope, send)
            return

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                add_headers(message)
            await send(message)

        await self.app(scope, receive, dressed)


def add_headers(message: MutableMapping[str, Any]) -> None:
    """Add the security headers to a response."""
    headers = MutableHeaders(raw=message.setdefault("headers", []))
    headers["content-security-policy"] = POLICY
    headers["referrer-policy"] = "no-referrer"
    headers["x-content-type-options"] = "nosniff"


async def refuse(scope: Scope, send: Send) -> None:
    """Refuse a request from another origin or host name."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": []})
    await send({"type": "http.response.body", "body": b"This page is for this machine alone."})


async def start() -> None:
    """Open the library of the settings."""
    engines.append(await closing.enter_async_context(open_engine(load_settings())))


async def stop() -> None:
    """Close the library."""
    engines.clear()
    await closing.aclose()


async def answer(message: Any) -> None:
    """Answer a message: each sentence as soon as it is checked, then the sources."""
    turns: tuple[Turn, ...] = cl.user_session.get("turns") or ()
    shown = cl.Message(content="")
    events = engines[0].stream(Request(message.content, history=turns))
    settings = engines[0].parts.settings
    page_of = partial(answer_page, settings)
    try:
        async for piece in to_markdown(events, address=web_link, page_of=page_of):
            if isinstance(piece, Answer):
                base = settings.public_url
                linked = public_answer(piece, base=base) if base else piece
                pages = await asyncio.to_thread(serve_sources, engines[0], piece)
                shown.content += sources(piece, pages)
                shown.elements = [*map(citation_card, linked.citations), *unique_pages(pages)]
                turn = Turn(message.content, piece.text)
                cl.user_session.set("turns", (*turns, turn)[-TURNS:])
            else:
                await shown.stream_token(piece)
    except QuothError as error:
        shown.content += f"\n\n{break_links(str(error))}"
    await shown.send()


def sources(found: Answer, pages: Mapping[int, Any]) -> str:
    """List the sources of an answer; the names of cards and pages open them next to the text."""
    lines = []
    for citation in found.citations:
        page = pages.get(citation.number)
        lines.append(
            f"- {source_name(citation)}: {source_label(citation)}"
            + (f" · {page.name}" if page else "")
        )
    return "\n\n---\n" + "\n".join(lines) if lines else ""


def serve_sources(engine: Engine, found: Answer) -> dict[int, Any]:
    """Return a page for each citation in a local PDF, which has no web address."""
    catalogue = engine.parts.catalogue
    collection = catalogue.collection(engine.parts.settings.collection)
    documents = catalogue.documents_by_id(collection, [e.document_id for e in found.citations])
    made: dict[tuple[str, int | None], Any] = {}
    pages = {}
    for citation in found.citations:
        document = documents.get(citation.document_id)
        if document is None or not is_small_pdf(document):
            continue
        place = (citation.document_id, citation.page_number)
        if place not in made:
            title, source = f"PDF {citation.number}", document.source
            made[place] = cl.Pdf(name=title, path=source, page=citation.page_number, display="side")
        pages[citation.number] = made[place]
    return pages


def unique_pages(pages: Mapping[int, Any]) -> list[Any]:
    """Return each page once."""
    return list({page.name: page for page in pages.values()}.values())


def is_small_pdf(document: Document) -> bool:
    """Return whether a document is a PDF file that is small enough to be copied for the page."""
    file = Path(document.source)
    return file.suffix.lower() == ".pdf" and file.is_file() and file.stat().st_size <= LARGEST


def citation_card(each: Citation) -> Any:
    """Return the card of a citation: the quotation and its link."""
    link = web_link(each.link, each.document_id)
    opens = f"\n\n[{break_links(label(each.place)) or 'Open'}]({link})" if link else ""
    quotation = break_links(plain_quotation(each.snippet + " …" * each.cut))
    text = f"**{source_label(each)}**\n\n> {quotation}{opens}"
    return cl.Text(name=source_name(each), content=text, display="side")


def source_name(each: Citation) -> str:
    """Return the name of a citation as Chainlit finds it in the text."""
    return f"Source {each.number}"


def source_label(each: Citation) -> str:
    """Return a citation's document and the place in it."""
    place = place_name(each.document_name, each.locator, each.section_heading)
    return break_links(plain_quotation(each.document_name + place))


app.add_middleware(SecurityMiddleware)
cl.on_app_startup(start)
cl.on_app_shutdown(stop)
cl.on_message(answer)

"""Render an answer as Markdown with linked citation marks, complete or streamed.

Links are built only here: an address in a source, or written by a language model, is split so that
no program turns it into a link.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from urllib.parse import quote

from quoth.answering.answerability import notes
from quoth.answering.generative.assemble import format_markers
from quoth.answering.generative.sanitize import LIVE, plain_quotation
from quoth.core.events import (
    AnswerCompleted,
    CitationAdded,
    Event,
    SentenceVerified,
    StageStarted,
    TextAdded,
)
from quoth.core.translations import interface_languages, translate
from quoth.core.types import Answer, Hit
from quoth.history.export import DOUBTS as EXPORTED
from quoth.history.export import pieces
from quoth.interfaces.links import is_web
from quoth.text.language import detect_query_language
from quoth.text.locators import label
from quoth.text.markdown import URL_SIGNS

Address = Callable[[str | None, str], str | None]
"""Return the address that may be shown for a link of the engine and its document's id."""

DOUBTS: Mapping[str, str] = {
    "unsupported": "interfaces.unsupported",
    "unverified": "history.doubt_unverified",
}
"""What is written behind a sentence that no source supports, or that could not be checked."""
NEAR = 1200
"""Characters of a passage that is shown because nothing better was found."""
_ADDRESS = re.compile(r"(?i)(?<=://)(?=\S)|(?<=\bwww\.)(?=\S)")
_BRACKETS = re.compile(r"[\[\]\\]")


def web_link(link: str | None, _document_id: str) -> str | None:
    """Return a link that leads into the web; one to a file of this machine is not shown."""
    return link if link and is_web(link) else None


def markdown_sentences(answer: Answer, *, address: Address, page: str | None = None) -> list[str]:
    """Return an answer as pieces of Markdown, a sentence each, then the notes.

    Marks link to their sources, or to their sentence on the ``page`` of the answer. Where nothing
    is cited the closest passages follow, as quotations.
    """
    supports = {translate(EXPORTED[each], "en"): each for each in DOUBTS}
    links = {
        citation.number: address(citation.link, citation.document_id)
        for citation in answer.citations
    }
    said = [
        _sentence(
            text if answer.model else code_span(text),
            numbers,
            links=_sentence_links(page, number, numbers) or links,
            support=supports.get(doubt, ""),
        )
        for text, numbers, doubt, number in pieces(answer)
    ]
    closest = () if answer.citations else answer.closest
    near = [_near(each, address=address) for each in closest]
    noted = (break_links(plain_quotation(each)) for each in notes(answer))
    written = (translate("interfaces.note", answer.query.language, text=each) for each in noted)
    return said + near + [f"\n\n*{each}*" for each in written]


async def to_markdown(
    events: AsyncGenerator[Event, None],
    *,
    address: Address,
    page_of: Callable[[str], str | None] = lambda _query_id: None,
) -> AsyncGenerator[str | Answer, None]:
    """Yield an answer's Markdown as it comes, then the answer.

    Joined, the texts are the pieces of `markdown_sentences`, if the text did not change meanwhile.
    A sentence is yielded once it is verified, with its links, and none before the first is
    supported: until then the extractive answer may still replace the generated one. Where a model
    breaks off and the extractive answer replaces it, that follows in a separate paragraph.
    ``page_of`` returns the page of an answer by its id, to which its marks link.
    """
    links: dict[int, str | None] = {}
    page: str | None = None
    number = 0
    tokens = held = sent = ""
    proved = False
    async with aclosing(events):
        async for event in events:
            if isinstance(event, StageStarted):
                page = page or page_of(event.query_id)
            elif isinstance(event, TextAdded):
                tokens += event.text
            elif isinstance(event, CitationAdded):
                citation = event.citation
                links[citation.number] = address(citation.link, citation.document_id)
            elif isinstance(event, SentenceVerified):
                said = tokens.removesuffix(format_markers(event.citations)) if event.kept else ""
                tokens = ""
                number += event.kept
                held += said and _sentence(
                    said if sent or held else said.lstrip(),
                    event.citations,
                    links=_sentence_links(page, number, event.citations) or links,
                    support=event.support,
                )
                proved = proved or bool(event.citations)
                if proved and held:
                    yield held
                    sent, held = sent + held, ""
            elif isinstance(event, AnswerCompleted):
                for piece in _rest(
                    markdown_sentences(event.answer, address=address, page=page), sent
                ):
                    yield piece
                yield event.answer


def _rest(whole: list[str], sent: str) -> Iterator[str]:
    """Return what is left of the pieces behind what was sent, or all where it is another text."""
    if not sent:
        yield from filter(None, whole)
        return
    text = "".join(whole)
    rest = text.removeprefix(sent) if text.startswith(sent) else f"\n\n{text}"
    if rest:
        yield rest


def break_links(text: str) -> str:
    """Put a blank into what a program that shows Markdown could make a link or a tag of."""
    return LIVE.sub(r"\1 ", _ADDRESS.sub(" ", text))


def code_span(text: str) -> str:
    """Escape backticks of a source: a code span would hide the marks after it."""
    return text.replace("`", "\\`")


def _sentence(
    text: str, numbers: tuple[int, ...], *, links: Mapping[int, str | None], support: str
) -> str:
    cited = "".join(f" {_mark(number, links.get(number))}" for number in numbers)
    shown = f"{break_links(text)}{cited}"
    doubt = DOUBTS.get(support)
    if doubt is None or (support == "unverified" and not numbers):
        return shown
    language = detect_query_language(text, among=interface_languages(), fallback="en")
    return f"{shown} *({translate(doubt, language)})*"


def _sentence_links(page: str | None, number: int, cited: tuple[int, ...]) -> dict[int, str | None]:
    return dict.fromkeys(cited, f"{page}#s{number}") if page else {}


def _near(hit: Hit, *, address: Address) -> str:
    """Name a closest passage, and quote it where the answer does not."""
    shown = "" if hit.marked else plain_quotation(hit.text)
    if len(shown) > NEAR:
        shown = f"{shown[:NEAR].rsplit(' ', 1)[0]} …"
    name = " · ".join(filter(None, (hit.document, label(hit.locator))))
    head = break_links(plain_quotation(_BRACKETS.sub(" ", name)))
    link = address(hit.link, hit.document_id)
    linked_head = head if link is None else f"[{head}]({quote(link, safe=URL_SIGNS)})"
    quoted = f": {code_span(break_links(shown))}" if shown else ""
    return f"\n\n> {code_span(linked_head)}{quoted}"


def _mark(number: int, link: str | None) -> str:
    return f"[{number}]" if link is None else f"[{number}]({quote(link, safe=URL_SIGNS)})"

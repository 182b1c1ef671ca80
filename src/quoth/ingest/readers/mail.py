"""Mail: EML messages and MBOX boxes, with what is attached to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import (
    Block,
    assemble,
    counted,
    normalize_whitespace,
    plain_line,
    to_plain_text,
)
from quoth.ingest.readers.detect import decode, text_encoding
from quoth.ingest.readers.enclosed import Enclosure
from quoth.ingest.readers.html import html_blocks
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.text import plain_blocks

MAX_MESSAGES = 20_000
RUN = 4
"""Words in a row by which a quoted line is known whose program wrapped it anew."""
MAX_ATTACHMENTS = 200
"""Attachments of one message that are read."""
NO_SUBJECT = "(no subject)"

_FROM = re.compile(rb"(?:^|\n\r?\n)From [^\r\n]{1,300}\r?\n(?=[!-9;-~]{1,80}:)")
_QUOTED = re.compile(r"\s*>")
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,500}>")
_FAULTS = (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError)
"""What the library raises over damaged messages."""


@dataclass(slots=True)
class _Seen:
    """The lines of the messages before, and the words of each by its Message-ID."""

    lines: set[str] = field(default_factory=set)
    words: dict[str, list[str]] = field(default_factory=dict)

    def replied_to(self, message: EmailMessage) -> set[tuple[str, ...]]:
        """Return the runs of `RUN` words in the messages that one answers."""
        named = " ".join(_header(message, name) for name in ("references", "in-reply-to"))
        answered = dict.fromkeys(_MESSAGE_ID.findall(named))
        return {run for each in answered for run in _runs(self.words.get(each, []))}


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def read_eml(file: SourceFile) -> ParsedDocument:
    """Read one message; raises DocumentError."""
    enclosure = Enclosure()
    message = _parse(file.data, name=file.name)
    meta = _add_message(enclosure, message, file=file, seen=None)
    if not enclosure.parts:
        raise DocumentError("empty", f"{file.name} has no text in it. There is nothing to read.")
    return file.document("mail", enclosure.content, meta=meta, warnings=enclosure.warnings)


def read_mbox(file: SourceFile) -> ParsedDocument:
    """Read a box of messages in their order; what an earlier one says is not quoted again."""
    enclosure = Enclosure()
    seen = _Seen()
    marks = [match.span() for match in _FROM.finditer(file.data)] or [(0, 0)]
    starts = [end for _, end in marks]
    ends = [*(start for start, _ in marks[1:]), len(file.data)]
    if len(starts) > MAX_MESSAGES:
        enclosure.warnings.append(f"Only the first {MAX_MESSAGES:,} messages are read.")
    spans = list(zip(starts, ends, strict=True))[:MAX_MESSAGES]
    for number, (start, end) in enumerate(spans, start=1):
        message = _parse(file.data[start:end], name=f"{file.name}, message {number}")
        _add_message(enclosure, message, file=file, seen=seen, number=number)
    if not enclosure.parts:
        raise DocumentError("empty", f"{file.name} holds no message with text in it.")
    return file.document("mail", enclosure.content, warnings=enclosure.warnings)


def _parse(data: bytes, *, name: str) -> EmailMessage:
    try:
        return message_from_bytes(data, policy=policy.default)
    except _FAULTS as error:
        raise DocumentError(
            "damaged", f"{name} is damaged: it is no message that can be read ({error})."
        ) from None


def _add_message(
    enclosure: Enclosure,
    message: EmailMessage,
    *,
    file: SourceFile,
    seen: _Seen | None,
    number: int | None = None,
) -> Metadata:
    """Add a message, with its ``number`` in a box, and its attachments; return what it says of
    itself.
    """
    subject = _header(message, "subject") or NO_SUBJECT
    sender, date = _sender(message), _date(message)
    heading = " · ".join(filter(None, (subject, sender, date)))
    head = [
        f"{name.title()}: {value}"
        for name in ("from", "to", "cc", "date", "subject")
        if (value := _header(message, name))
    ]
    body = _body(message, name=file.name)
    if seen is not None:
        body = list(_without_quotes(body, seen, said=seen.replied_to(message)))
        seen.words[_header(message, "message-id")] = " ".join(b.text for b in body).split()
    blocks = [Block("\n".join(head)), *body]
    place = counted("message", number) if number else None
    placed = [replace(block, place=place or block.place) for block in blocks]
    enclosure.add(assemble(placed), path=(heading,))
    for name, data in _attachments(message):
        inner = SourceFile(name, data, nesting=file.nesting + 1)
        enclosure.add_file(inner, path=(heading, name))
    return Metadata(title=subject, speaker=sender or None, date=date or None)


def _body(message: EmailMessage, *, name: str) -> Sequence[Block]:
    try:
        part = message.get_body(("plain", "html"))
        part = message if part is None else part  # one without headers is false
        payload = part.get_payload(decode=True)
        kind, charset = part.get_content_type(), part.get_content_charset()
    except _FAULTS:
        payload, kind, charset = message.get_payload(decode=True), "text/plain", None
    if not isinstance(payload, bytes) or not kind.startswith("text/"):
        return []
    text = normalize_whitespace(_decoded(payload, charset or "utf-8", name=name))
    return html_blocks(text) if kind == "text/html" else list(plain_blocks(text))


def _decoded(payload: bytes, charset: str, *, name: str) -> str:
    """Return the text of a message, whose charset may be missing, unknown or wrong."""
    try:
        return payload.decode(text_encoding(charset) or "utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return decode(payload, name=name)[0]
    except DocumentError:
        return payload.decode("utf-8", "replace")


def _without_quotes(
    blocks: Sequence[Block], seen: _Seen, *, said: set[tuple[str, ...]]
) -> Iterator[Block]:
    """Leave out the quoted lines that were read before, or stand in what the message answers."""
    for block in blocks:
        lines = []
        before: list[str] = []  # the last words of the quoted line before, if it was left out
        for line in block.text.split("\n"):
            text = to_plain_text(line.lstrip("> "))
            words = before + text.split()
            answers = len(words) >= RUN and said.issuperset(_runs(words))
            before = words[1 - RUN :] if answers else []
            if _QUOTED.match(line) and (text in seen.lines or answers):
                continue
            if len(text) > 1:
                seen.lines.add(text)
            if text:
                lines.append(line)
        text = "\n".join(lines).strip("\n")
        if text.strip(" >\n"):
            yield Block(text, level=block.level)


def _attachments(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    try:
        parts = list(message.iter_attachments())[:MAX_ATTACHMENTS]
    except _FAULTS:
        return
    for number, part in enumerate(parts, start=1):
        try:
            name = part.get_filename() or f"attachment {number}"
            if part.get_content_type() == "message/rfc822":
                inner = part.get_content()
                yield f"{_header(inner, 'subject') or name}.eml", inner.as_bytes()
                continue
            data = part.get_payload(decode=True)
        except _FAULTS:
            continue
        if isinstance(data, bytes) and part.get_content_maintype() not in ("image", "video"):
            yield normalize_whitespace(name).rpartition("/")[2], data


def _header(message: EmailMessage, name: str) -> str:
    try:
        return plain_line(str(message.get(name) or ""))[:500]
    except _FAULTS:
        return ""


def _sender(message: EmailMessage) -> str:
    pairs = getaddresses([_header(message, "from")])
    return to_plain_text(pairs[0][0] or pairs[0][1]) if pairs else ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "date")).date().isoformat()
    except _FAULTS:
        return ""

"""XHTML for a parser of HTML, which does not know elements that close themselves."""

from __future__ import annotations

import re

_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"([a-zA-Z][\w:.-]*+)((?:\s[^<>]*+(?<=/))|/)>"
)


def as_html(text: str) -> str:
    """Return a page with ``<a id="x"/>`` written as ``<a id="x"></a>``."""
    return _CLOSED.sub(lambda tag: f"<{tag[1]}{tag[2][:-1]}></{tag[1]}>", text)

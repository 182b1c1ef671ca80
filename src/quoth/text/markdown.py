"""Text and links as they are written into Markdown."""

from __future__ import annotations

import re
from urllib.parse import quote

from quoth.text.html_page import is_safe

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~^$&@]|:(?=//)|(?<=www)\.")
"""What would mean something in Markdown, and gets a backslash; ``://`` and ``www.`` would make a
link of a bare address."""
_BEGINNING = re.compile(r"^([0-9]*)([-+=#.)])")
"""What would make a list or a heading where a line begins with it."""
URL_SIGNS = "%/:=&?~+!$,;'@#"
"""What stays in an address beside letters and digits; no bracket ends the link."""


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown, on one line: it makes no heading, list, link, HTML or table."""
    line = _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))
    return _BEGINNING.sub(r"\1\\\2", line)


def markdown_link(address: str | None, words: str) -> str:
    """Return words as a link to an address, or as they are where it opens no page or file."""
    if address is None or not is_safe(address):
        return escape_markdown(words)
    return f"[{escape_markdown(words)}](<{quote(address, safe=URL_SIGNS)}>)"

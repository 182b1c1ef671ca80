"""What an Office file says of itself: title, author, language and date."""

from __future__ import annotations

import re

from quoth.core.errors import DocumentError
from quoth.ingest.readers.blocks import plain_line
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.metadata import Metadata, names_author, normalize_language
from quoth.ingest.readers.xml_parts import text_of
from quoth.ingest.readers.zip_container import ZipContainer

_NO_TITLE = re.compile(
    r"(?:untitled|microsoft \w+ - .*|slide 1|(?:powerpoint )?presentation\d*|no title|document\d*"
    r"|[^\s]*\.\w{2,4})",
    re.I,
)
_PARTS = ("docProps/core.xml", "meta.xml")
"""Of Office Open XML and of OpenDocument."""


def office_properties(container: ZipContainer) -> Metadata:
    """Return the properties of a file; titles and authors that programs fill in are left out."""
    part = next((each for each in _PARTS if container.has(each)), None)
    if part is None:
        return Metadata()
    try:
        root = container.xml(part)
    except DocumentError:
        return Metadata()
    title = plain_line(text_of(root, "title"))
    author = plain_line(text_of(root, "initial-creator") or text_of(root, "creator"))
    dates = (text_of(root, name) for name in ("modified", "date", "created", "creation-date"))
    return Metadata(
        title=None if not title or _NO_TITLE.fullmatch(title) else title,
        speaker=author if names_author(author) else None,
        language=normalize_language(text_of(root, "language")),
        date=next((date for each in dates if (date := normalize_date(each))), None),
    )

"""Detect a format that is not text by the first bytes and the parts of a file."""

from __future__ import annotations

import re

from quoth.ingest.readers.formats import PICTURES, Format
from quoth.ingest.readers.zip_container import ZipContainer, open_container

ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
PARQUET = b"PAR1"
OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
"""The first bytes of files packed by gzip, bzip2 and xz, as archives often are."""
_MAIL = re.compile(rb"\s{0,9}(?:(?P<box>From [^\r\n]{1,300}\r?\n)|[!-9;-~]{1,80}:)")
_WORKBOOK = "Workbook".encode("utf-16-le")

_MIME: dict[str, Format] = {
    "application/epub+zip": "epub",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
}
"""What the part ``mimetype`` of a container says."""
_PARTS: dict[str, Format] = {
    "META-INF/container.xml": "epub",
    "word/document.xml": "docx",
    "word/document2.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "xlsx",
    "xl/workbook.bin": "xlsx",
}
"""Parts that only containers of one format have."""


def binary_format(data: bytes, *, suffix: str, name: str) -> Format | None:
    """Return the format of these bytes, None for a text or what no reader here is for.

    Raises DocumentError for a container that cannot be opened.
    """
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if data.startswith(PICTURES):
        return "picture"
    if data.startswith(PARQUET):
        return "parquet"
    if data.startswith(OLD_OFFICE) and (suffix == ".xls" or _WORKBOOK in data):
        return "xls"
    if suffix in (".eml", ".mbox") and (found := _MAIL.match(data)):
        return "mbox" if found["box"] else "eml"
    if data.startswith(_PACKED) or data[257:262] == b"ustar":
        return "tar"
    if data.startswith((ZIP, EMPTY_ZIP)):
        return _container_format(open_container(data, name=name), suffix=suffix)
    return None


def _container_format(container: ZipContainer, *, suffix: str) -> Format | None:
    if container.has("mimetype"):
        stated = container.read("mimetype", limit=200).decode("ascii", "replace").strip()
        known = next((each for mime, each in _MIME.items() if stated.startswith(mime)), None)
        if known is not None:
            return known
    for part, each in _PARTS.items():
        if container.has(part):
            return each
    return "zip"

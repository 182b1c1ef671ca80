"""Detect the encoding and the format of a file."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from quoth.core.errors import DocumentError
from quoth.ingest.readers.blocks import normalize_whitespace
from quoth.ingest.readers.cue_parsers import read_json, timing
from quoth.ingest.readers.delimited import is_delimited
from quoth.ingest.readers.formats import KNOWN, PICTURES, SUFFIX_FORMATS, Format
from quoth.ingest.readers.speaker_turns import is_spoken
from quoth.ingest.readers.timed_lines import has_timed_lines
from quoth.ingest.readers.zip_container import ZipContainer, open_container

HEAD = 4096
"""Bytes of a file that are enough to know a PDF or a binary file."""
_ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
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
_MAGIC = (
    (_ZIP, "a ZIP container"),
    (_OLD_OFFICE, "an old Office file"),
    (b"{\\rtf", "an RTF file"),
    (b"%!PS", "a PostScript file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a compressed file"),
    (b"7z\xbc\xaf", "a compressed file"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"RIFF", "a sound or video file"),
    (b"\x1aE\xdf\xa3", "a video file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a database"),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.{0,4000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_BY_SUFFIX: frozenset[Format] = frozenset(
    ("csv", "data", "notebook", "rst", "asciidoc", "org", "latex")
)
"""Formats that only the suffix tells from plain text."""
_XML_START = re.compile(r"\s*<(?:\?xml\b|!doctype\s+(?!html)|svg\b|rss\b|tt\b)", re.IGNORECASE)
_JSON_CUE = re.compile(r'"(?:tStartMs|start|start_time|begin|segments|timestamp)"\s*:')
"""A key that a transcript in JSON has near its beginning."""
_TAG = re.compile(r"</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>")
_CHARSET = re.compile(
    rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{3,30})", re.IGNORECASE
)
_ENCODINGS = re.compile(
    r"utf-(?:8|16|32)(?:-sig|-[lb]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gbk?|gb\d+|big5\w*"
    r"|euc_\w+|shift_jis\w*|iso2022_\w+|johab|tis-620|hz"
)

_ASCII = bytes(range(128))
NOT_LATIN = 0.2
"""Share of bytes beyond ASCII from which lines are in no Latin script: French has .03, at most .15
in 60 characters; Russian, Arabic and Chinese have .8."""
_RST_MARK = re.compile(r"^\.\. (?:_[^:\n]+:|[\w-]+::)", re.MULTILINE)
"""A target or a directive of reStructuredText, which many projects have in files named .txt."""
MIN_RST_MARKS = 2
_RST_TITLE = re.compile(r"^\S[^\n]*\n([=~^\"*#+-])\1{2,}[^\S\n]*$", re.MULTILINE)
MIN_GUESSED, MAX_GUESSED = 40, 100_000
"""Bytes from which an encoding is guessed: of lines with characters beyond ASCII."""
_LATIN_END = "\u0250"
"""The first letter behind those of Latin scripts."""
_HIRAGANA = re.compile("[\u3041-\u3096]{2,}")
MIN_HIRAGANA = 0.2
"""Share of the letters beyond ASCII that Japanese exceeds, about half on average."""


def decode(data: bytes, *, name: str) -> tuple[str, str | None]:
    """Decode bytes to clean text, with a warning when the encoding was guessed.

    Raises DocumentError: ``unsupported`` for binary data, ``empty`` for no text.
    """
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise _unsupported(name, what)
    text, guess = _decode(data)
    controls = sum(1 for _ in _CONTROL.finditer(text[:100_000]))
    strange = text[:100_000].count("\ufffd")
    if controls + strange > 0.02 * min(len(text), 100_000) + 2:
        raise _unsupported(name, "binary data, or text in an encoding that was not recognised")
    if "\x00" in text:
        guess = guess or "The text had NUL characters in it; they were left out."
    text = normalize_whitespace(text)
    if not text.strip():
        raise DocumentError("empty", f"{name} is empty. There is nothing to read in it.")
    return text, guess


def text_encoding(name: str) -> str | None:
    """Return Python's name of a web page encoding, None for any other codec.

    Some of Python's codecs are very slow, and some are not text encodings.
    """
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return found if _ENCODINGS.fullmatch(found) else None


def is_pdf(head: bytes, *, suffix: str) -> bool:
    """Return whether these first bytes are those of a PDF file.

    Decided by the PDF signature, or by the suffix for binary data of no other known format.
    """
    marked = b"%PDF-" in head[:1024]
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        return True
    binary = b"\x00" in head or b"\xff" in head or any(byte in head for byte in b"\x01\x02\x03\x04")
    known = any(head.startswith(magic) for magic, _ in _MAGIC)
    if known:
        return False
    return (marked and (binary or suffix == ".pdf")) or (suffix == ".pdf" and binary)


def binary_format(data: bytes, *, suffix: str, name: str) -> Format | None:
    """Return the format of these bytes, None for a text or what no reader here is for.

    Raises DocumentError for a container that cannot be opened.
    """
    if is_pdf(data[:HEAD], suffix=suffix):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if data.startswith(PICTURES):
        return "picture"
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(_OLD_OFFICE) and (suffix == ".xls" or _WORKBOOK in data):
        return "xls"
    if suffix in (".eml", ".mbox") and (found := _MAIL.match(data)):
        return "mbox" if found["box"] else "eml"
    if data.startswith(_PACKED) or data[257:262] == b"ustar":
        return "tar"
    if data.startswith((_ZIP, _EMPTY_ZIP)):
        return _container_format(open_container(data, name=name))
    return None


def _container_format(container: ZipContainer) -> Format:
    if container.has("mimetype"):
        stated = container.read("mimetype", limit=200).decode("ascii", "replace").strip()
        known = next((each for mime, each in _MIME.items() if stated.startswith(mime)), None)
        if known is not None:
            return known
    for part, each in _PARTS.items():
        if container.has(part):
            return each
    return "zip"


def sniff(text: str, *, suffix: str, name: str) -> Format:
    """Detect the format of a text by its content, or by its suffix where that is ambiguous.

    Raises DocumentError when no reader fits, or when captions are damaged beyond reading.
    """
    expected = SUFFIX_FORMATS.get(suffix)
    captions = expected in ("srt", "vtt", "sbv")
    if text.lstrip().startswith("WEBVTT"):
        return "vtt"
    if expected == "code":
        return "code"
    if _HTML_START.match(text):
        return "html"
    if expected in _BY_SUFFIX:
        return expected
    timed = _first_timing(text, within=None if captions else 6)
    if timed is not None:
        return "srt" if "-->" in timed or "->" in timed else "sbv"
    if captions and "-->" in text:
        raise DocumentError(
            "damaged", f"{name} holds no cue whose times can be read. Export the captions again."
        )
    data = _data_format(text, expected)
    if data is not None:
        return data
    if expected == "html" and _TAG.search(text):
        return "html"
    misnamed = expected in ("xlsx", "xls", "ods")  # what programs call a workbook may be a text
    if (misnamed or expected in (None, "text", "pdf")) and _is_fragment(text):
        return "html"
    if misnamed and is_delimited(text):
        return "csv"
    if expected != "markdown" and _is_restructuredtext(text):
        return "rst"
    return _transcript_form(text) or ("markdown" if expected == "markdown" else "text")


def _is_restructuredtext(text: str) -> bool:
    """Return whether a text has marks of reStructuredText and an underlined title.

    One with blocks of code as Markdown has them only shows such marks.
    """
    marked = len(_RST_MARK.findall(text)) >= MIN_RST_MARKS
    return marked and "```" not in text and _RST_TITLE.search(text) is not None


def _transcript_form(text: str) -> Format | None:
    if has_timed_lines(text):
        return "timed"
    return "spoken" if is_spoken(text) else None


def _data_format(text: str, expected: Format | None) -> Format | None:
    """Return the format of a text in JSON or XML, None for any other text."""
    if text.lstrip()[:1] in ("{", "["):
        if _is_json_transcript(text):
            return "json"
        if '"cells"' in text and '"nbformat"' in text:
            return "notebook"
        return "data" if expected == "json" else None
    return "data" if _XML_START.match(text) else None


def _first_timing(text: str, *, within: int | None) -> str | None:
    """Return the first timing line among the first non-empty lines (None for all)."""
    seen = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        if timing(line) is not None:
            return line
        seen += 1
        if within is not None and seen >= within:
            return None
    return None


def _is_json_transcript(text: str) -> bool:
    if _JSON_CUE.search(text[: 1 << 16]) is None:
        return False
    try:
        return read_json(text) is not None
    except ValueError:
        return False


def _is_fragment(text: str) -> bool:
    """Return whether a text is an HTML fragment: tags from its first character to its last."""
    stripped = text.strip()
    return stripped[:1] == "<" and stripped[-1:] == ">" and len(_TAG.findall(stripped[:20_000])) > 5


def _unsupported(name: str, what: str) -> DocumentError:
    return DocumentError(
        "unsupported", f"{name} is {what}, which cannot be read. quoth reads {KNOWN}."
    )


def _decode(data: bytes) -> tuple[str, str | None]:
    """Try the encodings, the most reliably detected first."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return data.decode("utf-32", "replace"), None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace"), None
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = data[first:4096:2]
        if len(half) >= 4 and half.count(0) > 0.4 * len(half) > 8 * data[
            1 - first : 4096 : 2
        ].count(0):
            return data.decode(
                encoding, "replace"
            ), "The text was read as UTF-16, which is a guess."
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError:
        pass
    named = _CHARSET.search(data[:2048]) if data.lstrip()[:1] == b"<" else None
    declared = text_encoding(named[1].decode("ascii")) if named else None
    if declared is not None:
        try:
            return data.decode(declared), None
        except UnicodeDecodeError:
            pass
    utf8 = data.decode("utf-8-sig", "replace")
    bad = utf8.count("\ufffd")
    if 4 * bad < len(utf8) - len(utf8.encode("ascii", "ignore")):
        return utf8, f"The text is UTF-8 with {bad} broken characters."
    encoding = _encoding_of_another_script(data) or "cp1252"
    shown = encoding.replace("cp125", "Windows-125")
    return data.decode(encoding, "replace"), f"The text is not UTF-8; it was read as {shown}."


def _encoding_of_another_script(data: bytes) -> str | None:
    """Return the encoding of a text in no Latin script, None for any other.

    Japanese is recognised by its syllables, others by the frequencies of their letters, by which
    Western texts are too often taken for others.
    """
    for encoding in ("cp932", "euc_jp"):
        letters = _letters_beyond_ascii(data, encoding)
        if sum(map(len, _HIRAGANA.findall(letters))) > MIN_HIRAGANA * len(letters):
            return encoding
    lines = (line for line in data.splitlines() if not line.isascii())
    sample = b"\n".join(lines)
    if len(sample) > MAX_GUESSED:  # at a line's end, not within a letter
        sample = sample[: max(0, sample.rfind(b"\n", 0, MAX_GUESSED)) or None]
    beyond_ascii = len(sample.translate(None, _ASCII))
    if len(sample) < MIN_GUESSED or beyond_ascii <= NOT_LATIN * len(sample):
        return None
    guess = from_bytes(sample).best()
    found = text_encoding(guess.encoding) if guess is not None else None
    letters = _letters_beyond_ascii(data, found) if found and not found.startswith("utf") else ""
    latin = sum(each < _LATIN_END for each in letters)
    return found if 2 * latin < len(letters) else None


def _letters_beyond_ascii(data: bytes, encoding: str) -> str:
    """Return the letters of a text that are not in ASCII, none where it is in another encoding."""
    try:
        return "".join(each for each in data.decode(encoding) if each > "\x7f" and each.isalpha())
    except UnicodeDecodeError:
        return ""

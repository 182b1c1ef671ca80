"""The formats that are read: their suffixes, their names, and the reader of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from quoth.core.errors import DocumentError
from quoth.core.extras import is_installed
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.media import MEDIA_SUFFIXES, captions_beside
from quoth.ingest.readers.metadata import SIDECARS
from quoth.ingest.readers.ocr import missing_for_pictures
from quoth.ingest.readers.source_file import SourceFile

Format = Literal[
    "pdf",
    "html",
    "markdown",
    "spoken",
    "timed",
    "text",
    "vtt",
    "srt",
    "sbv",
    "json",
    "epub",
    "docx",
    "odt",
    "rtf",
    "pptx",
    "odp",
    "xlsx",
    "xls",
    "ods",
    "csv",
    "parquet",
    "notebook",
    "code",
    "data",
    "rst",
    "asciidoc",
    "org",
    "latex",
    "eml",
    "mbox",
    "zip",
    "tar",
    "picture",
]


@dataclass(frozen=True, slots=True)
class Reader:
    """The function that reads a format, and the extra with the package that it needs."""

    module: str
    function: str
    extra: str | None = None
    needs: str | None = None

    def missing(self) -> str | None:
        """Return the command that installs what is missing, None when all is there."""
        if self.extra == "ocr":
            return missing_for_pictures()
        if self.needs is None or is_installed(self.needs):
            return None
        return f"pip install 'quoth[{self.extra}]'"

    def read(self, file: SourceFile) -> ParsedDocument:
        """Read a file; the module is imported now. Raises DocumentError."""
        install = self.missing()
        if install is not None:
            raise DocumentError(
                "missing_extra",
                f"{file.name} needs what is not installed here. Install it with: {install}",
            )
        module = import_module(f"quoth.ingest.readers.{self.module}")
        document: ParsedDocument = getattr(module, self.function)(file)
        return document


READERS: Mapping[Format, Reader] = {
    "html": Reader("neighbours", "read_page"),
    "markdown": Reader("markdown", "read_markdown"),
    "spoken": Reader("spoken_markdown", "read_spoken"),
    "timed": Reader("timed_lines", "read_timed_lines"),
    "text": Reader("text", "read_plain"),
    "vtt": Reader("captions", "read_vtt"),
    "srt": Reader("captions", "read_captions"),
    "sbv": Reader("captions", "read_captions"),
    "json": Reader("captions", "read_json_transcript"),
    "epub": Reader("epub", "read_epub"),
    "docx": Reader("docx", "read_docx", "office", "mammoth"),
    "odt": Reader("odt", "read_odt"),
    "rtf": Reader("rtf", "read_rtf", "office", "striprtf"),
    "pptx": Reader("pptx", "read_pptx", "office", "pptx"),
    "odp": Reader("odp", "read_odp"),
    "xlsx": Reader("spreadsheet", "read_spreadsheet", "office", "python_calamine"),
    "xls": Reader("xls", "read_xls", "office", "olefile"),
    "ods": Reader("ods", "read_ods"),
    "csv": Reader("delimited", "read_delimited"),
    "parquet": Reader("parquet", "read_parquet"),
    "notebook": Reader("notebook", "read_notebook"),
    "code": Reader("code", "read_code"),
    "data": Reader("data_files", "read_data_file"),
    "rst": Reader("restructuredtext", "read_rst"),
    "asciidoc": Reader("asciidoc", "read_asciidoc"),
    "org": Reader("org", "read_org"),
    "latex": Reader("latex", "read_latex"),
    "eml": Reader("mail", "read_eml"),
    "mbox": Reader("mail", "read_mbox"),
    "zip": Reader("archive", "read_zip"),
    "tar": Reader("archive", "read_tar"),
    "picture": Reader("pictures", "read_picture", "ocr"),
}
"""The readers of all formats but PDF, imported when a file of theirs is read."""

PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
"""The first bytes of PNG, JPEG and TIFF files."""
_CODE = (
    "py pyi pyx js mjs cjs jsx ts tsx vue svelte java kt kts scala groovy c h cc cpp cxx hpp hh cs "
    "go rs rb php swift m mm sh bash zsh fish ps1 bat sql r jl lua pl pm hs ml mli ex exs erl clj "
    "cljs lisp el scm dart zig nim v vhd f90 f95 pas css scss less proto graphql tf cmake gradle"
)
_DATA = "yaml yml toml xml xsd ini cfg conf properties"

SUFFIX_FORMATS: Mapping[str, Format] = {
    ".pdf": "pdf",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".srt": "srt",
    ".vtt": "vtt",
    ".sbv": "sbv",
    ".json": "json",
    ".json3": "json",
    ".jsonl": "json",
    ".epub": "epub",
    ".docx": "docx",
    ".docm": "docx",
    ".odt": "odt",
    ".rtf": "rtf",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".ppsx": "pptx",
    ".odp": "odp",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xlsb": "xlsx",
    ".xls": "xls",
    ".ods": "ods",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".ipynb": "notebook",
    ".rst": "rst",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".org": "org",
    ".tex": "latex",
    ".eml": "eml",
    ".mbox": "mbox",
    ".zip": "zip",
    ".tar": "tar",
    ".tgz": "tar",
    ".gz": "tar",
    ".bz2": "tar",
    ".xz": "tar",
    ".png": "picture",
    ".jpg": "picture",
    ".jpeg": "picture",
    ".tif": "picture",
    ".tiff": "picture",
    **{f".{name}": "code" for name in _CODE.split()},
    **{f".{name}": "data" for name in _DATA.split()},
}
"""What the suffix of a file promises."""
SUFFIXES = frozenset(SUFFIX_FORMATS)
"""The suffixes, in small letters, of the files that a walk through a folder picks up."""

HIDDEN = (".", "~$")
"""How the names of hidden files begin, and those of the locks of open Office files."""

FORMAT_NAMES: Mapping[Format, str] = {
    "pdf": "a PDF",
    "html": "HTML",
    "markdown": "Markdown",
    "spoken": "a transcript in Markdown",
    "timed": "a transcript with times",
    "text": "plain text",
    "vtt": "WebVTT captions",
    "srt": "SRT captions",
    "sbv": "SBV captions",
    "json": "JSON",
    "epub": "an EPUB book",
    "docx": "a Word document",
    "odt": "an OpenDocument text",
    "rtf": "RTF",
    "pptx": "PowerPoint slides",
    "odp": "OpenDocument slides",
    "xlsx": "a workbook",
    "xls": "an old workbook",
    "ods": "an OpenDocument workbook",
    "csv": "a table of text",
    "parquet": "Parquet",
    "notebook": "a Jupyter notebook",
    "code": "program text",
    "data": "a file of data",
    "rst": "reStructuredText",
    "asciidoc": "AsciiDoc",
    "org": "Org",
    "latex": "LaTeX",
    "eml": "a mail message",
    "mbox": "a mail box",
    "zip": "a ZIP archive",
    "tar": "a TAR archive",
    "picture": "a picture",
}
"""How a format is called in a sentence."""
KNOWN = (
    "PDF, Markdown, plain text, HTML, transcripts (SRT, WebVTT, SBV, JSON), EPUB, Word, RTF, "
    "OpenDocument, PowerPoint, workbooks, CSV, Parquet, notebooks, program text, JSON, YAML, TOML, "
    "XML, reStructuredText, AsciiDoc, Org, LaTeX, mail (EML, MBOX), archives (ZIP, TAR), and "
    "pictures of text (PNG, JPEG, TIFF)"
)
"""The formats that are read, for a sentence."""
_JSON_CUE = re.compile(r'"(?:tStartMs|start|start_time|begin|segments|timestamp)"\s*:')


def has_times(text: str) -> bool:
    """Return whether the beginning of a JSON text has the keys of a transcript."""
    return _JSON_CUE.search(text[: 1 << 16]) is not None


def is_wanted(path: Path) -> bool:
    """Return whether a folder scan includes the file: by suffix, sidecars excepted.

    A format whose package is not installed is left out, which is said at the end.
    """
    suffix = path.suffix.lower()
    if suffix in MEDIA_SUFFIXES:
        return is_installed("faster_whisper") and captions_beside(path) is None
    if suffix not in SUFFIXES or path.name.lower().endswith(SIDECARS):
        return False
    return install_line(suffix) is None


def install_line(suffix: str) -> str | None:
    """Return the command that installs what files of this suffix need, None if nothing."""
    if suffix in MEDIA_SUFFIXES and not is_installed("faster_whisper"):
        return "pip install 'quoth[speech]'"
    expected = SUFFIX_FORMATS.get(suffix)
    reader = READERS.get(expected) if expected else None
    return reader.missing() if reader else None

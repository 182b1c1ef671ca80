"""The formats that are read: their suffixes, their names, and the reader of each."""

from __future__ import annotations

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
    """The module and the function that read a format, and how it is called in a sentence.

    ``suffixes`` promise the format, without their full stops. ``extra`` has the package that it
    ``needs``.
    """

    function: str
    name: str
    suffixes: str = ""
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
        module, function = f"quoth.ingest.readers.{self.function}".rsplit(".", 1)
        document: ParsedDocument = getattr(import_module(module), function)(file)
        return document


_CODE = (
    "py pyi pyx js mjs cjs jsx ts tsx vue svelte java kt kts scala groovy c h cc cpp cxx hpp hh cs "
    "go rs rb php swift m mm sh bash zsh fish ps1 bat sql r jl lua pl pm hs ml mli ex exs erl clj "
    "cljs lisp el scm dart zig nim v vhd f90 f95 pas css scss less proto graphql tf cmake gradle"
)
_DATA = "yaml yml toml xml xsd ini cfg conf properties"

READERS: Mapping[Format, Reader] = {
    "pdf": Reader("pdf.reader.read_pdf_file", "a PDF", "pdf"),
    "html": Reader("neighbours.read_page", "HTML", "html htm xhtml"),
    "markdown": Reader("markdown.read_markdown", "Markdown", "md markdown"),
    "spoken": Reader("spoken_markdown.read_spoken", "a transcript in Markdown"),
    "timed": Reader("timed_lines.read_timed_lines", "a transcript with times"),
    "text": Reader("text.read_plain", "plain text", "txt text"),
    "vtt": Reader("captions.read_vtt", "WebVTT captions", "vtt"),
    "srt": Reader("captions.read_captions", "SRT captions", "srt"),
    "sbv": Reader("captions.read_captions", "SBV captions", "sbv"),
    "json": Reader("captions.read_json_transcript", "JSON", "json json3 jsonl"),
    "epub": Reader("epub.read_epub", "an EPUB book", "epub"),
    "docx": Reader(
        "docx.read_docx", "a Word document", "docx docm", extra="office", needs="mammoth"
    ),
    "odt": Reader("odt.read_odt", "an OpenDocument text", "odt"),
    "rtf": Reader("rtf.read_rtf", "RTF", "rtf", extra="office", needs="striprtf"),
    "pptx": Reader(
        "pptx.read_pptx", "PowerPoint slides", "pptx pptm ppsx", extra="office", needs="pptx"
    ),
    "odp": Reader("odp.read_odp", "OpenDocument slides", "odp"),
    "xlsx": Reader(
        "spreadsheet.read_spreadsheet",
        "a workbook",
        "xlsx xlsm xlsb",
        extra="office",
        needs="python_calamine",
    ),
    "xls": Reader("xls.read_xls", "an old workbook", "xls", extra="office", needs="olefile"),
    "ods": Reader("ods.read_ods", "an OpenDocument workbook", "ods"),
    "csv": Reader("delimited.read_delimited", "a table of text", "csv tsv"),
    "parquet": Reader("parquet.read_parquet", "Parquet", "parquet"),
    "notebook": Reader("notebook.read_notebook", "a Jupyter notebook", "ipynb"),
    "code": Reader("code.read_code", "program text", _CODE),
    "data": Reader("data_files.read_data_file", "a file of data", _DATA),
    "rst": Reader("restructuredtext.read_rst", "reStructuredText", "rst"),
    "asciidoc": Reader("asciidoc.read_asciidoc", "AsciiDoc", "adoc asciidoc"),
    "org": Reader("org.read_org", "Org", "org"),
    "latex": Reader("latex.read_latex", "LaTeX", "tex"),
    "eml": Reader("mail.read_eml", "a mail message", "eml"),
    "mbox": Reader("mail.read_mbox", "a mail box", "mbox"),
    "zip": Reader("archive.read_zip", "a ZIP archive", "zip"),
    "tar": Reader("archive.read_tar", "a TAR archive", "tar tgz gz bz2 xz"),
    "picture": Reader("pictures.read_picture", "a picture", "png jpg jpeg tif tiff", extra="ocr"),
}
"""The readers of all formats, imported when a file of theirs is read."""

SUFFIX_FORMATS: Mapping[str, Format] = {
    f".{suffix}": form for form, reader in READERS.items() for suffix in reader.suffixes.split()
}
"""What the suffix of a file promises."""
SUFFIXES = frozenset(SUFFIX_FORMATS)
"""The suffixes, in small letters, of the files that a walk through a folder picks up."""

HIDDEN = (".", "~$")
"""How the names of hidden files begin, and those of the locks of open Office files."""

PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
"""The first bytes of PNG, JPEG and TIFF files."""
KNOWN = (
    "PDF, Markdown, plain text, HTML, transcripts (SRT, WebVTT, SBV, JSON), EPUB, Word, RTF, "
    "OpenDocument, PowerPoint, workbooks, CSV, Parquet, notebooks, program text, JSON, YAML, TOML, "
    "XML, reStructuredText, AsciiDoc, Org, LaTeX, mail (EML, MBOX), archives (ZIP, TAR), and "
    "pictures of text (PNG, JPEG, TIFF)"
)
"""The formats that are read, for a sentence."""


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
    return READERS[expected].missing() if expected else None

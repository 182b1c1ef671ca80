"""Pictures of text (PNG, JPEG, TIFF) as the pages of a PDF document, which OCR reads."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from io import BytesIO

import pypdfium2 as pdfium2
from PIL import Image, ImageOps, ImageSequence

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.metadata import Metadata, file_title
from quoth.ingest.readers.source_file import SourceFile

MAX_PIXELS = 64_000_000
"""Pixels of one picture."""
MAX_PICTURES = 1_000
"""Pictures of one TIFF file."""
_FORMATS = ("PNG", "JPEG", "TIFF")
_LIKELY_DPI = (100, 1200)
"""Resolutions of scanners; any other is a guess of the program that saved the picture."""
_LONGEST_INCHES = 11.69
"""The long side of A4, which a picture without resolution is taken for."""
_SCREEN_DPI = 96
_DAMAGED = (
    *(OSError, EOFError, RuntimeError, SyntaxError, ValueError, TypeError, LookupError),
    *(ArithmeticError, AttributeError, struct.error, zlib.error),
)
"""What Pillow raises for damaged files."""


def read_picture(file: SourceFile) -> ParsedDocument:
    """Read a picture as the scan of a page; raises DocumentError."""
    from quoth.ingest.readers.pdf.reader import read_pdf_file  # which opens pictures by this module

    # The largest line that OCR reads in a picture is seldom its title.
    meta = file.meta.merged_with(Metadata(title=file_title(file.name)))
    return read_pdf_file(replace(file, meta=meta))


def open_picture(data: bytes, *, name: str) -> pdfium2.PdfDocument:
    """Return a document with a page for each picture of a file; raises DocumentError."""
    document = pdfium2.PdfDocument.new()
    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as pictures:
            for number, picture in enumerate(ImageSequence.Iterator(pictures)):
                if number == MAX_PICTURES or picture.width * picture.height > MAX_PIXELS:
                    raise DocumentError(
                        "too_large",
                        f"{name} has more than {MAX_PICTURES:,} pictures or {MAX_PIXELS // 10**6} "
                        "million pixels in one; split it or save it smaller.",
                    )
                _add_page(document, picture)
    except _DAMAGED as error:
        raise DocumentError(
            "damaged", f"{name} is damaged and cannot be opened as a picture; get the file again."
        ) from error
    except Image.DecompressionBombError as error:
        raise DocumentError("too_large", f"{name} has too many pixels; save it smaller.") from error
    return document


def _add_page(document: pdfium2.PdfDocument, picture: Image.Image) -> None:
    upright = ImageOps.exif_transpose(picture)
    stated = picture.info.get("dpi", (0, 0))[0]
    low, high = _LIKELY_DPI
    dpi = float(stated) if low <= stated <= high else 0.0
    dpi = dpi or max(_SCREEN_DPI, max(upright.size) / _LONGEST_INCHES)
    width, height = (72 * side / dpi for side in upright.size)
    content = BytesIO()
    _on_white(upright).save(content, "JPEG", quality=92)
    content.seek(0)
    image = pdfium2.PdfImage.new(document)
    image.load_jpeg(content, inline=True)
    image.set_matrix(pdfium2.PdfMatrix().scale(width, height))
    page = document.new_page(width, height)
    page.insert_obj(image)
    page.gen_content()
    page.close()


def _on_white(picture: Image.Image) -> Image.Image:
    """Return a picture in grey or colour, what is transparent in white."""
    if picture.mode in ("L", "RGB"):
        return picture
    if picture.mode == "1":
        return picture.convert("L")
    if picture.mode.startswith(("I", "F")):
        return picture.convert("I").point(lambda value: value / 256).convert("L")
    coloured = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), coloured).convert("RGB")

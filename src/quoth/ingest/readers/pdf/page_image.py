"""A PDF page drawn as a PNG image."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from quoth.core.errors import DocumentError
from quoth.core.page_images import PictureShape
from quoth.ingest.readers.pdf.reader import PDFIUM, open_pdf

MAX_HEIGHT = 8_000
"""Pixels; a page that would be higher is drawn smaller."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def draw_page(path: Path, *, page: int, width: int) -> bytes:
    """Return a page, counted from 1, as PNG of this width in pixels; raises DocumentError."""
    with _opened(path, page) as drawn:
        across, down = drawn.get_size()
        scale = min(width / across, MAX_HEIGHT / down)
        return png(drawn.render(scale=scale, rev_byteorder=True, prefer_bgrx=False))


def draw_pixels(path: Path, *, page: int, shape: PictureShape) -> bytes:
    """Return the red, green and blue of a page's pixels, row by row; raises DocumentError."""
    with _opened(path, page) as drawn:
        across, down = drawn.get_size()
        width, height = shape.width, shape.height
        if shape.shorter is not None:
            scale = shape.shorter / min(across, down)
            width, height = int(across * scale), int(down * scale)
        bitmap = pdfium2.PdfBitmap.new_native(
            shape.width, shape.height, pdfium.FPDFBitmap_BGR, rev_byteorder=True
        )
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, shape.width, shape.height)
        left, top = (width - shape.width) // 2, (height - shape.height) // 2
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, drawn, -left, -top, width, height, 0, flags)
        return _pixels(bitmap)


@contextmanager
def _opened(path: Path, page: int) -> Iterator[pdfium2.PdfPage]:
    """Open a page to be drawn; raises DocumentError."""
    with PDFIUM, closing(open_pdf(path)) as document:
        try:
            yield document[page - 1]
        except (pdfium2.PdfiumError, ZeroDivisionError) as error:
            raise DocumentError(
                "damaged", f"Page {page} of {path.name} cannot be drawn."
            ) from error


def png(bitmap: pdfium2.PdfBitmap) -> bytes:
    """Write an RGB bitmap as PNG: in grey where it has no colour, as most pages."""
    width, height, length = bitmap.width, bitmap.height, 3 * bitmap.width
    pixels = _pixels(bitmap)
    red = pixels[0::3]
    grey = red == pixels[1::3] == pixels[2::3]
    if grey:
        pixels, length = red, width
    rows = b"".join(b"\x00" + pixels[at : at + length] for at in range(0, height * length, length))
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in parts)


def _pixels(bitmap: pdfium2.PdfBitmap) -> bytes:
    buffer, length = memoryview(bitmap.buffer), 3 * bitmap.width
    starts = range(0, bitmap.height * bitmap.stride, bitmap.stride)
    return b"".join(buffer[at : at + length] for at in starts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

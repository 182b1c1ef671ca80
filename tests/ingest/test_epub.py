"""E-books: reading order, outline, printed pages, notes, and protection."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from quoth.core.errors import DocumentError
from quoth.core.types import Pages
from quoth.ingest.readers.registry import read
from quoth.text.links import link
from quoth.text.locators import label
from tests.conftest import FIXTURES
from tests.support.passages import document_at

TIDES = FIXTURES / "documents" / "tides.epub"
BEES = FIXTURES / "documents" / "bees.epub"


def changed(change: Callable[[str, bytes], bytes | None], **more: str) -> bytes:
    """The tide book with some of its members changed or left out."""
    made = io.BytesIO()
    with zipfile.ZipFile(TIDES) as book, zipfile.ZipFile(made, "w") as copy:
        for info in book.infolist():
            data = change(info.filename, book.read(info))
            if data is not None:
                copy.writestr(info.filename, data)
        for name, text in more.items():
            copy.writestr(name, text)
    return made.getvalue()


def test_a_book_says_what_it_is() -> None:
    book = read(TIDES)
    assert (book.kind, book.title, book.speaker) == ("book", "The tide book", "Mara Quay, Ivo Pier")
    assert (book.language, book.date) == ("en", "1911-06-01")


def test_pages_are_those_of_the_printed_book() -> None:
    book = read(TIDES)
    assert book.labels == ("front", "ii", "1", "2", "3")
    at = book.text.index("Ports close")
    (place,) = [each for each in book.places if each.start <= at < each.end]
    assert label(place.locator) == "p. 3"
    assert link(place.locator, document_at("/tides.epub")) == (
        "file:///tides.epub#OPS/text/two.xhtml#p3"
    )
    across = next(each for each in book.places if book.text[each.start :].startswith("At new"))
    assert isinstance(across.locator, Pages)
    assert (across.locator.label_first, across.locator.label_last) == ("1", "2")


def test_sections_follow_the_outline() -> None:
    assert [(section.path, section.anchor) for section in read(TIDES).sections] == [
        (("Preface",), "OPS/preface.xhtml"),
        (("1 The moon",), "OPS/text/one tide.xhtml#c1"),
        (("1 The moon", "Spring tides"), "OPS/text/one tide.xhtml#spring"),
        (("2 The harbour",), "OPS/text/two.xhtml#p3"),
    ]


def test_a_file_is_read_once_where_each_of_its_sections_is_an_entry(tmp_path: Path) -> None:
    entries = ("", "#spring", "#none")
    items = "".join(
        f"<item id='c{entry}' href='text/one%20tide.xhtml{entry}'"
        " media-type='application/xhtml+xml'/>"
        for entry in entries
    )
    places = "".join(f"<itemref idref='c{entry}'/>" for entry in entries)

    def add_entries(name: str, data: bytes) -> bytes:
        if not name.endswith(".opf"):
            return data
        text = data.decode().replace("</manifest>", f"{items}</manifest>")
        return text.replace("</spine>", f"{places}</spine>").encode()

    (tmp_path / "tides.epub").write_bytes(changed(add_entries))
    book, plain = read(tmp_path / "tides.epub"), read(TIDES)
    assert (book.text, book.sections, book.places) == (plain.text, plain.sections, plain.places)


def test_notes_and_tables() -> None:
    text = read(TIDES).text
    assert "towards itself[1] twice a day." in text
    assert "1 Newton explained it in 1687." in text
    assert "Port: Saint-Malo | Range: 12 m" in text
    assert not any("\ue000" <= character <= "\uf8ff" for character in text)


def test_without_printed_pages_a_place_is_a_section() -> None:
    book = read(BEES)
    at = book.text.index("Each box holds")
    (place,) = [each for each in book.places if each.start <= at < each.end]
    assert (book.pages, label(place.locator)) == (None, "The hive ▸ Frames")
    assert (link(place.locator, document_at("/b.epub")) or "").endswith(
        "b.epub#EPUB/text/ch001.xhtml#frames"
    )


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="{}"/>'
    "</EncryptedData></encryption>"
)


@pytest.mark.parametrize(
    ("part", "scheme"),
    [("META-INF/rights.xml", "Adobe ADEPT"), ("META-INF/license.lcpl", "Readium LCP")],
)
def test_a_protected_book_is_refused_by_name(tmp_path: Path, part: str, scheme: str) -> None:
    aes = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")
    data = changed(lambda _name, data: data, **{"META-INF/encryption.xml": aes, part: "<x/>"})
    (tmp_path / "book.epub").write_bytes(data)
    with pytest.raises(DocumentError, match=scheme) as caught:
        read(tmp_path / "book.epub")
    assert caught.value.code == "encrypted"


def test_fonts_that_are_obscured_do_not_protect_a_book(tmp_path: Path) -> None:
    fonts = ENCRYPTION.format("http://www.idpf.org/2008/embedding")
    data = changed(lambda _name, data: data, **{"META-INF/encryption.xml": fonts})
    (tmp_path / "book.epub").write_bytes(data)
    assert read(tmp_path / "book.epub").labels[-1] == "3"


def test_a_chapter_that_is_missing_does_not_stop_the_book(tmp_path: Path) -> None:
    data = changed(lambda name, data: None if "two" in name else data)
    (tmp_path / "book.epub").write_bytes(data)
    assert "The moon draws" in read(tmp_path / "book.epub").text


def test_contents_within_a_book_are_left_out(tmp_path: Path) -> None:
    chapters = "".join(f"<li><a href='{name}.xhtml'>{name}</a></li>" for name in ("one", "two"))
    added = (
        f"<div class='toctree-wrapper'><ul>{chapters}</ul></div><nav><ol>{chapters}</ol></nav>"
        "<section id='toc'><p>Total organic carbon, <a href='one.xhtml'>see it</a>.</p></section>"
        "<label><a href='#p7'>7</a></label>"
        "<p id='p7'><a href='one.xhtml#r1'>1. Smith, History of England, page 1.</a></p>"
    )
    data = changed(
        lambda name, data: (
            data.replace(b"</body>", f"{added}</body>".encode()) if "preface" in name else data
        )
    )
    (tmp_path / "book.epub").write_bytes(data)
    text = read(tmp_path / "book.epub").text
    assert "- one" not in text
    assert "Total organic carbon, see it.\n\n1. Smith, History of England, page 1." in text

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from types import ModuleType

import pypdfium2
import pytest

from quoth.core.errors import DocumentError
from quoth.core.types import Box, Pages, ParsedDocument
from quoth.ingest.readers.pdf.glyphs import Glyph, may_part
from quoth.ingest.readers.pdf.lines import PrintedLine
from quoth.ingest.readers.pdf.marks import mark_lines
from quoth.ingest.readers.pdf.outline import PdfOutlineEntry, find_lines
from quoth.ingest.readers.pdf.page_marks import MarkedLine
from quoth.ingest.readers.pdf.reader import read_pdf

FIXTURES = Path(__file__).parents[1] / "fixtures"
PDFS = FIXTURES / "pdf"
SHARED = Path(__file__).parents[2].parent / "shared" / "data"
READABLE = ("book.pdf", "furnished.pdf", "columns.pdf", "partly_scanned.pdf", "turned.pdf")


def shared(*names: str) -> Path:
    path = SHARED.joinpath(*names)
    if not path.exists():
        pytest.skip("the larger data sets are not here")
    return path


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pdfs", FIXTURES / "make_pdfs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages_of(place: object) -> Pages:
    assert isinstance(place, Pages)
    return place


def assert_places_hold(reading: ParsedDocument, *, path: Path) -> None:
    """The promises of `Reading`, and boxes that lie on their page."""
    covered = 0
    for place in reading.places:
        assert covered <= place.start < place.end <= len(reading.text)
        assert not reading.text[covered : place.start].strip()
        assert reading.text[place.start : place.end].strip()
        covered = place.end
    assert not reading.text[covered:].strip()
    document = pypdfium2.PdfDocument(path)
    boxes = {number: document[number - 1].get_bbox() for number in range(1, len(document) + 1)}
    document.close()
    for place in reading.places:
        locator = pages_of(place.locator)
        (box,) = locator.boxes
        left, bottom, right, top = boxes[locator.first]
        assert locator.first == locator.last == box.page
        assert left - 1 <= box.x0 <= box.x1 <= right + 1
        assert bottom - 1 <= box.y0 <= box.y1 <= top + 1
    assert [s.start for s in reading.sections] == sorted(s.start for s in reading.sections)
    for before, after in zip(reading.sections, reading.sections[1:], strict=False):
        assert before.end <= after.start


def printed_lines(reading: ParsedDocument) -> list[str]:
    return [reading.text[place.start : place.end] + place.hyphen for place in reading.places]


def page_at(reading: ParsedDocument, offset: int) -> Pages:
    starts = [place.start for place in reading.places]
    return pages_of(reading.places[bisect_right(starts, offset) - 1].locator)


def test_fixtures_are_those_of_the_script() -> None:
    for name, make in maker().FIXTURES.items():
        assert (PDFS / name).read_bytes() == make(), f"run make_pdfs.py again for {name}"


@pytest.mark.parametrize("name", READABLE)
def test_places_cover_the_text_and_lie_on_the_page(name: str) -> None:
    assert_places_hold(read_pdf(PDFS / name), path=PDFS / name)


def test_text_reads_as_it_was_written() -> None:
    module = maker()
    reading = read_pdf(PDFS / "book.pdf")
    plain = [text.replace("~", "") for text in (module.PARAGRAPH, module.SECOND, module.THIRD)]
    keeper, storm = plain[0].replace("\x01", "fi"), f"{plain[1]} {plain[2]}"
    assert reading.text.split("\n\n") == [
        "Preface",
        "This small book was made to be read by a program, and by nobody else.",
        "It has two pages before the text begins.",
        "1 The Keeper",
        keeper,
        storm,
        "1.1 The Boats",
        "In spring the boats came back.",
    ]


def test_broken_words_are_joined_and_the_printed_line_can_be_had_back() -> None:
    module = maker()
    lines = printed_lines(read_pdf(PDFS / "book.pdf"))
    printed = [line.replace("\x01", "fi") for line in module.wrap(module.PARAGRAPH, width=201)]
    assert [line for line in lines if line in printed] == printed
    assert any(line.endswith("even-") for line in printed)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("ci", "dessus", "ci-dessus"),
        ("ex", "ample", "example"),
    ],
)
def test_some_parts_of_words_keep_their_hyphen(
    before: str, after: str, word: str, tmp_path: Path
) -> None:
    pdf = maker().Pdf()
    lines = f"(What was said about it {before}-) Tj 0 -14 Td ({after} is not said again.) Tj"
    pdf.page(f"BT /F1 11 Tf 60 700 Td {lines} ET")
    (tmp_path / "broken.pdf").write_bytes(pdf.bytes())
    found = read_pdf(tmp_path / "broken.pdf")
    assert found.text == f"What was said about it {word} is not said again."


@pytest.mark.parametrize("between", ["", "\\003"])
def test_ligatures_at_the_codes_of_tex_are_read(between: str, tmp_path: Path) -> None:
    pdf = maker().Pdf()
    first = f"The speci\\034c o\\036ce{between} at the co\\033ee dif-"
    pdf.page(f"BT /F1 11 Tf 60 700 Td ({first}) Tj 0 -14 Td (ferent \\034 3) Tj ET")
    (tmp_path / "tex.pdf").write_bytes(pdf.bytes())
    found = read_pdf(tmp_path / "tex.pdf")
    assert found.text == "The specific office at the coffee different 3"
    place, word = found.places[0], found.text.index("office")
    assert isinstance(place.locator, Pages)
    line = MarkedLine(found.text[: place.end], word, word + len("office"), place.locator.boxes[0])
    (page,) = mark_lines(tmp_path / "tex.pdf", [line])
    assert page.rectangles is not None
    ((left, _, right, _),) = page.rectangles
    assert 0.1 < left < right < 0.5


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ("while|they|run|it,|then|by|any", "while they run it, then by any"),
        ("out|of|a|hat", "out of a hat"),
        ("c|h|a|p|t|e|r", "chapter"),
        ("and so| |c|h|a|p|t|e|r| |of the sea", "and so chapter of the sea"),
        ("values| |3|0| |of it", "values 3 0 of it"),
    ],
)
def test_words_set_at_their_own_places_are_parted(pieces: str, text: str, tmp_path: Path) -> None:
    pdf, drawn, x = maker().Pdf(), "", 60.0
    for piece in pieces.split("|"):
        drawn += f"1 0 0 1 {x} 700 Tm ({piece}) Tj "
        width = 5.56 if piece.isdigit() else maker().measure(piece, size=10)
        x += width + 1.9 * (piece != " ")
    pdf.page(f"BT /F1 10 Tf {drawn} ET")
    (tmp_path / "placed.pdf").write_bytes(pdf.bytes())
    assert read_pdf(tmp_path / "placed.pdf").text == text


@pytest.mark.parametrize(("text", "parts"), [("a,b", True), ("1,b", True), ("1,0", False)])
def test_no_space_is_added_within_a_number(text: str, parts: bool) -> None:
    glyphs: list[Glyph] = [(each, 0.0, 0.0, 0.0, 0.0) for each in text]
    assert may_part(glyphs, 2) is parts


def test_accents_that_tex_draws_apart_are_put_on_their_letters(tmp_path: Path) -> None:
    module, drawn = maker(), ""
    lines = ("Depuis EXP´ERIENCES ouvrir un menu en FRAN¸CAIS.", "´Etudier une photor´esistance.")
    for y, line in zip((700.0, 680.0), lines, strict=True):
        x = 60.0
        for piece in re.findall("[´¸]?[^´¸]+", line):
            letters = piece.lstrip("´¸")
            if letters != piece:
                accent_y = y + 2.3 * (piece[0] == "´" and letters[0].isupper())
                drawn += f"1 0 0 1 {x + 2} {accent_y} Tm ({piece[0]}) Tj "
            drawn += f"1 0 0 1 {x} {y} Tm ({letters}) Tj "
            x += module.measure(letters, size=11)
    pdf = module.Pdf()
    pdf.page(f"BT /F1 11 Tf {drawn} ET")
    (tmp_path / "accents.pdf").write_bytes(pdf.bytes())
    found = read_pdf(tmp_path / "accents.pdf")
    first, second = "Depuis EXPÉRIENCES ouvrir un menu en FRANÇAIS.", "Étudier une photorésistance."
    assert found.text == f"{first}\n\n{second}"
    (box,) = pages_of(found.places[1].locator).boxes
    assert box.y1 > 680 + 0.718 * 11 + 1.5  # the accent, above the capital
    (page,) = mark_lines(tmp_path / "accents.pdf", [MarkedLine(second, 0, 7, box)])
    assert page.rectangles is not None


@pytest.mark.parametrize(
    ("at", "marked"),
    [(150, ["KASHKARI", "247"]), (110, None)],
    ids=["between the words", "over a word"],
)
def test_a_mark_covers_no_glyphs_of_another_cell(
    at: int, marked: list[str] | None, tmp_path: Path
) -> None:
    pdf = maker().Pdf()
    name, party = "[(NEEL KASHKARI) -4000 (247)]", "[(REP) -6000 (NO)]"
    pdf.page(f"BT /F1 10 Tf 1 0 0 1 60 700 Tm {name} TJ 1 0 0 1 {at} 700 Tm {party} TJ ET")
    (tmp_path / "table.pdf").write_bytes(pdf.bytes())
    line = MarkedLine("NEEL KASHKARI 247", 5, 17, Box(1, 60, 690, 220, 710))
    (page,) = mark_lines(tmp_path / "table.pdf", [line])
    assert (page.rectangles is None) == (marked is None)
    if page.rectangles is not None:
        with pypdfium2.PdfDocument(tmp_path / "table.pdf") as document:
            text = document[0].get_textpage()
            under = [
                text.get_text_bounded(
                    left * page.width,
                    (1 - bottom) * page.height,
                    right * page.width,
                    (1 - top) * page.height,
                )
                for left, top, right, bottom in page.rectangles
            ]
        assert [words.strip() for words in under] == marked


def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other(tmp_path: Path) -> None:
    right, left = (
        maker().wrap(text, width=200) for text in (maker().COLUMN_ONE, maker().COLUMN_TWO)
    )
    pdf = maker().Pdf()
    pdf.page(
        "\n".join(
            maker().draw(line, x=x, y=y - 14 * n)
            for n, row in enumerate(zip_longest(right, left, fillvalue=""))
            for x, y, line in zip((300, 60), (706, 700), row, strict=True)
        )
    )
    (tmp_path / "rows.pdf").write_bytes(pdf.bytes())
    text = read_pdf(tmp_path / "rows.pdf").text
    assert " ".join(text.split()) == " ".join([*left, *right])


def test_running_heads_and_page_numbers_are_left_out() -> None:
    lines = printed_lines(read_pdf(PDFS / "book.pdf"))
    assert "The Lighthouse Book" not in lines
    assert not {"i", "ii", "1", "2", "3"} & set(lines)


def test_what_repeats_on_pages_is_left_out_and_cuts_no_sentence() -> None:
    reading = read_pdf(PDFS / "furnished.pdf")
    cover, text = reading.text.split("\n\n", 1)
    make = maker()
    story = " ".join([make.PARAGRAPH, make.SECOND, make.THIRD] * 3)
    assert cover == "The Lighthouse Book"
    assert re.sub(r"\W", "", text) == re.sub(r"\W", "", story.replace("\x01", "fi"))
    assert "\n\n" not in text


@pytest.mark.parametrize("pages", [1, 4])
@pytest.mark.parametrize(
    ("names", "row"),
    [
        ("No. Week Births Fires Floods", "{0} Week {0} {1} {2} 0"),
        ("Town Week Open", "Bern {0} yes"),
    ],
)
def test_no_cell_of_a_table_over_several_pages_is_left_out(
    names: str, row: str, pages: int, tmp_path: Path
) -> None:
    module = maker()
    pdf = module.Pdf()
    rows: list[str] = []
    for page in range(pages):
        own = [row.format(12 * page + n, 300 + n * 7 % 90, n % 2) for n in range(1, 13)]
        parts = [module.draw("Register of the northern towns", x=60, y=715, size=6)]
        for line, cells in enumerate([names, *own]):
            for column, cell in enumerate(cells.split(" ")):
                parts.append(module.draw(cell, x=60 + 28 * column, y=700 - 7 * line, size=6))
        pdf.page("\n".join(parts))
        rows += own
    (tmp_path / "towns.pdf").write_bytes(pdf.bytes())
    lines = [line for line in read_pdf(tmp_path / "towns.pdf").text.splitlines() if line]
    assert [line for line in lines if line in rows] == rows
    assert lines.count(names) == pages


@pytest.mark.parametrize("every", [2, 3])
def test_no_row_of_the_same_words_is_left_out_whatever_its_distance(
    every: int, tmp_path: Path
) -> None:
    module = maker()
    pdf = module.Pdf()
    rows: list[str] = []
    for page in range(4):
        parts, y = [], 700
        for n in range(12):
            rows.append(f"Week {12 * page + n} open until noon")
            parts += [module.draw(rows[-1][:-16], x=60, y=y, size=8)]
            parts += [module.draw("open until noon", x=180, y=y, size=8)]
            y -= 12 if n % every else 24
        pdf.page("\n".join(parts))
    (tmp_path / "weeks.pdf").write_bytes(pdf.bytes())
    assert read_pdf(tmp_path / "weeks.pdf").text.split() == " ".join(rows).split()


def test_cells_that_are_drawn_one_by_one_stay_in_their_row(tmp_path: Path) -> None:
    module = maker()
    pdf = module.Pdf()
    rows = [f"{n} Week {n} {300 + n * 7 % 90} {n % 2} 0" for n in range(1, 13)]
    cells = [
        module.draw(cell, x=60 + 60 * column, y=700 - 8 * line, size=6)
        for line, row in enumerate(rows)
        for column, cell in enumerate(row.split(" "))
    ]
    pdf.page("\n".join(cells))
    (tmp_path / "weeks.pdf").write_bytes(pdf.bytes())
    assert read_pdf(tmp_path / "weeks.pdf").text.splitlines() == rows


def test_page_labels_and_numbers() -> None:
    reading = read_pdf(PDFS / "book.pdf")
    assert reading.pages == 5
    assert reading.labels == ("i", "ii", "1", "2", "3")
    boats = page_at(reading, reading.text.index("In spring"))
    assert (boats.first, boats.label_first) == (5, "3")


@pytest.mark.parametrize(
    ("first", "title"), [("Tides of the North", "Tides of the North"), ("Preface", "tides")]
)
def test_a_preface_is_not_the_title_of_a_book(first: str, title: str, tmp_path: Path) -> None:
    module = maker()
    pdf = module.Pdf()
    body = module.show(module.wrap(module.PARAGRAPH, width=250), y=600)
    pdf.page(module.draw(first, x=70, y=650, size=20) + body)
    (tmp_path / "tides.pdf").write_bytes(pdf.bytes())
    assert read_pdf(tmp_path / "tides.pdf").title == title


@pytest.mark.parametrize(
    ("stated", "author"),
    [("Ada Berg, Noor Vos", "Ada Berg, Noor Vos"), ("e516160", None), ("Windows User", None)],
)
def test_the_author_is_whom_the_file_names(stated: str, author: str | None, tmp_path: Path) -> None:
    module = maker()
    pdf = module.Pdf()
    pdf.page(module.show(module.wrap(module.PARAGRAPH, width=250), y=600))
    info = pdf.add(f"<< /Author ({stated}) >>")
    (tmp_path / "tides.pdf").write_bytes(pdf.bytes(trailer=f"/Info {info} 0 R"))
    assert read_pdf(tmp_path / "tides.pdf").speaker == author


def test_only_lines_that_follow_one_another_are_one_title(tmp_path: Path) -> None:
    module = maker()
    pdf = module.Pdf()
    large = [("Tides of", 680), ("the North", 656), ("Contents", 300)]
    titles = "\n".join(module.draw(text, x=70, y=y, size=20) for text, y in large)
    body = module.show(module.wrap(module.PARAGRAPH, width=250), y=600)
    pdf.page(f"{titles}\n{body}")
    (tmp_path / "t.pdf").write_bytes(pdf.bytes())
    assert read_pdf(tmp_path / "t.pdf").title == "Tides of the North"


def test_outline_becomes_sections_with_their_paths() -> None:
    reading = read_pdf(PDFS / "book.pdf")
    assert [section.path for section in reading.sections] == [
        ("Preface",),
        ("1 The Keeper",),
        ("1 The Keeper", "1.1 The Boats"),
    ]
    heads = [reading.text[s.start : s.end].split("\n\n")[0] for s in reading.sections]
    assert heads == ["Preface", "1 The Keeper", "1.1 The Boats"]


def made_line(text: str, height: float) -> PrintedLine:
    """A line of the first page."""
    edges = (70.0, height, 300.0, height + 10)
    return PrintedLine(1, text, Box(1, *edges), *edges, baseline=height, size=10.0)


def test_a_title_bears_the_number_that_is_printed_before_it() -> None:
    line = made_line
    lines = [
        *(line("CHAPTER TWO", 700), line("Keepers of the", 680), line("Light", 668)),
        *(line("The light was lit.", 640), line("2.1 Oil", 600), line("A can of oil.", 580)),
    ]
    outline = [
        PdfOutlineEntry(("Keepers of the Light",), 1, 690.0),
        PdfOutlineEntry(("Keepers of the Light", "Oil"), 1, 612.0),
    ]
    found = find_lines(outline, {1: lines})
    assert [entry.path for entry in found] == [
        ("CHAPTER TWO Keepers of the Light",),
        ("CHAPTER TWO Keepers of the Light", "2.1 Oil"),
    ]
    assert [(entry.line, entry.tail) for entry in found] == [
        (lines[0], lines[2]),
        (lines[4], lines[4]),
    ]


def test_a_number_of_a_drawing_is_not_that_of_the_title_below_it() -> None:
    lines = [made_line("4", 700), made_line("1.2 Metric spaces", 680), made_line("A metric.", 640)]
    (found,) = find_lines([PdfOutlineEntry(("1.2 Metric spaces",), 1, 690.0)], {1: lines})
    assert found.path == ("1.2 Metric spaces",)


def test_a_title_between_numbered_ones_has_the_number_between() -> None:
    texts = ["3.1 Tides", "e Harbour", "3.3 Boats", "Nets", "3.7 Fish"]
    lines = [made_line(text, 700 - 60 * at) for at, text in enumerate(texts)]
    titles = ["Tides", "The Harbour", "Boats", "Nets", "Fish"]
    outline = [
        PdfOutlineEntry((title,), 1, line.box.y1) for title, line in zip(titles, lines, strict=True)
    ]
    found = [entry.path[-1] for entry in find_lines(outline, {1: lines})]
    assert found == ["3.1 Tides", "3.2 The Harbour", "3.3 Boats", "Nets", "3.7 Fish"]


def test_a_turned_page_reads_upright_and_keeps_the_box_of_its_user_space() -> None:
    reading = read_pdf(PDFS / "turned.pdf")
    assert reading.text == maker().COLUMN_TWO.strip()
    (box,) = pages_of(reading.places[0].locator).boxes
    assert box.y1 - box.y0 > 5 * (box.x1 - box.x0)


def test_a_page_that_is_an_image_is_named_in_a_warning() -> None:
    (warning,) = read_pdf(PDFS / "partly_scanned.pdf").warnings
    assert warning.startswith("Page 2:")
    assert "OCR" in warning


def test_a_page_whose_fonts_have_no_unicode_map_is_said_to_be_unreadable(tmp_path: Path) -> None:
    reading = read_pdf(PDFS / "unmapped.pdf")
    assert reading.text == maker().COLUMN_ONE.strip()
    (warning,) = reading.warnings
    assert warning.startswith(("Page 2: unreadable and left out", "Page 2: left out, since OCR"))
    path = tmp_path / "hive.pdf"
    path.write_bytes(maker().unmapped(readable=False))
    with pytest.raises(DocumentError, match="unreadable") as failure:
        read_pdf(path)
    assert failure.value.code == "needs_ocr"


def write(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (write("none.pdf", b""), "empty"),
        (lambda _: PDFS / "blank.pdf", "empty"),
        (lambda _: PDFS / "scan.pdf", "needs_ocr"),
        (lambda _: PDFS / "locked.pdf", "encrypted"),
        (write("text.pdf", b"This is a letter, whatever its name says."), "unsupported"),
        (write("half.pdf", (PDFS / "book.pdf").read_bytes()[:40]), "damaged"),
        (lambda folder: folder / "nowhere.pdf", "not_found"),
        (lambda folder: folder, "unreadable"),
    ],
)
def test_each_bad_file_has_its_code(
    make: Callable[[Path], Path], code: str, tmp_path: Path
) -> None:
    with pytest.raises(DocumentError) as caught:
        read_pdf(make(tmp_path))
    assert caught.value.code == code
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("seed", range(40))
def test_a_mutilated_file_is_read_or_refused_but_never_anything_else(
    seed: int, tmp_path: Path
) -> None:
    content = bytearray((PDFS / "book.pdf").read_bytes())
    for step in range(30):
        content[(seed * 7919 + step * 104_729) % len(content)] = (seed * 31 + step * 17) % 256
    path = tmp_path / "mutilated.pdf"
    path.write_bytes(content)
    try:
        reading = read_pdf(path)
    except DocumentError:
        return
    assert reading.text.encode()
    assert all(place.end <= len(reading.text) for place in reading.places)


def test_control_characters_do_not_reach_the_text() -> None:
    path = shared("pdfs", "py-pdf__GeoTopo-komprimiert.pdf")
    text = read_pdf(path).text
    assert not [c for c in set(text) if (ord(c) < 32 and c != "\n") or c in "\ufffe\uffff\u00ad"]
    assert text.encode()


@pytest.mark.parametrize(
    "name", ["pdf.js__tracemonkey.pdf", "py-pdf__multicolumn.pdf", "pdf.js__rotation.pdf"]
)
def test_real_files_keep_the_promises(name: str) -> None:
    path = shared("pdfs", name)
    assert_places_hold(read_pdf(path), path=path)


def test_a_sentence_goes_on_below_a_line_that_cannot_end_it(tmp_path: Path) -> None:
    # A word in another font sets the lines of a paragraph as far apart as paragraphs.
    lines = [
        "The database holds records of four kinds, named INDI, FAM, SOUR and",
        "EVEN, which begin with a number and are followed by further lines.",
        "The keeper of the light goes up the stairs again at four of the clock",
        "Oil is brought by boat in the spring and again before the autumn",
        "- Salt water is no use for it, as the keepers have found out and",
        "- Tallow smokes, so that nobody on a ship would see the light at all",
        "Is it true that the lamp of a small light can be filled by hand? No",
        "Is it true that the lamp of a large light can be filled by hand? No",
    ]
    pdf = maker().Pdf()
    drawn = (maker().draw(line, x=60, y=700 - 19 * n, size=10) for n, line in enumerate(lines))
    pdf.page("\n".join(drawn))
    (tmp_path / "wide.pdf").write_bytes(pdf.bytes())
    assert read_pdf(tmp_path / "wide.pdf").text.split("\n\n") == [" ".join(lines[:2]), *lines[2:]]


def test_a_sentence_over_two_columns_is_in_one_piece() -> None:
    text = read_pdf(shared("pdfs", "pdf.js__tracemonkey.pdf")).text
    assert "recording and compiling a trace speculates that the path and typing will be" in text
    assert "a naïve implementation" in text


@pytest.mark.soak
def test_a_whole_book_with_roman_and_arabic_labels() -> None:
    path = shared("sicp-lectures", "sicp.pdf")
    reading = read_pdf(path)
    assert_places_hold(reading, path=path)
    assert (reading.pages, reading.labels[28], len(reading.sections)) == (894, "1", 140)
    (section,) = [s for s in reading.sections if s.path[-1].endswith("Expressions")][:1]
    assert page_at(reading, section.start).label_first == "7"
    assert "the interpreter will respond by printing ⁵" in reading.text
    assert "AI Journal 14: 1-39." in reading.text
    assert "(define (abs x)\n  (if (< x 0)\n" in reading.text

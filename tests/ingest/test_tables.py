"""Sheets and tables: rows with their headers, numbers as people see them, within bounds."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from pptx import Presentation
from pptx.util import Cm
from xlsxwriter import Workbook

from quoth.ingest.readers import sheets
from quoth.ingest.readers.number_formats import CellValue, parse_format, show_value
from quoth.ingest.readers.registry import read
from quoth.ingest.readers.rows import Cell, mark_header, spanned_blocks
from quoth.text.locators import label
from tests.conftest import FIXTURES

DOCUMENTS = FIXTURES / "documents"


def rows_of(path: Path) -> dict[str, str]:
    """The text of every place by its label."""
    table = read(path)
    return {label(each.locator): table.text[each.start : each.end] for each in table.places}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("fish.xlsx", "Day: 2024-05-03 | Tonnes: 41.5 | Share: 41.5% | Value: € 120,500.00"),
        ("fish.ods", "Day: 03/05/2024 | Tonnes: 41.5 | Share: 41.5% | Value: € 120,500.00"),
        ("fish.xls", "Day: 2024-05-03 | Tonnes: 41.5 | Share: 41.5% | Value: € 120,500.00"),
    ],
)
def test_a_workbook_by_sheet_and_row(name: str, row: str) -> None:
    rows = rows_of(DOCUMENTS / name)
    assert rows["Landings ▸ row 1"] == "Landings by port"
    assert rows["Landings ▸ row 4"] == f"Port: Brixham | {row}"
    assert rows["Notes ▸ row 2"] == "Weights are of gutted fish."


@pytest.mark.parametrize("suffix", [".xlsx", ".xls", ".ods"])
def test_a_cell_that_is_an_error_is_read_as_the_sheet_shows_it(suffix: str) -> None:
    rows = rows_of(DOCUMENTS / f"errors{suffix}")
    assert rows["Rates ▸ row 2"] == "Currency: Franc | Units: 0 | Rate: #DIV/0!"
    assert rows["Rates ▸ row 3"] == "Currency: Crown | Units: 4 | Rate: #N/A"
    assert rows["Rates ▸ row 4"] == "Currency: Dinar | Units: 5 | Rate: #VALUE!"
    assert rows["Rates ▸ row 6"] == "Currency: Lira | Units: 8 | Rate: 0.125"


def test_cells_of_a_web_page_may_span_rows_and_columns(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<title>T</title><table><tr><th rowspan=2>Coast<th colspan=2>May<th colspan=2>June"
        "<tr><th>Nests<th>Eggs<th>Nests<th>Eggs"
        "<tr><td rowspan=2>North<td>40<td>160<td><td>7<tr><td>41<td>161<td>1<td>2"
        "<tr><td colspan=5>Counted by hand.<tr><td><td></table>"
        "<table><tr><th><th>2019<th>2020<tr><th>Sales<td>5<td>6</table>"
    )
    assert read(tmp_path / "a.html").text.split("\n\n") == [
        "Coast | May | June",
        "Nests | Eggs | Nests | Eggs",
        "Coast: North | May Nests: 40 | May Eggs: 160 | June Eggs: 7",
        "Coast: North | May Nests: 41 | May Eggs: 161 | June Nests: 1 | June Eggs: 2",
        "Counted by hand.",
        "2019 | 2020",
        "Sales | 2019: 5 | 2020: 6",
    ]


MARKS = [
    [("Student", 1, 2), ("Session 1", 2, 1), ("Session 2", 2, 1)],
    [("Written", 1, 1), ("Oral", 1, 1), ("Written", 1, 1), ("Oral", 1, 1)],
    [("Ada", 1, 1), ("15", 1, 1), ("12", 1, 1), ("excused", 2, 1)],
    [("Ben", 1, 1), ("absent", 4, 1)],
]
"""Cells with the columns and rows that they span; those below one that spans rows are left out."""


def _write_odt(path: Path) -> None:
    rows = "".join(
        "<t:table-row>"
        + "".join(
            f'<t:table-cell t:number-columns-spanned="{columns}" t:number-rows-spanned="{rows}">'
            f"<x:p>{text}</x:p></t:table-cell>" + "<t:covered-table-cell/>" * (columns - 1)
            for text, columns, rows in row
        )
        + "</t:table-row>"
        for row in MARKS
    )
    name = "urn:oasis:names:tc:opendocument:xmlns"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f'<o:document-content xmlns:o="{name}:office:1.0" xmlns:x="{name}:text:1.0" '
            f'xmlns:t="{name}:table:1.0"><o:body><o:text><t:table>{rows}</t:table>'
            "</o:text></o:body></o:document-content>",
        )


def _write_docx(path: Path) -> None:
    rows = ""
    for at, row in enumerate(MARKS):
        cells = [
            f'<w:tc><w:tcPr><w:gridSpan w:val="{columns}"/>'
            + ('<w:vMerge w:val="restart"/>' if down > 1 else "")
            + f"</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"
            for text, columns, down in row
        ]
        if at == 1:
            cells.insert(0, "<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>")
        rows += f"<w:tr>{''.join(cells)}</w:tr>"
    with (
        zipfile.ZipFile(DOCUMENTS / "bees.docx") as old,
        zipfile.ZipFile(path, "w") as new,
    ):
        for part in old.namelist():
            text = old.read(part).decode("utf-8")
            if part == "word/document.xml":
                text = re.sub("(?s)(<w:body>).*(</w:body>)", rf"\1<w:tbl>{rows}</w:tbl>\2", text)
            new.writestr(part, text)


def _write_pptx(path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(len(MARKS), 5, Cm(1), Cm(1), Cm(20), Cm(5)).table
    taken: set[tuple[int, int]] = set()
    for at, row in enumerate(MARKS):
        for text, columns, rows in row:
            column = next(each for each in range(5) if (at, each) not in taken)
            taken |= {(at + i, column + j) for i in range(rows) for j in range(columns)}
            cell = table.cell(at, column)
            cell.text = text
            if columns * rows > 1:
                cell.merge(table.cell(at + rows - 1, column + columns - 1))
    deck.save(str(path))


@pytest.mark.parametrize("write", [_write_odt, _write_docx, _write_pptx])
def test_merged_cells_of_office_files_are_under_the_names_of_their_columns(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    path = tmp_path / f"marks.{write.__name__[-4:].strip('_')}"
    write(path)
    text = read(path).text
    assert text.split("\n\n")[-2:] == [
        "Student: Ada | Session 1 Written: 15 | Session 1 Oral: 12"
        " | Session 2 Written, Session 2 Oral: excused",
        "Student: Ben | absent",
    ]


def test_a_row_of_values_below_a_wide_name_is_no_header() -> None:
    ragged = [[Cell(1, texts=[a]), Cell(2, texts=[b])] for a, b in ("NR", "ab", "cd")]
    mark_header(ragged)
    assert [cell.is_header for row in ragged for cell in row] == [True] * 2 + [False] * 4
    wide = [[Cell(1, texts=["Name"]), Cell(2, texts=["Contact"])]]
    wide += [[Cell(texts=[each]) for each in row] for row in ("abc", "def")]
    assert [block.text for block in spanned_blocks(wide)][1:] == [
        "Name: a | Contact: b | Contact: c",
        "Name: d | Contact: e | Contact: f",
    ]


def test_a_list_or_a_table_within_a_cell_gives_the_next_rows_no_wrong_cells(tmp_path: Path) -> None:
    head = "<title>T</title><table><tr><th>Coast<th>Nests<th>Eggs<tr>"
    (tmp_path / "a.html").write_text(
        f"{head}<td rowspan=2>North<td>1<td>3<tr><td><ul><li>41</ul><td>161<tr><td>South<td>1<td>2"
        f"</table>{head}<td><table><tr><th>X<th>Y<th>Z</table><tr><td>East<td>5<td>6</table>"
    )
    rows = read(tmp_path / "a.html").text.split("\n\n")
    assert "Coast: South | Nests: 1 | Eggs: 2" in rows
    assert rows[-1] == "East | 5 | 6"


def test_columns_of_a_simple_table_are_counted_by_the_width_of_characters(tmp_path: Path) -> None:
    path = tmp_path / "wheels.rst"
    path.write_text(
        "======== ==== =====\n"
        "City     Port Boats\n"
        "======== ==== =====\n"
        "東京     ✅   40\n"
        "ｶﾅｶﾞﾜ    ❌   7\n"
        "Zürich   no   12\n"
        "======== ==== =====\n"
    )
    assert read(path).text.split("\n\n")[1:] == [
        "City: 東京 | Port: ✅ | Boats: 40",
        "City: ｶﾅｶﾞﾜ | Port: ❌ | Boats: 7",
        "City: Zürich | Port: no | Boats: 12",
    ]


def test_a_number_that_is_no_day_is_read_as_it_is() -> None:
    assert rows_of(DOCUMENTS / "dates.xls")["Log ▸ row 4"] == "Name: Cy | Day: 20240503"


def test_hidden_sheets_are_said() -> None:
    assert read(DOCUMENTS / "fish.xlsx").warnings == ("Hidden sheets, which are read, too: Spare.",)


def test_a_table_of_text_with_any_separator() -> None:
    rows = rows_of(DOCUMENTS / "gauges.csv")
    assert rows["row 2"].endswith("Height in m: 6,8 | Remark: Rises fast; check the pier")
    assert rows["row 3"].endswith("Remark: Two lines")


def test_the_separator_that_a_table_states_is_no_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sep=|\nPort, main|Draft\nKiel, north|11\n")
    rows = {"row 2": "Port, main | Draft", "row 3": "Port, main: Kiel, north | Draft: 11"}
    assert rows_of(tmp_path / "a.csv") == rows


@pytest.mark.parametrize(
    ("top", "row"),
    [
        (",Adults,Children", "May | Adults: 7 | Children: 9"),
        ("Month,2023,2024", "Month: May | 2023: 7 | 2024: 9"),
        (",2023,2024", "May | 2023: 7 | 2024: 9"),
        (",3.11,3.12", "May | 3.11: 7 | 3.12: 9"),
        ("Month,7,9", "May | 7 | 9"),
        ("June,1900,1850", "June: May | 1900: 7 | 1850: 9"),  # years, as far as can be told
        ("June,1900,1850,1999", "May | 7 | 9"),
    ],
)
def test_the_first_row_names_the_columns(tmp_path: Path, top: str, row: str) -> None:
    (tmp_path / "a.csv").write_text(f"{top}\nApril,3,4\nMay,7,9\n")
    assert rows_of(tmp_path / "a.csv")["row 3"] == row


def test_columns_have_the_names_of_their_groups(tmp_path: Path) -> None:
    rows = ",2023,,2024\nMonth,Adults,Children,Adults,Children\nMay,7,9,5,6\nJune,1,2,3,4\n"
    (tmp_path / "a.csv").write_text(rows)
    assert rows_of(tmp_path / "a.csv")["row 3"] == (
        "Month: May | 2023 Adults: 7 | 2023 Children: 9 | 2024 Adults: 5 | 2024 Children: 6"
    )


@pytest.mark.parametrize("last", ["2024", "2025"])
def test_names_below_groups_may_be_years(tmp_path: Path, last: str) -> None:
    rows = f"Month,Adults,,Children\n,2023,2024,2023,{last}\nMay,7,9,5,6\n"
    (tmp_path / "a.csv").write_text(rows)
    assert rows_of(tmp_path / "a.csv")["row 3"] == (
        f"Month: May | Adults 2023: 7 | Adults 2024: 9 | Children 2023: 5 | Children {last}: 6"
    )


@pytest.mark.parametrize("beside", ["Checked by Ana", "3730", "Total,3730"])
@pytest.mark.parametrize("value", ["1550", "open"])
def test_what_stands_beside_a_table_leaves_its_header(
    tmp_path: Path, beside: str, value: str
) -> None:
    rows = f"City,Quarter,State,,{beside}\nPorto,Q1,{value}\nLyon,Q2,{value}\n"
    (tmp_path / "a.csv").write_text(rows)
    found = rows_of(tmp_path / "a.csv")
    assert found["row 2"] == f"City: Porto | Quarter: Q1 | State: {value}"
    assert found["row 3"] == f"City: Lyon | Quarter: Q2 | State: {value}"


def test_the_first_values_are_no_names_below_groups(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("City,,Revenue\nPorto,Q1,1200\nLyon,Q2,980\n")
    assert rows_of(tmp_path / "a.csv")["row 3"] == "Lyon | Q2 | 980"


STAFF = "Name,Instrument,Joined,Salary\nBruno,Oboe,2009,41000\nSofia,Viola,2015,38500\n"
CITIES = "City,Inhabitants\nOslo,700000\nRiga,605000\n"
PRICES = "Item,Price\nHammer,12\nSaw,19\n"
MONTHS = "Month,Hours worked,Late\nMay,1210,3\nJune,1155,4\n"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (
            f"{STAFF}\nConcert,Date,Hall,Visitors\nRequiem,2023-11-01,Saint Anne,910\n",
            "Concert: Requiem | Date: 2023-11-01 | Hall: Saint Anne | Visitors: 910",
        ),
        (f"{PRICES}\n{CITIES}", "City: Riga | Inhabitants: 605000"),
        (f"{STAFF},,,\n{CITIES}", "City: Riga | Inhabitants: 605000"),
        (f"{STAFF}\n\nTowns,,,\nof the coast\n{CITIES}", "City: Riga | Inhabitants: 605000"),
        (f"{STAFF}\nTowns\n\n{CITIES}", "City: Riga | Inhabitants: 605000"),
        (f"{STAFF}\nCity,Inhabitants\n\nOslo,7\nRiga,6\n", "City: Riga | Inhabitants: 6"),
        (
            f"{STAFF}\nTowns\nCity,Mayor,River\nRiga,Ann,Daugava\n",
            "City: Riga | Mayor: Ann | River: Daugava",
        ),
        (
            f"{STAFF}\nName,Boat,Since,Wage\nBo,Tern,2001,7\n",
            "Name: Bo | Boat: Tern | Since: 2001 | Wage: 7",
        ),
        (
            "Item,Price,Stock\nSaw,19,4\n\nCity,2019,2020\nRiga,605,632\n",
            "City: Riga | 2019: 605 | 2020: 632",
        ),
        (
            f"{STAFF}\n,May,,June\nCity,Men,Women,Men,Women\nRiga,1,2,3,4\n",
            "City: Riga | May Men: 1 | May Women: 2 | June Men: 3 | June Women: 4",
        ),
        (
            "\n\n".join((STAFF + "Ed,Horn,2001,7\n" * 9)[:-1].split("\n")) + f"\n\n\n\n{CITIES}",
            "City: Riga | Inhabitants: 605000",
        ),
    ],
)
def test_a_table_below_another_has_the_names_of_its_own_columns(
    tmp_path: Path, text: str, row: str
) -> None:
    (tmp_path / "a.csv").write_text(text)
    rows = read(tmp_path / "a.csv").text.split("\n\n")
    assert rows[-1] == row
    assert "Towns" not in text or "Towns" in rows


@pytest.mark.parametrize(
    ("below", "row"),
    [
        ("Ingrid,Bassoon,2021,36000", "Name: Ingrid | Instrument: Bassoon | Joined: 2021"),
        ("Winds\nIngrid,Bassoon,2021,36000", "Name: Ingrid | Instrument: Bassoon | Joined: 2021"),
        ("Winds\n\nIngrid,Bassoon,2021,36000", "Name: Ingrid | Instrument: Bassoon"),
        ("Ingrid,,2021,36000\nPaul,Horn,2001,4", "Name: Paul | Instrument: Horn | Joined: 2001"),
        ("Total,,,79500", "Name: Total | Salary: 79500"),
        ("Name,Instrument,Joined,Salary\nIngrid,Bassoon,2021,3", "Name: Ingrid | Instrument: "),
    ],
)
def test_a_table_with_empty_rows_between_its_groups_is_one(
    tmp_path: Path, below: str, row: str
) -> None:
    (tmp_path / "a.csv").write_text(f"{STAFF}\n{below}\n")
    assert read(tmp_path / "a.csv").text.split("\n\n")[-1].startswith(row)


def test_groups_of_a_table_of_texts_are_no_tables(tmp_path: Path) -> None:
    head = "Port,Country,Harbour master\n\nKiel,Germany,Ann\n"
    (tmp_path / "a.csv").write_text(f"{head}\nRiga,Latvia,Bo\nOslo,Norway,Cy\n\nLyon,France,Di\n")
    rows = read(tmp_path / "a.csv").text.split("\n\n")
    assert rows[2] == "Port: Riga | Country: Latvia | Harbour master: Bo"
    assert rows[4] == "Port: Lyon | Country: France | Harbour master: Di"


def test_every_other_row_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(STAFF.replace("\n", "\n\n") + "Ed,Horn\n\nTom,Harp,2\n")
    rows = read(tmp_path / "a.csv").text.split("\n\n")
    assert rows[-2:] == ["Name: Ed | Instrument: Horn", "Name: Tom | Instrument: Harp | Joined: 2"]


@pytest.mark.parametrize(
    ("below", "row"),
    [
        ("Riga,605000", "Riga | 605000"),
        ("Riga,Latvia,605000", "Riga | Latvia | 605000"),
        ("Riga,64,Latvia,605000", "Riga | 64 | Latvia | 605000"),
        ("Riga,Latvia,1991,605000,Daugava", "Riga | Latvia | 1991 | 605000 | Daugava"),
        ("Checked by,Ann\nOffice,Riga", "Office | Riga"),
        ("Figures of 2023", "Figures of 2023"),
    ],
)
def test_rows_unlike_the_table_above_have_no_names(tmp_path: Path, below: str, row: str) -> None:
    (tmp_path / "a.csv").write_text(f"{STAFF}\n{below}\n")
    assert read(tmp_path / "a.csv").text.split("\n\n")[-1] == row


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("mark", [";", ","])
def test_three_tables_one_below_the_other(tmp_path: Path, suffix: str, mark: str) -> None:
    path = tmp_path / f"a{suffix}"
    text = f"{STAFF}\n{MONTHS}\n{CITIES}"
    if suffix == ".csv":
        path.write_text(text.replace(",", mark))
    else:
        with Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for at, line in enumerate(text.splitlines()):
                cells = [int(each) if each.isdigit() else each for each in line.split(",")]
                sheet.write_row(at, 0, cells)
    rows = read(path).text.split("\n\n")
    assert "Name: Sofia | Instrument: Viola | Joined: 2015 | Salary: 38500" in rows
    assert "Month: June | Hours worked: 1155 | Late: 4" in rows
    assert rows[-1] == "City: Riga | Inhabitants: 605000"


def test_tables_of_different_widths_tell_the_separator(tmp_path: Path) -> None:
    text = "Item;Price\nHammer;12,50\nSaw;19,90\n\nCity;Area;Rain\nOslo;454,1;7,5\nRiga;304,2;6,1\n"
    (tmp_path / "a.csv").write_text(text)
    rows = read(tmp_path / "a.csv").text.split("\n\n")
    assert rows[1] == "Item: Hammer | Price: 12,50"
    assert rows[-1] == "City: Riga | Area: 304,2 | Rain: 6,1"


def test_a_merged_title_above_a_second_table_of_a_sheet(tmp_path: Path) -> None:
    with Workbook(str(tmp_path / "a.xlsx")) as book:
        sheet = book.add_worksheet("Yard")
        rows = [["Order", "Customer", "Price"], ["A-1", "Police", 184], ["A-2", "Lena", 62]]
        for at, row in enumerate(rows):
            sheet.write_row(at, 0, row)
        sheet.merge_range(4, 0, 4, 2, "Hours of 2023")
        for at, row in enumerate([["Month", "Hours", "Late"], ["May", 1210, 3], ["June", 4, 5]]):
            sheet.write_row(at + 5, 0, row)
    found = rows_of(tmp_path / "a.xlsx")
    assert found["Yard ▸ row 5"] == "Hours of 2023"
    assert found["Yard ▸ row 6"] == "Month | Hours | Late"
    assert found["Yard ▸ row 8"] == "Month: June | Hours: 4 | Late: 5"


def test_parquet_has_the_names_of_its_columns() -> None:
    assert rows_of(DOCUMENTS / "buoys.parquet")["row 2"] == "buoy: B7 | depth: 12 | lamps: []"


def test_a_large_table_is_bounded_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MAX_ROWS", 12)
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "x,y\n" * 50)
    table = read(path)
    assert table.text.count("a: x") == 11
    assert table.warnings == (
        "The file has more than is read at most (12 rows or 4,000,000 characters): the table is "
        "read up to row 12.",
    )


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.256, "0.0%", "25.6%"),
        (1234.5, "#,##0.00", "1,234.50"),
        (3.5, '"$"0.00', "$3.50"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (12.0, '0" kg"', "12 kg"),
        (210.75, '#,##0.00\\ "€"', "210.75 €"),
        (210.75, '#,##0.00"€"', "210.75€"),
        (0.256, "0.0\\ %", "25.6 %"),
        (12345678.0, '0.0,,"M"', "12345678"),
        (5551234.0, "###-####", "5551234"),
        (1234567.0, "# ##0", "1234567"),
        (True, "General", "TRUE"),
        (datetime(2024, 5, 3), "General", "2024-05-03"),
        (datetime(2024, 5, 3, 14, 30), "General", "2024-05-03 14:30"),
        (date(2024, 5, 3), "General", "2024-05-03"),
        (None, "General", ""),
    ],
)
def test_values_as_people_see_them(value: CellValue, code: str, shown: str) -> None:
    assert show_value(value, parse_format(200, {200: code})) == shown


@pytest.mark.parametrize("suffix", [".xlsx", ".xls", ".ods"])
def test_a_text_that_is_named_a_workbook_is_read_as_its_table(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"export{suffix}"
    path.write_text("city;trams\nBasel;14\nBern;5\n")
    assert "city: Basel" in read(path).text
    path.write_text("<table><tr><th>city</th></tr><tr><td>Basel</td></tr></table>" * 2)
    assert "<" not in read(path).text
    path.write_text("Hello, world.\nNo table at all.\n")
    assert read(path).kind == "text"

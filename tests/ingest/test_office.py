"""Files of word processors and slides, as LibreOffice, pandoc and python-pptx save them."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from pptx import Presentation
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Cm

from quoth.core.errors import DocumentError
from quoth.ingest.readers import formats
from quoth.ingest.readers.pptx import DRAWING
from quoth.ingest.readers.registry import is_wanted, read
from quoth.text.links import link
from quoth.text.locators import label
from tests.conftest import FIXTURES
from tests.support.passages import document_at

DOCUMENTS = FIXTURES / "documents"


@pytest.mark.parametrize("name", ["report.docx", "report.odt", "report.rtf"])
def test_a_report_reads_alike_in_every_format(name: str) -> None:
    report = read(DOCUMENTS / name)
    assert (report.kind, report.title, report.speaker, report.date) == (
        "document",
        "Harbour report",
        "Jane Pilot",
        "2025-03-14",
    )
    assert [section.path for section in report.sections] == [("Traffic",), ("Traffic", "Berths")]
    assert "Ships arrive every morning at the quay. The pilot boards them" in report.text
    assert "Except in fog." in report.text
    assert "A boxed remark about tides." in report.text
    assert "- North quay\n\n- Deep berth\n\n- South quay" in report.text
    assert "Berth: N1 | Depth: 14 m | Crane: yes" in report.text
    assert "removed words" not in report.text
    assert "private" not in report.text


@pytest.mark.parametrize(
    ("stated", "title"),
    [("Keeping bees in 2025", "Keeping bees in 2025"), ("Draft", "Keeping bees")],
)
def test_a_longer_title_among_the_properties_of_word_counts(
    tmp_path: Path, stated: str, title: str
) -> None:
    path = tmp_path / "bees.docx"
    with (
        zipfile.ZipFile(DOCUMENTS / "bees.docx") as old,
        zipfile.ZipFile(path, "w") as new,
    ):
        for part in old.namelist():
            text = old.read(part)
            if part == "docProps/core.xml":
                text = re.sub(rb"(<dc:title>)[^<]*", rb"\1" + stated.encode(), text)
            new.writestr(part, text)
    assert read(path).title == title


def test_a_note_of_word_stands_below_what_refers_to_it() -> None:
    bees = read(DOCUMENTS / "bees.docx")
    note = "a day.[1]\n\n[1] In early summer, when there is most nectar.\n\nFrames"
    at = bees.text.index(note)
    (place,) = [each for each in bees.places if each.start <= at + 15 < each.end]
    assert label(place.locator) == "The hive"


def test_word_equations_titles_and_code() -> None:
    text = read(DOCUMENTS / "bees.docx").text
    assert "The area of a frame is A=w⋅h in square metres." in text
    assert "def eggs(days):\n    # two thousand a day\n    return 2000 * days" in text
    assert text.startswith("Keeping bees\n\n")


@pytest.mark.parametrize("name", ["wind.pptx", "wind.odp"])
def test_slides_in_reading_order(name: str) -> None:
    deck = read(DOCUMENTS / name)
    assert (deck.kind, deck.title, deck.pages) == ("slides", "Wind report", 4)
    assert "Gales come from the west.\n\nNotes: Mention the storm of 1953 here." in deck.text
    order = ["The table shows gusts.", "Station: Light ship | Speed: 27 m/s", "Measured ten"]
    assert sorted(order, key=deck.text.index) == order
    assert "Spare slide\n\n(This slide is hidden.)" in deck.text
    assert deck.warnings == ("Hidden slides, which are read, too: 4.",)
    at = deck.text.index("Light ship")
    (place,) = [each for each in deck.places if each.start <= at < each.end]
    assert label(place.locator) == "slide 2"
    assert link(place.locator, document_at("/w.pptx")) == "file:///w.pptx#slide=2"


def test_a_chart_is_read_as_its_table() -> None:
    assert "2023 | Gales: 11\n\n2024 | Gales: 14" in read(DOCUMENTS / "wind.pptx").text


def test_a_chart_within_slides_of_opendocument_is_read_as_its_table(tmp_path: Path) -> None:
    space = 'xmlns:d="d" xmlns:t="t" xmlns:x="x" xmlns:o="o" xmlns:m="m"'
    cells = [("", "Trams"), ("Basel", "14"), ("Bern", "5")]
    rows = [
        "<t:table-row>"
        + "".join(f"<t:table-cell><x:p>{cell}</x:p></t:table-cell>" for cell in row)
        + "</t:table-row>"
        for row in cells
    ]
    chart = (
        f"<o:document {space}><o:body><x:p>Trams of a town</x:p><t:table><t:table-header-rows>"
        f"{rows[0]}</t:table-header-rows>{rows[1]}{rows[2]}</t:table></o:body></o:document>"
    )
    page = (
        f"<o:document {space}><o:body><d:page><d:frame><d:object d:href='./Object 1'/></d:frame>"
        "<d:frame><d:object d:href='./gone'/></d:frame></d:page></o:body></o:document>"
    )
    path = tmp_path / "trams.odp"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.presentation")
        archive.writestr("content.xml", page)
        archive.writestr("Object 1/content.xml", chart)
    assert read(path).text == "Trams of a town\n\nTrams\n\nBasel | Trams: 14\n\nBern | Trams: 5"


def test_lists_within_lists_of_opendocument_have_the_numbers_of_their_level(tmp_path: Path) -> None:
    space = 'xmlns:o="o" xmlns:t="t"'
    style = (
        f"<o:styles {space}><t:list-style t:name='Steps'><t:list-level-style-bullet t:level='1'/>"
        "<t:list-level-style-number t:level='2' t:num-format='a' t:num-suffix=')'/>"
        "</t:list-style></o:styles>"
    )
    both = f"<o:document-styles {space}>{{}}</o:document-styles>"
    of_headers = both.format(style.replace("o:styles", "o:automatic-styles"))
    inner = "".join(f"<t:list-item><t:p>{each}</t:p></t:list-item>" for each in ("Sow", "Reap"))
    text = (
        f"<o:document {space}><o:text><t:list t:style-name='Steps'><t:list-item><t:p>Corn</t:p>"
        f"<t:list>{inner}</t:list></t:list-item></t:list></o:text></o:document>"
    )
    path = tmp_path / "steps.odt"
    numbers, bullets = ("a) ", "b) "), ("- ", "- ")
    for styles, marks in (
        (both.format(style), numbers),
        (of_headers, bullets),
        ("<damaged", bullets),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            archive.writestr("content.xml", text)
            archive.writestr("styles.xml", styles)
        assert read(path).text == f"- Corn\n\n{marks[0]}Sow\n\n{marks[1]}Reap"


def test_lists_of_opendocument_begin_and_go_on_as_they_state(tmp_path: Path) -> None:
    space = 'xmlns:o="o" xmlns:t="t" xmlns:x="x"'
    level = "<t:{}-style-number t:level='{}' t:num-format='{}' t:num-suffix='.' {}/>"
    styles = "".join(
        f"<t:list-style t:name='{name}'>{levels}</t:list-style>"
        for name, levels in (
            (
                "One",
                level.format("list-level", 1, "1", "")
                + level.format("list-level", 2, "i", "t:display-levels='2' t:num-prefix='§ '"),
            ),
            ("Five", level.format("list-level", 1, "1", "t:start-value='5'")),
            ("Odd", level.format("list-level", 1, "1", f"t:start-value='{'9' * 5000}'")),
            ("LibreOffice", level.format("list-level", 1, "A", "l:num-list-format='Part %1%:'")),
        )
    )
    item = "<t:list-item{}><t:p>{}</t:p>{}</t:list-item>"
    deeper = "<t:list>" + item.format("", "{}", "") + "</t:list>"
    parts = (
        (
            "t:style-name='One' x:id='a'",
            item.format("", "Sow", "")
            + "<t:list-item><t:soft-page-break/><t:p>Reap</t:p></t:list-item>",
        ),
        ("t:style-name='Five'", item.format("", "Mill", "")),
        (
            "t:style-name='One' t:continue-numbering='true'",
            item.format("", "Bake", deeper.format("bread")),
        ),
        (
            "t:style-name='One' t:continue-numbering='true'",
            f"<t:list-item>{deeper.format('cake')}</t:list-item>",
        ),
        ("t:style-name='Five' t:continue-list='a'", item.format("", "Eat", "")),
        (
            "t:style-name='One'",
            item.format(" t:start-value='8'", "Wash", "")
            + item.format(" t:style-override='LibreOffice'", "Dry", ""),
        ),
        ("t:style-name='Odd'", item.format("", "Rest", "")),
    )
    lists = "<t:p>Then:</t:p>".join(f"<t:list {how}>{items}</t:list>" for how, items in parts)
    path = tmp_path / "steps.odt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f"<o:document {space} xmlns:l='l'><o:automatic-styles>{styles}</o:automatic-styles>"
            f"<o:text>{lists}</o:text></o:document>",
        )
    said = [line for line in read(path).text.split("\n\n") if line != "Then:"]
    assert said == [
        *("1. Sow", "2. Reap", "5. Mill", "3. Bake", "§ 3.i. bread", "§ 3.ii. cake", "4. Eat"),
        *("8. Wash", "Part I: Dry", "1. Rest"),
    ]


def test_headings_of_opendocument_have_their_numbers(tmp_path: Path) -> None:
    space = 'xmlns:o="o" xmlns:t="t"'
    level = "<t:outline-level-style t:level='{0}' t:num-format='1' t:display-levels='{0}'/>"
    styles = (
        f"<o:document-styles {space}><o:styles><t:outline-style>{level.format(1)}{level.format(2)}"
        "<t:outline-level-style t:level='3' t:num-format=''/></t:outline-style></o:styles>"
        "</o:document-styles>"
    )
    heading = "<t:h t:outline-level='{}'{}>{}</t:h><t:p>Some words.</t:p>"
    body = "".join(
        heading.format(*each)
        for each in (
            *((1, "", "Harbours"), (2, "", "Quays"), (3, "", "Rings"), (2, "", "Berths")),
            *((1, " t:is-list-header='true'", "Thanks"), (1, "", "Tides"), (2, "", "Ebb")),
            (1, " t:restart-numbering='true' t:start-value='7'", "Winds"),
        )
    )
    path = tmp_path / "port.odt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", f"<o:document {space}><o:text>{body}</o:text></o:document>")
        archive.writestr("styles.xml", styles)
    said = [line for line in read(path).text.split("\n\n") if line != "Some words."]
    assert said == [
        *("1 Harbours", "1.1 Quays", "Rings", "1.2 Berths", "Thanks", "2 Tides", "2.1 Ebb"),
        "7 Winds",
    ]


def test_text_in_a_number_format_of_opendocument_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "dates.odt"
    content = (
        'xmlns:o="o" xmlns:t="t" xmlns:n="n"><o:automatic-styles><n:date-style><n:day/>'
        "<n:text>/</n:text><n:month/></n:date-style></o:automatic-styles><o:body><o:text>"
        "<t:p>The quay opens at dawn.</t:p></o:text></o:body></o:document>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", f"<o:document {content}")
    assert read(path).text == "The quay opens at dawn."


def test_charts_and_diagrams_of_word_follow_their_paragraph(tmp_path: Path) -> None:
    drawn = "http://schemas.openxmlformats.org"
    space = f'xmlns:r="{drawn}/officeDocument/2006/relationships"'
    place = f"<w:p><w:r><w:t>Before.</w:t><w:drawing {space}>"
    added = {
        "word/document.xml": (
            "</w:body>",
            f'{place}<chart r:id="c1"/></w:drawing></w:r></w:p>'
            f'{place}<relIds r:dm="d1"/><relIds r:dm="gone"/></w:drawing></w:r></w:p></w:body>',
        ),
        "word/_rels/document.xml.rels": (
            "</Relationships>",
            f'<Relationship Id="c1" Type="{drawn}/chart" Target="charts/c.xml"/><Relationship '
            f'Id="d1" Type="{drawn}/data" Target="/word/d.xml"/></Relationships>',
        ),
    }
    series = "<ser><tx><v>Trams</v></tx><val><pt idx='0'><v>14</v></pt></val></ser>"
    with (
        zipfile.ZipFile(DOCUMENTS / "bees.docx") as old,
        zipfile.ZipFile(tmp_path / "new.docx", "w") as new,
    ):
        for name in old.namelist():
            text = old.read(name)
            end, more = added.get(name, ("", ""))
            assert end.encode() in text
            new.writestr(name, text.replace(end.encode(), more.encode()) if end else text)
        new.writestr("word/charts/c.xml", f"<c><plotArea><pie3D>{series}</pie3D></plotArea></c>")
        new.writestr("word/d.xml", "<m><pt><p><t>Sow, </t><t>reap</t></p></pt></m>")
    shown = ["Before.", "Trams", "Trams: 14", "Before.", "Sow, reap"]
    assert "\n\n".join(shown) in read(tmp_path / "new.docx").text


def test_diagrams_and_groups_of_slides_are_read_where_they_stand(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Cm(2), Cm(12), Cm(20), Cm(2)).text_frame.text = "below"
    group = slide.shapes.add_group_shape()
    for across, words in ((14, "right"), (2, "left")):
        group.shapes.add_textbox(Cm(across), Cm(6), Cm(8), Cm(3)).text_frame.text = words
    drawn = "http://schemas.openxmlformats.org/drawingml/2006"
    points = "".join(
        f"<d:pt><a:p><a:r><a:t>{words}</a:t></a:r></a:p></d:pt>" for words in ("sow", "", "reap")
    )
    model = f'<d:model xmlns:d="{drawn}/diagram" xmlns:a="{drawn}/main">{points}</d:model>'
    package = slide.part.package
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", package, model.encode())
    frame = f"""<p:graphicFrame xmlns:a="{drawn}/main"
        xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
        xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
        <p:nvGraphicFramePr><p:cNvPr id="90" name="D"/><p:cNvGraphicFramePr/><p:nvPr/>
        </p:nvGraphicFramePr><p:xfrm><a:off x="720000" y="360000"/><a:ext cx="7200000" cy="720000"/>
        </p:xfrm><a:graphic><a:graphicData uri="{drawn}/diagram"><d:relIds xmlns:d="{drawn}/diagram"
        r:dm="{slide.part.relate_to(part, "diagramData")}"/></a:graphicData></a:graphic>
        </p:graphicFrame>"""
    slide.shapes.element.append(parse_xml(frame))
    deck.save(str(tmp_path / "deck.pptx"))
    shown = ["sow", "reap", "left", "right", "below"]
    assert read(tmp_path / "deck.pptx").text.split("\n\n") == shown


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "is_installed", lambda _module: False)
    with pytest.raises(DocumentError, match=r"pip install 'quoth\[office\]'") as caught:
        read(DOCUMENTS / "report.docx")
    assert caught.value.code == "missing_extra"
    assert not is_wanted(Path("report.docx"))
    assert is_wanted(Path("report.odt"))


def test_numbered_paragraphs_of_slides_have_their_numbers(tmp_path: Path) -> None:
    deck = Presentation()
    frame = deck.slides.add_slide(deck.slide_layouts[1]).placeholders[1].text_frame
    items = [
        *(("dig", 0, "arabicPeriod", 3), ("deep", 1, "alphaLcParenR", 1)),
        *(("wide", 1, "alphaLcParenR", 1), ("plant", 0, "arabicPeriod", 3), ("Then", 0, "", 0)),
        *(("rest", 0, "arabicPeriod", 3), ("wait", 0, "romanUcParenBoth", 4)),
    ]
    for text, level, kind, start in items:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
        if kind:
            number = paragraph._p.get_or_add_pPr().makeelement(f"{DRAWING}buAutoNum", type=kind)
            number.set("startAt", str(start))
            paragraph._p.pPr.append(number)
    deck.save(str(tmp_path / "list.pptx"))
    assert read(tmp_path / "list.pptx").text.split("\n\n") == [
        *("3. dig", "a) deep", "b) wide", "4. plant", "Then", "3. rest", "(IV) wait"),
    ]

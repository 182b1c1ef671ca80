"""The numbers that Word shows before paragraphs. LibreOffice shows the same ones, but for isLgl."""

from __future__ import annotations

import zipfile
from pathlib import Path

from quoth.ingest.readers.registry import read

SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def level(at: int, kind: str, pattern: str, more: str = "", first: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{first}"/><w:numFmt w:val="{kind}"/>{more}'
        f'<w:lvlText w:val="{pattern}"/></w:lvl>'
    )


def use(number: int, definition: int, override: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{definition}"/>{override}</w:num>'


def paragraph(text: str, number: str = "", at: int = 0, style: str = "", more: str = "") -> str:
    states = f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{number}"/></w:numPr>' * bool(number)
    named = f'<w:pStyle w:val="{style}"/>' * bool(style)
    run = f"<w:r><w:t>{text}</w:t></w:r>" * bool(text)
    return f"<w:p><w:pPr>{named}{states}{more}</w:pPr>{run}</w:p>"


def document(path: Path, body: str, *, definitions: str, styles: str = "") -> Path:
    """Write a Word document with these paragraphs, lists and styles."""
    parts = {"document": "document.main", "numbering": "numbering", "styles": "styles"}
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{TYPE}.{kind}+xml"/>'
        for name, kind in parts.items()
    )
    relation = '<Relationship Id="{0}" Type="' + OFFICE + '/{1}" Target="{2}"/>'
    relations = f'<Relationships xmlns="{PACKAGE}/relationships">{{}}</Relationships>'
    members = {
        "[Content_Types].xml": (
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>'
        ),
        "_rels/.rels": relations.format(
            relation.format("r1", "officeDocument", "word/document.xml")
        ),
        "word/_rels/document.xml.rels": relations.format(
            relation.format("r1", "numbering", "numbering.xml")
            + relation.format("r2", "styles", "styles.xml")
        ),
        "word/document.xml": f"<w:document {SPACE}><w:body>{body}</w:body></w:document>",
        "word/numbering.xml": f"<w:numbering {SPACE}>{definitions}</w:numbering>",
        "word/styles.xml": f"<w:styles {SPACE}>{styles}</w:styles>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_paragraphs_have_the_numbers_that_word_shows(tmp_path: Path) -> None:
    levels = (
        *(level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)")),
        *(level(2, "lowerRoman", "%1.%2.%3"), level(3, "bullet", "•"), level(4, "none", "")),
    )
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    through = level(0, "upperRoman", "Part %1") + level(
        1, "decimal", "Article %2", '<w:lvlRestart w:val="0"/>'
    )
    definitions = (
        f'<w:abstractNum w:abstractNumId="0">{"".join(levels)}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="5">{through}</w:abstractNum>{use(5, 5)}'
        f"{use(1, 0)}{use(2, 0, again)}{use(3, 9)}"
    )
    deleted = "<w:rPr><w:del/></w:rPr>"
    body = "".join(
        (
            *(paragraph("Sow", "1"), paragraph("in rows", "1", 1), paragraph("deep", "1", 2)),
            *(paragraph("Rest."), paragraph("in lines", "1", 1), paragraph("bare", "1", 3)),
            *(paragraph("silent", "1", 4), paragraph("Reap", "1"), paragraph("", "1")),
            *(paragraph("", "1", more=deleted), paragraph("again", "1", 1)),
            *(paragraph("Mill", "2"), paragraph("Bake", "2"), paragraph("Odd", "3")),
            *(paragraph("Far", "1", 99), paragraph("None", "0"), paragraph("Land", "5")),
            *(paragraph("one", "5", 1), paragraph("Sea", "5"), paragraph("two", "5", 1)),
        )
    )
    text = read(document(tmp_path / "farm.docx", body, definitions=definitions)).text
    assert text.split("\n\n") == [
        *("1. Sow", "(a) in rows", "1.a.i deep", "Rest.", "(b) in lines", "- bare", "silent"),
        *("2. Reap", "(a) again", "7. Mill", "8. Bake", "Odd", "Far", "None"),
        *("Part I Land", "Article 1 one", "Part II Sea", "Article 2 two"),
    ]


def test_headings_have_the_numbers_of_their_styles(tmp_path: Path) -> None:
    definitions = (
        '<w:abstractNum w:abstractNumId="0">'
        + level(0, "upperRoman", "%1.", '<w:pStyle w:val="H1"/>')
        + level(1, "decimal", "%1.%2", '<w:pStyle w:val="H2"/><w:isLgl/>')
        + '</w:abstractNum><w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="Linked"/>'
        + '</w:abstractNum><w:abstractNum w:abstractNumId="2"><w:styleLink w:val="Linked"/>'
        + level(0, "decimalZero", "Article %1 –", first=4)
        + f"</w:abstractNum>{use(1, 0)}{use(2, 1)}"
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{shown}"/>{more}</w:style>'
        for name, shown, more in (
            ("H1", "heading 1", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
            ("H2", "heading 2", ""),
            ("Own", "Own", '<w:basedOn w:val="Law"/>'),
            ("Law", "Law", '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>'),
            ("Loop", "Loop", '<w:basedOn w:val="Loop"/>'),
        )
    )
    body = "".join(
        (
            *(paragraph("Harbours", style="H1"), paragraph("Quays", style="H2")),
            *(paragraph("Berths", style="H2"), paragraph("A berth is long.")),
            *(paragraph("Tides", style="H1"), paragraph("Ebb", style="H2")),
            *(paragraph("Ships yield.", style="Own"), paragraph("Boats wait.", style="Law")),
            *(paragraph("Round.", style="Loop"), paragraph("Unnumbered", "0", style="H1")),
        )
    )
    path = document(tmp_path / "port.docx", body, definitions=definitions, styles=styles)
    report = read(path)
    headings = ["I. Harbours", "1.1 Quays", "1.2 Berths", "II. Tides", "2.1 Ebb", "Unnumbered"]
    assert [line for line in report.text.split("\n\n") if line in headings] == headings
    assert ("I. Harbours", "1.2 Berths") in [section.path for section in report.sections]
    assert "Article 04 – Ships yield.\n\nArticle 05 – Boats wait.\n\nRound." in report.text

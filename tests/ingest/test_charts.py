"""Charts are read as the tables that they draw, of every kind that there is."""

from __future__ import annotations

from quoth.ingest.readers.charts import chart_blocks
from quoth.ingest.readers.xml_parts import parse_xml


def _points(*values: str, code: str = "General") -> str:
    points = (f'<pt idx="{at}"><v>{value}</v></pt>' for at, value in enumerate(values) if value)
    return f"<numCache><formatCode>{code}</formatCode>{''.join(points)}</numCache>"


def _series(name: str, **parts: str) -> str:
    inner = "".join(f"<{kind}>{points}</{kind}>" for kind, points in parts.items())
    return f"<ser><tx><v>{name}</v></tx>{inner}</ser>"


def _read(plots: str) -> list[str]:
    title = "<title><p><t>Trams of</t><t>a town</t></p></title>"
    root = parse_xml(
        f"<chart>{title}<plotArea>{plots}</plotArea></chart>".encode(), name="chart.xml"
    )
    return [block.text for block in chart_blocks(root)]


def test_values_stand_by_their_categories_in_any_kind_of_chart() -> None:
    days = _points("37261", "37262", code="m/d/yyyy")
    series = (
        _series("Lines", cat=days, val=_points("0.5", "0.25", code="0%")),
        _series("Cars", cat=days, val=_points("4.30", "")),
    )
    assert _read(f"<area3DChart>{''.join(series)}</area3DChart>") == [
        "Trams of a town",
        "Lines | Cars",
        "2002-01-05 | Lines: 50% | Cars: 4.3",
        "2002-01-06 | Lines: 25%",
    ]


def test_a_category_follows_the_wider_ones_that_it_is_in() -> None:
    wide = '<lvl><pt idx="0"><v>West</v></pt><pt idx="2"><v>East</v></pt></lvl>'
    narrow = "".join(f'<pt idx="{at}"><v>{name}</v></pt>' for at, name in enumerate("abc"))
    series = _series("N", cat=f"<lvl>{narrow}</lvl>{wide}", val=_points("1", "2", "3"))
    assert _read(f"<barChart>{series}</barChart>")[2:] == [
        "West a | N: 1",
        "West b | N: 2",
        "East c | N: 3",
    ]


def test_points_between_two_axes_are_read_by_series() -> None:
    bubbles = _series("B", xVal=_points("0.7"), yVal=_points("2.7"), bubbleSize=_points("10"))
    dots = _series("D", xVal=_points("1", "2"), yVal=_points("3", "-4e300"))
    shown = ["B", "0.7 | B: 2.7 | 10", "D", "1 | D: 3", "2 | D: -4e+300"]
    assert _read(f"<bubbleChart>{bubbles}{dots}</bubbleChart>")[1:] == shown
    assert _read("") == ["Trams of a town"]


def test_colours_and_words_of_a_format_make_no_day_and_texts_stay_as_they_are() -> None:
    names = "".join(f'<pt idx="{at}"><v>{name}</v></pt>' for at, name in enumerate(("007", "nan")))
    coloured = _points("3", "-4", code="#,##0;[Red]-#,##0")
    kept = _points("5", "6", code="0&quot; days&quot;")
    plots = (
        _series("N", cat=f"<strCache>{names}</strCache>", val=coloured),
        _series("K", val=kept),
    )
    assert _read(f"<barChart>{''.join(plots)}</barChart>")[2:] == [
        "007 | N: 3 | K: 5 days",
        "nan | N: -4 | K: 6 days",
    ]

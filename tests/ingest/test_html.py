"""Pages give their main text, with anchors that links can use."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.types import Chars
from quoth.ingest.readers.html import html_blocks, read_html
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read
from quoth.ingest.readers.source_file import SourceFile
from tests.support.counting import is_proportional

GUIDE = Path(__file__).parents[1] / "fixtures" / "pages" / "guide.html"


def text_of(page: str) -> list[str]:
    return [block.text for block in html_blocks(page)]


def test_main_text_without_furniture() -> None:
    assert read(GUIDE).text.split("\n\n") == [
        "Le guide",
        "La haie est verte\u00a0!\nElle pousse.",
        "Planter",
        "- creuser",
        "- arroser",
        "- le soir",
        "Tailler",
        "mois | outil",
        "mois: mars | outil: cisaille",
        "for haie in jardin:\n    tailler(haie)",
        "Soin",
        "texte nu",
    ]


def test_a_file_is_not_the_page_that_it_names_as_its_address() -> None:
    assert 'rel="canonical"' in GUIDE.read_text(encoding="utf-8")
    assert read(GUIDE).url is None
    assert read(GUIDE, Metadata(url="https://example.org/g")).url == "https://example.org/g"


def test_what_the_pages_of_a_site_repeat_is_left_out(tmp_path: Path) -> None:
    titles = ("Hedges", "Ponds", "Bees", "Ants")
    for number, title in enumerate(titles):
        before, after = titles[number - 1], titles[(number + 1) % 4]
        (tmp_path / f"{title}.html").write_text(
            f"""<title>{title}</title><div><a href=x>Download the book</a></div>
            <table><tr><th>{title}</th></tr></table>
            <ul><li><a href=p><b>Prev</b>{before}</a><li>The garden<li><a href=n><b>Next</b>
            {after}</a></ul><h1>{title}</h1><p>Note</p><p>All about {title.lower()}.</p>
            <ul><li><a href=m>More on {title.lower()}</a></ul><p>Note</p><p>Enough of {title}.</p>
            <p>Next: <a href=n>{after}</a>, Up: <a href=u>Contents</a></p><p>© 20{number}</p>"""
        )
    assert read(tmp_path / "Bees.html").text.split("\n\n") == [
        *("Bees", "Note", "All about bees.", "- More on bees", "Note", "Enough of Bees."),
    ]


def read_page(body: str, *, head: str = "") -> list[str]:
    page = f"<html><head><title>Hedge - Garden</title>{head}</head><body>{body}</body></html>"
    return read_html(SourceFile("hedge.html", b"", text=page)).text.split("\n\n")


def links(*targets: str) -> str:
    return "".join(f"<li><a href='{target}'>Part {target}</a></li>" for target in targets)


CONTENT = "<h1>Hedge</h1><p>It grows <a href='soil.html'>slowly</a>.</p>"
TEXT = ["Hedge", "It grows slowly."]
DOCBOOK = """<table><tr><td><a href=s>Prev</a></td><td><a href=n>Next</a></td></tr>
<tr><td>Chapter 4. Soil</td><td>Chapter 6. Lawns</td></tr></table>"""

MEDIAWIKI = """<h1>Hedge<span class=mw-editsection>[<a href=e>edit</a>]</span></h1>
<div id=siteSub class=noprint>From the wiki of gardeners</div>
<a class=mw-jump-link href="#n">Jump to navigation</a>
<div class="vector-dropdown mw-portlet"><label for=b>154 languages</label><ul><li>Deutsch</ul></div>
<p>It grows <a href='soil.html'>slowly</a>.</p><table class=navbox><tr><td>Plants</td></tr></table>
<div class=printfooter>Retrieved from <a href=h>here</a></div><div class=catlinks>Plants</div>"""
"""A page as MediaWiki writes it."""


@pytest.mark.parametrize(
    "body",
    [
        f"<div role=navigation><h3>Menu</h3><p>Go on</p></div>{CONTENT}",
        f"<div role=banner>Garden</div>{CONTENT}<div role=contentinfo>2026, the gardeners</div>",
        f"<ul>{links('a.html', 'b.html')}</ul>{CONTENT}<p><a href='c.html'>c</a></p>",
        f"{CONTENT}<p>Table of contents</p><ul>{links('#a', '#b', 'c.html#d', 'c.html#e')}</ul>",
        f"{CONTENT}<div class=toc><b>In</b><ul>{links('apples.html')}</ul></div><p id=toc></p>",
        f"{CONTENT}<table><tr><td>Soil</td><td><a href=i.html>Up</a></td><td>Shears</td></table>",
        f"<div class=navheader>{DOCBOOK}</div>{CONTENT}<div class=navfooter>{DOCBOOK}</div>",
        CONTENT.replace("</h1>", "</h1><p>Next: <a href=#s rel=next>Soil</a> [<a>Top</a>]</p>"),
        f"{CONTENT}<table><tr><td>[<a href=n title='Next section in reading order'> &gt; </a>]<td>"
        "[<a href=u>Up</a>]</table><p></p>",
        f"{CONTENT}<div id=footer>Comments? <a href='mailto:a@b.example'>Write to us</a></div>",
        CONTENT.replace("</h1>", "<a href='#hedge'>\uf0c1</a></h1>"),
        MEDIAWIKI,
    ],
    ids=[
        "navigation",
        "banner",
        "edges",
        "contents",
        "named",
        "neighbours",
        "docbook",
        "texinfo",
        "texi2html",
        "footer",
        "permalink",
        "mediawiki",
    ],
)
def test_what_leads_through_a_site_is_left_out(body: str) -> None:
    head = "<link rel=prev title=Soil><link rel=next title=Shears><link rel=up title=Up>"
    assert read_page(body, head=head) == TEXT


@pytest.mark.parametrize(
    "body",
    [
        f"<ul>{links('a.html', 'b.html')}</ul><p>Shears are sharp.</p>",
        f"<p>The following tools are sharp:</p><ul>{links('#a', '#b', '#c')}</ul>",
        f"<h2>Tools</h2><ul>{links('a.html', 'b.html', 'c.html')}</ul>",
        f"<ul><li>Spades</li>{links('#a', '#b', '#c')}<li>Shears</li></ul><p>All are sharp.</p>",
        "<ul><li><a href='https://example.org/'>Files elsewhere</a></li></ul>",
        "<p>Cut it in May. Then read <a rel=next href=#b>about shears</a>, which are sharp.</p>",
        "<div><p>Cut hedges in May.</p><a rel=next href=#b>Next</a></div><p>Not in June.</p>",
        "<main><p>Note 1 says so.</p><aside role='note'>1. It does.</aside></main>",
    ],
    ids=[
        "between",
        "introduced",
        "headed",
        "some items",
        "elsewhere",
        "footnote",
        "inline",
        "post",
    ],
)
def test_links_that_belong_to_the_text_stay(body: str) -> None:
    assert read_page(CONTENT + body if "<main>" not in body else body) == [
        *(TEXT if "<main>" not in body else []),
        *text_of(body),
    ]


def test_a_table_of_operators_is_no_navigation() -> None:
    table = "<table><tr><td><a href=#lt>&lt;</a></td><td>is less than</td></tr></table>"
    assert "is less than" in read_page(CONTENT + table)[-1]


def test_anchors_are_own_surrounding_and_preceding_ids() -> None:
    assert [(section.path[-1], section.anchor) for section in read(GUIDE).sections] == [
        ("Le guide", "content"),
        ("Planter", "install"),
        ("Tailler", "tailler"),
        ("Soin", "soin"),
    ]


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        ("<nav>Menu</nav><p>Text</p><footer>Foot</footer>", ["Text", "Foot"]),
        ("<nav>Menu</nav>", ["Menu"]),
        ("<nav>Menu</nav><article><p>Text</p></article><p>Out</p>", ["Text"]),
        ("<main></main><p>Text</p>", ["Text"]),
        ("<article>A</article><article>B</article><aside>Ad</aside>", ["A", "B"]),
        ("<p>a<b>b</b> &lt;c&gt; &eacute;&#233;", ["ab <c> éé"]),
        ("<p>\n one\n two </p>three<div>four</div>", ["one two", "three", "four"]),
        ("<p aria-hidden=true>x</p><p>y", ["y"]),
        ("<table><tr><td><h2>Lay</h2><p>out</td><td>b</td></tr></table>", ["Lay", "out", "b"]),
        ("<dl><dt>term<dd>meaning</dl>", ["term\nmeaning"]),
        ("<dl><dt>a<dt>b<dd><p>c<p>d<dt>e</dl>", ["a\nb\nc", "d", "e\n"]),
        (f"<dl><dt>{'long ' * 9}<dd>x</dl>", [("long " * 9).strip(), "x"]),
        ("<ol><li>a<ul><li>b<p>c</ul><li>d</ol>", ["1. a", "- b", "c", "2. d"]),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", ["3. a", "7. b", "8. c"]),
        ("<ol start=x><li>a<li value=-2>b</ol>", ["1. a", "2. b"]),
        ("<ul><li><h2>T</h2>x<li><pre>p</pre></ul>", ["T", "x", "- p"]),
        ("<pre>a\n\n  b</pre>", ["a\n\n  b"]),
        ("<pre> 9&nbsp;for x\n10&nbsp;\n11&nbsp;  do it</pre>", ["for x\n\n  do it"]),
        ("<table><tr><td><pre>1\n2\n3</pre><td><pre>a\nb\nc</pre></table>", ["a\nb\nc"]),
        ("<pre>1 cat\n3 dogs\n4 cows</pre>", ["1 cat\n3 dogs\n4 cows"]),
        ("<pre>1 if x:\n2     y\n3 z</pre>", ["if x:\n    y\nz"]),
        ("<pre>1 Alice 9\n2 Bo 7\n3 Cy 5</pre>", ["1 Alice 9\n2 Bo 7\n3 Cy 5"]),
        ("<pre> 9  Alice\n10  Bo\n11  Cy</pre>", [" 9  Alice\n10  Bo\n11  Cy"]),
        ("<pre>9  Alice\n10 Bo\n11 Cy</pre>", ["9  Alice\n10 Bo\n11 Cy"]),
        ("<pre>0\n1\n2</pre>", ["0\n1\n2"]),
        ("<pre>2019 4.5\n2020 4.7\n2021 5.1</pre>", ["2019 4.5\n2020 4.7\n2021 5.1"]),
        (
            "<p>From <img class=math src=a.png alt='100~k\\Omega'> on.</p>",
            ["From 100 kΩ on."],
        ),
        (
            "<p><img class=math alt='\\Delta D \\leq \\pm3\\ \\mu F\\cdot\\sin(\\bar{x})'></p>",
            ["ΔD ≤ ±3 μF·\\sin(\\bar{x})"],
        ),
        ("<div class=math><p><img alt='\\sqrt{\\frac{1}{n-1}}'></div>", ["\\sqrt{\\frac{1}{n-1}}"]),
        ("<p><img class=photo alt='A dog'>Rex</p>", ["Rex"]),
        ("<label><a href='#p1'>111</a></label><p id=p1>Text", ["Text"]),
        ("<p>Price: <label>42.50</label></p>", ["Price: 42.50"]),
        ("<p>Tides<label for=n>&#8853;</label> turn.", ["Tides turn."]),
        ("<ul><li><label><input type=checkbox> Buy 2 nets</label></ul>", ["- Buy 2 nets"]),
        ("<label for=t>macOS</label><div>Run it.</div>", ["macOS", "Run it."]),
        ("<p>x &#xD800;&#0; y</p>", ["x \ufffd\ufffd y"]),
        ("", []),
        ("<!-- nothing -->", []),
    ],
)
def test_blocks(page: str, blocks: list[str]) -> None:
    assert text_of(page) == blocks


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=x>T</h2>",
        "<h2>T <a href='#x' id=x>#</a></h2>",
        "<h2><a name=x></a>T</h2>",
        "<a id=x></a>\n<h2>T</h2>",
        "<section id=x><div><h2>T</h2></div></section>",
    ],
)
def test_an_anchor_is_found_where_authors_put_it(heading: str) -> None:
    blocks = html_blocks(f"<p id=before>Before.</p>{heading}<p>After.</p>")
    assert [(block.text, block.anchor) for block in blocks] == [
        *(("Before.", "before"), ("T", "x"), ("After.", None)),
    ]


def test_an_anchor_after_loose_text_belongs_to_what_follows() -> None:
    blocks = html_blocks(
        "<body><a id=a></a>One.<br><a id=x></a>\n<h2>T</h2>Two. <a id=y></a><p>End."
    )
    assert [(block.text, block.anchor) for block in blocks] == [
        *(("One.", "a"), ("T", "x"), ("Two.", None), ("End.", "y")),
    ]


PLACES = """<div id=menu><form><select id=where><option>All</select><input id=search></form></div>
<nav id=nav>Menu</nav><div hidden id=hidden></div><a href='#' id=gone style='display:none'></a>
<link id=style rel=stylesheet href=a.css><h2>Questions</h2>
<a name=q1></a><p>(1) How?</p><p>So <b id=late>it</b> is.</p><p>And on.</p>
<h2 id=q2>Why?</h2><p><span id=early></span>For this.</p><p></p><h3>Else</h3>
<table id=all><tr><td>a<td>b<tr id=row><td>c<td><i id=cell>d</i></table>
<dl><dt id=term>Term<dd>What it is.</dl><h3>End</h3>"""


def test_a_place_has_the_last_anchor_that_a_browser_scrolls_to_before_it() -> None:
    page = read_html(SourceFile("p.html", b"", text=f"<body>{PLACES}"))
    assert [
        (page.text[place.start : place.end], place.locator.anchor)
        for place in page.places
        if isinstance(place.locator, Chars)
    ] == [
        ("Questions", None),
        *(("(1) How?", "q1"), ("So it is.", "q1"), ("And on.", "q1")),
        *(("Why?", "q2"), ("For this.", "early"), ("Else", "early")),
        *(("a | b", "all"), ("c | d", "row"), ("Term\nWhat it is.", "term"), ("End", "term")),
    ]
    assert [section.anchor for section in page.sections] == [None, "q2", None, None]


def test_the_page_does_not_outrank_what_is_known() -> None:
    reading = read_html(
        SourceFile(
            "n", b"", Metadata(title="K", language="fr"), "<html lang=de><title>T</title><p>x"
        )
    )
    assert (reading.title, reading.language) == ("K", "fr")


@pytest.mark.parametrize(
    "bomb",
    ["<div>", "<b>", "<table><tr><td>", "<ul><li>", "<a href=#>", "<span>", "<svg>", "<p><i>"],
)
def test_depth_does_no_harm(bomb: str) -> None:
    blocks = text_of(bomb * 30_000 + "word") if bomb == "<div>" else text_of(bomb * 6000 + "word")
    assert "word" in " ".join(blocks) or bomb == "<svg>"
    assert is_proportional(text_of, bomb * 6000)


def test_questions_of_a_list_are_headings_and_its_table_of_contents_is_left_out() -> None:
    entries = "".join(
        f'<tr class="question"><td><a name="q{n}"></a><p><b>Q :</b></p></td><td><p>What is {word}'
        f'?</p></td></tr><tr class="answer"><td><p><b>R :</b></p></td><td><p>{word} is a word.</p>'
        "</td></tr>"
        for n, word in enumerate(("tin", "lead", "zinc", "iron"))
    )
    links = "".join(f'<dt>Q : <a href="faq.html#q{n}">What is it?</a></dt>' for n in range(4))
    page = f"<body><h2>Metals</h2><dl>{links}</dl><table class='qandaset'>{entries}</table></body>"
    blocks = html_blocks(page)
    assert [(each.level, each.text, each.anchor) for each in blocks[:3]] == [
        (2, "Metals", None),
        (5, "What is tin?", "q0"),
        (0, "tin is a word.", None),
    ]
    assert len(blocks) == 9
    # Links to what stands before them, or nowhere on the page, are no table of contents.
    after = html_blocks(f"<body><h2>Metals</h2><table>{entries}</table><dl>{links}</dl></body>")
    assert any("What is it?" in each.text for each in after)
    others = html_blocks(f"<body><h2>Metals</h2><dl>{links}</dl></body>")
    assert any("What is it?" in each.text for each in others)

"""Program text, data, notebooks and plain markup: lines and cells are places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quoth.core.errors import DocumentError
from quoth.ingest.chunker import chunk
from quoth.ingest.readers.registry import read
from quoth.text.links import link
from quoth.text.locators import label, locate
from tests.conftest import FIXTURES
from tests.ingest.test_golden_chunks import count_words
from tests.support.passages import document_at

DOCUMENTS = FIXTURES / "documents"


def place_of(name: str, words: str) -> str:
    document = read(DOCUMENTS / name)
    at = document.text.index(words)
    return label(locate(document.places, at, at + len(words)))


@pytest.mark.parametrize(
    ("name", "words", "place"),
    [
        ("tide.py", "math.cos", "class Gauge ▸ def height ▸ line 13"),
        ("tide.py", "math\n\nPERIOD", "lines 3–5"),
        ("harbour.json", '"N1"', "berths ▸ line 4"),
        ("harbour.toml", "min_length", "pilots ▸ line 7"),
        ("harbour.yaml", "depth", "berths ▸ line 4"),
        ("harbour.xml", "14 metres", "berth ▸ line 4"),
        ("waves.ipynb", "mean period", "Waves ▸ cell 2"),
        ("bees.rst", "Split the colony", "Keeping bees ▸ Swarming ▸ line 30"),
        ("bees.adoc", "Split the colony", "Keeping bees ▸ Swarming ▸ line 27"),
        ("bees.org", "Split the colony", "Swarming ▸ line 29"),
        ("bees.tex", "Split the colony", "Swarming ▸ lines 147–148"),
    ],
)
def test_a_place_is_the_line_in_the_file(name: str, words: str, place: str) -> None:
    assert place_of(name, words) == place


def test_a_line_opens_by_its_number() -> None:
    code = read(DOCUMENTS / "tide.py")
    assert link(code.places[1].locator, document_at("/t.py")) == ("file:///t.py#L3")


def test_code_is_stored_as_it_is() -> None:
    source = (DOCUMENTS / "tide.py").read_text()
    assert read(DOCUMENTS / "tide.py").text == source.rstrip("\n")


@pytest.mark.parametrize("name", ["bees.rst", "bees.adoc", "bees.org", "bees.tex", "bees.docx"])
def test_markup_is_read_as_text(name: str) -> None:
    document = read(DOCUMENTS / name)
    assert document.title == "Keeping bees"
    assert [each.path[-1] for each in document.sections][-3:] == ["The hive", "Frames", "Swarming"]
    assert "Part: Frame | Material: Linden | Weight in kg: 0.3" in document.text
    assert "def eggs(days):\n    # two thousand a day\n    return 2000 * days" in document.text
    assert "See the society for more." in document.text
    assert "In early summer, when there is most nectar." in document.text


LISTS = {
    "a.org": "1. one\n   - x\n   - deep\n2. two\n   more\n3. three\n\nText.\n\n1. [@1] four\n",
    "a.rst": "#. one\n\n   - x\n   - deep\n\n#. two\n   more\n3. three\n\nText.\n\n#. four\n",
    "a.adoc": ". one\n* x\n** deep\n. two\n+\nmore\n\n. three\n\nText.\n\n. four\n",
    "a.tex": "\\begin{enumerate}\n\\item one\n\\begin{itemize}\n\\item x\n\\item deep\n"
    "\\end{itemize}\n\\item two more\n\n\\item three\n\\end{enumerate}\n\nText.\n\n"
    "\\begin{enumerate}\n\\setcounter{enumi}{0}\n\\item four\n\\end{enumerate}\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_items_of_lists_are_numbered_as_they_are_printed(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(LISTS[name])
    shown = ["1. one", "- x", "- deep", "2. two more", "3. three", "Text.", "1. four"]
    assert read(tmp_path / name).text.split("\n\n") == shown


def test_a_list_of_asciidoc_begins_with_the_number_that_it_states(tmp_path: Path) -> None:
    (tmp_path / "a.adoc").write_text('Text.\n\n[%step,start="3"]\n. a\n.. b\n\n. c\n\nEnd.\n\n. d')
    lines = read(tmp_path / "a.adoc").text.split("\n\n")
    assert lines == ["Text.", "3. a", "1. b", "4. c", "End.", "1. d"]


def test_brackets_of_asciidoc_are_kept_where_they_are_no_link(tmp_path: Path) -> None:
    (tmp_path / "a.adoc").write_text(
        "Use `ssh://[user@]hostname[:port]`, list[int] or file.txt[0].\n\n"
        "See link:a.html[one], xref:b.adoc#c[two], https://d.org[three], mailto:e@f.org[four].\n"
    )
    assert read(tmp_path / "a.adoc").text.split("\n\n") == [
        "Use ssh://[user@]hostname[:port], list[int] or file.txt[0].",
        "See one, two, three, four.",
    ]


def test_underlined_titles_of_asciidoc_are_no_listings(tmp_path: Path) -> None:
    (tmp_path / "a.adoc").write_text(
        "The tide book\n=============\n\nCurrents\n--------\n\nThey turn.\nTwice a day.\n\n"
        "Neap tides\n~~~~~~~~~~\n[verse]\n----------\nlow\nwater\n----------\n\n"
        "[[x]]\nThe gauge\n---------\nIt hangs.\n\n.A caption\n----------\nmetres\n----------\n"
    )
    document = read(tmp_path / "a.adoc")
    shown = ["The tide book", "Currents", "They turn. Twice a day.", "Neap tides", "low\nwater"]
    shown += ["The gauge", "It hangs.", "A caption", "metres"]
    assert document.text.split("\n\n") == shown
    at = document.text.index("Twice")
    place = label(locate(document.places, at, at + 5))
    assert place == "The tide book ▸ Currents ▸ lines 7–8"


@pytest.mark.parametrize(
    ("above", "shown"), [("Usage:", "Usage:"), ("Run:", "Run:"), ("* it", "- it"), ("a. b", "a. b")]
)
def test_the_line_before_a_listing_of_asciidoc_is_no_title(
    above: str, shown: str, tmp_path: Path
) -> None:
    (tmp_path / "a.adoc").write_text(
        f"= Guide\n\n{above}\n----\nmake all\nmake install\n----\n\nAfterwards.\n\n== Next\n\n"
        "Help\n----\n\nText.\n\n[source]\n----\nmake help\n----\n\nMore\n----\nEnd.\n"
    )
    document = read(tmp_path / "a.adoc")
    paragraphs = ["Guide", shown, "make all\nmake install", "Afterwards.", "Next"]
    paragraphs += ["Help", "Text.", "make help", "More", "End."]
    assert document.text.split("\n\n") == paragraphs
    assert [each.path[-1] for each in document.sections] == ["Guide", "Next", "Help", "More"]


@pytest.mark.parametrize("item", ["* item one", "- item one", ". item one", "Item one of it"])
def test_an_item_or_a_longer_line_above_a_fence_of_asciidoc_is_no_title(
    item: str, tmp_path: Path
) -> None:
    (tmp_path / "a.adoc").write_text(f"= Guide\n\n{item}\n------------\ncode()\n")
    document = read(tmp_path / "a.adoc")
    assert [each.path for each in document.sections] == [("Guide",)]


def test_an_indented_paragraph_of_asciidoc_keeps_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.adoc").write_text(
        ". one\n\n 0 none\n 1 _some_\n\n. two\n\nText\n goes on.\n\n  * an item\n"
    )
    shown = ["1. one", "0 none\n1 _some_", "2. two", "Text goes on.", "- an item"]
    assert read(tmp_path / "a.adoc").text.split("\n\n") == shown


def test_captions_and_quotations_of_latex_are_no_part_of_the_sentence_around(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.tex").write_text(
        "They stop at the road.\n\\begin{figure}[h]\n  \\includegraphics{dune}\n"
        "  \\caption{A dune\n that stopped.}\n\\end{figure}\nWe have\n\\begin{equation}\nq = 1\n"
        "\\end{equation}\nhere.\n\\begin{quote}\nSand is patient.\n\\end{quote}\nSo are we.\n"
    )
    document = read(tmp_path / "a.tex")
    shown = ["They stop at the road.", "A dune that stopped.", "We have q = 1 here."]
    assert document.text.split("\n\n") == [*shown, "Sand is patient.", "So are we."]
    at = document.text.index("A dune")
    assert label(locate(document.places, at, at + 6)) == "lines 4–5"


def test_an_escaped_underscore_of_restructuredtext_has_no_backslash(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("As M.I.A\\_ and a\\_b, ``c\\_d`` and a name_.\n")
    assert read(tmp_path / "a.rst").text == "As M.I.A_ and a_b, c\\_d and a name."
    (tmp_path / "b.rst").write_text("``Closes: #``\\ *12*, re\\ :emphasis:`read`\\ s a\\\\ b.\n")
    assert read(tmp_path / "b.rst").text == "Closes: #12, rereads a\\ b."


def test_numbers_of_restructuredtext_begin_anew_below_a_heading(tmp_path: Path) -> None:
    part = "{0}\n=====\n\n#. a\n#. b\n\n"
    (tmp_path / "a.rst").write_text(part.format("First") + part.format("Other"))
    lines = read(tmp_path / "a.rst").text.split("\n\n")
    assert lines == ["First", "1. a", "2. b", "Other", "1. a", "2. b"]


PANDOC = r"""\begin{document}
Call \texttt{make\ test}.
\begin{Highlighting}[]
\FunctionTok{make} \AttributeTok{{-}j4} \StringTok{\textquotesingle{}a\_b\textquotesingle{}}
\end{Highlighting}
\begin{longtable}[]{@{}
  >{\raggedright}p{(\columnwidth - 2\tabcolsep) * \real{0.2}}ll@{}}
\toprule Part & Size \\ \midrule \endfirsthead
Part & Size \\ \midrule \endhead
Hive & 3 \\
Hive & 3 \\ \bottomrule
\end{longtable}
\end{document}
"""


def test_latex_as_pandoc_writes_it(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(PANDOC)
    shown = ["Call make test.", "make -j4 'a_b'", "Part | Size", *["Part: Hive | Size: 3"] * 2]
    assert read(tmp_path / "a.tex").text.split("\n\n") == shown


@pytest.mark.parametrize("begin", ["{tabular}{ll}", "{tabularx}{5cm}{lX}", "{array}[t]{l>{\\bf}l}"])
def test_braces_at_the_first_cell_of_a_latex_table_are_no_argument(
    begin: str, tmp_path: Path
) -> None:
    end = begin[: begin.index("}") + 1]
    rows = f"\\begin{begin}\n{{\\bf Part}} & Size \\\\\n[a] & 3 \\\\\n\\end{end}\n"
    (tmp_path / "a.tex").write_text(rows)
    assert read(tmp_path / "a.tex").text.split("\n\n") == ["Part | Size", "Part: [a] | Size: 3"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.rst",
            ".. |hive| replace:: Apis\n   mellifera\n\nSee |hive|, ``|hive|``.\n\n"
            ".. list-table::\n   :header-rows: 1\n\n   * - Part\n     - Size\n"
            "   * - |hive|\n     - 3\n"
            '\n.. csv-table::\n   :header: "Part", "Size"\n\n   "Comb, wax", 1\n',
        ),
        (
            "a.adoc",
            ":hive: Apis mellifera\n\nSee {hive}, |hive|.\n\n"
            "|===\n|Part |Size\n\n|{hive} |3\n|===\n\n|===\n|Part |Size\n\n|Comb, wax |1\n|===\n",
        ),
    ],
)
def test_names_that_a_text_defines_stand_for_their_texts(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name).text.split("\n\n") == [
        "See Apis mellifera, |hive|.",
        *("Part | Size", "Part: Apis mellifera | Size: 3"),
        *("Part | Size", "Part: Comb, wax | Size: 1"),
    ]


def test_latex_on_few_lines_loses_nothing(tmp_path: Path) -> None:
    lines = (
        "\\newcommand{\\hive}{\\emph{Apis}}\\begin{document}",
        "A \\hive{} keeps 80\\,\\% of its c\\oe ur, says Dvo\\v{r}\\'ak. % not this",
        "So: \\begin{tabular}{ll}Part & Size\\\\ \\hive & 3\\\\ \\end{tabular} Then",
        "\\begin{verbatim}\\hive % kept\\end{verbatim}",
        "the end.\\end{document}",
    )
    (tmp_path / "a.tex").write_text("\n".join(lines))
    shown = ["A Apis keeps 80 % of its cœur, says Dvořák. So:", "Part | Size"]
    shown += ["Part: Apis | Size: 3", "Then", "\\hive % kept", "the end."]
    assert read(tmp_path / "a.tex").text.split("\n\n") == shown


def test_latex_in_comments_is_not_read_and_what_shares_a_line_is(tmp_path: Path) -> None:
    lines = (
        "\\newcommand{\\ie}{\\emph{i.e.}\\xspace}\\newcommand{\\ea}{\\end{array}}",
        "% \\renewcommand{\\ie}{viz.}",
        "\\newcommand{\\eps}{\\varepsilon}\\begin{document}",
        "Combs, \\ie wax, $\\eps{}x$.\\\\% no \\section{A}",
        "%\\section{Old}",
        "read. \\section{B} \\begin{tabular}{ll}Part & Size\\\\ a & 3\\\\ \\end{tabular} "
        "\\begin{tabular}{ll}Port & Size\\\\ b & 4\\\\ \\end{tabular}",
        "\\section{C} \\begin{verbatim}",
        "x % y",
        "\\end{verbatim}\\end{document}",
    )
    (tmp_path / "a.tex").write_text("\n".join(lines))
    assert read(tmp_path / "a.tex").text.split("\n\n") == [
        *("Combs, i.e. wax, $\\varepsilon{}x$. read.", "B"),
        *("Part | Size", "Part: a | Size: 3", "Port | Size", "Port: b | Size: 4"),
        *("C", "x % y"),
    ]


def test_a_command_that_begins_an_environment_takes_no_text_after_it(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(
        "\\def\\ba{\\begin{array}{ll}}\\def\\ea{\\end{array}}\n\\begin{document}\n"
        "\\ba a & 3\\\\\n\\ea\n\nBees & wax.\\\\\n\nMore.\n\\end{document}"
    )
    assert read(tmp_path / "a.tex").text.endswith("Bees & wax.\n\nMore.")


REFERRING = r"""\lstnewenvironment{hive}{}{}
\begin{document}
\chapter{Bees}\label{chap:bees}
\begin{script}
\scriptcaption{Count them}\label{scr:count}
\begin{scode}
if bees > 0: # {all}
  count --all ~ 'x'
\end{scode}
\end{script}
\begin{figure}\begin{center}\caption{\label{fig:comb} A \emph{comb}.}\end{center}\end{figure}
See Listing~\ref{scr:count}, Figure~\ref{fig:comb}, page~\pageref{chap:bees} and \eqref{wax}.
\begin{hive}
  % kept
\end{hive}
The \cite{frisch-1967} dance \citep[see][chapter
3]{frisch-1967,lindauer} is \citetext{new \citealp[p.~2]{seeley}}.\nocite{all}

\begin{tabular}{ll}Call & \verb|a & b --c % {d}|\\ \end{tabular} or \texttt{count --all} -- both.
\begin{thebibliography}{9}
\bibitem{seeley} Seeley.
\bibitem{lindauer} Lindauer.
\end{thebibliography}
\end{document}
"""


def test_latex_keeps_what_it_refers_to_and_its_code(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(REFERRING)
    document = read(tmp_path / "a.tex")
    assert document.title == "Bees"
    assert document.text.split("\n\n") == [
        *("Bees", "Count them", "if bees > 0: # {all}\n  count --all ~ 'x'"),
        "A comb. See Listing “Count them”, Figure “A comb”, page “Bees” and [wax].",
        "% kept",
        "The [frisch-1967] dance [see frisch-1967, lindauer, chapter 3] is new [seeley, p. 2].",
        *("Call | a & b --c % {d}", "or count --all – both."),
        *("[seeley] Seeley.", "[lindauer] Lindauer."),
    ]


def test_examples_of_python_in_restructuredtext_keep_their_lines(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text(
        "Try:\n\n>>> for x in 1, 2:\n...     print(x)\n1\n2\n\nNow.\n\n"
        ".. note::\n\n   As here:\n\n   >>> f(x)_\n   3\n\n   .. code:: c\n\n      if (x)\n"
        "        y;\n\n   .. versionadded:: 2.1\n"
    )
    assert read(tmp_path / "a.rst").text.split("\n\n") == [
        *("Try:", ">>> for x in 1, 2:\n...     print(x)\n1\n2", "Now."),
        *("As here:", ">>> f(x)_\n3", "if (x)\n  y;", "Added in version 2.1"),
    ]


def test_directives_within_one_another_without_end_do_no_harm(tmp_path: Path) -> None:
    lines = [f"{' ' * depth}.. note:: {depth}." for depth in range(500)]
    (tmp_path / "a.rst").write_text("\n\n".join(lines))
    text = read(tmp_path / "a.rst").text
    assert text.startswith("0.\n\n1.\n\n2.")
    assert all(f"{depth}." in text for depth in range(500))


def test_a_formula_of_restructuredtext_keeps_its_signs(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("Where :math:`|x| < 1` and |y| :math:`a * b * c`.\n")
    assert read(tmp_path / "a.rst").text == "Where |x| < 1 and y a * b * c."


@pytest.mark.parametrize("columns", [",,", "1,<2,^3", "3*"])
def test_the_header_of_a_table_of_asciidoc_may_fill_several_lines(
    columns: str, tmp_path: Path
) -> None:
    rows = "|Part |Size\n|Price\n\n|Hive |3 |9\n|Comb\n|1 |2"
    (tmp_path / "a.adoc").write_text(f'[cols="{columns}",options="header",]\n|===\n{rows}\n|===\n')
    shown = ["Part | Size | Price", "Part: Hive | Size: 3 | Price: 9"]
    assert read(tmp_path / "a.adoc").text.split("\n\n")[:2] == shown


def test_a_literal_may_be_a_link_in_restructuredtext(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("The ```api.js`` <./api.js>`__ and `a page <x>`_.\n")
    assert read(tmp_path / "a.rst").text == "The api.js and a page."


def test_a_line_of_code_is_not_cut_at_a_full_stop(tmp_path: Path) -> None:
    path = tmp_path / "talk.py"
    path.write_text(
        "".join(f"x{n} = 'One sentence. Another one.'  # And. More.\n" for n in range(40))
    )
    document = read(path)
    chunks = chunk(
        document,
        document_id="d",
        chunk_id=str,
        count_tokens=count_words,
        target_tokens=20,
        language="en",
    )
    assert len(chunks) > 5
    assert all(each.text.startswith("x") and each.text.endswith(("\n", "More.")) for each in chunks)


def test_minified_code_is_refused_by_name(tmp_path: Path) -> None:
    index = tmp_path / "searchindex.js"
    index.write_text("Search.setIndex({" + "terms:[1,2]," * 1000 + "})\n", "utf-8")
    with pytest.raises(DocumentError, match=r"searchindex\.js is minified or generated code"):
        read(index)


def test_outputs_of_a_notebook_are_read_as_shown_and_bounded(tmp_path: Path) -> None:
    table = "<table><tr><th>Berth</th><th>Depth</th></tr><tr><td>N1</td><td>14 m</td></tr></table>"
    outputs: list[dict[str, object]] = [
        {"data": {"text/html": [table], "text/plain": ["  Berth Depth\n0 N1 14 m"]}},
        {
            "data": {
                "text/html": "<b>High water</b>",
                "text/plain": "<IPython.core.display.HTML object>",
            }
        },
        {"data": {"text/plain": "<Figure object at 0x7f00>", "image/png": "iVBO"}},
        {"text": ["10 %\r", "100 %\n", "\x1b[31mred\x1b[0m\n"]},
        {"ename": "KeyError", "evalue": "'N9'", "traceback": ["line 3", "KeyError: 'N9'"]},
        {"text": "8" * 30_000},
    ]
    cell = {"cell_type": "code", "source": "show()", "outputs": outputs}
    path = tmp_path / "shown.ipynb"
    path.write_text(json.dumps({"cells": [cell]}))
    document = read(path)
    before, _, rest = document.text.partition("888")
    assert before.split("\n\n") == [
        *("show()", "Berth | Depth", "Berth: N1 | Depth: 14 m", "High water", "100 %\nred"),
        *("line 3\nKeyError: 'N9'", ""),
    ]
    assert rest.endswith("8\n\n… (10,000 more characters of output)")
    assert document.warnings == ("Of long outputs, 20,000 characters are read; cut: 1.",)


def test_an_empty_comment_of_restructuredtext_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "note.rst"
    path.write_text(
        "Tides\n=====\n\n   A quotation.\n\n..\n\n   Another one.\n\n.. hidden\n   too\n"
    )
    assert read(path).text == "Tides\n\nA quotation.\n\nAnother one."


def test_a_table_of_org_may_follow_a_line_of_text(tmp_path: Path) -> None:
    path = tmp_path / "tides.org"
    path.write_text("Heights:\n| Port | Height |\n|------+--------|\n| Brest | 6 m |\nSee below.\n")
    assert read(path).text.split("\n\n") == [
        *("Heights:", "Port | Height", "Port: Brest | Height: 6 m", "See below."),
    ]


def test_json_in_one_line_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    path.write_text("{" + ",".join(f'"key{n}": {{"a": "{"word " * 9}"}}' for n in range(99)) + "}")
    document = read(path)
    assert "no line breaks" in document.warnings[0]
    assert document.sections[0].path == ("key0",)


@pytest.mark.parametrize("name", ["a.json", "a.ipynb"])
def test_json_that_is_none_is_damaged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"cells": ')
    with pytest.raises(DocumentError) as caught:
        read(tmp_path / name)
    assert caught.value.code == "damaged"

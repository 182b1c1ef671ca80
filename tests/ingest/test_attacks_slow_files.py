"""Files that are made to keep quoth busy: what adding them takes grows with their length alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from quoth.core.types import Section
from quoth.ingest.chunker import chunk
from quoth.ingest.enrich.chapters import contents_of
from quoth.ingest.readers.latex import read_latex
from quoth.ingest.readers.markdown import make_parser, read_markdown
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.sandbox.limits import MAX_SECTIONS, enforce_limits
from quoth.testing import HashEmbedder
from tests.support.counting import is_proportional

LENGTH = 24_000
UNITS = [
    ". ",
    "\n\na",
    "# a\n",
    "![",
    "[",
    "[a](",
    "A a ",
    "0 ",
    "A-",
    "a. ",
    "A",
    "<",
    "中",
    "|a|b|\n",
]


@pytest.mark.parametrize("unit", UNITS[::3])
def test_one_sign_over_and_over_is_read_and_cut_soon(unit: str) -> None:
    assert is_proportional(read_and_cut, unit * (LENGTH // len(unit)))


OWN = "\\lstnewenvironment{{hive{0}}}{{}}{{}}\n" + "\\begin{{hiveh}}" * 10 + "\n"
NAMES = map("".join, product("abcdefgh", repeat=4))


@pytest.mark.parametrize("text", ["\\begin{" + "code" * 25_000, "".join(map(OWN.format, NAMES))])
def test_names_of_environments_of_latex_are_found_soon(text: str) -> None:
    assert is_proportional(lambda part: read_latex(SourceFile("a.tex", b"", text=part)), text)


def read_and_cut(text: str) -> None:
    """Read a file and split it into chunks."""
    reading = enforce_limits(read_markdown(SourceFile("x.md", b"", text=text)))
    cut = chunk(
        reading,
        document_id="d",
        chunk_id=str,
        count_tokens=HashEmbedder().count_tokens,
        language="en",
    )
    assert len(contents_of(reading, cut)[0]) == len(cut)
    assert "".join(each.text for each in cut) == reading.text


@pytest.mark.parametrize("links", [1, 3, 9])
def test_links_in_brackets_are_still_links(links: int) -> None:
    text = "[" * links + "[word](address)" + "]" * links
    assert f'<a href="address">word</a>{"]" * links}' in make_parser().render(text)


def test_headings_beyond_any_count_name_no_sections() -> None:
    reading = read_markdown(SourceFile("x.md", b"", text="# a\n\nText."))
    many = replace(reading, sections=(Section(0, 1, ("a",)),) * (MAX_SECTIONS + 1))
    kept = enforce_limits(many)
    assert (len(kept.sections), len(kept.warnings)) == (MAX_SECTIONS, 1)

"""A file is read as what it is, whatever its name says."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quoth.core.errors import DocumentError
from quoth.ingest.readers.formats import (
    READERS,
    SUFFIX_FORMATS,
    Format,
    is_wanted,
)
from quoth.ingest.readers.metadata import Metadata, front_matter
from quoth.ingest.readers.registry import SUFFIXES, read, sidecar
from quoth.text.recordings import youtube_url

FIXTURES = Path(__file__).parents[1] / "fixtures"
VIDEO = "https://www.youtube.com/watch?v=00GKzGyWFEs"
SRT = "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n"
PLAIN = "A plain text.\n\nWith two paragraphs.\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def code_of(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert path.name in str(caught.value)
    return caught.value.code


@pytest.mark.parametrize(
    ("source", "name", "kind"),
    [
        ("pages/guide.html", "guide.md", "html"),
        ("pages/guide.html", "guide.pdf", "html"),
        ("transcripts/jardin.sbv", "jardin.srt", "transcript"),
        ("transcripts/lecture.srt", "lecture.txt", "transcript"),
        ("transcripts/talk.vtt", "talk.html", "transcript"),
        ("transcripts/whisper.json", "whisper.txt", "transcript"),
    ],
)
def test_a_mislabelled_file_is_read_as_what_it_is(
    tmp_path: Path, source: str, name: str, kind: str
) -> None:
    shutil.copy(FIXTURES / source, tmp_path / name)
    reading = read(tmp_path / name)
    assert reading.kind == kind
    assert any("is named like" in warning for warning in reading.warnings)


def test_a_pdf_is_known_under_any_name(tmp_path: Path) -> None:
    book = Path(__file__).parents[2] / "examples" / "hf-course" / "books" / "course.fr.pdf"
    shutil.copy(book, tmp_path / "book.txt")
    reading = read(tmp_path / "book.txt", Metadata(title="Mon livre"))
    assert (reading.kind, reading.title) == ("pdf", "Mon livre")
    assert "holds a PDF" in reading.warnings[0]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.txt", b"", "empty"),
        ("a.md", b" \n\t\n", "empty"),
        ("a.txt", b"\xef\xbb\xbf\x00\x00", "empty"),
        ("a.md", b"---\ntitle: x\n---\n", "empty"),
        ("a.html", b"<html><body><script>x</script></body></html>", "empty"),
        ("a.docx", b"PK\x03\x04" + bytes(100), "damaged"),
        ("a.pdf", b"PK\x03\x04" + bytes(100), "damaged"),
        ("a.txt", b"GIF8" + bytes(50), "unsupported"),
        ("a.txt", bytes(range(256)) * 20, "unsupported"),
        ("a.srt", os.urandom(5000), "unsupported"),
        ("a.json", b'{"name": ', "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    assert code_of(write(tmp_path, name, content)) == code


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none.txt") == "not_found"
    assert code_of(tmp_path) == "unsupported"


@pytest.mark.parametrize(
    ("encoding", "warned"),
    [
        ("utf-8", False),
        ("utf-8-sig", False),
        ("utf-16", False),
        ("utf-16-le", True),
        ("utf-16-be", True),
        ("cp1252", True),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, warned: bool) -> None:
    text = "Voilà l’été : « déjà » fini, et l'hiver n'est pas loin."
    reading = read(write(tmp_path, "a.txt", text.encode(encoding)))
    assert (reading.text, bool(reading.warnings)) == (text, warned)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp932", "港の潮は一日に二回変わります。\nFishermen: 漁師たちは月を見ます。"),
        ("euc_jp", "港の潮は一日に二回変わります。\nFishermen: 漁師たちは月を見ます。"),
        ("gb18030", "港口的潮水每天变化两次，渔民们都看着月亮，等待下一次涨潮的时候出海。"),
        ("big5", "港口的潮水每天變化兩次，漁民們都看著月亮，等待下一次漲潮的時候出海。"),
        ("euc_kr", "항구의 조수는 하루에 두 번 바뀝니다. 어부들은 달을 보고 바다로 나갑니다."),
        (
            "cp1251",
            "Вода в гавани меняется дважды в день, и рыбаки смотрят на луну, прежде чем выйти.",
        ),
        (
            "koi8_r",
            "Вода в гавани меняется дважды в день, и рыбаки смотрят на луну, прежде чем выйти.",
        ),
        (
            "cp1253",
            "Η παλίρροια στο λιμάνι αλλάζει δύο φορές την ημέρα και οι ψαράδες κοιτούν το φεγγάρι.",
        ),
        (
            "cp1256",
            "يتغير المد في الميناء مرتين في اليوم وينظر الصيادون إلى القمر قبل الإبحار إلى البحر.",
        ),
    ],
)
def test_encodings_of_other_scripts_are_told_by_their_letters(
    tmp_path: Path, encoding: str, text: str
) -> None:
    reading = read(write(tmp_path, "a.txt", text.encode(encoding)))
    assert (reading.text, len(reading.warnings)) == (text, 1)


@pytest.mark.parametrize(
    "text",
    [
        *("déjà été", "ÉTÉ À LA PLAGE", "Señor Núñez", "20 °C ± 2 °C\n5 µm × 3 µm"),
        *(
            "Größe: äöü ÄÖÜß",
            "Ça a été créé là-bas, très tôt.",
            "L'ÉTÉ A ÉTÉ TRÈS BEAU À EZE.\n" * 9,
        ),
    ],
)
def test_western_texts_are_not_taken_for_others(tmp_path: Path, text: str) -> None:
    reading = read(write(tmp_path, "a.txt", text.encode("cp1252")))
    assert reading.text == text.strip()


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp"])
def test_japanese_is_told_in_long_texts_and_in_comments(tmp_path: Path, encoding: str) -> None:
    line = "港の潮は一日に二回変わります。漁師たちは月を見ます。"
    for text in ("a" + line * 4000, f"total = first + second\n\n{line}\n\n" * 3 + "end = 1\n" * 50):
        reading = read(write(tmp_path, "a.txt", text.encode(encoding)))
        assert reading.text.count(line) == text.count(line)


def test_newlines_and_unseen_characters(tmp_path: Path) -> None:
    reading = read(write(tmp_path, "a.txt", "a\r\nb\rc\x00d\u00ade\u0301\u200b\n"))
    assert reading.text == "a\nb\ncdé"


@pytest.mark.parametrize("name", ["talk.srt.meta.json", "talk.meta.json"])
def test_a_sidecar_describes_the_file(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "talk.srt", SRT)
    values = {"title": "T", "youtube": "00GKzGyWFEs", "speaker": "Ann", "language": "fr-CA"}
    beside = write(tmp_path, name, json.dumps(values))
    reading = read(path)
    assert sidecar(path) == beside
    assert (reading.title, reading.url, reading.speaker, reading.language) == (
        *("T", VIDEO, "Ann", "fr"),
    )


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ('{"title": "T", "colour": "red"}', "'colour'"),
        ("{", "not valid JSON"),
        ("[1]", "object"),
        ('{"title": 3}', "no text"),
        ('{"url": "javascript:alert(1)"}', "not a web address"),
        ('{"language": "français"}', "not a language code"),
    ],
)
def test_a_faulty_sidecar_is_a_warning(tmp_path: Path, content: str, part: str) -> None:
    path = write(tmp_path, "a.txt", PLAIN)
    write(tmp_path, "a.meta.json", content)
    reading = read(path)
    assert any(part in warning for warning in reading.warnings)
    assert reading.url is None


@pytest.mark.parametrize(
    "text",
    [
        "---\nJust a rule.\n---\nText",
        "---\n\n---\nText",
        "---\ntitle: never closed",
        "text\n---\na: b\n---\n",
    ],
)
def test_dashes_that_are_no_front_matter(text: str) -> None:
    assert front_matter(text)[1] == text


@pytest.mark.parametrize(
    "address",
    [
        "https://www.youtube.com/watch?v=00GKzGyWFEs",
        "http://youtube.com/watch?app=desktop&v=00GKzGyWFEs&t=12s&list=PL1",
        "https://youtu.be/00GKzGyWFEs?si=abc&t=3",
        "https://www.youtube.com/embed/00GKzGyWFEs?start=4",
        "https://www.youtube.com/shorts/00GKzGyWFEs",
        "https://m.youtube.com/live/00GKzGyWFEs?feature=share",
        "https://www.youtube-nocookie.com/embed/00GKzGyWFEs",
        "youtu.be/00GKzGyWFEs",
    ],
)
def test_youtube_addresses(address: str) -> None:
    assert youtube_url(address) == VIDEO


@pytest.mark.parametrize(
    "address",
    [
        *("https://notyoutube.com/watch?v=00GKzGyWFEs", "https://www.youtube.com/@channel"),
        *(
            "https://youtu.be/",
            "https://www.youtube.com/watch?v=short",
            "ftp://youtu.be/00GKzGyWFEs",
        ),
        *("", "https://[broken"),
    ],
)
def test_addresses_that_are_no_video(address: str) -> None:
    assert youtube_url(address) is None


def test_every_format_is_in_every_table() -> None:
    """What a new format needs beside its reader (docs/extending.md)."""
    formats = set(get_args(Format))
    assert set(READERS) == formats
    # What is said in Markdown, and what has times, is known by its content alone.
    assert set(SUFFIX_FORMATS.values()) == formats - {"spoken", "timed"}
    page = (FIXTURES.parents[1] / "docs" / "formats.md").read_text("utf-8")
    shown = {name for name in SUFFIX_FORMATS if SUFFIX_FORMATS[name] not in ("code", "data")}
    assert [
        name for name in sorted(shown) if f"{name} " not in page and f"{name}`" not in page
    ] == []


def test_a_walk_picks_up_what_can_be_read(tmp_path: Path) -> None:
    names = {
        "a.PDF": True,
        "a.md": True,
        "a.gif": False,
        "a.py": True,
        "a.srt.meta.json": False,
        "package.json": True,
        "talk.json": True,
    }
    for name in names:
        write(
            tmp_path, name, '{"segments": [{"start": 1, "text": "x"}]}' if "talk" in name else "{}"
        )
    assert {name: is_wanted(tmp_path / name) for name in names} == names
    assert {".pdf", ".md", ".txt", ".html", ".srt", ".vtt", ".sbv", ".json"} <= SUFFIXES


def test_wrapped_prose_is_joined_and_verse_is_not(tmp_path: Path) -> None:
    prose = (
        "The hedge grows slowly in the first year, because its roots need all the well-\n"
        "known strength that the soil can give. In the second year it grows as fast as\n"
        "anybody could wish, and from the third year on it has to be trimmed twice in a\n"
        "summer, in June and in August, with shears that are sharp and with a calm hand.\n"
        "Then it lasts."
    )
    verse = "Roses are red\nViolets are blue"
    reading = read(write(tmp_path, "a.txt", f"{prose}\n\n{verse}\n\n    x = 1\n    y = 2"))
    first, second, third = reading.text.split("\n\n")
    assert "\n" not in first
    assert "well-known" in first
    assert second == verse
    assert third.split("\n") == ["    x = 1", "    y = 2"]


def test_only_plain_headings_are_taken_for_headings(tmp_path: Path) -> None:
    text = "Title\n=====\n\nText.\n\n1.2 Deeper\n\nMore.\n\n1. A list\n\nCHAPTER IV\n\nThe end."
    text += "\n\nA.1. Votes\n\nCount them.\n\nA.2. Who counts?\n\nAda does.\n\nA. Ada wrote this"
    reading = read(write(tmp_path, "a.txt", text))
    assert [section.path for section in reading.sections] == [
        ("Title",),
        ("Title", "1.2 Deeper"),
        ("CHAPTER IV",),
        ("CHAPTER IV", "A.1. Votes"),
        ("CHAPTER IV", "A.2. Who counts?"),
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.one_of(
        st.binary(max_size=300), st.text(max_size=300).map(lambda t: t.encode("utf-8", "replace"))
    ),
    suffix=st.sampled_from([".txt", ".md", ".html", ".srt", ".vtt", ".json"]),
)
def test_any_bytes_give_a_reading_or_a_code(tmp_path: Path, content: bytes, suffix: str) -> None:
    try:
        reading = read(write(tmp_path, f"any{suffix}", content))
    except DocumentError:
        return
    assert "\x00" not in reading.text
    reading.text.encode("utf-8")
    position = 0
    for place in reading.places:
        assert not reading.text[position : place.start].strip()
        position = place.end
    assert not reading.text[position:].strip()


def test_a_literal_of_restructuredtext_has_no_markup_in_it(tmp_path: Path) -> None:
    path = tmp_path / "tools.rst"
    path.write_text(
        "Run ``lint --files <changed>`` on \U000f0000 ``*.py`` and ``a_`` of **``main``**;\n"
        "see ```api.js`` <./api.js>`__ and `The ``read`` page <read.html>`_.\n"
    )
    assert read(path).text == (
        "Run lint --files <changed> on \U000f0000 *.py and a_ of main; "
        "see api.js and The read page."
    )


def test_restructuredtext_is_known_under_the_name_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "swarms.txt"
    path.write_text(
        ".. _swarms:\n\nSwarms\n======\n\n"
        ".. note::\n\n   See `the queen`_.\n\n.. _the queen: q.html\n"
    )
    reading = read(path)
    assert (reading.text, reading.warnings) == ("Swarms\n\nSee the queen.", ())
    shown = "Notes\n=====\n\n```\n.. note:: a\n.. note:: b\n```\n"
    path.write_text(shown)
    assert ".. note:: b" in read(path).text


def test_titles_and_signs_of_latex(tmp_path: Path) -> None:
    path = tmp_path / "api.tex"
    path.write_text(
        "\\begin{document}\n"
        "\\paragraph{\\texorpdfstring{\\texttt{sourceAndMap}}{sourceAndMap}}\\label{map}\n"
        "Is \\textless{} 3 \\textgreater{} 1, see \\protect\\hyperlink{other-maps}{Maps}.\n\n"
        "\\begin{Highlighting}[]\n"
        "\\NormalTok{a }\\OperatorTok{{-}\\textgreater{}} \\StringTok{\\textbackslash{}n}\n"
        "\\end{Highlighting}\n"
        "\\end{document}\n"
    )
    document = read(path)
    assert document.text == "sourceAndMap\n\nIs < 3 > 1, see Maps.\n\na -> \\n"
    assert [each.path for each in document.sections] == [("sourceAndMap",)]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (
            r"\begin{codelisting}\caption{Count them}\label{lst:c}\begin{Shaded}"
            "\\begin{Highlighting}[]\n\\FunctionTok{make} \\AttributeTok{{-}j4}\n"
            r"\end{Highlighting}\end{Shaded}\end{codelisting} See \ref{lst:c}.",
            "Count them\n\nmake -j4\n\nSee “Count them”.",
        ),
        (r"\begin{decoder}It \emph{reads}.\end{decoder}", "It reads."),
        (r"\begin{barcode}It \emph{reads}.\end{barcode}", "It reads."),
        ("\\begin{code}x = 1\ny = 2\n\\end{code}", "x = 1\ny = 2"),
        ("\\begin{scodebit}[a]\nx = {1}\n\\end{scodebit}", "x = {1}"),
        (r"$x = 1 \eqref{eq:a-1}$", "$x = 1 [eq:a-1]$"),
        ("a \ue0005\ue001 $x$ b", "a 5 $x$ b"),
        (r"\[ y \ref{eq:b} \]", r"\[ y [eq:b] \]"),
        (r"$f(\verb|a_b|)$", "$f(a_b)$"),
        (r"\verb|%| \begin{verbatim}\verb|x%y|\end{verbatim}", "%\n\n\\verb|x%y|"),
        (r"\texttt{caf\'e d\`a}, \file{d\'ej\`a}, \texttt{l'\'et\'e}", "café dà, déjà, l'été"),
        (r"\cites[see][3]{a}[4]{b-c}, \parencites{a}{b}", "[see a, 3; b-c, 4], [a; b]"),
        (r"\excited{We} are.", "We are."),
        (r"\begin{quote}\cite{seeley} says.\end{quote}", "[seeley] says."),
        (r"\begingroup Wax.\endgroup", "Wax."),
        (
            "\\begin{theorem}[Turing]\nIt may run on.\\end{theorem}",
            "Theorem (Turing). It may run on.",
        ),
        ("\\newtheorem{satz}{Satz}\n\n\\begin{satz}Zwei.\\end{satz}", "Satz. Zwei."),
        ("\\begin{itemize}\n\\item One.\n\\end{itemize}\nTwo.", "- One.\n\nTwo."),
        ("\\section{Use \\verb|a_b|}\\label{s}\nSee \\ref{s}.", "Use a_b\n\nSee “Use a_b”."),
    ],
)
def test_latex_is_read_as_it_is_printed(source: str, shown: str, tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.tex", source)).text == shown

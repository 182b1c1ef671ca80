"""Measure the readers on real files: collect them, make more by other programs, read and compare.

    python scripts/measure_formats.py FOLDER DIRECTORY...

Files are taken from the directories, such as unpacked packages and /usr/share/doc, at most `MOST`
of each kind; pandoc and LibreOffice make more of them. ``quoth add FOLDER`` reads all; then each
text is compared with the one that the program of the format exports: the share of its words that
are there, and of those that stand in the same order. Needs pandoc, soffice and pdftotext.

Some of an export is no loss where it is missing, and is left out of a second, fair recall:
- running heads and feet, the lines at the edges of pages that stand on at least `REPEATED` of them
  (numbers aside): readers leave them out on purpose, since they would interrupt sentences;
- charts: lines of numbers and days alone, which are the ticks of axes, and of at most two letters,
  which are pieces of rotated labels (in PDF pages);
- navigation: elements of a page of the web that are named so, lists of links, and pictures; in
  reStructuredText `toctree`, pictures, and the names of roles;
- captions: what is no cue by the WebVTT standard (header, notes, identifiers, blocks without a
  time that can be read), and the tags in a cue, with the name of its voice;
- what an exporter writes twice or breaks: a note for each of its marks, a word of a PDF page that
  fills its box and goes on in the next line without a hyphen, and literals as text of links.

Cells of sheets are compared by value, since a file may show "12.03.23" or "1,00E+05" where an
export has "03/12/2023" or "100000": see `by_value`.
Both figures are printed. The files that fall short are named by the fair one, with the words that
are missing.
"""

from __future__ import annotations

import csv
import html
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from tempfile import gettempdir
from xml.etree import ElementTree

from rapidfuzz.distance import LCSseq
from selectolax.lexbor import LexborHTMLParser

from quoth.core.errors import DocumentError
from quoth.ingest.readers.registry import read

MOST = 8
"""Files of a kind that are taken."""
MOST_WORDS = 10_000
"""Words of a file whose order is compared."""
DIGITS = 12
"""Characters of a number in a table that are compared."""
ENOUGH = 0.98
"""Recall below which a file falls short."""
MOST_MISSING = 12
"""Missing words of a file that are printed."""
REPEATED = 3
"""Pages on which a line at the edge is a running head or foot."""
SIZES = 200, 5_000_000
KINDS = (
    "pdf html xhtml md txt srt vtt epub docx odt rtf pptx odp xlsx xls ods csv tsv parquet ipynb "
    "py js c go rs java yaml yml toml json xml rst adoc org tex eml mbox zip gz png tif tiff jpg"
).split()
PANDOC = {
    **{"docx": "docx", "odt": "odt", "epub": "epub", "rst": "rst", "org": "org", "tex": "latex"},
    **{"html": "html", "xhtml": "html", "ipynb": "ipynb", "md": "gfm", "rtf": "rtf"},
}
MADE = ("docx", "odt", "epub", "rst", "org", "tex", "html", "ipynb", "rtf", "adoc", "pptx", "md")
OFFICE = {
    ".docx": ("odt", "rtf", "pdf"),
    ".pptx": ("odp", "pdf"),
    ".csv": ("xlsx", "xls", "ods"),
}
SHEETS = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
"""All sheets, their cells as they are shown."""
NAVIGATION = (
    "nav, header, footer, aside, img, [role=navigation], .toc, .docnav, .footer, .related, "
    ".sphinxsidebar"
)
BY_VALUE = ("xlsx", "xls", "ods")
TEXT = set("txt py js c go rs java yaml yml toml json xml csv tsv srt vtt eml mbox".split())
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)
_NUMERIC = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?|0x[0-9a-f]+")
_DIGITS = re.compile(r"\d+")
_TICK = r"([-+]?[\d.,/]+%?|\w{1,2})"
_TICKS = re.compile(rf"{_TICK}(\s+{_TICK})*")
_NOTE = re.compile(r"^\[\d+\] (.*)$", re.MULTILINE)
_CUE = re.compile(r"^(\d+|.*-->.*|[\d:.,]+|WEBVTT.*)$", re.MULTILINE)
_VTT_CUE = re.compile(r"(?m)^[\d:.]+[ \t]+-->[ \t]+[\d:.]+(?:[ \t].*)?\n((?:.+\n?)*)")
_CUE_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<[\d:.]+>")
_RST = (
    # Directives with what is indented below them.
    (re.compile(r"(?m)^([ \t]*)\.\. (?:meta|toctree|image)::.*\n(?:[ \t]*\n|\1[ \t]+.*\n)*"), ""),
    (re.compile(r":[\w:+.-]+:(?=`)"), ""),
    (re.compile(r"```([^`]*)``([^`<]*)<[^<>`]*>`__?"), r"``\1``\2"),
)
"""What is left out of reStructuredText; and literals as text of links, which only pandoc writes."""
_DATE = re.compile(r"\b(?:(\d{4})-(\d\d)-(\d\d)|(\d{1,2})([./-])(\d{1,2})\5(\d\d(?:\d\d)?))\b")
_TIME = re.compile(r"\b(\d{1,3}):(\d\d)(?::(\d\d))?(?:\.0+)?(?: ?([AP])M)?\b")
_AMOUNT = re.compile(r"(?<![\w.,])\d[\d.,]*(?:E[-+]?\d+)?(?![\w.,]*\w)")


def run(*words: str | Path) -> str:
    """Run a program; gives what it writes, nothing where it fails."""
    done = subprocess.run(words, capture_output=True, timeout=180, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def convert(files: Sequence[Path], kind: str, folder: Path) -> None:
    """Convert files by LibreOffice."""
    if files:
        run("soffice", "--headless", "--convert-to", kind, "--outdir", folder, *files)


def collect(folder: Path, directories: Sequence[str]) -> None:
    """Copy files of every kind, evenly from all that are there."""
    found, (least, most) = defaultdict(list), SIZES
    for directory in directories:
        for root, _, names in os.walk(directory):
            for name in names:
                path = Path(root, name)
                kind = path.suffix[1:].lower()
                if kind in KINDS and path.is_file() and least <= path.stat().st_size <= most:
                    found[kind].append(path)
    for kind, paths in found.items():
        paths.sort(key=lambda path: path.name)
        for path in paths[:: max(1, len(paths) // MOST)][:MOST]:
            shutil.copy(path, folder / f"{len(list(folder.iterdir())):03} {path.name}")
        print(f"{kind}: {min(len(paths), MOST)} of {len(paths)}")


def make(folder: Path) -> None:
    """Make documents by pandoc and LibreOffice out of those that are there."""
    for source in sorted(folder.glob("*.md"))[:3]:
        for kind in MADE:
            if kind != "md":
                run("pandoc", "-s", source, "-o", folder / f"{source.stem} pandoc.{kind}")
    make_tables(folder)
    for table in small_tables(folder):
        page = table.with_suffix(".html")
        page.write_text(as_html(rows_of(table)), encoding="utf-8")
        for kind in MADE:
            to = ["-t", "gfm"] if kind == "md" else []  # its own tables are no Markdown elsewhere
            run("pandoc", "-s", page, *to, "-o", page.with_suffix(f".{kind}"))
    for suffix, kinds in OFFICE.items():
        sources = sorted(folder.glob(f"*{suffix}"))[:MOST] + sorted(folder.glob(f"table *{suffix}"))
        for kind in kinds:
            convert(sources, kind, folder)


def rows_of(path: Path) -> list[list[str]]:
    """Return the rows of a table of comma-separated values."""
    return list(csv.reader(path.read_text("utf-8", "replace").splitlines()))


def small_tables(folder: Path) -> list[Path]:
    """Return the tables that `make` has made."""
    return sorted(folder.glob("table *.csv"))


def make_tables(folder: Path) -> None:
    """Make small tables of the beginnings of those that are there."""
    for path in sorted(folder.glob("*.csv")):
        rows = [row for row in rows_of(path) if 2 <= len(row) <= 12]
        rows = [row for row in rows if len(row) == len(rows[0]) and all(map(str.strip, row))][:30]
        if len(rows) > 2 and not any(_NUMERIC.fullmatch(cell.strip()) for cell in rows[0]):
            with (folder / f"table {path.stem[4:]}.csv").open("w", encoding="utf-8") as file:
                csv.writer(file).writerows(rows)


def as_html(rows: Sequence[Sequence[str]]) -> str:
    """Write a table as a page."""
    lines = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines[1:])
    return f"<title>Table</title><table><thead><tr>{lines[0]}</tr></thead><tbody>{body}</table>"


def exported(path: Path, folder: Path) -> str:
    """Return the text of a file as another program has it, nothing where none does."""
    kind = path.suffix[1:].lower()
    if kind == "pdf":
        return run("pdftotext", path, "-")
    if kind in ("pptx", "odp"):
        convert([path], "fodp", folder)
        return paragraphs(folder / f"{path.stem}.fodp")
    if kind in BY_VALUE:
        convert([path], SHEETS, folder)
        return "\n".join(
            each.read_text("utf-8", "replace") for each in sorted(folder.glob("*.csv"))
        )
    if kind in PANDOC:
        return run("pandoc", "-f", PANDOC[kind], "-t", "plain", "--wrap=none", path)
    text = path.read_text("utf-8", "replace") if kind in TEXT else ""
    text = "\n".join(text.splitlines())  # captions often have the line ends of DOS
    return _CUE.sub("", text) if kind in ("srt", "vtt") else text


def paragraphs(path: Path) -> str:
    """Return the paragraphs of a flat OpenDocument file, nothing where it was not written.

    A page drawn of a slide lacks what runs off it, and breaks words that are wider than a cell.
    """
    if not path.is_file():
        return ""
    body = next(each for each in ElementTree.parse(path).iter() if each.tag.endswith("}body"))
    for each in list(body.iter()):
        if each.tag.endswith("}master-styles"):  # heads and feet of an embedded sheet
            each.clear()
        elif each.tag.endswith(("}line-break", "}tab", "}s")):
            each.text = " "
    return "\n".join("".join(each.itertext()) for each in body.iter() if each.tag.endswith("}p"))


def fair(path: Path, text: str, read_text: str) -> str:
    """Return an export without what readers leave out on purpose, and what it has twice."""
    kind = path.suffix[1:].lower()
    if kind in ("html", "xhtml"):
        return run("pandoc", "-f", "html", "-t", "plain", "--wrap=none", _without_links(path))
    if kind in BY_VALUE:
        cells = csv.reader(text.splitlines(keepends=True))
        return by_value("\n".join(" | ".join(row) for row in cells))
    if kind in ("vtt", "srt"):
        return cues(path)
    if kind == "rst":
        source = path.read_text("utf-8", "replace")
        for pattern, kept in _RST:
            source = pattern.sub(kept, source)
        draft = Path(gettempdir()) / "fair.rst"
        draft.write_text(source, encoding="utf-8")
        return run("pandoc", "-f", "rst", "-t", "plain", "--wrap=none", draft)
    if kind in PANDOC:
        seen: set[str] = set()
        return _NOTE.sub(lambda m: "" if m[1] in seen or seen.add(m[1]) else m[0], text)
    if kind != "pdf":
        return text
    pages = [[line for line in page.splitlines() if line.strip()] for page in text.split("\f")]
    edges = Counter(
        edge for page in pages for edge in {_DIGITS.sub("#", line) for line in page[:3] + page[-3:]}
    )
    kept = [line for page in pages for line in page if edges[_DIGITS.sub("#", line)] < REPEATED]
    lines = _rejoined(kept, set(_WORD.findall(unicodedata.normalize("NFKD", read_text))))
    return "\n".join(line for line in lines if not _TICKS.fullmatch(line))


def cues(path: Path) -> str:
    """Return the words of captions: of WebVTT the cues of the standard, without tags."""
    lines = "\n".join(path.read_text("utf-8-sig", "replace").splitlines())
    vtt = path.suffix.lower() == ".vtt"
    text = "\n".join(_VTT_CUE.findall(lines)) if vtt else _CUE.sub("", lines)
    return html.unescape(_CUE_TAG.sub("", text))


def by_value(text: str) -> str:
    """Write dates, times and numbers as one word each, the same for every form of a value.

    A date is its year of two digits with day and month in the order of their size, as files differ
    in which comes first; a time is its seconds; a number has its six first digits.
    """

    def date(found: re.Match[str]) -> str:
        year, *rest = (found[1], found[2], found[3]) if found[1] else (found[7], found[4], found[6])
        low, high = sorted(map(int, rest))
        return f"day{year[-2:]}x{low}x{high}"

    def time(found: re.Match[str]) -> str:
        hours = int(found[1]) % 12 + 12 * (found[4] == "P") if found[4] else int(found[1])
        return f"time{hours * 3600 + int(found[2]) * 60 + int(found[3] or 0)}"

    def number(found: re.Match[str]) -> str:
        digits, _, power = found[0].partition("E")
        mark = max(digits.rfind("."), digits.rfind(","))
        whole = digits.count(digits[mark]) > 1 or re.fullmatch(r"[^.]*,\d{3}", digits)
        parts = (digits, "") if mark < 0 or whole else (digits[:mark], digits[mark + 1 :])
        plain = ".".join(re.sub(r"[.,]", "", part) for part in parts)
        return f"{float(f'{plain}e{power or 0}'):.6g}".translate({46: "p", 43: "", 45: "m"})

    return _AMOUNT.sub(number, _TIME.sub(time, _DATE.sub(date, text)))


def _rejoined(lines: Sequence[str], words: set[str]) -> list[str]:
    """Join lines where a word that was read was broken without a hyphen."""
    begun = {word[:end] for word in words for end in range(2, len(word) + 1)}
    joined = [""]
    for line in map(str.strip, lines):
        last, first = _WORD.findall(joined[-1][-80:])[-1:], _WORD.findall(line)[:1]
        if last and first and last[0] not in words and last[0] + first[0] in begun:
            joined[-1] += line
        else:
            joined.append(line)
    return joined


def _without_links(path: Path) -> Path:
    """Write a page without its navigation beside the exports; return that file."""
    tree = LexborHTMLParser(path.read_bytes())
    for node in tree.css(NAVIGATION):
        node.decompose()
    for node in tree.css("ul, ol, dl, table, p"):
        links = node.css("a[href]")
        linked = sum(len(each.text(strip=True)) for each in links)
        if len(links) > 1 and linked > 0.7 * len(node.text(strip=True)):
            node.decompose()
    draft = Path(gettempdir()) / "fair.html"
    draft.write_text(tree.html or "", encoding="utf-8")
    return draft


def words_of(text: str) -> list[str]:
    """Return the words that are compared."""
    return _WORD.findall(_NUMBER.sub("", unicodedata.normalize("NFKD", text)).lower())


def missing(expected: str, text: str) -> str:
    """Return the words that are not there, the most frequent first."""
    gone = Counter(words_of(expected)) - Counter(words_of(text))
    shown = " ".join(f"{word}*{count}" for word, count in gone.most_common(MOST_MISSING))
    return f"{gone.total()} missing: {shown}" if gone else "none missing"


def compare(expected: str, text: str) -> tuple[float, float]:
    """Return the share of the words that are there, and of those that are in the same order."""
    one, other = words_of(expected), words_of(text)
    recall = (Counter(one) & Counter(other)).total() / len(one) if one else 1.0
    one, other = one[:MOST_WORDS], other[:MOST_WORDS]
    common = (Counter(one) & Counter(other)).total()
    return recall, LCSseq.similarity(one, other) / common if common else 1.0


def has_headers(table: Path, text: str) -> bool:
    """Return whether the first row of data stands there with its headers.

    Spaces are left out, since programs break long cells, and so are the last digits of long
    numbers, which spreadsheets round, and ".0".
    """
    head, row = rows_of(table)[:2]
    plain = "".join(text.split())
    cells = [
        (
            "".join(name.split()),
            "".join(cell.split())[: DIGITS if _NUMERIC.fullmatch(cell) else None].removesuffix(
                ".0"
            ),
        )
        for name, cell in zip(head, row, strict=True)
        if cell
    ]
    return all(f"{name}:{cell}" in plain for name, cell in cells)


Shares = tuple[float, float, float, int]
"""Recall of the whole export, that of the fair one, its order, and its number of words."""
REFUSED: Shares = (-1.0, -1.0, -1.0, 0)
ALONE: Shares = (-2.0, -2.0, -2.0, 0)


def measured(folder: Path, work: Path) -> Iterator[tuple[str, Path, Shares, str]]:
    """Read every file, and compare it with what is exported."""
    for path in sorted(folder.iterdir()):
        kind = path.suffix[1:].lower()
        cache = work / f"{path.name}.txt"
        if not cache.is_file():
            within = work / path.name
            within.mkdir(parents=True, exist_ok=True)
            cache.write_text(exported(path, within), encoding="utf-8")
        expected = cache.read_text(encoding="utf-8")
        try:
            text = read(path).text
        except DocumentError as error:
            words = len(_WORD.findall(expected)) if error.code == "empty" else 0
            yield kind, path, REFUSED, f"{error.code}, {words} words exported: {error}"
            continue
        if not expected.strip():
            yield kind, path, ALONE, text
            continue
        recall, _ = compare(expected, text)
        reference, own = fair(path, expected, text), by_value(text) if kind in BY_VALUE else text
        without, order = compare(reference, own)
        if without < ENOUGH:
            print(f"         {path.name}: {missing(reference, own)}")
        yield kind, path, (recall, without, order, len(words_of(reference))), text


def report(folder: Path, work: Path) -> None:
    """Print the figures by kind, what falls short, what is refused, and tables with headers."""
    kinds = defaultdict(list)
    tables = {each.stem: each for each in small_tables(folder)}
    headers: dict[str, list[bool]] = defaultdict(list)
    for kind, path, shares, text in measured(folder, work):
        kinds[kind].append(shares)
        recall, without, order, _ = shares
        if shares == REFUSED:
            print(f"refused  {path.name}: {text}")
        elif -1.0 < without < ENOUGH or -1.0 < order < 0.9:
            told = f"recall {recall:.3f}, fair {without:.3f}, order {order:.3f}"
            print(f"short    {path.name}: {told}")
        table = tables.get(path.stem)
        if shares != REFUSED and table:
            headers[kind].append(has_headers(table, text))
    print(
        "kind: files, refused, without export, recall, fair recall, order; "
        "fair recall of all words; tables with headers"
    )
    for kind, figures in sorted(kinds.items()):
        told = [each for each in figures if each[0] >= 0]
        gone, alone = (figures.count(code) for code in (REFUSED, ALONE))
        means = [f"{mean(each[at] for each in told):.3f}" if told else "-" for at in range(3)]
        words = sum(each[3] for each in told)
        of_all = f"{sum(each[1] * each[3] for each in told) / words:.3f}" if words else "-"
        with_head = f"{sum(headers[kind])}/{len(headers[kind])}" if headers[kind] else "-"
        print(
            f"{kind:8}{len(figures):5}{gone:5}{alone:5}  {' '.join(means)}  {of_all}  {with_head}"
        )
    print(f"{sum(map(len, kinds.values()))} files")


def main() -> None:
    """Collect where the folder is new; add it; report."""
    folder = Path(sys.argv[1])
    files, work = folder / "files", folder / "exports"
    if not files.is_dir():
        files.mkdir(parents=True)
        collect(files, sys.argv[2:])
        make(files)
    env = {**os.environ, "QUOTH_HOME": str(folder / "home"), "QUOTH_EMBEDDER": "fake"}
    quoth = [sys.executable, "-m", "quoth", "add", str(files)]
    print("quoth add ends with", subprocess.run(quoth, env=env, check=False).returncode)
    report(files, work)


if __name__ == "__main__":
    main()

"""LaTeX: sections, prose without its commands, formulas and code as they are, with line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from unicodedata import normalize

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, counted, to_plain_text
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.latex_theorems import theorem_headings
from quoth.ingest.readers.list_marks import BULLET, ListMarks
from quoth.ingest.readers.marked_up import block, code_block, paragraphs, prose
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.rows import table_blocks
from quoth.ingest.readers.source_file import SourceFile

_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
}
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]{0,300}\}){0,500})\}"
_SECTION = re.compile(rf"\\({'|'.join(_LEVELS)})\*?(?:\[[^\]]{{0,300}}\])?{_ARGUMENT}")
_PDF_STRING = re.compile(rf"\\texorpdfstring{_ARGUMENT}{_ARGUMENT}")
"""A title, and how it is written in the outline of a PDF."""
_MACRO = re.compile(rf"\\(?:(?:re)?newcommand|def)\*?\s*\{{?\\([a-zA-Z]+)\}}?\s*{_ARGUMENT}")
"""A command of the author's own, without arguments."""
_NAMED = re.compile(r"\\([a-zA-Z]+)")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\b")
MAX_MACRO = 100
"""Characters of what such a command stands for."""
_TABLE = re.compile(r"\\begin\{(tabular[x*]?|longtable|array)\}")
_TOKEN = re.compile(r"\\[A-Z][a-zA-Z]*Tok\{((?:[^{}\\]|\\.|\{[^{}]{0,99}\}){0,500})\}")
_SIGNS = {"textquotesingle": "'", "textquotedbl": '"', "textasciitilde": "~", "textbar": "|"}
_SIGNS |= {"textless": "<", "textgreater": ">", "textasciicircum": "^"}
_SIGN = re.compile(rf"\\({'|'.join(_SIGNS)})\{{\}}|\{{(-)\}}")
_ESCAPED = re.compile(r"\\([#{}_%&$])")
_CODE_NAME = re.compile(
    r"[a-zA-Z]*[vV]erbatim|lstlisting|minted|Highlighting|alltt|Code(?:In|Out)put|S(?:in|out)put"
    r"|(?!pseudo|barcode|qrcode|decode|encode)[a-z]{0,20}code(?:bit|block|example)?"
)
_CODE_NAMED = re.compile(
    r"\\(?:lstnewenvironment|DefineVerbatimEnvironment|newtcblisting|NewTCBListing)\{([a-zA-Z]+)\}"
)
"""An environment of the author's own whose text is code."""
_VERBATIM = re.compile(
    r"\\(?:[vV]erb\*?|lstinline(?:\[[^\]]{0,300}\])?|mintinline(?:\[[^\]]{0,300}\])?\{\w+\})"
    r"(?:([^\w\s{[*\\])(?P<shown>.+?)\1|(?<!erb)\{(?P<braced>[^{}]+)\})"
)
"""Code within a line, in which nothing is a command."""
_BEGIN = re.compile(r"\\begin\{(?P<name>\w+)\*?\}")
_VERBATIM_OR_BEGIN = re.compile(f"{_VERBATIM.pattern}|{_BEGIN.pattern}")
_TYPED = re.compile(rf"\\(?:texttt|code|command|cmd|option|file|filename|kbd|samp){_ARGUMENT}")
"""Code within a line, in which only hyphens and quotation marks are as they are."""
_HIDDEN = {sign: 0x100000 + sign for sign in range(0x21, 0x7F)}
"""Private characters that stand for the signs of what is no longer LaTeX."""
_SHOWN = {hidden: sign for sign, hidden in _HIDDEN.items()}
_TYPED_SIGNS = {sign: _HIDDEN[sign] for sign in map(ord, "-'`")}
_PERCENT = re.compile(r"%(?<!(?<!\\)\\%)")
_COMMENT = re.compile(rf"{_PERCENT.pattern}.*")
_ABOUT = re.compile(rf"\\(title|author|date)\s*(?:\[[^\]]{{0,300}}\])?\s*{_ARGUMENT}")
_FLOAT = r"(?:begin|end)\{(?:wrap)?(?:figure|table|quote|quotation|center)\b"
_ITEM = re.compile(rf"^\s*\\(?:(?:bib)?item\b|caption\b|{_FLOAT})")
_LABEL = re.compile(r"\\item(?:\[([^\]]{0,200})\])?")
_LISTED = re.compile(
    r"\\(?:(?P<turn>begin|end)\{(?P<list>enumerate|itemize|description)\*?\}"
    r"|setcounter\{enum\w+\}\{(?P<count>\d{1,6})\}|(?P<item>item)\b(?!\s*\[))"
)
_LIST_END = re.compile(r"\s*\\end\{(?:enumerate|itemize|description)\*?\}\s*")
_NUMBERED = re.compile(r"\d+\.")
_CITED = re.compile(r"((?:\[[^\]]{0,300}\]\s?){0,2})\{([^{}]{1,1000})\}")
"""The notes and the keys of a citation."""
_CITATION = re.compile(
    r"\\(?!citestyle)(?:bibitem|(?i:paren|foot(?:full)?|text|smart|super|auto|full|short|mask"
    r"|note|possessive)?[cC]ite(?:(?P<many>s)\b|[a-zA-Z]{0,20}))\*?\s?"
    r"(?:\[[^\]]{0,300}\]\s?){0,2}\{[^{}]{1,1000}\}"
    r"(?(many)(?:(?:\[[^\]]{0,300}\]){0,2}\{[^{}]{1,1000}\}){0,20})"
)
_BRACKETED = re.compile(r"\[([^\]]{0,300})\]")
_REFERENCE = re.compile(r"\\(?!href|hyperref)[a-zA-Z]{0,20}[rR]ef\*?\s?\{([^{}]{1,300})\}")
_TITLED = re.compile(
    r"\\(?P<turn>begin|end)\b|\\label\{(?P<label>[^{}]{1,300})\}"
    rf"|\\(?:(?P<section>{'|'.join(_LEVELS)})|[a-z]*caption)\*?"
    rf"(?:\[(?P<short>[^\]]{{1,300}})\])?(?P<title>{_ARGUMENT})"
)
"""What gives labels their titles: sections, captions, and the environments around these."""
_KEY = re.compile(r"\\label\{([^{}]{1,300})\}")
MAX_TITLE = 100
"""Characters of a title that stands for a reference to it."""
MAX_AROUND = 3
"""Environments around a caption that it names."""
_DROPPED = re.compile(
    r"\\begin\{thebibliography\}\{[^{}]{0,100}\}|\\def\\\w+\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|\\(?:label|nocite|citestyle|vspace|hspace|includegraphics|bibliography(?:style)?|input"
    r"|include|usepackage|documentclass|pagestyle|thispagestyle|setlength|setcounter|hypertarget"
    r"|addcontentsline|newcommand|renewcommand|index|graphicspath|tightlist|relax|(?:end|begin)\b)\*?"
    r"(?:\[[^\]]{0,300}\])?(?:\{[^{}]{0,300}\})?(?:\[[^\]]{0,300}\])?"
)
_TABLE_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|end(?:first)?head|end(?:last)?foot|noalign\{\})"
    r"|\\c(?:line|midrule)(?:\([lr]*\))?\{[\d-]*\}"
)
_LINK = re.compile(r"\\(?:href|hyperlink)\{[^{}]{0,500}\}")
_KEPT = re.compile(rf"\\(?:[a-zA-Z]+)\*?(?:\[[^\]]{{0,200}}\])?{_ARGUMENT}")
_NOTE = re.compile(rf"\\(?:footnote|thanks){_ARGUMENT}")
_MATH = re.compile(r"\$[^$]{1,500}\$|\\\(.{1,500}?\\\)|\\\[.{1,1000}?\\\]", re.DOTALL)
_SPELLED = {"ldots": "…", "dots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "textbackslash": "\\"}
_DASHES = {"--": "–", "---": "—", "``": "“", "''": "”"}
_SPELLED_OUT = re.compile(rf"\\({'|'.join(_SPELLED)})(?![a-zA-Z])(?:\{{\}})?")
_PUNCTUATION = re.compile(r"---?|``|''")
_BREAK = re.compile(r"\\\\(?:\[[^\]]{0,30}\])?|(?<!\\)~|\\[,;: ]")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?\s?|(?<!\\)[{}]|\\!")
_ACCENTS = dict(
    zip(
        "'`^\"~=.cvkHur",
        "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0327\u030c\u0328\u030b\u0306\u030a",
        strict=True,
    )
)
_ACCENT = re.compile(r"\\(['`^\"~=.]|[cvkHur](?=\{))\s?\{?\\?([a-zA-Z])\}?")
_LETTERS = {"oe": "œ", "OE": "Œ", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "ss": "ß"}
_LETTERS |= {"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı"}
_LETTER = re.compile(rf"\\({'|'.join(_LETTERS)})(?![a-zA-Z])(?:\{{\}}|\s)?")


def read_latex(file: SourceFile) -> ParsedDocument:
    """Read LaTeX from its body on; formulas stay as they are written.

    The title is what the file states, else that of its only chapter.
    """
    lines = file.text.split("\n")
    about = {
        match[1]: to_plain_text(plain(match[2])) for match in _ABOUT.finditer(file.text[:50_000])
    }
    first = next((n for n, line in enumerate(lines) if "\\begin{document}" in line), -1)
    is_code = partial(_is_code, own=frozenset(_CODE_NAMED.findall(file.text)))
    blocks = list(_blocks(lines, first + 1, is_code=is_code, expand=_expander(file.text)))
    chapters = [each.text for each in blocks if each.level == 1]
    meta = Metadata(
        title=about.get("title") or (chapters[0] if len(chapters) == 1 else None),
        speaker=about.get("author") or None,
        date=normalize_date(about.get("date", "")),
    )
    return file.document("text", assemble(blocks), meta=meta)


def _expander(text: str) -> Callable[[str], str]:
    """Return what replaces the author's own commands in a line by what they stand for.

    References become the titles of what they refer to. Commands that only begin or end an
    environment are left, since its end is sought as it is written.
    """
    text = _COMMENT.sub("", _VERBATIM.sub(_verbatim, text))
    titles, with_headings = _titles(text), theorem_headings(text)
    macros = {
        name: body.replace("\\xspace", "")
        for name, body in _MACRO.findall(text)
        if len(body) <= MAX_MACRO and not _ENVIRONMENT.search(body)
    }

    def expand(line: str) -> str:
        if _MACRO.search(line):
            return line
        line = _NAMED.sub(lambda m: macros.get(m[1], m[0]), with_headings(line))
        return _REFERENCE.sub(partial(_referred, titles=titles), line)

    return expand


def _titles(text: str) -> dict[str, str]:
    """Return by its label the title of a section, or the caption of a figure, table or listing."""
    found: dict[str, str] = {}
    open_titles = [""]  # of the section, and of the environments in it
    for command in _TITLED.finditer(text):
        if command["turn"] == "begin":
            open_titles.append("")
        elif command["turn"] == "end":
            del open_titles[max(1, len(open_titles) - 1) :]
        elif command["label"]:
            found[command["label"]] = open_titles[-1]
        else:
            title = to_plain_text(plain(command["short"] or command["title"][1:-1]))
            title = title.removesuffix(".") if len(title) <= MAX_TITLE else ""
            if command["section"]:
                open_titles = [title]
            else:
                around = min(len(open_titles) - 1, MAX_AROUND)
                open_titles[len(open_titles) - around :] = [title] * around
            found |= dict.fromkeys(_KEY.findall(command["title"]), title)
    return found


def _referred(command: re.Match[str], titles: Mapping[str, str]) -> str:
    """Return the titles that labels name; a label without one in brackets."""
    keys = [key.strip() for key in command[1].split(",")]
    texts = (f"“{title}”" if (title := titles.get(key)) else f"[{key}]" for key in keys)
    return ", ".join(texts).translate(_HIDDEN)


def _cited(command: re.Match[str]) -> str:
    """Return the keys of a citation and its notes in brackets: "[see knuth84, page 3]"."""
    shown: list[str] = []
    for noted, listed in _CITED.findall(command[0]):
        notes = _BRACKETED.findall(noted)
        keys = ", ".join(key.strip() for key in listed.split(",")).translate(_HIDDEN)
        before, after = (notes if len(notes) == 2 else ["", *notes, ""])[:2]
        shown.append(f"{f'{before} {keys}'.strip()}{f', {after}' if after else ''}")
    # Its brackets are hidden, or a command before it would take them for its own.
    return f"{'['.translate(_HIDDEN)}{'; '.join(shown)}{']'.translate(_HIDDEN)}"


def _verbatim(code: re.Match[str]) -> str:
    return (code["shown"] or code["braced"]).translate(_HIDDEN)


def _is_code(name: str, *, own: Set[str]) -> bool:
    """Return whether an environment holds code; ``own`` are such ones of the author."""
    return name in own or _CODE_NAME.fullmatch(name) is not None


def _code_in(line: str, is_code: Callable[[str], bool]) -> re.Match[str] | None:
    """Return where the first environment with code begins in a line."""
    return next((begin for begin in _BEGIN.finditer(line) if is_code(begin["name"])), None)


def _hidden(line: str, is_code: Callable[[str], bool]) -> str:
    """Return a line whose signs of code are hidden, up to where an environment with code begins."""
    parts: list[str] = []
    at = 0
    for found in _VERBATIM_OR_BEGIN.finditer(line):
        if found["name"] is None:
            parts += line[at : found.start()], _verbatim(found)
            at = found.end()
        elif is_code(found["name"]):
            break
    return "".join([*parts, line[at:]])


def _blocks(
    lines: list[str], at: int, *, is_code: Callable[[str], bool], expand: Callable[[str], str]
) -> Iterator[Block]:
    pending: list[str] = []
    lists = ListMarks()
    is_expanded = False
    while at < len(lines):
        line = lines[at]
        if not is_expanded:
            line = _PDF_STRING.sub(r"\1", _hidden(line, is_code))
            line = line if _code_in(line, is_code) else expand(line)
        is_expanded = False
        at += 1
        bare = _COMMENT.sub("", line)
        section, table = _SECTION.search(bare), _TABLE.search(bare)
        code = _code_in(bare[: table.start()] if table else bare, is_code)
        begins = min(filter(None, (code, section, table)), key=re.Match.start, default=None)
        if begins is None:
            # A comment alone is no empty line, which would end the paragraph.
            shown = _LISTED.sub(partial(_follow, lists=lists), bare)
            if _LIST_END.fullmatch(shown):
                shown = line = ""  # What follows is no part of the last item.
            pending.append(shown if shown.strip() or not line.strip() else "\\relax")
            if "\\end{document}" in line:
                break
            continue
        pending.append(bare[: begins.start()])
        yield from _text(pending, at + 1 - len(pending))
        pending = []
        first, rest = at, line[begins.end() :]
        if begins is section:
            yield block(to_plain_text(plain(section[2])), at, level=_LEVELS[section[1]])
        else:
            inside, rest = _inside(lines, at, rest, begins[1])
            at += len(inside) - 1
            if begins is code:
                has_options = at > first and inside[0].lstrip().startswith(("[", "{"))
                yield from code_block(list(map(_bare, inside[has_options:])), first + has_options)
            else:
                most = 2 if begins[1].endswith(("x", "*")) else 1
                rows = [expand(_VERBATIM.sub(_verbatim, each)) for each in inside]
                yield from _rows(rows, first, arguments=most)
        if rest.strip():  # it is read as a line of its own
            is_expanded = at == first and begins is not code
            at -= 1
            lines[at] = rest
    yield from _text(pending, at + 1 - len(pending))


def _inside(lines: list[str], at: int, rest: str, name: str) -> tuple[list[str], str]:
    """Return the lines of an environment, and what follows in the last one.

    ``rest`` is what follows its beginning in the line before ``at``.
    """
    end = re.compile(rf"\\end\{{{re.escape(name)}\*?\}}")
    inside = [rest]
    while (found := end.search(inside[-1])) is None and at < len(lines):
        inside.append(lines[at])
        at += 1
    if found is None:
        return inside, ""
    last = inside[-1]
    return [*inside[:-1], last[: found.start()]], last[found.end() :]


def _follow(command: re.Match[str], lists: ListMarks) -> str:
    """Return a command of a list as it is, and an item with its number."""
    if command["turn"] == "begin":
        lists.begin(1 if command["list"] == "enumerate" else None)
    elif command["turn"] == "end":
        lists.end()
    elif command["count"]:
        lists.restart(int(command["count"]))
        return ""
    elif (mark := lists.item()) != BULLET:
        return f"\\item[{mark.strip()}]"
    return command[0]


def _labelled(item: re.Match[str]) -> str:
    label = item[1] or ""
    return f"{label} " if _NUMBERED.fullmatch(label) else f"{BULLET}{label} "


def _bare(line: str) -> str:
    """Return a line of code without the commands that only give it colours."""
    bare = _TOKEN.sub(r"\1", line)
    if bare == line:
        return line
    bare = _ESCAPED.sub(r"\1", _SIGN.sub(_sign, bare))
    return bare.replace("\\textbackslash{}", "\\")


def _sign(command: re.Match[str]) -> str:
    return command[2] or _SIGNS[command[1]]


def _rows(lines: list[str], first: int, *, arguments: int = 1) -> Iterator[Block]:
    """Return the rows of a table, whose environment has so many arguments in braces."""
    body = " ".join(_COMMENT.sub("", line) for line in lines)
    body = _TABLE_RULE.sub(" ", _without_arguments(body, arguments))
    rows = [
        [to_plain_text(plain(cell)) for cell in re.split(r"(?<!\\)&", row)]
        for row in re.split(r"\\\\(?:\[[^\]]{0,30}\])?", body)
    ]
    filled = [row for row in rows if any(row)]
    once = [row for at, row in enumerate(filled) if not at or row != filled[0]]  # its first row
    yield from table_blocks(once, place=counted("line", first, first + len(lines) - 1))


def _without_arguments(text: str, most: int) -> str:
    """Return what follows the arguments: one in brackets, and ``most`` in braces.

    Either may hold more of them.
    """
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "[{") - (sign in "]}")
        most -= sign == "}" and not depth
        if not most:
            return text[at + 1 :]
        if not depth and sign not in "]} ":
            return text[at:]
    return ""


def _text(lines: list[str], first: int) -> Iterator[Block]:
    for part in paragraphs(lines, first=first):
        yield from prose(part, plain, _ITEM)


def plain(text: str) -> str:
    """Return a line without its commands; what stands in dollars is kept."""
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        formulas.append(match[0])
        return f"\ue000{len(formulas) - 1}\ue001"

    text = text.replace("\\maketitle", "").translate(dict.fromkeys((0xE000, 0xE001)))
    text = _MATH.sub(keep, _PERCENT.sub("", text))
    text = _ACCENT.sub(lambda m: normalize("NFC", m[2] + _ACCENTS[m[1]]), text)
    text = _CITATION.sub(_cited, _TYPED.sub(lambda m: m[0].translate(_TYPED_SIGNS), text))
    text = _LABEL.sub(_labelled, text)
    text = _SIGN.sub(_sign, text)
    text = _LINK.sub("", _NOTE.sub(r" [\1]", text))
    text = _LETTER.sub(lambda m: _LETTERS[m[1]], text)
    text = _TABLE_RULE.sub("", _DROPPED.sub("", text))
    for _ in range(4):
        text = _KEPT.sub(r"\1", text)
    text = _SPELLED_OUT.sub(lambda m: _SPELLED[m[1]], text)
    text = _PUNCTUATION.sub(lambda m: _DASHES[m[0]], _BREAK.sub(" ", text))
    text = _ESCAPED.sub(r"\1", _COMMAND.sub("", text))
    text = re.sub("\ue000(\\d+)\ue001", lambda m: formulas[int(m[1])], text)
    return text.translate(_SHOWN)

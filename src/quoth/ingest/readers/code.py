"""Program text: every line is a place, and what is defined there is a section."""

from __future__ import annotations

from collections.abc import Iterator

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, String, Token, _TokenType
from pygments.util import ClassNotFound

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.source_lines import Symbol, numbered_lines

MAX_CHARACTERS = 1_000_000
"""Characters of a file in which symbols are looked for."""

MINIFIED_LINE = 1_000
"""Mean characters of a line from which program text is minified, for machines only."""

_DEFINED = (Name.Class, Name.Function, Name.Namespace)
_WORDS = frozenset(
    "class def function fn func fun struct interface enum trait impl type module namespace sub "
    "record object protocol proc procedure macro union extension table view trigger".split()
)
"""Keywords before the name that they define."""


def read_code(file: SourceFile) -> ParsedDocument:
    """Read program text as it is; its symbols are found where its language is known.

    Raises DocumentError, ``unsupported`` for minified text, such as the search index of a manual.
    """
    lines = file.text.split("\n")
    if len(file.text) > MINIFIED_LINE * len(lines):
        raise DocumentError(
            "unsupported",
            f"{file.name} is minified or generated code ({len(file.text):,} characters in "
            f"{len(lines)} lines). Add the text that it was made from.",
        )
    return file.document("code", numbered_lines(file.text, symbols(file.text, name=file.name)))


def symbols(text: str, *, name: str) -> list[Symbol]:
    """Return what a text defines, deeper where it is indented further."""
    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return []
    found = list(_definitions(lexer, text[:MAX_CHARACTERS]))
    indents = sorted({indent for _, _, indent in found})
    levels = {indent: min(level, 4) for level, indent in enumerate(indents, start=1)}
    return [Symbol(line, title, levels[indent]) for line, title, indent in found]


def _definitions(lexer: Lexer, text: str) -> Iterator[tuple[int, str, int]]:
    """Return line, name and indentation of every definition."""
    lines = text.split("\n")
    number = 1
    word = ""
    for kind, value in lexer.get_tokens(text):
        first = number
        number += value.count("\n")
        shown = value.strip()
        if not shown or kind in Comment or kind in String:
            continue
        if kind in Keyword or (kind in Token.Name and shown in _WORDS and not word):
            word = shown if shown.lower() in _WORDS else ""
            continue
        if _is_definition(kind, word=word) and first <= len(lines):
            line = lines[first - 1]
            title = f"{word} {shown}".strip() if word else shown
            yield first, title[:120], len(line) - len(line.lstrip())
        word = ""


def _is_definition(kind: _TokenType, *, word: str) -> bool:
    return bool(word) and (kind in Name or any(kind in each for each in _DEFINED))

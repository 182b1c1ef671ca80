"""Markdown: the text as it reads, a block per paragraph, heading, list item, row and code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import (
    Block,
    assemble,
    normalize_whitespace,
    to_plain_text,
    under_header,
)
from quoth.ingest.readers.division_paragraphs import with_division_sections
from quoth.ingest.readers.html import html_blocks
from quoth.ingest.readers.list_marks import ListMarks
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.source_file import SourceFile
from quoth.text.locators import CELL_GAP

MAX_DEPTH = 60
"""Levels of lists and quotes that are followed; the parser calls itself for each."""
MAX_BRACKET_DEPTH = 10

_HEADING_ID = re.compile(r"\{#([\w:.-]++)[^{}]*+\}\s*+$")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def make_parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_DEPTH}).enable(["table", "strikethrough"])
    parser.inline.ruler.at("link", _shallow(link))
    parser.inline.ruler.at("image", _shallow(image))
    return parser


def _shallow(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Wrap a parser rule so that it gives up on brackets nested too deeply.

    It rescans every nesting level, so deep nesting alone would take very long.
    """

    def look(state: StateInline, silent: bool) -> bool:
        if silent and state.level > MAX_BRACKET_DEPTH:
            state.pos = state.posMax
            return True
        return rule(state, silent)

    return look


def read_markdown(file: SourceFile) -> ParsedDocument:
    """Read Markdown without front matter; its title is its first heading of the first level."""
    blocks = with_division_sections([*markdown_blocks(file.text)])
    heading = next((to_plain_text(block.text) for block in blocks if block.level == 1), None)
    return file.document("markdown", assemble(blocks), meta=Metadata(title=heading))


def markdown_blocks(text: str) -> Iterator[Block]:
    """Return the blocks of a Markdown text in order; headings carry the anchor of GitHub."""
    tokens = make_parser().parse(text)
    slugs: Counter[str] = Counter()
    row: list[str] = []
    last: list[str] = []
    header: list[str] = []
    lists = ListMarks()
    mark = ""
    for number, token in enumerate(tokens):
        match token.type:
            case "inline" if number and tokens[number - 1].type == "heading_open":
                level = int(tokens[number - 1].tag[1])
                yield _heading(inline_text(token.children or []), level=level, slugs=slugs)
            case "inline" if number and tokens[number - 1].type in ("td_open", "th_open"):
                row.append(to_plain_text(inline_text(token.children or [])))
            case "inline":
                yield Block(mark + normalize_whitespace(inline_text(token.children or [])))
                mark = ""
            case "bullet_list_open" | "ordered_list_open" | "list_item_open":
                mark = _enter_list(token, lists)
            case "bullet_list_close" | "ordered_list_close":
                lists.end()
                mark = ""
            case "table_open":
                header = []
            case "tr_close":
                yield Block(CELL_GAP.join(filter(None, under_header(row, header))))
                last, row = row, []
            case "thead_close":
                header = last
            case "fence" | "code_block":
                yield Block(token.content)
            case "html_block":
                yield from _html(token.content, slugs=slugs)


def _enter_list(token: Token, lists: ListMarks) -> str:
    """Enter a list or an item; return the mark of the item."""
    if token.type == "list_item_open":
        return lists.item()
    is_numbered = token.type == "ordered_list_open"
    lists.begin(int(token.attrs.get("start", 1)) if is_numbered else None)
    return ""


def inline_text(tokens: Sequence[Token]) -> str:
    """Return the plain text of inline Markdown: links, images and emphasis without markup."""
    parts: list[str] = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type == "image":
            shown = inline_text(token.children or [])
            parts.append("" if _is_file_name(shown, str(token.attrs.get("src", ""))) else shown)
        elif token.type == "hardbreak" or _LINE_BREAK.fullmatch(token.content):
            parts.append("\n")
        elif token.type == "softbreak":
            parts.append(" ")
    lines = normalize_whitespace("".join(parts)).split("\n")
    return "\n".join(line.strip(" \t") for line in lines).strip()


def _is_file_name(text: str, source: str) -> bool:
    """Return whether the text of an image is the name of its file: "slide talk.003"."""
    stem = PurePosixPath(unquote(source)).stem.lower()
    rest = text.lower().replace(stem, "", 1) if stem else text
    return rest != text.lower() and len(rest.split()) < 2 and not stem.isalpha()


def slug(heading: str) -> str:
    """Return the anchor that GitHub makes of a heading: small letters, hyphens, no punctuation."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _heading(text: str, *, level: int, slugs: Counter[str]) -> Block:
    own = _HEADING_ID.search(text)
    if own is not None:
        return Block(to_plain_text(text[: own.start()]), level=level, anchor=own[1])
    title = to_plain_text(text)
    base = slug(title)
    anchor = base
    while anchor in slugs:
        anchor = f"{base}-{slugs[base]}"
        slugs[base] += 1
    slugs[anchor] += 1
    return Block(title, level=level, anchor=anchor or None)


def _html(content: str, *, slugs: Counter[str]) -> Iterator[Block]:
    for block in html_blocks(content):
        if block.level:
            yield _heading(block.text, level=block.level, slugs=slugs)
        else:
            yield block

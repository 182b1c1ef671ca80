"""HTML: the main text of a page without its furniture, each heading with its anchor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import (
    Block,
    assemble,
    normalize_whitespace,
    plain_line,
    to_plain_text,
    without_line_numbers,
)
from quoth.ingest.readers.boilerplate import (
    BOILERPLATE,
    SKIPPED,
    contents_lists,
    is_hidden,
    is_left_out,
)
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.division_paragraphs import with_division_sections
from quoth.ingest.readers.formula_images import formula_text
from quoth.ingest.readers.list_marks import ListMarks
from quoth.ingest.readers.metadata import Metadata, normalize_language
from quoth.ingest.readers.navigation import without_navigation
from quoth.ingest.readers.rows import Cell, SpannedTable
from quoth.ingest.readers.source_file import SourceFile

MAX_DEPTH = 1000
"""Open elements beyond which no more are opened: the parser's time grows with their square."""
QUESTION_LEVEL = 5
"""Level of a question in a list of questions and answers, below the headings of its page."""
MAX_QUESTION = 200
MAX_TERM = 40
"""Maximum characters of a term that stands in one block with its definition; a longer one is a
question or a heading."""

_NO_PLACES = frozenset(["input", "link", "meta"])
"""Elements without text that are no place to scroll to, though not left out."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd"),
        *("details", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
        *("header", "hr", "html", "legend", "li", "main", "nav", "ol", "p", "pre", "section"),
        *("summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
        *_HEADINGS,
    ]
)
_PUBLISHED = (
    "meta[property='article:published_time']",
    "meta[itemprop='datePublished']",
    "meta[name='citation_publication_date']",
    "meta[name='dcterms.date'], meta[name='DC.date']",
    "meta[name='date']",
)
_NESTING = re.compile(
    r"<(?P<close>/?)(?!(?:p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|br|hr|img|input|meta|link|base|"
    r"col|area|embed|source|track|wbr|rp|rt)\b)[a-zA-Z][^<>]*>",
    re.IGNORECASE,
)
_POSITIVE = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_ELSEWHERE = re.compile(r"\s*(?:[a-zA-Z][\w+.-]*:|//)")
"""The beginning of an address that may be on another site."""
_ENTRY_LABEL = re.compile(r"\W*(?:\w{1,2}|[\d.]{1,9}|[^\W\d_]{1,12}\s*:)\W*")
"""What stands before a question or an answer: "Q:", "R :", "3.12."."""
_SPACE = re.compile(r"[ \t\n\r\f]+")
_WORD = re.compile(r"\w")


def read_html(file: SourceFile, *, repeated: frozenset[str] = frozenset()) -> ParsedDocument:
    """Read a page.

    ``repeated`` are the keys of blocks that other pages of the site have, too. The address is the
    given one: a page that says where on the web it belongs may be another edition of that.
    """
    tree = parse_html(file.text)
    own = _own_meta(tree)
    blocks = without_navigation(
        list(_blocks(tree)) or body_blocks(tree),
        repeated,
        title=own.title or "",
        beside=_neighbour_titles(tree),
    )
    heading = next((to_plain_text(block.text) for block in blocks if block.level == 1), None)
    own = replace(own, title=own.title or heading)
    return file.document("html", assemble(with_division_sections(blocks)), meta=own)


def html_blocks(text: str) -> list[Block]:
    """Return the blocks of a page or a fragment, headings with level and anchor."""
    tree = parse_html(text)
    return list(_blocks(tree)) or body_blocks(tree)


def parse_html(text: str) -> LexborHTMLParser:
    """Parse a page, no deeper than `MAX_DEPTH`."""
    return LexborHTMLParser(_shallow(text))


def body_blocks(tree: LexborHTMLParser, *, nav: bool = True) -> list[Block]:
    """Return the blocks of the whole body of a page, without ``nav`` but its tables of contents."""
    return list(_blocks(tree, whole=True, nav=nav))


def _shallow(text: str) -> str:
    """Leave out opening tags that only serve to nest a page beyond every measure."""
    if text.count("<") <= MAX_DEPTH:
        return text
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        depth = max(0, depth - 1) if tag["close"] else depth + 1
        return tag[0] if tag["close"] or depth <= MAX_DEPTH or tag[0].endswith("/>") else " "

    return _NESTING.sub(keep, text)


@dataclass(slots=True)
class _BlockDraft:
    """The current block of the tree traversal."""

    parts: list[str] = field(default_factory=list)
    table: SpannedTable = field(default_factory=SpannedTable)
    rows: list[bool] = field(default_factory=list)
    level: int = 0
    anchor: str | None = None
    pending: str | None = None
    """The last id before or within the block."""
    opening: str | None = None
    """The last id before the first word of the block or row; empty if it has none."""
    closing: str | None = None
    """The last id before the last word of the block or row."""
    pre: int = 0
    inside_link: int = 0
    inside_own: int = 0
    """Open links within the site."""
    linked: int = 0
    targets: list[str] = field(default_factory=list)
    unlinked: bool = False
    """Whether the block, or the row, has a letter outside the links within the site."""
    links: list[str] = field(default_factory=list)
    lists: ListMarks = field(default_factory=ListMarks)
    entry: str = ""
    """The class of the row of a list of questions and answers, "question" or "answer"."""
    lead: str = ""
    """What begins the next block: the mark of a list's item, or a term before its definition."""

    def take(self) -> Block | None:
        """Close the block; None when it has no text or is a cell of the current row."""
        text = normalize_whitespace("".join(self.parts))
        words = [part.strip() for part in self.parts if part.strip()]
        links = words[:1] if 2 * self.linked > sum(map(len, words)) else []
        self.parts, self.linked = [], 0
        if self.pre:
            text = without_line_numbers(text, column=bool(self.rows))
        else:
            text = "\n".join(line for part in text.split("\n") if (line := to_plain_text(part)))
        if not text.strip() or (self.entry and _ENTRY_LABEL.fullmatch(text)):
            return None
        if self.rows and self.rows[-1]:
            self.table.add(to_plain_text(text))
            self.links += links
            return None
        anchor = self.take_anchor()
        is_question = self.entry == "question" and len(text) <= MAX_QUESTION
        level = QUESTION_LEVEL if is_question and not self.level else self.level
        text = to_plain_text(text) if level else self.lead + text
        self.lead, self.entry = "", "answer" if is_question else self.entry
        targets = self.take_targets()
        return Block(text, level=level, anchor=anchor, links=tuple(links), targets=targets)

    def take_anchor(self) -> str | None:
        """Return the anchor: a heading's may be within it, that of a text is before it."""
        anchor = (self.anchor or self.pending) if self.level else self.opening
        if self.level or self.pending == self.closing:
            self.pending = None  # else it stands behind the last word, before what follows
        self.opening = self.closing = None
        return anchor or None

    def take_targets(self) -> tuple[str, ...]:
        """Return the addresses of the links, none where a word stands beside them."""
        targets = () if self.unlinked else tuple(self.targets)
        self.targets, self.unlinked = [], False
        return targets

    def add_text(self, text: str) -> None:
        """Add a text, which may stand in a link."""
        self.parts.append(text if self.pre else _SPACE.sub(" ", text))
        if text.strip():
            if self.opening is None:
                self.opening = self.pending or ""
            self.closing = self.pending
        self.linked += len(text.strip()) if self.inside_link else 0
        self.unlinked |= not self.inside_own and any(map(str.isalpha, text))

    def cross_link(self, address: str, *, entering: bool) -> None:
        """Enter or leave a link."""
        self.inside_link += 1 if entering else -1
        if not _ELSEWHERE.match(address):
            self.inside_own += 1 if entering else -1
            self.targets += [address] if entering else []

    def cross_list(self, tag: str, *, entering: bool, number: str | None = None) -> None:
        """Enter or leave a list or its item; items are marked as browsers show them.

        ``number`` is the first one of a list (``start``), or that of an item (``value``).
        """
        given = int(number) if number is not None and _POSITIVE.fullmatch(number) else None
        if tag == "li":
            self.lead = self.lists.item(given) if entering else ""
        elif entering:
            self.lists.begin((given or 1) if tag == "ol" else None)
        else:
            self.lists.end()

    def end_row(self) -> Iterator[Block]:
        """Close a row of a table; its cells carry those of the header."""
        if not self.rows.pop():
            self.table.above.clear()  # the cells of this row are not counted
            return
        links, self.links = self.links, []
        text, targets = self.table.end_row(), self.take_targets()
        if text:
            yield Block(text, anchor=self.take_anchor(), links=tuple(links), targets=targets)


def _blocks(tree: LexborHTMLParser, *, whole: bool = False, nav: bool = False) -> Iterator[Block]:
    """Yield the blocks of the content, or of the ``whole`` body; those of menus with ``nav``."""
    root, inner = (tree.body, False) if whole else _main(tree)
    left_out = SKIPPED | (BOILERPLATE if inner else frozenset() if nav else {"nav"})
    if root is None:
        return
    draft = _BlockDraft()
    contents = contents_lists(root) if "nav" in left_out else frozenset[int]()
    for node, entering in _walk(root, left_out=left_out, contents=contents):
        tag = node.tag or ""
        if tag == "-text":
            if entering:
                draft.add_text(node.text(deep=False) or "")
        elif tag == "br":
            draft.parts.append("\n" if entering else "")
        elif tag == "img":
            draft.add_text(formula_text(node) if entering else "")
        else:
            if tag == "a" and (address := node.attributes.get("href")):
                draft.cross_link(address, entering=entering)
            if tag in _BLOCKS:
                yield from _cross(draft, node, entering=entering)
            if entering:  # after what stands before it is closed
                draft.pending = _name(node) or draft.pending
            elif tag == "form":
                draft.pending = None  # what stands before its controls leads to them
    last = draft.take()
    if last is not None:
        yield last


def _cross(draft: _BlockDraft, node: LexborNode, *, entering: bool) -> Iterator[Block]:
    """Close the current block at the boundary of an element, and record what it begins."""
    tag = node.tag or ""
    block = draft.take()
    if block is not None and tag == "dt" and not entering and len(block.text) <= MAX_TERM:
        draft.lead = f"{block.text}\n"
        draft.targets, draft.unlinked = list(block.targets), not block.targets
        draft.opening = block.anchor
    elif block is not None:
        yield block
    if tag == "dl" and draft.lead.endswith("\n"):
        yield Block(draft.lead, anchor=draft.take_anchor(), targets=draft.take_targets())
        draft.lead = ""
    elif tag in ("ol", "ul", "li"):
        number = node.attributes.get("value" if tag == "li" else "start")
        draft.cross_list(tag, entering=entering, number=number)
    if tag in _HEADINGS:
        draft.level = _HEADINGS[tag] if entering else 0
        draft.anchor = _name(node) if entering else None
    elif tag == "pre":
        draft.pre += 1 if entering else -1
    elif tag == "tr" and entering:
        # A layout table contains tables, headings and lists in its cells.
        layout = node.css_first("table, ul, ol, pre, h1, h2, h3, h4, h5, h6, p + p") is not None
        name = node.attributes.get("class") or ""
        draft.entry = name if name in ("question", "answer") else ""
        layout |= bool(draft.entry)
        draft.rows.append(not layout and not any(draft.rows))
    elif tag in ("th", "td") and entering and draft.rows and draft.rows[-1]:
        columns, rows = (_span(node, name) for name in ("colspan", "rowspan"))
        draft.table.cells.append(Cell(columns, rows, tag == "th"))
    elif tag == "table":  # what follows a table within a cell is not under its header
        draft.table = SpannedTable()
    elif tag == "tr":
        draft.entry = ""
        yield from draft.end_row()


def _span(node: LexborNode, name: str) -> int:
    stated = node.attributes.get(name) or ""
    return int(stated) if _POSITIVE.fullmatch(stated) else 1


def _walk(
    root: LexborNode, *, left_out: frozenset[str], contents: frozenset[int]
) -> Iterator[tuple[LexborNode, bool]]:
    """Visit the tree in order, each node when it is entered and left, without calling itself.

    ``contents`` are lists that are left out, by ``mem_id``.
    """
    stack: list[tuple[LexborNode, bool]] = [(root, True)]
    while stack:
        node, entering = stack.pop()
        if not entering:
            yield node, False
            continue
        if node.mem_id in contents or is_left_out(node, left_out):
            if node.tag == "a" and not is_hidden(node):
                # The permalink after a heading may carry the heading's id.
                yield from ((node, True), (node, False))
            continue
        yield node, True
        stack.append((node, False))
        stack.extend((child, True) for child in reversed(list(node.iter(include_text=True))))


def _main(tree: LexborHTMLParser) -> tuple[LexborNode | None, bool]:
    """Return the content node, and whether the page marks its content at all."""
    for node in tree.css("main, [role=main]"):
        if _WORD.search(node.text(deep=True) or ""):
            return node, True
    articles = [node for node in tree.css("article") if _WORD.search(node.text(deep=True) or "")]
    if len(articles) == 1:
        return articles[0], True
    return tree.body or tree.root, bool(articles)


def _own_meta(tree: LexborHTMLParser) -> Metadata:
    title = tree.css_first("head title")
    root = tree.css_first("html")
    language = (root.attributes.get("lang") if root is not None else None) or ""
    shown = plain_line(title.text(deep=True) or "") if title is not None else ""
    return Metadata(
        title=shown or None,
        language=normalize_language(language),
        date=_published(tree),
    )


def _neighbour_titles(tree: LexborHTMLParser) -> frozenset[str]:
    """Return the titles of the pages before, after and above, as the head of the page has them."""
    links = tree.css("head link[rel=prev], head link[rel=next], head link[rel=up]")
    titles = (node.attributes.get("title") or "" for node in links)
    return frozenset(" ".join(title.split()) for title in titles) - {""}


def _published(tree: LexborHTMLParser) -> str | None:
    """Return the publication date of a page: from its head, else its first dated time."""
    named = (normalize_date(_attribute(tree, selector, "content")) for selector in _PUBLISHED)
    return next(filter(None, named), None) or normalize_date(
        _attribute(tree, "time[datetime]", "datetime")
    )


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return ((node.attributes.get(name) if node is not None else None) or "").strip()


def _name(node: LexborNode) -> str | None:
    """Return the name by which a link leads to an element, None for one that is no place."""
    attributes = {} if node.tag in _NO_PLACES else node.attributes
    own = attributes.get("id") or (attributes.get("name") if node.tag == "a" else None)
    return own.strip() or None if own else None

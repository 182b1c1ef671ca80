"""Sanitizes model output: removes links, images, HTML and invisible characters.

A sentence is parsed with markdown-it, so that exactly what Markdown would make a link, an image or
an element of is removed; then bare addresses are, and whatever could still become active is
separated by a blank. No result of `Sanitizer` contains an address with a scheme or a path, a
``](``, a ``]:`` or a ``<`` before a letter.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from quoth.answering.generative.citation_markers import MARKER, RAISED, parse_marker
from quoth.answering.prompts import INVISIBLE, without_heads

_LONGEST_ESCAPE = 1100
_ESCAPE = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]P^_X][^\x07\x1b\x9c]{0,1000}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,4}[0-OQ-WYZ\\`-~]"
    r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]{0,1000}(?:\x07|\x1b\\|\x9c)"
)
_INTRODUCERS = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class Characters:
    """Removes escape sequences, controls, invisible and bidirectional characters of a stream."""

    def __init__(self) -> None:
        self._held = ""
        self._last = " "

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Return the plain text so far; an unfinished escape sequence is held back."""
        text = self._held + piece
        self._held = ""
        kept: list[str] = []
        at = 0
        while found := _INTRODUCERS.search(text, at):
            kept.append(text[at : found.start()])
            escape = _ESCAPE.match(text, found.start())
            if escape is None and not final and len(text) - found.start() < _LONGEST_ESCAPE:
                self._held = text[found.start() :]
                return self._clean("".join(kept))
            at = escape.end() if escape else found.end()
        clean = "".join([*kept, text[at:]])
        if clean.endswith("\r") and not final:
            self._held, clean = "\r", clean[:-1]
        return self._clean(clean)

    def _clean(self, text: str) -> str:
        if not text:
            return ""
        # The preceding character decides whether a joiner is part of a word.
        clean = INVISIBLE.sub("", self._last + _BREAKS.sub("\n", text))
        self._last = clean[-1]
        return clean[1:]


# --- Markdown and HTML ------------------------------------------------------------------------

ELEMENTS = frozenset(
    "abbr acronym address applet area article aside audio base basefont bdi bdo big blink "
    "blockquote body br button canvas caption center cite code col colgroup data datalist dd del "
    "details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img image input ins isindex "
    "kbd keygen label legend li link listing main map mark marquee math menu meta meter nav nobr "
    "noembed noframes noscript object ol optgroup option output param picture plaintext portal pre "
    "progress rp rt ruby samp script section select slot small source span strike strong style "
    "sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt "
    "ul var video wbr xmp eos bos pad unk start_of_turn end_of_turn think thinking reasoning "
    "sources system user assistant human tool instructions a b i p q s u tool_call tool_calls "
    "tool_use function_call function_calls function_results invoke im_start im_end answer final "
    "final_answer response".split()
)
_NEW_LINES = frozenset("br p div li tr h1 h2 h3 h4 h5 h6 ul ol table blockquote pre hr".split())
_CHAT = r"<[|｜][^<>\n]{0,60}[|｜]>|<</?SYS>>|\[/?INST\]"
_HIDDEN = (
    r"(?is:<(?P<name>script|style)\b[^<>]{0,400}>.{0,2000}?</(?P=name)[^<>]{0,40}>)"
    rf"|(?s:<!--.{{0,400}}?-->)|(?i:{_CHAT})"
    r"|(?m:^[^\S\n]*\[[^\[\]\n]{1,200}\]:[^\S\n]*(?:<[^<>\n]*>|[^\s]*[:/.#][^\s]*)"
    r"(?:[^\S\n]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[^\S\n]*$)"
)
_REMOVED = re.compile(_HIDDEN)
THOUGHT = r"</?(?:think|thinking|reasoning)\s*>"
"""A tag around a model's reasoning."""
_RAISED = r"(?i:<sup>\s*([\d,; ]{1,20}?)\s*</sup>)"
TAG = re.compile(rf"{_HIDDEN}|(?!{THOUGHT}|{_RAISED})</?[a-zA-Z][^<>]{{0,400}}>")
"""Markup that may separate two sentences, but for reasoning and raised numbers."""
_ELEMENT = re.compile(r"</?([a-zA-Z][a-zA-Z0-9_]*)(?=[\s/>:])[^<>]{0,400}>")
_SHORT_ELEMENT = re.compile(r"</?[a-zA-Z](?:\s*/?>|\s[^<>]*=[^<>]*>)")
_TO_RAISED = str.maketrans("0123456789", RAISED)
_CODE = "\x01"
_MARKDOWN = MarkdownIt("zero", {"html": True}).enable(["backticks", "link", "image", "html_inline"])
_MARKDOWN.validateLink = lambda url: True  # type: ignore[method-assign]
_MARKDOWN.normalizeLink = lambda url: url  # type: ignore[method-assign]

# --- addresses --------------------------------------------------------------------------------

_ADDRESS = (
    r"(?:https?|ftps?|wss?|javascript|vbscript):(?=[^\s.,;:!?)\]»”]|\.\w)"
    r"|(?<![a-z0-9])(?:mailto|tel|sms|file|view-source|intent|blob):(?=[\w+/.%])"
    r"|(?<![a-z0-9])data:[a-z0-9_.+\-]{0,60}(?:/|[;,](?=\S))"
    r"|(?<![a-z0-9+.\-])[a-z][a-z0-9+.\-]{1,30}:[/\\]{2}"
    r"|:[/\\]{2}(?=\w)"
    r"|(?<![a-z0-9.\-])www\d{0,2}\.(?=\w)"
    r"|(?<![\w:/\\])(?://|\\\\)(?=(?:[a-z0-9\-]{1,63}\.){1,3}[a-z0-9\-]|localhost|\[[0-9a-f:]"
    r"|[a-z0-9\-]{1,63}[/\\:]|xn--)"
    r"|(?<![\w@/\-])(?<!\w\.)(?:[a-z0-9](?:[a-z0-9\-]{0,40}\.)){1,4}[a-z]{2,10}(?::\d{1,5})?"
    r"(?:/|[?\#](?=[\w%=]))"
    r"|(?<![\w@./\-])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?/"
)
_REST = r"(?:[.,;:!?'*_~…]{0,8}[^\s<>\"`\])}|，。；：！？、）」』】.,;:!?'*_~…])*+"
_ADDRESSES = re.compile(
    rf"(?P<open>[(（<])?(?:{_ADDRESS}){_REST}(?(open)[)）>]?)(?P<space> ?)", re.IGNORECASE
)
_ACTIVE = re.compile(r"(?:\](?=[(:])|<(?=[a-z/!?|｜]))", re.IGNORECASE)
_ACTIVE_CODE = re.compile(
    r"\](?=[(:])|<(?=/?(?:script|style|img|iframe|svg|object|embed|link|meta|base|form"
    r"|video|audio|source|math|frame|applet|input|button|details|body|html|marquee|a\s"
    r"|[a-z]{1,20}[^<>\n]{0,80}\bon[a-z]{3,20}\s{0,4}=)|[|｜!?])",
    re.IGNORECASE,
)
_CLOSING = ".,;!?)»”…，。；！？）"


MIN_WORDS, MIN_UNSPACED = 3, 6
"""Words, or letters of a script without blanks between words, without which a sentence that had an
address says nothing more."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uff9f](?<=\w)")


class Sanitizer:
    """Removes links, images, HTML and addresses; ``cleaned`` counts them.

    ``secret``, a hexadecimal number such as the fence of a prompt, is removed as well.
    """

    def __init__(self, *, secret: str = "") -> None:
        self.cleaned = 0
        self._addresses = 0
        self._secret = re.compile(re.escape(secret), re.IGNORECASE) if secret else None

    def strip_markup(self, text: str) -> tuple[str, list[str]]:
        """Return a sentence without links, images and HTML, and its extracted code spans.

        Markers are not parsed in code; `finish` restores it.
        """
        out: list[str] = []
        code: list[str] = []
        labels: list[int] = []
        for token in _MARKDOWN.parseInline(_REMOVED.sub(self._removed, text))[0].children or ():
            if token.type == "code_inline":
                code.append(token.content.replace("`", "'"))
                out.append(_CODE)
            elif token.type == "link_open":
                self.cleaned += 1
                labels.append(len(out))
            elif token.type == "link_close":
                label = "".join(out[labels[-1] :])
                out[labels.pop() :] = [f"[{label}]" if parse_marker(label) else label]
            elif token.type == "image":
                self.cleaned += 1
            else:
                out.append(token.content.replace("`", "'"))
        marked = re.sub(_RAISED, lambda found: found[1].translate(_TO_RAISED), "".join(out))
        return _ELEMENT.sub(self._element, marked), code

    def finish(self, text: str, code: list[str]) -> str:
        """Return the sentence without addresses, with its code spans restored."""
        self._addresses = 0
        spans = iter([self.plain(span) for span in code])
        return re.sub(_CODE, lambda _: f"`{next(spans)}`", self.plain(text))

    def is_emptied(self, text: str) -> bool:
        """Return whether a finished sentence said only where an address was: "Visit .".

        The sentence is the last one that was finished.
        """
        return (
            self._addresses > 0
            and len(re.findall(r"\w+", text)) < MIN_WORDS
            and len(_UNSPACED.findall(text)) < MIN_UNSPACED
        )

    def plain(self, text: str, *, code: bool = False) -> str:
        """Return the text without addresses, the secret and active markup."""
        if self._secret is not None:
            text = self._secret.sub("", text)
        text = _ADDRESSES.sub(self._address, text)
        return (_ACTIVE_CODE if code else _ACTIVE).sub(r"\g<0> ", text)

    def _removed(self, found: re.Match[str]) -> str:
        self.cleaned += 1
        return "" if found["name"] or found.group().startswith("<!--") else "\n\n"

    def _element(self, found: re.Match[str]) -> str:
        name = found[1].casefold()
        if name not in ELEMENTS or (len(name) == 1 and not _SHORT_ELEMENT.fullmatch(found[0])):
            return found.group()
        self.cleaned += 1
        return "\n" if name in _NEW_LINES else " " if name in ("td", "th") else ""

    def _address(self, found: re.Match[str]) -> str:
        self.cleaned += 1
        self._addresses += 1
        before = found.string[max(0, found.start() - 1) : found.start()]
        after = found.string[found.end() : found.end() + 1]
        return "" if not before or before.isspace() or (after in _CLOSING and after) else " "


# --- white space -------------------------------------------------------------------------------


def is_beside_line_break(tag: re.Match[str], new_line: bool) -> bool | None:
    """Return whether a tag begins or ends a line; within one it may be spoken of.

    ``new_line`` says whether the text begins a line. None if the text ends behind the tag.
    """
    _, line_break, line = tag.string[: tag.start()].rpartition("\n")
    if not line.strip() and (line_break or new_line):
        return True
    after = tag.string[tag.end() :].lstrip(" \t")
    return after.startswith("\n") if after else None


_STOPPED = re.compile(r"[.!?…。！？][\"'”’»)\]]*\Z")
_CLOSING_SIGNS = ".,;:!?…)]}»”’。，；：！？、）」』"


def close_gaps(text: str) -> str:
    """Remove the markers, and the white space that only they needed."""

    def gap(found: re.Match[str]) -> str:
        before, after, following = found.groups("")
        so_far = text[: found.start()]
        blanks = max(before, after, key=lambda space: (space.count("\n"), len(space)))
        if not so_far or not following:
            return "" if following in _CLOSING_SIGNS else following
        if following == "." and _STOPPED.search(so_far):
            return ""
        if "\n" not in blanks and following in _CLOSING_SIGNS:
            return f"{after if following in '!?;:»' else ''}{following}"
        return f"{blanks or ' '}{following}"

    return re.sub(rf"(\s*){MARKER}(\s*)((?!{MARKER})\S|\Z)?", gap, text.replace(MARKER * 2, MARKER))


def collapse_white_space(text: str) -> str:
    """Collapse white space: at most one blank line, and eight blanks on a line."""

    def shorten(found: re.Match[str]) -> str:
        lines = found.group().count("\n")
        return "\n" * min(lines, 2) + found.group().rpartition("\n")[2][:8]

    return re.sub(r"\s+", shorten, text)


_FOOTNOTE = re.compile(r"(?<!\b[^\W\d])\[(?!0\])(\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20})\]")
_BEFORE_LIST = re.compile(r"""(?:=\s?|[!&{]|["']:\s?)\Z""")
"""What stands before a list of numbers in program text: ``a = [1, 2]``, ``vec![1, 2]``."""
_OPENING = frozenset("[]({<")
"""What begins a link, a tag, or something that could be taken for a source's header."""
LIVE = re.compile(r"(\](?=[(:\[])|<(?=[A-Za-z/!?|]))")
"""What could open a link, an image or a tag."""
_PLACEHOLDER = rf"(?<!<)<(?!(?:{'|'.join(sorted(ELEMENTS))})>)[\w.@+-]{{1,60}}>(?!>)"
"""``<name>`` or ``<name@example.org>``, which is no element of HTML, but not ``<<SYS>>``."""
_LIVE = re.compile(rf"(?!{_PLACEHOLDER}){LIVE.pattern}", re.IGNORECASE)


def plain_quotation(text: str) -> str:
    """Return a source sentence for display: on one line, word for word.

    What would open a link, an image or a tag is separated by a blank, but not a placeholder such as
    ``<name>``; a number in square brackets, which could be taken for a citation, gets other
    brackets. An address stays as text.
    """
    if text.isascii() and text.isprintable() and _OPENING.isdisjoint(text):
        return " ".join(text.split()) or "…"
    clean = " ".join(Characters().feed(text, final=True).split())
    parted = _LIVE.sub(r"\1 ", clean)
    return " ".join(plain_footnotes(without_heads(parted)).split()) or "…"


def plain_footnotes(text: str) -> str:
    """Return the text with other brackets around numbers that could be taken for citations.

    Lists of program text, of several numbers, stay as they are.
    """

    def plain(found: re.Match[str]) -> str:
        before = text[max(0, found.start() - 3) : found.start()]
        is_list = "," in found[1] and _BEFORE_LIST.search(before)
        return found[0] if is_list else f"‹{found[1]}›"

    return _FOOTNOTE.sub(plain, text)

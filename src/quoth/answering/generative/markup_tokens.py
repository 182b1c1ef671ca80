"""Know the shapes of Markdown and HTML at the beginning of a text, each by a bounded look ahead.

Every function is given a text that begins with the first sign of the shape, and says how much of
it is the shape and what is shown in its place; it raises `More` while more text could decide
otherwise. ``final`` says that there is no more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from quoth.answering.generative.citation_markers import CitationMarker, may_begin, parse_marker

AHEAD = 400
"""Signs that are looked at to find the end of a bracket, a tag or a link."""
AHEAD_SCRIPT = 2000
"""Signs that are looked at to find the end of a script or a style sheet."""
AHEAD_CODE = 300
"""Signs that code within a line may have."""


class NeedMoreInput(Exception):
    """What a shape is cannot be said before more text is there."""


@dataclass(frozen=True, slots=True)
class MarkupMatch:
    """The first `size` signs are shown as ``shown``; ``again`` is read once more behind that.

    ``cleaned`` says that something was taken out; everything up to ``until`` goes, too.
    """

    size: int
    shown: str = ""
    marker: CitationMarker | None = None
    after: str = ""
    again: str = ""
    cleaned: bool = False
    until: re.Pattern[str] | None = None


_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def _more(text: str, at: int, *, final: bool, ahead: int = AHEAD) -> None:
    """Raise `More` if what stands from `at` on is too short to give up looking for an end."""
    if not final and len(text) - at < ahead and not _BLANK_LINE.search(text, at):
        raise NeedMoreInput


# --- code within a line -----------------------------------------------------------------------


def code_in_line(text: str, *, final: bool) -> MarkupMatch:
    """Read code between runs of backticks; a run that nothing closes becomes an apostrophe."""
    size = len(text) - len(text.lstrip("`"))
    closing = re.compile(rf"(?<!`)`{{{size}}}(?!`)")
    most = size + AHEAD_CODE
    end = closing.search(text, size, most)
    if end is None or _BLANK_LINE.search(text, size, end.start()):
        if end is None:
            _more(text, 0, final=final, ahead=most)
        return MarkupMatch(size, "'")
    if end.end() == len(text) and not final:
        raise NeedMoreInput
    inside = text[size : end.start()].replace("`", "'").replace("\n", " ")
    return MarkupMatch(end.end(), f"`{inside}`")


# --- brackets ---------------------------------------------------------------------------------

_OPEN, _SHUT = r"\[【［〔⟦", r"\]】］〕⟧"
_BRACKETS = re.compile(
    rf"[{_OPEN}]((?:[^{_OPEN}{_SHUT}]|[{_OPEN}][^{_OPEN}{_SHUT}]*+[{_SHUT}])*+)[{_SHUT}]"
)
_ANY_BRACKET = re.compile(f"[{_OPEN}{_SHUT}]")
_MARKERS_ONLY = re.compile(rf"(?:[{_OPEN}][^{_OPEN}{_SHUT}]*[{_SHUT}][\s,;&]*(?:and |et )?)+")
_ROUND = re.compile(r"[(（]([^()（）\n]{0,200})[)）]")
_TARGET = re.compile(
    r"\(\s*+(?:<[^<>\n]*+>|(?:[^()\s<]|\([^()\s]*+\))(?:[^()\s]|\([^()\s]*+\))*+)?"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*+\)"
)
_SEPARATOR = re.compile(rf"[^\S\n]{{0,3}}(?:[,;/&+]|and|et)?[^\S\n]{{0,3}}(?=[{_OPEN}])")
_SEPARATOR_MAYBE = re.compile(r"[^\S\n]{0,3}(?:[,;/&+]|and?|et?)?[^\S\n]{0,3}")
_TITLED = r"(?:[^\S\n]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?"
_DEFINED = re.compile(rf"[^\S\n]*(?:<[^<>\n]*>|\S*[:/.#]\S*){_TITLED}[^\S\n]*")
_NOT_DEFINED = re.compile(r"[^\S\n]*(?:[^\s:/.#<]+\s|[^\s<]+[^\S\n]+[^\s\"'(])")
_ROLE = re.compile(r"/?INST", re.IGNORECASE)


def bracket(text: str, *, final: bool, new_line: bool, indexing: bool) -> MarkupMatch:
    """Read what begins with a square bracket, and emphasis, "!" or a backslash before it.

    ``new_line`` says that nothing stands before it on its line; ``indexing`` that it stands right
    behind a name of one letter, as in ``x[1]``.
    """
    at = next(place for place, sign in enumerate(text) if sign in "[【［〔⟦")
    body = _BRACKETS.match(text, at, at + AHEAD)
    if body is None:
        _more(text, at, final=final)
        broken_off = len(text) - at < AHEAD and _may_be_marker(text[at + 1 :])
        return (
            MarkupMatch(len(text), text[:at]) if broken_off else MarkupMatch(at + 1, text[: at + 1])
        )
    end, inner = body.end(), body[1]
    if end == len(text) and not final:
        raise NeedMoreInput
    if _ROLE.fullmatch(inner):
        return MarkupMatch(end, text[:at], cleaned=True)
    if new_line and at == 0 and text[end : end + 1] == ":":
        defined = _definition(text, end + 1, final=final)
        if defined:
            return MarkupMatch(defined, cleaned=True)
    marker = _marker_in(inner)
    if marker is not None and not (marker.bare and indexing and at == 0):
        return _marked(text, marker, at=at, end=end, final=final, new_line=new_line)
    return _linked(text, inner, at=at, end=end, final=final)


def round_bracket(text: str, *, final: bool) -> MarkupMatch:
    """Read ``(Source 1)`` and ``([Source 1])``; any other bracket stays."""
    if not may_begin(text[1:18]):
        return MarkupMatch(1, text[0])
    body = _ROUND.match(text)
    if body is None:
        if "\n" not in text[:200]:
            _more(text, 0, final=final, ahead=202)
        return MarkupMatch(1, text[0])
    if body.end() == len(text) and not final:
        raise NeedMoreInput
    marker = parse_marker(_ANY_BRACKET.sub(" ", body[1]), round_brackets=True)
    if marker is None:
        return MarkupMatch(1, text[0])
    return MarkupMatch(body.end(), marker=marker)


def _marker_in(inner: str) -> CitationMarker | None:
    if not _ANY_BRACKET.search(inner):
        return parse_marker(inner)
    if not _MARKERS_ONLY.fullmatch(inner.strip() + " "):
        return None
    marker = parse_marker(_ANY_BRACKET.sub(" ", inner))
    return None if marker is None or marker.bare else marker


def _may_be_marker(rest: str) -> bool:
    """Whether an answer broke off inside a marker."""
    return "\n" not in rest and (
        parse_marker(rest) is not None or (0 < len(rest) < 9 and may_begin(rest))
    )


def _marked(
    text: str, marker: CitationMarker, *, at: int, end: int, final: bool, new_line: bool
) -> MarkupMatch:
    """Take a marker with the link, the emphasis and the comma that hang on it."""
    before, cleaned = text[:at].rstrip("\\"), False
    if text[end : end + 1] == "(":
        target = _target(text, end, final=final)
        if target:
            before, end, cleaned = before.rstrip("!"), target, True
    stars = re.match(r"\**", before)
    around = stars.group() if stars else ""
    if around and text.startswith(around, end):
        before, end = before[len(around) :], end + len(around)
    elif around.startswith(text[end : end + len(around)]) and around and not final:
        raise NeedMoreInput
    if new_line and text[end : end + 1] == ":":
        end += 1
    elif end == len(text) and not final:
        raise NeedMoreInput
    return MarkupMatch(_separated(text, end, final=final), before, marker=marker, cleaned=cleaned)


def _separated(text: str, end: int, *, final: bool) -> int:
    """Give the end of the comma, or "and", that stands between a marker and the next."""
    maybe = _SEPARATOR_MAYBE.match(text, end)
    if maybe is not None and maybe.end() == len(text) and not final:
        raise NeedMoreInput
    between = _SEPARATOR.match(text, end)
    if between is None or not between.group():
        return end
    following = _BRACKETS.match(text, between.end(), between.end() + AHEAD)
    if following is None:
        _more(text, between.end(), final=final)
        return end
    return between.end() if _marker_in(following[1]) is not None else end


def _linked(text: str, inner: str, *, at: int, end: int, final: bool) -> MarkupMatch:
    """Leave the label of a link and nothing of an image; any other bracket stays."""
    image = text[:at].endswith("!")
    following = text[end : end + 1]
    if following == "(":
        target = _target(text, end, final=final)
        if target:
            before = text[:at].rstrip("\\").removesuffix("!")
            return MarkupMatch(target, before, again="" if image else inner, cleaned=True)
    if following == "[":
        reference = _BRACKETS.match(text, end, end + AHEAD)
        if reference is None:
            _more(text, end, final=final)
        elif _marker_in(reference[1]) is None:
            before = text[:at].removesuffix("!")
            again = "" if image else inner
            return MarkupMatch(reference.end(), before, again=again, cleaned=True)
    return MarkupMatch(at + 1, text[: at + 1])


def _target(text: str, at: int, *, final: bool) -> int:
    """Give the end of a link's target; 0 where there is none."""
    found = _TARGET.match(text, at, at + AHEAD)
    if found is None:
        _more(text, at, final=final)
        return 0
    return found.end()


def _definition(text: str, at: int, *, final: bool) -> int:
    """Give the end of a line that defines where a reference leads; 0 where it does not."""
    if _NOT_DEFINED.match(text, at):
        return 0
    line = text.find("\n", at, at + AHEAD)
    if line < 0:
        if not final and len(text) - at < AHEAD:
            raise NeedMoreInput
        line = min(len(text), at + AHEAD)
    return line if _DEFINED.fullmatch(text, at, line) else 0


# --- tags -------------------------------------------------------------------------------------

_ELEMENTS = frozenset(
    "abbr acronym address applet area article aside audio base basefont bdi bdo big blink "
    "blockquote body br button canvas caption center cite code col colgroup data datalist dd del "
    "details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img image input ins isindex "
    "kbd keygen label legend li link listing main map mark marquee math menu meta meter nav nobr "
    "noframes noscript object ol optgroup option output param picture plaintext portal pre "
    "progress rp rt ruby samp script section select slot small source span strike strong style "
    "sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt "
    "ul var video wbr xmp eos bos pad unk start_of_turn end_of_turn think thinking reasoning "
    "sources system user assistant human tool instructions a b i p q s u".split()
)
_NEW_LINES = frozenset("br p div li tr h1 h2 h3 h4 h5 h6 ul ol table blockquote pre hr".split())
_THOUGHTS = frozenset({"think", "thinking", "reasoning"})
_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9_]*)(?=[\s/>:])")
_MAYBE = re.compile(
    r"</?(?:[a-zA-Z][a-zA-Z0-9_]{0,20})?|<[a-zA-Z][a-zA-Z0-9+.\-]{0,31}(?::[^\s<>]*)?"
    r"|<[\w.+\-]{1,64}(?:@[\w.\-]{0,200})?|<!-{0,2}|<[|｜][^<>\n]{0,62}|<</?[sySY]{0,3}>?"
)
_TAG = re.compile(r"<[^<>]*+>")
_SPARE = re.compile(r"</?[a-zA-Z](?:\s*/?>|\s[^<>]*=[^<>]*>)")
_ADDRESS = re.compile(r"<[a-zA-Z][a-zA-Z0-9+.\-]{1,31}:[^\s<>]*>")
_MAIL = re.compile(r"<([\w.+\-]{1,64}@[\w.\-]{1,200})>")
_CHAT = re.compile(r"<[|｜][^<>\n]{0,60}[|｜]>|<</?SYS>>", re.IGNORECASE)


def tag(text: str, *, final: bool) -> MarkupMatch:
    """Read a tag, a comment, an address or a chat token between angle brackets.

    Their content stays, but for that of scripts, style sheets and thoughts. A ``<`` that begins
    none of them stays: it may be a sign of mathematics.
    """
    chat = _CHAT.match(text)
    if chat is not None:
        return MarkupMatch(chat.end(), "\n\n", cleaned=True)
    address = _ADDRESS.match(text, 0, AHEAD)
    if address is not None:
        return MarkupMatch(address.end(), cleaned=True)
    mail = _MAIL.match(text)
    if mail is not None:
        return MarkupMatch(mail.end(), mail[1], cleaned=True)
    if text.startswith("<!--"):
        return _comment(text, final=final)
    name = _NAME.match(text)
    if name is not None and name[1].casefold() in _ELEMENTS:
        return _element(text, name[1].casefold(), final=final)
    if _MAYBE.fullmatch(text, 0, AHEAD) and len(text) < AHEAD and not final:
        raise NeedMoreInput
    return MarkupMatch(1, "<")


def _comment(text: str, *, final: bool) -> MarkupMatch:
    end = text.find("-->", 2, AHEAD)
    if end < 0:
        if not final and len(text) < AHEAD:
            raise NeedMoreInput
        return MarkupMatch(4, cleaned=True)
    return MarkupMatch(end + 3, cleaned=True)


def _element(text: str, name: str, *, final: bool) -> MarkupMatch:
    found = _TAG.match(text, 0, AHEAD)
    if found is None:
        if "<" not in text[1:AHEAD]:
            _more(text, 0, final=final)
        return MarkupMatch(1, "<")
    if len(name) == 1 and not _SPARE.fullmatch(found.group()):
        return MarkupMatch(1, "<")
    size = found.end()
    if name in _THOUGHTS and text[1] != "/":
        return MarkupMatch(size, cleaned=True, until=re.compile(rf"</{name}\s*>", re.IGNORECASE))
    if name in ("script", "style") and text[1] != "/":
        close = re.compile(rf"</{name}[^<>]{{0,40}}>", re.IGNORECASE)
        end = close.search(text, size, AHEAD_SCRIPT)
        if end is None and not final and len(text) < AHEAD_SCRIPT:
            raise NeedMoreInput
        return MarkupMatch(end.end() if end else size, cleaned=True)
    shown = "\n" if name in _NEW_LINES else " " if name in ("td", "th") else ""
    return MarkupMatch(size, shown, cleaned=True)

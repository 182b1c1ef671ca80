"""Split text into sentences, in one pass and without a model.

Its words and the openings of sentences are rows: ``data/sentences.LANGUAGE.toml``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, partial

from quoth.text.tables import tables_for, word_list

MAX_WORDS = 90
"""Words beyond which no piece goes, whatever its punctuation."""
MAX_CHARACTERS = 900
"""Characters beyond which no piece goes: for scripts without spaces, and for data."""
PIECE_WORDS = 40
"""Words that a piece of text without full stops has at most."""

Span = tuple[int, int]

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_STOP = re.compile(
    r"(?P<mark>[.!?…](?<![.!?…].)[.!?…]*+)(?:[^\S\n]?»|[\"'”’)\]⁰¹²³⁴⁵⁶⁷⁸⁹]|\[\d{1,3}\])*"
    # the source of a quotation: "… strike." [Op. Cit., p. 3]
    r"(?:(?<=[\"”»])[^\S\n]\[(?=[^\]\n]*[^\W\d_]{2}[^\]\n]*\d)[^\[\]\n]{3,120}\])?(?=\s|$)"
    r"(?![^\S\n]»[,;:)])"
    r"|(?P<wide>[。！？]+[」』”）]*)"
)
# A lookbehind only at punctuation is ten times as fast as at every character.
_AFTER_STOP = re.compile(r"[.?!](?<=[^\W\d_]{3}.)\s+([^\W\d_])")
_WORD = re.compile(r"\S+")
_ELLIPSIS = re.compile(r"(?<!\.)(?<!\. )\.(?: \.){2,3}(?! ?\.)")
"""Three or four spaced dots; more of them lead to a page number in a table of contents."""
_ITEM = re.compile(r"[a-z]\)\s")
_LETTER_NEXT = re.compile(r"[^\W\d_]{1,2}\.(?=\s|\W*$)")
_SPACED = re.compile(r"(?<!\S)([^\W\d_]\.)[^\S\n]([^\W\d_]{1,2})\Z")
_NUMBER = re.compile(r"(?<!\S)(\d{1,2})\Z")
_FIRST_NUMBER = re.compile(r"(\d{1,2})\.\s")
LABEL = re.compile(r"[^\W\d_a-zà-ÿ][^\W\d_]*\s(?:[A-Z][.-])?\d{1,3}(?:[.-]\d{1,3})*")
"""The label of a caption or a heading: "Figure 2.1", "Tableau 3", "Table A-1"."""
_OPENERS = "\"'“‘«([{—–-• \t\u00a0\u202f"
_CLAUSES = (re.compile(r"\n"), re.compile(r"[;:—–]\s"), re.compile(r"[,)]\s"))


_words = partial(word_list, "quoth.text", "sentences")
_TITLES = _words("titles")
_WRITTEN_TITLES = _words("written_titles")
_POINTERS = _words("pointers")
_NUMBERED = _words("numbered")
_ABBREVIATED = _words("shortened") | _words("closing")
_STARTERS = _words("starters")
_LETTERED = _words("lettered")
# Where German writes "3." for "third", also in dates.
_ORDINAL_OPENERS, _ORDINAL_MONTHS = _words("ordinal_openers"), _words("ordinal_months")
_DAY_OPENERS, _SHARED_MONTHS = _words("day_openers"), _words("shared_months")
_DAY = re.compile(r"(?:(?<!\S)(\S+)\s+)?(?<!\S)\d{1,2}\Z")


@cache
def openings(kind: str, language: str) -> re.Pattern[str]:
    """Return a pattern of openings in a language, for folded sentences: "fillers", say."""
    tables = tables_for("quoth.text", "sentences", language)
    return re.compile("|".join(row for table in tables for row in table[kind]) or "(?!)")


def is_anaphoric(folded: str, *, language: str) -> bool:
    """Return whether a sentence begins with what was named before: alone it has no subject."""
    found = openings("anaphoric", language).match(folded)
    return found is not None and not openings("self_contained", language).match(folded)


def sentences(text: str, *, breaks: Sequence[int] = ()) -> list[Span]:
    """Return the sentences of a text as (start, end), without the white space around them.

    Joined, the spans cover every character that is not white space. An empty line always ends a
    sentence. ``breaks`` are sorted offsets, such as the beginnings of cues, where text without
    punctuation is cut by preference. Takes time in proportion to the length of the text.
    """
    spans: list[Span] = []
    after = _AFTER_STOP.findall(text)
    # Whether sentences begin in lower case, as in some captions.
    lower = len(after) >= 4 and sum(letter.islower() for letter in after) > 0.6 * len(after)
    position = 0
    for gap in (*[match.span() for match in _PARAGRAPH.finditer(text)], (len(text), len(text))):
        for start, end in _trim(text, position, gap[0]):
            for low, high in _split(text, start, end, lower=lower):
                spans.extend(_shorten(text, low, high, breaks=breaks))
        position = gap[1]
    return spans


def trim_span(text: str, start: int, end: int) -> Span:
    """Return a span without the white space around it."""
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())


def _trim(text: str, start: int, end: int) -> Iterator[Span]:
    start, end = trim_span(text, start, end)
    if start < end:
        yield start, end


def _split(text: str, start: int, end: int, *, lower: bool) -> Iterator[Span]:
    begin, first = start, _FIRST_NUMBER.match(text, start, end)
    due = int(first[1]) if first else 1
    for stop in _STOP.finditer(text, start, end):
        if stop.start() < begin:
            continue
        item = _item_number(text, begin, stop, due=due, end=end)
        if item is not None:
            if due > 1:  # The first item stays with what introduces it.
                yield from _trim(text, begin, item)
                begin = item
            due += 1
            continue
        if stop["wide"] is None and not _ends(text, stop, begin=begin, end=end, lower=lower):
            continue
        yield from _trim(text, begin, stop.end())
        begin = stop.end()
    yield from _trim(text, begin, end)


def _item_number(text: str, begin: int, stop: re.Match[str], *, due: int, end: int) -> int | None:
    """Return where the number of the next item of a list begins if it stands before this stop.

    ``due`` is that number; a list begins with "1." behind a colon, or where a paragraph does.
    """
    found = _NUMBER.search(text, max(begin, stop.start() - 3), stop.start())
    if stop["mark"] != "." or found is None or int(found[1]) != due or stop.end() == end:
        return None
    place = found.start()
    window = text[max(begin, place - 8) : place]
    # Within a line it may belong to the sentence: "the measures of paragraph 3. They apply …".
    before = window.rstrip()[-1:] if due == 1 else window.rstrip(" \t")[-1:]
    opens = before == ":" if due == 1 else before in tuple("\n:;.!?")
    return place if opens or place == begin else None


def _ends(text: str, stop: re.Match[str], *, begin: int, end: int, lower: bool) -> bool:
    """Return whether the sentence that began at `begin` ends with this stop."""
    rest = text[stop.end() : min(end, stop.end() + 60)].lstrip()
    if not rest:
        return True
    bare = rest.lstrip(_OPENERS)
    if bare[:1].islower() and not lower and not _ITEM.match(bare):
        return False
    mark = stop["mark"]
    if mark != ".":
        return bool(bare) or "!" in mark or "?" in mark
    at = stop.start()
    if any(
        dots.start() <= at < dots.end()
        for dots in _ELLIPSIS.finditer(text, max(0, at - 8), at + 10)
    ):
        return False
    if LABEL.fullmatch(text, begin, at):
        return False
    word = _word_before(text, at, begin=begin)
    small = word.lower()
    if _points_onwards(text, word, at, begin=begin) or (len(word) == 1 and _goes_on(word, bare)):
        return False
    if small in _ABBREVIATED or re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word):
        return _is_starter(bare) or small == "etc"
    if small in _NUMBERED:
        number = r"\d" if small in ("no", "nos") else r"\d|[ivxlcIVXLC]{2,}\b|[B-Z]\b"
        return re.match(number, bare) is None
    if _numbers_an_item(text, word, at, begin=begin):
        return False
    if _is_ordinal(text, at, bare, begin=begin) and not _is_starter(bare):
        return False
    if len(word) == 1 and word.isupper():
        # A letter, or the initial of a name.
        previous = text[max(begin, stop.start() - 30) : stop.start() - 1].lower().split()[-1:]
        lettered = bool(previous) and previous[0] in _LETTERED
        return not re.match(r"[A-Z]\.", bare) and (lettered or _is_starter(bare))
    return True


def _points_onwards(text: str, word: str, at: int, *, begin: int) -> bool:
    """Return whether an abbreviation points at what follows it: "Dr.", "cf.", "u. a."."""
    if word.lower() in _POINTERS or word in _WRITTEN_TITLES:
        return True
    if word.lower() in _TITLES and word[:1].isupper():
        return True
    spaced = _SPACED.search(text, max(begin, at - 8), at) if len(word) < 3 else None
    return spaced is not None and "".join(spaced.groups()).lower() in _POINTERS


def _goes_on(letter: str, rest: str) -> bool:
    """Return whether an abbreviation goes on behind its first letter: "z. B.", "p. ej."."""
    return letter.islower() and _LETTER_NEXT.match(rest) is not None


def _word_before(text: str, at: int, *, begin: int) -> str:
    """Return the word that ends at a stop, without what opens it; "" after white space."""
    window = text[max(begin, at - 24) : at]
    word = "" if not window or window[-1].isspace() else window.rsplit(None, 1)[-1]
    return word.lstrip("\"'“‘«([{")


def _is_starter(rest: str) -> bool:
    """Return whether a text begins with a word that often begins a sentence."""
    following = _WORD.match(rest)
    name = following.group().strip(',;:!?.)»”"').lower() if following else ""
    return name.replace("’", "'") in _STARTERS


def _is_ordinal(text: str, at: int, rest: str, *, begin: int) -> bool:
    """Return whether a stop makes an ordinal of a number: "am 3. Mai", "3. 5. 1952"."""
    day, following = _DAY.search(text, max(begin, at - 24), at), _WORD.match(rest)
    if day is None or following is None:
        return False
    before, after = (day[1] or "").lower(), following.group()
    month = after.lower().strip(",;:.")
    if before in _ORDINAL_OPENERS or month in _ORDINAL_MONTHS:
        return True
    if before in _DAY_OPENERS and month in _SHARED_MONTHS:
        return True
    figures = r"\d{4}\W?" if re.fullmatch(r"\d{1,2}\.", before) else r"\d{1,2}\."
    return re.fullmatch(figures, after) is not None


def _numbers_an_item(text: str, word: str, at: int, *, begin: int) -> bool:
    """Return whether the word before a stop is the number of an item: "2." or "3.1."."""
    if not (word.isdigit() or re.fullmatch(r"\d+(?:\.\d+)+|[a-zA-Z]\)?", word)):
        return False
    before = text[max(begin, at - 40) : at - len(word)]
    opens = at - begin < 40 and not before.strip(_OPENERS + "*\n")
    # A list behind its introduction: ":\n1. The first item".
    opening = before.rstrip(_OPENERS + "*")
    opens |= opening.endswith("\n") and opening.rstrip().endswith(":")
    return opens and (len(word) <= 3 or "." in word)


def _shorten(text: str, start: int, end: int, *, breaks: Sequence[int]) -> Iterator[Span]:
    """Cut a span that is too long for one sentence, where a reader would pause."""
    if end - start < 4 * PIECE_WORDS:
        yield start, end
        return
    words = [match.span() for match in _WORD.finditer(text, start, end)]
    stopped = text[start:end].rstrip("\"'”’»)] ")[-1:] in ".!?…"
    longest = MAX_WORDS if stopped else PIECE_WORDS
    if len(words) <= longest and end - start <= MAX_CHARACTERS:
        yield start, end
        return
    starts = [low for low, _ in words]
    while start < end:
        cut = _cut(text, start, end, starts=starts, breaks=breaks)
        yield from _trim(text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1


def _cut(text: str, start: int, end: int, *, starts: Sequence[int], breaks: Sequence[int]) -> int:
    """Return the end of the piece from `start`: a break, a line, a clause or a word."""
    index = bisect_left(starts, start)
    left = len(starts) - index
    if left <= PIECE_WORDS and end - start <= MAX_CHARACTERS:
        return end
    size = PIECE_WORDS if left > 1.5 * PIECE_WORDS else max(1, left // 2 + 1)
    most = starts[index + size] if index + size < len(starts) else end
    most = min(most, start + MAX_CHARACTERS)
    least = starts[index + size // 2] if index + size // 2 < len(starts) else start + 1
    least = min(least, start + MAX_CHARACTERS // 2)
    place = bisect_right(breaks, most) - 1
    if place >= 0 and breaks[place] > least:
        return breaks[place]
    pause = last_pause(text, least, most, pauses=_CLAUSES)
    if pause is not None:
        return pause
    word = bisect_right(starts, most) - 1
    if starts[word] > start:
        return starts[word]
    return _whole_character(text, most, start)


def last_pause(
    text: str, least: int, most: int, *, pauses: Sequence[re.Pattern[str]]
) -> int | None:
    """Return where the last pause between two offsets ends: of the first kind that is there."""
    window = text[least:most]
    for pause in pauses:
        if found := [match.end() for match in pause.finditer(window)]:
            return least + found[-1]
    return None


def _whole_character(text: str, at: int, start: int) -> int:
    """Step back from inside a combined character, such as an emoji of several parts."""
    low = at
    while low > start + 1 and at - low < 16 and re.match(r"[\u0300-\u036f\u200d\ufe0f]", text[low]):
        low -= 1
    return low

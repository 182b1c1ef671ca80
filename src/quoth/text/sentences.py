"""Split text into sentences, in one pass and without a model.

The abbreviations of languages besides English and French are rows: ``data/abbreviations.toml``.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from importlib.resources import files

ANAPHORIC = re.compile(
    r"(?:it|its|it's|they|they're|their|them|he|she|his|her|this|that|that's|these|those|such"
    r"|the (?:former|latter|same)|both|doing so"
    r"|il|ils|elle|elles|ce|c'est|cela|ceci|cet|cette|ces|ca|celui-ci|celle-ci|ceux-ci|celles-ci"
    r"|celui-la|celle-la|son|sa|ses|leur|leurs|y|en)(?![\w-])|c'(?:etait|est)\b"
)
"""Openings that speak of something named before: alone, the sentence has no subject."""

NOT_ANAPHORIC = re.compile(
    r"(?:il (?:est (?:possible|important|necessaire|interdit|recommande|obligatoire|conseille)"
    r"|y a|faut|existe|s'agit)|it (?:is|was) (?:possible|important|necessary|known|recommended)"
    r"|en (?!est\b|effet\b|revanche\b|outre\b)\w+|y (?!a\b)\w+ing\b)"
)
"""Openings that look like the former and stand by themselves ("Il existe …")."""

CONNECTIVES = re.compile(
    r"(?:and|but|so|or|by the way|now|well"
    r"|however|therefore|thus|hence|then|also|moreover|furthermore|instead"
    r"|otherwise|nevertheless|for example|for instance|in contrast|on the other hand|in other words"
    r"|as a result|consequently|similarly|additionally|in addition|finally|second|third"
    r"|et|mais|donc|ou|or|bref|au fait|car|ainsi|alors|puis|ensuite|enfin|cependant|toutefois"
    r"|neanmoins"
    r"|en effet|en revanche|en outre|par exemple|par contre|de plus|au contraire|autrement dit"
    r"|par consequent|d'autre part|deuxiemement|troisiemement|finalement)\b,?"
)
"""Openings that go on from the sentence before; it is useful, but the subject is there."""

FILLERS = re.compile(
    r"(?:hi\b|hello\b|hey\b|welcome\b|good (?:morning|afternoon|evening)|thank(?:s| you)\b"
    r"|see you\b|bye\b|in this (?:video|talk|chapter|section|course|lesson|tutorial|part)\b"
    r"|in the (?:previous|next|last|following|coming) \w+\b|as (?:mentioned|discussed|noted|seen)\b"
    r"|dans (?:la|le|les) (?:\w+ (?:suivant|precedent)|prochaine?|precedent|suivant)"
    r"|comme mentionne\b|let'?s\b|let us\b"
    r"|now,? (?:let|we)\b|we(?:'ll| will| are going to)\b|i(?:'m|'ll| am| will)\b"
    r"|my name\b|if you(?:'re| are) (?:looking|interested)|check out\b|click\b|join\b|okay\b|ok\b"
    r"|as you can see\b|as we (?:saw|have seen)\b|you can (?:watch|find|see)\b|see (?:also|the)\b"
    r"|to (?:learn|find out|know) more\b|for more (?:information|details)\b|note that\b"
    r"|bonjour\b|bonsoir\b|salut\b|bienvenue\b|merci\b|au revoir\b|a bientot\b"
    r"|dans (?:cette|ce) (?:video|presentation|chapitre|section|cours|tutoriel|partie|lecon)\b"
    r"|prenons\b|voyons\b|regardons\b|commencons\b|passons\b|nous (?:allons|verrons)\b"
    r"|je (?:suis|vais|m'appelle)\b|comme (?:vous|nous) (?:pouvez|le voyez|l'avons)\b"
    r"|pour en savoir plus\b|pour plus d'informations?\b|cliquez\b"
    r"|si vous (?:cherchez|etes interesse)"
    r"|(?:this|the|our) (?:\w+ )?list (?:is|was)(?:n't)?\b"
    r"|(?:cette|la|notre) liste (?:n')?est\b)"
)
"""Openings by which a speaker or an author leads the reader on instead of saying something."""


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


_FURTHER = tomllib.loads((files("quoth.text") / "data/abbreviations.toml").read_text("utf-8"))


def _words(text: str, *, kind: str = "") -> frozenset[str]:
    """Return words with those of a kind in further languages."""
    further = " ".join(table[kind] for table in _FURTHER.values()) if kind else ""
    return frozenset(f"{text} {further}".split())


# A title precedes a name, so no sentence ends after it.
_TITLES = _words(
    "dr mr mrs ms prof st ste rev hon gen col sgt capt lt sen rep gov pres mm mme mmes mlle "
    "mlles mgr pr vve ing me"
)
_WRITTEN_TITLES = _words("", kind="titles")
# These point at what follows them.
_POINTERS = _words("e.g i.e eg ie cf vs viz resp c.-à-d c.à.d p.ex ex av", kind="pointers")
# These point onwards too, but a sentence may end with them.
_SHORTENED = _words(
    "approx ca esp incl al env apr jan feb jun jul aug sep sept oct nov dec  janv févr juil déc",
    kind="shortened",
)
# These are abbreviations only where a number follows: "No. 5", but "I said no."
_NUMBERED = _words(
    "no nos nr fig figs p pp vol vols ch chap chaps sec sect eq eqs ed eds art n par tab ref "
    "refs ill pt pts app §",
    kind="numbered",
)
# A sentence may end after these; the next one then begins with a capital letter.
_CLOSING = _words(
    "etc inc ltd corp co jr sr bros cie a.m p.m u.s u.k ph.d b.c a.d j.-c", kind="closing"
)
_ABBREVIATED = _SHORTENED | _CLOSING
_STARTERS = _words(
    "a about after all also an and another any are as at because before both but by can could "
    "did do does each even every finally first for from given here how however i if in is it "
    "its let let's like many maybe most my next no not now of ok okay on once one only or "
    "other our please right second similarly since so some sometimes still such that that's "
    "the their then there there's these they this those to today two under until was we we'll "
    "well what when where which while who why will with would yes you your ainsi alors après "
    "au aussi autre aux avec avant bien c'est car ce cela celle celui cependant ces cet cette "
    "chaque comme comment dans de depuis des deux donc du elle elles en enfin ensuite est et "
    "finalement il ils j'ai je jusqu'à l'on la le les leur lors lorsque maintenant mais même "
    "nos notre nous on or ou où par parce pour pourquoi puis quand que quel quelle qui quoi "
    "sa sans se ses si son sous sur tous tout toute toutes un une voici voilà votre vous y à "
    "ça",
    kind="starters",
)
# "task A." ends a sentence, "John A. Smith" does not.
_LETTERED = _words(
    "task model type class option plan part section appendix step vitamin point variable case "
    "group team letter column row set node layer example tâche modèle classe partie annexe "
    "étape vitamine cas groupe équipe lettre colonne ligne ensemble couche exemple"
)

# Where German writes "3." for "third", also in dates: behind these, in front of those. Its months
# that are English words, too, need one of the former, or "am", which is an English word as well.
_ORDINAL_OPENERS = _words("im zum zur vom beim ins der das dem den")
_ORDINAL_MONTHS = _words("januar jänner februar feber märz mai juni juli oktober dezember")
_ENGLISH_MONTHS = _words("april august september november")
_DAY = re.compile(r"(?:(?<!\S)(\S+)\s+)?(?<!\S)\d{1,2}\Z")


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
    if before == "am" and month in _ENGLISH_MONTHS:
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

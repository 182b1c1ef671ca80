"""Reads the moments and the parts of a recording that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from quoth.query.entity_index import EntityIndex
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    bounding_range,
    restrict_to,
)
from quoth.query.messages import message
from quoth.query.source_terms import (
    SAYS,
    SAYS_FR,
    SINGULAR,
    SOURCE,
)
from quoth.query.tokens import TokenizedQuery
from quoth.text.numbers import CARDINAL, ORDINAL, number_of

MOST_MOMENTS = 12
"""Moments that are read in one question."""
LAST_SECOND = 360_000.0
"""The end of a range of time that is open."""
NEARBY = 30.0
"""Seconds on either side of a moment that is named roughly."""

_CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?!\d|:\d| ?(?:am|pm|a\.m|p\.m|o'clock|gmt|utc|h\b))"
_HOURS = (
    r"(\d{1,2}) ?(?:h|heures?|hours?|hrs?)(?: ?(?:and|et) ?)? ?(?:(\d{1,2}) ?(?:min(?:ute)?s?|m)?)?"
    r"(?: ?(?:and|et) ?)?(?: ?(\d{1,2}) ?(?:sec(?:onde?)?s?|s))?\b"
)
_MINUTES = (
    rf"(?:(?:the |la )?minutes? ({CARDINAL})\b|({CARDINAL}) ?(?:min(?:ute)?s?\b|mn\b|m(?=\d)|')"
    r"(?: ?(?:and|et) ?)?(?: ?(\d{1,2}) ?(?:sec(?:onde?)?s?\b|s\b|''|\")?)?)"
)
_TIME = rf"(?:{_CLOCK}|{_HOURS}|{_MINUTES})"
_AT = re.compile(
    r"(?<![\w-])(at|around|about|near|from|since|after|before|past|until|a|vers|autour de|des"
    r"|apres|avant|jusqu'a"
    rf"|minute) (?:about |around |exactly |environ |the |la |timestamp |minute )*{_TIME}"
)
_OF_A_DAY = re.compile(
    r"\W*(?:every|each|daily|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|in the (?:morning"
    r"|afternoon|evening)"
    r"|at night|tonight|tomorrow|today|sharp|chaque|tous les|toutes les|le (?:lundi|mardi"
    r"|mercredi|jeudi|vendredi|samedi"
    r"|dimanche|matin|soir)|du (?:matin|soir)|de l'apres-midi|demain|aujourd)"
)
_TIMETABLE = re.compile(
    r"\b(?:(?:re)?opens?|clos(?:e|es|ed)|arrives?|leaves?|departs?|scheduled|due|on call|on duty"
    r"|meets?|ouvr(?:e|ent)|ferm(?:e|ent)|arriv(?:e|ent)|part(?:ent)?|de garde|rendez-vous"
    r"|rouvr(?:e|ent))(?:-t)?(?:-(?:il|elle|on)s?)? ?$"
)
_RECORDED = re.compile(
    rf"\b(?:{SOURCE}|(?!(?:calls?|reports?|covers?|state)\b){SAYS}|{SAYS_FR}|said|happen\w*|shown?"
    rf"|appears?|seen?|heard?"
    r"|slides?|speaker|screen|timestamp"
    r"|mark|passe|montre\w*|voit|entend|apparait|diapositive|diapo|oratrice|orateur|ecran"
    r"|dit-on|topic|sujet|introduced?|displayed|visible|hidden|talking|speaking|parle)\b|\uFFFC"
)
_SPAN = re.compile(
    rf"(?<![\w-])(?:between|from|entre|de)? ?(?:minutes? )?{_TIME} ?(?:-|to|and|until|till|a"
    r"|et|jusqu'a) ?"
    rf"(?:the |la )?{_TIME}"
)
_BARE_SPAN = re.compile(
    rf"\b(?:between|from|entre|de)(?: the| les)?(?: minutes?)? ({CARDINAL}) (?:and|to|et|a) "
    rf"({CARDINAL}) min(?:ute)?s?\b"
    rf"|\b(?:between|from|entre|de)(?: the| les)? minutes? ({CARDINAL}) (?:and|to|et|a) "
    rf"(?:minute )?({CARDINAL})\b"
    rf"|\bminutes ({CARDINAL}) ?(?:-|to|through|until|till|a|et|and|jusqu'a) ?({CARDINAL})\b"
)
_MARK = re.compile(
    r"\b(?P<word>at|around|about|after|since|past|from|before|until|a|vers|apres|avant|des) "
    rf"(?:the |la )?({CARDINAL}|{ORDINAL})[- ](?:minutes? mark|minute\b(?!s))"
)
_INTO = re.compile(
    rf"\b(?:({CARDINAL}) minutes?|(half an hour)|(an hour)) into\b"
    rf"|\bau bout d(?:e |')(?:({CARDINAL}) minutes?|(une demi-heure)|(une "
    r"heure))\b(?= (?:de|du|dans)\b|\W*$)"
)
_LENGTH = (
    rf"(?:({CARDINAL}) |(half(?: an)?[ -]|demi-))?(min(?:ute)?s?|seconds?|secondes?|hours?|heures?"
    r"|quarters?(?: of an |[ -])hour|quarts? d'heure)"
)
_ENDS_EN = re.compile(rf"\b(first|opening|last|final|closing) {_LENGTH}\b")
_ENDS_FR = re.compile(
    rf"\b(?:({CARDINAL}) )?(premiere?s?|derniere?s?) (?:({CARDINAL}) )?(demi[- ])?"
    r"(minutes?|secondes?|heures?|quarts? d'heure)\b"
)
_PARTS_EN = re.compile(
    r"\b(?P<first>first|opening)?(?P<place>second|middle|third)?(?P<last>last|final|closing"
    r"|latter)?"
    r" (?:(?P<count>two|three) )?(?P<part>half|halves|thirds?|quarters?)\b(?![ -](?:an "
    r"|of an )?hour)"
)
_PARTS_FR = re.compile(
    r"\b(?:(?P<count>deux|trois) )?(?P<first>premiere?s?)?(?P<place>seconde?|deuxieme|troisieme)?"
    r"(?P<last>derniere?s?)? (?P<part>moitie|tiers|quarts?)\b(?! d'heure)"
)
"""Shares of a recording: "the last third of", "la première moitié de"."""
_SHARES = {"h": 2, "m": 2, "t": 3, "q": 4}
_ONCE_OVER = re.compile(
    r"\b(?:after|past|once|beyond|when|following|skip(?:ping)?|apres|passee?s?|au-dela de"
    r"|une fois (?:que )?(?:passee?s?|ecoulee?s?|terminee?s?|finie?s?)?|sauter|des la fin de) ?"
    r"(?:the |la |le |les |l')?$"
)
"""What stands before a first part that is left behind."""
_OF_IT = re.compile(
    r"\s*(?:$|[?!.,;:)\"»”]|(?:of|in|into|du|de|de la|de l'|dans|de ce|de cette) ?(?:the "
    r"|this |that |his |her |le |la |l'"
    rf"|ce |cette |son |sa |\S+ ){{0,4}}?{SINGULAR}|of it\b|\W*(?:(?:of|in|from|du|de|des"
    r"|dans) ?(?:the |le |la |les |l')?)?\uFFFC|(?:what|who|which|how|does|do|did|is|are|was"
    r"|say|que|qu'|qui|est|quel|quelle|on|il|elle)\b)"
)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "q": 900.0}

_QA_EN = (
    r"q ?& ?a|q ?and ?a|q\s?/\s?a|qna|questions? and answers?(?: session| part| period| round)?"
    r"|question[- ]and[- ]answer (?:session|part|period|round|segment|section)|question "
    r"(?:time|period|session|round)"
    r"|audience questions?|questions? (?:from|by|of) the audience|audience's questions?"
    r"|audience q ?& ?a"
)
_QA_FR = (
    r"questions?[- ]reponses?|questions? (?:du public|de la salle|de l'auditoire|des auditeurs"
    r"|des spectateurs|posees (?:par le public|a la fin))|seance de questions?(?:[- ]reponses?)?"
    r"|echanges? avec (?:le public|la salle)|temps de questions?|q ?& ?r"
)
_DEMO = (
    r"(?:live |code |coding |product )?demo(?:s|nstrations?)?(?: part| segment| section| en "
    r"direct)?"
)
_DURING = (
    r"(?:in|during|from|at|throughout|within|dans|pendant|durant|lors|au cours|a) (?:de )?"
    r"(?:the |his |her |their |that |this |its |la |les |le |l'|cette |sa |son |ses |des |du "
    r"|partie |seance |session |"
    r"part of the |(?:[^\s,;?!]+ ){0,2}[^\s,;?!]+'s? )+"
)
_QA = re.compile(
    rf"(?<![\w-])(?:(?:{_DURING})(?:{_QA_EN}|{_QA_FR})|(?:audience questions|questions from "
    r"the audience"
    rf"|questions? (?:du public|de la salle)|(?:the|la|sa|les|ses|his|her|their|cette) (?:q ?& ?a"
    rf"|q and a|question[- ]and[- ]answer "
    r"(?:session|part|period)|(?:seance|partie|session) de questions?(?:[- ]reponses?)?|seance "
    r"(?:de )?questions?[- ]reponses?|partie questions?(?:[- ]reponses?)?)|the audience (?:asks?"
    r"|asked"
    r"|wants?|wanted|wonders?|wondered)\b"
    r"|(?:someone|somebody|a person|anyone) (?:in|from) the audience|questions? "
    r"[^.?!]{1,60}? par (?:le public|la salle)|questions le public|demandee?s? (?:par )?le public"
    r"|le public (?:demande|a "
    r"demande|a-t-il demande)))"
    r"(?=\s*(?:$|[?!.,;:)\"»”]|\S))(?! ?(?:dataset|data|system|model|benchmark|bot|task"
    r"|corpus|pairs?|site|website|app|forum)s?\b)"
)
_DEMOS = re.compile(
    rf"(?<![\w-]){_DURING}{_DEMO}\b(?! (?:data|datasets?|apps?|applications?|versions?|modes?|repo"
    r"|repository|code|accounts?|sites?|websites?|pages?|projects?|programs?|notebooks?|users?"
    r"|files?|folders?|scripts?|servers?|environments?|databases?|days?|rooms?|booths?"
    r"|teams?|links?"
    r"|urls?|keys?|instances?|machines?|licen[cs]es?|in front|devant)\b)"
)
_DEMOS_OF = re.compile(
    rf"(?<![\w-])(?:the|les?|la|all|every|toutes les|l')(?: ?live)? ?{_DEMO} ?(?:of|in|from|during"
    rf"|des|du"
    rf"|de la|de l'|dans) ?(?:[^\s,;?!]+ ){{0,3}}?(?:{SOURCE}\b|\uFFFC)"
    rf"|\b(?:the|les) {_DEMO} (?:in|en) (?:english|french|german|spanish|anglais|francais)\b"
)
_PROOF = re.compile(r"\s*(?:of|du|de la|de l'|d'|des|de|that|que) ?(?:the |this |a |an |l')?\S*")
_PROVED = re.compile(
    r"theorem|lemma|proposition|formul|propert|proof|identit|inegalit|equation|existence|lemme"
    r"|conject|that"
)


def times_asked(
    asked: TokenizedQuery,
    *,
    names: EntityIndex,
    among: Sequence[str],
    language: str,
    of_a_talk: bool = False,
) -> ExtractedFilters:
    """Read the moments that are named; only those that a recording lasts to narrow the search.

    ``of_a_talk`` tells that the conversation is about a recording, so that no time of day is meant.
    """
    folded = asked.folded
    if not names.spoken or not any(each in folded for each in _MARKS):
        return NOTHING
    spoken = (
        list(names.spoken.values())
        if among is names.everything
        else [names.spoken[each] for each in among if each in names.spoken]
    )
    if not spoken:
        return NOTHING
    recorded = of_a_talk or among is not names.everything or bool(_RECORDED.search(folded))
    ranges, rest = _spans(folded, recorded=recorded)
    ranges += _moments(rest, recorded=recorded)
    if len(spoken) == 1:
        ranges += _shares(rest, spoken[0])
    notes: tuple[str, ...] = ()
    for low, high in _ends(rest):
        if low >= 0:
            ranges.append((low, high))
        elif len(spoken) == 1:
            ranges.append((max(0.0, spoken[0] + low), spoken[0]))
        else:
            notes = (message("which_recording", language),)
    longest = max(spoken)
    within_reach = [(low, high) for low, high in ranges if low <= longest]
    if ranges and not within_reach:
        values = {"asked": _clock(min(low for low, _ in ranges)), "last": _clock(longest)}
        notes += (message("beyond_end", language, values),)
    return ExtractedFilters(bounding_range("seconds", within_reach), notes=notes)


_MARKS = (
    ":", "min", "hour", "heure", "second", " h", "0h", "1h", "2h", "3h", "half", "halve", "third",
    "quart", "moitie", "tiers",
)  # fmt: skip


def _spans(folded: str, *, recorded: bool) -> tuple[list[tuple[float, float]], str]:
    """Give the ranges between two times, and the question without them."""
    ranges = []
    for found in _BARE_SPAN.finditer(folded):
        first, last = ((number_of(each) or 0) * 60.0 for each in found.groups() if each)
        if first < last:
            ranges.append((first, last))
            folded = folded.replace(found.group(), " " * len(found.group()), 1)
    for found in islice(_SPAN.finditer(folded), MOST_MOMENTS):
        groups = found.groups()
        half = len(groups) // 2
        first, last = _seconds(groups[:half]), _seconds(groups[half:])
        of_a_day = _is_clock(groups[:half]) and not _is_of_a_recording(
            folded, found, recorded=recorded
        )
        if first < last and not of_a_day:
            ranges.append((first, last))
            folded = folded.replace(found.group(), " " * len(found.group()), 1)
    return ranges, folded


def _moments(folded: str, *, recorded: bool) -> list[tuple[float, float]]:
    ranges = []
    for found in _MARK.finditer(folded):
        ranges.append(_from(found["word"], (number_of(found[2]) or 0) * 60.0))
    for found in _INTO.finditer(folded):
        count = found[1] or found[4]
        half = found[2] or found[5]
        at = (number_of(count) or 0) * 60.0 if count else 1800.0 if half else 3600.0
        ranges.append((at, at))
    for found in islice(_AT.finditer(folded), MOST_MOMENTS):
        word, groups = found[1], found.groups()[1:]
        if groups[1] is None and word not in ("at", "a", "around", "vers", "minute"):
            continue  # "after 12 minutes of rest" speaks of lengths, "after 12:30" of a moment
        if groups[1] is None and not _OF_IT.match(folded, found.end()):
            continue
        if _is_clock(groups) and not _is_of_a_recording(folded, found, recorded=recorded):
            continue
        ranges.append(_from(word, _seconds(groups)))
    return ranges


def _from(word: str, at: float) -> tuple[float, float]:
    """Give the range that a preposition makes of a moment."""
    if word in ("around", "about", "near", "vers", "autour de"):
        return max(0.0, at - NEARBY), at + NEARBY
    if word in ("after", "since", "from", "past", "des", "apres"):
        return at, LAST_SECOND
    if word in ("before", "until", "avant", "jusqu'a"):
        return 0.0, at
    return at, at


def _is_clock(groups: Sequence[str | None]) -> bool:
    """Whether a time could be one of a day as well: "12:30", "14 h"."""
    return groups[1] is not None or groups[3] is not None


def _is_of_a_recording(folded: str, found: re.Match[str], *, recorded: bool) -> bool:
    """Whether a clock time is one of a recording, not of a day."""
    if _OF_A_DAY.match(folded, found.end()) or _TIMETABLE.search(folded, 0, found.start()):
        return False
    return recorded or not folded[: found.start()].strip(' "«(')


def _seconds(groups: Sequence[str | None]) -> float:
    """Add up what the groups of `_TIME` hold: clock, hours, minutes."""
    hours, minutes, seconds, h, h_min, h_sec, minute, mins, sec = groups
    if minutes is not None:
        return int(hours or 0) * 3600.0 + int(minutes) * 60.0 + int(seconds or 0)
    if h is not None:
        return int(h) * 3600.0 + int(h_min or 0) * 60.0 + int(h_sec or 0)
    return (number_of(minute or mins or "") or 0) * 60.0 + int(sec or 0)


def _ends(folded: str) -> list[tuple[float, float]]:
    """Give ranges at the beginning, and at the end as seconds below 0."""
    found_all = [
        (each.span(), each[1] in ("first", "opening"), each[2], bool(each[3]), each[4])
        for each in _ENDS_EN.finditer(folded)
    ] + [
        (each.span(), each[2].startswith("prem"), each[1] or each[3], bool(each[4]), each[5])
        for each in _ENDS_FR.finditer(folded)
    ]
    ranges = []
    for (start, end), is_first, count, is_half, unit in found_all:
        if not _OF_IT.match(folded, end):
            continue
        many = (number_of(count) or 1) if count else 1
        length = many * _UNITS[unit[0]] * (0.5 if is_half else 1.0)
        if is_first and _ONCE_OVER.search(folded, 0, start):
            ranges.append((length, LAST_SECOND))
        else:
            ranges.append((0.0, length) if is_first else (-length, 0.0))
    return ranges


def _shares(folded: str, length: float) -> list[tuple[float, float]]:
    """Give the ranges that halves, thirds and quarters of a recording of a length are."""
    ranges = []
    for found in (*_PARTS_EN.finditer(folded), *_PARTS_FR.finditer(folded)):
        first, place, last = found.group("first", "place", "last")
        if bool(first) + bool(place) + bool(last) != 1 or not _OF_IT.match(folded, found.end()):
            continue
        shares = _SHARES[found["part"][0]]
        many = min(number_of(found["count"] or "one") or 1, shares)
        at = 0 if first else shares - many if last else 2 if place[0] == "t" else 1
        low, high = at * length / shares, min(at + many, shares) * length / shares
        if first and _ONCE_OVER.search(folded, 0, found.start()):
            low, high = high, LAST_SECOND
        if low < length:
            ranges.append((low, high))
    return ranges


def _clock(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def segments_asked(
    asked: TokenizedQuery, *, names: EntityIndex, among: Sequence[str], language: str
) -> ExtractedFilters:
    """Read whether the questions from the audience or a demonstration are meant."""
    folded = asked.folded
    heard = NOTHING
    if any(each in folded for each in ("q", "audience", "public")) and _QA.search(folded):
        heard += _segment("qa", names, among, language)
    if "demo" in folded:
        for found in (*_DEMOS.finditer(folded), *_DEMOS_OF.finditer(folded)):
            proof = _PROOF.match(folded, found.end())
            if proof and "nstration" in found.group() and _PROVED.search(proof.group()):
                continue
            heard += _segment("demo", names, among, language)
            break
    return heard


def _segment(
    segment: str, names: EntityIndex, among: Sequence[str], language: str
) -> ExtractedFilters:
    if set(names.segments.get(segment, ())).isdisjoint(among):
        return ExtractedFilters(notes=(message(f"no_segment_{segment}", language),))
    return ExtractedFilters(restrict_to("segment", (segment,)))

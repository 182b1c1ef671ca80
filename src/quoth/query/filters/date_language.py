"""Reads the language and the date of the documents that a question wants to be searched."""

from __future__ import annotations

import re
from datetime import date, timedelta

from quoth.core.types import Filter
from quoth.query.entity_index import EntityIndex, days_of, is_day
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    bounding_range,
    restrict_to,
)
from quoth.query.messages import message
from quoth.query.source_terms import PLURAL, SINGULAR, SOURCE
from quoth.query.tokens import TokenizedQuery

LAST_DAY = 99991231.0
"""The end of a range of days that is open, as a number."""

_CODES = {
    "english": "en", "anglais": "en", "anglaise": "en", "anglaises": "en", "anglophone": "en",
    "french": "fr", "francais": "fr", "francaise": "fr", "francaises": "fr", "francophone": "fr",
    "german": "de", "allemand": "de", "allemande": "de", "allemands": "de", "allemandes": "de",
    "spanish": "es", "espagnol": "es", "espagnole": "es", "espagnols": "es", "espagnoles": "es",
    "italian": "it", "italien": "it", "italienne": "it", "italiens": "it", "italiennes": "it",
    "portuguese": "pt", "portugais": "pt", "portugaise": "pt", "portugaises": "pt",
    "dutch": "nl", "neerlandais": "nl", "neerlandaise": "nl", "anglophones": "en",
    "francophones": "fr",
}  # fmt: skip
_LANGUAGE = "|".join(_CODES)
_ENGLISH_NAMES = "english|french|german|spanish|italian|portuguese|dutch"
# What an adjective of a country can also mean: an English course, a French conference.
_NOT_BY_ADJECTIVE = (
    r"(?!courses?\b|cours\b|class|lessons?\b|sessions?\b|articles?\b|conferences?\b|novels?\b"
    r"|romans?\b|guides?\b|textbooks?\b|manuals?\b|tutorials?\b|essays?\b|texts?\b)"
)
_LANGUAGES = (
    re.compile(
        r"(?:^\W*|\b(?:the|in|from|all|only|our|my|your|any|which|what|these|those|to"
        rf"|of|are|other|do|does|did|and|across) )({_ENGLISH_NAMES})(?:[- ](?:language"
        rf"|speaking))? {_NOT_BY_ADJECTIVE}{SOURCE}\b"
    ),
    re.compile(
        rf"\b(?:les|des|aux|ces|vos|nos|la|une|le|du|l')(?: ?(?:seule?s?|autres))? ?{SOURCE} "
        rf"({_LANGUAGE})s?\b"
    ),
    re.compile(rf"\b{PLURAL}(?: [^\s,;?!]+){{0,4}}? (?:in|en|(?:de )?langue) ({_LANGUAGE})\b"),
    re.compile(
        rf"\b(?:the|a|an|le|la|l'|une?) ?{SINGULAR}(?: (?:that (?:is|was)|which (?:is|was)|qui est"
        r"|given|held|written|recorded|donnee?|ecrite?|enregistree?|presentee?))? (?:in|en) "
        rf"({_LANGUAGE})\b"
    ),
    re.compile(
        rf"\b(?:the|les|all|tou(?:te)?s les) (?:demos|demonstrations) (?:in|en) ({_LANGUAGE})\b"
    ),
    re.compile(
        rf"\b(?:only|uniquement|seulement|exclusively|exclusivement) (?:in|en) ({_LANGUAGE})\b"
    ),
)
_ORDERS = re.compile(
    r"\W*(?:please |can you |could you |peux-tu |pouvez-vous |merci de )?"
    r"(?:answer|reply|respond|summari[sz]e|explain|translate|write|give|tell|describe|list|compare"
    r"|repond\w*|resum\w*|expliqu\w*|tradui\w*|ecri\w*|donne\w*|decri\w*|list\w*|compar\w*)\b"
)

_THOSE = re.compile(rf"^{PLURAL} (?:in|en) \w+$")

_MONTHS = {
    word: number
    for number, words in enumerate(
        (
            "", "january janvier", "february fevrier", "march mars", "april avril", "may mai",
            "june juin", "july juillet", "august aout", "september septembre", "october octobre",
            "november novembre", "december decembre",
        )
    )
    for word in words.split()
}  # fmt: skip
_MONTH = "|".join(_MONTHS)
_YEAR = r"(?:19|20)\d\d"
_DATE = (
    rf"(?:(?:the |le )?(?:\d{{1,2}}(?:st|nd|rd|th|er)? (?:of )?)?(?:{_MONTH})"
    rf"(?: \d{{1,2}}(?:st|nd|rd|th)?,?)? (?:of |de )?{_YEAR}"
    rf"|\d{{1,2}}[/.-]\d{{1,2}}[/.-]{_YEAR}|{_YEAR}-\d\d(?:-\d\d)?|(?:the year "
    rf"|l'annee )?{_YEAR}s?)(?![\w-]|,\d)"
)
_PREP = (
    r"(?:from before|from after|from|of|in|on|since|before|after|until|up to|prior to"
    r"|dating from|as of|later than"
    r"|earlier than"
    r"|d'avant|d'apres|de l'annee|de|du|en|depuis|avant|apres|jusqu'en|jusqu'a|a partir de|des"
    r"|d'|le|datant de|dates? de|posterieure?s? a|anterieure?s? a)"
)
_MADE = (
    r"(?:published|recorded|uploaded|released|given|presented|held|written|delivered|dated"
    r"|made|filmed|issued"
    r"|publiee?s?|enregistree?s?|mise?s? en ligne|donnee?s?|presentee?s?|tenue?s?|ecrite?s?"
    r"|datee?s?|parue?s?|sortie?s?|filmee?s?|prononcee?s?)"
)
_RANGE = (
    rf"(?:(?:between|entre) ({_DATE}) (?:and|et) ({_DATE})|(?:from|de) ({_DATE}) (?:to|through"
    rf"|until|a|jusqu'en) ({_DATE})|({_PREP}) ?({_DATE}))"
)
_BE = (
    r"(?:(?:which|that|who|qui) )?(?:(?:were|was|are|is|has been|have been|ont ete|a ete|sont|est"
    r"|date|dates|datent) )?"
)
_DATED = (
    re.compile(r"\b(?:say|said|says|spoke|spoken|talked|dit|parle) (?:in|en) "
        rf"({_YEAR})\b(?![\w-])"),
    re.compile(rf"\b{SOURCE} {_BE}(?:(?:in|en) (?:{_LANGUAGE}) )?(?:{_MADE} )?{_RANGE}"),
    re.compile(r"\b(?:said|says?|spoke|spoken|talked|presented|explained|mentioned|shown|dit|parle"
        rf"|presente|explique|mentionne|montre)\b[^,;?!]{{0,80}}? (?:on|in|le|en) ((?:the |le "
        rf")?(?:\d{{1,2}}(?:st|nd|rd|th|er)? (?:of )?)?(?:{_MONTH})(?: \d{{1,2}}(?:st|nd|rd"
        rf"|th)?,?)? (?:of |de )?{_YEAR})"),
    re.compile(rf"\b{SOURCE} (?:about|on|by|sur|de|du|par|of|d') ?(?:[^\s,;?!]+ "
        rf"){{1,6}}?(?:{_BE}{_MADE} "
        rf"{_RANGE}|(from|since|depuis|datant de|de|en) ({_DATE}))"),
    re.compile(r"\b(?:published|recorded|uploaded|filmed|publiee?s?|enregistree?s?|mise?s? en ligne"
        rf"|filmee?s?|parue?s?) {_RANGE}"),
    re.compile(r"\b(?:been|ete) (?:said|published|written|presented|talked|told|shown|dit|publie"
        rf"|presente|ecrit|raconte)\b[^,;?!]{{0,60}}? {_RANGE}"),
    re.compile(r"(?:\b(?:the|le|la|l'|les|this|his|her|their|its|son|sa|ses|leur|our|your|all|any"
        r"|what|which|do|does|did)|\w's) "
        rf"?(?P<only>{_DATE}) "
        rf"(?:[^\s,;?!]+ )?{SOURCE}\b"),
)  # fmt: skip
_NAMED = re.compile(rf"\b(?:{_RANGE}|({_DATE}))")
_PART = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th|er)? (?:of )?)?({_MONTH})(?: (\d{{1,2}})(?:st|nd|rd"
    rf"|th)?,?)? (?:of |de )?({_YEAR})"
)
_NUMBERS = re.compile(rf"(\d{{1,2}})[/.-](\d{{1,2}})[/.-]({_YEAR})")
_FROM_ON = frozenset(("since", "depuis", "a partir de", "des", "as of", "later than"))
_AFTER = ("after", "from after", "apres", "d'apres", "posterieur")
_BEFORE = ("before", "from before", "avant", "d'avant", "prior to", "earlier than", "anterieur")
_UNTIL = ("until", "up to", "jusqu")


def language_asked(asked: TokenizedQuery, *, names: EntityIndex, language: str) -> ExtractedFilters:
    """Read the language of the sources, where a whole phrase about sources names it.

    "Answer in French", "French cuisine" and "how to say it in French" restrict nothing.
    """
    folded = asked.folded
    if not any(
        each in folded
        for each in (
            "ish",
            "ench",
            "erman",
            "ital",
            "port",
            "dutch",
            "nglais",
            "ranc",
            "llemand",
            "pagnol",
            "erlandais",
        )
    ):
        return NOTHING
    ordered = _ORDERS.match(folded)
    codes: list[str] = []
    for pattern in _LANGUAGES:
        for found in pattern.finditer(folded):
            ends = not folded[found.end() :].strip(" ?!.")
            joined = re.search(rf"\b(?:in|en) {found[1]}$", found.group())
            # "Résume les présentations en français" wants those, in whatever language.
            those = _THOSE.search(found.group())
            if not (ordered and ends and joined and not those and "only" not in found.group()):
                codes.append(_CODES[found[1]])
    if not codes:
        return NOTHING
    held = {each.language for each in names.documents.values()}
    kept = [each for each in codes if each in held]
    if not kept:
        return ExtractedFilters(notes=(message("no_language", language),))
    return ExtractedFilters(restrict_to("language", kept))


def dates_asked(asked: TokenizedQuery, *, names: EntityIndex, language: str) -> ExtractedFilters:
    """Read the date of the sources, where a phrase about sources names it.

    A date of something told ("What happened in 1970?") restricts nothing.
    """
    folded = asked.folded
    if not names.dates or not re.search(_YEAR, folded):
        return NOTHING
    ranges: list[tuple[float, float]] = []
    for pattern in _DATED:
        for found in pattern.finditer(folded):
            each = _range_of(found)
            if each and each not in ranges and not any(_inside(each, other) for other in ranges):
                ranges.append(each)
    kept = [each for each in ranges if _is_held(each, names)]
    if kept or not ranges:
        return ExtractedFilters(bounding_range("date", kept))
    first = min(low for low, _ in names.dates.values()) // 10_000
    last = max(high for _, high in names.dates.values()) // 10_000
    return ExtractedFilters(notes=(message("no_date", language, {"first": first, "last": last}),))


def dates_named(asked: TokenizedQuery, *, names: EntityIndex) -> tuple[Filter, ...]:
    """Give the date that a follow-up puts in the place of another: "and in 2022?"."""
    found = (_range_of(each) for each in _NAMED.finditer(asked.folded))
    return bounding_range("date", [each for each in found if each and _is_held(each, names)])


def languages_named(asked: TokenizedQuery, *, names: EntityIndex) -> tuple[Filter, ...]:
    """Give the language that a follow-up puts in the place of another: "and the French ones?"."""
    codes = [_CODES[word] for word in asked.words if word in _CODES]
    return restrict_to("language", [each for each in codes if each in names.by_language])


def _inside(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def _is_held(days: tuple[float, float], names: EntityIndex) -> bool:
    return any(low <= days[1] and days[0] <= high for low, high in names.dates.values())


def _range_of(found: re.Match[str]) -> tuple[float, float] | None:
    """Give the days that a phrase with one or two dates means; None for an impossible date."""
    given = [each for each in found.groups() if each]
    dates = [days for each in given if (days := _days(each))]
    if not dates:
        return None
    if len(dates) > 1:
        return float(min(dates)[0]), float(max(dates)[1])
    ((low, high),) = dates
    words = next((each for each in given if not _days(each)), "")
    if words in _FROM_ON:
        return float(low), LAST_DAY
    if words.startswith(_AFTER):
        return float(_beside(high, 1)), LAST_DAY
    if words.startswith(_BEFORE):
        return 0.0, float(_beside(low, -1))
    if words.startswith(_UNTIL):
        return 0.0, float(high)
    return float(low), float(high)


def _days(text: str) -> tuple[int, int] | None:
    found = _PART.search(text)
    if found:
        before, month, behind, year = found.groups()
        day = before or behind
        text = f"{year}-{_MONTHS[month]:02}" + (f"-{int(day):02}" if day else "")
    elif numbers := _NUMBERS.search(text):
        first, second, year = map(int, numbers.groups())
        # The day stands first, unless there is no such month.
        day_of, month_of = (second, first) if second > 12 else (first, second)
        text = f"{year}-{month_of:02}-{day_of:02}"
    else:
        year_only = re.search(rf"({_YEAR})(-\d\d(?:-\d\d)?)?", text)
        text = year_only.group() if year_only else ""
    days = days_of(text) if text else None
    return days if days and is_day(days[0]) and is_day(days[1]) else None


def _beside(day: int, step: int) -> int:
    """Give the day before or after one, as a number."""
    moved = date(day // 10_000, day // 100 % 100, day % 100) + timedelta(days=step)
    return moved.year * 10_000 + moved.month * 100 + moved.day

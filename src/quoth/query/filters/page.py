"""Reads the pages and chapters that a question names, and says so when there are none such."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from quoth.query.entity_index import EntityIndex
from quoth.query.filters.extracted import NOTHING, ExtractedFilters, restrict_to
from quoth.query.messages import MOST_NAMED, listed, message
from quoth.query.tokens import TokenizedQuery
from quoth.text.numbers import (
    CARDINAL,
    ORDINAL,
    ROMAN,
    WORDS,
    number_of,
)
from quoth.text.roman import labels_between, to_roman

MOST_PAGES = 500
"""A longer range of pages is no condition but a figure of speech."""
FEW_DOCUMENTS = 5
"""Up to so many documents are looked at one by one for their pages."""

_NOT = re.compile(
    r"(?:(?<!d')\b(?:not|except|excluding|outside|besides|apart from|other than|before|after"
    r"|beyond|skip"
    r"|without|sauf|hors|excepte|autres? que|ailleurs qu|avant|apres|sans|pas) ?"
    r"(?:in |on |from |for |of |to |a |au |dans |de |le |la |the |les |l'|d')*)$"
)
_END = r"(?![\w'’]|\.\d)"
_TO = (
    r"(-|\.\.|\b(?:(?:up|down|right|all the way) )?(?:to|until)\b|\bthr(?:ough|u)\b|\btill\b"
    r"|\band (?:(?:up )?(?:to|until)|(?:ending|finishing|stopping) (?:on|at|with))\b"
    r"|\ba\b|\bau\b|\bjusqu'(?:a|au|aux)\b|\bbis\b|\bhasta\b|\bal?\b|\band\b|\bet\b|\bund\b|\by\b"
    r"|\be\b|&|,)"
)
_LISTED = frozenset(("and", "et", "und", "y", "e", "&", ","))

_LABEL = rf"(\d{{1,5}}|[a-z]-?\d{{1,4}}|{CARDINAL}|{ROMAN.pattern}){_END}"
_PAGE = (
    r"(?:\bpages?|\bpgae|\bpaeg|\bapge|\bseiten?|\bpaginas?|\bpagine|\bpp?\.|\bpgs?\.?"
    r"|(?<=\s)pp?(?=\s\d))\s*"
)
_PAGES = re.compile(
    rf"(?<![\w-]){_PAGE}(?:n[o°]\.? ?|numbers? |numeros? )?{_LABEL}"
    rf"(?:\s*{_TO}\s*(?:(?:the |la |a la )?{_PAGE})?{_LABEL})?"
    rf"(?:,? (?:and|et) (?:(?:the |la )?{_PAGE})?{_LABEL})?"
)
_NTH_PAGE = re.compile(rf"\b(?:the|la) ({ORDINAL}) page\b(?! of (?:google|results))")
_OF_THE_WEB = re.compile(r"\b(?:web|home|landing|front|google|wiki) ?$")
_OF_RESULTS = re.compile(
    r" (?:of|de|des) (?:the |les? )?(?:google|search|results?|resultats?|recherche)\b"
)
_ENDS_AFTER = re.compile(
    r"\s*(?:$|[?!.,;:)\"»”]|(?:of|in|du|de|des|from|about|say|and|et)\b|\s*d')"
)
_BETWEEN = re.compile(r"\b(?:between|entre) (?:the |les |la |le )?$")
_COUNTED = re.compile(
    r"\b(?:how many|number of|amount of|total of|count of|combien d(?:e|')|nombre (?:total "
    r")?d(?:e "
    r"|'))\s*(?:the |les |other |more |autres )?(?:\w+ )?$"
)
"""What stands before things that are counted: "how many pages" asks for none of them."""
_SINGLE_LETTERS = frozenset("cdlm")

_CHAPTER = (
    r"(?:chapters?|chap\.?|ch\.|chapitres?|chpater|chaper|chapte|chapitr|kapitel|capitulo|capitolo"
    r"|appendix|appendices|annexes?)"
)
_NUMBER = rf"(\d{{1,3}}|{CARDINAL}|{ROMAN.pattern}|[a-h]){_END}"
_CHAPTERS = re.compile(
    rf"(?<![\w-])({_CHAPTER})\s*(?:no\.? |number |numero )?{_NUMBER}"
    rf"(?:\s*{_TO}\s*(?:(?:the |le |au )?{_CHAPTER}\s*)?{_NUMBER})?"
    rf"(?:,? (?:and|et) (?:(?:the |le )?{_CHAPTER}\s*)?{_NUMBER})?"
)
_NTH_CHAPTER = re.compile(
    rf"\b(?:the|le|du|au|ce|l') ?(?:(?P<nth>{ORDINAL})|(?P<last>last|final|dernier)) "
    r"(?:chapter|chapitre)\b"
)
_OF_ANY = re.compile(r"\s*(?:of|in|d'|dans) ?(?:an?|any|every|une?|chaque|tout)\b(?! few)")
"""What makes a chapter one of any book."""
_IDIOM = re.compile(
    r"(?:bankruptc|filing|protection|proceeding|trustee|debtor|reorgani|repayment|of (?:my|his|her"
    r"|our|your|their|the) (?:life|history|career|story))"
)
_FILED = re.compile(r"\b(?:file[ds]?|filing|emerged? from|enter(?:ed)?) (?:for |under )?$")


def pages_asked(
    asked: TokenizedQuery, *, names: EntityIndex, among: Sequence[str], language: str
) -> tuple[ExtractedFilters, bool]:
    """Read the pages that are named by their printed labels, and whether any page is named.

    Only pages that a document has narrow the search; a note says which there are otherwise.
    """
    folded = asked.folded
    labels: list[str] = []
    for found in _PAGES.finditer(folded):
        first, joint, last, third = found.groups()
        ends_well = bool(_ENDS_AFTER.match(folded, found.end()))
        alone = joint is None and not ends_well
        if first in _SINGLE_LETTERS or (first in ("i", "a", "un", "une") and alone):
            continue  # "the page I read", "page d": a word, not a number
        before = folded[max(0, found.start() - 40) : found.start()]
        if _NOT.search(before) or _OF_THE_WEB.search(before) or _COUNTED.search(before):
            continue
        if _OF_RESULTS.match(folded, found.end()):
            continue
        is_list = joint in _LISTED and not _BETWEEN.search(folded[: found.start()][-20:])
        labels += _between(_spelt(first), _spelt(last or first), listed=is_list)
        labels += [_spelt(third)] if third else []
    for found in _NTH_PAGE.finditer(folded) if "page" in folded else ():
        if _ENDS_AFTER.match(folded, found.end()):
            labels.append(str(number_of(found[1])))
    if not labels:
        return NOTHING, False
    return _printed(list(dict.fromkeys(labels)), names, among, language), True


def _spelt(label: str) -> str:
    """Give a page number written as a word in digits."""
    if label.isdecimal() or (ROMAN.fullmatch(label) and label not in WORDS):
        return label
    number = number_of(label) if label.replace("-", "").replace(" ", "").isalpha() else None
    return str(number) if number else label


def _between(first: str, last: str, *, listed: bool) -> list[str]:
    """Give all labels from first to last; none where they make no range."""
    if first == last or listed:
        return [first, last]
    between = labels_between(first, last)
    if between is None or len(between) > MOST_PAGES:
        return []
    return [str(n) if first.isdecimal() else to_roman(n) for n in between]


def _printed(
    labels: Sequence[str], names: EntityIndex, among: Sequence[str], language: str
) -> ExtractedFilters:
    whole = among is names.everything
    paged = list(names.labels) if whole else [each for each in among if each in names.labels]
    if not paged:
        asked = listed(labels, language)
        there = message("no_pages", language)
        return ExtractedFilters(
            notes=(message("no_page", language, {"asked": asked, "there": there}),)
        )
    few = len(paged) <= FEW_DOCUMENTS
    printed = {p for each in paged for p in names.labels[each]} if few else names.printed
    kept = [each for each in labels if each in printed]
    if len(kept) == len(labels):
        return ExtractedFilters(restrict_to("label", kept))
    missing = listed([each for each in labels if each not in printed], language)
    if kept:
        return ExtractedFilters(
            restrict_to("label", kept), notes=(message("some_pages", language, {"asked": missing}),)
        )
    if len(paged) == 1:
        own = names.labels[paged[0]]
        there = message("pages_are", language, {"first": own[0], "last": own[-1]})
    else:
        highest = max((int(each) for each in printed if each.isdecimal()), default=0)
        there = message("pages_to", language, {"last": highest})
    return ExtractedFilters(
        notes=(message("no_page", language, {"asked": missing, "there": there}),)
    )


def chapters_asked(
    asked: TokenizedQuery, *, names: EntityIndex, among: Sequence[str], language: str
) -> ExtractedFilters:
    """Read the chapters that are named by number; only those that a document has narrow."""
    folded = asked.folded
    if not any(each in folded for each in _CHAPTER_MARKS):
        return NOTHING
    wanted: list[str] = []
    for found in _CHAPTERS.finditer(folded):
        if not _is_idiom(folded, found):
            between = bool(_BETWEEN.search(folded[: found.start()][-20:]))
            wanted += _chapters_of(found, between=between)
    within_reach = names.documents.keys() if among is names.everything else frozenset(among)
    there = [
        chapter
        for chapter, owners in names.chapters.items()
        if among is names.everything or any(each in within_reach for each in owners)
    ]
    for found in _NTH_CHAPTER.finditer(folded):
        if _OF_ANY.match(folded, found.end()):
            continue
        if found["nth"]:
            wanted.append(str(number_of(found["nth"])))
        else:
            numbers = [int(each) for each in there if each.isdecimal()]
            owners = {o for each in there for o in names.chapters[each] if o in within_reach}
            wanted += [str(max(numbers))] if numbers and len(owners) == 1 else []
    if not wanted:
        return NOTHING
    return _held(list(dict.fromkeys(wanted)), there, names=names, reach=within_reach,
                 language=language)  # fmt: skip


_CHAPTER_MARKS = ("ch", "ppendi", "annexe", "apit")


def _is_idiom(folded: str, found: re.Match[str]) -> bool:
    before = folded[max(0, found.start() - 40) : found.start()]
    alone = found[3] is None and not _ENDS_AFTER.match(folded, found.end())
    letter = found[2] in ("a", "i", "un", "une") or (
        found[2] in _SINGLE_LETTERS and "ppend" not in found[1]
    )
    if letter and alone and not found[1].startswith(("app", "ann")):
        return True  # "the chapter I read", "un chapitre a lire"
    if _OF_ANY.match(folded, found.end()):
        return True
    if _NOT.search(before) or _FILED.search(before) or _COUNTED.search(before):
        return True
    return bool(_IDIOM.match(folded[found.end() :].lstrip()))


def _chapters_of(found: re.Match[str], *, between: bool) -> list[str]:
    kind, first, joint, last, third = found.groups()
    is_appendix = kind.startswith(("app", "ann"))
    if is_appendix:
        letters = [each for each in (first, last, third) if each]
        return [each if each.isalpha() and len(each) == 1 else _letter(each) for each in letters]
    low = number_of(first) or 0
    high = (number_of(last) or 0) if last else low
    if joint and (between or joint not in _LISTED) and 0 < high - low <= 50:
        chapters = list(range(low, high + 1))
    else:
        chapters = [low, high]
    chapters += [number_of(third) or 0] if third else []
    return [str(each) for each in chapters if each]


def _letter(text: str) -> str:
    number = number_of(text) or 0
    return chr(ord("a") + number - 1) if 0 < number <= 26 else text


def _held(
    wanted: Sequence[str],
    there: Iterable[str],
    *,
    names: EntityIndex,
    reach: Collection[str],
    language: str,
) -> ExtractedFilters:
    held = set(there)
    kept = [each for each in wanted if each in held]
    missing = [each for each in wanted if each not in held]
    notes: tuple[str, ...] = ()
    if missing:
        asked = listed([each.upper() for each in missing], language)
        values = {"asked": asked, "there": _runs(held)}
        notes = (message("no_chapter" if held else "no_chapters", language, values),)
    for each in kept:
        owners = names.chapters[each]
        if len(reach) < len(names.documents):
            owners = tuple([one for one in owners if one in reach])
        if len(owners) > 1:
            few = [names.documents[one].title for one in owners[:MOST_NAMED]]
            titles = listed(few, language, of=len(owners))
            values = {"asked": each.upper(), "there": titles}
            notes += (message("chapter_in_several", language, values),)
    return ExtractedFilters(restrict_to("chapter", kept), notes=notes)


def _runs(chapters: Iterable[str]) -> str:
    """Write chapters shortly: "1-4, 6, A"."""
    numbers = sorted(int(each) for each in chapters if each.isdecimal())
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spelt = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ", ".join([*spelt, *sorted(c.upper() for c in chapters if not c.isdecimal())])

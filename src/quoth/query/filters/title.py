"""Reads which documents and sections a question names as the place to look in."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from quoth.core.types import Filter
from quoth.query.entity_index import (
    ARTICLES,
    LONGEST_NAME,
    Entity,
    EntityIndex,
    Lookup,
)
from quoth.query.entity_linking import (
    LinkedEntities,
    Mention,
    of_kind,
    resolve,
    spelt_as,
)
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    Span,
    merge_filters,
    restrict_to,
)
from quoth.query.filters.title_fuzzy import misspelt_place, unique_title_match
from quoth.query.source_terms import (
    ABOUT,
    SAYS,
    SAYS_FR,
    SINGULAR,
    SOURCE,
)
from quoth.query.tokens import (
    FUNCTION_WORDS,
    HIDDEN,
    TokenizedQuery,
    stem,
)

_THE = (
    r"(?:the|this|that|his|her|their|our|your|my|\w's|le|la|ce|cet|cette|du|au|son|sa|leur|notre)"
)
_VAGUE = r"(?!best |most |only |other |first |last |next |longest |shortest |latest )"
_PARTS = r"(?:section|part|passage|paragraph|segment|sub-?section|partie|paragraphe|rubrique)"
CUE = re.compile(
    rf"(?:\b{_THE} |\w's |\bl'|^(?=chapter|chapitre|section"
    rf"|rubrique))(?:{_VAGUE}[^\s,;:?!]{{1,40}} ){{0,2}}?({SINGULAR}|chapter|chapitre"
    rf"|{_PARTS})"
    r" (?:(?:of|by|from|given|in|de|par|du|en|d'|donnee?|presentee?) [^\s,;:?!]{1,40} "
    rf"(?:(?!{ABOUT}\b)[^\s,;:?!]{{1,40}} )?)?"
    rf"({ABOUT}(?: |'))?(?=\S)"
)
"""A definite source, and what joins it to its subject: "the talk on …", "la vidéo sur …"."""
OF_CUE = re.compile(rf"(?:\b{_THE} |\bl'){SINGULAR} (?:of |de la |de l'|de |du |des |d')(?=\S)")
"""A definite source and a word of its title: "le guide de …", "the book of …"."""
NAMED = re.compile(
    rf"\b(?:the|this|that) ((?:(?!the\b|talk\b|which\b|what\b)[^\s,;:?!]{{1,40}} ){{1,8}}?)"
    rf"({SINGULAR}|chapter|{_PARTS})\b(?! (?:{ABOUT}|called|titled))"
)
"""A source whose subject stands before it: "the scaling laws talk"."""
_ENDS = re.compile(
    r"[,;:?!()\"]|\.(?: |$)|\b(?:and|et|or|ou|vs|versus|with|avec|to|than|que) (?:the|le|la"
    r"|that of|l')"
)
_STOPS = frozenset(
    "who what which how why when where does do did is are was were has have had can could should "
    "would will given presented by from in at during says said say mentions mentioned mention "
    "explains explained explain qui que qu quoi quel quelle quels quelles comment pourquoi "
    "est sont "
    "dit disent mentionne explique parle presente donne donnee par dans pendant il elle on "
    "a t covers cover covered discusses discuss argues argue recommends recommend tells tell "
    "according selon about".split()
)
_IN = frozenset(
    "in from during within throughout inside across per dans selon pendant according "
    "through".split()
)
_WHOLE = frozenset(
    "summarise summarize summary outline recap resume resumer resumez resumons overview "
    "synthese about d apres of de gist takeaways points parle".split()
)
_SAID = re.compile(rf"(?:{SAYS}|{SAYS_FR})\b")
_PART_WORDS = re.compile(rf"(?:chapter|chapitre|{_PARTS})")
_UNDER = re.compile(
    r"\b(?:under|beneath|in|within|from|sous|dans|rubrique|heading|title|titre|called|intitulee?)"
    r"\W*$"
)
_DEFINITE = frozenset("the this that le la les l du au aux des ce cette".split())
_NOUN = re.compile(
    rf"{SOURCE}|policy|politique|charter|charte|notes|faq|rules|reglement|charter|plan"
    r"|dictionary|encyclopedia"
    r"|proceedings|minutes|statutes|statuts|bulletin|annuaire|catalogue|journal|notice"
    r"|specification"
)
MOST_PHRASES = 12
"""Descriptions of sources that are read in one question."""
_SEGMENT = frozenset(
    "demo demos demonstration demonstrations live q a qa and question questions answer answers "
    "audience et reponse reponses public".split()
)
"""Words that describe what happens in a part of a talk and not what it is about."""
_OPENERS = frozenset(
    "introduction conclusion conclusions preface foreword abstract glossary bibliography epilogue "
    "prologue acknowledgements glossaire bibliographie postface remerciements".split()
)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A stretch that describes a source; ``places`` are its first word and the one behind it."""

    first: int
    last: int
    part: bool
    chapter: bool
    about: bool
    strict: bool = False
    weak: bool = False


def titles_asked(
    asked: TokenizedQuery, found: Sequence[Mention], *, names: EntityIndex, among: Collection[str]
) -> ExtractedFilters:
    """Read the documents and sections that are named as the place to look in.

    Only those ``among`` these documents count. What one name fits for certain narrows the
    search; what several fit, or one fits by halves, is a guess that only lifts.
    """
    heard = _quoted(asked, found, names=names, among=among)
    for phrase in _phrases(asked):
        heard += _described(asked, found, phrase, names=names, among=among)
    heard += _bare(asked, found, names=names, among=among)
    heard += _openers(asked, names)
    if not any(each.field == "document" for each in heard.filters):
        heard += unique_title_match(asked, names=names, among=among)
        heard += misspelt_place(asked, names=names, among=among)
    return merge_filters(heard)


def _quoted(
    asked: TokenizedQuery, found: Sequence[Mention], *, names: EntityIndex, among: Collection[str]
) -> ExtractedFilters:
    heard = NOTHING
    for start, end in asked.quoted:
        heard += ExtractedFilters(spans=((start, end),))
        for each in found:
            inside = asked.starts[each.first] >= start and asked.ends[each.last - 1] <= end
            rest = asked.folded[start : asked.starts[each.first]].strip(" ,.'l")
            rest += asked.folded[asked.ends[each.last - 1] : end].strip(" ,.'?!")
            if inside and not rest:
                before = asked.folded[max(0, start - 30) : start]
                parts = bool(_PART_WORDS.search(before))
                if not parts and not of_kind(each, "title"):
                    parts = bool(_UNDER.search(before))
                chapter = "chap" in before
                heard += _certain(each, names=names, among=among, parts=parts, chapter=chapter)
    return heard


def _certain(
    mention: Mention, *, names: EntityIndex, among: Collection[str], parts: bool, chapter: bool
) -> ExtractedFilters:
    titles = [] if parts else [each for each in of_kind(mention, "title") if _held(each, among)]
    if titles:
        return ExtractedFilters(
            restrict_to("document", [i for each in titles for i in _held(each, among)])
        )
    sections = [each for each in of_kind(mention, "topic") if _held(each, among)]
    if chapter and (meant := _chapters(sections, names=names, among=among)):
        return ExtractedFilters(meant)
    return (
        ExtractedFilters(restrict_to("section", [each.real for each in sections]))
        if parts
        else NOTHING
    )


def _chapters(
    sections: Sequence[Entity], *, names: EntityIndex, among: Collection[str]
) -> tuple[Filter, ...]:
    """Give the conditions on a chapter that its title means; none where it is in several books."""
    heads = [
        each for name in sections for each in names.chaptered.get(name.real, ()) if each[0] in among
    ]
    if len(heads) != 1:
        return ()
    ((document, chapter),) = heads
    return restrict_to("document", [document]) + restrict_to("chapter", [chapter])


def _held(name: Entity, among: Collection[str]) -> list[str]:
    return [each for each in name.documents if each in among]


def _phrases(asked: TokenizedQuery) -> list[_Phrase]:
    found = []
    for cue in islice(CUE.finditer(asked.folded), MOST_PHRASES):
        first = _word_at(asked, cue.end())
        last = _word_at(asked, _end_of(asked, cue.end()))
        part = bool(_PART_WORDS.fullmatch(cue[1]))
        if first < last:
            chapter = cue[1].startswith("chap")
            found.append(_Phrase(first, last, part, chapter, about=bool(cue[2])))
    for cue in islice(OF_CUE.finditer(asked.folded), MOST_PHRASES):
        first = _word_at(asked, cue.end())
        last = _word_at(asked, _end_of(asked, cue.end()))
        if first < last:
            found.append(_Phrase(first, last, part=False, chapter=False, about=True, weak=True))
    for cue in islice(NAMED.finditer(asked.folded), MOST_PHRASES):
        first, last = _word_at(asked, cue.start(1)), _word_at(asked, cue.start(2))
        part = bool(_PART_WORDS.fullmatch(cue[2]))
        if part and _SEGMENT.issuperset(asked.words[first:last]):
            continue  # "the demo part", "the Q&A section"
        chapter = cue[2].startswith("chap")
        found.append(_Phrase(first, last, part, chapter, about=True, strict=True))
    return found


def _end_of(asked: TokenizedQuery, start: int) -> int:
    end = _ENDS.search(asked.folded, start)
    return end.start() if end else len(asked.folded)


def _word_at(asked: TokenizedQuery, position: int) -> int:
    """Give the first word that starts at a position or behind it."""
    return bisect_left(asked.starts, position)


def _described(
    asked: TokenizedQuery,
    found: Sequence[Mention],
    phrase: _Phrase,
    *,
    names: EntityIndex,
    among: Collection[str],
) -> ExtractedFilters:
    first = phrase.first
    while first < phrase.last and asked.words[first] in ARTICLES:
        first += 1
    for each in found:
        begins = each.first in (first, phrase.first) and each.first < phrase.last
        if phrase.part and _SEGMENT.issuperset(asked.words[each.first : each.last]):
            continue
        if begins and not (phrase.strict and each.last != phrase.last):
            heard = _certain(
                each, names=names, among=among, parts=phrase.part, chapter=phrase.chapter
            )
            if heard.filters:
                span = asked.starts[each.first], asked.ends[each.last - 1]
                return heard + ExtractedFilters(spans=(span,))
    if phrase.strict and phrase.part:
        return NOTHING
    words = _soft_cut(asked, first, phrase.last)
    lookup = names.topics if phrase.part else names.titles
    if not phrase.about:
        written = asked.words[first : phrase.last]
        return (
            _misspelt(asked, written, first, lookup=lookup, among=among)
            or _misspelt(asked, words, first, lookup=lookup, among=among)
            or NOTHING
        )
    # "The audit report": the word for the source may be one of the title's.
    behind = asked.words[phrase.last : phrase.last + 1] if phrase.strict else ()
    before = tuple(
        filter(str.isalpha, asked.words[max(0, first - 3) : first] if phrase.weak else ())
    )
    strict = phrase.strict or phrase.weak
    resolved = resolve((*before, *words, *behind), lookup, names=names, strict=strict)
    if not resolved:
        return NOTHING
    span = asked.starts[first], asked.ends[first + len(words) - 1]
    if phrase.chapter and (meant := _chapters(resolved.names, names=names, among=among)):
        return ExtractedFilters(meant, spans=(span,))
    leads = phrase.weak and _leads_a_title(words, resolved, names=names)
    if leads or (phrase.strict and _is_only_in_one(words, resolved, names=names)):
        resolved = LinkedEntities(resolved.names, True)
    return _narrowed(resolved, phrase, span=span, among=among)


def _is_only_in_one(words: Sequence[str], resolved: LinkedEntities, *, names: EntityIndex) -> bool:
    """Whether the one word of "the embeddings talk" is told by a single document."""
    told = [stem(word) for word in words if word not in FUNCTION_WORDS]
    return len(resolved.names) == len(told) == 1 and names.spread.get(told[0]) == 1


def _leads_a_title(words: Sequence[str], resolved: LinkedEntities, *, names: EntityIndex) -> bool:
    """Whether words after "the book of" are the head of one written title: "d'algorithmique"."""
    (name, *others) = resolved.names
    told = [stem(word) for word in words if word not in FUNCTION_WORDS]
    head = next((stem(word) for word in name.words if word not in FUNCTION_WORDS), "")
    written = all(names.documents[each].kind != "transcript" for each in name.documents)
    return not others and written and told == [head]


def _misspelt(
    asked: TokenizedQuery,
    words: Sequence[str],
    first: int,
    *,
    lookup: Lookup,
    among: Collection[str],
) -> ExtractedFilters | None:
    """Read a title right behind the word for its source that has a slip or two in its spelling."""
    if not 2 <= len(words) <= LONGEST_NAME or not lookup.misspelt:
        return None
    known = {spelt_as(stem(word), lookup) for word in words if word not in FUNCTION_WORDS}
    places = lookup.by_word.get(next(iter(known)) or "", frozenset()) if known else frozenset()
    meant = [
        lookup.names[place]
        for place in sorted(places)
        if lookup.names[place].distinctive_words == known
    ]
    ids = [one for each in meant for one in _held(each, among)]
    if len(known) < 2 or not ids:
        return None
    span = asked.starts[first], asked.ends[first + len(words) - 1]
    return ExtractedFilters(restrict_to("document", ids), spans=(span,))


def _soft_cut(asked: TokenizedQuery, first: int, last: int) -> tuple[str, ...]:
    words: list[str] = []
    for word in asked.words[first:last]:
        if word.startswith(HIDDEN) or (word in _STOPS and words):
            break
        words.append(word)
    return tuple(words)


def _narrowed(
    resolved: LinkedEntities, phrase: _Phrase, *, span: Span, among: Collection[str]
) -> ExtractedFilters:
    meant = [each for each in resolved.names if _held(each, among)]
    if not meant:
        return NOTHING
    narrowed = len(meant) == 1 < len(resolved.names) and bool(among)
    values = (
        [each.real for each in meant]
        if phrase.part
        else [one for each in meant for one in _held(each, among)]
    )
    conditions = restrict_to("section" if phrase.part else "document", values)
    if resolved.unambiguous or narrowed:
        return ExtractedFilters(conditions, spans=(span,))
    return ExtractedFilters(soft_filters=conditions)


def _bare(
    asked: TokenizedQuery, found: Sequence[Mention], *, names: EntityIndex, among: Collection[str]
) -> ExtractedFilters:
    """Read titles that stand without a word for the source: "in Moby Dick", "Dans Les Forêts"."""
    heard = NOTHING
    for each in found:
        titles = [one for one in of_kind(each, "title") if _held(one, among)]
        if not titles:
            continue
        ids = restrict_to("document", [i for one in titles for i in _held(one, among)])
        if _is_named(asked, each, titles, names):
            span = asked.starts[each.first], asked.ends[each.last - 1]
            heard += ExtractedFilters(ids, spans=(span,))
        else:
            heard += ExtractedFilters(soft_filters=ids)
    return heard


def _is_named(
    asked: TokenizedQuery, mention: Mention, titles: Sequence[Entity], names: EntityIndex
) -> bool:
    """Whether words that spell a title are meant as one.

    They are if they are written like it, or stand where only a source can stand; a title of one
    word, or one that other documents speak of as well, needs more than that.
    """
    words = asked.words[mention.first : mention.last]
    telling = sum(word not in FUNCTION_WORDS for word in words)
    before = asked.words[max(0, mention.first - 3) : mention.first]
    if before and before[-1] in ("a", "an", "un", "une", "any", "some"):
        return False
    definite = (bool(before) and before[-1] in _DEFINITE) or words[0] in _DEFINITE
    place = _is_place(asked, mention)
    cased = _is_cased(asked, mention, titles)
    if telling < 2:
        after = " ".join(asked.words[mention.last : mention.last + 2])
        rare = names.spread.get(stem(words[-1]), 0) <= 1
        return cased and rare and bool(_SAID.match(after))
    owners = {one for each in titles for one in each.documents}
    elsewhere = any(not owners.issuperset(each.documents) for each in of_kind(mention, "topic"))
    whole = any(
        mention.last - mention.first + 1 >= sum(not word.isdecimal() for word in each.words)
        for each in titles
    )
    if elsewhere or not whole:
        return cased and place
    leads = not mention.first and asked.clean[asked.ends[mention.last - 1] :].lstrip()[:1] in {
        ",",
        ":",
    }
    source = any(_NOUN.fullmatch(word) for word in words)
    if leads or (definite and source) or (cased and mention.first > 0):
        return True
    return place and (cased or definite or len(words) > 4)


def _is_cased(asked: TokenizedQuery, mention: Mention, titles: Sequence[Entity]) -> bool:
    """Whether the words have capitals as the title has, beyond those of any sentence."""
    written = asked.clean[asked.starts[mention.first] : asked.ends[mention.last - 1]]
    capitals = sum(
        asked.clean[asked.starts[at]].isupper() for at in range(mention.first, mention.last)
    )
    return capitals > (mention.first == 0) and (
        capitals > 1 or written[:1].isupper() or any(written in each.real for each in titles)
    )


def _is_place(asked: TokenizedQuery, mention: Mention) -> bool:
    before = [
        word for word in asked.words[max(0, mention.first - 3) : mention.first]
        if word not in ARTICLES
    ]  # fmt: skip
    if before and (before[-1] in _IN or before[-1] in _WHOLE):
        return True
    if before[-2:] == ["according", "to"]:
        return True
    after = " ".join(asked.words[mention.last : mention.last + 2])
    return bool(_SAID.match(after)) or after == "about"


def _openers(asked: TokenizedQuery, names: EntityIndex) -> ExtractedFilters:
    """Read parts that every book calls the same: "in the introduction", "dans la préface"."""
    for place, word in enumerate(asked.words):
        if word in _OPENERS and place > 1:
            before = asked.words[place - 2 : place]
            exact = [
                each for each in names.by_spelling.get(word.rstrip("s"), ()) if each.kind == "topic"
            ]
            if exact and before[0] in _IN and before[1] in ("the", "la", "le", "l"):
                return ExtractedFilters(restrict_to("section", [each.real for each in exact]))
    return NOTHING

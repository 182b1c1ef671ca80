"""Reads a question: its language, its type, whom and what it names, and where it wants to look.

Rules only, for English and French; a question in another language is read by both sets. Names
are those that the collection really has (`Names`); a place that is not there narrows nothing and
is said to be missing. Nothing is taken out of the question.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from quoth.core.errors import InputError
from quoth.core.protocols import Matrix
from quoth.core.types import (
    Filter,
    FilterField,
    Query,
    QueryKind,
    Turn,
)
from quoth.query.comparison_aspects import MOST_ASPECTS, aspects_of
from quoth.query.entity_index import Entity, EntityIndex
from quoth.query.entity_linking import Mention, mentions
from quoth.query.filters.date_language import (
    dates_asked,
    dates_named,
    language_asked,
    languages_named,
)
from quoth.query.filters.extracted import (
    ExtractedFilters,
    documents_within,
    merge_filters,
    restrict_to,
)
from quoth.query.filters.page import chapters_asked, pages_asked
from quoth.query.filters.speaker import speakers_asked
from quoth.query.filters.time import segments_asked, times_asked
from quoth.query.filters.title import titles_asked
from quoth.query.followup import (
    is_bare,
    is_elliptical,
    is_followup,
    recent,
)
from quoth.query.intent import classify_intent
from quoth.query.messages import listed, message
from quoth.query.rewrite import rewrite_standalone
from quoth.query.spelling import correct_spelling
from quoth.query.tokens import (
    TokenizedQuery,
    folded_words,
    mask_spans,
    tokenize_query,
)
from quoth.text.analyzer import detect_language

SHORTEST = 3
LONGEST = 1000
INTERFACE_LANGUAGES = ("en", "fr")
MOST_ENTITIES = 10
OPENINGS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "en": frozenset(
            "summarise summarize explain list describe tell give show recap outline".split()
        ),
        "fr": frozenset(
            "resume resumez resumons explique expliquez liste listez decris decrivez parle parlez "
            "donne donnez montre montrez cite citez comparez dis dites cherche cherchez".split()
        ),
    }
)
"""First words that tell the language of a question that is otherwise a name."""
LEAST_OWN = 4
"""Letters besides names from which the language of a question can be told."""
CARRIED: tuple[FilterField, ...] = (
    "document", "speaker", "language", "date", "chapter", "section", "segment", "label", "seconds"
)  # fmt: skip
"""Conditions that an elliptical follow-up keeps from the question before."""
_PLACES: frozenset[FilterField] = frozenset(("chapter", "section", "segment", "label", "seconds"))

_ALLOWED_CONTROLS = frozenset("\t\n\r")


@dataclass(frozen=True, slots=True)
class _QueryAnalysis:
    """One question by itself, before the conversation counts."""

    asked: TokenizedQuery
    language: str
    kind: QueryKind
    heard: ExtractedFilters
    people: tuple[Entity, ...]
    entities: tuple[str, ...]
    aspects: tuple[str, ...]


def validate(text: str) -> str:
    """Give the question back unchanged if it can be asked; raises InputError with the reason."""
    length = len(text.strip())
    if not length:
        raise InputError("The question is empty. Type what you want to know.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            "The question holds half of a character (a lone surrogate), as broken copying leaves. "
            "Type it again or send it as valid Unicode."
        )
    for character in text:
        if unicodedata.category(character) == "Cc" and character not in _ALLOWED_CONTROLS:
            raise InputError(
                f"The question holds a control character (U+{ord(character):04X}) that cannot be "
                "searched for. Remove it and ask again."
            )
    if length < SHORTEST:
        raise InputError(
            f"The question has {length} character{'s' * (length > 1)}; it needs at least "
            f"{SHORTEST}. Ask in a few words."
        )
    if len(text) > LONGEST:
        raise InputError(
            f"The question has {len(text):,} characters; at most {LONGEST:,} can be asked at once. "
            "Shorten it to the point you want to know."
        )
    if not any(character.isalnum() for character in text):
        raise InputError("The question holds no letter and no digit. Ask in words.")
    return text


def understand(
    text: str,
    *,
    names: EntityIndex,
    history: Sequence[Turn] = (),
    fallback_language: str = "en",
    drop: Collection[str] = (),
    vector: Matrix | None = None,
) -> Query:
    """Read a valid question against the names of a collection.

    ``history`` is the conversation so far, oldest turn first: a question that leans on it gets a
    ``standalone`` wording to search with, any other one a second wording beside its own. ``drop``
    are fields of filters that the asker does not want to be read out of questions. The language
    is one of the collection's or of the interface's, else the fallback. ``vector`` is the
    question's embedding by the default embedder, where there is one.
    """
    turns = recent(history)
    asked = correct_spelling(tokenize_query(text), names)
    leaning = is_followup(asked.clean, vector=vector, history=turns)
    if leaning:
        fallback_language = _language(turns[-1].question, names, fallback_language)
    read = _read(asked.clean, asked, names, fallback_language, vector=vector)
    heard, kind, wording, in_context = read.heard, read.kind, text, ""
    if leaning:
        heard, kind, wording = _with_history(read, turns, names)
    elif turns:
        in_context = rewrite_standalone(asked, turns)
    notes = heard.notes
    aspects = read.aspects
    if len(aspects) > MOST_ASPECTS:
        values = {"count": len(aspects), "there": listed(aspects[:MOST_ASPECTS], read.language)}
        notes += (message("aspects_cut", read.language, values),)
    return Query(
        original=text,
        standalone=wording,
        language=read.language,
        kind=kind,
        is_followup=leaning,
        filters=tuple([each for each in heard.filters if each.field not in drop]),
        entities=read.entities,
        boosts=tuple([each for each in heard.soft_filters if each.field not in drop]),
        aspects=aspects[:MOST_ASPECTS],
        in_context=in_context if in_context != asked.clean else "",
        notes=notes,
    )


def _language(text: str, names: EntityIndex, fallback: str) -> str:
    among = (*names.languages, *INTERFACE_LANGUAGES)
    return detect_language(text, among=among, fallback=fallback)


def _opening(asked: TokenizedQuery) -> str:
    """Tell the language by a first word that only one of the interface's languages has."""
    first = asked.words[0] if asked.words else ""
    return next((each for each, words in OPENINGS.items() if first in words), "")


def _own_words(asked: TokenizedQuery, found: Sequence[Mention]) -> str:
    """Give a question without long names and quotations, whose language need not be its own."""
    spans = [(asked.starts[each.first], asked.ends[each.last - 1]) for each in found
             if each.last - each.first > 1]  # fmt: skip
    left = asked.clean
    for start, end in (*spans, *asked.quoted):
        left = left[:start] + " " * (end - start) + left[end:]
    return left if sum(map(len, left.split())) >= LEAST_OWN else asked.clean


def _read(
    text: str,
    asked: TokenizedQuery,
    names: EntityIndex,
    fallback: str,
    *,
    vector: Matrix | None = None,
) -> _QueryAnalysis:
    """Read one question by itself."""
    found = mentions(asked, names)
    own = _own_words(asked, found)
    language = _language(own, names, "") or _opening(asked) or _language(text, names, fallback)
    people, named = speakers_asked(asked, found, names=names, language=language)
    sources = people + language_asked(asked, names=names, language=language)
    sources += dates_asked(asked, names=names, language=language)
    among = documents_within(sources.filters, names)
    reach = names.documents.keys() if among is names.everything else frozenset(among)
    titled = titles_asked(asked, found, names=names, among=reach)
    sources += titled
    rest = mask_spans(asked, sources.spans)
    among = documents_within(sources.filters, names)
    places, has_pages = pages_asked(rest, names=names, among=among, language=language)
    for read in (chapters_asked, times_asked, segments_asked):
        places += read(rest, names=names, among=among, language=language)
    kind = classify_intent(rest.folded, language=language, vector=vector)
    if has_pages and kind != "comparison" and any(each.field == "label" for each in places.filters):
        kind = "page_specific"
    elif has_pages and kind == "exploratory":
        kind = "factual"  # "Is there anything on page 900?" asks for no tour of a subject.
    aspects: tuple[str, ...] = ()
    if kind == "comparison":
        uncut = mask_spans(asked, (*asked.quoted, *titled.spans))
        aspects = aspects_of(uncut, language=language)
        aspects = tuple(dict.fromkeys([_real(each, named) for each in aspects]))
    return _QueryAnalysis(
        asked,
        language,
        kind,
        merge_filters(sources + places),
        named,
        _entities(found, named),
        aspects,
    )


def _real(aspect: str, people: Sequence[Entity]) -> str:
    """Give the speaker's real name for an aspect that holds it."""
    words = folded_words(aspect)
    return next((each.real for each in people if each.words[-1] in words), aspect)


def _entities(found: Sequence[Mention], people: Sequence[Entity]) -> tuple[str, ...]:
    """Give the real spellings of all that is named; headings only where they tell something."""
    named = [each.real for each in people]
    for mention in found:
        named += [each.real for each in mention.names]
    return tuple(dict.fromkeys(named))[:MOST_ENTITIES]


def _with_history(
    read: _QueryAnalysis, turns: Sequence[Turn], names: EntityIndex
) -> tuple[ExtractedFilters, QueryKind, str]:
    """Give the conditions, the type and the wording of a question that leans on those before."""
    heard = read.heard
    before = _before(turns, names, read.language)
    without: list[str] = []
    if read.people and before.people:
        without = [word for each in before.people for word in each.words]
    wording = rewrite_standalone(read.asked, turns, without=without)
    if not is_elliptical(read.asked):
        return heard, read.kind, wording
    kind = read.kind
    if kind == "factual" and before.kind != "page_specific" and not is_bare(read.asked):
        kind = before.kind  # "And chapter 5?" asks the same of something else.
    heard += _in_place(read, before.heard.filters, names=names)
    kept = _carried(before.heard.filters, heard.filters)
    if kept:
        values = {"there": _shown(kept, names, read.language)}
        heard += ExtractedFilters(kept, notes=(message("carried", read.language, values),))
    return heard, kind, wording


def _before(turns: Sequence[Turn], names: EntityIndex, fallback: str) -> _QueryAnalysis:
    """Read the last question, with what it in turn kept from the one before."""
    *earlier, last = turns
    asked = correct_spelling(tokenize_query(last.question), names)
    read = _read(asked.clean, asked, names, fallback)
    if is_followup(asked.clean, history=earlier) and is_elliptical(asked):
        older = _before(earlier, names, fallback)
        read = replace(read, heard=read.heard + _in_place(read, older.heard.filters, names=names))
        kept = _carried(older.heard.filters, read.heard.filters)
        read = replace(
            read, heard=read.heard + ExtractedFilters(kept), people=read.people or older.people
        )
    return read


def _in_place(
    read: _QueryAnalysis, before: Sequence[Filter], *, names: EntityIndex
) -> ExtractedFilters:
    """Give the conditions that a follow-up puts in the place of others: "and Ada Lovelace?".

    What it only names narrows, where the question before was narrowed by something of that kind.
    """
    stated = {each.field for each in read.heard.filters}
    instead: list[Filter] = []
    among = documents_within(before, names)
    timed = any(each.field == "seconds" for each in before) or among is not names.everything
    if timed and stated.isdisjoint(_PLACES | {"document", "speaker"}):
        moments = times_asked(
            read.asked, names=names, among=among, language=read.language, of_a_talk=True
        )
        instead += moments.filters
    for field in dict.fromkeys(each.field for each in before if each.field not in stated):
        if field == "speaker":
            instead += restrict_to("speaker", [each.real for each in read.people])
        elif field == "date":
            instead += dates_named(read.asked, names=names)
        elif field == "language":
            instead += languages_named(read.asked, names=names)
        elif field == "document":
            guesses = [each for each in read.heard.soft_filters if each.field == "document"]
            instead += guesses if len(guesses) == 1 and len(guesses[0].values) == 1 else []
    return ExtractedFilters(tuple(instead))


def _carried(before: Sequence[Filter], now: Sequence[Filter]) -> tuple[Filter, ...]:
    """Keep conditions that the new question does not replace; a new place replaces the old one."""
    stated: set[FilterField] = {each.field for each in now}
    if stated & _PLACES:
        stated |= _PLACES
    if "document" in stated:
        stated |= {"speaker", *_PLACES}
    if "speaker" in stated:
        stated |= {"document", *_PLACES}
    return tuple([each for each in before if each.field in CARRIED and each.field not in stated])


def _shown(filters: Sequence[Filter], names: EntityIndex, language: str) -> str:
    shown: list[str] = []
    for each in filters:
        if each.field == "document":
            shown += [names.documents[str(value)].title for value in each.values]
        elif each.operator == "in":
            shown += [str(value) for value in each.values]
    return listed(shown, language) if shown else "…"

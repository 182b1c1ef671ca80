"""Query analysis: language, intent, names and filters.

The path: tokens → spelling → language → filters → intent → names → conversation. Names are those of
the collection (`EntityIndex`); a place that does not exist filters nothing and is noted. Nothing is
removed from the query.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from quoth.core.errors import InputError
from quoth.core.protocols import Matrix
from quoth.core.translations import interface_languages, translate
from quoth.core.types import Filter, FilterField, Query, QueryKind, Turn
from quoth.query.comparison_aspects import MAX_ASPECTS, extract_aspects
from quoth.query.dialogue_act import (
    DialogueAct,
    accepted_question,
    names_a_language,
    read_act,
    topical_turns,
    without_small_talk,
)
from quoth.query.entity_index import Entity, EntityIndex
from quoth.query.entity_linking import Mention, mentions
from quoth.query.filters.attributes import (
    extract_dates,
    extract_languages,
    extract_speakers,
    follow_up_dates,
    follow_up_languages,
    strip_dates,
)
from quoth.query.filters.divisions import extract_divisions, extract_sections, parts_around
from quoth.query.filters.extracted import (
    NOTHING,
    ExtractedFilters,
    ExtractionContext,
    Extractor,
    documents_within,
    merge_filters,
    restrict_to,
)
from quoth.query.filters.parse import join_names
from quoth.query.filters.patterns import pattern_tables
from quoth.query.filters.places import (
    extract_chapters,
    extract_pages,
    extract_segments,
    extract_times,
)
from quoth.query.filters.title import extract_titles
from quoth.query.intent import (
    classify_intent,
    has_only_question_words,
    is_elliptical,
    is_followup,
    recent_turns,
)
from quoth.query.rewrite import (
    after_turns,
    ask_again_about,
    direct_question,
    rewrite_standalone,
)
from quoth.query.spelling import correct_spelling
from quoth.query.tokens import TokenizedQuery, folded_words, mask_spans, tokenize_query
from quoth.text.language import detect_query_language

MIN_LENGTH = 3
MAX_LENGTH = 1000
MAX_ENTITIES = 10
MIN_OWN_LETTERS = 4
"""Minimum letters, names excluded, for detecting the language of a query."""

SOURCE_EXTRACTORS: tuple[Extractor, ...] = (extract_speakers, extract_languages, extract_dates)
"""Extractors that restrict the documents, and with them the candidate titles."""
PLACE_EXTRACTORS: tuple[Extractor, ...] = (
    extract_pages,
    extract_sections,
    extract_chapters,
    extract_times,
    extract_segments,
)
"""Extractors of places within the documents; source names are masked for them."""

PLACE_FIELDS: frozenset[FilterField] = frozenset(
    ("chapter", "section", "segment", "label", "seconds")
)
CARRIED_FIELDS: frozenset[FilterField] = PLACE_FIELDS | {"document", "speaker", "language", "date"}
"""Filters that an elliptical follow-up carries over from the previous query."""

_ALLOWED_CONTROLS = frozenset("\t\n\r")


@dataclass(frozen=True, slots=True)
class _QueryAnalysis:
    """Analysis of a single query, without the conversation."""

    query: TokenizedQuery
    language: str
    kind: QueryKind
    extracted: ExtractedFilters
    entities: tuple[str, ...]
    aspects: tuple[str, ...]


def validate(text: str) -> str:
    """Return a query unchanged if it is valid; raises InputError with the reason."""
    length = len(text.strip())
    if not length:
        raise InputError("The question is empty. Type what you want to know.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            "The question contains an incomplete character (a lone surrogate), e.g. from copying. "
            "Type it again or send it as valid Unicode."
        )
    for character in text:
        if unicodedata.category(character) == "Cc" and character not in _ALLOWED_CONTROLS:
            raise InputError(
                f"The question holds a control character (U+{ord(character):04X}) that cannot be "
                "searched for. Remove it and ask again."
            )
    if length < MIN_LENGTH:
        raise InputError(
            f"The question has {length} character{'s' * (length > 1)}; it needs at least "
            f"{MIN_LENGTH}. Ask in a few words."
        )
    if len(text) > MAX_LENGTH:
        raise InputError(
            f"The question has {len(text):,} characters; the limit is {MAX_LENGTH:,}. "
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
    drop: Collection[str] = (),
    vector: Matrix | None = None,
) -> Query:
    """Analyse a valid query against the names of a collection.

    ``history`` is the conversation so far, oldest turn first: a follow-up gets a ``standalone``
    wording to search with, any other query a second one after the last turns. ``drop`` are fields
    for which no filters shall be inferred. The language is any that is certain, else one of the
    collection's or of the interface's, else English. ``vector`` is the query's embedding by the
    default embedder, where there is one.
    """
    act = read_act(text) if history else None
    if act is not None and act.kind in ("more", "language", "acceptance"):
        meant = _question_meant(act, history, names=names, drop=drop)
        if meant is not None:
            return replace(meant, original=text, is_followup=True)
    turns = recent_turns(topical_turns(history)) if history else ()
    typed = tokenize_query(text)
    query = correct_spelling(typed, names)
    follows_up = bool(turns) and is_followup(query.clean, vector=vector, history=turns)
    fallback = _detect(turns[-1].question, names, "en") if follows_up else "en"
    analysis = _analyse(query, names, fallback, vector=vector)
    standalone, in_context = text if query is typed else query.clean, ""
    if follows_up:
        analysis, standalone = _with_history(analysis, turns, names)
    elif turns:
        in_context = after_turns(query, turns)
    if analysis.kind not in ("page_specific", "comparison"):
        own = analysis.extracted
        tokenized = tokenize_query(standalone)
        undated = tokenized if "date" in drop else strip_dates(tokenized, own.filters)
        known = bool(own.people or own.filters or own.soft_filters)
        direct = direct_question(undated, language=analysis.language, known=known)
        standalone = standalone if direct == tokenized.clean else direct
    extracted, aspects, notes = analysis.extracted, analysis.aspects, analysis.extracted.notes
    if len(aspects) > MAX_ASPECTS:
        there = join_names(aspects[:MAX_ASPECTS], analysis.language)
        count = len(aspects)
        notes += (translate("query.aspects_cut", analysis.language, count=count, there=there),)
    return Query(
        original=text,
        standalone=standalone,
        language=analysis.language,
        kind=analysis.kind,
        is_followup=follows_up,
        filters=tuple(filter_ for filter_ in extracted.filters if filter_.field not in drop),
        entities=analysis.entities,
        boosts=tuple(filter_ for filter_ in extracted.soft_filters if filter_.field not in drop),
        aspects=aspects[:MAX_ASPECTS],
        in_context=in_context,
        notes=notes,
    )


def _question_meant(
    act: DialogueAct, history: Sequence[Turn], *, names: EntityIndex, drop: Collection[str]
) -> Query | None:
    """Return the question before "more" or "and in French?", or the one that "yes" agrees to.

    None if there is none. A language that no document is in, and one that follows a question about
    languages ("How do I say it in Spanish?"), is a question of its own.
    """
    turns = without_small_talk(history)
    if not turns:
        return None
    if act.kind == "acceptance":
        offered = accepted_question(turns[-1])
        return understand(offered, names=names, history=turns, drop=drop) if offered else None
    *earlier, last = turns
    query = understand(last.question, names=names, history=earlier, drop=drop)
    if act.kind == "more":
        return replace(query, continues=True)
    if act.wanted not in names.by_language or names_a_language(last.question):
        return None
    others = tuple(each for each in query.filters if each.field != "language")
    wanted = restrict_to("language", [act.wanted])
    return replace(query, filters=(*others, *wanted), continues=False)


def _analyse(
    query: TokenizedQuery, entities: EntityIndex, fallback: str, *, vector: Matrix | None = None
) -> _QueryAnalysis:
    """Analyse a single query."""
    mentioned = tuple(mentions(query, entities))
    language = _language(query, mentioned, entities, fallback)
    context = ExtractionContext(entities, mentioned, language, entities.everything)
    sources = sum((extract(query, context) for extract in SOURCE_EXTRACTORS), NOTHING)
    context = replace(context, documents=documents_within(sources.filters, entities))
    titles = extract_titles(query, context)
    if any(each.field == "document" for each in titles.filters):  # It narrows those of a guest.
        others = (each for each in sources.filters if each.field != "document")
        sources = replace(sources, filters=tuple(others))
    sources += titles
    masked = mask_spans(query, sources.spans)
    context = replace(context, documents=documents_within(sources.filters, entities))
    places = NOTHING
    for extract in PLACE_EXTRACTORS:
        places += extract(masked, context)
    # Not masked: the name of a source may begin with "article".
    places += extract_divisions(query, context)
    kind = classify_intent(masked.folded, language=language, vector=vector)
    if places.names_a_page:
        paged = any(filter_.field in ("label", "page") for filter_ in places.filters)
        if kind != "comparison" and paged:
            kind = "page_specific"
        elif kind == "exploratory":
            kind = "factual"  # "Is there anything on page 900?" does not ask for an overview.
    aspects: tuple[str, ...] = ()
    if kind == "comparison":
        visible = mask_spans(query, (*query.quoted, *titles.spans))
        found = extract_aspects(visible)
        aspects = tuple(dict.fromkeys(_real_name(aspect, sources.people) for aspect in found))
    named = [*sources.people, *(name for mention in mentioned for name in mention.names)]
    real = tuple(dict.fromkeys(name.real for name in named))[:MAX_ENTITIES]
    return _QueryAnalysis(query, language, kind, merge_filters(sources + places), real, aspects)


def _detect(text: str, entities: EntityIndex, fallback: str) -> str:
    among = (*entities.languages, *interface_languages())
    return detect_query_language(text, among=among, fallback=fallback)


def _language(
    query: TokenizedQuery, mentioned: Sequence[Mention], entities: EntityIndex, fallback: str
) -> str:
    """Return the language of a query's own words, without long names and quotations."""
    spans = [(query.starts[mention.first], query.ends[mention.last - 1])
             for mention in mentioned if mention.last - mention.first > 1]  # fmt: skip
    own = query.clean
    for start, end in (*spans, *query.quoted):
        own = own[:start] + " " * (end - start) + own[end:]
    if sum(map(len, own.split())) < MIN_OWN_LETTERS:
        own = query.clean
    return (
        _detect(own, entities, "")
        or _language_of_opening(query)
        or _detect(query.clean, entities, fallback)
    )


def _language_of_opening(query: TokenizedQuery) -> str:
    """Return the only language with that first question word: "Résume" and then a name."""
    first = query.words[0] if query.words else ""
    tables = [table for table in pattern_tables() if first in table.word_list("openings")]
    return tables[0].language if len(tables) == 1 else ""


def _real_name(aspect: str, people: Sequence[Entity]) -> str:
    """Return the speaker's real name for an aspect that contains it."""
    words = folded_words(aspect)
    return next((person.real for person in people if person.words[-1] in words), aspect)


def _with_history(
    analysis: _QueryAnalysis, turns: Sequence[Turn], entities: EntityIndex
) -> tuple[_QueryAnalysis, str]:
    """Return the analysis of a follow-up with carried filters and standalone wording."""
    previous = _analyse_last(turns, entities, analysis.language)
    without: list[str] = []
    if analysis.extracted.people and previous.extracted.people:
        without = [word for person in previous.extracted.people for word in person.words]
    query, language, own = analysis.query, analysis.language, analysis.extracted
    standalone = ""
    if not (own.filters or own.people):
        standalone = ask_again_about(query, turns, language=language)
    standalone = standalone or rewrite_standalone(query, turns, language=language, without=without)
    if not is_elliptical(analysis.query):
        return analysis, standalone
    if (analysis.kind, has_only_question_words(analysis.query)) == ("factual", False) and (
        previous.kind != "page_specific"
    ):
        # "And chapter 5?" asks the same about another place.
        analysis = replace(analysis, kind=previous.kind)
    analysis, carried = _carry_filters(analysis, previous, entities)
    if carried:
        there = _shown(carried, entities, analysis.language)
        note = translate("query.carried", analysis.language, there=there)
        extracted = analysis.extracted + ExtractedFilters(notes=(note,))
        analysis = replace(analysis, extracted=extracted)
    return analysis, standalone


def _analyse_last(turns: Sequence[Turn], entities: EntityIndex, fallback: str) -> _QueryAnalysis:
    """Analyse the last question of a conversation, with its carried filters."""
    *earlier, last = turns
    query = correct_spelling(tokenize_query(last.question), entities)
    analysis = _analyse(query, entities, fallback)
    if is_followup(query.clean, history=earlier) and is_elliptical(query):
        older = _analyse_last(earlier, entities, fallback)
        analysis, _ = _carry_filters(analysis, older, entities)
        people = analysis.extracted.people or older.extracted.people
        analysis = replace(analysis, extracted=replace(analysis.extracted, people=people))
    return analysis


def _carry_filters(
    analysis: _QueryAnalysis, previous: _QueryAnalysis, entities: EntityIndex
) -> tuple[_QueryAnalysis, tuple[Filter, ...]]:
    """Add the filters that an elliptical follow-up replaces or carries; return these."""
    before = previous.extracted.filters
    extracted = analysis.extracted + _replaced(analysis, before, entities)
    stated: set[FilterField] = {filter_.field for filter_ in extracted.filters}
    if stated & PLACE_FIELDS:
        stated |= PLACE_FIELDS
    if stated & {"document", "speaker"}:
        stated.update(("document", "speaker"), PLACE_FIELDS)
    kept = tuple(
        filter_
        for filter_ in before
        if filter_.field in CARRIED_FIELDS and filter_.field not in stated
    )
    kept += parts_around(extracted.filters, before, entities)
    return replace(analysis, extracted=extracted + ExtractedFilters(kept)), kept


def _replaced(
    analysis: _QueryAnalysis, before: Sequence[Filter], entities: EntityIndex
) -> ExtractedFilters:
    """Return the replacements for earlier filters: "and Ada Lovelace?".

    A bare name filters here if the previous question was filtered by one of its kind.
    """
    query, own = analysis.query, analysis.extracted
    stated = {filter_.field for filter_ in own.filters}
    found: list[Filter] = []
    documents = documents_within(before, entities)
    timed = any(filter_.field == "seconds" for filter_ in before)
    if (timed or documents is not entities.everything) and stated.isdisjoint(
        PLACE_FIELDS | {"document", "speaker"}
    ):
        context = ExtractionContext(entities, (), analysis.language, documents, True)
        found += extract_times(query, context).filters
    for field in dict.fromkeys(f.field for f in before if f.field not in stated):
        if field == "speaker":
            found += restrict_to("speaker", [person.real for person in own.people])
        elif field == "date":
            found += follow_up_dates(query, entities)
        elif field == "language":
            found += follow_up_languages(query, entities)
        elif field == "document":
            guesses = [guess for guess in own.soft_filters if guess.field == "document"]
            found += guesses if len(guesses) == 1 and len(guesses[0].values) == 1 else []
    return ExtractedFilters(tuple(found))


def _shown(filters: Sequence[Filter], entities: EntityIndex, language: str) -> str:
    shown: list[str] = []
    for filter_ in filters:
        if filter_.field == "document":
            shown += [entities.documents[str(value)].title for value in filter_.values]
        elif filter_.operator == "in":
            shown += [str(value) for value in filter_.values]
    return join_names(shown, language) if shown else "…"

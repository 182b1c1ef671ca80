"""Content words of a query, and what it asks beside them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import dropwhile, pairwise

from quoth.core.types import DocumentKind, Filter, FilterField, Query
from quoth.query.filters.patterns import find_matches, has_match, pattern_tables, word_set
from quoth.query.tokens import has_phrase, normalize_query, normalized_query_words, phrase_pattern
from quoth.text.analyzer import analyze, normalize_name
from quoth.text.numbers import WORDS
from quoth.text.stop_words import query_stop_words
from quoth.text.tables import EVERYWHERE

_WORD = re.compile(r"[^\W_](?:[\w.@&/+#-]*[\w+#])?")
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)['’](?=\w)", re.IGNORECASE)
_ENDING = re.compile(r"(?<=\w)['’](?:s|m|t|d|re|ve|ll)\b", re.IGNORECASE)


@cache
def _question_words(language: str) -> frozenset[str]:
    """Return stems of what a question asks with, which a passage with the answer need not have."""
    return frozenset(
        stem
        for table in pattern_tables()
        if table.language in (*EVERYWHERE, language)
        for stem in analyze(" ".join(table.word_list("question_words")), language=table.language)
    )


def content_words(text: str, *, language: str) -> list[str]:
    """Return the distinct content words of a query as written, in order."""
    empty = query_stop_words(language)  # the index keeps those of most languages
    found: dict[str, str] = {}
    for word in _WORD.findall(_ENDING.sub("", _ELIDED.sub(" ", text))):
        stems = analyze(word, language=language)
        if word.casefold() not in empty and not _question_words(language).issuperset(stems):
            found.setdefault(stems[-1], word)
    return list(found.values())


LOCATOR_FIELDS: tuple[FilterField, ...] = (
    "label",
    "page",
    "seconds",
    "chapter",
    "section",
    "segment",
)
"""Fields whose filters name a locator within a document."""


def names_place(filters: Iterable[Filter]) -> bool:
    """Return whether a filter names a place within a document."""
    return any(each.field in LOCATOR_FIELDS for each in filters)


_NOUNS: Mapping[DocumentKind, frozenset[str]] = {
    "pdf": frozenset(("book", "pdf", "paper", "thesis", "livre", "article", "these")),
    "transcript": frozenset(
        "talk video lecture podcast episode recording expose conference enregistrement".split()
    ),
}
_LABEL = re.compile(r"[a-z]{1,3}\d{1,4}")
_SIGNS = " .,;:!?\"'()[]«»“”…"
_PLACE_NUMBER = re.compile(
    r"\d[\d.:h]*|(?=[ivxlc]{2})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})|[ivx]|[a-z]\d+"
)


def strip_locator_words(query: Query, *, files: Collection[str] = ()) -> Query:
    """Return a query without the words that name a place, or one of the ``files``.

    "What does page 12 say about bees?" is about bees: no passage need contain "page" and "12".
    """
    placed = query.kind == "page_specific" or names_place(query.filters)
    names = ((word, normalize_name(word).strip(_SIGNS)) for word in query.standalone.split())
    words = [
        word
        for word, name in names
        if name not in files and not (placed and name and names_a_place(name))
    ]
    return replace(query, standalone=" ".join(words)) if words else query


def only_asks_for_a_place(query: Query, *, sources: Iterable[str] = ()) -> bool:
    """Return whether a query names only a place: "What is on page 12 of the guide?".

    ``sources`` are the titles of the documents that the query restricts the search to. A title
    that stands in a requested chapter or page is a subject. Where a query names a document and asks
    for a summary, words such as "the main points of the episode" are no subject, unless they follow
    one such as "about".
    """
    fields = {each.field for each in query.filters}
    within = not fields.isdisjoint(LOCATOR_FIELDS) and "section" not in fields
    named = sources if within else (*query.entities, *sources)
    titles = {word for title in named for word in _words(title)}
    words = _subject_words(query.standalone)
    if fields & {"document", "date"} and (query.kind == "summary" or asks_for_summary(query)):
        topic = "|".join(word_set("topic_words"))
        asked = re.split(rf"\b(?:{topic})\b", normalize_query(query.standalone), maxsplit=1)[0]
        meetings = (asked[each.start : each.end] for each in find_matches("meeting_noun", asked))
        titles |= {word for noun in meetings for word in _words(noun)} | {
            word
            for word in _words(asked)
            if word in word_set("summary_words") or _is_source_noun(word)
        }
    return not any(analyze(word, language=query.language) for word in words if word not in titles)


def summary_subject(query: Query) -> frozenset[str]:
    """Return the terms of what a query asks to summarize; empty for all that there is.

    A number such as "K3" is one where it is no filter, as is that of "meeting 72".
    """
    words = _subject_words(query.standalone)
    if not query.filters:
        words += [
            word
            for before, word in pairwise(["", *_words(query.standalone)])
            if _LABEL.fullmatch(word) or (word.isdecimal() and _is_source_noun(before))
        ]
    return frozenset(
        term
        for word in words
        if word not in word_set("summary_words")
        for term in analyze(word, language=query.language)
    )


def names_a_topic(text: str) -> bool:
    """Return whether words follow one such as "about": "What does chapter 2 say about bees?"."""
    return len(_behind_about(text)) > 1


def summary_topic(query: Query) -> frozenset[str]:
    """Return the terms behind "say about": "Summarize what the guide says about bees"."""
    behind = _behind_about(query.standalone)
    before = _words(query.standalone)[: -len(behind)] if behind else []
    if word_set("saying_words").isdisjoint(before):
        return frozenset()
    words = _subject_words(" ".join(behind[1:]))
    left = (word for word in words if word not in word_set("summary_words"))
    return frozenset(term for word in left for term in analyze(word, language=query.language))


def _behind_about(text: str) -> list[str]:
    topic = word_set("topic_words")
    return [*dropwhile(lambda word: word not in topic, _words(text))]


def strip_outline_words(query: Query) -> Query | None:
    """Return what is left of a query that asks for the headings of a source; None if it does not.

    "Which chapters does the guide to bees have?", but not "Which chapters are about bees?".
    """
    words = normalized_query_words(query.standalone)
    rest = phrase_pattern("intent", "outline").sub("", "".join(f"{word} " for word in words))
    topic, places = word_set("topic_words"), word_set("place_words")
    unnamed = f" {rest}"
    for title in map(normalized_query_words, query.entities):  # "A Few Notes on Book Design"
        if title and title[0] not in topic:
            unnamed = unnamed.replace(f" {' '.join(title)} ", " ")
    about = any(  # "the chapter on bees" is a source.
        word in topic and before not in places for before, word in pairwise(["", *unnamed.split()])
    )
    if about or len(rest.split()) == len(words):
        return None
    return replace(query, standalone=rest)


def asks_for_documents(query: Query) -> bool:
    """Return whether a query asks which documents there are, such as "Which talks do I have?".

    With a filter on a speaker, a date or a language also whether it asks for theirs: "List the
    talks by Ada Lovelace". A date is not in the standalone query.
    """
    asked = normalized_query_words(query.original)
    if has_phrase(phrase_pattern("intent", "documents"), asked):
        return True
    named = {word for name in query.entities for word in normalized_query_words(name)}
    return any(each.field in ("speaker", "date", "language") for each in query.filters) and any(
        has_phrase(phrase_pattern("intent", "documents_of"), [w for w in words if w not in named])
        for words in (asked, normalized_query_words(query.standalone))
    )


def asks_for_summary(query: Query) -> bool:
    """Return whether a query has a phrase such as "What is … about?"."""
    return has_phrase(phrase_pattern("intent", "summary"), normalized_query_words(query.standalone))


def summary_titles(query: Query) -> tuple[str, ...]:
    """Return the titles in a query, without those such as "Summary" that only say what to do."""
    return tuple(each for each in query.entities if _subject_words(each))


def _subject_words(text: str) -> list[str]:
    """Return the words of a query without those of asking and those that name a place."""
    return [
        word
        for before, word in pairwise(["", *_words(text)])
        if word not in word_set("asking_words")
        and not names_a_place(word)
        and not (len(word) == 1 and before in word_set("lettered"))  # "appendix B"
    ]


def _is_source_noun(word: str) -> bool:
    return has_match("source", word) or has_match("meeting_noun", word)


def kind_of_source(query: Query) -> DocumentKind | None:
    """Return the kind of document that a query asks for: "the book" is a PDF."""
    words = {each for word in _words(query.standalone) for each in (word, word.removesuffix("s"))}
    found: list[DocumentKind] = [kind for kind, nouns in _NOUNS.items() if words & nouns]
    return found[0] if len(found) == 1 else None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:[.:]\d+)*", _ELIDED.sub(" ", normalize_name(text)))


def names_a_place(word: str) -> bool:
    """Return whether a word names a place or its number: "chapter", "iv", "3.5"."""
    return (
        word in word_set("place_words")
        or word in WORDS
        or _PLACE_NUMBER.fullmatch(word) is not None
    )

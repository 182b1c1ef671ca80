"""Entity index: titles, speakers, headings and locators that queries can name.

`build_entity_index` prepares the look-up once per version of a collection; a query then costs a few
look-ups, however many documents there are.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Literal

from quoth.core.outline import CollectionOutline, Heading
from quoth.core.types import Document
from quoth.query.division_names import Place, documents_by_kind, numbered_sections
from quoth.query.filters.patterns import word_set
from quoth.query.tokens import (
    FUNCTION_WORDS,
    folded_words,
    normalize_query,
    stem,
)
from quoth.store.blobs import source_name

MAX_NAME_WORDS = 12
"""Maximum words of a name in a sequential look-up."""
MIN_MISSPELLED, MAX_MISSPELLED = 5, 24
"""Length in letters of words whose misspellings are corrected."""
ARTICLES = word_set("articles")

_TAIL = re.compile(
    r"(?<!\s)\s*(?:[:;([]|\s[-–—|]\s"
    r"|,\s+\d|,\s*(?:chapt\w+|vol\w*\.?|tome|parte?|partie|episode|lecture)\b).*$",
    re.DOTALL | re.IGNORECASE,
)
_CAPITALS = re.compile(r"(?<!\w)[A-Z]{2,3}(?!\w)")
_SEGMENT = word_set("segment_words")
_SEVERAL = re.compile(r"(?<!\s)\s*+(?:[,;&/]|\band\b|\bet\b|\bwith\b|\bavec\b)\s*")
_HEADED = re.compile(
    r"(?:(?:chapter|chapitre|appendix|annexe|part|partie|section|kapitel)\s+[^\s:.]{1,8}"
    r"|\d+(?:\.\d+)*)[.:)]?(?:\s*[-–—:.]\s*|\s+)(?=\S)",
    re.IGNORECASE,
)
"""What precedes the actual title of a chapter: "Chapter 5: Locks", "2 SQL"."""
HONORIFICS = word_set("honorifics")

UMLAUTS = str.maketrans(dict(zip("äöüÄÖÜåøß", "ae oe ue Ae Oe Ue aa oe ss".split(), strict=True)))
"""Transliterations of these letters in names."""

NameKind = Literal["speaker", "title", "topic"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in the collection; ``documents`` holds its documents' ids, in collection order.

    ``words`` are its normalized words; ``distinctive_words`` the stems of its content words.
    """

    real: str
    kind: NameKind
    documents: tuple[str, ...]
    words: tuple[str, ...]
    distinctive_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Names of one kind by their words: stems to indexes of names.

    ``acronyms`` are words that would be function words if they were not acronyms: "AI", "IT";
    ``by_initial`` lists the longer words by their first letter, for matching misspelled ones.
    """

    names: tuple[Entity, ...] = ()
    by_word: Mapping[str, frozenset[int]] = field(default_factory=dict)
    acronyms: frozenset[str] = frozenset()
    by_initial: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EntityIndex:
    """Entity look-up of one version of a collection; documents are given by their ids.

    ``by_spelling`` finds names by the stems of their words joined by a blank, ``speakers_by_name``
    speakers by first or last name. ``spread`` counts the documents with a stem in their title or
    headings. ``chapters`` lists the documents of a chapter number, ``segments``
    those with questions or demos, ``chapters_by_title`` the documents and numbers of chapters by
    title, ``sections`` the places of dotted numbers and of "article 7", ``divisions`` the documents
    of each kind of them.
    ``dates`` are first and last days as numbers such as 20261231, ``labels`` the pages as
    printed, ``printed`` all of them, ``spoken`` the seconds of recordings. ``everything`` are all
    documents, ``by_speaker`` and ``by_language`` those of each, ``files`` those of a normalized
    file name, ``stems`` those of one without its suffix.
    """

    languages: tuple[str, ...] = ()
    documents: Mapping[str, Document] = field(default_factory=dict)
    by_spelling: Mapping[str, tuple[Entity, ...]] = field(default_factory=dict)
    speakers_by_name: Mapping[str, tuple[Entity, ...]] = field(default_factory=dict)
    titles: Lookup = Lookup()
    speakers: Lookup = Lookup()
    topics: Lookup = Lookup()
    spread: Mapping[str, int] = field(default_factory=dict)
    chapters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    segments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chapters_by_title: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    sections: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    divisions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    dates: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    printed: frozenset[str] = frozenset()
    everything: tuple[str, ...] = ()
    by_speaker: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_language: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spoken: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def build_entity_index(
    outline: CollectionOutline, *, labels: Mapping[str, Sequence[str]] | None = None
) -> EntityIndex:
    """Build the entity index; ``labels`` are the printed page labels by document id.

    A paged document without labels is assumed to count its pages from 1.
    """
    documents = outline.documents
    titles = _collected("title", [(document.title, document.document_id) for document in documents])
    speaking = [
        *((document.speaker or "", document.document_id) for document in documents),
        # "Question" and "Demo" are no names: they say what follows.
        *(each for each in outline.speakers if not {*folded_words(each[0])} <= _SEGMENT),
    ]
    speakers = _collected("speaker", speaking)
    headings = [
        (heading.path[-1], heading.document_id) for heading in outline.headings if heading.path
    ]
    topics = _collected("topic", headings)
    spelled = _spelled((*titles, *speakers, *topics))
    pages = _labels(documents, labels or {})
    files = _by_value(_file_names(documents))
    sections = numbered_sections(outline.headings)
    return EntityIndex(
        languages=tuple(
            dict.fromkeys([*outline.languages, *(d.language for d in documents if d.language)])
        ),
        documents={document.document_id: document for document in documents},
        by_spelling=spelled,
        speakers_by_name=_called(speakers),
        titles=_lookup(titles),
        speakers=_lookup(speakers),
        topics=_lookup(topics),
        spread=_spread(titles, topics),
        chapters=_by_value((heading.chapter, heading.document_id) for heading in outline.headings),
        segments=_by_value((heading.segment, heading.document_id) for heading in outline.headings),
        chapters_by_title=_chaptered(outline.headings),
        sections=sections,
        divisions=documents_by_kind(sections),
        dates={
            document.document_id: days
            for document in documents
            if (days := date_bounds(document.date or ""))
        },
        labels=pages,
        printed=frozenset([label for page in pages.values() for label in page]),
        everything=tuple(document.document_id for document in documents),
        by_speaker=_by_value(speaking),
        by_language=_by_value(
            (document.language or "", document.document_id) for document in documents
        ),
        spoken={
            document.document_id: document.seconds for document in documents if document.seconds
        },
        files=files,
        stems=_by_value((PurePath(name).stem, id_) for name, ids in files.items() for id_ in ids),
    )


def date_bounds(date: str) -> tuple[int, int] | None:
    """Return the first and last day of a complete or partial ISO 8601 date, else None.

    A month or day that does not exist is accepted (see `is_day`).
    """
    found = re.match(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)", date)
    if not found:
        return None
    year, month, day = (int(part) if part else 0 for part in found.groups())
    last_month = month or 12
    last = monthrange(year, last_month)[1] if year and last_month <= 12 else 31
    first = year * 10_000 + (month or 1) * 100 + (day or 1)
    return first, year * 10_000 + last_month * 100 + (day or last)


def is_day(day: int) -> bool:
    """Return whether a number such as 20261231 is a day of the calendar."""
    year, month, number = day // 10_000, day // 100 % 100, day % 100
    return year > 0 and 1 <= month <= 12 and 1 <= number <= monthrange(year, month)[1]


def _collected(kind: NameKind, given: Iterable[tuple[str, str]]) -> tuple[Entity, ...]:
    """Collect names by their original spelling, with all the documents of each."""
    owners: dict[str, list[str]] = {}
    for real, document_id in given:
        owners.setdefault(real, []).append(document_id)
    found = []
    for real, ids in owners.items():
        words = folded_words(real)
        headed = _HEADED.match(real) if kind == "topic" else None
        if words:
            words = (folded_words(real[headed.end() :]) or words) if headed else words
            left = [word for word in words if word not in FUNCTION_WORDS]
            content = frozenset(map(stem, left if left != list(words) else words))
            content |= _acronyms(real)
            content = content or frozenset(map(stem, words))
            found.append(Entity(real, kind, tuple(dict.fromkeys(ids)), words, content))
    return tuple(found)


def _acronyms(real: str) -> frozenset[str]:
    """Return words such as "AI" and "IT" that would be function words in lower case."""
    found = _CAPITALS.findall(real)
    return FUNCTION_WORDS.intersection(map(str.lower, found)) if found else frozenset()


def _spelled(names: Iterable[Entity]) -> dict[str, tuple[Entity, ...]]:
    """Index every name by its words, and by common short forms."""
    index: dict[str, list[Entity]] = defaultdict(list)
    for name in names:
        for spelling in _spellings(name):
            if spelling and len(spelling) <= MAX_NAME_WORDS:
                found = index[" ".join(map(stem, spelling))]
                # Spellings of one name follow each other, so that the last one decides.
                if not found or found[-1] is not name:
                    found.append(name)
    return {key: tuple(found) for key, found in index.items()}


def _spellings(name: Entity) -> Iterator[tuple[str, ...]]:
    yield name.words
    if name.kind == "topic":
        yield folded_words(name.real)
    if name.kind == "speaker":
        yield folded_words(name.real.translate(UMLAUTS))
        for part in _SEVERAL.split(name.real):
            words = tuple(word for word in folded_words(part) if word not in HONORIFICS)
            if len(words) > 1 or words == name.words:
                yield words
        return
    without = name.words[1:] if name.words[0] in ARTICLES else ()
    if without and _can_stand_alone(without):
        yield without
    undated = name.words
    while undated[1:] and undated[-1].isdecimal():
        undated = undated[:-1]
    if undated != name.words and _can_stand_alone(undated):
        yield undated
    tail = _TAIL.search(name.real)
    head = folded_words(name.real[: tail.start()]) if tail else name.words
    if head != name.words and _can_stand_alone(head):
        yield head
        if head[0] in ARTICLES and _can_stand_alone(head[1:]):
            yield head[1:]


def _can_stand_alone(words: tuple[str, ...]) -> bool:
    content = [word for word in words if word not in FUNCTION_WORDS]
    return len(content) > 1 or any(len(word) > 3 and not word.isdecimal() for word in content)


def _called(speakers: Iterable[Entity]) -> dict[str, tuple[Entity, ...]]:
    """Index speakers by their first and last names."""
    index: dict[str, dict[Entity, None]] = defaultdict(dict)
    for name in speakers:
        for part in _SEVERAL.split(name.real):
            for spelling in (part, part.translate(UMLAUTS)):
                words = [word for word in folded_words(spelling) if word not in HONORIFICS]
                for word in words[:1] + words[-1:]:
                    if len(word) > 1 and word not in FUNCTION_WORDS:
                        index[word][name] = None
    return {key: tuple(found) for key, found in index.items()}


def _lookup(names: tuple[Entity, ...]) -> Lookup:
    by_word: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        for word in name.distinctive_words:
            by_word[word].append(place)
    initials: dict[str, list[str]] = defaultdict(list)
    for word in by_word:
        if MIN_MISSPELLED <= len(word) <= MAX_MISSPELLED and not word.isdecimal():
            initials[word[0]].append(word)
    return Lookup(
        names,
        {word: frozenset(places) for word, places in by_word.items()},
        frozenset(
            [
                word
                for word in FUNCTION_WORDS.intersection(by_word)
                if any(word in _acronyms(names[place].real) for place in by_word[word])
            ]
        ),
        {letter: tuple(sorted(words)) for letter, words in initials.items()},
    )


def _spread(titles: Iterable[Entity], topics: Iterable[Entity]) -> dict[str, int]:
    """Count the documents whose title or headings contain each stem."""
    owners: dict[str, set[str]] = defaultdict(set)
    for name in (*titles, *topics):
        for word in name.distinctive_words:
            owners[word].update(name.documents)
    return {word: len(ids) for word, ids in owners.items()}


def _labels(
    documents: Iterable[Document], labels: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for document in documents:
        own = labels.get(document.document_id, ())
        printed = tuple(map(normalize_query, own)) or _counted_pages(document.pages or 0)
        if printed:
            found[document.document_id] = printed
    return found


def _file_names(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    for document in documents:
        if document.source and not document.source.startswith(("http:", "https:")):
            yield normalize_query(source_name(document.source)), document.document_id


@lru_cache(maxsize=256)  # documents of one length share their labels
def _counted_pages(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, count + 1)))


def _chaptered(headings: Iterable[Heading]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Index chapters by title: their documents and numbers."""
    index: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for heading in headings:
        if len(heading.path) == 1 and heading.chapter:
            index[heading.path[0]].append((heading.document_id, heading.chapter))
    return {title: tuple(dict.fromkeys(found)) for title, found in index.items()}


def _by_value(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    index: dict[str, dict[str, None]] = defaultdict(dict)
    for value, owner in pairs:
        if value:
            index[value][owner] = None
    return {value: tuple(owners) for value, owners in index.items()}

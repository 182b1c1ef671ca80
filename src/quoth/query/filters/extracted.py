"""Values and protocol of the filter extractors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from quoth.core.types import Filter, FilterField
from quoth.query.entity_index import Entity, EntityIndex
from quoth.query.entity_linking import Mention
from quoth.query.tokens import TokenizedQuery

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExtractedFilters:
    """Filters, soft filters and notes extracted from a query.

    ``filters`` were stated explicitly; ``soft_filters`` only lift. ``spans`` are the spans that
    name a source, so that other rules skip them; ``people`` are all speakers named;
    ``names_a_page`` means that a page or slide is named, existing or not. ``within`` are filters
    that hold beside others on the same field: the scene beside its act.
    """

    filters: tuple[Filter, ...] = ()
    soft_filters: tuple[Filter, ...] = ()
    notes: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    people: tuple[Entity, ...] = ()
    names_a_page: bool = False
    within: tuple[Filter, ...] = ()

    def __add__(self, other: ExtractedFilters) -> ExtractedFilters:
        """Concatenate the two."""
        return ExtractedFilters(
            self.filters + other.filters,
            self.soft_filters + other.soft_filters,
            self.notes + other.notes,
            self.spans + other.spans,
            self.people + other.people,
            self.names_a_page or other.names_a_page,
            self.within + other.within,
        )


NOTHING = ExtractedFilters()


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """The collection and conversation that a query refers to.

    ``documents`` are the ids matching the filters so far; ``about_recording`` means that the
    conversation is about a recording, so that a clock time is no time of day.
    """

    entities: EntityIndex
    mentions: tuple[Mention, ...]
    language: str
    documents: tuple[str, ...]
    about_recording: bool = False

    @property
    def is_narrowed(self) -> bool:
        """Return whether filters exclude some documents."""
        return self.documents is not self.entities.everything


Extractor = Callable[[TokenizedQuery, ExtractionContext], ExtractedFilters]
"""Extracts one kind of filter from a query; empty if there are none."""


def restrict_to(field: FilterField, values: Iterable[str]) -> tuple[Filter, ...]:
    """Return a filter that a field is one of these values; empty without values."""
    found = tuple(dict.fromkeys(values))
    return (Filter(field, "in", found),) if found else ()


def bounding_range(field: FilterField, ranges: Sequence[tuple[float, float]]) -> tuple[Filter, ...]:
    """Return the range from the first to the last of several; empty without ranges."""
    if not ranges:
        return ()
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    return (Filter(field, "overlaps", (low, high)),)


def merge_filters(extracted: ExtractedFilters) -> ExtractedFilters:
    """Merge the filters on each field, and drop soft filters where explicit ones exist."""
    fields = dict.fromkeys(filter_.field for filter_ in extracted.filters)
    filters = tuple(_join(field, extracted.filters) for field in fields) + extracted.within
    soft = [filter_ for filter_ in extracted.soft_filters if filter_.field not in fields]
    notes = tuple(dict.fromkeys(extracted.notes))
    return replace(
        extracted, filters=filters, within=(), soft_filters=tuple(dict.fromkeys(soft)), notes=notes
    )


def _join(field: FilterField, filters: Sequence[Filter]) -> Filter:
    same = [filter_ for filter_ in filters if filter_.field == field]
    values = [value for filter_ in same for value in filter_.values]
    if same[0].operator == "in":
        return restrict_to(field, map(str, values))[0]
    numbers = [float(value) for value in values]
    return Filter(field, "overlaps", (min(numbers), max(numbers)))


def documents_within(filters: Sequence[Filter], entities: EntityIndex) -> tuple[str, ...]:
    """Return the documents matching filters on documents, speakers, languages and dates.

    All documents without such filters, or where the filters exclude each other.
    """
    left: Sequence[str] = entities.everything
    for filter_ in filters:
        matching = _matching_documents(filter_, entities)
        if matching is not None:
            left = [id_ for id_ in left if id_ in matching]
    return tuple(left) or entities.everything


def _matching_documents(filter_: Filter, entities: EntityIndex) -> frozenset[str] | None:
    """Return the documents that match a document filter; None for one on their parts."""
    match filter_.field:
        case "document":
            return frozenset(map(str, filter_.values))
        case "speaker" | "language":
            by_value = entities.by_speaker if filter_.field == "speaker" else entities.by_language
            return frozenset(
                id_ for value in filter_.values for id_ in by_value.get(str(value), ())
            )
        case "date":
            low, high = (float(value) for value in filter_.values)
            days = entities.dates.items()
            return frozenset(id_ for id_, (first, last) in days if first <= high and low <= last)
        case _:
            return None

"""What a part of a question was understood to say, and where it says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quoth.core.types import Filter, FilterField
from quoth.query.entity_index import EntityIndex

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExtractedFilters:
    """Conditions, guesses and notes read out of a question.

    ``spans`` are the stretches that name something, so that other rules do not read them too.
    """

    filters: tuple[Filter, ...] = ()
    soft_filters: tuple[Filter, ...] = ()
    notes: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()

    def __add__(self, other: ExtractedFilters) -> ExtractedFilters:
        """Everything that both heard, in this order."""
        return ExtractedFilters(
            self.filters + other.filters,
            self.soft_filters + other.soft_filters,
            self.notes + other.notes,
            self.spans + other.spans,
        )


NOTHING = ExtractedFilters()


def restrict_to(field: FilterField, values: Iterable[str]) -> tuple[Filter, ...]:
    """Give the condition that a field is one of these values; none where there is no value."""
    found = tuple(dict.fromkeys(values))
    return (Filter(field, "in", found),) if found else ()


def bounding_range(field: FilterField, ranges: Sequence[tuple[float, float]]) -> tuple[Filter, ...]:
    """Give the range from the first to the last of several; none where there is none."""
    if not ranges:
        return ()
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    return (Filter(field, "overlaps", (low, high)),)


def merge_filters(heard: ExtractedFilters) -> ExtractedFilters:
    """Join conditions on one field into one, and drop guesses where something is certain."""
    fields = dict.fromkeys(each.field for each in heard.filters)
    filters = tuple([_joined(field, heard.filters) for field in fields])
    boosts = tuple(dict.fromkeys([each for each in heard.soft_filters if each.field not in fields]))
    return ExtractedFilters(filters, boosts, tuple(dict.fromkeys(heard.notes)), heard.spans)


def _joined(field: FilterField, filters: Sequence[Filter]) -> Filter:
    same = [each for each in filters if each.field == field]
    if len(same) == 1:
        return same[0]
    values = [value for each in same for value in each.values]
    if same[0].operator == "in":
        return restrict_to(field, map(str, values))[0]
    numbers = [float(value) for value in values]
    return Filter(field, "overlaps", (min(numbers), max(numbers)))


def documents_within(filters: Sequence[Filter], names: EntityIndex) -> tuple[str, ...]:
    """Give the documents that the conditions on documents, speakers, languages and dates leave.

    All documents where nothing is said about them, or where the conditions exclude each other.
    """
    left: Sequence[str] = names.everything
    for each in filters:
        found = _documents_of(each, names)
        if found is not None:
            left = found if left is names.everything else _both(left, found)
    return tuple(left) or names.everything


def _both(some: Sequence[str], others: Sequence[str]) -> list[str]:
    known = frozenset(others)
    return [each for each in some if each in known]


def _documents_of(condition: Filter, names: EntityIndex) -> Sequence[str] | None:
    """Give the documents that a condition on documents leaves; None for one on their parts."""
    values = condition.values
    match condition.field:
        case "document":
            return [str(each) for each in values if each in names.documents]
        case "speaker":
            return [one for each in values for one in names.by_speaker.get(str(each), ())]
        case "language":
            return [one for each in values for one in names.by_language.get(str(each), ())]
        case "date":
            low, high = (float(each) for each in values)
            days = names.dates.items()
            return [each for each, (first, last) in days if first <= high and low <= last]
        case _:
            return None

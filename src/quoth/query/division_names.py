"""Names of what headings number: "3.5", "article 7", "act 2"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from quoth.core.outline import Heading
from quoth.query.filters.patterns import PatternMatch, find_matches, mapping
from quoth.query.tokens import normalize_query
from quoth.text.numbers import WORDS, number_of

Place = tuple[str, tuple[str, ...]]
"""A document and the titles of a heading's path."""
NUMBERS = ("number", "last", "third", "fourth")
MAX_DIVISIONS = 200
"""Divisions of a range such as "articles 5 to 9"."""

_SECTION_NUMBER = re.compile(r"(?:\w{4,10}\s)?((?:\d{1,3}|[a-z])(?:\.\d{1,3}){1,4})\.?(?!\S)")
_COUNTED = re.compile(
    r"(?:§|[^\W\d_]{3,10}\.?)\s*+(?:n[o°]\S*\s+)?"
    rf"(?:\d|[ADLR]\.?\s?\d|[ivxlc]+\b|premier|(?:{'|'.join(WORDS)})\b)",
    re.I,
)


def numbered_sections(headings: Iterable[Heading]) -> dict[str, tuple[Place, ...]]:
    """Index sections by their dotted number, or as "article 7"."""
    index: dict[str, list[Place]] = defaultdict(list)
    for heading in headings:
        title = heading.path[-1] if heading.path else ""
        found = _SECTION_NUMBER.match(title.casefold())
        for name in [found[1]] if found else divisions_of(title):
            index[name].append((heading.document_id, heading.path))
    return {number: tuple(dict.fromkeys(found)) for number, found in index.items()}


def divisions_of(title: str) -> list[str]:
    """Return the divisions that a title names first, as "article 7"; empty without one."""
    if not _COUNTED.match(title):  # most titles, at once
        return []
    found = find_matches("division", normalize_query(title))
    return division_names(found[0]) if found and not found[0].start else []


def documents_by_kind(sections: Mapping[str, Sequence[Place]]) -> dict[str, frozenset[str]]:
    """Index the kinds of sections: their documents."""
    index: dict[str, set[str]] = defaultdict(set)
    for name, places in sections.items():
        index[division_kind(name)].update(document_id for document_id, _path in places)
    return {kind: frozenset(found) for kind, found in index.items()}


def division_kind(name: str) -> str:
    """Return the word of a division's name, empty for a dotted number."""
    return name.rpartition(" ")[0]


def division_word(match: PatternMatch) -> str:
    """Return the word of a division as it is compared: "article" for "Art."."""
    word = match.groups["word"]
    return str(mapping("divisions").get(word, word))


def division_names(match: PatternMatch) -> list[str]:
    """Return divisions as they are compared: "article 7" for "Art. VII", "article l1233-3"."""
    word = division_word(match)
    given = [match.groups[key] for key in NUMBERS if key in match.groups]
    numbers = [number_of(each) or re.sub(r"[\s.]", "", each) for each in given]
    first, last = numbers[0], numbers[min(1, len(numbers) - 1)]
    if "to" in match.groups and isinstance(first, int) and isinstance(last, int) and first < last:
        numbers[:2] = range(first, min(last, first + MAX_DIVISIONS - 1) + 1)
    return [f"{word} {number}" for number in numbers]

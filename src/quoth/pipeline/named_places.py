"""Places in a document as people name them: a page, a time, a row of a sheet, a section."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quoth.core.errors import InputError, NotFound
from quoth.core.outline import Heading
from quoth.core.translations import languages, translate
from quoth.core.types import Chars, Chunk, Pages, Seconds, SpanLocator
from quoth.ingest.readers.numbered_titles import words_for
from quoth.query.division_names import divisions_of, numbered_sections
from quoth.text.analyzer import normalize_name
from quoth.text.links import TEXT_MARK, find_fragment
from quoth.text.locators import ARROW, format_timestamp

_TIME = re.compile(
    r"≈?(?:(?P<hours>\d{1,4}):)?(?P<minutes>\d{1,3}):(?P<seconds>\d{2})|(?P<only>\d{1,7}) ?s"
)


def _names(*keys: str) -> str:
    """Return how labels name what places are counted in, in every language."""
    names = {translate(f"text.{key}", each, name="") for key in keys for each in languages()}
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_PAGES = _names("page", "pages", "slide", "slides")
_PAGE = re.compile(
    rf"(?P<pdf>(?:(?:{_PAGES}))?pdf[ -])?(?:p\.? ?|{_PAGES})?(?P<first>\w+)(?:[-–](?P<last>\w+))?",
    re.I,
)
_CHARS = re.compile(
    r"(?P<exact>characters? |chars? |caractères? )?(?P<start>\d{1,12})[-–](?P<end>\d{1,12})", re.I
)
_KINDS = ("line", "row", "cell", "message")
_UNITS = rf"(?:{_names(*_KINDS, *(f'{kind}s' for kind in _KINDS))})"
_LINES = re.compile(
    rf"(?:(?P<section>.+?)(?: ▸)? (?={_UNITS}))?(?:{_UNITS}|L)?"
    r"(?P<first>\d{1,9})(?:[-–]L?(?P<last>\d{1,9}))?",
    re.I,
)
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,3}")

Span = tuple[int, int]


def find_place(
    chunks: Sequence[Chunk], place: str, *, headings: Sequence[Heading]
) -> tuple[Span, bool]:
    """Return the characters of a place in a document, and whether they are all of it.

    A moment or a range of characters lies within more; a page and a section are shown whole.
    Raises NotFound, and InputError for a row that several sheets have.
    """
    spots = [spot for chunk in chunks for spot in chunk.places]
    place, _, quoted = place.partition(TEXT_MARK)
    on = _at_anchor(spots, place)
    if quoted and (words := _quoted_words(chunks, quoted, below=on, has_anchor=place != "")):
        return words, False
    if on:
        return on, True
    place = place.strip()
    time, chars = _TIME.fullmatch(place), _CHARS.fullmatch(place)
    page, lines = _PAGE.fullmatch(place), _LINES.fullmatch(place)
    kind = chunks[0].locator.kind
    if time is not None and kind == "seconds":
        return _at_time(spots, time), False
    if page is not None and kind == "pages":
        found = _on_pages(spots, page)
        if found is not None:
            return found, True
    if lines is not None and chars is not None and any(map(_is_counted, spots)):
        chars = None
    if chars is not None and (chars["exact"] or kind != "pages"):
        start, end = int(chars["start"]), int(chars["end"])
        if start < end <= chunks[-1].end:
            return (start, end), False
    section = _in_section(chunks, place, headings=headings)
    if section is None and (paragraph := _numbered_paragraph(chunks, place)):
        return paragraph, False
    if section is None and lines is not None and (found := _on_lines(spots, lines)):
        return found, False
    if section is None:
        raise NotFound(
            f"There is no '{place}' in it. Give a page, a time, a line, characters such as "
            "'characters 100-250', or the title of a section."
        )
    return section, True


def _at_anchor(spots: Sequence[SpanLocator], place: str) -> Span | None:
    """Return what stands below an anchor such as "#fees", None without one."""
    if not place.startswith("#"):
        return None
    on = [spot for spot in spots if getattr(spot.locator, "anchor", None) == place[1:]]
    return (on[0].start, on[-1].end) if on else None


def _quoted_words(
    chunks: Sequence[Chunk], quoted: str, *, below: Span | None, has_anchor: bool
) -> Span | None:
    """Return the first characters from some words to others that `text_fragment` has named.

    They are looked for ``below`` the anchor first. Raises NotFound where they are gone and the link
    has no anchor.
    """
    first = chunks[0].start
    text = "".join(chunk.text for chunk in chunks)
    found = find_fragment(text, quoted, start=below[0] - first if below else 0)
    if found is None and not has_anchor:
        raise NotFound("The words that the link quotes are not in it.")
    return found and (first + found[0], first + found[1])


def _at_time(spots: Sequence[SpanLocator], time: re.Match[str]) -> Span:
    at = int(time["only"] or 0) or (
        3600 * int(time["hours"] or 0) + 60 * int(time["minutes"] or 0) + int(time["seconds"] or 0)
    )
    timed = [(spot, spot.locator) for spot in spots if isinstance(spot.locator, Seconds)]
    # A link names the whole second in which a cue begins.
    on = [spot for spot, cue in timed if int(cue.start) == at]
    on = on or [spot for spot, cue in timed if at < cue.end]
    if on:
        return on[0].start, on[0].end
    last = timed[-1][1].end if timed else 0.0
    raise NotFound(f"There is no {format_timestamp(at)}: it ends at {format_timestamp(last)}.")


def _on_pages(spots: Sequence[SpanLocator], page: re.Match[str]) -> Span | None:
    first, last = (name.casefold() for name in (page["first"], page["last"] or page["first"]))
    paged = [(spot, spot.locator) for spot in spots if isinstance(spot.locator, Pages)]

    def numbers(name: str) -> set[int]:
        labels = {at.first for _spot, at in paged if at.label_first.casefold() == name}
        if labels and not page["pdf"]:
            return labels
        return {int(name)} if name.isdecimal() else set()

    low, high = min(numbers(first), default=None), max(numbers(last), default=None)
    if low is None or high is None:
        return None
    on = [spot for spot, at in paged if low <= at.first <= high]
    return (on[0].start, on[-1].end) if on else None


def _is_counted(spot: SpanLocator) -> bool:
    """Return whether a place is one of lines, rows or cells that the source counts."""
    at = spot.locator
    return isinstance(at, Chars) and at.label_first.isdecimal() and at.label_last.isdecimal()


def _on_lines(spots: Sequence[SpanLocator], lines: re.Match[str]) -> Span | None:
    """Return what stands on lines, rows or cells that the source counts, None where it has none.

    Raises InputError for a row that several sheets have.
    """
    first, last = int(lines["first"]), int(lines["last"] or lines["first"])
    wanted = normalize_name(lines["section"] or "")
    on: list[SpanLocator] = []
    sheets: dict[str, None] = {}
    for spot in spots:
        at = spot.locator
        if not isinstance(at, Chars) or not _is_counted(spot):
            continue
        section = normalize_name(at.section or "")
        is_wanted = wanted in ("", section, section.rpartition(ARROW)[2])
        if is_wanted and int(at.label_first) <= last and first <= int(at.label_last):
            on.append(spot)
            sheets |= {at.section: None} if at.unit == "row" and at.section else {}
    if len(sheets) > 1:
        raise InputError(
            f"Several parts have it: {', '.join(sheets)}. Name one, such as "
            f"'{next(iter(sheets))} row {first}'."
        )
    if not on and not wanted:
        on = _next_line(spots, after=last)
    return (on[0].start, on[-1].end) if on else None


def _next_line(spots: Sequence[SpanLocator], *, after: int) -> list[SpanLocator]:
    """Return the first line with text behind an empty one, none behind the last."""
    lines = ((each, each.locator) for each in spots if isinstance(each.locator, Chars))
    later = (spot for spot, at in lines if at.unit == "line" and int(at.label_first) > after)
    return [*later][:1]


def _numbered_paragraph(chunks: Sequence[Chunk], place: str) -> Span | None:
    """Return the paragraph that begins with a number such as "13.2", None without one."""
    if _DOTTED.fullmatch(place) is None:
        return None
    text = "".join(chunk.text for chunk in chunks)
    begun = re.search(rf"^[ \t]*({re.escape(place)}\b(?!\.\d).*)", text, re.MULTILINE)
    return begun and (chunks[0].start + begun.start(1), chunks[0].start + begun.end(1))


def _in_section(chunks: Sequence[Chunk], place: str, *, headings: Sequence[Heading]) -> Span | None:
    name = normalize_name(place)
    prefixes = (f"{word} " for word in words_for("chapters"))
    chapter = name.removeprefix(next(filter(name.startswith, prefixes), ""))
    titles = [(normalize_name(each.path[-1]), each) for each in headings if each.path]
    found = [each for title, each in titles if title == name]
    found = found or [each for each in headings if each.chapter == chapter != ""]
    found = found or _named_division(place, headings)
    found = found or [each for title, each in titles if name and name in title]
    if not found:
        return None
    least = min(found, key=lambda each: len(each.path))
    held = [
        chunk
        for chunk in chunks
        if least.first <= chunk.ordinal <= least.last
        and chunk.section[: len(least.path)] == least.path
    ]
    held = held or [each for each in chunks if least.first <= each.ordinal <= least.last]
    return held[0].start, held[-1].end


def _named_division(place: str, headings: Sequence[Heading]) -> list[Heading]:
    """Return the headings of a division however it is written: "article 2" for "ARTICLE II"."""
    paths = {
        path
        for name in divisions_of(place)
        for _id, path in numbered_sections(headings).get(name, ())
    }
    return [each for each in headings if each.path in paths]

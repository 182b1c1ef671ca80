"""The set of `quoth eval understanding` as files: a made shelf, and annotated questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from quoth.core.errors import InputError
from quoth.core.outline import CollectionOutline, Heading
from quoth.core.types import (
    Document,
    FilterField,
    QueryKind,
    Turn,
)
from quoth.evaluation.jsonl import (
    HELD_OUT,
    Row,
    locate_rows,
    objects,
    read_object,
    read_rows,
    require_ids,
    text,
    texts,
)
from quoth.text.numbers import from_roman, to_roman

SHELF = "shelf.json"
BOOK, LABELS, HOUR_S = "made: book", tuple(map(str, range(1, 1001))), 3600.0
"""The book that is made for questions without documents, its labels, and the length of talks."""
KINDS: tuple[str, ...] = get_args(QueryKind)
FIELDS: tuple[str, ...] = get_args(FilterField)


@dataclass(frozen=True, slots=True)
class ExpectedFilter:
    """An expected filter; a number None is an open end of a range."""

    field: str
    values: tuple[str, ...] | tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Expected:
    """A question and how a person understands it.

    ``filters`` are lists of filters of which each would be right; ``kinds`` likewise. ``lifts``
    are guesses that shall lift what they match and filter nothing.
    """

    id: str
    text: str
    kinds: tuple[str, ...]
    language: str
    filters: tuple[tuple[ExpectedFilter, ...], ...]
    history: tuple[Turn, ...] = ()
    is_followup: bool = False
    aspects: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    lifts: tuple[ExpectedFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class UnderstandingSet:
    """The shelf that the questions refer to, its printed page labels by document, and they.

    ``split`` names the part of the set.
    """

    shelf: CollectionOutline
    labels: Mapping[str, tuple[str, ...]]
    questions: tuple[Expected, ...]
    split: str = HELD_OUT


def load_understanding(folder: Path, *, split: str | None = None) -> UnderstandingSet:
    """Read the questions of a folder, and ``shelf.json`` where it is; raises InputError.

    Without that file the questions stand alone: they are taken to be about a book and a talk, and
    about the documents, speakers and chapters that their filters name.
    """
    split, paths = locate_rows(folder, split)
    found = [pair for path in paths for pair in read_rows(path)]
    rows = tuple(_expected(row, at, number=number) for number, (row, at) in enumerate(found, 1))
    path = paths[0] if len(paths) == 1 else folder
    if not rows:
        raise InputError(f"{path} holds no question.")
    require_ids((row.id, at) for row, (_, at) in zip(rows, found, strict=True))
    if not (folder / SHELF).is_file():
        return UnderstandingSet(_made_outline(rows), {BOOK: LABELS}, rows, split)
    shelf, labels = _shelf(folder / SHELF)
    known = {each.document_id for each in shelf.documents}
    for each in rows:
        for condition in (
            c for one in (*each.filters, each.lifts) for c in one if c.field == "document"
        ):
            if unknown := set(condition.values) - known:
                raise InputError(f"{path} names {sorted(map(str, unknown))}, not on the shelf.")
    return UnderstandingSet(shelf, labels, rows, split)


def _made_outline(questions: Sequence[Expected]) -> CollectionOutline:
    """Return the outline of a book, a talk, and the documents that questions name.

    The ids of the others are no names of documents.
    """
    named: dict[str, dict[str, None]] = {"document": {}, "speaker": {}, "chapter": {}}
    for each in questions:
        for condition in (c for one in (*each.filters, each.lifts) for c in one):
            named.setdefault(condition.field, {}).update(dict.fromkeys(map(str, condition.values)))
    talks = [Document(f"made: of {name}", "", "transcript", "ready", speaker=name, seconds=HOUR_S)
             for name in named["speaker"]]  # fmt: skip
    return CollectionOutline(
        version="made",
        languages=tuple(dict.fromkeys(each.language for each in questions)),
        documents=(
            Document(BOOK, "", "pdf", "ready", pages=len(LABELS)),
            Document("made: talk", "", "transcript", "ready", seconds=HOUR_S),
            *talks,
            *(Document(name, name, "pdf", "ready") for name in named["document"]),
        ),
        headings=tuple(
            Heading(BOOK, (f"Chapter {name}",), at, at, chapter=name)
            for at, name in enumerate(named["chapter"])
        ),
    )


def _shelf(path: Path) -> tuple[CollectionOutline, dict[str, tuple[str, ...]]]:
    row, at = read_object(path), str(path)
    try:
        shelf = CollectionOutline(
            version=text(row, "version", at),
            languages=texts(row, "languages", at),
            documents=tuple(
                Document(**{"status": "ready", **_known(each, Document, at)})
                for each in objects(row, "documents", at)
            ),
            headings=tuple(
                Heading(**{**_known(each, Heading, at), "path": texts(each, "path", at)})
                for each in objects(row, "headings", at)
            ),
        )
    except TypeError as error:
        raise InputError(f"{path} lacks a field of a document or heading: {error}.") from None
    runs = row.get("labels", {})
    if not isinstance(runs, dict):
        raise InputError(f"{path} needs an object under 'labels'.")
    return shelf, {key: tuple(_labels(texts(runs, key, at), at)) for key in runs}


def _known(row: Row, kind: type, at: str) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    if unknown := row.keys() - names:
        raise InputError(f"{at} has {sorted(unknown)}, which is no field of a {kind.__name__}.")
    return dict(row)


def _labels(runs: tuple[str, ...], at: str) -> list[str]:
    """Spell runs of page labels out: "i-iii" and "1-4" are seven labels."""
    found: list[str] = []
    for run in runs:
        first, _, last = run.partition("-")
        if first.isdecimal() and last.isdecimal():
            found += map(str, range(int(first), int(last) + 1))
        elif from_roman(first) and from_roman(last):
            found += map(to_roman, range(from_roman(first), from_roman(last) + 1))
        else:
            raise InputError(f"{at} has the labels '{run}'. Write a run such as i-xvi or 1-404.")
    return found


def _expected(row: Row, at: str, *, number: int) -> Expected:
    kind = text(row, "kind", at)
    kinds = (kind, *texts(row, "also_kinds", at))
    if unknown := set(kinds) - set(KINDS):
        raise InputError(f"{at} has the kind {sorted(unknown)[0]!r}; the kinds are {KINDS}.")
    filters = tuple(_condition(each, at) for each in objects(row, "filters", at))
    also = row.get("also", [])
    if not isinstance(also, list):
        raise InputError(f"{at} needs a list of lists of filters under 'also'.")
    others = (
        tuple(_condition(each, at) for each in objects({"also": one}, "also", at)) for one in also
    )
    history = tuple(
        Turn(text(turn, "question", at), text(turn, "answer", at, empty=True))
        for turn in objects(row, "history", at)
    )
    return Expected(
        id=text(row, "id", at) if "id" in row else str(number),
        text=text(row, "text", at),
        kinds=kinds,
        language=text(row, "language", at),
        filters=(filters, *others),
        history=history,
        is_followup=row.get("is_followup") is True,
        aspects=texts(row, "aspects", at),
        tags=texts(row, "tags", at),
        lifts=tuple(_condition(each, at) for each in objects(row, "lifts", at)),
    )


def _condition(row: Row, at: str) -> ExpectedFilter:
    field = text(row, "field", at)
    if field not in FIELDS:
        raise InputError(f"{at} filters by '{field}'; the fields are {', '.join(FIELDS)}.")
    operator, values = text(row, "operator", at), row.get("values")
    if operator == "in":
        return ExpectedFilter(field, texts(row, "values", at))
    if (
        operator != "overlaps"
        or not isinstance(values, list)
        or len(values) != 2
        or not all(each is None or isinstance(each, int | float) for each in values)
    ):
        raise InputError(
            f"{at} has a filter that is none: 'in' takes texts, 'overlaps' two numbers (null for "
            "an open end)."
        )
    return ExpectedFilter(field, (values[0], values[1]))

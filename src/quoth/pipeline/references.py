"""Documents and citations by what people call them: a short id, a title, a file name."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.errors import InputError, NotFound
from quoth.core.types import Document
from quoth.store.blobs import source_name
from quoth.store.catalogue import Catalogue
from quoth.text.analyzer import normalize_name

LISTED = 5
"""Candidates that are named where a reference fits several."""
SHORTEST = 4
"""Characters of an id from which its beginning stands for it."""


def documents_in(catalogue: Catalogue, collection: str) -> list[Document]:
    """List the documents of a collection: ready ones, then failed and pending ones.

    Raises NotFound for an unknown collection, unless the library is new.
    """
    found = catalogue.find_collection(collection)
    if found is None and not catalogue.collections():
        return []
    return catalogue.documents(found or catalogue.collection(collection))


def find_document(documents: Sequence[Document], given: str, *, whole: bool = False) -> Document:
    """Return the document of an id, the beginning of one, a title, a file name or part of a title.

    With ``whole`` a part of a title is not enough. Raises NotFound, and InputError naming the
    candidates where several fit.
    """
    name, key = normalize_name(given), given.strip().casefold()
    same = [each for each in documents if each.document_id == key]
    same = same or [each for each in documents if name and normalize_name(each.title) == name]
    same = same or [each for each in documents if source_name(each.source) == given]
    if not same and len(key) >= SHORTEST:
        same = [each for each in documents if each.document_id.startswith(key)]
    parts = [each for each in documents if name and name in normalize_name(each.title)]
    if not same and not whole:
        same = parts
    if len(same) == 1:
        return same[0]
    if same:
        raise InputError(f"'{given}' fits several documents. Give one of these ids:{_list(same)}")
    near = f" Is it one of these?{_list(parts)}" if parts else " See: quoth list"
    raise NotFound(f"There is no document '{given}'.{near}")


def _list(documents: Sequence[Document]) -> str:
    lines = [f"\n  {each.document_id}  {each.title}" for each in documents[:LISTED]]
    more = len(documents) - LISTED
    return "".join(lines) + (f"\n  and {more} more" if more > 0 else "")

"""Find the passages of a collection that hold a text."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from quoth.core.types import Chunk
from quoth.pipeline.components import Components
from quoth.store.catalogue import Catalogue
from quoth.store.rows import Collection
from quoth.text.analyzer import normalize_name

LIKELY = 50
"""Passages that the keyword index names first, among which a quoted text nearly always is."""
SLACK = 200
"""Characters searched for a text, added to twice its length, so that more white space fits."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """The chunks that hold a text, up to `LIKELY`.

    ``exact`` is false if none does and these only share the most words with it.
    """

    chunks: tuple[Chunk, ...]
    exact: bool


async def holding(text: str, *, parts: Components, collection: Collection) -> TextMatch:
    """Find the chunks that hold a text, case, accents and white space aside.

    A text that runs over the end of a chunk is held by both. Where none holds it, those that
    the keyword index ranks best for it are given. All texts are read when the index does not
    point there, which takes half a second for nine thousand chunks.
    """
    needle = normalize_name(text)
    catalogue = parts.catalogue
    languages = await asyncio.to_thread(catalogue.languages, collection)
    index = parts.open_index(collection.table)
    ranked = await index.match(text, languages=languages, limit=LIKELY)
    there = await asyncio.to_thread(catalogue.chunks, [key for key, _score in ranked])
    likely = [there[key] for key, _score in ranked if key in there]
    found = [each for each in likely if needle in normalize_name(each.text)]
    if not found:
        found = await asyncio.to_thread(_scan, needle, catalogue, collection)
    return TextMatch(tuple(found), exact=True) if found else TextMatch(tuple(likely), False)


def _scan(needle: str, catalogue: Catalogue, collection: Collection) -> list[Chunk]:
    """Read all texts in order, until `LIKELY` chunks hold the needle, alone or with the next."""
    found: dict[str, None] = {}
    reach = 2 * len(needle) + SLACK
    last, end, held = ("", ""), "", False
    for chunk_id, document_id, text in catalogue.texts(collection):
        held_before, held = held, needle in normalize_name(text)
        if held:
            found[chunk_id] = None
        elif (
            last[1] == document_id
            and not held_before
            and needle in normalize_name(end + text[:reach])
        ):
            found |= {last[0]: None, chunk_id: None}
        last, end = (chunk_id, document_id), text[-reach:]
        if len(found) >= LIKELY:
            break
    there = catalogue.chunks(list(found))
    return [there[key] for key in found if key in there]

"""Cache of collection outlines, read once per collection version."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from cachetools import LRUCache

from quoth.core.outline import CollectionOutline
from quoth.query.entity_index import EntityIndex, build_entity_index
from quoth.store.catalogue import Catalogue
from quoth.store.rows import Collection

MAX_ENTRIES = 8
"""Maximum number of cached look-ups, one per set of collections and version."""


class OutlineCache:
    """Outlines of one catalogue's collections, with their look-up tables."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._names: LRUCache[tuple[str, ...], EntityIndex] = LRUCache(MAX_ENTRIES)
        self._alone = Lock()  # queries are analysed in threads

    def read(
        self, names: Sequence[str]
    ) -> tuple[list[tuple[Collection, CollectionOutline]], EntityIndex]:
        """Return the named collections with their outlines; raises NotFound."""
        found = []
        for name in names:
            collection, _languages = self._catalogue.collection_and_languages(name)
            found.append((collection, self._catalogue.collection_outline(collection)))
        return found, self._look_up(found)

    def _look_up(self, found: Sequence[tuple[Collection, CollectionOutline]]) -> EntityIndex:
        versions = tuple(f"{each.id} {outline.version}" for each, outline in found)
        with self._alone:
            names = self._names.get(versions)
            if names is None:
                labels = {}
                for collection, _shelf in found:
                    labels.update(self._catalogue.labels(collection))
                names = build_entity_index(
                    _merge_outlines([outline for _, outline in found]), labels=labels
                )
                self._names[versions] = names
        return names


def _merge_outlines(outlines: Sequence[CollectionOutline]) -> CollectionOutline:
    """Merge outlines into one, for queries over several collections."""
    if len(outlines) == 1:
        return outlines[0]
    return CollectionOutline(
        version=" ".join(outline.version for outline in outlines),
        languages=tuple(
            dict.fromkeys(language for outline in outlines for language in outline.languages)
        ),
        documents=tuple(document for outline in outlines for document in outline.documents),
        headings=tuple(heading for outline in outlines for heading in outline.headings),
    )

"""What the collections hold by name, read once for each of their versions."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from quoth.core.outline import Shelf
from quoth.query.entity_index import Names, read_names
from quoth.store.catalogue import Catalogue
from quoth.store.rows import Collection

KEPT = 8
"""Look-ups kept; each serves one set of collections at one version."""


class Shelves:
    """The shelves of one catalogue, and the look-ups made of them."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._names: dict[tuple[str, ...], Names] = {}
        self._alone = Lock()  # questions read in threads

    def read(self, names: Sequence[str]) -> tuple[list[tuple[Collection, Shelf]], Names]:
        """Give the collections of these names with their shelves; raises NotFound."""
        found = []
        for name in names:
            collection, _languages = self._catalogue.scope(name)
            found.append((collection, self._catalogue.shelf(collection)))
        return found, self._look_up(found)

    def _look_up(self, found: Sequence[tuple[Collection, Shelf]]) -> Names:
        versions = tuple(f"{each.id} {shelf.version}" for each, shelf in found)
        with self._alone:
            names = self._names.get(versions)
            if names is None:
                labels = {}
                for collection, _shelf in found:
                    labels.update(self._catalogue.labels(collection))
                names = read_names(_one([shelf for _, shelf in found]), labels=labels)
                while len(self._names) >= KEPT:
                    self._names.pop(next(iter(self._names)))
                self._names[versions] = names
        return names


def _one(shelves: Sequence[Shelf]) -> Shelf:
    """Make one shelf of several, as a question to several collections sees them."""
    if len(shelves) == 1:
        return shelves[0]
    return Shelf(
        version=" ".join(each.version for each in shelves),
        languages=tuple(dict.fromkeys(one for each in shelves for one in each.languages)),
        documents=tuple(one for each in shelves for one in each.documents),
        headings=tuple(one for each in shelves for one in each.headings),
    )

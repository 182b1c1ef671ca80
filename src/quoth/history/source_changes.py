"""Which sources of a stored answer have changed since: their documents were updated or removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urldefrag

from quoth.core.errors import NotFound
from quoth.core.types import Answer, Chars, Citation
from quoth.store.catalogue import Catalogue
from quoth.store.document_list import DocumentLists
from quoth.text.links import link
from quoth.text.locators import cited_end


@dataclass(frozen=True, slots=True)
class ChangedSource:
    """A citation, by its number, whose document was updated or removed since the answer.

    The citation keeps the words of the version that it was made from.
    """

    number: int
    change: Literal["updated", "removed"]


def changed_sources(catalogue: Catalogue, answer: Answer) -> list[ChangedSource]:
    """Return the citations whose document is not there any more as it was cited.

    One whose words are where they were in the document that replaced its own is there. A document
    is updated where one from the same source, or of the same name, has taken its place.
    """
    there = DocumentLists.of(catalogue)
    gone = [each for each in answer.citations if _is_gone(there, each)]
    names = _names(catalogue) if gone else frozenset()
    return [
        ChangedSource(
            citation.number,
            "removed"
            if names.isdisjoint({citation.document_name, urldefrag(citation.link or " ").url})
            else "updated",
        )
        for citation in gone
    ]


def _is_gone(there: DocumentLists, citation: Citation) -> bool:
    try:
        there.present(citation.document_id, end=cited_end(citation))
    except NotFound:
        return True
    return False


def _names(catalogue: Catalogue) -> frozenset[str | None]:
    """Return the titles and addresses of the documents that are there."""
    return frozenset(
        name
        for collection in catalogue.collections()
        for document in catalogue.documents(collection)
        if document.status == "ready"
        for name in (
            document.title,
            link(Chars(0, 0), document),
        )
    )

"""What a model for pictures of pages must do, and who draws the pages for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from quoth.core.protocols import Matrix
from quoth.core.types import Filter, Scored


@dataclass(frozen=True, slots=True)
class PictureShape:
    """The picture of a page that a model wants, in pixels.

    The page is stretched to it; with ``shorter`` its shorter side is drawn that long, and the
    middle is cut out.
    """

    width: int
    height: int
    shorter: int | None = None


class PageEmbedder(Protocol):
    """Converts pictures of pages, and texts, into unit vectors of one space.

    ``revision`` identifies the model's files; vectors of two revisions are not compared.
    """

    name: str
    shape: PictureShape

    @property
    def revision(self) -> str:
        """Return what identifies the model's content; blocks at first."""
        ...

    async def embed_pages(self, pictures: Sequence[bytes]) -> Matrix:
        """Return one unit row per picture of ``shape``; raises EmbeddingError.

        A picture is its pixels row by row, a byte each of red, green and blue.
        """
        ...

    async def embed_query(self, query: str) -> Matrix:
        """Return the unit vector of a text; raises EmbeddingError."""
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...


class PagePictures(Protocol):
    """Draws pages of documents, also of those that are just being added."""

    async def draw(
        self, document_id: str, pages: Sequence[int], *, shape: PictureShape
    ) -> dict[int, bytes]:
        """Return the pages that can be drawn, by their numbers from 1."""
        ...


@runtime_checkable
class PageIndex(Protocol):
    """An index that also holds the vectors of the pages on which its chunks stand."""

    async def match_pages(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by the best of their pages; raises RetrievalError."""
        ...

    async def pictured_documents(self) -> Mapping[str, int]:
        """Return the number of chunks with vectors of pages per document."""
        ...

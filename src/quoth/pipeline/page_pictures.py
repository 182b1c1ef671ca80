"""Pictures of the pages of documents, for a model that reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from quoth.core.errors import DocumentError
from quoth.core.page_images import PictureShape
from quoth.ingest.sandbox.parent import PdfPages
from quoth.store.blobs import Blobs, source_path
from quoth.store.catalogue import Catalogue


class DocumentPictures:
    """Draws pages of a tenant's PDF files and pictures in the sandbox; a `PagePictures`."""

    def __init__(self, catalogue: Catalogue, blobs: Blobs, pages: PdfPages) -> None:
        self._catalogue = catalogue
        self._blobs = blobs
        self._pages = pages

    async def draw(
        self, document_id: str, pages: Sequence[int], *, shape: PictureShape
    ) -> dict[int, bytes]:
        """Return the pages that can be drawn, by their numbers from 1.

        Those of other files, and of files that are gone, cannot. They are drawn one by one, so that
        readers of pages wait for one at most.
        """
        drawn: dict[int, bytes] = {}
        path = await asyncio.to_thread(self._file, document_id) if pages else None
        if path is None:
            return drawn
        for page in pages:
            with suppress(DocumentError):
                drawn[page] = await self._pages.pixels(path, page=page, shape=shape)
        return drawn

    def _file(self, document_id: str) -> Path | None:
        source = self._catalogue.source_of_document(document_id)
        path = None if source is None else self._blobs.original(source) or source_path(source)
        return path if path is not None and path.is_file() else None

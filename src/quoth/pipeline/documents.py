"""The half of the engine that changes its documents, and checks them.

What only documents need is imported where they are added or removed: a query waits for none of it.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quoth.core.custom_metadata import check_metadata
from quoth.core.errors import IndexMismatch, NotFound
from quoth.core.types import Document, Usage
from quoth.pipeline.budget import MeteredEmbedder, UsageMeter
from quoth.pipeline.components import Components, components_of, make_collection
from quoth.pipeline.egress import require_egress
from quoth.store.blobs import clean_name
from quoth.store.rows import Collection

if TYPE_CHECKING:
    from quoth.pipeline.commit import IngestProgress
    from quoth.pipeline.given_metadata import DocumentMetadata
    from quoth.pipeline.maintain import Health

log = logging.getLogger("quoth.documents")


class DocumentEngine:
    """Adds, removes and checks the documents of one library.

    ``embedded`` counts what a provider charged for embedding documents.
    """

    def __init__(self, parts: Components) -> None:
        self.parts = parts
        self.embedded = UsageMeter()

    async def add(
        self,
        sources: Sequence[Path],
        *,
        given: DocumentMetadata | None = None,
        collection: str | None = None,
    ) -> AsyncGenerator[Document | IngestProgress, None]:
        """Add files and folders; yields progress, and each document once its outcome is known.

        Raises InputError for a title or a URL that several files would have.
        """
        from quoth.pipeline.add import add_documents
        from quoth.pipeline.commit import IngestProgress
        from quoth.pipeline.given_metadata import DocumentMetadata
        from quoth.pipeline.maintain import copy_chunks, reconcile

        about = (given or DocumentMetadata()).cleaned()
        await asyncio.to_thread(about.require_one_file, sources)
        name = collection or self.parts.settings.collection
        if await asyncio.to_thread(self.parts.catalogue.find_collection, name) is None:
            await asyncio.to_thread(require_egress, self.parts)
        found = await asyncio.to_thread(make_collection, self.parts, name)
        parts = await asyncio.to_thread(components_of, self.parts, found)
        await asyncio.to_thread(require_egress, parts)
        with self._charged(parts) as parts:
            for key in await reconcile(parts, found):
                async for at, of in copy_chunks(parts, found.table, document_id=key):
                    yield IngestProgress(key, 0, 0, at, of, own=(at, of))
            steps = add_documents(parts, found, sources=sources, given=about)
            async with aclosing(steps):
                async for step in steps:
                    yield step

    async def add_data(
        self,
        data: bytes,
        *,
        name: str,
        given: DocumentMetadata | None = None,
        collection: str | None = None,
    ) -> AsyncGenerator[Document | IngestProgress, None]:
        """Add the content of a file of this name as `add` does; the library keeps a copy of it."""
        from quoth.pipeline.given_metadata import DocumentMetadata
        from quoth.pipeline.uploads import keep_data

        path = await asyncio.to_thread(keep_data, self.parts, data, name=name)
        given = replace(given or DocumentMetadata(), name=clean_name(name))
        async with aclosing(self.add([path], given=given, collection=collection)) as steps:
            async for step in steps:
                yield step

    async def settle(
        self, say: Callable[[str], None] = lambda _line: None, *, collection: str | None = None
    ) -> bool:
        """Build what makes a large index quick to search where it is missing; True if built."""
        found = await self._collection(collection)
        parts = await asyncio.to_thread(components_of, self.parts, found)
        index = parts.open_index(found.table)
        if not await index.needs_build():
            return False
        say("Building the index for searching.")
        return await index.build()

    async def documents(self, *, collection: str | None = None) -> list[Document]:
        """List documents: ready ones, then failed and pending ones.

        Raises NotFound for an unknown collection, unless the library is new.
        """
        from quoth.pipeline.uploads import documents_in

        name = collection or self.parts.settings.collection
        return await asyncio.to_thread(documents_in, self.parts.catalogue, name)

    async def set_metadata(
        self,
        document_id: str,
        metadata: Mapping[str, object],
        *,
        collection: str | None = None,
    ) -> Document:
        """Replace the custom metadata of a ready document; nothing is read or embedded again.

        Raises NotFound, and InputError for what is no metadata.
        """
        custom = check_metadata(metadata)
        found, catalogue = await self._collection(collection), self.parts.catalogue

        def change() -> Document:
            known = catalogue.documents_by_id(found, [document_id]).get(document_id)
            if known is None:
                raise NotFound(f"There is no document with the id '{document_id}'.")
            catalogue.set_metadata(found, document_id, custom)
            return replace(known, metadata=custom)

        return await asyncio.to_thread(change)

    async def remove(self, ids: Sequence[str], *, collection: str | None = None) -> list[str]:
        """Delete documents with their uploaded files; return the ids found."""
        from quoth.pipeline.maintain import remove
        from quoth.pipeline.remote import forget_mirrored
        from quoth.pipeline.uploads import forget_documents

        found = await self._collection(collection)
        possible = [each for each in ids if each.isascii()]
        there = await asyncio.to_thread(self.parts.catalogue.documents_by_id, found, possible)
        gone = await remove(await self._parts_of(found), found, ids=ids)
        await asyncio.to_thread(forget_documents, self.parts, gone)
        await forget_mirrored(self.parts, found.name, [each.source for each in there.values()])
        return gone

    async def remove_gone(
        self, folders: Sequence[Path], *, collection: str | None = None, fetched: bool = False
    ) -> list[Document]:
        """Remove and return the documents whose file is gone from folders.

        ``fetched`` includes pages of the web that are gone. Raises InputError for a folder that is
        missing or empty as a whole: a disk that was unmounted has not lost its files.
        """
        from quoth.pipeline.remote import mirror_folder
        from quoth.pipeline.sync import check_folder, gone_documents

        there = await self.documents(collection=collection)
        own = [each for folder in folders for each in gone_documents(there, folder=folder)]
        if own:
            for folder in folders:
                check_folder(folder, self.parts.settings, collection=collection or "")
        mirror = mirror_folder(self.parts, collection or self.parts.settings.collection)
        gone = [*own, *(gone_documents(there, folder=mirror) if fetched else ())]
        if gone:
            await self.remove([each.document_id for each in gone], collection=collection)
        return gone

    async def remove_collection(self, name: str) -> None:
        """Delete a collection with its documents and its queries."""
        from quoth.pipeline.maintain import delete_collection
        from quoth.pipeline.remote import mirror_folder
        from quoth.pipeline.uploads import forget_documents

        found = await self._collection(name)
        gone = await delete_collection(await self._parts_of(found), found)
        await asyncio.to_thread(forget_documents, self.parts, gone)
        await asyncio.to_thread(shutil.rmtree, mirror_folder(self.parts, name), ignore_errors=True)

    async def reindex(
        self, *, collection: str | None = None, change_embedder: bool = False
    ) -> AsyncIterator[IngestProgress]:
        """Rebuild the index next to the active one, then switch.

        The embedder is the index's own, or the engine's with ``change_embedder`` and where the
        index's cannot be opened.
        """
        from quoth.pipeline.maintain import rebuild

        found = await self._collection(collection)
        parts = self.parts if change_embedder else await self._parts_of(found)
        await asyncio.to_thread(require_egress, parts)
        with self._charged(parts) as parts:
            async for step in rebuild(parts, found):
                yield step

    async def drop_old(self, *, collection: str | None = None) -> bool:
        """Remove the index of the embedder before; False where none is kept."""
        from quoth.pipeline.maintain import drop_kept

        found = await self._collection(collection)
        return await drop_kept(self.parts, found)

    async def health(self, *, collection: str | None = None) -> Health:
        """Check configuration, catalogue and index."""
        from quoth.pipeline.maintain import health_check

        found = await self._find(collection)
        parts = self.parts if found is None else await self._parts_of(found)
        return await health_check(parts, found)

    @contextmanager
    def _charged(self, parts: Components) -> Iterator[Components]:
        """Return components that count what a provider charges for embedding; it is logged."""
        meter = UsageMeter()
        try:
            yield replace(parts, embedder=MeteredEmbedder(parts.embedder, meter))
        finally:
            for stage, used in meter.total.stages.items():
                self.embedded.add(Usage(used.input_tokens, usd=used.usd), stage=stage)
                spent = {"tokens": used.input_tokens, "usd": used.usd}
                log.info("embedded", extra={"tenant": parts.settings.tenant, **spent})

    async def _parts_of(self, collection: Collection) -> Components:
        """Return the components with the index's embedder, or else the engine's own."""
        try:
            return await asyncio.to_thread(components_of, self.parts, collection)
        except IndexMismatch:
            return self.parts

    async def _collection(self, name: str | None) -> Collection:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.collection, wanted)

    async def _find(self, name: str | None) -> Collection | None:
        wanted = name or self.parts.settings.collection
        return await asyncio.to_thread(self.parts.catalogue.find_collection, wanted)

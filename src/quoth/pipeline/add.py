"""Ingestion: read → chunk → embed → index → commit, in batches.

A document is visible once its batch is committed. Until then its index rows have no document, and
the next run ingests it again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from quoth.core.errors import DocumentError
from quoth.core.types import Document, ParsedDocument, Problem
from quoth.ingest.chunker import chunk
from quoth.ingest.enrich.chapters import contents_of
from quoth.ingest.enrich.segments import segment_starts
from quoth.ingest.readers.blocks import normalize_whitespace, to_plain_text
from quoth.ingest.readers.dates import date_from_file_name
from quoth.ingest.readers.metadata import file_title, read_custom_beside
from quoth.ingest.readers.speaker_turns import is_role
from quoth.ingest.sources.files import find_files, fingerprint
from quoth.pipeline.commit import BATCH_CHUNKS, IngestProgress, write_batch
from quoth.pipeline.components import Components
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.pipeline.sync import known_file
from quoth.store.document_list import DocumentLists
from quoth.store.ingest_jobs import POISON, SET_ASIDE, Claim
from quoth.store.job_rows import LEASE_SECONDS
from quoth.store.rows import Collection, Entry, digest
from quoth.text.language import clear_language, detect_language
from quoth.text.locators import speakers_in

T = TypeVar("T")

PIPELINE = "39"
"""Changes whenever the same file would give other chunks."""

LANGUAGES = ("en", "fr", "de", "es", "it", "pt", "nl", "ru", "ar", "zh", "ja", "ko")
"""Languages of which one is taken for a text that no language is clear for."""

READ_AHEAD = 2
"""Files parsed ahead while another is embedded."""

LEASE_POLL_S = 0.25


@dataclass(frozen=True, slots=True)
class LeasedDocument:
    """A file whose document is leased by another file or process; retried at the end."""

    path: Path


async def add_documents(
    parts: Components, collection: Collection, *, sources: Sequence[Path], given: DocumentMetadata
) -> AsyncGenerator[Document | IngestProgress, None]:
    """Add files and folders; yields progress, and each document once its outcome is known.

    Raises StorageFull, EmbeddingError and RetrievalError; committed batches stay, and repeating the
    call continues from there.
    """
    files = await asyncio.to_thread(find_files, sources)
    done = 0
    held: list[LeasedDocument] = []
    batch: list[Entry] = []
    claimed: set[str] = set()
    renewing = asyncio.create_task(_renew(parts))
    try:
        prepared = _prepare_files(parts, collection, files=files, given=given, claimed=claimed)
        async with aclosing(prepared) as results:
            async for result in results:
                if isinstance(result, LeasedDocument):
                    held.append(result)
                elif isinstance(result, Document):
                    done += 1
                    yield result
                else:
                    if batch and len(result.chunks) >= BATCH_CHUNKS:
                        async for step in write_batch(parts, collection, batch=batch):
                            yield _with_progress(step, files=done, of_files=len(files))
                        done, batch = done + len(batch), []
                    batch.append(result)
                    if sum(len(entry.chunks) for entry in batch) < BATCH_CHUNKS:
                        continue
                    async for step in write_batch(parts, collection, batch=batch):
                        yield _with_progress(step, files=done, of_files=len(files))
                    done += len(batch)
                    batch = []
        if batch:
            async for step in write_batch(parts, collection, batch=batch):
                yield _with_progress(step, files=done, of_files=len(files))
        for each in held:
            metadata = given.of(each.path)
            after = _wait_for_lease(parts, collection, leased=each, given=metadata, claimed=claimed)
            async for step in after:
                yield step
        # Read again: a rebuild may have activated another table.
        now = await asyncio.to_thread(parts.catalogue.collection, collection.name)
        await parts.open_index(now.table).optimize()
    finally:
        renewing.cancel()
        # Also on Ctrl-C: uncommitted documents are released for the next run.
        await asyncio.shield(asyncio.to_thread(parts.jobs.release, claimed))


async def _renew(parts: Components) -> None:
    """Renew the leases while a long file is read or another writer is active."""
    while True:
        await asyncio.sleep(LEASE_SECONDS / 4)
        await asyncio.to_thread(parts.jobs.renew)


async def _prepare_files(
    parts: Components,
    collection: Collection,
    *,
    files: Sequence[Path],
    given: DocumentMetadata,
    claimed: set[str],
) -> AsyncGenerator[Entry | Document | LeasedDocument, None]:
    """Prepare the files in order, with some read-ahead."""
    waiting: deque[asyncio.Task[Entry | Document | LeasedDocument]] = deque()
    coming = iter(files)
    try:
        while True:
            while len(waiting) < 1 + READ_AHEAD and (path := next(coming, None)) is not None:
                metadata = given.of(path)
                work = _prepare(parts, collection, path=path, given=metadata, claimed=claimed)
                waiting.append(asyncio.create_task(work))
            if not waiting:
                return
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _prepare(
    parts: Components,
    collection: Collection,
    *,
    path: Path,
    given: DocumentMetadata,
    claimed: set[str],
    first: bool = True,
) -> Entry | Document | LeasedDocument:
    """Read and chunk one file, unless it is already stored or leased elsewhere."""
    source = given.source_of(path)
    document_id = digest(collection.id, source)
    title = given.title_of(path)
    failed = partial(
        Document, title=title, kind=None, status="failed", collection=collection.name, source=source
    )
    try:
        most = parts.settings.max_file_mb
        sha = await asyncio.to_thread(fingerprint, path, given=given.values(), most_mb=most)
        said = given.meta()
        look = partial(known_file, parts, collection, path=path, name=given.name, given=said)
        if same := await asyncio.to_thread(look):
            return await asyncio.to_thread(merge_metadata, parts, collection, same, given)
        document_id = _version_id(parts, collection, sha)

        def take() -> Claim:
            claim = parts.jobs.claim(collection, document_id, source=source, title=title)
            if claim == "claimed":
                claimed.add(document_id)
            return claim

        claim = await _shielded(asyncio.to_thread(take))
        if claim == "held":
            return LeasedDocument(path)
        if claim == "ready":
            known = await asyncio.to_thread(_stored, parts, collection, document_id)
            # It was removed meanwhile, or it came from another file, which may be about to change.
            if known is None or (first and known.source != source):
                return LeasedDocument(path)
            if known.source == source or await asyncio.to_thread(_path_exists, known.source):
                return await asyncio.to_thread(merge_metadata, parts, collection, known, given)
            # The file has moved: read it again, so that links lead to its current path.
        if claim == "poison":
            return failed(document_id=document_id, error=Problem(POISON, SET_ASIDE))
        reading = await (parts.workers or parts.readers()).read(path, said)
        reading = rename(reading, given.name, path=path)
        entry = await asyncio.to_thread(
            make_entry, parts, collection, reading=reading, source=source, sha=sha, key=document_id
        )
        return await asyncio.to_thread(_described, parts, collection, entry, given=given, path=path)
    except DocumentError as error:
        # Use the name: it may hold bytes that are not text.
        error.args = (
            _called(to_plain_text(normalize_whitespace(str(error))), given.name, path=path),
        )
        if error.code != "not_found":
            await asyncio.to_thread(
                parts.jobs.fail, collection, document_id, source=source, title=title, error=error
            )
        return failed(document_id=document_id, error=Problem(error.code, str(error)))


def _version_id(parts: Components, collection: Collection, sha: str) -> str:
    """Return the id of a document; another chunk size or pipeline makes another version."""
    return digest(collection.id, sha, PIPELINE, str(parts.settings.chunk_tokens))


def _earlier_texts(parts: Components, collection: Collection, source: str) -> list[str]:
    """Return the texts of the chunks before, of versions that were chunked by the same settings."""
    chunks = parts.catalogue.chunks_from(collection, [source])
    stored = DocumentLists.of(parts.catalogue)
    shas = stored.fingerprints(sorted({each.document_id for each in chunks}))
    same = {each for each, sha in shas.items() if each == _version_id(parts, collection, sha)}
    return [each.text for each in chunks if each.document_id in same]


def _stored(parts: Components, collection: Collection, document_id: str) -> Document | None:
    return parts.catalogue.documents_by_id(collection, [document_id]).get(document_id)


def merge_metadata(
    parts: Components, collection: Collection, known: Document, given: DocumentMetadata
) -> Document:
    """Return a document that is there already, with the custom metadata that are given, too."""
    custom = {**known.metadata, **given.custom}
    if custom != known.metadata:
        parts.catalogue.set_metadata(collection, known.document_id, custom)
    return replace(known, metadata=custom, status="unchanged")


def _described(
    parts: Components, collection: Collection, entry: Entry, *, given: DocumentMetadata, path: Path
) -> Entry:
    """Add the custom metadata: those beside the file, else of its last version, and the given."""
    beside, warnings = read_custom_beside(path)
    before = beside or parts.catalogue.metadata_of_source(collection, entry.document.source)
    document = replace(entry.document, warnings=(*entry.document.warnings, *warnings))
    custom = {**before, **given.custom}
    return replace(entry, document=replace(document, metadata=custom))


async def _shielded(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work in a thread to finish, also when cancelled: the thread runs on regardless.

    Otherwise it might take a lease after the leases were released, which would then never be freed.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def rename(reading: ParsedDocument, name: str | None, *, path: Path) -> ParsedDocument:
    """Return a parsed document under the file's own name instead of its storage name."""
    if name is None:
        return reading
    nameless = reading.title in (path.name, path.stem, file_title(path.name))
    return replace(
        reading,
        title=file_title(name) if nameless else reading.title,
        date=reading.date or date_from_file_name(Path(name)),
        warnings=tuple(_called(warning, name, path=path) for warning in reading.warnings),
    )


def _called(text: str, name: str | None, *, path: Path) -> str:
    return text if name is None else text.replace(str(path), name).replace(path.name, name)


def _path_exists(source: str) -> bool:
    return source.startswith("file:") or Path(source).exists()


def make_entry(
    parts: Components,
    collection: Collection,
    *,
    reading: ParsedDocument,
    source: str,
    sha: str,
    key: str,
) -> Entry:
    """Chunk a parsed document and return its catalogue entry without vector-based fields."""
    stated = reading.language
    own = stated if reading.is_language_given else clear_language(reading.text)
    language = own or stated or detect_language(reading.text, among=LANGUAGES, fallback="en")
    divide = partial(
        chunk,
        reading,
        document_id=key,
        chunk_id=lambda ordinal: digest(key, PIPELINE, str(ordinal)),
        count_tokens=parts.embedder.count_tokens,
        target_tokens=parts.settings.chunk_tokens,
        language=language,
        earlier=_earlier_texts(parts, collection, source),
    )
    cut = divide()
    if starts := segment_starts(cut):
        cut = divide(begins=starts)
    chunks, headings = contents_of(reading, cut)
    document = Document(
        document_id=key,
        title=reading.title,
        kind=reading.kind,
        status="ready",
        chunks=len(chunks),
        pages=reading.pages,
        seconds=reading.seconds,
        language=language,
        collection=collection.name,
        source=source,
        url=reading.url,
        speaker=reading.speaker,
        date=reading.date,
        warnings=reading.warnings,
    )
    names = {name for chunk in chunks for name in speakers_in(chunk) if not is_role(name)}
    return Entry(
        document, sha, reading.labels, chunks, headings=headings, speakers=tuple(sorted(names))
    )


def _with_progress(
    step: Document | IngestProgress, *, files: int, of_files: int
) -> Document | IngestProgress:
    if isinstance(step, IngestProgress):
        return replace(step, files=files, of_files=of_files)
    return step


async def _wait_for_lease(
    parts: Components,
    collection: Collection,
    *,
    leased: LeasedDocument,
    given: DocumentMetadata,
    claimed: set[str],
) -> AsyncIterator[Document | IngestProgress]:
    """Wait for the process that leases a document, and take over if it gives up."""
    while True:
        result = await _prepare(
            parts, collection, path=leased.path, given=given, claimed=claimed, first=False
        )
        if isinstance(result, Document):
            yield result
            return
        if isinstance(result, Entry):
            async for step in write_batch(parts, collection, batch=[result]):
                yield step
            return
        await asyncio.sleep(LEASE_POLL_S)

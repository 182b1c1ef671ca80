"""Erase deleted data completely: indexes, history, files and the database's free pages.

Deleting a document removes it from every search at once. Its words can remain in older versions of
the index, in answers that quoted it, in the uploaded file, in free pages of the database. All of
that is removed here, while searches continue.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, runtime_checkable
from uuid import uuid4

import numpy as np

from quoth.core.errors import BackendError, IndexMismatch
from quoth.core.protocols import Index, Matrix
from quoth.core.types import Chunk
from quoth.operations.tenant_data import DeletionReceipt, TenantData
from quoth.pipeline.commit import chunk_vectors
from quoth.pipeline.components import Components, components_of, token_stores
from quoth.pipeline.maintain import DROP_AFTER_S, drop_kept
from quoth.pipeline.record import Record
from quoth.pipeline.record_codec import pack, unpack
from quoth.pipeline.remote import clear_mirrors
from quoth.pipeline.uploads import delete_stale_parts, tenant_blobs, upload_store
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database
from quoth.store.erase import StoredQuestions, compact, forget_all
from quoth.store.lectures import Lectures
from quoth.store.rows import Collection, index_folder
from quoth.store.uploads import Requirements
from quoth.text.analyzer import normalize_name

DAY_S = 24 * 3600.0
AGAIN_S = 600.0
"""Time until the next try where the database was busy."""

log = logging.getLogger("quoth.retention")


async def run_retention_daily(
    database: Database,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Enforce retention now and every day, until cancelled."""
    while True:
        await sleep(DAY_S if await enforce_retention(database, now=clock()) else AGAIN_S)


async def enforce_retention(database: Database, *, now: datetime) -> bool:
    """Delete rows expired at that time; return False where the database failed."""
    try:
        found = await asyncio.to_thread(forget_all, database, now=now)
    except BackendError as error:
        log.warning("retention_failed", extra={"code": error.code})
        return False
    for gone in found.values():
        log.info(
            "retention",
            extra={
                "questions": gone.questions,
                "shares": gone.shares,
                "tasks": gone.tasks,
                "audit": gone.audit,
            },
        )
    return True


TOLD_CHARACTERS = 100
"""Characters of an earlier answer that identify a stored conversation."""


def forget_cards(catalogue: Catalogue) -> int:
    """Delete the citations of lectures whose document is gone; return their number."""
    return Lectures.of(catalogue).forget_documents(sorted(_living(catalogue)))


def forget_quotes(catalogue: Catalogue) -> int:
    """Redact every stored query that may contain words of a deleted document.

    Return their number. A query is affected where a citation, a passage or one of the closest hits
    comes from such a document, where the query named one, and where a conversation contained an
    answer that is no longer stored. Its ids, times and scores stay, as with history ``hash``.
    """
    traces = StoredQuestions.of(catalogue)
    living = _living(catalogue)
    told: dict[str, set[str]] = {}
    blanked = 0
    unreadable = []
    for each in traces.all():
        try:
            record = unpack(each)
        except (ValueError, KeyError, TypeError):
            unreadable.append(each.query_id)
            continue
        if record.keeping == "hash":
            continue
        if _clean(record, living=living, told=told, catalogue=catalogue):
            said = normalize_name(record.answer.text)[:TOLD_CHARACTERS]
            told.setdefault(normalize_name(record.request.question), set()).add(said)
            continue
        traces.blank(pack(replace(record, keeping="hash")))
        blanked += 1
    traces.delete(unreadable)
    return blanked + len(unreadable)


def _living(catalogue: Catalogue) -> set[str]:
    """Return the documents that are there."""
    return {key for found in catalogue.collections() for key in catalogue.ready_ids(found)}


def _clean(
    record: Record, *, living: set[str], told: Mapping[str, set[str]], catalogue: Catalogue
) -> bool:
    answer, query = record.answer, record.answer.query
    shown = {citation.document_id for citation in answer.citations}
    shown |= {each.document_id for each in answer.closest}
    if not shown <= living:
        return False
    for turn in record.request.history:
        known = told.get(normalize_name(turn.question), set())
        begins = normalize_name(turn.answer)[:TOLD_CHARACTERS]
        if turn.answer and not any(each.startswith(begins) for each in known):
            return False
    chunks = {*answer.used_chunks, *(key for passage in record.passages for key in passage)}
    if query.entities or query.filters or query.boosts or query.notes:
        chunks |= {candidate.chunk_id for each in record.searched for candidate in each.candidates}
    return set(catalogue.owners(sorted(chunks))) == chunks


MAX_CHUNKS = 2000
"""Chunks that are carried over to a new index at once."""
TRIES = 5
SENDING_S = 300.0
"""A part file without a task is considered in progress if it is younger than this."""
NEVER = ""
"""The time before which there was none."""
BEING_MADE = "An index is being made ({}). Run this again when it is done."
BUILDING_S = 600.0
"""An index without a collection that was written to so lately may be on its way to one."""
KEPT = "The embedder of '{}' was changed meanwhile, and its index before is kept. Run this again."


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """Report of a purge; ``left`` lists in sentences what could not be removed, and why."""

    indexes: int = 0
    questions: int = 0
    files: int = 0
    left: tuple[str, ...] = field(default_factory=tuple)

    @property
    def complete(self) -> bool:
        """Return whether nothing is left of the deleted data."""
        return not self.left


async def purge(parts: Components) -> PurgeReport:
    """Remove every trace of what the tenant has deleted so far; raises BackendError.

    Existing data is never lost, and the purge can be interrupted and repeated at any time.
    """
    left: list[str] = []
    collections = await asyncio.to_thread(parts.catalogue.collections)
    for collection in collections:
        left += await _rewrite(parts, collection)
    files = await _clear_files(parts)
    parts.cache.clear()
    questions = await asyncio.to_thread(forget_quotes, parts.catalogue)
    await asyncio.to_thread(forget_cards, parts.catalogue)
    strays = await asyncio.to_thread(_clear_indexes, parts)
    strays += await _drop_shared(parts)
    now = await asyncio.to_thread(parts.catalogue.collections)
    strays += [KEPT.format(each.name) for each in now if each.kept]
    copies = await asyncio.to_thread(_old_copies, parts)
    stuck = await asyncio.to_thread(compact, parts.catalogue.database)
    return PurgeReport(
        indexes=len(collections),
        questions=questions,
        files=files,
        left=tuple(each for each in (*left, *strays, *copies, stuck) if each),
    )


async def delete_everything(parts: Components) -> tuple[DeletionReceipt, PurgeReport]:
    """Delete all data of the tenant and every trace of it; raises BackendError.

    What `TenantData.delete` retains stays.
    """
    catalogue = parts.catalogue
    collections = await asyncio.to_thread(catalogue.collections)
    proof = await asyncio.to_thread(TenantData.of(catalogue).delete)
    for collection in collections:
        for build in (collection.build, collection.kept):
            if build is not None:
                await parts.open_index(build.table).drop()
    return proof, await purge(parts)


async def _rewrite(parts: Components, collection: Collection) -> list[str]:
    """Carry what is there over to a new index, and drop the old one with all its versions."""
    name = collection.name
    await drop_kept(parts, collection)
    stem = collection.table.rpartition("_")[0]
    for _ in range(TRIES):
        table = f"{stem}_{uuid4().hex[:12]}"
        collection = await asyncio.to_thread(parts.catalogue.collection, name)
        try:
            own = await asyncio.to_thread(components_of, parts, collection)
        except IndexMismatch as error:
            return [str(error)]
        target = own.open_index(table)
        ready = await asyncio.to_thread(parts.catalogue.ready_ids, collection)
        await _copy_living_rows(own, sorted(ready), source=collection.table, target=table)
        await target.optimize()
        await target.build()
        if await asyncio.to_thread(
            parts.catalogue.switch_index, collection, replace(collection.build, table=table)
        ):
            await asyncio.sleep(DROP_AFTER_S)  # for queries that began with the old table
            await parts.open_index(collection.table).drop()
            return []
        await target.drop()
    return [f"The collection '{name}' kept changing. Run this again when nothing is being added."]


async def _copy_living_rows(
    parts: Components, ids: Sequence[str], *, source: str, target: str
) -> None:
    chunks: list[Chunk] = []
    for number, key in enumerate(ids, start=1):
        chunks += await asyncio.to_thread(parts.catalogue.document_chunks, key)
        if len(chunks) >= MAX_CHUNKS or number == len(ids):
            await _put(parts, chunks, source=source, target=target)
            chunks = []


@runtime_checkable
class CopyingIndex(Protocol):
    """An index that writes chunks with what another one holds of them beside their vectors."""

    async def copy(self, source: Index, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks; raises RetrievalError."""
        ...


async def _put(parts: Components, chunks: Sequence[Chunk], *, source: str, target: str) -> None:
    """Write chunks with the vectors that they have; one that has none is embedded."""
    known = dict(
        await parts.open_index(source).vectors([chunk.chunk_id for chunk in chunks], exact=True)
    )
    absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
    if absent:
        made = await chunk_vectors(absent, embedder=parts.embedder)
        known |= {each.chunk_id: row for each, row in zip(absent, made, strict=True)}
    if chunks:
        vectors = np.stack([known[chunk.chunk_id] for chunk in chunks])
        before, after = parts.open_index(source), parts.open_index(target)
        if isinstance(after, CopyingIndex):
            await after.copy(before, chunks, vectors=vectors)
        else:
            await after.upsert(chunks, vectors=vectors)


async def _clear_files(parts: Components) -> int:
    """Delete uploaded and fetched files, and token vectors, without a document."""
    gone = await asyncio.to_thread(_clear_blobs, parts) + await clear_mirrors(parts)
    for store in token_stores(parts)[:1]:  # each removes the files of all models
        gone += await store.keep_only(await asyncio.to_thread(_referenced_files, parts))
    return gone


def _referenced_files(parts: Components) -> set[str]:
    running = (parts.jobs.running(found) for found in parts.catalogue.collections())
    return _living(parts.catalogue).union(*running)


def _clear_blobs(parts: Components) -> int:
    blobs = tenant_blobs(parts)
    gone = delete_stale_parts(parts.catalogue.database, blobs)

    def deserted(needs: Requirements) -> int:
        blobs.clear_parts(needs.uploads, older_s=SENDING_S)
        return 0

    upload_store(parts).clear(deserted, before=NEVER)
    return gone


def _serving(parts: Components) -> set[str]:
    """Return the tables that collections have, also those that a rebuild has kept meanwhile."""
    found = parts.catalogue.collections()
    return {each.table for each in found} | {each.kept.table for each in found if each.kept}


def _clear_indexes(parts: Components) -> list[str]:
    """Remove index tables without a collection, such as interrupted builds."""
    serving = _serving(parts)
    left = []
    folder = index_folder(parts.settings)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.partition(".")[0] in serving or path.suffix == ".lock":
            continue
        if time.time() - _written_at(path) < BUILDING_S:
            left.append(BEING_MADE.format(path.name))
        elif path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return left


async def _drop_shared(parts: Components) -> list[str]:
    """Drop the tables of shared storage without a collection, such as interrupted builds."""
    serving = _serving(parts)
    left = []
    for table, at in (await asyncio.to_thread(parts.shared_tables)).items():
        if table not in serving and time.time() - at < BUILDING_S:
            left.append(BEING_MADE.format(table))
        elif table not in serving:
            await parts.open_index(table).drop()
    return left


def _old_copies(parts: Components) -> list[str]:
    """Report copies of the catalogue that an interrupted migration or a repair left behind."""
    home = parts.settings.home
    found = sorted((*home.glob("catalogue.sqlite.before-*"), *home.glob("catalogue.*.damaged")))
    return [f"{each.name} is an older copy of the whole catalogue. Delete it." for each in found]


def _written_at(path: Path) -> float:
    try:
        times = [each.stat().st_mtime for each in (path, *path.rglob("*"))]
    except FileNotFoundError:
        return time.time()
    return max(times)

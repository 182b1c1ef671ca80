"""Restores what is derived or can be read again, and names what is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select, text

from quoth.core.errors import BackendError, NotFound, QuothError
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.operations.add_uploads import add_file
from quoth.operations.integrity import Damage, find_tenants_damage
from quoth.operations.set_aside import set_aside
from quoth.pipeline.components import damaged_tokens
from quoth.pipeline.uploads import upload_store
from quoth.store.database import ALL_TENANTS
from quoth.store.schema import collections, documents, tasks
from quoth.store.upload_queue import TenantRoundRobin
from quoth.tenants import Tenants


@dataclass(frozen=True, slots=True)
class RepairStep:
    """What was done, or what is lost."""

    what: str
    mended: bool = True


async def repair_library(tenants: Tenants) -> AsyncIterator[RepairStep]:
    """Mend the library of all tenants; the service must not run meanwhile."""
    database = tenants.database
    if database.is_file:
        with suppress(BackendError), database.writing(ALL_TENANTS) as connection:
            connection.execute(text("REINDEX"))
    damage = await asyncio.to_thread(find_tenants_damage, tenants)
    async for step in _set_aside(tenants, [each for each in damage if not each.document_id]):
        yield step
    async for step in _build_indexes(tenants):  # into which documents are read again
        yield step
    for key in dict.fromkeys(each.document_id for each in damage if each.document_id):
        yield await _read_again(tenants, key)
    left = await asyncio.to_thread(find_tenants_damage, tenants) if damage else []
    async for step in _set_aside(tenants, left):
        yield step
    for each in left:
        if each.row is None:
            yield RepairStep(f"Lost, unless a backup holds it: {each.what}", mended=False)
    async for step in _build_indexes(tenants):
        yield step


async def _build_indexes(tenants: Tenants) -> AsyncIterator[RepairStep]:
    for tenant in await asyncio.to_thread(TenantRoundRobin(tenants.database).tenants):
        engine = tenants.engine(tenant)
        spoilt = bool(await damaged_tokens(engine.parts))
        for found in await asyncio.to_thread(engine.parts.catalogue.collections):
            health = await engine.health(collection=found.name)
            if spoilt or any(check.name == "index" and not check.ok for check in health.checks):
                async for _step in engine.reindex(collection=found.name):
                    pass
                yield RepairStep(f"The index of '{found.name}' ({tenant}) was built again.")


async def _set_aside(tenants: Tenants, damage: Sequence[Damage]) -> AsyncIterator[RepairStep]:
    database, home = tenants.database, tenants.settings.home
    if rows := {each.row: each for each in damage if each.row is not None}:
        told = await asyncio.to_thread(lambda: list(set_aside(database, rows, home=home)))
        for what in told:
            yield RepairStep(what, mended=False)


async def _read_again(tenants: Tenants, document_id: str) -> RepairStep:
    """Replace a document whose rows are damaged by what its file gives."""
    statement = (
        select(documents.c.tenant, documents.c.source, collections.c.name)
        .join_from(documents, collections, documents.c.collection_id == collections.c.id)
        .where(documents.c.id == document_id)
    )
    try:
        with tenants.database.reading() as connection:
            row = connection.execute(statement).first()
            task_id = connection.execute(
                select(tasks.c.id).where(tasks.c.document_id == document_id)
            ).scalar()
        if row is None:
            raise NotFound("its row cannot be read")
        engine = tenants.engine(row.tenant)
        document = await _add_again(
            engine, row.source, document_id, collection=row.name, task_id=task_id
        )
        if document.error is None:
            return RepairStep(f"Read again from its file: {document.title}")
        reason = document.error.message
    except QuothError as error:
        reason = str(error)
    return RepairStep(
        f"Lost, unless a backup holds it: the text of document {document_id} ({reason}). It is "
        "not quoted; add its file again.",
        mended=False,
    )


async def _add_again(
    engine: Engine, source: str, document_id: str, *, collection: str, task_id: str | None
) -> Document:
    if task_id is not None:
        task = await asyncio.to_thread(upload_store(engine.parts).find, task_id)
        await asyncio.to_thread(_forget, engine, document_id, collection)
        return await add_file(engine, task)
    if not await asyncio.to_thread(Path(source).is_file):
        raise NotFound(f"there is no file {source}")
    await asyncio.to_thread(_forget, engine, document_id, collection)
    steps = engine.add([Path(source)], collection=collection)
    added = [step async for step in steps if isinstance(step, Document)]
    return added[-1]


def _forget(engine: Engine, document_id: str, collection: str) -> None:
    catalogue = engine.parts.catalogue
    catalogue.remove(catalogue.collection(collection), [document_id])

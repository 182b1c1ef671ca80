"""Maintenance of index and catalogue: health, reconciliation, removal, rebuild."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

from quoth.core.command_line import command_line
from quoth.core.errors import ConfigError, EmbeddingError, IndexMismatch, QuothError
from quoth.core.page_images import PageIndex
from quoth.core.protocols import Generator
from quoth.pipeline.commit import (
    EMBED_CHUNKS,
    IngestProgress,
    embed_chunks,
)
from quoth.pipeline.components import (
    Components,
    damaged_tokens,
    delete_tokens,
    embedding_fingerprint,
    put_tokens,
    require_same_identity,
)
from quoth.pipeline.unread import ADD_AGAIN
from quoth.pipeline.uploads import missing_files
from quoth.store.job_rows import is_interrupted
from quoth.store.rows import Collection, IndexBuild

MIN_FREE_MB = 500
NAMED = 5
"""Documents that a check names."""
WAIT_S, WAITS = 0.1, 600
"""How often, and how many times at most, a document that is added again is looked for."""
DROP_AFTER_S = 1.0
"""Seconds for active queries to finish with an index that was replaced."""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check; `advice` says what to do if it failed."""

    name: str
    ok: bool
    found: str
    advice: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Results of all checks."""

    ok: bool
    checks: tuple[Check, ...]


async def health_check(parts: Components, collection: Collection | None) -> Health:
    """Check the data directory, model, catalogue and index without changing anything."""
    checks = [_home(parts), await _model(parts), *await _pages(parts), *_models_respond(parts)]
    checks += [*_sends(parts), *_breakers_open(parts)]
    if collection is None:
        name = parts.settings.collection
        add = command_line("add PATH", parts.settings)
        checks.append(Check("collection", True, f"'{name}' is empty. Add to it with: {add}"))
    else:
        checks.append(_identity(parts, collection))
        checks += await _check_consistency(parts, collection)
        checks += await _pictured(parts, collection)
        checks += await _tokens_whole(parts, collection)
        checks += _without_file(await asyncio.to_thread(missing_files, parts, collection))
        if collection.tuning is not None:
            undo = command_line("tune --reset", parts.settings, collection=collection.name)
            learnt = f"by {collection.tuning.questions} questions; undo with: {undo}"
            checks.append(Check("tuned", True, learnt))
    return Health(all(check.ok for check in checks), tuple(checks))


def _home(parts: Components) -> Check:
    home = parts.settings.home
    free = shutil.disk_usage(home).free // 1_000_000
    advice = f"Free some space: adding needs room, at least {MIN_FREE_MB} MB."
    ok = free >= MIN_FREE_MB
    return Check("home", ok, f"{home}, {free:,} MB free", None if ok else advice)


async def _model(parts: Components) -> Check:
    embedder = parts.embedder
    advice = "Name another model with --embedder."
    try:
        vectors = await embedder.embed(["Is the model server running?"], role="query")
    except EmbeddingError as error:
        return Check("model", False, str(error), advice)
    ok = vectors.shape == (1, embedder.dimension)
    found = f"{embedder.name}, {embedder.dimension} dimensions, revision {embedder.revision[:12]}"
    return Check("model", ok, found, None if ok else advice)


async def _pages(parts: Components) -> list[Check]:
    """Check the model for pictures of pages, where there is one."""
    if (embedder := parts.page_embedder) is None:
        return []
    advice = "Name another model with --page-embedder, or none."
    try:
        vector = await embedder.embed_query("Is the model there?")
    except (EmbeddingError, ConfigError) as error:
        return [Check("pages", False, str(error), advice)]
    revision = await asyncio.to_thread(lambda: embedder.revision)
    found = f"{embedder.name} looks at pages, {vector.size} dimensions, revision {revision[:12]}"
    return [Check("pages", True, found)]


def _models_respond(parts: Components) -> list[Check]:
    checks = [_answers(parts.generator, parts)]
    if parts.small is not None:
        about = _answers(parts.small, parts)
        found = about.found.replace(" and passages", "")
        checks.append(replace(about, name="reading", found=found))
    return checks


def _answers(generator: Generator | None, parts: Components) -> Check:
    if generator is None:
        found = "in the sources' own words, without a language model"
        if all(sent.local for sent in parts.remote):
            found += "; nothing leaves this machine"
        return Check("answers", True, found)
    model = f"{generator.provider}:{generator.model}"
    if generator.local:
        at = f" at {generator.endpoint}" if generator.endpoint else ""
        return Check("answers", True, f"{model}{at}; questions and passages stay on this machine")
    found = f"{model}; questions and passages would go to {generator.endpoint}"
    return Check("answers", True, found, "Keep them on this machine with: QUOTH_GENERATOR=none")


def _sends(parts: Components) -> list[Check]:
    """Return what goes to each component on a server."""
    return [
        Check(
            sent.part,
            True,
            f"{sent.name} at {sent.endpoint or 'a socket'} receives {' and '.join(sent.what)}"
            + ("; it is this machine" if sent.local else ""),
        )
        for sent in parts.remote
    ]


def _breakers_open(parts: Components) -> list[Check]:
    """Return the names of components whose circuit breaker is open."""
    return [
        Check(
            "left alone",
            False,
            f"{breaker.name} keeps failing; next attempt in {breaker.waits_s:.0f} s",
            "Answers are made without it until then.",
        )
        for breaker in parts.breakers
        if breaker.state != "closed"
    ]


def _identity(parts: Components, collection: Collection) -> Check:
    try:
        require_same_identity(collection, parts.embedder, settings=parts.settings)
    except IndexMismatch as error:
        return Check("identity", False, "the index was built by another configuration", str(error))
    return Check("identity", True, "the index was built by this model and analyser")


async def _check_consistency(parts: Components, collection: Collection) -> list[Check]:
    documents = await asyncio.to_thread(parts.catalogue.documents, collection)
    command = partial(command_line, settings=parts.settings, collection=collection.name)
    rebuild = f"Rebuild the index with: {command('reindex')}"
    try:
        stored = await parts.open_index(collection.table).document_ids()
    except QuothError as error:
        return [Check("index", False, str(error).partition(". ")[0], rebuild)]
    ready = {
        document.document_id: document.chunks
        for document in documents
        if document.status == "ready"
    }
    failed = [document for document in documents if document.status == "failed"]
    left = [document.title for document in documents if is_interrupted(document)]
    lacking = [key for key, chunks in ready.items() if stored.get(key, 0) != chunks]
    orphans = set(stored) - set(ready)
    return [
        Check(
            "documents",
            True,
            f"{len(ready)} ready with {sum(ready.values())} chunks, {len(failed)} failed",
            f"See why with: {command('list')}" if failed else None,
        ),
        *_interrupted(left, remove=command("remove NAME")),
        Check(
            "index",
            not lacking,
            f"{len(lacking)} documents are incomplete in the index"
            if lacking
            else "every document is complete in the index",
            rebuild if lacking else None,
        ),
        Check(
            "orphans",
            True,
            f"{len(orphans)} documents in the index are not in the catalogue; "
            "the next add removes them",
        ),
    ]


def _interrupted(titles: Sequence[str], *, remove: str) -> list[Check]:
    """Name the documents whose adding was interrupted."""
    if not titles:
        return []
    found = f"adding was interrupted: {_named(titles)}"
    return [Check("interrupted", False, found, f"{ADD_AGAIN} Or: {remove}")]


def _without_file(titles: Sequence[str]) -> list[Check]:
    """Name the documents whose file is gone; their text is still quoted."""
    if not titles:
        return []
    found = f"their files are gone, their citations open only the text: {_named(titles)}"
    return [Check("files", True, found, "Put them back, or add them again from where they are.")]


def _named(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    return f"{', '.join(titles[:NAMED])}{more}"


async def _pictured(parts: Components, collection: Collection) -> list[Check]:
    """Count the documents with pages whose pictures the model has looked at."""
    index = parts.open_index(collection.table)
    if parts.page_embedder is None or not isinstance(index, PageIndex):
        return []
    documents = await asyncio.to_thread(parts.catalogue.documents, collection)
    paged = {each.document_id for each in documents if each.kind == "pdf"}
    seen = paged & set(await index.pictured_documents())
    found = f"the pages of {len(seen)} of {len(paged)} documents are compared by their pictures"
    reindex = command_line("reindex", parts.settings, collection=collection.name)
    rebuild = f"Look at the others with: {reindex}"
    return [Check("pictures", True, found, rebuild if seen < paged else None)]


async def _tokens_whole(parts: Components, collection: Collection) -> list[Check]:
    """Check the files of token vectors; without them passages are only ranked less well."""
    damaged = await damaged_tokens(parts)
    reindex = command_line("reindex", parts.settings, collection=collection.name)
    advice = f"Build them again with: {reindex}"
    found = f"damaged: {', '.join(damaged[:5])} ({len(damaged)} in all)"
    return [Check("tokens", False, found, advice)] if damaged else []


async def reconcile(parts: Components, collection: Collection) -> tuple[str, ...]:
    """Delete orphaned index rows; return ready documents whose rows are missing.

    Rows are orphaned when a process died between writing them and committing their document, or
    between removing a document and deleting its rows.
    """
    index = parts.open_index(collection.table)
    stored = await index.document_ids()
    # In this order: a document being added now is either still pending or ready by then.
    running = await asyncio.to_thread(parts.jobs.running, collection)
    ready = await asyncio.to_thread(parts.catalogue.ready_ids, collection)
    orphans = sorted(set(stored) - ready - running)
    await index.delete(orphans)
    await delete_tokens(parts, orphans)
    again = await _added_again(parts, collection, orphans) if orphans else set[str]()
    return tuple(sorted((ready - set(stored)) | again))


async def _added_again(parts: Components, collection: Collection, ids: Sequence[str]) -> set[str]:
    """Return those of the documents that are ready by now: their new rows may be deleted, too.

    Another worker may have begun to add one before its old rows were deleted; it is waited for.
    """
    for _ in range(WAITS):
        if not await asyncio.to_thread(parts.jobs.running, collection) & {*ids}:
            break
        await asyncio.sleep(WAIT_S)
    return await asyncio.to_thread(parts.catalogue.ready_ids, collection) & {*ids}


async def remove(parts: Components, collection: Collection, *, ids: Sequence[str]) -> list[str]:
    """Delete documents completely; return the ids found."""
    possible = [each for each in ids if each.isascii()]  # only well-formed ids, which can be stored
    gone = await asyncio.to_thread(parts.catalogue.remove, collection, possible)
    # Catalogue first: index rows left by a crash are orphaned and get reconciled.
    for build in filter(None, (collection.build, collection.kept)):
        index = parts.open_index(build.table)
        await index.delete(gone)
        await index.optimize()
    await delete_tokens(parts, gone)
    return gone


async def delete_collection(parts: Components, collection: Collection) -> tuple[str, ...]:
    """Delete a collection with its index and its queries; return its documents' ids."""
    gone = await asyncio.to_thread(parts.catalogue.delete_collection, collection)
    # Catalogue first: index rows left by a crash are unreachable.
    parts.cache.clear()
    for build in (collection.build, collection.kept):
        if build is not None:
            await parts.open_index(build.table).drop()
    await delete_tokens(parts, gone)
    return gone


async def drop_kept(parts: Components, collection: Collection) -> bool:
    """Remove the index of the embedder before; False where none is kept any more."""
    if collection.kept is None:
        return False
    # Catalogue first: what a crash leaves of the table is removed by a purge.
    if not await asyncio.to_thread(parts.catalogue.forget_kept, collection):
        return False
    await parts.open_index(collection.kept.table).drop()
    return True


async def rebuild(parts: Components, collection: Collection) -> AsyncIterator[IngestProgress]:
    """Rebuild the index with this process's embedder, next to the active one, then switch.

    Searches use the old index until the new one is complete. Documents added or removed meanwhile
    are applied before the switch. The index of another embedder is kept, and where that of this
    one was kept before, only what it lacks is embedded.
    """
    identity = embedding_fingerprint(parts.embedder)
    kept = collection.kept
    back = kept if kept is not None and kept.identity == identity != collection.identity else None
    table = _next_table(collection.table) if back is None else back.table
    index = parts.open_index(table)
    written: set[str] = set()
    if back is None:
        await index.drop()
    else:
        written = await _take_over(parts, collection, back)
    while True:
        collection = await asyncio.to_thread(parts.catalogue.collection, collection.name)
        kept_table = None if collection.kept is None else collection.kept.table
        if back is not None and kept_table != table:  # it was dropped, or serves meanwhile
            back, table, written = None, _next_table(collection.table), set()
            index = parts.open_index(table)
        ready = await asyncio.to_thread(parts.catalogue.ready_ids, collection)
        await index.delete(sorted(written - ready))
        missing = sorted(ready - written)
        for done, key in enumerate(missing):
            async for at, of in copy_chunks(parts, table, document_id=key):
                yield IngestProgress(key, done, len(missing), at, of)
        written = ready
        await index.optimize()
        await index.build()
        if await asyncio.to_thread(
            parts.catalogue.switch_index,
            collection,
            IndexBuild(table, identity, parts.embedder_setting),
        ):
            break
    # Queries that began before the switch still read the old one.
    await asyncio.sleep(DROP_AFTER_S)
    if collection.identity == identity:
        await parts.open_index(collection.table).drop()
    elif kept_table is not None and kept_table != table:
        await parts.open_index(kept_table).drop()


async def _take_over(parts: Components, collection: Collection, kept: IndexBuild) -> set[str]:
    """Return the documents whose rows a kept index has, as they are now; delete its other rows."""
    index = parts.open_index(kept.table)
    stored = await index.document_ids()
    same = await asyncio.to_thread(parts.catalogue.unchanged, collection, kept.replaced_at)
    written = {key for key, chunks in stored.items() if same.get(key) == chunks}
    await index.delete(sorted(set(stored) - written))
    return written


async def copy_chunks(
    parts: Components, table: str, *, document_id: str
) -> AsyncIterator[tuple[int, int]]:
    """Embed a document's stored chunks into an index; yields the number done and the total."""
    index = parts.open_index(table)
    chunks = await asyncio.to_thread(parts.catalogue.document_chunks, document_id)
    for at in range(0, len(chunks), EMBED_CHUNKS):
        yield at, len(chunks)
        part = chunks[at : at + EMBED_CHUNKS]
        vectors, tokens = await embed_chunks(parts, part)
        await index.upsert(part, vectors=vectors)
        await put_tokens(parts, part, tokens)


def _next_table(table: str) -> str:
    # A new name, so that two concurrent rebuilds do not write into the same table.
    stem, _, _generation = table.rpartition("_")
    return f"{stem}_{uuid4().hex[:12]}"

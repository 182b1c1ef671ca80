"""Build engine queries from request bodies, within the caller's access."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from quoth.core.errors import Conflict, InputError, NotFound
from quoth.core.settings import Settings
from quoth.core.types import Document, Filter, Turn
from quoth.engine import Engine
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.schemas import AskRequest, SearchRequest
from quoth.pipeline.record import Record
from quoth.pipeline.record_codec import save_record
from quoth.pipeline.retrieve import Request
from quoth.pipeline.unread import still_read
from quoth.pipeline.uploads import upload_store
from quoth.store.document_list import DocumentLists
from quoth.store.job_rows import count_unread
from quoth.store.lectures import Lectures
from quoth.store.rows import Collection

SEARCH_CHOICES = (
    "mode",
    "mmr_lambda",
    "dense_weight",
    "rerank",
    "rerank_pool",
    "candidates_per_leg",
    "context_window",
)
ANSWER_CHOICES = (
    "policy",
    "temperature",
    "max_tokens",
    "max_context_tokens",
    "max_usd",
    "cache",
)

NO_DOCUMENTS = "There are no documents yet. Add some, or name a collection that has some."


def listing_of(engine: Engine) -> DocumentLists:
    """Return the lists of the tenant of an engine."""
    return DocumentLists.of(engine.parts.catalogue)


async def find_document(document_id: str, caller: Principal) -> Document:
    """Return a document that the caller may read; raises NotFound."""
    listing = listing_of(caller.engine)
    return await asyncio.to_thread(listing.document, document_id, collection=caller.collection)


async def find_present(document_id: str, caller: Principal, *, end: int = 0) -> Document:
    """Return a document that the caller may read, also by an id that it had before.

    The texts of both must be the same up to the character `end`. A signed link opens only the
    version that it was made for. Raises NotFound.
    """
    return await asyncio.to_thread(present_document, document_id, caller, end=end)


def present_document(document_id: str, caller: Principal, *, end: int = 0) -> Document:
    """Return a document as `find_present` does."""
    listing = listing_of(caller.engine)
    if caller.document is not None:
        return listing.document(document_id, collection=caller.collection)
    return listing.present(document_id, end=end, collection=caller.collection)


async def to_request(body: SearchRequest, caller: Principal) -> Request:
    """Return the query of a body; raises InputError and NotFound.

    Missing objects and those the caller may not access raise the same error.
    """
    collections, filters = await asyncio.to_thread(_resolve_scope, body, caller)
    choices = _choices(body)
    if filters:
        choices["filters"] = filters
    session = body.session if isinstance(body, AskRequest) else ""
    model, profile = _named(body, caller.engine)
    return Request(
        body.query,
        choices,
        filters=tuple(f"{key}={value}" for key, value in body.filters.items()),
        collections=collections,
        history=tuple(Turn(turn.question, turn.answer) for turn in body.history),
        session=f"{caller.key_id}/{session}" if session else "",
        model=model,
        profile=profile,
    )


def recorder_for(
    caller: Principal, *, store: bool = True, upload_id: str | None = None
) -> Callable[[Record], None]:
    """Return the function that stores the record of an answer, or drops it."""
    if not store:
        return lambda _record: None
    catalogue = caller.engine.parts.catalogue
    return partial(save_record, catalogue=catalogue, key_id=caller.key_id, upload_id=upload_id)


def require_collection(caller: Principal, name: str | None) -> Collection:
    """Return a collection, the default one without a name; raises NotFound."""
    parts = caller.engine.parts
    wanted = name or caller.collection or parts.settings.collection
    if caller.collection not in (None, wanted):
        raise NotFound(f"There is no collection '{wanted}'.")
    return parts.catalogue.collection(wanted)


def find_collection(caller: Principal, name: str | None) -> Collection | None:
    """Return a collection; None for the default one before it was made. Raises NotFound."""
    if name is None and caller.collection is None:
        parts = caller.engine.parts
        return parts.catalogue.find_collection(parts.settings.collection)
    return require_collection(caller, name)


def require_documents(caller: Principal, name: str | None) -> Collection:
    """Return a collection that can be queried; raises NotFound, Conflict for an empty one."""
    found, parts = find_collection(caller, name), caller.engine.parts
    if found is None or not parts.catalogue.collection_outline(found).documents:
        waiting = count_unread(
            parts.catalogue, [found.name if found else parts.settings.collection]
        )
        raise Conflict(still_read(waiting, "en") if waiting else NO_DOCUMENTS)
    return found


def _resolve_scope(
    body: SearchRequest, caller: Principal
) -> tuple[tuple[str, ...], tuple[Filter, ...]]:
    """Return the collections to search, and the filters of a scope or an upload."""
    if body.upload_id is not None:
        upload = upload_store(caller.engine.parts).find(body.upload_id)
        collection = require_collection(caller, upload.collection)
        if upload.state == "failed":
            raise Conflict(
                f"This upload failed ({upload.code}), so it cannot be queried. "
                "/v1/uploads says why."
            )
        if upload.document_id is None or upload.state not in ("ready", "unchanged"):
            raise Conflict("This upload cannot be queried before it is ready.")
        return (collection.name,), (Filter("document", "in", (upload.document_id,)),)
    scope = body.scope
    talks = _talks_of(scope.sessions, caller) if scope else {}
    names = (scope.collections if scope else [body.collection]) or [*talks.values()] or [None]
    found = [require_documents(caller, name) for name in names]
    filters: list[Filter] = []
    if scope and (scope.documents or talks):
        if scope.documents and talks and not scope.collections:
            default = find_collection(caller, None)  # where documents alone are looked for
            found += [default] if default else []
        _require_ready(scope.documents, talks, collections=found, caller=caller)
        filters.append(Filter("document", "in", (*scope.documents, *talks)))
    if scope and scope.kinds:
        filters.append(Filter("kind", "in", tuple(scope.kinds)))
    return tuple(dict.fromkeys(collection.name for collection in found)), tuple(filters)


def _require_ready(
    documents: Sequence[str],
    talks: Mapping[str, str],
    *,
    collections: Sequence[Collection],
    caller: Principal,
) -> None:
    """Raise NotFound for documents that are not there, and Conflict for talks still being read."""
    listing = listing_of(caller.engine)
    if listing.all_there((*documents, *talks), collections=collections):
        return
    waiting = [
        talk
        for talk, name in talks.items()
        for home in collections
        if home.name == name and not listing.all_there([talk], collections=[home])
    ]
    if waiting:
        raise Conflict(still_read(len(waiting), "en"))
    raise NotFound("One of these documents does not exist.")


def _talks_of(sessions: Sequence[str], caller: Principal) -> dict[str, str]:
    """Return the documents that sessions were added as, and the collection of each."""
    store = Lectures.of(caller.engine.parts.catalogue)
    found: dict[str, str] = {}
    for session_id in sessions:
        talk = store.talk_of(session_id)
        if caller.collection not in (None, *talk.values()):
            raise NotFound(f"There is no session with the id '{session_id}'.")
        if not talk:
            raise Conflict(f"The session '{session_id}' was not added to a collection yet.")
        found |= talk
    return found


def _choices(body: SearchRequest) -> dict[str, Any]:
    names = (*SEARCH_CHOICES, *(ANSWER_CHOICES if isinstance(body, AskRequest) else ()))
    choices = {name: getattr(body, name) for name in names}
    choices |= {"final_k": body.top_k, "deadline_ms": body.max_ms and float(body.max_ms)}
    if isinstance(body, AskRequest):
        if body.llm is not None:
            choices["generate"] = body.llm != "none"
        if not body.store:
            choices["cache"] = "none"
    return {name: value for name, value in choices.items() if value is not None}


def _named(body: SearchRequest, engine: Engine) -> tuple[str, str]:
    """Return the language model and the profile that a body names, empty where it names none.

    Raises InputError for what the settings do not allow.
    """
    if not isinstance(body, AskRequest):
        return "", ""
    model = "" if body.llm in (None, "none") else str(body.llm)
    if model:
        engine.parts.model_named(model)
    allowed = allowed_profiles(engine.parts.settings)
    if body.profile is not None and body.profile not in allowed:
        raise InputError(f"The profiles that a request may name are: {', '.join(allowed)}.")
    return model, body.profile or ""


def allowed_profiles(settings: Settings) -> list[str]:
    """Return the profiles that a request may name, the one in use first."""
    further = (each.strip() for each in settings.request_profiles.split(","))
    return list(dict.fromkeys([settings.profile, *(each for each in further if each)]))

"""From a body to a question for the engine, within what its caller may reach."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from quoth.core.errors import InputError, NotFound
from quoth.core.plan import make_plan
from quoth.core.types import Filter, Turn
from quoth.engine import Engine
from quoth.interfaces.http.dependencies import Principal
from quoth.interfaces.http.schemas import AskRequest, SearchRequest
from quoth.pipeline.record import Record
from quoth.pipeline.record_codec import save_record
from quoth.pipeline.retrieve import Request
from quoth.pipeline.uploads import upload_store
from quoth.query.filters.parse import parse_filters
from quoth.store.document_list import Listing
from quoth.store.rows import Collection

KNOBS = ("mode", "mmr_lambda", "dense_weight", "rerank", "rerank_pool")
ANSWER_KNOBS = (
    "policy",
    "temperature",
    "max_tokens",
    "max_context_tokens",
    "max_usd",
    "cache",
)

NOTHING_YET = (
    "There are no documents yet. Send some to /v1/uploads, or name a collection that has some."
)


def listing_of(engine: Engine) -> Listing:
    """Give the lists of the tenant whose engine this is."""
    return Listing.of(engine.parts.catalogue)


async def to_request(body: SearchRequest, caller: Principal) -> Request:
    """Make the question of a body; raises InputError and NotFound.

    What is not there, and what the caller may not reach, is not told apart.
    """
    wanted, ids = await asyncio.to_thread(_place, body, caller)
    texts = tuple(f"{key}={value}" for key, value in body.filters.items())
    parse_filters(texts)
    choices = _choices(body, caller.engine)
    limits = _limits(body, ids)
    if limits:
        choices["filters"] = limits
    make_plan(caller.engine.parts.settings.profile, "factual", overrides=choices)
    session = body.session if isinstance(body, AskRequest) else ""
    return Request(
        body.query,
        choices,
        filters=texts,
        collections=wanted,
        history=tuple(Turn(each.question, each.answer) for each in body.history),
        session=f"{caller.key_id}/{session}" if session else "",
    )


def recorder_for(
    caller: Principal, *, store: bool = True, upload_id: str | None = None
) -> Callable[[Record], None]:
    """Give what keeps the record of an answer, with whose it is, or nothing of it."""
    if not store:
        return _keep_nothing
    catalogue = caller.engine.parts.catalogue
    return partial(save_record, catalogue=catalogue, key_id=caller.key_id, upload_id=upload_id)


def _keep_nothing(_record: Record) -> None:
    return None


def collection_of(caller: Principal, name: str | None) -> Collection:
    """Find a collection, or the one used when none is named; raises NotFound."""
    parts = caller.engine.parts
    wanted = name or caller.collection or parts.settings.collection
    if caller.collection not in (None, wanted):
        raise NotFound(f"There is no collection '{wanted}'.")
    return parts.catalogue.collection(wanted)


def default_or_named_collection(caller: Principal, name: str | None) -> Collection | None:
    """Find a collection as `collection_of` does; None for the usual one before it was made."""
    usual = name is None and caller.collection is None
    parts = caller.engine.parts
    if usual:
        return parts.catalogue.find_collection(parts.settings.collection)
    return collection_of(caller, name)


def parse_question(caller: Principal, name: str | None) -> Collection:
    """Find a collection that can be asked; raises NotFound, and InputError where it is empty."""
    found = default_or_named_collection(caller, name)
    if found is None:
        raise InputError(NOTHING_YET)
    try:
        caller.engine.parts.catalogue.collection_and_languages(found.name)
    except NotFound:
        raise InputError(NOTHING_YET) from None
    return found


def _place(body: SearchRequest, caller: Principal) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the collections to look into, and the documents if only some are wanted."""
    if body.upload_id is not None:
        sent = upload_store(caller.engine.parts).find(body.upload_id)
        found = [collection_of(caller, sent.collection)]
        if sent.state == "failed":
            raise InputError(
                f"This upload failed ({sent.code}), so there is nothing to ask. "
                "/v1/uploads says why."
            )
        if sent.document_id is None or sent.state not in ("ready", "unchanged"):
            raise InputError("This upload is not ready to be asked. See how far it is first.")
        return (found[0].name,), (sent.document_id,)
    names = body.scope.collections if body.scope else [body.collection]
    found = [parse_question(caller, name) for name in names or [None]]
    ids = tuple(body.scope.documents) if body.scope else ()
    if ids and not listing_of(caller.engine).all_there(ids, collections=found):
        raise NotFound("One of these documents is not there.")
    return tuple(dict.fromkeys(each.name for each in found)), ids


def _choices(body: SearchRequest, engine: Engine) -> dict[str, Any]:
    knobs = (*KNOBS, *(ANSWER_KNOBS if isinstance(body, AskRequest) else ()))
    choices = {name: getattr(body, name) for name in knobs}
    choices |= {"final_k": body.top_k, "deadline_ms": body.max_ms and float(body.max_ms)}
    if isinstance(body, AskRequest):
        if body.llm is not None:
            choices["generate"] = _writes(body.llm, engine)
        if not body.store:
            choices["cache"] = "none"
    return {name: value for name, value in choices.items() if value is not None}


def _writes(name: str, engine: Engine) -> bool:
    """Whether the model of that name writes the answer; only the one in use can be named."""
    if name == "none":
        return False
    generator = engine.parts.generator
    known = () if generator is None else (generator.provider, generator.model)
    if generator is None or name not in (*known, ":".join(known)):
        raise InputError("There is no such language model here. `none` does without one.")
    return True


def _limits(body: SearchRequest, ids: Sequence[str]) -> tuple[Filter, ...]:
    kinds: tuple[str, ...] = tuple(body.scope.kinds) if body.scope else ()
    documents = (Filter("document", "in", tuple(ids)),) if ids else ()
    return (*documents, *((Filter("kind", "in", kinds),) if kinds else ()))

"""Routes for collections, which are named sets of documents."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from quoth.core.errors import NotFound
from quoth.interfaces.http.dependencies import Reader, Writer
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.requests import listing_of
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import NewCollection, OneCollection
from quoth.pipeline.components import make_collection
from quoth.store.document_list import CollectionSummary

router = APIRouter(tags=["library"])


@dataclass(frozen=True, slots=True)
class Collections:
    """All collections of a tenant, by name."""

    collections: list[CollectionSummary]


@router.get("/v1/collections", summary="List collections", response_model=Collections)
async def collections(caller: Reader) -> Response:
    """List the collections with their sizes; for a share, the one it opens."""
    listing = listing_of(caller.engine)
    found = await asyncio.to_thread(listing.collections, only=caller.collection)
    return ApiResponse(Collections(found))


@router.get("/v1/collections/{name}", summary="Show a collection", response_model=CollectionSummary)
async def collection(name: OneCollection, caller: Reader) -> Response:
    """Show the contents of a collection and the model of its index."""
    return ApiResponse(await find_summary(name, caller))


@router.post(
    "/v1/collections",
    summary="Make a collection",
    status_code=201,
    response_model=CollectionSummary,
)
async def make(
    body: Annotated[NewCollection, Body(openapi_examples={"new": {"value": {"name": "talks"}}})],
    caller: Writer,
) -> Response:
    """Create an empty collection; an existing one is returned as it is."""
    parts = caller.engine.parts
    await asyncio.to_thread(make_collection, parts, body.name)
    return ApiResponse(await find_summary(body.name, caller), status_code=201)


@router.delete("/v1/collections/{name}", summary="Delete a collection", status_code=204)
async def delete(name: OneCollection, caller: Writer) -> Response:
    """Delete a collection with its documents, its index, and the queries to it alone."""
    await caller.engine.remove_collection(name)
    return Response(status_code=204)


async def find_summary(name: str, caller: Principal) -> CollectionSummary:
    """Return a collection that the caller may see; raises NotFound."""
    if caller.collection not in (None, name):
        raise NotFound(f"There is no collection '{name}'.")
    listing = listing_of(caller.engine)
    for collection in await asyncio.to_thread(listing.collections, only=name):
        return collection
    raise NotFound(f"There is no collection '{name}'.")

"""What the service offers, so that a page shows only what works here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.metadata import version

from fastapi import APIRouter
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.requests import allowed_profiles
from quoth.interfaces.http.responses import ApiResponse
from quoth.pipeline.sample import sample_folder

router = APIRouter(tags=["operation"])


@dataclass(frozen=True, slots=True)
class ModelView:
    """The language model in use; a local one sends nothing to another machine."""

    provider: str
    model: str
    local: bool


@dataclass(frozen=True, slots=True)
class ServiceView:
    """What the service offers.

    ``language_model`` is None where answers are in the sources' own words; ``web_pages`` is whether
    it fetches addresses, ``youtube_player`` whether its pages may embed YouTube's player,
    ``sample`` whether the sample collection can be added. ``language_models`` and ``profiles`` are
    those that a request may name.
    """

    version: str
    language_model: ModelView | None
    collection: str
    max_upload_mb: int
    web_pages: bool
    youtube_player: bool
    sample: bool
    language_models: list[str]
    profiles: list[str]


@router.get("/v1/service", summary="Show what the service offers", response_model=ServiceView)
async def service(caller: Reader) -> Response:
    """Say which model answers, which limits hold and what is switched on."""
    parts = caller.engine.parts
    model, settings = parts.generator, parts.settings
    shown = None if model is None else ModelView(model.provider, model.model, model.local)
    return ApiResponse(
        ServiceView(
            version("quoth"),
            shown,
            caller.collection or settings.collection,
            settings.max_upload_mb,
            settings.allow_urls,
            settings.youtube_player,
            await asyncio.to_thread(sample_folder) is not None,
            [f"{each.provider}:{each.model}" for each in parts.request_models],
            allowed_profiles(settings),
        )
    )

"""Embeddings of texts by the service's own embedder, as OpenAI's clients expect them."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from quoth.core.errors import InputError
from quoth.interfaces.http.dependencies import Reader
from quoth.interfaces.http.openai_schemas import OWNER
from quoth.interfaces.http.problem_details import NO_MODEL, UnknownModel
from quoth.interfaces.http.responses import ApiResponse
from quoth.pipeline.egress import apply_privacy_settings

MAX_TEXTS = 256
MAX_CHARACTERS = 200_000
"""Characters of all texts of a request."""

Text = Annotated[str, Field(min_length=1, max_length=40_000)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MAX_TEXTS)]


def require_texts(given: object) -> object:
    """Return a list of texts, also for a single one; raises ValueError for what is none."""
    if given in ("", []) or (isinstance(given, list) and "" in given):
        raise ValueError("send at least one text, and none that is empty")
    if isinstance(given, list) and any(not isinstance(text, str) for text in given):
        raise ValueError(
            "send texts: numbers of tokens cannot be read (LangChain sends texts with "
            "check_embedding_ctx_length=False)"
        )
    return [given] if isinstance(given, str) else given


class EmbeddingsRequest(BaseModel):
    """The body of ``POST /v1/embeddings``; fields without an effect are accepted."""

    model_config = ConfigDict(extra="ignore")

    model: Annotated[str, Field(min_length=1, max_length=200)]
    input: Annotated[Texts, BeforeValidator(require_texts, json_schema_input_type=Text | Texts)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The vector of one text: numbers, or 32-bit numbers in base64."""

    embedding: list[float] | str
    index: int
    object: Literal["embedding"] = "embedding"


@dataclass(frozen=True, slots=True)
class EmbeddingsUsage:
    """Tokens that were read."""

    prompt_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class EmbeddingsResponse:
    """The vectors, in the order of the texts."""

    data: tuple[EmbeddedText, ...]
    model: str
    usage: EmbeddingsUsage
    object: Literal["list"] = "list"


router = APIRouter(tags=["others"])


@router.post("/v1/embeddings", summary="Embed texts", response_model=EmbeddingsResponse)
async def embed(body: EmbeddingsRequest, caller: Reader) -> Response:
    """Return unit vectors of texts by the embedder in use; nothing is stored.

    The model is ``quoth``, or the embedder's own name as ``/readyz`` gives it.
    """
    parts = await asyncio.to_thread(apply_privacy_settings, caller.engine.parts)
    embedder = parts.embedder
    if body.model not in (OWNER, embedder.name):
        raise UnknownModel(NO_MODEL)
    if body.dimensions not in (None, embedder.dimension):
        raise InputError(f"This model has {embedder.dimension} dimensions, and no others.")
    texts = body.input
    if sum(map(len, texts)) > MAX_CHARACTERS:
        raise InputError(f"One request may have up to {MAX_CHARACTERS:,} characters.")
    vectors = np.asarray(await embedder.embed(texts, role="query"), np.float32)
    tokens = sum(await asyncio.to_thread(embedder.count_tokens, texts))
    packed = body.encoding_format == "base64"
    data = tuple(
        EmbeddedText(_base64(row) if packed else row.tolist(), at) for at, row in enumerate(vectors)
    )
    return ApiResponse(EmbeddingsResponse(data, embedder.name, EmbeddingsUsage(tokens, tokens)))


def _base64(row: NDArray[np.float32]) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()

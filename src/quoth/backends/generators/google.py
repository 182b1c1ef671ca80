"""Language models of Google, by the Gemini API."""

from __future__ import annotations

from google.genai import Client
from google.genai.types import HttpOptions, HttpRetryOptions
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from quoth.backends.generators.access import Access
from quoth.backends.generators.http_client import SILENCE_S, open_client
from quoth.backends.generators.pydantic_ai import ModelGenerator


def open_gemini(access: Access) -> ModelGenerator:
    """Open a Gemini model."""
    http = open_client(access.proxy)
    client = Client(
        vertexai=False,
        api_key=access.key,
        http_options=HttpOptions(
            base_url=access.url,
            httpx_async_client=http,
            timeout=int(SILENCE_S * 1000),
            retry_options=HttpRetryOptions(attempts=1),
        ),
    )
    model = GoogleModel(access.model, provider=GoogleProvider(client=client))
    return ModelGenerator(model, access, close=http.aclose)

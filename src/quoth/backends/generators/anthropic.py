"""Language models of Anthropic."""

from __future__ import annotations

from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from quoth.backends.generators.access import Access
from quoth.backends.generators.errors import Option
from quoth.backends.generators.http_client import SILENCE_S, open_client
from quoth.backends.generators.pydantic_ai import ModelGenerator


def open_anthropic(access: Access) -> ModelGenerator:
    """Open a model of Anthropic; the newer ones choose their temperature themselves."""
    client = AsyncAnthropic(
        api_key=access.key,
        base_url=access.url,
        http_client=open_client(access.proxy),
        max_retries=0,
        timeout=SILENCE_S,
    )
    model = AnthropicModel(access.model, provider=AnthropicProvider(anthropic_client=client))
    fixed = model.profile.get("anthropic_disallows_sampling_settings", False)
    lacks: tuple[Option, ...] = ("temperature",) if fixed else ()
    return ModelGenerator(model, access, close=client.close, lacks=lacks)

"""What a request used of models that are paid for, in whole and by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EMBED, RERANK = "embed", "rerank"
"""The stages of embeddings and reranking at a provider, whose tokens are no language model's."""


@dataclass(frozen=True, slots=True)
class StageUsage:
    """What one stage used; ``usd`` is 0 where the price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What language models used, zero where none took part.

    ``usd`` includes embeddings and reranking.
    ``stages`` tells it by stage: classify, expand, generate, verify, and at a provider embed and
    rerank.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    stages: Mapping[str, StageUsage] = field(default_factory=dict)

    def plus(self, other: Usage, *, stage: str) -> Usage:
        """Return the sum with what a stage used."""
        before = self.stages.get(stage, StageUsage())
        spent = StageUsage(
            before.input_tokens + other.input_tokens,
            before.output_tokens + other.output_tokens,
            before.usd + other.usd,
        )
        written = stage not in (EMBED, RERANK)
        return Usage(
            self.input_tokens + other.input_tokens * written,
            self.output_tokens + other.output_tokens * written,
            self.usd + other.usd,
            {**self.stages, stage: spent},
        )

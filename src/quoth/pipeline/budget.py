"""Cost and time limits of a query, applied to its plan before the search."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from quoth.core.component_checks import EmbedderWrapper
from quoth.core.plan import Plan
from quoth.core.prices import fit_budget, skip_for_time
from quoth.core.protocols import (
    AsksModel,
    CountsReranking,
    Embedder,
    EncodedQuery,
    FallsBack,
    Finish,
    GenerationParams,
    Generator,
    Matrix,
    Message,
    Reranker,
    Role,
    Written,
)
from quoth.core.trace import LatencyEstimator, Trace
from quoth.core.types import Chunk, Usage
from quoth.core.usage import EMBED, RERANK
from quoth.pipeline.components import Components
from quoth.retrieval.rerank import ProgressiveReranker

FRAME_TOKENS = 1500
"""Maximum tokens of instructions, history and query, without the passages."""
FALLBACKS = {"expand": "the question alone", "rerank": "fused order", "generate": "extractive"}
"""The fallback of each stage that is skipped for lack of time."""


def within_budget(
    plan: Plan,
    *,
    generator: Generator | None,
    trace: Trace,
    pace: LatencyEstimator,
) -> Plan:
    """Return the plan that ``max_usd`` and the deadline allow; note omissions in the trace.

    ``pace`` estimates the latency of the stages. Passages are assumed to fill the plan's limit, so
    that the answer never costs more than announced.
    """
    if plan.max_usd is None and trace.remaining_ms() is None:
        return plan
    return _fit_deadline(_fit_cost(plan, generator, trace), generator, trace, pace)


def _fit_cost(plan: Plan, generator: Generator | None, trace: Trace) -> Plan:
    if generator is None or plan.max_usd is None:
        return plan
    if not plan.generate and not plan.classify and not _expands(plan):
        return plan
    tasks = [
        *(["classify"] if plan.classify else []),
        *(["expand"] if _expands(plan) else []),
    ]
    means = fit_budget(
        max_usd=plan.max_usd,
        usd=generator.usd,
        prompt_tokens=FRAME_TOKENS,
        context_tokens=plan.max_context_tokens,
        max_tokens=plan.max_tokens,
        small_tasks=tasks,
    )
    for stage, instead in means.left_out:
        trace.note(stage, reason="max_usd", fallback=instead)
    if not means.small_tasks:
        plan = _without_small_tasks(plan)
    if not means.generate:
        return replace(plan, generate=False)
    return replace(plan, max_tokens=means.max_tokens, max_context_tokens=means.context_tokens)


def note_withheld(plan: Plan, *, reason: str, trace: Trace, writes: bool) -> None:
    """Note the planned stages without a usable language model; ``writes``: an answer is wanted."""
    if plan.generate and writes:
        trace.note("generate", reason=reason, fallback=FALLBACKS["generate"])
    if _expands(plan):
        trace.note("expand", reason=reason, fallback=FALLBACKS["expand"])


def note_pace(pace: LatencyEstimator, timings_ms: Mapping[str, float]) -> None:
    """Record the stage latencies of an answer; for generation, the time to first token."""
    for stage in ("expand", "rerank"):
        if stage in timings_ms:
            pace.note(stage, timings_ms[stage])
    if "first_token" in timings_ms and "first_evidence" in timings_ms:
        pace.note("generate", timings_ms["first_token"] - timings_ms["first_evidence"])


def _fit_deadline(
    plan: Plan, generator: Generator | None, trace: Trace, pace: LatencyEstimator
) -> Plan:
    there = {
        "expand": generator is not None and _expands(plan),
        "rerank": plan.rerank,
        "generate": generator is not None and plan.generate,
    }
    # A request has one plan per search; a stage counts as skipped if any plan skipped it.
    before = {entry.partition(":")[0] for entry in trace.degraded if ":max_ms:" in entry}
    usual_ms = {
        stage: spent
        for stage, spent in pace.usual_ms.items()
        if there.get(stage) and stage not in before
    }
    late = skip_for_time(trace.remaining_ms(), usual_ms=usual_ms)
    for stage in late:
        pace.left_out(stage)
        trace.note(stage, reason="max_ms", fallback=FALLBACKS[stage])
    out = before.union(late)
    if "expand" in out:
        plan = replace(_without_small_tasks(plan), classify=plan.classify)
    return replace(
        plan,
        rerank=plan.rerank and "rerank" not in out,
        generate=plan.generate and "generate" not in out,
    )


def _expands(plan: Plan) -> bool:
    return plan.expansion == "generated" or plan.hyde


def _without_small_tasks(plan: Plan) -> Plan:
    """Return the plan without small language model tasks."""
    return replace(plan, classify=False, hyde=False, expansion="none")


@dataclass(slots=True)
class UsageMeter:
    """Accumulates the language model usage of one request."""

    total: Usage = field(default_factory=Usage)
    _interrupted: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of all calls, with estimates for interrupted ones."""
        return self.total.input_tokens + self.total.output_tokens + self._interrupted

    def add_interrupted(self, tokens: int) -> None:
        """Count a call that was interrupted before its usage was reported."""
        self._interrupted += tokens

    def add(self, usage: Usage, *, stage: str) -> None:
        """Count a call of a stage."""
        self.total = self.total.plus(usage, stage=stage)


class MeteredGenerator:
    """Wraps a `Generator` and counts the usage of each call for a stage."""

    def __init__(self, generator: Generator, meter: UsageMeter, *, stage: str) -> None:
        self.provider = generator.provider
        self.model = generator.model
        self.window = generator.window
        self.endpoint = generator.endpoint
        self.local = generator.local
        self._generator = generator
        self._meter = meter
        self._stage = stage

    def at_stage(self, stage: str) -> MeteredGenerator:
        """Return the same model, counted for another stage."""
        return MeteredGenerator(self._generator, self._meter, stage=stage)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        return self._generator.count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the maximum cost of a usage in dollars."""
        return self._generator.usd(usage)

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer and count its usage, also when interrupted."""
        pieces = self._generator.stream(messages, writing=writing)
        texts, prompt_length = [message.text for message in messages], len(messages)
        counted = left = False
        try:
            async with aclosing(cast(AsyncGenerator[Written, None], pieces)):
                async for piece in pieces:
                    if isinstance(piece, Finish):
                        self._meter.add(piece.usage, stage=self._stage)
                        counted = True
                    else:
                        texts.append(piece)
                    yield piece
        except (asyncio.CancelledError, GeneratorExit):
            left = True
            raise
        finally:
            # A model that failed before its first word has used nothing.
            if not counted and (left or len(texts) > prompt_length):
                self._meter.add_interrupted(sum(self._generator.count_tokens(texts)))

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, such as rewording it."""
        messages = (Message("system", instructions), Message("user", text))
        pieces = self.stream(messages, writing=GenerationParams(0.0, max_tokens))
        return "".join([piece async for piece in pieces if isinstance(piece, str)])

    async def close(self) -> None:
        """Close the generator."""
        await self._generator.close()


class MeteredEmbedder(EmbedderWrapper):
    """Wraps an `Embedder` and counts what its provider charges; one of this machine costs none."""

    def __init__(self, embedder: Embedder, meter: UsageMeter) -> None:
        super().__init__(embedder)
        self._meter = meter

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text; raises EmbeddingError."""
        rows, usage = await self.embed_inner(texts, role=role)
        self._count(usage)
        return rows

    async def encode(self, query: str) -> EncodedQuery:
        """Return a query's vector and token vectors; raises EmbeddingError."""
        encoded = await self.inner.encode(query)
        self._count(encoded.usage)
        return encoded

    def _count(self, usage: Usage) -> None:
        if usage.input_tokens:
            self._meter.add(usage, stage=EMBED)


class MeteredReranker:
    """Wraps a `Reranker` and counts what its provider charges.

    ``fell_back`` says whether another one stood in for it.
    """

    def __init__(self, reranker: Reranker, meter: UsageMeter) -> None:
        self._reranker = reranker
        self._meter = meter
        self.name = reranker.name
        self.fell_back = False
        if isinstance(reranker, ProgressiveReranker):
            self.block = reranker.block

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk; raises RerankError."""
        usage = Usage()
        if isinstance(self._reranker, FallsBack):
            told = await self._reranker.score_told(query, chunks, tokens=tokens)
            scores, usage, self.fell_back = *told[:2], told[2] or self.fell_back
        elif isinstance(self._reranker, CountsReranking):
            scores, usage = await self._reranker.score_counted(query, chunks, tokens=tokens)
        else:
            scores = await self._reranker.score(query, chunks, tokens=tokens)
        if usage != Usage():
            self._meter.add(usage, stage=RERANK)
        return scores

    def close(self) -> None:
        """Do nothing: the reranker itself serves others."""


def at_stage(generator: Generator, stage: str) -> Generator:
    """Return a generator whose calls count for a stage, where they are counted."""
    return generator.at_stage(stage) if isinstance(generator, MeteredGenerator) else generator


def meter_models(parts: Components, meter: UsageMeter) -> Components:
    """Return the components with language models and a reranker that count what is used."""
    if parts.small is not None:
        parts = replace(parts, small=MeteredGenerator(parts.small, meter, stage="classify"))
    if parts.reranker is not None:
        parts = replace(parts, reranker=MeteredReranker(parts.reranker, meter))
    if parts.generator is None:
        return parts
    generator, judge = MeteredGenerator(parts.generator, meter, stage="generate"), parts.judge
    if isinstance(judge, AsksModel):
        judge = judge.with_generator(generator.at_stage("verify"))
    return replace(parts, generator=generator, judge=judge)

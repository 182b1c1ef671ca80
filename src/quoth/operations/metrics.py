"""Metrics of queries and stages, in the text format of Prometheus.

Events are counted where they happen; rates are derived by the reader. Labels are constants and
values of the operator's settings: never user text, ids or tenants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from quoth.core.trace import Trace
from quoth.core.types import Answer
from quoth.core.usage import EMBED, RERANK
from quoth.store.history import AnswerMeasures

FORMAT = CONTENT_TYPE_LATEST
"""The media type of `Metrics.text`."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histograms' buckets."""
SATISFACTION = (1, 2, 3, 4, 5)
"""How satisfied a reader can be with an answer."""
NOT_STAGES = ("total", "first_evidence", "first_token")
"""Timings of a trace that are points in time, not stages."""
MAX_LABELS = 100
"""Different values of a label; more are all called "other"."""


class Metrics:
    """Counters of one process, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._labels: dict[str, set[str]] = {}
        count = partial(Counter, registry=self.registry)
        measure = partial(Histogram, registry=self.registry, buckets=SECONDS)
        self._questions = count("quoth_questions", "Answers given.", ("status", "cached"))
        self._question_seconds = measure("quoth_question_seconds", "Time of an answer.")
        self._evidence_seconds = measure(
            "quoth_first_evidence_seconds", "Time until the first cited sentence was there."
        )
        self._stage_seconds = measure("quoth_stage_seconds", "Time of a stage.", ("stage",))
        self._stage_errors = count(
            "quoth_stage_errors", "Failures of a stage.", ("stage", "reason")
        )
        self._degraded = count("quoth_degraded", "Stages replaced by a fallback.", ("stage",))
        self._tokens = count(
            "quoth_tokens", "Tokens of language models.", ("provider", "direction")
        )
        self._usd = count(
            "quoth_usd", "Dollars for language models, and for embed and rerank.", ("provider",)
        )
        self._sentences = count("quoth_answer_sentences", "Sentences of new answers.", ("support",))
        self._passages = count("quoth_context_passages", "Passages of new answers.", ("cited",))
        self._satisfaction = measure(
            "quoth_satisfaction",
            "How satisfied readers are with answers, from 1 to 5.",
            buckets=SATISFACTION,
        )
        self._requests = count(
            "quoth_requests", "Requests answered.", ("method", "route", "status")
        )
        self._request_seconds = measure(
            "quoth_request_seconds", "Time of a request, to the end of its answer.", ("route",)
        )

    def observe(
        self,
        trace: Trace,
        answer: Answer | None = None,
        *,
        measures: AnswerMeasures | None = None,
    ) -> None:
        """Count a question, or a search where there is no answer."""
        for name, spent_ms in trace.timings_ms().items():
            if name not in NOT_STAGES:
                self._stage_seconds.labels(self._stage(name)).observe(spent_ms / 1000)
        for failure in trace.failures:
            stage, reason, _fallback = failure.split(":", 2)
            self._stage_errors.labels(self._stage(stage), self._word("reason", reason)).inc()
        degraded = trace.degraded if answer is None else answer.degraded
        for stage in {self._stage(each.partition(":")[0]) for each in degraded}:
            self._degraded.labels(stage).inc()
        if answer is not None:
            self._count(answer)
        if measures is not None:
            cited = measures.passages_cited
            self._passages.labels("yes").inc(cited)
            self._passages.labels("no").inc(measures.passages_in_context - cited)

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is the pattern of its address, not the address."""
        known = self._word("route", route)
        self._requests.labels(self._word("method", method), known, str(status)).inc()
        self._request_seconds.labels(known).observe(seconds)

    def rate(self, satisfaction: int) -> None:
        """Count how satisfied a reader is with an answer, from 1 to 5."""
        self._satisfaction.observe(satisfaction)

    def add_collector(self, readings: Callable[[], Iterator[Metric]]) -> None:
        """Register ``readings`` to add metrics each time that the counters are read."""
        self.registry.register(_CallbackCollector(readings))

    def text(self) -> bytes:
        """Write all counters in Prometheus' text format."""
        return generate_latest(self.registry)

    def _count(self, answer: Answer) -> None:
        self._questions.labels(answer.status, str(answer.cached).lower()).inc()
        self._question_seconds.observe(answer.timings_ms.get("total", 0.0) / 1000)
        if not answer.cached and "first_evidence" in answer.timings_ms:
            self._evidence_seconds.observe(answer.timings_ms["first_evidence"] / 1000)
        if not answer.cached:
            for sentence in answer.sentences:
                self._sentences.labels(sentence.support).inc()
        used = answer.usage
        provider = self._word("provider", answer.provider or "other")
        if used.input_tokens or used.output_tokens:
            self._tokens.labels(provider, "input").inc(used.input_tokens)
            self._tokens.labels(provider, "output").inc(used.output_tokens)
        for stage, spent in used.stages.items():
            if spent.usd:
                self._usd.labels(stage if stage in (EMBED, RERANK) else provider).inc(spent.usd)

    def _stage(self, name: str) -> str:
        # A blank separates the stage from its subject, such as the name of a collection.
        return self._word("stage", name.partition(" ")[0])

    def _word(self, label: str, value: str) -> str:
        known = self._labels.setdefault(label, set())
        if value not in known:
            if len(known) >= MAX_LABELS:
                return "other"
            known.add(value)
        return value


class _CallbackCollector(Collector):
    """Collector of metrics from other components, read on each scrape."""

    def __init__(self, readings: Callable[[], Iterator[Metric]]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        """Read the figures."""
        return self._readings()

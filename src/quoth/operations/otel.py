"""OpenTelemetry spans: one per query and one per stage.

Only the API is used: to get spans, install the SDK and an exporter and start the service with them;
without them a span costs almost nothing. Attributes are constants, counts and times: never user
text.
"""

from __future__ import annotations

import time

from opentelemetry import trace as telemetry
from opentelemetry.trace import Status, StatusCode, set_span_in_context

from quoth.core.trace import Trace
from quoth.core.types import Answer
from quoth.operations.metrics import NOT_STAGES

NAME = "quoth"


def observe_spans(trace: Trace, answer: Answer | None = None) -> None:
    """Write the spans of a query that was just answered, below the current span.

    A stage has one span, from when it first began to when it last ended.
    """
    tracer, end = telemetry.get_tracer(NAME), time.time_ns()
    began = end - _ns(trace.elapsed_ms())
    whole = tracer.start_span("quoth.question" if answer else "quoth.search", start_time=began)
    if not whole.is_recording():
        return
    if answer is not None:
        whole.set_attribute("quoth.status", answer.status)
        whole.set_attribute("quoth.cached", answer.cached)
        whole.set_attribute("quoth.degraded", len(answer.degraded))
        whole.set_attribute("quoth.cited", answer.counts.cited)
        whole.set_attribute("quoth.input_tokens", answer.usage.input_tokens)
        whole.set_attribute("quoth.output_tokens", answer.usage.output_tokens)
    inside = set_span_in_context(whole)
    failed = {failure.partition(":")[0]: failure.split(":")[1] for failure in trace.failures}
    for name, (start_ms, end_ms) in trace.spans_ms().items():
        if name in NOT_STAGES:
            continue
        stage = tracer.start_span(
            f"quoth.{name.partition(' ')[0]}", context=inside, start_time=began + _ns(start_ms)
        )
        if name in failed:
            stage.set_status(Status(StatusCode.ERROR, failed[name]))
        stage.end(began + _ns(end_ms))
    whole.end(end)


def _ns(milliseconds: float) -> int:
    return int(milliseconds * 1_000_000)

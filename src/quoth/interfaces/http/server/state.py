"""What the running service knows of itself: who waits, what it counts, whether it ends."""

from __future__ import annotations

from dataclasses import dataclass

from quoth.core.trace import Trace
from quoth.core.types import Answer
from quoth.interfaces.http.middleware.concurrency_limit import Admission
from quoth.interfaces.http.middleware.shutdown import InFlightRequests
from quoth.operations.metrics import Metrics
from quoth.operations.otel import observe_spans


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts that watch over a running service; one application has one, as its state.

    ``workers`` take in what was uploaded.
    """

    admission: Admission
    presence: InFlightRequests
    metrics: Metrics
    workers: int = 0

    def observe(self, trace: Trace, answer: Answer | None) -> None:
        """Count a question or a search, and write its spans."""
        self.metrics.observe(trace, answer)
        observe_spans(trace, answer)

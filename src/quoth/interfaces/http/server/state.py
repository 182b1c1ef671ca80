"""The state of the running service: its limits, requests in flight and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from quoth.core.trace import Trace
from quoth.core.types import Answer
from quoth.interfaces.http.middleware.concurrency_limit import ConcurrencyLimit
from quoth.interfaces.http.middleware.shutdown import InFlightRequests
from quoth.operations.integrity import Damage
from quoth.operations.metrics import Metrics
from quoth.operations.otel import observe_spans
from quoth.operations.watched import WatchedFolder
from quoth.store.history import AnswerMeasures


@dataclass(frozen=True, slots=True)
class ServerState:
    """The shared parts of a running service; ``workers`` process uploads."""

    limit: ConcurrencyLimit
    requests: InFlightRequests
    metrics: Metrics
    workers: int = 0
    damage: list[Damage] = field(default_factory=list)
    """What the last check of the stored data found."""
    watched: dict[str, WatchedFolder] = field(default_factory=dict)
    """The state of the watched folders, by collection."""

    def observe(
        self, trace: Trace, answer: Answer | None, *, measures: AnswerMeasures | None = None
    ) -> None:
        """Count a query or a search, and write its spans."""
        self.metrics.observe(trace, answer, measures=measures)
        observe_spans(trace, answer)

    def note_damage(self, found: Sequence[Damage]) -> None:
        """Keep what a check of the stored data found."""
        self.damage[:] = found

    def note_watched(self, state: WatchedFolder) -> None:
        """Keep the state of a watched folder."""
        self.watched[state.collection] = state

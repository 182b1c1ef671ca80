"""Answers as tests need them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quoth.core.types import Answer, Counts, Query


def answer_to(question: str, **changes: Any) -> Answer:
    made = Answer(
        query_id="q_1",
        query=Query(question, question, "en"),
        text="It is so.",
        sentences=(),
        citations=(),
        closest=(),
        status="answered",
        grounded=True,
        degraded=(),
        warnings=(),
        counts=Counts(),
        used_chunks=(),
        timings_ms={},
        profile="default",
        index_version="t:1",
    )
    return replace(made, **changes)

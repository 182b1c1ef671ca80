"""Events of an answer stream; `AnswerCompleted`, with the whole answer, comes last.

The field ``event`` of each is its name on every surface: lines of the command line's machine
output, server-sent events, Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quoth.core.types import (
    Answer,
    Citation,
    Hit,
    Sentence,
    Support,
    Usage,
)


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage has started.

    ``query_id`` is set by the first stage: the id under which the answer is stored.
    """

    stage: str
    query_id: str = ""
    event: Literal["status"] = "status"


@dataclass(frozen=True, slots=True)
class HitsFound:
    """The passages that the answer will be made from."""

    hits: tuple[Hit, ...]
    event: Literal["hits"] = "hits"


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """The best verbatim sentences, cited and verified, while a model still writes."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    event: Literal["evidence"] = "evidence"


@dataclass(frozen=True, slots=True)
class TextAdded:
    """The next piece of the answer's text; provisional until its sentence is verified."""

    text: str
    event: Literal["token"] = "token"


@dataclass(frozen=True, slots=True)
class CitationAdded:
    """A citation of the text streamed so far."""

    citation: Citation
    event: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True)
class SentenceVerified:
    """The verification result of one sentence.

    ``number`` counts the streamed sentences, from 1; ``text`` is the sentence without its markers.
    ``kept`` False means that the sentence is not part of the answer.
    """

    number: int
    text: str
    citations: tuple[int, ...]
    support: Support
    score: float | None
    kept: bool = True
    event: Literal["verification"] = "verification"


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the generator used."""

    usage: Usage
    event: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True)
class AnswerCompleted:
    """The complete answer; the last event of a stream that did not fail."""

    answer: Answer
    event: Literal["done"] = "done"


Event = (
    StageStarted
    | HitsFound
    | EvidenceFound
    | TextAdded
    | CitationAdded
    | SentenceVerified
    | UsageReported
    | AnswerCompleted
)

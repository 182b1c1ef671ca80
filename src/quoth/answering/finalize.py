"""Finalizes a generated answer once every sentence was verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from quoth.answering.contradictions.citations import (
    conflict_notice,
    disagreements,
    with_counterparts,
)
from quoth.answering.generative.assemble import Composed
from quoth.core.translations import translate
from quoth.core.types import (
    Answer,
    AnswerStatus,
    Passage,
    Sentence,
)
from quoth.text.analyzer import detect_language

Note = Literal[
    "unsupported", "dropped", "cut", "refused", "silent", "empty", "failed", "language", "links"
]

MIN_LETTERS = 40
"""Minimum letters for detecting an answer's language."""


def finalize_answer(
    quoted: Answer,
    composed: Composed,
    *,
    passages: Sequence[Passage],
    writer: tuple[str, str] | None = None,
) -> Answer:
    """Return the generated answer if any of it is supported, else the verbatim one.

    ``quoted`` is the verbatim answer to the same query; it is returned with a warning where the
    model refused, failed, found nothing or wrote nothing that a source supports. ``passages`` are
    those in the prompt.
    """
    finish = composed.finish
    usage = quoted.usage if finish is None else finish.usage
    known = replace(
        quoted,
        usage=usage,
        counts=replace(quoted.counts, invented=composed.invented),
        rejected=composed.rejected,
    )
    claims = [sentence for sentence in composed.sentences if sentence.support != "unverified"]
    proved = [claim for claim in claims if claim.citations]
    refused = finish is not None and finish.reason == "refusal"
    if refused or not proved:
        silent = composed.declined > 0 and not composed.rejected
        return _without_support(known, composed, refused=refused, silent=silent)
    language = quoted.query.language
    citations = with_counterparts(composed.citations, quoted.citations, passages=passages)
    disputed = disagreements(citations, passages=passages)
    warnings = [add_warning(note, language=language) for note in _notes(composed, quoted)]
    # The contradiction notice of the verbatim sentences uses other numbers.
    before = [
        warning
        for warning in (quoted.warnings if quoted.status == "answered" else ())
        if warning not in conflict_notice(quoted.contradictions, language=language)
    ]
    used = tuple(chunk.chunk_id for passage in passages for chunk in passage.chunks)
    return replace(
        known,
        text=composed.text,
        sentences=composed.sentences,
        citations=citations,
        contradictions=disputed,
        status=_status(quoted.status, composed, claims=claims),
        closest=(),
        grounded=all(claim.citations for claim in claims),
        warnings=(*before, *warnings, *conflict_notice(disputed, language=language)),
        counts=replace(
            known.counts,
            in_context=len(used),
            cited=len({citation.chunk_id for citation in citations}),
        ),
        used_chunks=used,
        provider=finish.provider if finish else writer and writer[0],
        model=finish.model if finish else writer and writer[1],
    )


def add_warning(kind: Note, *, language: str, query_id: str = "") -> str:
    """Return the warning about a generated answer."""
    values = {"query_id": query_id} if kind == "empty" else {}
    return translate(f"answering.model_{kind}", language, **values)


def _without_support(quoted: Answer, composed: Composed, *, refused: bool, silent: bool) -> Answer:
    """Return the verbatim answer with the reason for using it."""
    status, degraded = quoted.status, quoted.degraded
    kind: Note
    if refused:
        kind = "refused"
    elif composed.finish is None or not (composed.rejected or composed.declined):
        kind = "failed"
    elif silent and composed.finish.reason != "length":
        kind, status = "silent", "low_relevance"
    else:
        kind = "empty"
    if kind in ("refused", "empty"):  # failures are in the trace already
        degraded = (*degraded, f"generate:{kind}:extractive")
    warning = add_warning(kind, language=quoted.query.language, query_id=quoted.query_id)
    return replace(quoted, status=status, warnings=(*quoted.warnings, warning), degraded=degraded)


def _status(
    status: AnswerStatus, composed: Composed, *, claims: Sequence[Sentence]
) -> AnswerStatus:
    if status == "degraded":
        return status
    finish = composed.finish
    whole = finish is not None and finish.reason != "length" and not composed.dropped
    return (
        "answered" if whole and all(claim.support == "supported" for claim in claims) else "partial"
    )


def _notes(composed: Composed, quoted: Answer) -> list[Note]:
    found: list[Note] = []
    if any(sentence.support == "unsupported" for sentence in composed.sentences):
        found.append("unsupported")
    if composed.dropped:
        found.append("dropped")
    if composed.finish is None or composed.finish.reason == "length":
        found.append("cut")
    if composed.cleaned:
        found.append("links")
    if _foreign(composed.text, quoted.query.language):
        found.append("language")
    return found


def _foreign(text: str, language: str) -> bool:
    if sum(sign.isalpha() for sign in text) < MIN_LETTERS:
        return False
    others = ("en", "fr") if language in ("en", "fr") else (language, "en", "fr")
    return detect_language(text, among=others, fallback=language) != language

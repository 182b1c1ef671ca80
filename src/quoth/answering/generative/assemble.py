"""Assembles verified, cited sentences from a model's output stream, and the answer of them."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from quoth.answering.answerability import Note, add_warning
from quoth.answering.contradictions import conflict_notice, disagreements, with_counterparts
from quoth.answering.generative.stream_reader import AnswerReader, ParsedSentence
from quoth.answering.verification import EvidenceSpan, StatementCheck
from quoth.core.events import CitationAdded, SentenceVerified, TextAdded
from quoth.core.plan import Policy
from quoth.core.protocols import Finish, Written
from quoth.core.types import (
    Answer,
    AnswerStatus,
    Citation,
    Passage,
    RejectedSentence,
    Sentence,
)
from quoth.text.language import detect_language

TORN = StatementCheck("unverified", 0.0, ())
"""The check result of an unfinished sentence, which cannot be verified."""
MIN_LETTERS = 40
"""Minimum letters for detecting an answer's language."""
_ENDED = re.compile(r"[.!?…:。！？|][\"'”’»)\]*]*\Z")

Check = Callable[[str, Sequence[int]], Awaitable[StatementCheck]]
"""Verifies a sentence against its cited sources, by number."""
Cite = Callable[[EvidenceSpan, StatementCheck, int], Citation]
"""Makes the citation of an evidence span with its number in the answer."""


@dataclass(frozen=True, slots=True)
class Composed:
    """A complete generated answer, with the verification of each sentence.

    ``dropped`` counts the sentences removed as unsupported, ``declined`` those that only say that
    the sources do not answer; ``rejected`` are all that no source supports, shown or not.
    ``foreign`` counts those that can only be compared with a text in another language.
    ``invented`` counts the cited sources that do not exist, ``cleaned`` the links and tags removed.
    ``finish`` is None where the stream was interrupted.
    """

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    finish: Finish | None
    dropped: int = 0
    invented: int = 0
    cleaned: int = 0
    declined: int = 0
    foreign: int = 0
    rejected: tuple[RejectedSentence, ...] = ()


@dataclass(slots=True)
class _AnswerDraft:
    """The answer under construction."""

    text: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    citations: dict[str, Citation] = field(default_factory=dict)
    rejected: list[RejectedSentence] = field(default_factory=list)
    number: int = 0
    dropped: int = 0
    declined: int = 0
    foreign: int = 0

    def cite(self, verdict: StatementCheck, make: Cite) -> tuple[list[Citation], tuple[int, ...]]:
        """Return the new citations, and the numbers of all; one span has one number."""
        new, numbers = [], []
        for proof in verdict.proofs:
            made = make(proof, verdict, len(self.citations) + 1)
            if made.id not in self.citations:
                self.citations[made.id] = made
                new.append(made)
            numbers.append(self.citations[made.id].number)
        return new, tuple(dict.fromkeys(numbers))

    def add(self, part: ParsedSentence, verdict: StatementCheck, numbers: tuple[int, ...]) -> str:
        """Append a sentence with its citations; return the text that was added."""
        lead = part.lead if self.text else part.lead.lstrip()
        start = len(self.text) + len(lead)
        end = start + len(part.text)
        self.sentences.append(Sentence(start, end, numbers, verdict.support, verdict.score))
        shown = lead + part.text + format_markers(numbers)
        self.text += shown
        return shown


def format_markers(numbers: Sequence[int]) -> str:
    """Format citation numbers as markers."""
    return "".join(f" [{number}]" for number in numbers)


async def compose(
    pieces: AsyncGenerator[Written, None],
    *,
    reader: AnswerReader,
    check: Check,
    cite: Cite,
    policy: Policy,
) -> AsyncGenerator[TextAdded | CitationAdded | SentenceVerified | Composed, None]:
    """Parse, verify and cite sentence by sentence; yield `Composed` last.

    A sentence is shown once it is verified. With the policy "mark" every sentence stays, with its
    support; "drop" removes those that no source supports, "strict" all that are not supported.
    Nothing is shown before one sentence has a citation: without any the answer is another one. Nor
    before the model itself cites a source: what it writes until then may be its reasoning. What has
    been shown stays.
    """
    draft = _AnswerDraft()
    waiting: list[TextAdded | CitationAdded | SentenceVerified] = []
    finish: Finish | None = None
    cites = shown = restarted = False
    async with aclosing(_parts(pieces, reader)) as parts:
        async for part in parts:
            if isinstance(part, Finish):
                finish = part
            elif part.kind == "restart" and shown:
                restarted = True
            elif part.kind == "restart":
                draft, cites = _AnswerDraft(number=draft.number), False
                waiting.clear()
            else:
                part = replace(part, lead=f"\n\n{part.lead.lstrip()}") if restarted else part
                restarted = False
                verdict = TORN if part.torn else await check(part.text, part.numbers)
                waiting += _closed(part, verdict, draft=draft, cite=cite, policy=policy)
                cites = cites or bool(part.numbers)
                if cites and draft.citations:
                    shown = True
                    for event in waiting:
                        yield event
                    waiting.clear()
    for event in waiting:
        if draft.citations:
            yield event
        elif isinstance(event, SentenceVerified):
            yield replace(event, kept=False)
    yield Composed(
        draft.text,
        tuple(draft.sentences),
        tuple(draft.citations.values()),
        finish,
        dropped=draft.dropped,
        invented=reader.invented,
        cleaned=reader.cleaned,
        declined=draft.declined,
        foreign=draft.foreign,
        rejected=tuple(draft.rejected),
    )


def _closed(
    part: ParsedSentence,
    verdict: StatementCheck,
    *,
    draft: _AnswerDraft,
    cite: Cite,
    policy: Policy,
) -> Iterator[TextAdded | CitationAdded | SentenceVerified]:
    """Append a verified sentence to the answer, or drop it."""
    draft.number += 1
    draft.declined += verdict.declines
    draft.foreign += verdict.support == "unverified" and not (part.torn or verdict.declines)
    kept = _is_kept(part, verdict, policy=policy)
    new, numbers = draft.cite(verdict, cite) if kept else ([], ())
    if verdict.support != "supported" and not verdict.declines:
        draft.rejected.append(RejectedSentence(part.text, verdict.score, verdict.faults))
    if kept:
        yield TextAdded(draft.add(part, verdict, numbers))
        yield from map(CitationAdded, new)
    elif not verdict.declines:
        draft.dropped += 1
    yield SentenceVerified(draft.number, part.text, numbers, verdict.support, verdict.score, kept)


def _is_kept(part: ParsedSentence, verdict: StatementCheck, *, policy: Policy) -> bool:
    if policy == "strict":
        return verdict.support == "supported"
    return policy == "mark" or not (part.torn or verdict.support == "unsupported")


def _is_torn(part: ParsedSentence) -> bool:
    return part.kind == "sentence" and not _ENDED.search(part.text)


async def _parts(
    pieces: AsyncGenerator[Written, None], reader: AnswerReader
) -> AsyncGenerator[ParsedSentence | Finish, None]:
    """Parse the pieces, and at the end the remaining buffer."""
    finish = None
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Finish):
                finish = piece
                continue
            for part in reader.feed(piece):
                yield part
    broken = finish is None or finish.reason == "length"
    for part in reader.close():
        yield replace(part, torn=True) if broken and _is_torn(part) else part
    if finish is not None:
        yield finish


def finalize_answer(
    quoted: Answer,
    composed: Composed,
    *,
    passages: Sequence[Passage],
    writer: tuple[str, str] | None = None,
) -> Answer:
    """Return the generated answer if any of it has a citation, else the verbatim one.

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
    claims = [
        sentence
        for sentence in composed.sentences
        if sentence.support != "unverified" or sentence.citations
    ]
    refused = finish is not None and finish.reason == "refusal"
    if refused or not any(claim.citations for claim in claims):
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
        grounded=all(claim.citations and claim.support == "supported" for claim in claims),
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
        kind = "foreign" if 0 < composed.foreign == len(composed.rejected) else "empty"
    if kind in ("refused", "empty", "foreign"):  # failures are in the trace already
        degraded = (*degraded, f"generate:{kind}:extractive")
    warning = add_warning(kind, language=quoted.query.language)
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
    if any(each.support == "unverified" and each.citations for each in composed.sentences):
        found.append("unverified")
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

"""Takes out of questions and lectures what they show of a document that is no longer there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from quoth.pipeline.record import Record
from quoth.pipeline.record_codec import decode_record, pack
from quoth.store.catalogue import Catalogue
from quoth.store.erase import StoredQuestions
from quoth.store.lectures import Lectures
from quoth.text.analyzer import normalize_name

TOLD_CHARACTERS = 100
"""Characters of an earlier answer that identify a stored conversation."""


def forget_cards(catalogue: Catalogue) -> int:
    """Delete the citations of lectures whose document is gone; return their number."""
    collections = catalogue.collections()
    living = {key for collection in collections for key in catalogue.ready_ids(collection)}
    return Lectures.of(catalogue).forget_documents(sorted(living))


def forget_quotes(catalogue: Catalogue) -> int:
    """Redact every stored query that may contain words of a deleted document.

    Return their number. A query is affected where a citation, a passage or one of the closest hits
    comes from such a document, where the query named one, and where a conversation contained an
    answer that is no longer stored. Its ids, times and scores stay, as with history ``hash``.
    """
    traces = StoredQuestions.of(catalogue)
    living = {
        key for collection in catalogue.collections() for key in catalogue.ready_ids(collection)
    }
    told: dict[str, set[str]] = {}
    blanked = 0
    unreadable = []
    for each in traces.all():
        try:
            record = decode_record(each)
        except (ValueError, KeyError, TypeError):
            unreadable.append(each.query_id)
            continue
        if record.keeping == "hash":
            continue
        if _clean(record, living=living, told=told, catalogue=catalogue):
            said = normalize_name(record.answer.text)[:TOLD_CHARACTERS]
            told.setdefault(normalize_name(record.request.question), set()).add(said)
            continue
        kept = pack(replace(record, keeping="hash"))
        traces.blank(
            each.query_id,
            text=kept.text,
            plan=kept.plan,
            answer=kept.answer,
            record=kept.record,
        )
        blanked += 1
    traces.delete(unreadable)
    return blanked + len(unreadable)


def _clean(
    record: Record, *, living: set[str], told: Mapping[str, set[str]], catalogue: Catalogue
) -> bool:
    answer, query = record.answer, record.answer.query
    shown = {citation.document_id for citation in answer.citations}
    shown |= {each.document_id for each in answer.closest}
    if not shown <= living:
        return False
    for turn in record.request.history:
        known = told.get(normalize_name(turn.question), set())
        begins = normalize_name(turn.answer)[:TOLD_CHARACTERS]
        if turn.answer and not any(each.startswith(begins) for each in known):
            return False
    chunks = {*answer.used_chunks, *(key for passage in record.passages for key in passage)}
    if query.entities or query.filters or query.boosts or query.notes:
        chunks |= {candidate.chunk_id for each in record.searched for candidate in each.candidates}
    return set(catalogue.owners(sorted(chunks))) == chunks

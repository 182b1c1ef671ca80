"""Rows of tables that a question asks for, without the rows around them; docs/decisions/058."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.answering.extractive.candidates import Quotable
from quoth.answering.extractive.runs import MAX_LIST, is_program, sections_of
from quoth.answering.extractive.score import CandidateSentences, Scores, stems_of
from quoth.core.types import Passage
from quoth.text.locators import CELL_GAP

MARGIN = 1.0
"""Log-odds by which the best of the rows may be below the sentence that leads to them."""


def asked_rows(
    candidates: CandidateSentences, seed: int, *, scores: Scores, passages: Sequence[Passage]
) -> list[int]:
    """Return the rows of a sentence's table that hold most of the question, in reading order.

    The words count by their rarity, those among the values of a row twice as much as those among
    the names of its columns, and none that all rows hold alike. Words of the conversation decide
    only between rows that hold the question's own alike, and count the same: a rare one may be of a
    turn long before. Empty for a sentence that is no row, and where the whole table tells more: the
    rows lack a word that others have, they score far below the sentence, or they do not fit into a
    quotation.
    """
    rows = _table_of(candidates, seed, passages=passages)
    if not rows:
        return []
    held = _words_held(candidates, rows)
    telling = [
        at for at, levels in enumerate(zip(*held.values(), strict=True)) if len({*levels}) > 1
    ]
    own = [at for at in telling if candidates.terms[at].is_asked]
    rest = [at for at in telling if at not in own]
    found = list(rows)
    for weights in ({at: candidates.terms[at].weight for at in own}, dict.fromkeys(rest, 1.0)):
        sums = {row: sum(weight * held[row][at] for at, weight in weights.items()) for row in found}
        most = max(sums.values())
        found = [row for row in found if sums[row] == most]
    covered = all(any(held[row][at] for row in found) for at in own or rest)
    is_near = max(scores[row] for row in found) >= scores[seed] - MARGIN
    is_other = bool(own and rest)  # The words of the conversation raise the score of its row.
    length = sum(len(candidates.sentences[row].text) for row in found)
    return found if telling and covered and (is_near or is_other) and length <= MAX_LIST else []


def fullest_row(
    candidates: CandidateSentences, seed: int, *, scores: Scores, passages: Sequence[Passage]
) -> int:
    """Return the row, of any table, that has most of the question; the seed if it is no row.

    Only rows up to `MARGIN` below it count: tables on one subject hold the same names, but only one
    has the column that is asked for.
    """
    sentences = candidates.sentences
    near = [
        at
        for at, each in enumerate(sentences)
        if scores[at] >= scores[seed] - MARGIN
        and each.has_cells
        and is_row(each, passages[each.passage])
    ]
    if seed not in near:
        return seed
    return max((seed, *near), key=lambda at: candidates.coverage(candidates.stems[at]))


def is_row(sentence: Quotable, passage: Passage) -> bool:
    """Return whether a sentence is a row of a table."""
    return CELL_GAP in sentence.text and not is_program(passage)


def _table_of(
    candidates: CandidateSentences, seed: int, *, passages: Sequence[Passage]
) -> list[int]:
    """Return the rows of a row's section, in all passages, without those of headers."""
    own = candidates.sentences[seed]
    if not is_row(own, passages[own.passage]):
        return []
    sections = {key: path for each in passages for key, path in sections_of(each).items()}
    return sorted(
        (
            at
            for at, each in enumerate(candidates.sentences)
            if each.has_cells
            and each.document_id == own.document_id
            and sections[each.chunk_id] == sections[own.chunk_id]
        ),
        key=lambda at: candidates.sentences[at].start,
    )


def _words_held(candidates: CandidateSentences, rows: Sequence[int]) -> dict[int, list[int]]:
    """Return for each word of the question 2 if it is in a row's values, 1 in its names alone."""
    texts = [candidates.sentences[at].text.split(CELL_GAP) for at in rows]
    names = {cell.rpartition(": ")[0] for cells in texts for cell in cells}
    held = {}
    for at, cells in zip(rows, texts, strict=True):
        values = " ".join(cell.rpartition(": ")[2] for cell in cells if cell not in names)
        stems = stems_of(values, candidates.sentences[at].language)
        held[at] = [
            term.among(candidates.stems[at]) + term.among(stems) for term in candidates.terms
        ]
    return held

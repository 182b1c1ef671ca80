"""Where the first quotation of a fact begins to be shown: at what answers, not before it."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.answering.extractive.candidates import is_sound, marker_start
from quoth.answering.extractive.runs import FRAGMENT, SentenceRun, is_program
from quoth.answering.extractive.score import CandidateSentences, Scores
from quoth.core.types import Passage
from quoth.text.locators import CELL_GAP

LATE = 200
"""Characters before the best sentence of a quotation from which the sentence comes too late."""
LONG_PARAGRAPH = 300
"""The same in its paragraph: it is then shown from the sentence on, not from the paragraph on."""
AHEAD = 0.3
"""Minimum log-odds by which the best sentence answers better than each of those before it."""


def shown_from(
    candidates: CandidateSentences,
    run: range,
    seed: int,
    *,
    scores: Scores,
    passages: Sequence[Passage],
) -> int | None:
    """Return the character of the document at which a quotation begins to be shown.

    It is the paragraph of the best sentence, ``seed``, where that stands late in the ``run``, else
    None: the quotation is shown in its order, as tables, programs and numbered lists always are.
    """
    sentences = candidates.sentences
    best, start = sentences[seed], sentences[run[0]].start
    passage = passages[best.passage]
    has_cells = any(CELL_GAP in sentences[at].text for at in run)
    if is_program(passage) or has_cells or best.start - start <= LATE:
        return None
    begin = seed
    while begin > run[0] and sentences[begin].joined:
        begin -= 1
    if best.start - sentences[begin].start > LONG_PARAGRAPH:
        begin = seed
    while begin > run[0] and sentences[begin].anaphoric:
        begin -= 1
    if begin > run[0] and not is_sound(sentences[begin - 1]):  # a heading or a question
        begin -= 1
    before, end = range(run[0], begin), sentences[run[-1]].end
    is_short = end - sentences[begin].start < FRAGMENT
    if not before or is_short or scores[seed] - max(scores[at] for at in before) < AHEAD:
        return None
    whole = SentenceRun(candidates, passage, set(), 0, first=run[0], last=run[-1])
    if whole.numbers(run[0], begin - 1) and whole.numbers(begin, run[-1]):
        return None
    return passage.start + marker_start(passage.text, sentences[begin].start - passage.start)

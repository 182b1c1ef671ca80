"""How a run of sentences grows: to its neighbours, and to what it cannot be read without."""

from __future__ import annotations

from quoth.answering.extractive.runs import (
    MAX_LIST,
    MAX_REST,
    SentenceRun,
    is_in_section,
    is_program,
    sections_of,
)
from quoth.answering.extractive.score import Scores


def grow(run: SentenceRun, *, scores: Scores, longest: int, before: int) -> range:
    """Extend a run to its neighbours, best first, and then to what it cannot be read without.

    Of the neighbours only those within ``before`` characters before the run are taken.
    """
    sentences = run.candidates.sentences
    earliest = sentences[run.first].start - before
    growing = True
    while growing:
        beside = [at for at in run.neighbours() if sentences[at].start >= earliest]
        beside.sort(key=scores.__getitem__, reverse=True)
        growing = any(run.adds(at, longest=longest) for at in beside)
    most = longest + MAX_REST
    _complete(run, longest=most)
    if run.goes_on_after_code(run.first) and not is_program(run.passage):
        for at in (run.first - 1, run.first - 2):  # The code, and what announces it.
            run.adds(at, longest=most)
    first, sections = run.first, sections_of(run.passage)
    refers_back = first > 0 and sentences[first].anaphoric
    if refers_back and is_in_section(run.candidates, first - 1, first, sections=sections):
        run.adds(first - 1, longest=most)
    return range(run.first, run.last + 1)


def _complete(run: SentenceRun, *, longest: int) -> None:
    """Extend a run by what its end announces or asks: a list, a table, code, an answer."""
    last = run.candidates.sentences[run.last]
    while last.question or last.text.endswith(":") or run.is_fragment():
        if not run.adds(run.last + 1, longest=longest):
            break
        last = run.candidates.sentences[run.last]
    # All of a list or table of which the run quotes a part, and a step's command.
    if run.heads_table(run.last + 1) and run.names(run.last + 1):
        run.adds(run.last + 1, longest=MAX_LIST)
    growing = run.has_list() or run.heads_table(run.last)
    while growing:
        goes_on = run.heads_table(run.last) or run.continues(run.last + 1)
        step = run.last + 1 if goes_on else run.next_item()
        growing = step is not None and run.adds(step, longest=MAX_LIST)
    if not run.is_code(run.last):
        while run.is_code(run.last + 1) and run.adds(run.last + 1, longest=MAX_LIST):
            pass
    for _ in range(run.up_to_brace()):
        run.adds(run.last + 1, longest=MAX_LIST)

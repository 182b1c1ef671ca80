"""What sentences and documents share: an aspect, their words, a title, a table.

Rows of tables that a question asks for: docs/decisions/058.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quoth.answering.extractive.candidates import Quotable, normalize
from quoth.answering.extractive.runs import MAX_LIST, is_program
from quoth.answering.extractive.score import CandidateSentences, Scores, stems_of
from quoth.core.types import Passage, Query
from quoth.query.tokens import folded_words
from quoth.text.analyzer import analyze
from quoth.text.locators import CELL_GAP
from quoth.text.sentences import openings

DUPLICATE_OVERLAP = 0.7
"""Minimum word overlap (Jaccard) of duplicate sentences."""

BEGINNING = 20
"""Characters beside an aspect's name in which a sentence begins with it."""
MIN_TITLE = 4
"""Minimum letters of a title that is looked for in a text."""
ASPECT_MARGIN = 6.0
"""How far the only sentence about an aspect of a comparison may be below the best of all."""
BESIDE_MARGIN = 2.5
"""The same where the best sentence of all is neither about one of them nor compares them."""

_BRACKETS = re.compile(r"\([^()]*+\)")
_WORD = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def speaks_of(candidates: CandidateSentences, place: int, aspect: str) -> bool:
    """Return whether a sentence, or a title above it, names an aspect."""
    each = candidates.sentences[place]
    wanted = frozenset(analyze(aspect, language=each.language))
    return bool(wanted) and wanted <= candidates.stems[place] | candidates.around[place]


def is_named(candidates: CandidateSentences, place: int, aspect: str) -> bool:
    """Return whether a sentence itself names an aspect."""
    wanted = frozenset(analyze(aspect, language=candidates.sentences[place].language))
    return wanted <= candidates.stems[place]


def begins_with(candidates: CandidateSentences, place: int, aspect: str) -> bool:
    """Return whether a sentence names an aspect in its first words."""
    each = candidates.sentences[place]
    opening = each.text[: len(aspect) + BEGINNING]
    return frozenset(analyze(aspect, language=each.language)) <= frozenset(
        analyze(opening, language=each.language)
    )


def best_of_aspects(
    query: Query, candidates: CandidateSentences, order: Sequence[int], scores: Scores
) -> dict[int, str]:
    """Return the best sentence of each aspect of a comparison, with the aspect's name.

    A sentence that begins with the aspect tells what it is, another may only mention it; best are
    such sentences of one passage. Where an aspect has no such sentence, there are none if the best
    sentence of all speaks of each aspect: it compares them itself. Sentences far below that one
    are left out, and there are none if only one is left.
    """
    found: dict[int, str] = {}
    openings: dict[str, list[int]] = {}
    for aspect in query.aspects:
        speaking = [at for at in order if speaks_of(candidates, at, aspect)]
        near = [at for at in speaking if scores[speaking[0]] - scores[at] <= ASPECT_MARGIN]
        openings[aspect] = [at for at in near if begins_with(candidates, at, aspect)]
        place = next((at for at in openings[aspect] + speaking if at not in found), None)
        if place is not None:
            found[place] = aspect
    compared = all(is_named(candidates, order[0], aspect) for aspect in query.aspects)
    passages = [{candidates.sentences[at].passage for at in each} for each in openings.values()]
    for passage in sorted(set.intersection(*passages)) if passages else ():
        together = {
            next(at for at in places if candidates.sentences[at].passage == passage): aspect
            for aspect, places in openings.items()
        }
        if len(together) == len(query.aspects):
            found = together
            break
    else:
        if compared and not all(openings.values()):
            return {}
    margin = ASPECT_MARGIN if compared or order[0] in found else BESIDE_MARGIN
    kept = {at: name for at, name in found.items() if scores[order[0]] - scores[at] <= margin}
    return kept if len(kept) > 1 else {}


def _is_negated(sentence: Quotable) -> bool:
    negation = openings("negation", sentence.language)
    return negation.search(normalize(sentence.text)) is not None


def is_duplicate(candidates: CandidateSentences, place: int, other: int) -> bool:
    """Return whether most words are shared, or one sentence nearly contains the other.

    Sentences that differ in a number or in a "not" contradict one another, and both are kept.
    """
    one, two = candidates.stems[place], candidates.stems[other]
    texts = (candidates.sentences[place].text, candidates.sentences[other].text)
    figures = [frozenset(_FIGURE.findall(text)) for text in texts]
    if not one or not two or figures[0] != figures[1]:
        return False
    if _is_negated(candidates.sentences[place]) != _is_negated(candidates.sentences[other]):
        return False
    shared = len(one & two)
    smaller = min(len(one), len(two))
    return shared >= DUPLICATE_OVERLAP * len(one | two) or (
        smaller >= 4 and shared >= 0.9 * smaller
    )


def linked_sentence(
    candidates: CandidateSentences,
    order: Sequence[int],
    runs: Sequence[tuple[range, int]],
    passages: Sequence[Passage],
) -> int | None:
    """Return the best sentence of another document that is linked to the only one quoted."""
    quoted = {candidates.sentences[seed].document_id for _, seed in runs}
    if len(quoted) != 1:
        return None
    run, seed = runs[0]
    text = " ".join(candidates.sentences[at].text for at in run)
    title = passages[candidates.sentences[seed].passage].document.title
    for at in order:
        other = candidates.sentences[at]
        document = passages[other.passage].document
        if other.document_id not in quoted and _are_linked(
            title, text, other_title=document.title, other_text=other.text
        ):
            return at
    return None


def _are_linked(title: str, text: str, *, other_title: str, other_text: str) -> bool:
    """Return whether one of two documents names the title of the other in its text.

    Documents with the same title, or one within the other, are parts of one source.
    """
    titles = _words(_BRACKETS.sub(" ", title)), _words(_BRACKETS.sub(" ", other_title))
    if titles[0] in titles[1] or titles[1] in titles[0]:
        return False
    return any(
        len(name.strip()) >= MIN_TITLE and name in _words(said)
        for name, said in ((titles[0], other_text), (titles[1], text))
    )


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(normalize(text)))} "


def are_quoted(texts: Sequence[str], answers: Sequence[str]) -> list[bool]:
    """Return of each text whether one of the answers quotes it word for word."""
    quoted = f" {' | '.join(' '.join(folded_words(each)) for each in answers)} "
    folded = (" ".join(folded_words(each)) for each in texts)
    return [bool(words) and f" {words} " in quoted for words in folded]


MARGIN = 1.0
"""Log-odds by which the best of the rows may be below the sentence that leads to them."""


def asked_rows(
    candidates: CandidateSentences, seed: int, *, scores: Scores, passages: Sequence[Passage]
) -> list[int]:
    """Return the rows of a sentence's table that hold most of the question, in reading order.

    The words count by their rarity, those among the values of a row twice as much as those among
    the names of its columns, those that are all of its first value three times, and none that all
    rows hold alike. Words of the conversation decide only between rows that hold the question's own
    alike, and count the same: a rare one may be of a turn long before. Empty for a sentence that is
    no row, and where the whole table tells more: the rows lack a word that others have, they score
    far below the sentence, or they do not fit into a quotation.
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
    return sorted(
        (
            at
            for at, each in enumerate(candidates.sentences)
            if each.has_cells
            and each.document_id == own.document_id
            and each.section == own.section
        ),
        key=lambda at: candidates.sentences[at].start,
    )


def _words_held(candidates: CandidateSentences, rows: Sequence[int]) -> dict[int, list[int]]:
    """Return for each word of the question how it is in a row.

    1 in the names of its columns alone, 2 in its values, 3 in its first value where that has no
    words but those of the question: the row is about it. A word of the conversation has at most 2.
    """
    texts = [candidates.sentences[at].text.split(CELL_GAP) for at in rows]
    names = {cell.rpartition(": ")[0] for cells in texts for cell in cells}
    held = {}
    asked = frozenset[str]().union(*(term.forms.union(*term.parts) for term in candidates.terms))
    for at, cells in zip(rows, texts, strict=True):
        values = " ".join(cell.rpartition(": ")[2] for cell in cells if cell not in names)
        stems = stems_of(values, candidates.sentences[at].language)
        first = stems_of(cells[0].rpartition(": ")[2], candidates.sentences[at].language)
        topic = first if first <= asked else frozenset[str]()
        held[at] = [
            term.among(candidates.stems[at])
            + term.among(stems)
            + (term.is_asked and term.among(topic))
            for term in candidates.terms
        ]
    return held

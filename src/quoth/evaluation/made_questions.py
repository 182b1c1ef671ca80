"""Questions made out of a collection itself, without judgments and without a language model.

The main form is an inverse cloze (Lee et al., ACL 2019): a sentence is the question, and the chunk
that it was taken out of is what a search must find by the rest. A question in the very words of
its source would flatter the keyword leg, whose best weight it put at 1 on five sets where real
questions want a half; with the sentence taken out both agree (docs/decisions/018). Headings and
definitions are worded as people ask for them; those chunks stay whole.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from quoth.answering.extractive.candidates import Quotable, quotable_sentences
from quoth.core.types import Chunk, Document, Passage
from quoth.text.analyzer import analyze
from quoth.text.stop_words import STOP_WORDS

Form = Literal["sentence", "definition", "heading"]

FEWEST_WORDS, MOST_WORDS = 8, 45
"""Words of a sentence that may be a question."""
LEAST_REST = 150
"""Characters of a chunk that must be left without the sentence."""
TELLING = math.log(5)
"""The rarity from which a word tells something: a fifth of the chunks hold it."""
ALIKE = 0.6
"""Shared part of the words (Jaccard) from which two chunks count as copies of each other."""

_SUBJECT = r"([^\W\d_][\w'’-]*(?: [\w'’-]+){0,3})"
_DEFINITIONS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "en": (re.compile(rf"^(?:An? |The )?{_SUBJECT} (?:is|are) (?:an?|the) \w+"), "What is {}?"),
    "fr": (
        re.compile(rf"^(?:Une? |Les? |La |L['’])?{_SUBJECT} (?:est|sont) (?:une?|des|les?|la) \w+"),
        "Qu'est-ce que {}\u202f?",
    ),
}


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question and the chunk that it was made of, as a search shall see it.

    ``chunk`` lacks the sentence where that is the question, and ``whole`` is what is stored.
    ``accepted`` are the chunks that count as found: this one and its neighbours in the section,
    or all under the heading.
    """

    text: str
    language: str
    form: Form
    chunk: Chunk
    whole: Chunk
    accepted: frozenset[str]


def make_questions(
    chunks: Sequence[Chunk], *, title_of: Callable[[str], str], most: int, seed: int = 0
) -> list[MadeQuestion]:
    """Make up to ``most`` questions of as many chunks, the same for the same chunks and seed.

    ``chunks`` are those of whole documents; ``title_of`` gives a document's title. Sentences that
    stand in several chunks, that lean on others or that are no statements make no question, and
    of chunks that are copies of each other only the first does. Two in twelve questions are
    worded from a heading or a definition where there is one.
    """
    stems = {each.chunk_id: words_of(each) for each in chunks}
    held = Counter(stem for each in stems.values() for stem in each)
    rarity = {stem: math.log(len(chunks) / count) for stem, count in held.items()}
    repeated = _repeated(chunks)
    under = _under_headings(chunks)
    ordered = sorted(chunks, key=lambda each: each.chunk_id)
    order = [ordered[at] for at in np.random.default_rng(seed).permutation(len(ordered))]
    made: list[MadeQuestion] = []
    used: list[frozenset[str]] = []
    asked: set[str] = set()
    for chunk in order:
        if len(made) >= most:
            break
        if any(is_duplicate(stems[chunk.chunk_id], other) for other in used):
            continue
        fit = [
            each
            for each in _statements(chunk, title=title_of(chunk.document_id))
            if normalized(each.text) not in repeated
        ]
        siblings = under[chunk.document_id, chunk.section]
        question = _question_of(chunk, fit, siblings, rarity=rarity, turn=len(made) % 12)
        if question is not None and question.text.casefold() not in asked:
            made.append(question)
            used.append(stems[chunk.chunk_id])
            asked.add(question.text.casefold())
    return made


def is_duplicate(stems: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words are copies of each other: their Jaccard is at least `ALIKE`."""
    small, large = sorted((len(stems), len(other)))
    if small < ALIKE * large or not small:
        return False
    shared = len(stems & other)
    return shared >= ALIKE * (small + large - shared)


def words_of(chunk: Chunk) -> frozenset[str]:
    """Return the stems of a chunk's text."""
    return frozenset(analyze(chunk.text, language=chunk.language))


def normalized(text: str) -> str:
    """Return a text on one line in lower case, to be looked for in others."""
    return " ".join(text.casefold().split())


def _repeated(chunks: Sequence[Chunk]) -> frozenset[str]:
    """Return the normalized sentences of more than one chunk: headers, licences, notices."""
    seen: Counter[str] = Counter()
    for chunk in chunks:
        seen.update({normalized(line) for line in re.split(r"(?<=[.!?])\s+|\n+", chunk.text)})
    return frozenset(each for each, count in seen.items() if count > 1)


def _under_headings(chunks: Sequence[Chunk]) -> Mapping[tuple[str, tuple[str, ...]], list[Chunk]]:
    found: dict[tuple[str, tuple[str, ...]], list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        found[chunk.document_id, chunk.section].append(chunk)
    return found


def _statements(chunk: Chunk, *, title: str) -> list[Quotable]:
    """Return the sentences of a chunk that say something by themselves."""
    document = Document(chunk.document_id, title, chunk.kind, "ready")
    return [
        each
        for each in quotable_sentences([Passage(1, document, (chunk,), (), 1.0)])
        if each.standalone_score >= 1
        and not (each.anaphoric or each.question or each.cut)
        and FEWEST_WORDS <= len(each.text.split()) <= MOST_WORDS
    ]


def _question_of(
    chunk: Chunk,
    fit: Sequence[Quotable],
    siblings: Sequence[Chunk],
    *,
    rarity: Mapping[str, float],
    turn: int,
) -> MadeQuestion | None:
    """Word one question of a chunk; the forms take turns."""
    near = frozenset(e.chunk_id for e in siblings if abs(e.ordinal - chunk.ordinal) <= 1)
    if turn == 5 and chunk.section and (title := _heading(chunk)):
        every = frozenset(each.chunk_id for each in siblings)
        return MadeQuestion(title, chunk.language, "heading", chunk, chunk, every)
    if turn == 11:
        for each in fit:
            if defined := _definition(each):
                return MadeQuestion(defined, chunk.language, "definition", chunk, chunk, near)
    fit = [each for each in fit if len(chunk.text) - len(each.text) >= LEAST_REST]
    if not fit:
        return None
    best = max(fit, key=lambda each: (_salience(each, rarity), -each.start))
    first, last = best.start - chunk.start, best.end - chunk.start
    rest = replace(chunk, text=chunk.text[:first] + chunk.text[last:])
    text = " ".join(best.text.split())
    return MadeQuestion(text, chunk.language, "sentence", rest, chunk, near)


def _heading(chunk: Chunk) -> str:
    title = chunk.section[-1].strip().rstrip(" :.")
    terms = analyze(title, language=chunk.language)
    return f"{title}?" if len(terms) > 1 and not title.endswith("?") else title if terms[1:] else ""


def _definition(sentence: Quotable) -> str | None:
    """For "(The) X is a …" give "What is X?"."""
    if sentence.language not in _DEFINITIONS:
        return None
    pattern, template = _DEFINITIONS[sentence.language]
    match = pattern.match(sentence.text)
    stop = STOP_WORDS[sentence.language]
    if match is None or any(word.casefold() in stop for word in match.group(1).split()):
        return None
    return template.format(match.group(1)) if len(match.group(1)) > 3 else None


def _salience(sentence: Quotable, rarity: Mapping[str, float]) -> float:
    """Return how much a sentence tells by its rare words, as a mean that favours ten of them."""
    found = set(analyze(sentence.text, language=sentence.language))
    weight = sum(rarity.get(stem, 0.0) for stem in found if rarity.get(stem, 0.0) > TELLING)
    return weight / (1 + abs(len(found) - 10) / 10)

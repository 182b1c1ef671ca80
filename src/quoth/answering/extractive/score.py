"""Features of candidate sentences, and their weights."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quoth.answering.extractive.candidates import Quotable
from quoth.answering.extractive.wording import (
    ASKING_WEIGHT,
    COPULA,
    DEFINING,
    INVERTED,
    normalize,
)
from quoth.core.protocols import Matrix
from quoth.core.types import Passage, Query
from quoth.query.filters.patterns import word_set
from quoth.text.analyzer import analyze

Scores = npt.NDArray[np.float64]
_JOINED = re.compile(r"\w[-./@&_]\w")
_SIGNS = " .,;:!?\"'()[]«»“”…¿¡"


Features = Mapping[str, Scores]
"""One row per feature, one column per sentence; higher is better.

``words``, ``around`` and ``passage`` are shares from 0 to 1: of the query's words in the sentence,
of those around it, and of the passage's score; ``definition`` is 0 or 1. ``late``, ``asked`` and
``beside`` are standard scores of late interaction: with the whole query, with its question word,
and of the adjacent sentences; ``cosine`` is the standard score of the vectors.
"""
_NAMES = ("words", "around", "passage", "definition", "late", "asked", "beside", "cosine")
_WEIGHTS = {
    (False, False): (4.3, 0.85, 5.0, 2.0, 0.0, 0.0, 0.0, 0.0),
    (True, False): (2.0, 1.15, 3.7, 2.0, 1.0, 0.5, 0.5, 0.0),
    (False, True): (2.5, 1.2, 4.0, 2.0, 0.0, 0.0, 0.0, 1.2),
    (True, True): (1.3, 1.2, 3.0, 2.0, 0.7, 0.5, 0.5, 0.8),
}
"""Log-odds per feature that a sentence belongs to the answer, by whether late interaction and
vectors are available (docs/decisions/025)."""
MIN_SPREAD = 0.008
"""Minimum standard deviation of cosines: a few of them may be equal."""
MAX_TITLE = 60
"""Maximum characters of a title that are embedded before a sentence."""


@dataclass(frozen=True, slots=True)
class Term:
    """A query word: its stems in the languages involved, and its weight (rarity).

    ``parts`` are the stems of the parts of a compound: "fine-tuning" matches "finetuning", and
    "fine" together with "tuning".
    """

    word: str
    """The word as in the query, normalized."""
    forms: frozenset[str]
    parts: tuple[frozenset[str], ...]
    weight: float

    def among(self, stems: frozenset[str]) -> bool:
        """Return whether the stems contain the word."""
        if self.forms & stems:
            return True
        return bool(self.parts) and all(part & stems for part in self.parts)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """A query's terms and the candidate sentences, with the stems of each."""

    terms: tuple[Term, ...]
    sentences: tuple[Quotable, ...]
    stems: tuple[frozenset[str], ...]
    around: tuple[frozenset[str], ...]
    titles: tuple[str, ...]

    def titled_text(self, place: int) -> str:
        """Return a sentence on one line after the title of its passage, ready to be embedded."""
        each = self.sentences[place]
        title = self.titles[each.passage][:MAX_TITLE]
        text = " ".join(each.text.split())
        return f"{title}. {text}" if title else text

    def coverage(self, stems: frozenset[str]) -> float:
        """Return the weighted share of the query's words among the stems, in [0, 1]."""
        whole = sum(term.weight for term in self.terms)
        held = sum(term.weight for term in self.terms if term.among(stems))
        return held / whole if whole else 0.0


def collect_features(
    query: Query, passages: Sequence[Passage], *, sentences: Sequence[Quotable]
) -> QueryContext:
    """Stem the query and the sentences, and weight the query's words by their rarity.

    The weight is ln(1 + (N − n + .5) / (n + .5)), as in BM25, with n counted among the N sentences.
    """
    stems = tuple(
        frozenset(analyze(sentence.text, language=sentence.language)) for sentence in sentences
    )
    counts, documents = Counter(stem for held in stems for stem in held), len(stems)
    asked = _question_forms(query, {sentence.language for sentence in sentences})
    weighed = []
    for word, forms, parts in asked:
        n = max((counts[form] for form in forms), default=0)
        if parts:
            n = max(n, min(max(counts[form] for form in part) for part in parts))
        n = min(n, documents)
        rarity = math.log(1 + (documents - n + 0.5) / (n + 0.5))
        weight = rarity * (ASKING_WEIGHT if word in word_set("asking_words") else 1)
        weighed.append(Term(word, forms, parts, weight))
    return QueryContext(
        terms=tuple(weighed),
        sentences=tuple(sentences),
        stems=stems,
        around=_surroundings(passages, sentences=sentences, stems=stems),
        titles=tuple(_title(passage) for passage in passages),
    )


def _title(passage: Passage) -> str:
    section = passage.chunks[0].section
    return (section[-1] if section else passage.document.title).replace("_", " ").strip()


def _question_forms(
    query: Query, languages: set[str]
) -> list[tuple[str, frozenset[str], tuple[frozenset[str], ...]]]:
    """Stem each word in the query's language and, if it counts there, in the others too.

    A compound comes with its parts, since the analyzer gives the parts and then the whole.
    """
    asked: dict[str, tuple[str, frozenset[str], tuple[frozenset[str], ...]]] = {}
    for word in query.standalone.split():
        bare = INVERTED.sub("", word).strip(_SIGNS)
        own = analyze(bare, language=query.language)
        others = [analyze(bare, language=language) for language in sorted(languages)]
        forms = [
            frozenset({stem, *(each[place] for each in others if len(each) == len(own))})
            for place, stem in enumerate(own)
        ]
        if len(own) > 2 and _JOINED.search(bare):
            asked.setdefault(own[-1], (normalize(bare), forms[-1], tuple(forms[:-1])))
            continue
        for stem, each in zip(own, forms, strict=True):
            asked.setdefault(stem, (normalize(bare), each, ()))
    return list(asked.values())


def _surroundings(
    passages: Sequence[Passage], *, sentences: Sequence[Quotable], stems: Sequence[frozenset[str]]
) -> tuple[frozenset[str], ...]:
    """Return for each sentence the stems of its titles and of the sentence before it."""
    titles: dict[int, frozenset[str]] = {}
    for index, passage in enumerate(passages):
        first = passage.chunks[0]
        words = " ".join((passage.document.title, *first.section, first.prefix))
        titles[index] = frozenset(analyze(words.replace("_", " "), language=first.language))
    found = []
    for place, each in enumerate(sentences):
        before = frozenset[str]()
        if place and sentences[place - 1].passage == each.passage:
            before = stems[place - 1]
        found.append(titles[each.passage] | before)
    return tuple(found)


def late_features(
    material: QueryContext, *, whole: Sequence[float], asked: Sequence[float] | None
) -> Features:
    """Return the late interaction features, from its scores for every sentence.

    Without ``asked`` only similarity to the whole query counts. Where one sentence repeats the
    query, an adjacent sentence may answer: ``beside`` is half the sum of its neighbours.
    """
    near = _standard(np.array(whole, np.float64))
    if asked is None:
        return {"late": near}
    passages = np.array([sentence.passage for sentence in material.sentences])
    follows = passages[1:] == passages[:-1]
    beside = np.zeros_like(near)
    beside[1:] += follows * near[:-1] / 2
    beside[:-1] += follows * near[1:] / 2
    return {"late": near, "asked": _standard(np.array(asked, np.float64)), "beside": beside}


def total_scores(features: Features, *, cosines: Scores | None = None) -> Scores:
    """Return the weighted sum of the features of each sentence.

    Cosines of one embedder lie close together and those of another far apart; the standard score
    makes one weight fit both. An unknown cosine is NaN and counts as the mean.
    """
    if cosines is not None:
        features = {**features, "cosine": _standard(cosines)}
    weights = dict(zip(_NAMES, _WEIGHTS["late" in features, cosines is not None], strict=True))
    total: Scores = np.sum([weights[name] * row for name, row in features.items()], axis=0)
    return total


def _standard(likeness: Scores) -> Scores:
    known = likeness[~np.isnan(likeness)]
    if known.size < 2:
        return np.zeros_like(likeness)
    standard: Scores = (likeness - known.mean()) / max(float(known.std()), MIN_SPREAD)
    return np.nan_to_num(standard)


def word_features(query: Query, material: QueryContext, *, passages: Sequence[Passage]) -> Features:
    """Return the lexical features of every sentence."""
    best = max((passage.score for passage in passages), default=0.0) or 1.0
    subject = _defined_subject(material, normalize(query.standalone))
    rows = []
    for sentence, stems, around in zip(
        material.sentences, material.stems, material.around, strict=True
    ):
        held = material.coverage(stems)
        rows.append(
            (
                held,
                material.coverage(stems | around) - held,
                max(0.0, passages[sentence.passage].score / best),
                float(subject is not None and _defines(subject, normalize(sentence.text))),
            )
        )
    columns = np.array(rows, np.float64).reshape(len(rows), 4).T
    return dict(zip(_NAMES[:4], columns, strict=True))


def cosines_to(question: Matrix, vectors: Matrix) -> Scores:
    """Return the cosine of each unit row with the question's unit vector."""
    found: Scores = vectors.astype(np.float64) @ question.astype(np.float64).ravel()
    return found


def _defined_subject(material: QueryContext, question: str) -> re.Pattern[str] | None:
    """For "What is X?" return the pattern of X."""
    if not material.terms or len(material.terms) > 4 or not DEFINING.match(question):
        return None
    words = dict.fromkeys(term.word.removesuffix("s") for term in material.terms)
    return re.compile(r"[\s'-]+".join(re.escape(word) + r"s?" for word in words))


_BEFORE_SUBJECT = re.compile(
    r"(?:(?:an?|the|une?|les?|la|des|du|l'|d')\s*+)?[\"«'(]?\s*(?:[\w'-]+\s+){0,2}"
)
_BEHIND_SUBJECT = re.compile(
    r"[\"»')]?(?:\s*\([^)]*\))?,?(?:\s+[\w'-]+){0,3}?\s+(?:ne |n')?" + COPULA
)


def _defines(subject: re.Pattern[str], sentence: str) -> bool:
    """Return whether a sentence opens with "(The) X … is"."""
    return any(
        _BEFORE_SUBJECT.fullmatch(sentence, 0, found.start())
        and _BEHIND_SUBJECT.match(sentence, found.end())
        for found in subject.finditer(sentence)
    )

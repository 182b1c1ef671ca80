"""Scores of candidate sentences: a linear model over a few features."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from quoth.answering.extractive.candidates import (
    ASKING_WEIGHT,
    INVERTED,
    Quotable,
    normalize,
)
from quoth.answering.extractive.definitions import defined_terms
from quoth.core.protocols import Matrix
from quoth.core.types import Filter, Passage, Query
from quoth.query.filters.attributes import announced_names
from quoth.query.filters.patterns import word_set
from quoth.query.intent import may_ask_for_definition
from quoth.query.tokens import folded_words, tokenize_query
from quoth.text.analyzer import analyze, plain_numbers
from quoth.text.locators import speaker_filters

Scores = npt.NDArray[np.float64]
_JOINED = re.compile(r"\w[-./@&_]\w")
_SIGNS = " .,;:!?\"'()[]«»“”…¿¡"


Features = Mapping[str, Scores]
"""One row per feature, one column per sentence; higher is better.

``words`` and ``around`` are shares from 0 to 1 of the query's words: in the sentence, and only in
its titles or the sentence before it. ``passage`` is the score of its passage as a share of the best
one. ``question`` is 1 for a question, ``term`` for the definition of just the term asked for.
``late`` is the standard score of late interaction with the query, ``cosine`` that of the sentence's
own vector.
"""
WITH_TOKENS = {
    "late": 1.13,
    "words": 3.58,
    "around": 2.6,
    "passage": 4.48,
    "question": -2.26,
    "term": 5.0,
}
"""Log-odds that a sentence is evidence, fitted by scripts/train_answers.py leaving each of six
judged sets out in turn, times .85 for the margins of runs (docs/decisions/042). No set has
lists of terms: ``term`` is set so that the definition of just the term goes first."""
WITHOUT_TOKENS = {
    "cosine": 0.99,
    "words": 6.96,
    "around": 3.2,
    "passage": 4.52,
    "question": -0.85,
    "term": 5.0,
}
"""The same for an embedder without token vectors, or for words alone."""
ANNOUNCED, FILTERED = 6.0, 20.0
"""How far the sentences of a speaker go before those of others where the question announces the
name, and where a filter does: the second is more than any margin of sentences quoted together."""
EARLIER_WEIGHT = 0.5
"""What a word of earlier questions counts beside those of a follow-up itself."""
MIN_SPREAD = 0.008
"""Minimum standard deviation of similarities: a few of them may be equal."""
MIN_NAME = 3
"""Minimum letters of a speaker's name in a query; "Dr" is none."""
FOREIGN_PENALTY = 1.0
"""The penalty of a sentence in another language than the query's."""
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
    is_asked: bool = True
    """Whether it is in the question itself, not only in the conversation before it."""

    def among(self, stems: frozenset[str]) -> bool:
        """Return whether the stems contain the word."""
        if self.forms & stems:
            return True
        return bool(self.parts) and all(part & stems for part in self.parts)


@dataclass(frozen=True, slots=True)
class CandidateSentences:
    """A query's terms and the candidate sentences, with the stems of each."""

    terms: tuple[Term, ...]
    sentences: tuple[Quotable, ...]
    stems: tuple[frozenset[str], ...]
    around: tuple[frozenset[str], ...]
    speakers: tuple[frozenset[str], ...]
    """The stems of who says each sentence, empty where that is not known."""
    preference: tuple[float, ...]
    """How far each goes before others because of who says it."""
    titles: tuple[str, ...]

    def titled_text(self, place: int) -> str:
        """Return a sentence on one line after the title of its passage, ready to be embedded."""
        each = self.sentences[place]
        title = self.titles[each.passage][:MAX_TITLE]
        text = " ".join(each.text.split())
        return f"{title}. {text}" if title else text

    def asked_speaker(self, place: int) -> frozenset[str]:
        """Return the stems of who says a sentence if the query names them, else nothing."""
        names = {stem for stem in self.speakers[place] if len(stem) >= MIN_NAME}
        named = any(not term.forms.isdisjoint(names) for term in self.terms)
        return self.speakers[place] if named or self.preference[place] else frozenset()

    def coverage(self, stems: frozenset[str]) -> float:
        """Return the weighted share of the query's words among the stems, in [0, 1]."""
        whole = sum(term.weight for term in self.terms)
        held = sum(term.weight for term in self.terms if term.among(stems))
        return held / whole if whole else 0.0


def prefer_language(query: Query, candidates: CandidateSentences, scores: Scores) -> Scores:
    """Return scores with `FOREIGN_PENALTY` less for sentences in another language than the query's.

    It is the same for all where none is in the query's.
    """
    foreign = [sentence.language != query.language for sentence in candidates.sentences]
    return scores - FOREIGN_PENALTY * np.array(foreign, dtype=float)


def collect_features(
    query: Query,
    passages: Sequence[Passage],
    *,
    sentences: Sequence[Quotable],
    filters: Sequence[Filter] = (),
) -> CandidateSentences:
    """Stem the query and the sentences, and weight the query's words by their rarity.

    ``filters`` may name the speakers whose words are asked for. The weight is
    ln(1 + (N − n + .5) / (n + .5)), as in BM25, with n counted among the N sentences.
    """
    stems = tuple(stems_of(sentence.text, sentence.language) for sentence in sentences)
    counts, documents = Counter(stem for held in stems for stem in held), len(stems)
    said = stems_of(query.original, query.language)
    asked = _question_forms(query, {sentence.language for sentence in sentences})
    weighed = []
    for word, forms, parts in asked:
        n = max((counts[form] for form in forms), default=0)
        if parts:
            n = max(n, min(max(counts[form] for form in part) for part in parts))
        n = min(n, documents)
        rarity = math.log(1 + (documents - n + 0.5) / (n + 0.5))
        weight = rarity * (ASKING_WEIGHT if word in word_set("asking_words") else 1)
        is_asked = not query.is_followup or not forms.isdisjoint(said)
        weighed.append(Term(word, forms, parts, weight, is_asked))
    names = _speakers(passages, sentences=sentences)
    speakers = tuple(
        stems_of(name, each.language) for name, each in zip(names, sentences, strict=True)
    )
    return CandidateSentences(
        terms=tuple(weighed),
        sentences=tuple(sentences),
        stems=stems,
        around=_surroundings(passages, sentences=sentences, stems=stems, speakers=speakers),
        speakers=speakers,
        preference=_preference(query, names, filters=filters),
        titles=tuple(_title(passage) for passage in passages),
    )


def _preference(
    query: Query, names: Sequence[str], *, filters: Sequence[Filter]
) -> tuple[float, ...]:
    """Return how far each sentence goes before others, by the name of who says it.

    A question that also names others who speak ("Did Ben agree with what Ada said?") is about them,
    too: none goes before others for its announcement.
    """
    if not any(names):
        return (0.0,) * len(names)
    said = [*announced_names(query.original), *announced_names(query.standalone)]
    filtered = [
        frozenset(folded_words(str(name)))
        for each in speaker_filters(filters)
        for name in each.values
    ]
    words = {name: frozenset(folded_words(name)) for name in names}
    announced = {name for name in names if any(each <= words[name] for each in said)}
    question = {word for word in folded_words(query.original) if len(word) >= MIN_NAME}
    if any(words[name] & question for name in words.keys() - announced):
        announced = set()
    asked = {name for name in names if any(each <= words[name] for each in filtered)}
    return tuple(
        FILTERED if name in asked else ANNOUNCED if name in announced else 0.0 for name in names
    )


@lru_cache(maxsize=2048)  # some 2 kB each; a question has a hundred
def stems_of(text: str, language: str) -> frozenset[str]:
    """Return the stems of a text; the same sentences are compared again and again."""
    return frozenset(analyze(text, language=language))


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
    for word in plain_numbers(" ".join(query.standalone.split())).split():
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
    passages: Sequence[Passage],
    *,
    sentences: Sequence[Quotable],
    stems: Sequence[frozenset[str]],
    speakers: Sequence[frozenset[str]],
) -> tuple[frozenset[str], ...]:
    """Return for each sentence the stems of its titles, speaker and the sentence before it.

    A row of a table says nothing about the next one.
    """
    titles: dict[int, frozenset[str]] = {}
    for index, passage in enumerate(passages):
        first = passage.chunks[0]
        words = " ".join((passage.document.title, *first.section))
        titles[index] = frozenset(analyze(words.replace("_", " "), language=first.language))
    found = []
    for place, each in enumerate(sentences):
        before = frozenset[str]()
        last = sentences[place - 1] if place else None
        if last is not None and last.passage == each.passage and not last.has_cells:
            before = stems[place - 1]
        found.append(titles[each.passage] | before | speakers[place])
    return tuple(found)


def _speakers(passages: Sequence[Passage], *, sentences: Sequence[Quotable]) -> list[str]:
    """Return who says each sentence: the speaker of its cue, else of its document."""
    cues = [_cues(passage) for passage in passages]
    found = []
    for each in sentences:
        own = cues[each.passage]
        _, name = own[bisect_right(own, each.start, key=itemgetter(0)) - 1]
        found.append(name)
    return found


def _cues(passage: Passage) -> list[tuple[int, str]]:
    """Return where the cues of a passage begin, and who speaks."""
    own = passage.document.speaker or ""
    places = [place for chunk in passage.chunks for place in chunk.places]
    return [(0, own), *((at.start, at.locator.speaker or own) for at in places)]


def sentence_scores(
    query: Query,
    candidates: CandidateSentences,
    *,
    passages: Sequence[Passage],
    late: Sequence[float] | None = None,
    cosines: Scores | None = None,
) -> Scores:
    """Return the log-odds, up to a constant, that each sentence is evidence for an answer.

    ``late`` are late interaction's scores of the sentences. Without them ``cosines`` of the
    sentences' own vectors are used, NaN where unknown, or the words alone.
    """
    if not candidates.sentences:
        return np.zeros(0)
    terms = tuple(
        each if each.is_asked else replace(each, weight=EARLIER_WEIGHT * each.weight)
        for each in candidates.terms
    )
    weighed = replace(candidates, terms=terms)
    features = feature_rows(query, weighed, passages=passages, late=late, cosines=cosines)
    weights = WITHOUT_TOKENS if late is None else WITH_TOKENS
    total: Scores = np.sum([weights[name] * row for name, row in features.items()], axis=0)
    preference = np.array(candidates.preference)
    total += preference - preference.max(initial=0.0)
    return total


def feature_rows(
    query: Query,
    candidates: CandidateSentences,
    *,
    passages: Sequence[Passage],
    late: Sequence[float] | None = None,
    cosines: Scores | None = None,
) -> Features:
    """Return the features of every sentence."""
    best = max((passage.score for passage in passages), default=0.0) or 1.0
    held = np.array([candidates.coverage(stems) for stems in candidates.stems])
    with_titles = [
        candidates.coverage(stems | around)
        for stems, around in zip(candidates.stems, candidates.around, strict=True)
    ]
    passage = np.array([sentence.passage for sentence in candidates.sentences], int)
    shares = np.array([max(0.0, each.score / best) for each in passages])
    features = {
        "words": held,
        "around": np.array(with_titles) - held,
        "passage": shares[passage],
        "question": np.array([float(sentence.question) for sentence in candidates.sentences]),
        "term": _defining(query, candidates),
    }
    if late is not None:
        features["late"] = _standard(np.array(late, np.float64))
    elif cosines is not None:
        features["cosine"] = _standard(cosines)
    return features


def _defining(query: Query, candidates: CandidateSentences) -> Scores:
    """Return 1 for each sentence that defines just the asked term, in prose if that is asked."""
    asking = {term.word for term in candidates.terms} & word_set("asking_words")
    asked = [term for term in candidates.terms if term.word not in asking]
    known = frozenset().union(*(term.forms.union(*term.parts) for term in asked))
    may_ask = may_ask_for_definition(tokenize_query(query.standalone))
    in_prose = may_ask and asking <= word_set("defining_words")

    def defines(sentence: Quotable) -> bool:
        return any(
            stems and stems <= known and all(term.among(stems) for term in asked)
            for stems in defined_terms(sentence, in_prose=in_prose)
        )

    return np.array([float(defines(each)) for each in candidates.sentences])


def _standard(likeness: Scores) -> Scores:
    """Return standard scores; an unknown similarity is NaN and counts as the mean."""
    known = likeness[~np.isnan(likeness)]
    if known.size < 2:
        return np.zeros_like(likeness)
    standard: Scores = (likeness - known.mean()) / max(float(known.std()), MIN_SPREAD)
    return np.nan_to_num(standard)


def cosines_to(question: Matrix, vectors: Matrix) -> Scores:
    """Return the cosine of each unit row with the question's unit vector."""
    found: Scores = vectors.astype(np.float64) @ question.astype(np.float64).ravel()
    return found


def aspects_without(query: Query, candidates: CandidateSentences) -> tuple[str, ...]:
    """Return the aspects of whose words the passages hold at most half.

    Signs alone ("$@") are no words to look for.
    """
    everything = frozenset[str]().union(*candidates.stems, *candidates.around)
    absent = []
    for aspect in query.aspects:
        stems = stems_of(aspect, query.language)
        held = [term.among(everything) for term in candidates.terms if term.forms & stems]
        if held and sum(held) <= len(held) / 2:
            absent.append(aspect)
    return tuple(absent)

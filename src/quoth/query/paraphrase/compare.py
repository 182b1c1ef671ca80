"""Whether two questions ask the same, so that one answer may serve both.

Two questions can look nearly the same and ask for different things: another page, another name, a
negation, a comparative turned round. The cosine of their vectors hardly sees it, so what they ask
for is compared as well, part by part (`features`), and nothing may differ. The rules rather
refuse than err: what is refused is answered anew (docs/decisions/026-answer-cache.md).
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations

from quoth.query.paraphrase.features import QuestionFeatures, extract_features, stem_for

LEAST_COSINE = 0.92
"""Of the questions' vectors, under the default embedder."""
LONGEST = 1000
"""Characters; longer texts are no questions, and cost too much to compare."""
_LIGHT = {
    "en": "get use take go come show say seem stay become complete perform proceed process want"
}
"""Verbs that say little beside another and what it is about."""
_MEASURES = {
    "en": "cost duration number height age distance size speed weight depth width accuracy "
    "frequency purpose react happen differ title topic must point",
    "fr": "duree cout nombre hauteur frequence titre sujet utilite provenance devoir point",
}
"""What is asked of a thing; it may stand before it or behind it."""
_EITHER_WAY = {"en": "differ same distance", "fr": "difference meme distance"}
"""Between two things, of which either may be named first."""


def normalized_equal(one: str, other: str, *, cosine: float, least: float = LEAST_COSINE) -> bool:
    """Whether the answer to one question answers the other; ``cosine`` is of their vectors."""
    return cosine >= least and are_paraphrases(one, other)


def are_paraphrases(one: str, other: str) -> bool:
    """Whether two questions ask the same thing in the same or in known other words; symmetric."""
    if one.split() == other.split():
        return True
    if max(len(one), len(other)) > LONGEST:
        return False
    first, second = extract_features(one), extract_features(other)
    return (
        # "What is this?" and "What is that?" have nothing that could be the same.
        bool(first.subject or first.numbers)
        and first.language == second.language
        and first.numbers == second.numbers
        and first.negations == second.negations
        and _kinds_agree(first, second)
        and _subjects_agree(first, second)
        and _tenses_agree(first, second)
        and _owners_agree(first, second)
        and not _arguments_swapped(first, second)
    )


def _kinds_agree(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Whether both ask who, or when, or why; to explain a thing is to say what it is, or how."""
    if one.units and other.units and one.units != other.units:
        return False
    if one.kinds == other.kinds or "EXPLAIN" not in one.kinds | other.kinds:
        return one.kinds == other.kinds
    rest, too = one.kinds - {"EXPLAIN"}, other.kinds - {"EXPLAIN"}
    return rest | too <= {"WHAT", "HOW"} and (not rest or not too or rest == too)


def _subjects_agree(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Whether the same words are left, but for a verb that says little beside the others."""
    first, second = Counter(one.subject), Counter(other.subject)
    if first == second:
        return True
    more, less = (first, second) if first > second else (second, first)
    beside = more - less
    return (
        less <= more
        and beside.total() == 1
        and {*beside} <= _stems(_LIGHT.get(one.language, ""), one.language)
        and len(less) > 1
        and not one.negations
        and not {"WHAT", "WHERE"} & (one.kinds | other.kinds)
    )


def _tenses_agree(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Whether no time is another: what did not happen is not what has not, or will not."""
    kinds = one.kinds | other.kinds
    if one.negations or "SAY" in kinds:
        return one.tenses == other.tenses
    apart = one.tenses ^ other.tenses
    if {"past", "future"} <= apart or {"past", "present"} <= apart:
        return False
    return not ("future" in apart and {"HOW", "WHERE"} & kinds)


def _owners_agree(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Whether my thing is not any thing, or somebody else's, in the other."""
    if "SAY" in one.kinds and one.tail("mine") != other.tail("mine"):
        return False
    return not any(
        a.tail("mine") & (b.tail("some") | b.tail("theirs")) - b.tail("mine")
        or (a.tail("yours") - b.tail("yours") and b.first_person and not a.first_person)
        for a, b in ((one, other), (other, one))
    )


def _arguments_swapped(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Whether the same words stand in another order that may change who does what to whom."""
    kinds = one.kinds | other.kinds
    to, to_too = one.tail("to"), other.tail("to")
    if to & other.tail("from") or to_too & one.tail("from"):
        return True
    if to and to_too and not to & to_too:
        return True
    by, by_too = one.tail("by"), other.tail("by")
    if "HOW" in kinds and not by | by_too and one.tail("with") != other.tail("with"):
        return True
    if bool(by) != bool(by_too):
        # Of the passive's agent the active must say something.
        active = other.subject if by else one.subject
        return bool(active) and active[-1] in by | by_too
    return _order_differs(one, other, kinds)


def _order_differs(one: QuestionFeatures, other: QuestionFeatures, kinds: frozenset[str]) -> bool:
    measures = _stems(_MEASURES[one.language], one.language)
    first, second = (
        [word for word in dict.fromkeys(each.subject) if word not in measures]
        for each in (one, other)
    )
    either_way = _stems(_EITHER_WAY[one.language], one.language) & {*one.subject}
    if first == second or "COMPARE" in kinds or either_way:
        return False
    places = {word: at for at, word in enumerate(second)}
    there = [places[word] for word in first if word in places]
    names = [places[word] for word in first if word in places and word in one.names & other.names]
    if names != sorted(names):
        return True
    if one.auxiliary_verb != other.auxiliary_verb and {"WHAT", "WHO"} & kinds and len(there) == 2:
        return there[0] > there[1]
    # Two that change places around a third: subject and object of a verb, most likely.
    return any(a > b > c for a, b, c in combinations(there, 3))


@cache
def _stems(words: str, language: str) -> frozenset[str]:
    return frozenset(stem_for(each, language) for each in words.split())

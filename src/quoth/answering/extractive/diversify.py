"""Selects diverse sentences for an answer among those scored near the best."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from quoth.answering.extractive.score import QueryContext
from quoth.answering.extractive.wording import NEGATION, PRONOUN, normalize
from quoth.text.analyzer import analyze

MARGIN = 1.2
"""Maximum score distance to the best sentence, in log-odds: about a third as likely."""
BROAD_MARGIN = 1.6
"""The same for a broad question: "Tell me about …"."""
MAX_ANTECEDENT_DISTANCE = 2
"""Maximum distance in sentences of an antecedent."""
ASPECT_MARGIN = 3.0
"""Maximum score distance of the only sentence about an aspect."""
MIN_STANDALONE_SCORE = 0.8
"""Minimum fitness of an antecedent or added sentence."""
STANDALONE_PENALTY = 4.0
"""Penalty of a sentence with fitness 0."""
PRONOUN_PENALTY = 0.15
"""Penalty of a sentence that opens with a pronoun without a usable antecedent."""
DUPLICATE_OVERLAP = 0.7
"""Minimum word overlap (Jaccard) of duplicate sentences."""

_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def select_diverse(
    material: QueryContext, score_of: Mapping[int, float], *, limit: int, margin: float = MARGIN
) -> list[int]:
    """Select sentences best first, while near the best score and not redundant.

    ``score_of`` maps candidate indexes to scores. An anaphoric sentence adds its antecedent, unless
    that is selected already.
    """
    ranked = sorted(score_of, key=lambda place: -score_of[place])
    plain = [place for place in ranked if not material.sentences[place].question] or ranked
    selected: list[int] = []
    for place in plain:
        if len(selected) >= limit or score_of[plain[0]] - score_of[place] > margin:
            break
        if selected and material.sentences[place].standalone_score < MIN_STANDALONE_SCORE:
            continue
        if place in selected or any(is_duplicate(material, place, other) for other in selected):
            continue
        selected.append(place)
        support = antecedent_of(material, place)
        if (
            support is not None
            and len(selected) < limit
            and not _introduced(material, place, selected)
        ):
            selected.append(support)
    return selected


def _introduced(material: QueryContext, place: int, selected: Sequence[int]) -> bool:
    passage = material.sentences[place].passage
    return any(
        0 < place - other <= MAX_ANTECEDENT_DISTANCE
        and material.sentences[other].passage == passage
        for other in selected
    )


def with_aspects(
    material: QueryContext,
    selected: Sequence[int],
    *,
    aspects: Sequence[str],
    score_of: Mapping[int, float],
    limit: int,
) -> list[int]:
    """Guarantee each aspect of a comparison a sentence, replacing others."""
    chosen = list(selected)
    best = max(score_of.values(), default=0.0)
    needed: list[int] = []
    for aspect in aspects:
        speak = [place for place in score_of if speaks_of(material, place, aspect)]
        if there := [place for place in chosen if place in speak]:
            needed.append(there[0])
            continue
        top = max(speak, key=lambda place: score_of[place], default=None)
        if top is not None and best - score_of[top] <= ASPECT_MARGIN:
            needed.append(top)
    rest = [place for place in chosen if place not in needed]
    return [*dict.fromkeys(needed), *rest][: max(limit, 1)]


def speaks_of(material: QueryContext, place: int, aspect: str) -> bool:
    """Return whether a sentence, or a title above it, names an aspect."""
    each = material.sentences[place]
    wanted = frozenset(analyze(aspect, language=each.language))
    return bool(wanted) and wanted <= material.stems[place] | material.around[place]


def quality_penalty(material: QueryContext, place: int) -> float:
    """Return the score penalty of a sentence that reads badly by itself."""
    each = material.sentences[place]
    hanging = PRONOUN_PENALTY if each.anaphoric and antecedent_of(material, place) is None else 0.0
    return STANDALONE_PENALTY * (1 - each.standalone_score) + hanging


def is_duplicate(material: QueryContext, place: int, other: int) -> bool:
    """Return whether most words are shared, or one sentence nearly contains the other.

    Sentences that differ in a number or in a "not" contradict one another, and both are kept.
    """
    one, two = material.stems[place], material.stems[other]
    texts = (material.sentences[place].text, material.sentences[other].text)
    if not one or not two or _figures(texts[0]) != _figures(texts[1]):
        return False
    if bool(NEGATION.search(normalize(texts[0]))) != bool(NEGATION.search(normalize(texts[1]))):
        return False
    shared = len(one & two)
    smaller = min(len(one), len(two))
    return shared >= DUPLICATE_OVERLAP * len(one | two) or (
        smaller >= 4 and shared >= 0.9 * smaller
    )


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def antecedent_of(material: QueryContext, place: int) -> int | None:
    """Return the antecedent of a sentence that opens with a pronoun, if it reads well.

    What opens with "This theory …" names its subject itself.
    """
    here = material.sentences[place]
    if (
        place == 0
        or not (here.anaphoric and here.joined)
        or not PRONOUN.match(normalize(here.text[:40]))
    ):
        return None
    before = material.sentences[place - 1]
    if (
        before.passage != here.passage
        or before.anaphoric
        or before.standalone_score < MIN_STANDALONE_SCORE
    ):
        return None
    return place - 1


def reading_order(material: QueryContext, selected: Sequence[int]) -> list[int]:
    """Order documents by their best sentence, and sentences as in their document."""
    first: dict[str, int] = {}
    for rank, place in enumerate(selected):
        first.setdefault(material.sentences[place].document_id, rank)
    return sorted(
        selected,
        key=lambda place: (
            first[material.sentences[place].document_id],
            material.sentences[place].start,
        ),
    )


def by_aspect(
    material: QueryContext, selected: Sequence[int], *, aspects: Sequence[str]
) -> list[tuple[str, int]]:
    """Group sentences by aspect: first those of several or none, then each under its heading.

    Headings are only used where at least two aspects have a sentence of their own.
    """
    ordered = reading_order(material, selected)
    about = {
        place: [aspect for aspect in aspects if speaks_of(material, place, aspect)]
        for place in ordered
    }
    shared = [("", place) for place in ordered if len(about[place]) != 1]
    single = [
        (aspect, place) for aspect in aspects for place in ordered if about[place] == [aspect]
    ]
    if len({each for each, _ in single}) < 2:
        return [("", place) for place in ordered]
    return shared + single

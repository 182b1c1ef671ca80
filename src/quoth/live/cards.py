"""Choosing the citation cards of a window: few, certain, and none that is on screen already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MAX_CARDS = 3
SURE = 0.9
"""Probability from which a window may show more than one new card."""
RISE = 0.1
"""Rise of the probability from which a page is cited again in the next window."""
PER_DOCUMENT = 2


@dataclass(frozen=True, slots=True)
class PageCandidate:
    """A chunk that a window may cite; ``page`` is its place in the document, such as "142".

    ``probability`` is that of the page being about what is said.
    """

    chunk_id: str
    document_id: str
    page: str
    probability: float

    @property
    def key(self) -> tuple[str, str]:
        """Return what at most one card is shown of."""
        return self.document_id, self.page


@dataclass(frozen=True, slots=True)
class CardRules:
    """When a card is shown: from which probability, and how many."""

    show_from: float
    max_cards: int = MAX_CARDS
    sure: float = SURE


Current = Mapping[tuple[str, str], float]
"""Pages of the window before, shown or not repeated, with the probability when shown."""


@dataclass(frozen=True, slots=True)
class CardChoice:
    """The cards of one window, best first, and the pages that the next window need not repeat."""

    cards: tuple[PageCandidate, ...] = ()
    current: Current = field(default_factory=dict)


def choose_cards(
    candidates: Sequence[PageCandidate], *, rules: CardRules, before: Current | None = None
) -> CardChoice:
    """Choose the cards of a window from its candidates, in any order.

    Threshold, then one card a page and `PER_DOCUMENT` a document, then no page that the
    window before showed unless its probability rose, then the first; a second and a third only
    where they are sure.
    """
    shown = dict(before or {})
    ranked = sorted(candidates, key=lambda each: (-each.probability, each.chunk_id))
    cards: list[PageCandidate] = []
    current: dict[tuple[str, str], float] = {}
    of_document: dict[str, int] = {}
    for candidate in ranked:
        if candidate.probability < rules.show_from:
            break
        key = candidate.key
        if key in current:
            continue
        if key in shown and candidate.probability < shown[key] + RISE:
            current[key] = shown[key]
            continue
        number = of_document.get(candidate.document_id, 0)
        if number >= PER_DOCUMENT:
            continue
        if len(cards) >= rules.max_cards or (cards and candidate.probability < rules.sure):
            continue
        cards.append(candidate)
        current[key] = candidate.probability
        of_document[candidate.document_id] = number + 1
    return CardChoice(tuple(cards), current)


def choose_in_order(
    windows: Sequence[Sequence[PageCandidate]], *, rules: CardRules
) -> list[CardChoice]:
    """Choose the cards of consecutive windows."""
    choices: list[CardChoice] = []
    current: Current = {}
    for candidates in windows:
        choices.append(choose_cards(candidates, rules=rules, before=current))
        current = choices[-1].current
    return choices

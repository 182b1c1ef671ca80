"""Cards of a window: threshold, one a page, two a document, no repeats, few new ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quoth.live.cards import CardRules, PageCandidate, choose_cards, choose_in_order

RULES = CardRules(show_from=0.6)

candidates = st.lists(
    st.builds(
        PageCandidate,
        st.uuids().map(str),
        st.sampled_from(["book", "notes"]),
        st.sampled_from(["1", "2", "3", "4"]),
        st.floats(0, 1),
    ),
    max_size=10,
)


def _card(page: str, probability: float, document: str = "book") -> PageCandidate:
    return PageCandidate(f"{document}-{page}-{probability}", document, page, probability)


def test_nothing_is_shown_below_the_threshold() -> None:
    assert choose_cards([_card("1", 0.59)], rules=RULES).cards == ()


def test_a_second_card_needs_certainty_a_page_one_card_and_a_document_two() -> None:
    unsure = choose_cards([_card("1", 0.8), _card("2", 0.7)], rules=RULES)
    assert [card.page for card in unsure.cards] == ["1"]
    sure = [_card("1", 0.99), _card("1", 0.98), _card("2", 0.97), _card("3", 0.96)]
    sure.append(_card("5", 0.95, "notes"))
    cards = choose_cards(sure, rules=RULES).cards
    assert [(card.document_id, card.page) for card in cards] == [
        ("book", "1"),
        ("book", "2"),
        ("notes", "5"),
    ]


def test_a_page_is_cited_again_only_when_it_is_more_probable_or_was_left() -> None:
    windows = [
        [_card("1", 0.7)],
        [_card("1", 0.75)],
        [_card("1", 0.85)],
        [_card("2", 0.7)],
        [_card("1", 0.7)],
    ]
    shown = [
        [card.page for card in choice.cards] for choice in choose_in_order(windows, rules=RULES)
    ]
    assert shown == [["1"], [], ["1"], ["2"], ["1"]]


@given(st.lists(candidates, max_size=6), st.data())
def test_rules_hold_for_any_candidates_in_any_order(
    windows: list[list[PageCandidate]], data: st.DataObject
) -> None:
    shuffled = [data.draw(st.permutations(window)) for window in windows]
    choices = choose_in_order(windows, rules=RULES)
    assert choose_in_order(shuffled, rules=RULES) == choices
    for choice in choices:
        keys = [card.key for card in choice.cards]
        assert len(keys) == len(set(keys)) <= 3
        assert all(card.probability >= RULES.show_from for card in choice.cards)
        assert all(card.probability >= RULES.sure for card in choice.cards[1:])
        assert max((keys.count(("book", p)) for p in "1234"), default=0) <= 1
        assert sum(document == "book" for document, _ in keys) <= 2

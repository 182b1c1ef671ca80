from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.protocols import Matrix
from quoth.core.types import Candidate
from quoth.retrieval.passages import (
    collapse_duplicates,
    maximal_marginal_relevance,
)


def candidates(*scores: float) -> list[Candidate]:
    return [Candidate(f"c{i}", score, "convex") for i, score in enumerate(scores)]


def rows(*angles: float) -> dict[str, Matrix]:
    turned = np.radians(angles)
    return {
        f"c{i}": np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
        for i, angle in enumerate(turned)
    }


def ids(found: list[Candidate]) -> list[str]:
    return [each.chunk_id for each in found]


def test_a_near_copy_waits_behind_something_new() -> None:
    found = maximal_marginal_relevance(
        candidates(1.0, 0.95, 0.6, 0.0), vectors=rows(0, 1, 80, 90), mmr_lambda=0.5
    )
    # Second pick: c1 .5·.95 − .5·1 = −.025; c2 .5·.6 − .5·cos 80° spread = .3 − .087 > 0
    assert ids(found)[:2] == ["c0", "c2"]


def test_a_near_copy_of_any_earlier_pick_waits() -> None:
    # c0 and c1 are picked; c2 almost equals c0, which is not the last pick, and c3 is new.
    found = maximal_marginal_relevance(
        candidates(1.0, 0.9, 0.55, 0.5), vectors=rows(0, 90, 1, 45), mmr_lambda=0.5
    )
    assert ids(found) == ["c0", "c1", "c3", "c2"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 1))
def test_it_only_reorders_and_starts_with_the_best(scores: list[float], weight: float) -> None:
    given_ = candidates(*sorted(scores, reverse=True))
    vectors = rows(*np.linspace(0, 90, len(scores)))
    found = maximal_marginal_relevance(given_, vectors=vectors, mmr_lambda=weight)
    assert sorted(ids(found)) == sorted(ids(given_))
    if weight > 0:
        assert found[0].score == pytest.approx(max(scores))


def test_lambda_1_keeps_the_order() -> None:
    given_ = candidates(0.9, 0.5, 0.1)
    assert maximal_marginal_relevance(given_, vectors=rows(0, 0, 0), mmr_lambda=1) == given_


BODY = "The heat shield of the capsule was tested for many hours in the wind tunnel at Langley"
TWIN = f"{BODY} by two teams"


def collapsed(
    texts: dict[str, str], *, cosine: float = 0.97, angles: tuple[float, ...] = ()
) -> tuple[list[str], dict[str, str]]:
    kept, copies = collapse_duplicates(
        candidates(*range(9, 9 - max(len(texts), len(angles)), -1)),
        cosine=cosine,
        vectors=rows(*angles),
        texts=texts,
    )
    return ids(kept), copies


def test_eight_copies_of_one_passage_count_as_one() -> None:
    texts = {f"c{i}": BODY + "." * i for i in range(8)} | {"c8": "Something else about stars"}
    assert collapsed(texts) == (["c0", "c8"], {f"c{i}": "c0" for i in range(1, 8)})


def test_a_copy_with_other_words_around_needs_vectors_that_agree() -> None:
    other = "Nobody knew then what the outcome of it would be for the crew and for the agency. "
    half = {"c0": f"{BODY} and so on they went through it", "c1": f"{other[:40]}{BODY}"}
    assert collapsed(half, angles=(0, 1))[0] == ["c0"]
    assert collapsed(half, angles=(0, 60))[0] == ["c0", "c1"]


def test_what_says_more_than_a_better_one_stays() -> None:
    more = f"{BODY}. {' '.join(f'word{letter}' for letter in 'abcdefghijklmnopqrstuvwxyz')}"
    assert collapsed({"c0": BODY, "c1": more}, angles=(0, 0))[0] == ["c0", "c1"]
    assert collapsed({"c0": more, "c1": BODY}, angles=(0, 0))[0] == ["c0"]


def test_texts_that_differ_in_a_number_are_no_copies() -> None:
    texts = {"c0": f"{BODY} in 1961", "c1": f"{BODY} in 1962"}
    assert collapsed(texts, angles=(0, 0))[0] == ["c0", "c1"]


def test_a_translation_is_no_copy_however_alike_the_vectors() -> None:
    texts = {
        "c0": BODY,
        "c1": "Le bouclier thermique de la capsule a subi des essais pendant des heures à Langley",
    }
    assert collapsed(texts, angles=(0, 0))[0] == ["c0", "c1"]


@given(
    st.lists(st.sampled_from([BODY, TWIN, "other words here now", "x", ""]), max_size=9),
    st.lists(st.floats(0, 90), max_size=9),
    st.floats(-1, 1),
)
def test_every_candidate_is_kept_or_stands_behind_a_better_one(
    texts: list[str], angles: list[float], cosine: float
) -> None:
    given_ = candidates(*range(9, 9 - len(texts), -1))
    known = {f"c{i}": text for i, text in enumerate(texts)}
    kept, copies = collapse_duplicates(given_, cosine=cosine, vectors=rows(*angles), texts=known)
    assert sorted([*ids(kept), *copies]) == ids(given_)
    assert [each for each in given_ if each in kept] == kept
    for copy, better in copies.items():
        assert ids(given_).index(better) < ids(given_).index(copy)
    assert kept[:1] == given_[:1]

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quoth.core.outline import EntityCooccurrence
from quoth.core.types import Chars, Chunk
from quoth.ingest.enrich.entity_graph import MAX_LINKS, cooccurrences, normalized_names


def document(*texts: str) -> list[Chunk]:
    chunks, at = [], 0
    for ordinal, text in enumerate(texts):
        end = at + len(text)
        chunks.append(
            Chunk(f"c{ordinal}", "d", ordinal, at, end, text, Chars(at, end), kind="text")
        )
        at = end
    return chunks


def pairs(*texts: str) -> set[tuple[str, str]]:
    return {(each.name, each.other) for each in cooccurrences(document(*texts))}


def names(*texts: str) -> set[str]:
    return {name for pair in pairs(*texts) for name in pair}


def test_names_that_stand_together_twice_are_linked() -> None:
    found = cooccurrences(
        document(
            "The team asked Ada Lovelace about the Analytical Engine.",
            "Later the Analytical Engine made Ada Lovelace famous.",
            "Only Charles Babbage was at home.",
            "Nobody else came.",
        )
    )
    assert found == (EntityCooccurrence("ada lovelace", "analytical engine", 2),)


def test_names_that_share_a_word_make_no_pair() -> None:
    assert pairs("with Ada Lovelace and Ada and LLM and LLMs here") == {
        ("ada", "llm"),
        ("ada", "llms"),
        ("ada lovelace", "llm"),
        ("ada lovelace", "llms"),
    }


def test_folded_names_have_neither_case_nor_accents_nor_hyphens() -> None:
    assert normalized_names(" Données  Fine-Tuning d’Été, C++ et Œuvre") == (
        "donnees fine tuning d ete c++ et oeuvre"
    )


TEXTS = st.lists(
    st.lists(
        st.sampled_from(
            [
                "Ada",
                "the",
                "Été",
                "fine-tuning",
                "GPT-2.",
                "l'Europe",
                "Boundary",
                "layer",
                "\n",
                "—",
            ]
        ),
        max_size=20,
    ).map(" ".join),
    max_size=6,
)


@given(TEXTS)
def test_links_are_few_folded_ordered_and_counted_within_the_document(texts: list[str]) -> None:
    found = cooccurrences(document(*texts))
    assert len(found) <= min(MAX_LINKS, 10 * len(texts))
    assert len({(each.name, each.other) for each in found}) == len(found)
    for each in found:
        assert each.name < each.other
        assert normalized_names(each.name) == each.name
        assert normalized_names(each.other) == each.other
        assert 1 <= each.count <= len(texts)

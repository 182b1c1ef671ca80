"""Question types: a measured set without a model, and named regressions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quoth.query.comparison_aspects import extract_aspects
from quoth.query.tokens import (
    compile_phrases,
    has_phrase,
    read_table,
    table_languages,
    tokenize_query,
)
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

ARTICLE = re.compile(r"^(?:(?:an?|the|une?|les?|la|des|du|el|der|die|das)\s+|l['’])", re.IGNORECASE)
PHRASES = Path(__file__).parents[2] / "eval/understanding/phrases.jsonl"


def test_types_of_the_phrases_without_a_model() -> None:
    rows = [json.loads(line) for line in PHRASES.read_text("utf-8").splitlines()]
    wrong = [row for row in rows if understand(row["text"], names=NAMES).kind != row["kind"]]
    assert len(wrong) <= 0.05 * len(rows), wrong


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who is a specialist of democracy?", "factual"),
        ("What does the compare function return?", "factual"),
        ("Who wrote the summary judgment?", "factual"),
        ("Quelle est la capitale de la France ?", "factual"),
        ("Who gave the talk Sourdough versus yeast?", "factual"),
        ("How does attention work?", "conceptual"),
        ("Pourquoi le ciel est-il bleu ?", "conceptual"),
        ("À quoi sert le compost ?", "conceptual"),
        ("¿Cómo funciona un volcán?", "conceptual"),
        ("What is the difference between clay and sand?", "comparison"),
        ("Clay vs sand", "comparison"),
        ("Qu'est-ce qui distingue une guêpe d'une abeille ?", "comparison"),
        ("Was ist der Unterschied zwischen Äpfeln und Birnen?", "comparison"),
        ("Summarise the talk", "summary"),
        ("Quelles sont les idées principales du livre ?", "summary"),
        ("Fammi un riassunto del libro", "summary"),
        ("Vorrei i riassunti delle lezioni", "summary"),
        ("Chi ha scritto il riassunto?", "factual"),
        ("Tell me about tokenizers", "exploratory"),
        ("Quels sujets sont abordés dans ce cours ?", "exploratory"),
        ("What does page 7 say about beans?", "page_specific"),
        ("pp. 20-24", "page_specific"),
    ],
)
def test_type(text: str, kind: str) -> None:
    assert understand(text, names=NAMES).kind == kind


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("why", "and why not", True),
        ("^why", "and why not", False),
        ("summari*", "please summarise it", True),
        ("a/b c", "b c", True),
        ("is it? true", "is true", True),
        ("_ or _$", "tea or coffee", True),
        ("_ or _$", "tea or coffee today", False),
        ("between ... and", "between the red tea and milk", True),
        ("art", "start", False),
    ],
)
def test_phrases_match_whole_words(phrase: str, text: str, found: bool) -> None:
    assert has_phrase(compile_phrases([phrase]), text.split()) is found


@pytest.mark.parametrize("topic", ["intent", "followup", "turns", "paraphrase", "asking"])
def test_a_phrase_has_only_what_a_question_can_have(topic: str) -> None:
    """Words are compared without accents and signs: a phrase with one would never be found."""
    for language in table_languages(topic):
        for rows in read_table(topic, language).values():
            for phrase in _phrases(rows) if isinstance(rows, list) else ():
                assert re.fullmatch(r"[a-z0-9/*?_.^$ {}]+", phrase), (language, phrase)


def _phrases(rows: list[Any]) -> Iterator[str]:
    for row in rows:
        yield from [row] if isinstance(row, str) else _phrases(row)


def test_most_of_what_is_compared_is_found() -> None:
    rows = [json.loads(line) for line in PHRASES.read_text("utf-8").splitlines()]
    rows = [row for row in rows if "aspects" in row]
    found = [(extract_aspects(tokenize_query(row["text"])), row) for row in rows]
    right = [_bare(aspects) == _bare(row["aspects"]) for aspects, row in found]
    assert sum(right) >= 0.65 * len(rows)


def _bare(aspects: Iterable[str]) -> set[str]:
    return {ARTICLE.sub("", aspect.lower()) for aspect in aspects}


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("Compare straw, bark and compost", ("straw", "bark", "compost")),
        ("What is the difference between clay and sand?", ("clay", "sand")),
        ("Clay vs sand", ("Clay", "sand")),
        ("How does clay differ from sand?", ("clay", "sand")),
        ("Compare straw with bark", ("straw", "bark")),
        ("Quelle est la différence entre le seigle et le blé ?", ("seigle", "blé")),
        ("Comparez le blé, le seigle et l'orge", ("blé", "seigle", "orge")),
        ("Is rye bread better than wheat bread?", ("rye bread", "wheat bread")),
        ('Compare "War and Peace" and "Emma"', ("War and Peace", "Emma")),
        ("Compare clay and sand in terms of drainage", ("clay", "sand")),
        ("What is the difference between a tax and a fee in France?", ("tax", "fee")),
        ("Quelle différence y a-t-il entre le seigle et le blé sous serre ?", ("seigle", "blé")),
        (
            "What's the difference between sleeping in a tent and sleeping in a hut?",
            ("sleeping in a tent", "sleeping in a hut"),
        ),
    ],
)
def test_aspects(text: str, aspects: tuple[str, ...]) -> None:
    assert understand(text, names=NAMES).aspects == aspects

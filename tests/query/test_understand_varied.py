"""The same wishes in many wordings: comparisons, kinds, follow-ups."""

from __future__ import annotations

import pytest

from quoth.core.types import Turn
from quoth.query.understand import understand
from tests.support.made_outline import NAMES


@pytest.mark.parametrize(
    ("text", "leans"),
    [
        ("Tu peux développer ?", True),
        ("Vous pouvez préciser ?", True),
        ("Could you elaborate?", True),
        ("Seulement dans les présentations en français, s'il te plaît", True),
        ("Only the French talks, please", True),
        ("Uniquement les livres", True),
        ("Et ceux de 2024 ?", True),
        ("Please go into more detail", True),
        ("Donne-moi plus de détails", True),
        ("Summarise that in two sentences", True),
        ("Summarise the talk on bees in two sentences", False),
        ("Tu peux résumer Le pain au levain expliqué ?", False),
        ("Tu peux expliquer le levain ?", False),
        ("Can you elaborate on how bees measure angles?", False),
    ],
)
def test_an_answer_is_followed_up(text: str, leans: bool) -> None:
    turns = [Turn("Quels exposés parlent de miel ?", "Deux exposés.")]
    assert understand(text, names=NAMES, history=turns).is_followup == leans


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("Quels sont les points forts et les faiblesses du levain face à la levure ?",
         ("levain", "levure")),
        ("Le compost retient-il plus d'eau que le sable ?", ("compost", "sable")),
        ("Les vers mangent-ils moins de feuilles que les limaces ?", ("vers", "limaces")),
        ("Does clay hold more water than sand?", ("clay", "sand")),
        ("Put seed trays and paper pots side by side", ("seed trays", "paper pots")),
        ("Mets côte à côte le levain et la levure", ("levain", "levure")),
        ("Sur quoi Ada Lindqvist et Ruth Abara sont-elles en désaccord ?",
         ("Ada Lindqvist", "Ruth Abara")),
        ("Where do Ada Lindqvist and Ruth Abara disagree?", ("Ada Lindqvist", "Ruth Abara")),
        ("Do Ada Lindqvist and Ruth Abara agree about rain?", ("Ada Lindqvist", "Ruth Abara")),
        ("pros and cons of trial and error versus careful planning",
         ("trial and error", "careful planning")),
        ("Search and rescue vs fire and rescue", ("Search and rescue", "fire and rescue")),
        ("Le levain face à la levure : que choisir ?", ("levain", "levure")),
        ("Le levain plutôt que la levure : pourquoi ?", ("levain", "levure")),
        ("Clay rather than sand: why?", ("Clay", "sand")),
        ("Le compost lent retient plus d'eau que le sable ?", ("compost lent", "sable")),
        ("Les avantages et inconvénients du levain par rapport à la levure",
         ("levain", "levure")),
        ("Pourquoi choisir le compost plutôt que l'engrais ?", ("compost", "engrais")),
    ],
)  # fmt: skip
def test_what_is_compared(text: str, aspects: tuple[str, ...]) -> None:
    query = understand(text, names=NAMES)
    bare = tuple(
        each.removeprefix("Les ").removeprefix("les ").removeprefix("Le ").removeprefix("le ")
        .removeprefix("la ").removeprefix("l'")
        for each in query.aspects
    )  # fmt: skip
    assert (query.kind, bare) == ("comparison", aspects)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Dois-je joindre un résumé à ma candidature ?", "factual"),
        ("Where do I upload my résumé?", "factual"),
        ("Quelle longueur pour un résumé de conférence ?", "factual"),
        ("Fais-moi un résumé", "summary"),
        ("Give me the big picture of how a hive works", "summary"),
        ("What's the gist of the talk on bees?", "summary"),
        ("Fais-moi un topo sur les semis", "summary"),
        ("Un petit topo sur le compost ?", "summary"),
        ("Can I get the short version of chapter 2?", "summary"),
        ("Is there anything on page 900?", "factual"),
        ("Boil the talk down to one line", "summary"),
        ("Quels sont les points communs du levain et de la levure ?", "comparison"),
        ("Face à la grêle, que faire ?", "factual"),
        ("Comment réagir face à une panne ?", "conceptual"),
        ("Is compost used more than ten years later?", "factual"),
        ("Un récap rapide du chapitre 2", "summary"),
        ("Why do more people garden than before?", "conceptual"),
    ],
)
def test_what_kind_of_answer_is_wished(text: str, kind: str) -> None:
    assert understand(text, names=NAMES).kind == kind

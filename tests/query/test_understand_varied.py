"""The same wishes in many wordings: numbers, times, people, titles, comparisons, follow-ups."""

from __future__ import annotations

import pytest

from quoth.core.types import Turn
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

Expected = dict[str, tuple[object, ...]]


def filters_of(text: str, *before: str) -> Expected:
    turns = [Turn(each, "") for each in before]
    found = understand(text, names=NAMES, history=turns).filters
    return {each.field: tuple(each.values) for each in found}


NUMBERS: list[tuple[str, Expected]] = [
    ("What is on page one hundred and five?", {"label": ("105",)}),
    ("Que dit la page cent cinq ?", {"label": ("105",)}),
    ("Que montre la page deux cent vingt et un ?", {"label": ("221",)}),
    ("What does page two hundred and seven show?", {"label": ("207",)}),
    ("read page one hundred twenty to me", {"label": ("120",)}),
    ("Que lit-on page quatre-vingt-dix-sept ?", {"label": ("97",)}),
    ("Que lit-on à la page soixante et onze ?", {"label": ("71",)}),
    ("Que trouve-t-on page trois cents ?", {"label": ("300",)}),
    ("page a hundred and two of The Patient Gardener",
     {"label": ("102",), "document": ("almanac",)}),
    ("What is drawn on the hundred and third page?", {"label": ("103",)}),
    ("From page 20 up to page 22, what is sown?", {"label": ("20", "21", "22")}),
    ("What is said on pages 20 through 22?", {"label": ("20", "21", "22")}),
    ("pages 20 till 22: which tools?", {"label": ("20", "21", "22")}),
    ("de la page vingt jusqu'à la page vingt-deux", {"label": ("20", "21", "22")}),
    ("Lies mir die Seiten 7 bis 9 vor", {"label": ("7", "8", "9")}),
    ("Was steht auf den Seiten 7 und 9?", {"label": ("7", "9")}),
    ("¿Qué dicen las páginas 7 a 9?", {"label": ("7", "8", "9")}),
    ("¿Qué dicen las páginas 7 hasta 9?", {"label": ("7", "8", "9")}),
    ("chapters one through three of The Patient Gardener",
     {"chapter": ("1", "2", "3"), "document": ("almanac",)}),
    ("Résume les chapitres un à deux du Manuel du potager",
     {"chapter": ("1", "2"), "document": ("manuel",)}),
    ("entre la page 12 et la page 15, que lit-on ?", {"label": ("12", "13", "14", "15")}),
    ("starting on page 50 and ending on page 52, what is sown?", {"label": ("50", "51", "52")}),
    ("Que dit la page dix ?", {"label": ("10",)}),
    ("Résume le chapitre premier du Manuel du potager",
     {"chapter": ("1",), "document": ("manuel",)}),
    ("How do I write the first chapter of a novel?", {}),
    ("What is in chapter twenty-one?", {}),
    ("Is there a hundred and five kinds of bean?", {}),
]  # fmt: skip
TIMES: list[tuple[str, Expected]] = [
    ("Who waters the plants after 18:00?", {}),
    ("Does the shop open at 9:30 am?", {}),
    ("Le marché ferme-t-il à 14h ?", {}),
    ("Who closes the gate at 17:30?", {}),
    ("Qui arrose les plantes à 7:15 ?", {}),
    ("Which volunteers are on duty from 8:00 to 12:00?", {}),
    ("Which bus leaves before 7:45?", {}),
    ("What is said after 18:00?", {"seconds": (1080.0, 360000.0)}),
    ("In Soil, worms and patience, who comes in at 20:00?",
     {"document": ("soil",), "seconds": (1200.0, 1200.0)}),
    ("What happens in the first half of Soil, worms and patience?",
     {"document": ("soil",), "seconds": (0.0, 1500.0)}),
    ("Summarise the second half of Soil, worms and patience",
     {"document": ("soil",), "seconds": (1500.0, 3000.0)}),
    ("In the last third of Soil, worms and patience, what is humus?",
     {"document": ("soil",), "seconds": (2000.0, 3000.0)}),
    ("Que montre la deuxième moitié de La vie secrète des ruches ?",
     {"document": ("ruches",), "seconds": (1950.0, 3900.0)}),
    ("le dernier quart de La vie secrète des ruches",
     {"document": ("ruches",), "seconds": (2925.0, 3900.0)}),
    ("What is shown in the first quarter of an hour of What bees know about geometry?",
     {"document": ("bees",), "seconds": (0.0, 900.0)}),
    ("Passé le premier quart d'heure de La vie secrète des ruches, que voit-on ?",
     {"document": ("ruches",), "seconds": (900.0, 360000.0)}),
    ("Une fois passée la première demi-heure de La vie secrète des ruches, que voit-on ?",
     {"document": ("ruches",), "seconds": (1800.0, 360000.0)}),
    ("Once the first half hour of Soil, worms and patience is over, what is shown?",
     {"document": ("soil",), "seconds": (1800.0, 360000.0)}),
    ("After the first 20 minutes of Soil, worms and patience, what is shown?",
     {"document": ("soil",), "seconds": (1200.0, 360000.0)}),
    ("Après les dix premières minutes de La vie secrète des ruches, que voit-on ?",
     {"document": ("ruches",), "seconds": (600.0, 360000.0)}),
    ("The watering starts at 12:00 every night", {}),
    ("Is there a meeting at 10:00 on Tuesday?", {}),
    ("Who won the second half of the match?", {}),
    ("minutes 10 to 15 of the geometry talk",
     {"document": ("bees",), "seconds": (600.0, 900.0)}),
    ("the last 5 min of What bees know about geometry",
     {"document": ("bees",), "seconds": (1500.0, 1800.0)}),
    ("Water them in the second half of summer", {}),
    ("Fill the first third of the pot", {}),
]  # fmt: skip
SPEAKERS: list[tuple[str, Expected]] = [
    ("Has Ruth ever mentioned hexagons?", {"speaker": ("Ruth Abara",)}),
    ("Did Ada talk about rain at all?", {"speaker": ("Ada Lindqvist",)}),
    ("À en croire Ferreira, faut-il du sel ?", {"speaker": ("Tomás Ferreira",)}),
    ("Si l'on en croit Luc Moreau, que mangent les reines ?", {"speaker": ("Luc Moreau",)}),
    ("Pour Jeanne Moreau, le sel est-il utile ?", {"speaker": ("Jeanne Moreau",)}),
    ("What advice does Ada give about worms?", {"speaker": ("Ada Lindqvist",)}),
    ("What advice does Tomas Fereira give about salt?", {"speaker": ("Tomás Ferreira",)}),
    ("Quels conseils donne Luc Moreau aux débutants ?", {"speaker": ("Luc Moreau",)}),
    ("Jeanne Moreau a-t-elle mentionné le sel ?", {"speaker": ("Jeanne Moreau",)}),
    ("What is Ada Lindqvist's opinion on worms?", {"speaker": ("Ada Lindqvist",)}),
    ("In Ruth Abara's view, which shape wins?", {"speaker": ("Ruth Abara",)}),
    ("Ruth Abara's thoughts on wax", {"speaker": ("Ruth Abara",)}),
    ("what does abara say about wax", {"speaker": ("Ruth Abara",)}),
    ("selon lindqvist, que mangent les vers ?", {"speaker": ("Ada Lindqvist",)}),
    ("Luc Morreau pense quoi du miel ?", {"speaker": ("Luc Moreau",)}),
    ("Lindqvist on worms", {"speaker": ("Ada Lindqvist",)}),
    ("Ruth Abara: what does she think of wax?", {"speaker": ("Ruth Abara",)}),
    ("Did Ruth ever bring up wax?", {"speaker": ("Ruth Abara",)}),
    ("Questions put to Ruth Abara about wax", {"speaker": ("Ruth Abara",)}),
    ("l'exposé de Luc Moreau sur les ruches",
     {"speaker": ("Luc Moreau",), "document": ("ruches",)}),
    ("Quel âge a Jeanne Moreau ?", {}),
    ("Où Jeanne Moreau a-t-elle étudié ?", {}),
    ("Does Ada Lindqvist have children?", {}),
    ("Explain Abara scattering", {}),
    ("Where did Ruth Abara go to school?", {}),
    ("When was Luc Moreau born?", {}),
    ("Who taught Ada Lindqvist?", {}),
    ("How old is Ruth Abara?", {}),
    ("Did Ruth Abara marry?", {}),
    ("How does Lindqvist syndrome affect worms?", {}),
    ("What does the Moreau process remove?", {}),
    ("Comment fonctionne la méthode Moreau ?", {}),
    ("list everything ruth abara was asked about in her q and a",
     {"speaker": ("Ruth Abara",), "segment": ("qa",)}),
    ("What did the audience ask Luc Moreau?", {"speaker": ("Luc Moreau",), "segment": ("qa",)}),
    ("Résume les démonstrations des présentations en français",
     {"language": ("fr",), "segment": ("demo",)}),
    ("Présentations du 03/03/2024 : quels thèmes ?", {"date": (20240303.0, 20240303.0)}),
    ("What do the talks given on 18/04/2023 say?", {"date": (20230418.0, 20230418.0)}),
]  # fmt: skip
SOURCES: list[tuple[str, Expected]] = [
    ("What does the chapter on compost say about worms?",
     {"chapter": ("3",), "document": ("almanac",)}),
    ("Dans le chapitre sur les maladies, que dit-on du mildiou ?",
     {"chapter": ("4",), "document": ("manuel",)}),
    ("In the seeds chapter, how deep are beans sown?",
     {"chapter": ("1",), "document": ("almanac",)}),
    ("the chapter about water in The Patient Gardener",
     {"chapter": ("2",), "document": ("almanac",)}),
    ("resume moi le chap 2 du bouquin du potager", {"chapter": ("2",), "document": ("manuel",)}),
    ("dans le bouquin sur le potager, quand semer ?", {"document": ("manuel",)}),
    ("What does the handbook say about keys?", {"document": ("handbook",)}),
    ("dans la vie secrte des ruches combien de reines", {"document": ("ruches",)}),
    ("in what bees knwo about geometry who is thanked", {"document": ("bees",)}),
    ('Under "Opening hours" in the volunteer handbook, when is lunch?',
     {"document": ("handbook",), "section": ("Opening hours",)}),
    ("dans l'épisode sur les ruches, combien de reines ?", {"document": ("ruches",)}),
    ("dans le podcast sur le pain au levain, quelle farine ?", {"document": ("pain",)}),
    ("que montrent les démos en français ?", {"language": ("fr",), "segment": ("demo",)}),
    ("section Expenses of the volunteer handbook: what is paid?",
     {"document": ("handbook",), "section": ("Expenses",)}),
    ("What is a good handbook on chess?", {}),
    ("What does a chapter on logic usually hold?", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [*NUMBERS, *TIMES, *SPEAKERS, *SOURCES])
def test_the_wording_does_not_matter(text: str, expected: Expected) -> None:
    assert filters_of(text) == expected


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("Que pense Ruth Abara des angles ?", "et pour Luc Moreau ?", {"speaker": ("Luc Moreau",)}),
        ("What does Ruth Abara say about wax?", "And Ada Lindqvist?",
         {"speaker": ("Ada Lindqvist",)}),
        ("What does Ruth Abara say about wax?", "What about Ada?", {"speaker": ("Ada Lindqvist",)}),
        ("What did the 2021 talks say about flour?", "And in the 2024 ones?",
         {"date": (20240101.0, 20241231.0)}),
        ("What did the 2021 talks say about flour?", "And in 2024?",
         {"date": (20240101.0, 20241231.0)}),
        ("Que disent les exposés de 2021 sur la farine ?", "Et ceux de 2024 ?",
         {"date": (20240101.0, 20241231.0)}),
        ("What do the French talks say about bees?", "And the English ones?",
         {"language": ("en",)}),
        ("Quels exposés parlent de miel ?",
         "Seulement dans les présentations en français, s'il te plaît", {"language": ("fr",)}),
        ("Que voit-on à 10:00 dans La vie secrète des ruches ?", "Et à 12:00 ?",
         {"document": ("ruches",), "seconds": (720.0, 720.0)}),
        ("What is in chapter 3 of The Patient Gardener?", "And chapter 2?",
         {"document": ("almanac",), "chapter": ("2",)}),
        ("What is on page 20 of The Patient Gardener?", "and on page one hundred and one?",
         {"document": ("almanac",), "label": ("101",)}),
    ],
)  # fmt: skip
def test_a_new_value_takes_the_place_of_the_old_one(
    before: str, text: str, expected: Expected
) -> None:
    assert filters_of(text, before) == expected


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

"""Sentences of several languages: a table of tricky cases, openings, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.text.analyzer import normalize_name
from quoth.text.sentences import (
    MAX_CHARACTERS,
    MAX_WORDS,
    PIECE_WORDS,
    is_anaphoric,
    openings,
    sentences,
)
from tests.support.counting import is_proportional

CASES = [
    "Dr. Smith met Mrs. Jones at St. Mary's.|She was late.",
    "It costs 3.50 today.|Tomorrow it costs 4.",
    "See Fig. 3 and Eq. 2.|Then go on.",
    "Use a tool, e.g. a spade, i.e. a shovel.|Dig.",
    "I said no.|He said yes.",
    "No. 5 is alive.|So is No. 6.",
    "J. R. Smith and John A. Smith wrote it.|Nobody read it.",
    "The model A is trained for task A.|Now let's train a model B.",
    "He came from the U.S. Army.|She did not.",
    "He lives in the U.S.|The end.",
    "We grow beans, peas, etc.|They need water.",
    "It works (see Smith et al. 2017).|Fine.",
    '"Why?" she asked.|"Because!"|He left.',
    "(It rained.)|We stayed.",
    "Wait... and then it stopped.|Really?!|Yes.",
    "Wait...|Then it stopped.",
    "See https://example.org/a.b?c=d. for more.|Or example.com.|Done.",
    "Version 2.0.1 is out.|Get it at 5 p.m. today.",
    "Do two things:\n1. Dig a hole.|2. Water it.",
    "1. Dig a hole.|2. Water it.",
    "a) Dig a hole.|b) Water it.",
    "He asked: who? me?|Yes.",
    "M. Dupont et Mme Durand sont là.|Ils attendent.",
    "Das folgt aus Anhang B.|Der Rest ist klar.",
    "Se calcula en la columna C.|El resto es claro.",
    "Alors quand est-ce vrai ?|En fait, cela dépend.",
    "La question « lequel ? », elle, reste.|Puis rien.",
    "« Quoi ? » dit-il.|« Rien. »|Il partit.",
    "Voir p. 12, chap. 3, cf. l'annexe.|C'est tout.",
    "Il faut creuser, arroser, etc.|Puis attendre.",
    "Cela vaut 3,5 c.-à-d. peu.|Non !|Si !",
    "C'est le n. 4 de la rue St. Jean.|Oui…|Enfin.",
    "Le modèle A est entraîné pour la tâche A.|Supposons un modèle B.",
    "The rule ends here.¹|Next we see “more.”³²|Done.[3]|And so on.",
    'He wrote: "Strike." [Op. Cit., p. 3]|So they struck.',
    "We were . . . told to wait . . . [and] waited.|Then we left.",
    "A heading without a stop\n\n|The text below it.",
    "- first thing\n\n|- second thing",
    "Figure 9.40. Selection Of An Account.|Then press Forward.",
    "Tableau\u00a02.1. Moment de la journée.|Il fait nuit.",
    "Table A-1. The names of keys.|See Table 4.|It lists them.",
    "It was in 1990.|In 1991.|Rain fell.",
    "これは文です。|次の文です。",
    "Der Hafen wurde am 3. Mai 1952 eröffnet.|Am 14. Januar, dem 2. Tag, fror er zu.",
    "Sie züchtet Pilze, z. B. Austernpilze, bzw. Kräuter.|Die Ernte beginnt ggf. Anfang Mai.",
    "Nach Art. 4 Abs. 2 gilt das nicht.|Siehe Bd. 3 und Anm. 7.|Das genügt.",
    "Hr. Lange zahlte 2 Mio. Kronen, d. h. Schulden blieben.|Das Haus von Fr. Otto steht noch.",
    "Er sammelt Münzen, Knöpfe usw.|Die Sammlung wächst.|Er las sog. Groschenhefte.",
    "Im 18. Jh. Entstand dort u. a. Papier.|Wir waren da.",
    "La Sra. Peña y D. Luis Oro firmaron.|El Excmo. Sr. Gil no vino.",
    "Véanse las págs. 3 y 4, cap. 2.|Está en la Avda. Cervantes, núm. 7, 1.º dcha. Portal azul.",
    "Hay setas, p. ej. Níscalos.|Llegó de EE. UU.|Lo esperaban.|Es del siglo V a. C.|Una joya.",
    "Ud. Debe firmar aquí.|Mide aprox. 3 m.|Cerró a las 8.|Era tarde.",
    "Montag, 3. Juli 1950.|Das 19. Jahrhundert endete.|Es war der 4. August.",
    "Das Fest war am 12. August in Bonn.|Am 1. April, am 3. September und am 30. November fror es.",
    "It returns a str.|The caller decodes it.|Call us by tel.|The office is open.",
    "It was in the Mag.|The editor wrote it.|Tel. 0381 12 ist besetzt, bes. Montags.|Er geht.",
    "Dne 3. 5. 1952 se otevřel přístav.|Potom nic.",
    "I am 12.|Peter is 13.|It will die 12.|Nina left.",
    "Elle fait partie des 12.|Paris gagne.|Er kam am 3.|Alle waren da.",
    "It has 3.|Max has 4.|I am 5.|My dog is 12.|March was wet.",
]


@pytest.mark.parametrize("marked", CASES)
def test_tricky_cases(marked: str) -> None:
    expected = [part.strip() for part in marked.split("|")]
    glue = "" if "。" in marked else " "
    text = marked.replace("\n\n|", "\n\n").replace("|", glue)
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_text_without_stops_is_cut_into_short_pieces() -> None:
    text = " ".join(f"word{number}" for number in range(500))
    pieces = [text[start:end].split() for start, end in sentences(text)]
    assert max(map(len, pieces)) <= PIECE_WORDS
    assert min(map(len, pieces)) > 10


def test_text_without_stops_is_cut_at_the_given_breaks() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    breaks = [position for position in range(1, len(text)) if text.startswith("word", position)]
    cues = breaks[6::7]
    starts = [start for start, _ in sentences(text, breaks=cues)]
    assert set(starts[1:]) <= set(cues)


@given(st.text(alphabet="ab AB1.?!…,;«»\"'()。\n\t\u00a0é-", max_size=400), st.data())
def test_spans_cover_every_character_that_is_not_white_space(
    text: str, data: st.DataObject
) -> None:
    breaks = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)))
    position = 0
    for start, end in sentences(text, breaks=breaks):
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        assert start < end
        position = end
    assert not text[position:].strip()


@given(st.text(alphabet="ab.\n ,", max_size=4000))
def test_no_piece_is_too_long(text: str) -> None:
    for start, end in sentences(text):
        assert end - start <= MAX_CHARACTERS
        assert len(text[start:end].split()) <= MAX_WORDS
        assert "\n\n" not in text[start:end]


@pytest.mark.parametrize(
    "unit",
    ["a. ", ".", ". ", "\n ", "«»", "A", '!" ', "( ", " \u00a0", "word ", "Mr. ", "1. ", "a,"],
)
def test_time_grows_with_the_length_only(unit: str) -> None:
    assert is_proportional(sentences, (unit * 60_000)[:60_000])


def test_the_next_number_of_a_list_ends_nothing() -> None:
    text = "Take these steps:\n1. Sow corn\n2. Reap it. Rest.\n  3. Mill it\n4. Bake"
    parts = ["Take these steps:\n1. Sow corn", "2. Reap it.", "Rest.", "3. Mill it", "4. Bake"]
    assert [text[start:end] for start, end in sentences(text)] == parts
    law = "1. The limits of paragraph 2. The office sets them.\n2. They apply."
    assert [law[start:end] for start, end in sentences(law)] == [
        *("1. The limits of paragraph 2.", "The office sets them.", "2. They apply."),
    ]
    year = "There were many in\n12. The next day came. It had 2. Then 3. Then none."
    assert [year[start:end] for start, end in sentences(year)] == [
        *("There were many in\n12.", "The next day came.", "It had 2.", "Then 3.", "Then none."),
    ]


@pytest.mark.parametrize(
    ("language", "sentence", "anaphoric"),
    [
        ("en", "It was built in 1874.", True),
        ("fr", "Celle-ci fut détruite.", True),
        ("fr", "Il existe deux espèces.", False),
        ("de", "Er wurde 1874 gebaut.", True),
        ("de", "Dadurch sinkt der Druck.", True),
        ("de", "Das ist der Grund.", True),
        ("de", "Das Haus ist alt.", False),
        ("de", "Es gibt zwei Arten.", False),
        ("de", "Ces Zimmer sind klein.", False),
        ("es", "Esto se debe al calor.", True),
        ("es", "Sus hojas son verdes.", True),
        ("es", "El faro es alto.", False),
        ("es", "Está prohibido fumar.", False),
        ("es", "Son las seis.", False),
        ("nl", "It was built in 1874.", True),
    ],
)
def test_a_sentence_leans_on_the_one_before(language: str, sentence: str, anaphoric: bool) -> None:
    assert is_anaphoric(normalize_name(sentence), language=language) is anaphoric


@pytest.mark.parametrize(
    ("language", "kind", "sentence"),
    [
        ("de", "connectives", "Außerdem ist es kalt."),
        ("de", "connectives", "Zum Beispiel im Winter."),
        ("de", "fillers", "Herzlich willkommen zu unserem Kurs."),
        ("de", "fillers", "In diesem Kapitel geht es um Bienen."),
        ("de", "fillers", "Wie bereits erwähnt, ist es kalt."),
        ("es", "connectives", "Además, hace frío."),
        ("es", "connectives", "Sin embargo, llueve."),
        ("es", "fillers", "Bienvenidos al curso."),
        ("es", "fillers", "En este capítulo hablamos de abejas."),
        ("es", "fillers", "Como hemos visto, hace frío."),
    ],
)
def test_openings_are_known_by_language(language: str, kind: str, sentence: str) -> None:
    folded = normalize_name(sentence)
    assert openings(kind, language).match(folded)
    assert not openings(kind, "en").match(folded)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("de", "Mehr steht im nächsten Kapitel, das wir empfehlen."),
        ("es", "De esto trata el capítulo siguiente."),
    ],
)
def test_authors_lead_on_in_every_language(language: str, sentence: str) -> None:
    assert openings("leading_on", language).search(normalize_name(sentence))


@pytest.mark.parametrize(
    ("kind", "language", "text"),
    [
        ("negation", "de", "Bienen fliegen nicht im Regen."),
        ("negation", "de", "Keine Biene fliegt."),
        ("negation", "es", "Nunca vuelan con lluvia."),
        ("negation", "es", "Ninguna abeja vuela."),
        ("tag", "de", "oder"),
        ("tag", "de", "nicht wahr"),
        ("tag", "es", "verdad"),
        ("tag", "es", "no es cierto"),
    ],
)
def test_negations_and_tags_are_known_by_language(kind: str, language: str, text: str) -> None:
    folded = normalize_name(text)
    assert openings(kind, language).search(folded)
    assert not openings(kind, "fr" if language == "de" else "de").search(folded)

"""Questions that lean on the conversation, and what they become to be searched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import Turn
from quoth.query.followup import LONGEST_ANSWER
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

BEFORE = (Turn("How does the Varroa mite harm bees?", "It weakens larvae and carries viruses."),)
AVANT = (Turn("Comment le varroa nuit-il aux abeilles ?", "Il affaiblit les larves."),)

LEANING = (
    "And what about winter?",
    "Does that apply to wasps?",
    "What does she conclude?",
    "Why did he say that?",
    "Give me another example",
    "In which chapter?",
    "Can it spread?",
    "Where does it live?",
    "How big are they?",
    "Is it dangerous for humans?",
    "same for ants?",
    "More details please",
    "Who else says so?",
    "What happened next?",
    "what are the main causes of it?",
    "How long does it last?",
    "Could you say that more simply?",
    "Explain it in simpler terms",
    "So how do you treat it?",
    "Are there other ones?",
    "ok and then?",
    "Only in Europe?",
    "Which of these is cheapest?",
    "What are the alternatives to this?",
    "Et pour les guêpes ?",
    "Qu'en dit l'autrice ?",
    "Peux-tu donner un autre exemple ?",
    "Où vit-il ?",
    "Et après ?",
    "C'est dangereux ?",
    "Quelle est leur taille ?",
    "Qui d'autre en parle ?",
    "À quelle page ?",
    "Plus simplement ?",
    "Dans quel chapitre ?",
    "Est-ce que ça marche aussi avec les fourmis ?",
    "Combien coûtent-ils ?",
    "Pourquoi dit-elle cela ?",
    "Comment s'en débarrasser ?",
    "et au printemps",
    "Les deux ?",
    "Lequel des deux ?",
    "Résume-le",
    "Why?", "how so?", "And in winter?", "What about wasps?", "How can it be treated?",
    "Does it fly?", "Who discovered them?", "Can you explain that?", "Tell me more", "An example?",
    "And the second one?", "What does that mean?", "Is there a better one?", "since when?",
    "How do they reproduce?", "What are its symptoms?", "Which one is worse?", "when was he born?",
    "Why is that?", "Are these dangerous?", "So what should I do about it?",
    "Pourquoi ?", "Et en hiver ?", "Et lui ?", "Qu'en est-il des guêpes ?", "Et le deuxième ?",
    "Comment le traiter ? Et quand le fait-on ?", "Est-ce qu'il vole ?",
    "Comment se reproduit-il ?",
    "Quels sont ses symptômes ?", "Peux-tu développer ?", "Par exemple ?", "Que signifie cela ?",
    "Lequel est le pire ?", "Quand est-elle apparue ?", "Depuis quand ?", "et pourquoi ça ?",
    "Sont-ils dangereux ?",
    "What is gained by that, compared with nothing?", "Is that really true?", "What's the benefit?",
    "Why is it needed to keep bees?", "Is it proven to harm wasps?", "How was the one of 2010?",
    "Who came before him?", "Who counts the larvae then?", "On which plants?", "Any downsides?",
    "What was that paper's title?", "What makes it so hard?", "Which of the two wins?",
    "Pourquoi les prendre pour l'hiver ?", "Qui les a invités en Prusse ?", "De quoi s'agit-il ?",
    "En combien de sortes les range-t-on ?", "Quel est le meilleur moyen de la réduire ?",
    "D'où viennent ces images ?", "À cause de quoi ?", "C'est quoi exactement ?",
)  # fmt: skip
STANDING = (
    "What are the rules of chess?",
    "Who designed the Eiffel Tower and when was it built?",
    "When bees swarm, where do they go?",
    "What do whales eat when they migrate?",
    "Besides his novels, what did Hugo write?",
    "Despite its size, why is Jupiter light?",
    "Is there a bridge over the Seine?",
    "Is it recommended to feed bees?",
    "Qui protège les rivières qui les alimentent ?",
    "C'est quoi le compost ?",
    "Does the museum sell its catalogue?",
    "What is the name of the company that made it famous?",
    "Summarise the lecture by Ada Lindqvist",
    "How is it possible to fly?",
    "What is it like to be a bat?",
    "Why is it cold in winter?",
    "How does a plant make its food?",
    "Who was the first president?",
    "What is the second law of thermodynamics?",
    "Who wrote the last chapter of the manual?",
    "In which year did Rome fall?",
    "And then there were none: who is the author?",
    "Quel est le deuxième principe de la thermodynamique ?",
    "Pourquoi fait-il froid en hiver ?",
    "Comment une plante fabrique-t-elle sa nourriture ?",
    "Quand un chat ronronne, que ressent-il ?",
    "Qui a écrit la dernière symphonie de Mahler ?",
    "Faut-il couper les rosiers ?",
    "Peut-on manger les champignons ?",
    "Malgré sa taille, pourquoi Jupiter est-elle légère ?",
    "Combien y a-t-il de planètes ?",
    "Que se passe-t-il quand l'eau gèle ?",
    "Les abeilles dorment-elles ?",
    "À quoi sert la rate ?",
    "Où se trouve la Loire ?",
    "Quels sont les fleuves qui se jettent dans la Manche ?",
    "The V&A has its origins in which fair?",
    "Which firm won the award for most IT sites?",
    "How was it determined how many seats each camp had?",
    "How much lower was the sea than it is today?",
    "¿Qué son los clados?",
    "Wann erreichte die y. pestis England?",
    "How many homes have cats in them?",
    "What is the price of honey?", "How does drip irrigation work?", "Is it possible to keep bees?",
    "How long does it take to bake bread?", "What is compost and how does it form?",
    "If the soil is dry, should it be watered?", "How do bees protect their hive?",
    "Who said that gardens need patience?", "What is on page 12?", "Summarise chapter 3",
    "What does Ruth Abara say about angles?", "Where is the market?", "When is honey harvested?",
    "Why do bees swarm?", "Is there a cure for mildew?", "The farmers say that rain helps, why?",
    "In what year was the Varroa mite described?",
    "Did Luther describe the mass that was held?", "How many hives are there?",
    "What is the gene IL-4?", "C'est quoi le RGPD ?", "Est-il autorisé de filmer sa ruche ?",
    "Quel est le prix du miel ?", "Est-il possible de garder des abeilles ?",
    "Faut-il arroser les semis ?", "Y a-t-il un remède au mildiou ?",
    "Le levain est-il plus sain que la levure ?", "Pourquoi les abeilles essaiment-elles ?",
    "Comment l'abeille protège-t-elle sa ruche ?", "Où se trouve le marché ?",
    "Que dit la page 12 ?", "Comment fait-on du pain quand il pleut ?",
    "En quoi le seigle diffère-t-il du blé ?", "Qui a dit que la patience suffit ?",
)  # fmt: skip


@pytest.mark.parametrize("text", LEANING)
def test_it_leans_on_what_was_asked_before(text: str) -> None:
    history = AVANT if understand(text, names=NAMES).language == "fr" else BEFORE
    query = understand(text, names=NAMES, history=history)
    assert query.is_followup
    assert "varroa" in query.standalone.casefold()


@pytest.mark.parametrize("text", STANDING)
def test_it_stands_on_its_own(text: str) -> None:
    query = understand(text, names=NAMES, history=BEFORE)
    assert not query.is_followup
    assert query.standalone == text


@pytest.mark.parametrize("text", LEANING)
def test_without_a_conversation_nothing_leans(text: str) -> None:
    query = understand(text, names=NAMES)
    assert (query.is_followup, query.standalone) == (False, text)


def test_the_language_is_that_of_the_last_question() -> None:
    assert understand("OK ?", names=NAMES, history=AVANT).language == "fr"
    assert understand("OK ?", names=NAMES, fallback_language="fr").language == "fr"


def test_an_elliptical_question_keeps_the_document() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"),)
    query = understand("And on page 12?", names=NAMES, history=history)
    assert {each.field: each.values for each in query.filters} == {
        "label": ("12",), "document": ("almanac",)
    }  # fmt: skip
    assert query.kind == "page_specific"
    assert "The Patient Gardener" in query.notes[0]


def test_it_keeps_it_over_two_turns() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"), Turn("And on page 12?"))
    query = understand("and on page 14?", names=NAMES, history=history)
    assert ("document", ("almanac",)) in [(each.field, each.values) for each in query.filters]


def test_another_speaker_takes_the_place_of_the_first() -> None:
    history = (Turn("What does Ruth Abara say about rain?"),)
    query = understand("And Ada Lindqvist?", names=NAMES, history=history)
    assert "rain" in query.standalone
    assert "Ruth" not in query.standalone


def test_a_whole_question_keeps_no_filter() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"),)
    assert understand("Why do bees swarm?", names=NAMES, history=history).filters == ()


def test_a_removed_filter_is_not_kept_either() -> None:
    history = (Turn("What is on page 10 of The Patient Gardener?"),)
    query = understand("And on page 12?", names=NAMES, history=history, drop={"document"})
    assert [each.field for each in query.filters] == ["label"]


def test_an_elliptical_question_asks_the_same_of_something_else() -> None:
    history = (Turn("Summarise chapter 1 of The Patient Gardener"),)
    query = understand("And chapter 2?", names=NAMES, history=history)
    assert query.kind == "summary"
    assert {each.field for each in query.filters} == {"chapter", "document"}


def test_only_the_last_three_turns_count() -> None:
    history = (Turn("What is propolis?"), *(Turn("Who says so?") for _ in range(3)))
    assert "propolis" not in understand("And why?", names=NAMES, history=history).standalone


def test_an_answer_counts_only_by_its_beginning() -> None:
    history = (Turn("Who was it?", "x " * (LONGEST_ANSWER // 2) + "Propolis"),)
    assert "Propolis" not in understand("And why?", names=NAMES, history=history).standalone


@given(st.text(max_size=120), st.lists(st.builds(Turn, st.text(max_size=80), st.text(max_size=80))))
def test_what_does_not_lean_stays_as_it_is(text: str, history: list[Turn]) -> None:
    query = understand(text, names=NAMES, history=history)
    assert query.is_followup or query.standalone == text


def test_what_does_not_lean_has_words_of_the_conversation_beside_it() -> None:
    history = (Turn("What is propolis made of?"),)
    query = understand("What goes wrong with old bees?", names=NAMES, history=history)
    assert not query.is_followup
    assert query.in_context == "What goes wrong with old bees? (propolis)"


def test_a_conversation_that_says_nothing_new_is_not_searched_for() -> None:
    history = (Turn("What is propolis made of?"),)
    query = understand("What is propolis made of?", names=NAMES, history=history)
    assert query.in_context == ""


@given(st.text(max_size=120), st.lists(st.builds(Turn, st.text(max_size=80), st.text(max_size=80))))
def test_words_of_the_conversation_go_with_a_question_once(text: str, history: list[Turn]) -> None:
    query = understand(text, names=NAMES, history=history)
    assert not (query.is_followup and query.in_context)
    assert history or not query.in_context

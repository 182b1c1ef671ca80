"""The type of a question, and what a comparison compares."""

from __future__ import annotations

import pytest

from quoth.query.comparison_aspects import aspects_of
from quoth.query.tokens import tokenize_query
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

KINDS = {
    "factual": (
        "What are embeddings?",
        "Who is a specialist of democracy?",
        "Which plugins does VSCode have?",
        "Is VS Code an editor?",
        "Where is French cuisine from?",
        "Quand la base a-t-elle été créée ?",
        "Quel est le prix des roses ?",
        "What is a list comprehension?",
        "Which summary statistics are printed?",
        "What does the compare function return?",
        "What is question answering?",
        "When was the demonstration held?",
        "Who gives the overview page its name?",
        "What should a résumé contain?",
        "Which comparison operator does Python use for identity?",
        "How many differences were found?",
        "When did the contrast agent reach the market?",
        "Who wrote the summary judgment?",
        "How long does the dough rest?",
        "How much salt is needed?",
        "How old is the oldest hive?",
        "How often are beans watered?",
        "Who gave the talk Sourdough versus yeast?",
        "Who explains the theorem?",
        "Is the shop open later than 8?",
        "Are there more than 300 hives?",
        "Combien de temps dure la cuisson ?",
        "Qui a écrit la liste des plantes ?",
        "Quelle est la capitale de la France ?",
        "Où est la synthèse vocale activée ?",
        "Quand a lieu la photosynthèse ?",
        "Comment s'appelle la reine ?",
        "How is compost called in French?",
        "How do you say compost in French?",
        "Reste-t-il plus de dix places ?",
        "Which overview was signed by the mayor?",
        "what port does the server use",
        "Quelle est la différence d'altitude ?",
        "Does anyone summarise the vote?",
        "Définis le mot humus",
    ),
    "conceptual": (
        "How does attention work?",
        "Why is the sky blue?",
        "Pourquoi le ciel est-il bleu ?",
        "Comment fonctionne l'attention ?",
        "Explain photosynthesis to a child",
        "Can you explain why leaves fall?",
        "What is the intuition behind drip irrigation?",
        "How do bees find their way home?",
        "What does eventual consistency mean?",
        "Que signifie levain ?",
        "À quoi sert le compost ?",
        "Expliquez le rôle des vers",
        "Comment les abeilles communiquent-elles ?",
        "Quel est le principe de la fermentation ?",
        "How is honey made?",
        "How do I prune a rose?",
        "Comment tailler un rosier ?",
        "Comment naît une reine ?",
        "What happens when soil dries out?",
        "how come bread rises",
        "Pour quelles raisons les feuilles tombent-elles ?",
        "Comment se forme l'humus ?",
        "What causes mildew?",
        "What is the idea behind crop rotation?",
        "Qu'entend-on par sol vivant ?",
    ),
    "comparison": (
        "BERT vs GPT, what is the point?",
        "What is the difference between a list and a tuple?",
        "Compare the encoders",
        "Quelle est la différence entre BERT et GPT ?",
        "Est-ce que le premier est meilleur que le second ?",
        "How does sourdough compare to yeast?",
        "How do bees and wasps differ?",
        "Is clay better than sand?",
        "Which is faster, a train or a bus?",
        "In what way does compost differ from manure?",
        "What do bees and ants have in common?",
        "Should I use straw or bark?",
        "Contrast clay and sand",
        "What are the similarities between rye and wheat?",
        "En quoi le levain diffère-t-il de la levure ?",
        "Le seigle est-il plus nourrissant que le blé ?",
        "Comparez le seigle et le blé",
        "Peux-tu comparer l'argile et le sable ?",
        "Qu'est-ce qui distingue une guêpe d'une abeille ?",
        "Quels sont les points communs entre le blé et le seigle ?",
        "Lequel est le plus rapide, le train ou le bus ?",
        "Vaut-il mieux utiliser de la paille ou de l'écorce ?",
        "advantages of straw over bark",
        "Explain the difference between clay and sand",
        "straw versus bark mulch",
    ),
    "summary": (
        "Summarise the talk",
        "What are the key points of the chapter?",
        "Résumez la conférence",
        "Quelles sont les idées principales du livre ?",
        "Give me a brief summary of chapter 2",
        "Can you recap the talk on bees?",
        "tl;dr",
        "What is the book about?",
        "What is chapter 3 about?",
        "De quoi parle le chapitre 2 ?",
        "Fais-moi un résumé du chapitre 2",
        "Que faut-il retenir de la présentation ?",
        "Les grandes lignes du manuel",
        "Give an overview of the handbook",
        "Summarize The Patient Gardener in three sentences",
        "Peux-tu résumer la section sur le repiquage ?",
        "Please outline the main arguments",
        "What are the main takeaways?",
        "Donnez une synthèse de la présentation",
        "sum up chapter 1",
    ),
    "exploratory": (
        "Tell me about tokenizers",
        "Which talks mention attention?",
        "Parlez-moi des tokenizers",
        "Quels sujets sont abordés dans ce cours ?",
        "What topics does the book cover?",
        "List all the plants in the garden",
        "Are there any talks about rain?",
        "What kinds of soil are there?",
        "Give me some examples of mulch",
        "Y a-t-il des présentations sur la pluie ?",
        "Quels types de sol existe-t-il ?",
        "Donne-moi des exemples de paillis",
        "I would like to learn about bees",
        "What do we know about mushrooms?",
        "Que sait-on des champignons ?",
        "Montre-moi les passages sur la pluie",
        "Is there anything on mushrooms?",
        "Quelles présentations parlent de miel ?",
    ),
    "page_specific": (
        "What is on page 12?",
        "Que dit la page xii ?",
        "pp. 20-24",
        "What does page 7 say about beans?",
    ),
}


@pytest.mark.parametrize(
    ("text", "kind"), [(text, kind) for kind, texts in KINDS.items() for text in texts]
)
def test_type(text: str, kind: str) -> None:
    assert understand(text, names=NAMES).kind == kind


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("Compare straw, bark and compost", ("straw", "bark", "compost")),
        ("What is the difference between clay and sand?", ("clay", "sand")),
        ("Clay vs sand", ("Clay", "sand")),
        ("What is better: clay vs. sand?", ("clay", "sand")),
        ("How does clay differ from sand?", ("clay", "sand")),
        ("How do clay and sand differ?", ("clay", "sand")),
        ("Compare straw with bark", ("straw", "bark")),
        ("En quoi l'argile diffère-t-elle du sable ?", ("argile", "sable")),
        ("Quelle est la différence entre le seigle et le blé ?", ("seigle", "blé")),
        ("Comparez le blé, le seigle et l'orge", ("blé", "seigle", "orge")),
        ("Qu'est-ce qui distingue une guêpe d'une abeille ?", ("guêpe", "abeille")),
        ("Is rye bread better than wheat bread?", ("rye bread", "wheat bread")),
        ("Which is faster, a train or a bus?", ("train", "bus")),
        ("What do bees and ants have in common?", ("bees", "ants")),
        ("Compare the encoders", ()),
        ("Compare clay and sand in terms of drainage", ("clay", "sand")),
        ('Compare "War and Peace" and "Emma"', ("War and Peace", "Emma")),
        ("Compare what Ada Lindqvist and Ruth Abara say about rain",
         ("Ada Lindqvist", "Ruth Abara")),
        ("train ou bus : lequel choisir ?", ("train", "bus")),
        ("How does sourdough compare to yeast?", ("sourdough", "yeast")),
    ],
)  # fmt: skip
def test_aspects(text: str, aspects: tuple[str, ...]) -> None:
    query = understand(text, names=NAMES)
    assert query.kind == "comparison"
    assert query.aspects == aspects


def test_of_many_aspects_three_are_kept_and_a_note_says_so() -> None:
    many = ["rye", "oats", "corn", "rice", "spelt", "millet", "teff", "fonio", "wheat", "barley"]
    text = f"Compare {', '.join(many)}, sorghum and buckwheat"
    query = understand(text, names=NAMES)
    assert query.aspects == ("rye", "oats", "corn")
    assert query.notes == (
        "12 things were named; the first three are compared: rye, oats and corn.",
    )


def test_nothing_is_compared_where_nothing_is_named() -> None:
    assert aspects_of(tokenize_query("What is rain?")) == ()

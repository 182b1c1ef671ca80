"""The few words of each language by which a sentence shows what it is good for in an answer.

Only openings are looked at, folded to lower case without accents and with straight apostrophes.
A language that is not listed has no such words, and its sentences are judged by the rest.
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})

LEANING = re.compile(
    r"(?:it|its|it's|they|they're|their|them|he|she|his|her|this|that|that's|these|those|such"
    r"|the (?:former|latter|same)|both|doing so"
    r"|il|ils|elle|elles|ce|c'est|cela|ceci|cet|cette|ces|ca|celui-ci|celle-ci|ceux-ci|celles-ci"
    r"|celui-la|celle-la|son|sa|ses|leur|leurs|y|en)(?![\w-])|c'(?:etait|est)\b"
)
"""Openings that speak of something named before: alone, the sentence has no subject."""

NOT_LEANING = re.compile(
    r"(?:il (?:est (?:possible|important|necessaire|interdit|recommande|obligatoire|conseille)"
    r"|y a|faut|existe|s'agit)|it (?:is|was) (?:possible|important|necessary|known|recommended)"
    r"|en (?!est\b|effet\b|revanche\b|outre\b)\w+|y (?!a\b)\w+ing\b)"
)
"""Openings that look like the former and stand by themselves ("Il existe …")."""

LINKING = re.compile(
    r"(?:and|but|so|or|by the way|now|well"
    r"|however|therefore|thus|hence|then|also|moreover|furthermore|instead"
    r"|otherwise|nevertheless|for example|for instance|in contrast|on the other hand|in other words"
    r"|as a result|consequently|similarly|additionally|in addition|finally|second|third"
    r"|et|mais|donc|ou|or|bref|au fait|car|ainsi|alors|puis|ensuite|enfin|cependant|toutefois"
    r"|neanmoins"
    r"|en effet|en revanche|en outre|par exemple|par contre|de plus|au contraire|autrement dit"
    r"|par consequent|d'autre part|deuxiemement|troisiemement|finalement)\b,?"
)
"""Openings that go on from the sentence before; it is useful, but the subject is there."""

TALKING = re.compile(
    r"(?:hi\b|hello\b|hey\b|welcome\b|good (?:morning|afternoon|evening)|thank(?:s| you)\b"
    r"|see you\b|bye\b|in this (?:video|talk|chapter|section|course|lesson|tutorial|part)\b"
    r"|in the (?:previous|next|last|following|coming) \w+\b|as (?:mentioned|discussed|noted|seen)\b"
    r"|dans (?:la|le|les) (?:\w+ (?:suivant|precedent)|prochaine?|precedent|suivant)"
    r"|comme mentionne\b|let'?s\b|let us\b"
    r"|now,? (?:let|we)\b|we(?:'ll| will| are going to)\b|i(?:'m|'ll| am| will)\b"
    r"|my name\b|if you(?:'re| are) (?:looking|interested)|check out\b|click\b|join\b|okay\b|ok\b"
    r"|as you can see\b|as we (?:saw|have seen)\b|you can (?:watch|find|see)\b|see (?:also|the)\b"
    r"|to (?:learn|find out|know) more\b|for more (?:information|details)\b|note that\b"
    r"|bonjour\b|bonsoir\b|salut\b|bienvenue\b|merci\b|au revoir\b|a bientot\b"
    r"|dans (?:cette|ce) (?:video|presentation|chapitre|section|cours|tutoriel|partie|lecon)\b"
    r"|prenons\b|voyons\b|regardons\b|commencons\b|passons\b|nous (?:allons|verrons)\b"
    r"|je (?:suis|vais|m'appelle)\b|comme (?:vous|nous) (?:pouvez|le voyez|l'avons)\b"
    r"|pour en savoir plus\b|pour plus d'informations?\b|cliquez\b"
    r"|si vous (?:cherchez|etes interesse))"
)
"""Openings by which a speaker or an author leads the reader on instead of saying something."""

DEFINING = re.compile(
    r"(?:what(?:'s| is| are| was| were| does| do)?|define|definition of|meaning of"
    r"|qu'est[- ]ce (?:que|qu')(?: c'est)?|c'est quoi|que (?:signifie|veut dire|sont|designe)"
    r"|quelle est la definition d[eu']|definition d[eu']|definir|definis)\b"
)
"""Openings of a question that may ask for a definition."""

NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|cannot|without|ne|pas|jamais|aucune?|sans|non)\b|n't\b|\bn'"
)
"""What turns a sentence into its opposite."""

ASKING = frozenset(
    [
        "mean",
        "means",
        "meaning",
        "called",
        "difference",
        "differences",
        "different",
        "explain",
        "describe",
        "define",
        "definition",
        "work",
        "works",
        "use",
        "used",
        "role",
        "purpose",
        "kind",
        "kinds",
        "type",
        "types",
        "name",
        "list",
        "give",
        "main",
        "way",
        "ways",
        "many",
        "much",
        "sert",
        "servir",
        "sait",
        "savoir",
        "signifie",
        "veut",
        "dire",
        "appelle",
        "difference",
        "differences",
        "expliquer",
        "expliquez",
        "decrire",
        "decrivez",
        "definition",
        "role",
        "sorte",
        "sortes",
        "type",
        "types",
        "nom",
        "donner",
        "donne",
        "donnez",
        "principal",
        "fonctionne",
        "marche",
        "consiste",
        "existe",
    ]
)
"""Words that ask (folded) and that a good answer need not repeat."""
ASKING_WEIGHT = 0.3
"""What an asking word weighs of its rarity."""
INVERTED = re.compile(r"-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)(?=\W*$)")
"""The subject that French sets behind its verb in a question ("sait-il")."""

COPULA = (
    r"(?:is|are|was|were|means|refers to|stands for|describes|denotes|consists of|is called"
    r"|est|sont|etait|designe|signifie|consiste|correspond a|represente|permet|c'est|ce sont)\b"
)
"""What stands between a thing and what it is, in a sentence that defines it."""


_ACCENTS = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Give the text in lower case, without accents and with straight apostrophes."""
    if text.isascii():
        return text.lower()
    flat = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold())
    return _ACCENTS.sub("", flat)

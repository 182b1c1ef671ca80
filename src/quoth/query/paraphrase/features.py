"""Reads a question into what it asks for, so that two questions can be compared.

Contractions are spelt out, phrases that say what is asked for become words in capitals
(`paraphrase`), and what is left are numbers and the words that carry the subject, those of a
group of synonyms standing for each other. The rules know English and French.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from quoth.query.paraphrase import CONTRACTIONS, paraphrase_table, synonyms
from quoth.text.analyzer import STOP_WORDS, analyze, normalize_name
from quoth.text.numbers import WORDS, roman_number

_TOKEN = re.compile(r"[£€$%+#]|\d+(?:[.,:]\d+)*|[^\W\d_]+|[^\W_]+")
_KINDS = {
    "what": "WHAT", "which": "WHAT", "who": "WHO", "whom": "WHO", "whose": "WHO",
    "when": "WHEN", "where": "WHERE", "why": "WHY", "how": "HOW",
}  # fmt: skip
_UNITS = frozenset("YEAR MONTH DAY DATE TIME PERSON COMPANY".split())
_AUXILIARIES = frozenset(
    "am is are was were do does did can could may might must shall should will would has have had "
    "est sont etait a ont peut puis dois doit faut y".split()
)
_CLAUSE = frozenset("i you we he she it they my your our his her their the a an this".split())
_ASKS = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should|is|are|am|has)"
    r" (?:i|you|we|they|it|there|my|the|your|this)\b"
)
_INVERTED = re.compile(r"-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)\b")
_CAN = frozenset(
    "can could may might able possible allowed permitted allow permit "
    "pouvoir peut peux puis pouvons pouvez peuvent".split()
)
_MUST = frozenset("must devoir dois doit devons devez doivent".split())
_NOT = {
    **dict.fromkeys(
        "not no non none nobody nothing neither nor pas aucun aucune rien personne".split(), "not"
    ),
    **dict.fromkeys("never jamais".split(), "never"),
    **dict.fromkeys("without sans".split(), "without"),
    **dict.fromkeys("except but hors sauf unless".split(), "except"),
}
_TENSES = {
    **dict.fromkeys("was were did could".split(), "past"),
    **dict.fromkeys("have has had".split(), "perfect"),
    **dict.fromkeys("will shall".split(), "future"),
    **dict.fromkeys("do does is are am".split(), "present"),
    "would": "would",
}
_ASKER = frozenset("i me my mine we us our je j moi mon ma mes nous notre nos".split())
_TOLD = frozenset("will shall did was were".split())
_WAYS: Mapping[str, Mapping[str, str]] = {
    "en": {
        **dict.fromkeys("to into onto towards".split(), "to"),
        **dict.fromkeys("from off".split(), "from"),
        **dict.fromkeys("my our".split(), "mine"),
        **dict.fromkeys("a an any".split(), "some"),
        "your": "yours",
        **{"by": "by", "with": "with"},
    },
    "fr": {
        **dict.fromkeys("vers a en".split(), "to"),
        **dict.fromkeys("mon ma mes".split(), "mine"),
        **dict.fromkeys("son sa ses".split(), "theirs"),
        **dict.fromkeys("un une".split(), "some"),
        **dict.fromkeys("votre vos ton ta tes".split(), "yours"),
        **{"depuis": "from", "par": "by", "avec": "with"},
    },
}
"""What small words say about the next word with a subject."""
_TELLING = frozenset(
    """
    above after again against all before below both down during each every few more most off once
    only other out over own same through under until within instead else let lets since he she his
    her hers him their theirs
    apres avant autre autres chaque contre depuis jusque jusqu moins plus pendant peu sous tout tous
    toute toutes meme memes vers leur leurs lui
    """.split()
)
"""Words without a subject that still tell two questions apart."""
_EMPTY = frozenset(
    """
    please currently exactly actually really just now still yet already ever also there exist exists
    existing thing things something anything everything located situated available given usually
    normally typically generally kindly mean means meaning called particular specific specifically
    hi hello hey thank thanks ok okay would going
    svp merci actuellement exactement vraiment encore deja existe existent trouve trouver situe
    situee possibles afin cela disponible ainsi y moi toi etre avoir bonjour hui aujourd
    """.split()
)
"""Words that may be there or not."""
_ELIDED = frozenset("t l d j s m n c qu".split())
_PLACES = frozenset("page pages p pp chapter chapitre ch part partie".split())
_SIGNS = {"£": "pound", "€": "euro", "$": "dollar", "%": "percent", "+": "plus", "#": "sharp"}
_SPELLINGS = (
    (re.compile(r"is(e[sdr]?|ing|ations?)$"), r"iz\1"),
    (re.compile(r"(?<=\w\w\w)our(s?)$"), r"or\1"),
    (re.compile(r"(?<=\w\w\w)ll(ed|ing)$"), r"l\1"),
    (re.compile(r"^cheque(s?)$"), r"check\1"),
    (re.compile(r"^usa$"), "us"),
)
"""British spellings, which the stemmer leaves apart from American ones."""
_WHERE = re.compile(r"\b[oO]ù\b")
_LETTER = re.compile(r"\b([B-HJ-Z])\b(?!['’])")
_SMALL_NAMES = re.compile(r"\b(US|IT|WHO|AM|PM|AN|OR|IN|ON|(?<=[a-z,] )(?:May|Will))\b")
_CAPITAL = re.compile(r"(?<=[\w,] )[^\W\d_a-z]\w+")


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """What a question asks for.

    ``kinds`` are WHO, WHEN, WHY …, YES for what is answered by yes or no, SAY where nothing is
    asked; ``units`` are those of the answer. ``subject`` are stems in the order of the question,
    ``names`` those with a capital. ``ways`` are pairs such as ("from", stem): what a stem stands
    behind. ``helped`` says whether the question has a form of "do", ``asker`` whether it
    speaks of the asker.
    """

    language: str
    kinds: frozenset[str]
    units: frozenset[str]
    subject: tuple[str, ...]
    names: frozenset[str]
    numbers: tuple[str, ...]
    negations: tuple[str, ...]
    tenses: frozenset[str]
    manner_phrases: frozenset[tuple[str, str]]
    auxiliary_verb: bool
    first_person: bool

    def tail(self, way: str) -> set[str]:
        """The stems that stand behind a small word of this sort."""
        return {stem for each, stem in self.manner_phrases if each == way}


@lru_cache(maxsize=2000)
def extract_features(text: str) -> QuestionFeatures:
    """Read a question for comparison; the result says nothing about whether it can be answered."""
    language = _language(text)
    folded = normalize_name(_marked(text)).replace("’", "'")
    for pattern, stands in CONTRACTIONS:
        folded = pattern.sub(stands, folded)
    plain = spelt = " ".join(_TOKEN.findall(folded))
    for pattern, stands in paraphrase_table(language):
        plain = " ".join(pattern.sub(stands, plain).split())
    words = plain.split()
    kinds = _kinds(words, inverted=language == "fr" and bool(_INVERTED.search(folded)))
    negations = tuple(sorted(_NOT[each] for each in words if each in _NOT))
    subject, numbers, ways = _parts(words, language, kinds=kinds, negated=bool(negations))
    capitals = {stem_for(normalize_name(each), language) for each in _CAPITAL.findall(text)}
    return QuestionFeatures(
        language=language,
        kinds=kinds,
        units=_UNITS & {*words},
        subject=subject,
        names=frozenset(capitals & {*subject}),
        numbers=numbers,
        negations=negations,
        # Sayings swallow tenses that matter; those of "could you" and "do you know" do not.
        tenses=frozenset(
            _TENSES[each] for each in (*words, *(_TOLD & {*spelt.split()})) if each in _TENSES
        ),
        manner_phrases=ways,
        auxiliary_verb=bool({"do", "does", "did"} & {*spelt.split()}),
        first_person=bool(_ASKER & {*spelt.split()}),
    )


def _language(text: str) -> str:
    """Count the small words that only one language has; English where there are none."""
    words = [normalize_name(each) for each in re.findall(r"[^\W\d_]+", text)]
    french = sum(each in _ONLY["fr"] for each in words)
    return "fr" if french > sum(each in _ONLY["en"] for each in words) else "en"


def _marked(text: str) -> str:
    """Keep apart what folding would mix: names like "US" and "C", and the French "où"."""
    text = _LETTER.sub(r"name\1", _WHERE.sub("ouu", text))
    return text if text.isupper() else _SMALL_NAMES.sub(r"name\1", text)


def _kinds(words: Sequence[str], *, inverted: bool) -> frozenset[str]:
    found = {each for each in words if each.isupper() and each != "TELL"} - _UNITS
    found |= {kind for at, word in enumerate(words) if (kind := _kind(word, at, words))}
    if not found and "TELL" in words:
        found.add("WHAT")
    if not found and words:
        asks = inverted or words[0] in _AUXILIARIES or _ASKS.search(" ".join(words))
        found.add("YES" if asks else "SAY")
    if len(found) > 1:
        found.discard("YES")
    if {"WHY", "WHERE", "WHEN", "WHO", "HOW"} & found:
        found.discard("WHAT")
    return frozenset(found)


def _kind(word: str, at: int, words: Sequence[str]) -> str:
    """What a question word asks for; empty where it only joins a clause."""
    kind = _KINDS.get(word, "")
    if not kind or (at and words[at - 1] == "TELL"):
        return kind
    following = words[at + 1] if at + 1 < len(words) else ""
    if kind in ("WHEN", "WHERE"):
        opens = not at and following not in _CLAUSE
        return kind if opens or following in _AUXILIARIES or following.isupper() else ""
    joins = following and at > 1 and (kind == "WHO" or word == "which")
    return "" if joins else kind


def _parts(
    words: Sequence[str], language: str, *, kinds: frozenset[str], negated: bool
) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[tuple[str, str]]]:
    """Give the stems of the subject, the numbers, and what each stands behind."""
    subject: list[str] = []
    numbers: list[str] = []
    ways: set[tuple[str, str]] = set()
    before, pending = "", set[str]()
    for word in words:
        number = _number(word, before)
        stem = "" if number else _stem(word, language, kinds=kinds, negated=negated)
        before = word
        if number or stem:
            ways |= {(way, number or stem) for way in pending}
            numbers += [number] if number else []
            # "By 2020" is not "in 2020"; "charged a fee" says the cost twice.
            subject += ["by"] if number and "by" in pending else []
            subject += [stem] if stem and not (stem == "cost" and stem in subject) else []
            pending = set()
        elif word in _WAYS[language]:
            pending.add(_WAYS[language][word])
    ways |= {(way, "") for way in pending & {"to", "from"}}
    return tuple(subject), tuple(numbers), frozenset(ways)


def _number(word: str, before: str) -> str:
    if word[0].isdecimal():
        return re.sub(r",(?=\d{3}\b)", "", word)
    if before in _PLACES and (roman := roman_number(word)):
        return str(roman)
    value = WORDS.get(word, 0)
    return str(value) if value > 1 else ""


def _stem(word: str, language: str, *, kinds: frozenset[str], negated: bool) -> str:
    """Give the stem that stands for a word, empty where it carries nothing."""
    if (word.isupper() and word.isalpha()) or word in _KINDS or word in _NOT:
        return ""
    if word in _SIGNS:
        return _SIGNS[word]
    if language == "fr" and word in _ELIDED:
        return ""
    if word == "should" or word in _CAN:
        # How one can do a thing is how one does it.
        told = negated or not {"HOW", "WHERE"} & kinds
        return ("should" if word == "should" else "can") if told else ""
    stem = stem_for(word, language)
    if stem in _MUST:
        return "must" if "HOW" not in kinds else ""
    if word in _TELLING:
        return stem
    empty = stem in _EMPTY or (word in _SMALL and word not in synonyms(language))
    return "" if empty or (stem == "find" and "WHERE" in kinds) else stem


@lru_cache(maxsize=20_000)
def stem_for(word: str, language: str) -> str:
    """Give the stem of a folded word, or that of the first word of its group."""
    stem = _own_stem(word, language)
    first = synonyms(language).get(word) or _by_stem(language).get(stem)
    return _own_stem(first, language) if first else stem


@lru_cache(maxsize=20_000)
def _own_stem(word: str, language: str) -> str:
    if language == "en":
        for pattern, stands in _SPELLINGS:
            word = pattern.sub(stands, word)
    return " ".join(analyze(word, language=language)) or word


@cache
def _by_stem(language: str) -> Mapping[str, str]:
    """Give the synonyms by their stems, the first group of each."""
    table = list(synonyms(language).items())
    return {_own_stem(word, language): first for word, first in reversed(table)}


_FOLDED = {key: {normalize_name(each) for each in STOP_WORDS[key]} for key in ("en", "fr")}
_ONLY = {
    "en": frozenset(_FOLDED["en"] - _FOLDED["fr"]),
    "fr": frozenset(_FOLDED["fr"] - _FOLDED["en"] - {"non", "plus", "via", "car", "hui"}),
}
_SMALL = frozenset((_FOLDED["en"] | _FOLDED["fr"] | _EMPTY | _CAN | _AUXILIARIES) - _TELLING)

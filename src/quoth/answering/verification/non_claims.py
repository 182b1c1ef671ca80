"""Non-claims, such as "the sources do not say", which need no evidence."""

from __future__ import annotations

import re

from quoth.answering.verification.claim import word_classes
from quoth.answering.verification.tokens import negations, tokens
from quoth.text.analyzer import normalize_name

_KINDS = (
    r"(?:sources?|passages?|documents?|excerpts?|context|texts?|materials?|transcripts?"
    r"|(?:provided|given|available|cited|retrieved) evidence)"
    r"(?: (?:above|provided|given|available|i (?:have|was given)))*"
)
_WHICH = r"(?:the|these|those|any of the|provided|given|available|cited|retrieved)"
_THESE = rf"(?:{_WHICH} )+{_KINDS}"
_SOURCES = rf"(?:{_WHICH} )*{_KINDS}"
_SAY = (
    r"(?:say|state|mention|contain|provide|include|specify|give|answer|address|discuss|explain|"
    r"cover|describe|indicate|reveal|tell|have(?! been)|offer|define|list|name|support|clarify)\w*"
)
_SAID = rf"(?:{_SAY}|said|found|clear|known|present|possible|specified|clarified|determined|shown)"
_MISSING = r"(?:no|not enough|insufficient) (?:\w+ )?(?:information|answer)"
_KNOWN_OF = (
    r"(?: (?:about|on|regarding|concerning|as to|here"
    r"|to (?:answer|say|tell|(?:this|the|your) question)"
    r"|(?:(?:is|was|are|were|can be|could be) )?(?:available|provided|given|found))\b"
    rf"| (?:in|from) {_SOURCES}|\W*$)"
)
"""What follows if the sources, and not the world, lack something."""
_ASKING = r"(?:who|what|when|where|which|why|how|whether|if)\b"
_SOURCES_FR = (
    r"(?:l[ea]s? |ces |cette |ce |l'|des )?(?:sources?|passages?|documents?|extraits?|contextes?|"
    r"textes?|elements?)(?: (?:ci-dessus|fournie?s?|donnee?s?|disponibles?|citee?s?|cites?))*"
)
_SAY_FR = (
    r"(?:disent|dit|contien(?:t|nent)|fourni(?:t|ssent)|repond(?:ent)?|permet(?:tent)?|"
    r"decri(?:t|vent)|defini(?:t|ssent)|"
    r"(?:precise|mentionne|indique|explique|aborde|traite|donne|parle|comporte|evoque)(?:nt)?)"
)
_ASKING_FR = r"(?:qui|que|quoi|quand|ou|comment|pourquoi|si|combien|quel\w*)\b"
_EN = re.compile(
    rf"(?:^|\b){_SOURCES} (?:do|does|did|could|can) ?n(?:o|')?t (?:\w+ ){{0,2}}?{_SAY}\b"
    rf"|(?:^|\b){_SOURCES} (?:say|contain|give|provide|offer|have)s? (?:nothing|no)\b"
    rf"|\b(?:nothing|no(?:ne|t enough|t sufficient)?(?: \w+){{0,3}}) (?:in|from) {_THESE}\b"
    rf"|\b(?:none|nothing|no \w+) of {_THESE} (?:\w+ )?{_SAY}\b"
    rf"|\bnot (?:\w+ )?{_SAID} (?:\w+ )?(?:in|by|from) {_SOURCES}"
    rf"|\bnot in {_THESE}\W*$"
    r"|\bi (?:do not|don't|cannot|can't|could not|couldn't|am unable to|was unable to) "
    r"(?:know|find|answer|determine|say|tell|locate|see)\b(?! that\b)"
    rf"|(?:^|\bthere is |\bthere's ){_MISSING}\b{_KNOWN_OF}"
    r"|^(?:this|that|it|the (?:answer|question|information)) (?:is not|isn't|cannot be|can't be) "
    r"(?:\w+ )?(?:stated|mentioned|specified|answered|given|provided|found|covered|determined)"
    rf"(?: {_ASKING}|\W*$)"
)
_FR = re.compile(
    rf"\b{_SOURCES_FR} n(?:e|'en|'y) (?:le |la |les |l')?{_SAY_FR} (?:\w+ )?(?:pas|rien|aucune?)\b"
    rf"|\b(?:rien|aucune?(?: \w+){{0,3}}) dans {_SOURCES_FR}"
    rf"|\baucune? (?:des )?{_SOURCES_FR} ne (?:le |la |les |l')?{_SAY_FR}\b"
    r"|\bje ne (?:sais|peux|trouve|suis) (?:pas|rien|aucune?)\b"
    r"|\bje n'ai (?:pas )?(?:rien )?trouve\b"
    r"|\bil n'y a (?:pas (?:assez )?d|aucune? )(?:'|e )?(?:information|reponse|element|preuve)s?"
    rf"(?: (?:a ce sujet|sur|concernant|disponible|dans {_SOURCES_FR})|\W*$)"
    r"|^(?:cela|ceci|ce|cette (?:information|question)|la reponse) (?:n'est|ne sont) pas "
    r"(?:precisee?|mentionnee?|indiquee?|donnee?|fournie?|abordee?)"
    rf"(?: (?:dans|par) {_SOURCES_FR}| {_ASKING_FR}|\W*$)"
)
_LEAD_IN = re.compile(r"(?:[^\W\d_]+[ ,'-]{1,2}){0,5}[^\W\d_]+ ?:")
_LEADING = re.compile(
    r"\b(?:sources?|passages?|documents?|texts?|here|following|below|answer|summary|voici|suivante?s?"
    r"|textes?|reponse|resume)\b"
)
_BUT = re.compile(
    r"\b(?:but|yet|because|however|although|though|only|except|mais|cependant|toutefois|sauf)\b"
)
_VALUE = re.compile(r"\d[\d.,]*|(?<=[\w,;:] )(?!Sources?\b)[A-ZÀ-ÖØ-Þ][\w'’-]*\w")
"""Numbers and names, which make a sentence a claim unless they are in the question."""


def is_non_claim(statement: str, language: str, *, question: str = "") -> bool:
    """Return whether a sentence only says that the sources do not answer.

    English and French; a sentence that continues with a "but" is a claim, and so is one with a
    number or a name that is not in the ``question``. A short lead-in ("The sources say:") is no
    claim either.
    """
    known = question.casefold()
    if any(each.rstrip(".,").casefold() not in known for each in _VALUE.findall(statement)):
        return False
    if _adds_nothing(statement, language, question=question):
        return True
    text = normalize_name(statement).strip(" \"'«»*#")
    if _LEAD_IN.fullmatch(text):
        return _LEADING.search(text) is not None
    patterns = (_FR, _EN) if language == "fr" else (_EN, _FR)
    if not any(pattern.search(text) for pattern in patterns):
        return False
    return _BUT.search(text) is None


def _adds_nothing(statement: str, language: str, *, question: str) -> bool:
    """Return whether a sentence denies that something is said, with no word but the question's."""
    if not question:
        return False
    words = word_classes(language)
    parts = tokens(statement, language=language)
    if not negations(parts) or not any(part.word in words.telling for part in parts):
        return False
    asked = tokens(question, language=language)
    known = {part.stem for part in asked} | {part.word for part in asked}
    own = words.telling | words.source_names | words.reporting
    return all(
        not part.stem or part.stem in known or part.word in known or part.word in own
        for part in parts
    )

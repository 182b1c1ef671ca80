"""Sentences that say that the sources do not say: honest, and nothing to prove."""

from __future__ import annotations

import re

from quoth.analyse import fold

_SOURCES = (
    r"(?:the |these |those |any of the |provided |given |available |cited |retrieved )*"
    r"(?:sources?|passages?|documents?|excerpts?|context|texts?|materials?|transcripts?|evidence)"
    r"(?: (?:above|provided|given|available|i (?:have|was given)))*"
)
_SAY = (
    r"(?:say|state|mention|contain|provide|include|specify|give|answer|address|discuss|explain|"
    r"cover|describe|indicate|reveal|tell|have|offer|define|list|name|support|clarify)\w*"
)
_SOURCES_FR = (
    r"(?:l[ea]s? |ces |cette |ce |l'|des )?(?:sources?|passages?|documents?|extraits?|contextes?|"
    r"textes?|elements?)(?: (?:ci-dessus|fournie?s?|donnee?s?|disponibles?|citee?s?|cites?))*"
)
_SAY_FR = (
    r"(?:disent|dit|contien(?:t|nent)|fourni(?:t|ssent)|repond(?:ent)?|permet(?:tent)?|"
    r"decri(?:t|vent)|defini(?:t|ssent)|"
    r"(?:precise|mentionne|indique|explique|aborde|traite|donne|parle|comporte|evoque)(?:nt)?)"
)
_EN = re.compile(
    rf"(?:^|\b){_SOURCES} (?:do|does|did|could|can) ?n(?:o|')?t (?:\w+ ){{0,2}}?{_SAY}\b"
    rf"|(?:^|\b){_SOURCES} (?:say|contain|give|provide|offer|have)s? (?:nothing|no)\b"
    rf"|\b(?:nothing|no(?:ne|t enough|t sufficient)?(?: \w+){{0,3}}) (?:in|of|from) {_SOURCES}\b"
    rf"|\bnot (?:\w+ ){{0,2}}(?:in|by|from) {_SOURCES}"
    r"|\bi (?:do not|don't|cannot|can't|could not|couldn't|am unable to|was unable to) "
    r"(?:know|find|answer|determine|say|tell|locate|see)\b"
    r"|\b(?:there is|there's) (?:no|not enough|insufficient) (?:\w+ )?information\b"
    r"|^(?:no|insufficient|not enough) (?:\w+ )?(?:information|answer)\b"
    r"|^(?:this|that|it|the (?:answer|question|information)) (?:is not|isn't|cannot be|can't be) "
    r"(?:\w+ )?(?:stated|mentioned|specified|answered|given|provided|found|covered|determined)\b"
)
_FR = re.compile(
    rf"\b{_SOURCES_FR} n(?:e|'en|'y) (?:le |la |les |l')?{_SAY_FR} (?:\w+ )?(?:pas|rien|aucune?)\b"
    rf"|\b(?:rien|aucune?(?: \w+){{0,3}}) (?:dans|de) {_SOURCES_FR}"
    rf"|\baucune? (?:des )?{_SOURCES_FR} ne (?:le |la |les |l')?{_SAY_FR}\b"
    r"|\bje ne (?:sais|peux|trouve|suis) (?:pas|rien|aucune?)\b"
    r"|\bje n'ai (?:pas )?(?:rien )?trouve\b"
    r"|\bil n'y a (?:pas (?:assez )?d|aucune? )(?:'|e )?(?:information|reponse|element|preuve)"
    r"|^(?:cela|ceci|ce|cette (?:information|question)|la reponse) (?:n'est|ne sont) pas "
    r"(?:precisee?|mentionnee?|indiquee?|donnee?|fournie?|abordee?)"
)
_LEAD_IN = re.compile(r"(?:[^\W\d_]+[ ,'-]{1,2}){0,5}[^\W\d_]+ ?:")
_BUT = re.compile(r"\b(?:but|however|although|though|only|except|mais|cependant|toutefois|sauf)\b")


def says_nothing(statement: str, language: str) -> bool:
    """Whether a sentence only says that the sources do not answer; it claims nothing to prove.

    English and French; a sentence that goes on with a "but" claims something. A few words that
    lead to what follows ("The sources say:") claim nothing either.
    """
    text = fold(statement).strip(" \"'«»*#")
    if _LEAD_IN.fullmatch(text):
        return True
    patterns = (_FR, _EN) if language == "fr" else (_EN, _FR)
    if not any(pattern.search(text) for pattern in patterns):
        return False
    return _BUT.search(text) is None

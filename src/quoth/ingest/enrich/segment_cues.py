"""English and French phrases that begin or end questions or a demonstration.

Patterns match normalized text: lower case, no accents, straight apostrophes.
"""

from __future__ import annotations

import re
from typing import Literal

CueKind = Literal["questions", "any", "following", "over", "demo", "slides"]
"""Questions begin · somebody asks for some · one more comes · they are over · a demonstration
begins · it is over."""


def _one_of(*patterns: str, start: str = r"\b", end: str = r"\b") -> re.Pattern[str]:
    return re.compile(f"{start}(?:{'|'.join(patterns)}){end}")


_FEW = r"(?:a few|a couple of|some|several|one or two|one|two|three|your|audience)"
_QA = r"(?:q ?(?:&|and|n) ?a|questions? (?:and|&) answers?)"
_WE = r"(?:let'?s|let us|(?:we|i)(?:'ll| will| can| would like to|'d like to)|happy to)"
_GO = (
    r"(?:take|(?:move|go|turn|get) (?:on )?to|start with|open (?:it|this|things|the floor)?"
    r" ?(?:up )?(?:for|to))"
)
_ONE = r"(?:a |an |the |this |that |our |my )"
_KIND = r"(?:(?:quick|short|small|little|brief|live|first|simple|tiny) ){0,3}"
_SHOW = (
    r"(?:show|give|do|run|have|see|start|(?:jump|go|switch|move|get|look|turn)"
    r"(?: over| right)? (?:in)?(?:to|at)|jump|switch)"
)

_BEGIN = _one_of(
    rf"we (?:now )?(?:do )?have (?:\w+ ){{0,4}}time (?:left )?for (?:{_FEW} )?(?:more )?questions?",
    rf"{_WE} (?:now |just |then )?{_GO} (?:the |our |any )?(?:{_FEW} )?(?:more )?"
    rf"(?:questions|{_QA})",
    rf"(?:time|moment) for (?:the |our |{_FEW} )?(?:questions|{_QA})",
    rf"open(?:ing)? (?:up )?(?:the floor|it|this|things) (?:up )?(?:for|to) (?:{_FEW} )?questions",
    r"(?:the|our) (?:very )?first question (?:is from|comes from|came from|from)",
    r"first question,? please",
    r"questions? from (?:the|our) (?:audience|floor|room|chat|back)",
    r"(?:on passe|passons|passer|place) (?:maintenant )?(?:aux|a vos) questions",
    r"(?:l'heure|le moment|le temps) (?:des|de vos|de la seance de) questions",
    r"(?:la |une )?premiere question (?:vient|du public|dans la salle|s'il vous plait)",
    r"questions? (?:de la salle|du public|dans la salle|de l'auditoire)",
    r"(?:commencons|ouvrons|ouvrir|commencer) la seance de questions",
    r"(?:temps|minutes) pour (?:des|quelques|vos|une ou deux) questions",
    end=r"\b(?! (?:answering|generation|generators?|types?|marks?|like|such|about))",
)
_ANY = _one_of(
    r"any (?:more |other |further )?questions(?: so far| here| (?:on|about) (?:this|that))?",
    r"(?:vous avez|avez[- ]vous|y a[- ]t[- ]il|il y a|est-ce que vous avez) "
    r"(?:des|d'autres) questions",
    r"(?:des|d'autres) questions",
    end=r"\s*\?",
)
_FOLLOWING = _one_of(
    r"(?:the|our) next question (?:is from|comes from|from|here)",
    r"(?:one more|last|another|next) question(?: from \w+)?[,.?! ]*(?:please)?$",
    r"(?:good|great|excellent|interesting) question",
    r"thank(?:s| you) for (?:the|your|that) question",
    r"question suivante|autre question|derniere question|prochaine question",
    r"(?:bonne|excellente|tres bonne) question",
    r"merci pour (?:la|votre|cette) question",
)
_OVER = _one_of(
    r"thank(?:s| you)(?: all| everyone| everybody)?(?: very much| so much)? for (?:all )?"
    r"(?:your|the|these|those|all your) (?:\w+ )?questions",
    r"(?:no|aren't any) (?:more|further|other) questions",
    r"that'?s all the (?:time|questions) (?:that )?we have",
    r"we(?:'re| are) (?:all )?out of time",
    r"merci (?:beaucoup |a tous |encore )*pour (?:toutes )?(?:vos|ces) questions",
    r"(?:il n'y a|s'il n'y a|pas d'autres?|plus de) (?:plus de |pas d'autres )?questions",
)
_DEMO = _one_of(
    rf"(?:let me|(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| want to|'d like to)"
    rf"|let'?s|let us|gonna)(?: now| just| quickly| actually)* {_SHOW}"
    rf"(?: you| you all| everyone| us)?(?: through)? {_ONE}?{_KIND}demo(?:nstration)?",
    rf"here(?:'s| is) {_ONE}{_KIND}demo(?:nstration)?",
    rf"(?:time for {_ONE}?{_KIND}demo(?:nstration)?|(?:it's )?demo time)",
    r"(?:je vais|nous allons|on va|permettez-moi de|laissez-moi)(?: vous| nous)? "
    r"(?:faire|montrer|presenter|lancer|passer a|donner) (?:une|la|notre|ma) "
    r"(?:petite |rapide |courte |premiere )?demo(?:nstration)?",
    r"(?:passons|place|on passe) (?:maintenant )?a (?:la|une|notre) (?:petite )?demo(?:nstration)?",
    r"voici (?:la|une|notre|ma) (?:petite )?demo",
)
_SLIDES = _one_of(
    r"(?:back|returning|return) to (?:the|my|our) (?:slides?|deck|presentation)",
    r"(?:that|this) was (?:the|our|my|a) (?:\w+ )?demo",
    r"that(?:'s| is) (?:it for )?(?:the|our|my) (?:\w+ )?demo",
    r"(?:end|conclusion) of (?:the|our|my) demo",
    r"(?:concludes|ends|wraps up) (?:the|our|my) demo",
    r"(?:revenons|revenir|retour|retournons) (?:a la |aux |a mes |a nos )"
    r"(?:presentation|slides?|diapos\w*)",
    r"fin de la demo|c'etait (?:la|notre|ma) (?:petite )?demo",
)
_NOT_NOW = _one_of(
    r"later|at the end|in the end|afterwards?|tomorrow|yesterday|earlier|during|if you have",
    r"next (?:time|week|talk|video|lecture|session)|last (?:time|week|year)",
    r"after (?:the|this|my|our) (?:talk|presentation|break|demo|lecture)",
    r"then (?:we|i)(?:'ll| will)? (?:go on|continue|move on|come back)",
    r"not|no time|never|\w+n't|cannot|skip|instead of|would have|should have",
    r"plus tard|a la fin|tout a l'heure|ensuite|demain|si vous avez|pendant",
    r"apres (?:l'expose|la presentation|le cours|la pause)|pas|jamais|hier",
)

_TELLING = (
    *("question", "q&a", "q & a", "q and a", "q n a", "demo", "démo", "slide", "diapo", "deck"),
    *("presentation", "présentation", "of time", "time we have", "de\u0301mo"),
)


def may_hold_cue(text: str) -> bool:
    """Return whether a text contains a word that every cue requires (fast filter)."""
    small = text.casefold()
    return any(word in small for word in _TELLING)


_NUMBER = r"(?:\d+(?:\.\d+)*[.:)]? +)?"
QA_TITLE = re.compile(
    rf"{_NUMBER}(?:live |audience )?(?:q ?(?:&|and|et|/) ?[ar]|questions? ?(?:&|and|et|/|,) ?"
    r"(?:answers?|reponses?)|audience questions|questions (?:from|by) the (?:audience|floor)"
    r"|questions (?:du public|de la salle|de l'auditoire)|seance de questions)(?:[\s:(–—-].*)?"
)
"""A heading, folded, above questions from the audience; "Question answering" is none."""
DEMO_TITLE = re.compile(
    rf"{_NUMBER}(?:(?:live|quick|product|short|video)[ -])?demos?"
    r"(?:(?:\s*[:(–—]|\s-\s).*|\s+\d+|\s+time)?"
    rf"|{_NUMBER}(?:live demonstration|demonstration en (?:direct|live))(?:[\s:(–—-].*)?"
)
"""A heading, folded, above a demonstration; a French "Démonstration" is a proof."""

AUDIENCE = re.compile(
    r"(?:(?:the |an? )?(?:audience|student|attendee|participant|questioner|spectator)s?"
    r"(?: (?:member|question|\d+))?|(?:un |une |le )?(?:public|etudiante?|auditeur|auditrice"
    r"|spectateur|spectatrice|participante?)s?(?: \d+)?)"
)
"""How transcripts call a speaker from the audience, folded."""


def cue_kind(sentence: str) -> CueKind | None:
    """Return what a normalized sentence begins or ends, None for any other sentence."""
    if _OVER.search(sentence):
        return "over"
    if _SLIDES.search(sentence):
        return "slides"
    if _ANY.search(sentence):
        return "any"
    if _FOLLOWING.search(sentence):
        return "following"
    if _NOT_NOW.search(sentence):
        return None
    if _BEGIN.search(sentence):
        return "questions"
    return "demo" if _DEMO.search(sentence) else None

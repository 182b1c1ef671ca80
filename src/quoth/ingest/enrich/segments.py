"""Detect audience questions and demonstrations as ranges of chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from quoth.core.outline import Heading
from quoth.core.types import Chunk, Seconds, Segment
from quoth.text.analyzer import normalize_name
from quoth.text.locators import speakers_in

CueKind = Literal["questions", "any", "following", "over", "demo", "slides"]
"""Questions begin · they are asked for · one more comes · they are over · a demonstration
begins · it is over."""


def _one_of(*patterns: str, end: str = r"\b") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)}){end}")


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


DEMO_SECONDS = 300.0
"""How long a demonstration is taken to last where nothing says that it is over."""
ANNOUNCED = 0.1
"""Share of a talk within which a cue only announces what is to come."""
LATE = 0.5
"""Share of a talk after which "let's take your questions" holds to the end."""
VERY_LATE = 0.85
"""Share of a talk after which "any questions?" holds to the end."""
NEAR = 2
"""Chunks by which two questions of one round are apart at most."""

_MARK = re.compile(r"[.?!]")
_SENTENCE = re.compile(r"[^.?!…\s][^.?!…]*[.?!…]*")


@dataclass(frozen=True, slots=True)
class _Cue:
    """A spoken cue for a segment: the chunk and its relative position in the talk.

    ``kind`` is a `segment_cues.CueKind`, or "audience" where the audience speaks; ``start`` is
    where its caption begins in the text.
    """

    ordinal: int
    kind: str
    share: float
    start: int


def segments_of(chunks: Sequence[Chunk]) -> tuple[Heading, ...]:
    """Return the segments of questions and answers or demonstrations, in order.

    A segment named by a heading has the span of the heading. In a transcript spoken cues mark where
    one begins ("let's take some questions") and ends ("thank you for your questions"), and so do
    speakers from the audience. Precision is preferred over recall: announcements are ignored, and
    early cues count only where others nearby confirm them.
    """
    found = list(_titled(chunks))
    if not found and _is_talk(chunks):
        found = list(_heard(chunks, list(_cues(chunks))))
    return tuple(sorted(found, key=lambda each: each.first))


def segment_starts(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """Return where in the text the segments begin that are only heard: at their first cue.

    A chunk that begins there has nothing of the talk before.
    """
    if not _is_talk(chunks) or any(_titled(chunks)):
        return ()
    cues = list(_cues(chunks))
    opening = {"qa": ("questions", "any", "audience"), "demo": ("demo",), "": ()}
    return tuple(
        min(
            cue.start
            for cue in cues
            if cue.ordinal == heading.first and cue.kind in opening[heading.segment]
        )
        for heading in _heard(chunks, cues)
    )


def _is_talk(chunks: Sequence[Chunk]) -> bool:
    return bool(chunks) and chunks[0].kind == "transcript"


# --- headings ---------------------------------------------------------------------------------


def _titled(chunks: Sequence[Chunk]) -> Iterator[Heading]:
    known: dict[tuple[str, ...], tuple[tuple[str, ...], Segment]] = {}
    current: Heading | None = None
    for at, chunk in enumerate(chunks):
        if chunk.section not in known:
            known[chunk.section] = _kind_of_title(chunk.section)
        path, kind = known[chunk.section]
        if current is not None and path == current.path:
            current = replace(current, last=at)
            continue
        if current is not None:
            yield current
        current = Heading(chunk.document_id, path, at, at, segment=kind) if kind else None
    if current is not None:
        yield current


def _kind_of_title(path: Sequence[str]) -> tuple[tuple[str, ...], Segment]:
    for depth, title in enumerate(path, start=1):
        folded = normalize_name(title)
        if QA_TITLE.fullmatch(folded):
            return tuple(path[:depth]), "qa"
        if DEMO_TITLE.fullmatch(folded):
            return tuple(path[:depth]), "demo"
    return (), ""


# --- spoken cues --------------------------------------------------------------------------------


def _heard(chunks: Sequence[Chunk], cues: Sequence[_Cue]) -> Iterator[Heading]:
    rounds = list(_rounds(cues, last=len(chunks) - 1))
    for first, last in rounds:
        yield Heading(chunks[0].document_id, (), first, last, segment="qa")
    taken = {ordinal for first, last in rounds for ordinal in range(first, last + 1)}
    for first, last in _demos(cues, chunks, taken=taken):
        yield Heading(chunks[0].document_id, (), first, last, segment="demo")


def _cues(chunks: Sequence[Chunk]) -> Iterator[_Cue]:
    length = max(1, chunks[-1].end)
    voices: dict[str, bool] = {}
    for at, chunk in enumerate(chunks):
        if any(_is_audience(voice, voices) for voice in speakers_in(chunk)):
            asked = (
                each.start
                for each in chunk.places
                if each.locator.speaker and _is_audience(each.locator.speaker, voices)
            )
            yield _Cue(at, "audience", chunk.start / length, next(asked, chunk.start))
        if not may_hold_cue(chunk.text):
            continue
        heard: set[str] = set()
        for start, sentence in _sentences(chunk):
            kind = cue_kind(sentence) if may_hold_cue(sentence) else None
            if kind and kind not in heard:
                heard.add(kind)
                share = (chunk.start + start) / length
                yield _Cue(at, kind, share, _caption_start(chunk, start))


def _sentences(chunk: Chunk) -> Iterator[tuple[int, str]]:
    """Return the normalized sentences with their approximate offsets.

    Automatic captions have no punctuation: two cues at a time form a sentence.
    """
    folded = normalize_name(chunk.text)
    if _MARK.search(folded):
        yield from ((each.start(), each[0]) for each in _SENTENCE.finditer(folded))
        return
    for one, other in pairwise((*chunk.places, *chunk.places[-1:])):
        start, end = one.start - chunk.start, other.end - chunk.start
        yield start, normalize_name(chunk.text[start:end])


def _caption_start(chunk: Chunk, position: int) -> int:
    """Return where the caption begins that holds a position of the normalized text."""
    before = ((each.start, chunk.text[: each.start - chunk.start]) for each in chunk.places)
    begun = [start for start, text in before if len(normalize_name(text)) <= position]
    return max(begun, default=chunk.start)


def _is_audience(voice: str, known: dict[str, bool]) -> bool:
    if voice not in known:
        known[voice] = AUDIENCE.fullmatch(normalize_name(voice)) is not None
    return known[voice]


def _rounds(cues: Sequence[_Cue], *, last: int) -> Iterator[tuple[int, int]]:
    """Return the question rounds: those during the talk, and the one at its end."""
    asked = [cue for cue in cues if cue.kind in ("questions", "any", "following", "audience")]
    end = _last_round(cues, asked, last=last)
    group: list[_Cue] = []
    for cue in [*(each for each in asked if end is None or each.ordinal < end[0]), None]:
        if group and (cue is None or cue.ordinal > group[-1].ordinal + NEAR):
            yield from _round(group)
            group = []
        if cue is not None:
            group.append(cue)
    if end is not None:
        yield end


def _last_round(
    cues: Sequence[_Cue], asked: Sequence[_Cue], *, last: int
) -> tuple[int, int] | None:
    for number, cue in enumerate(asked):
        more = asked[number + 1 :]
        late = {"questions": LATE, "any": VERY_LATE}.get(cue.kind, 2.0)
        borne_out = cue.kind == "questions" and cue.share > ANNOUNCED and len(more) > 1
        if cue.share >= late or borne_out:
            latest = max((each.ordinal for each in more), default=cue.ordinal)
            over = [cue.ordinal for cue in cues if cue.kind in ("over", "slides")]
            closing = [ordinal for ordinal in over if ordinal >= latest]
            return cue.ordinal, closing[0] if closing else last
    return None


def _round(group: Sequence[_Cue]) -> Iterator[tuple[int, int]]:
    """Return a question round during the talk, confirmed by following questions."""
    opening = [at for at, each in enumerate(group) if each.kind in ("questions", "any", "audience")]
    if not opening:
        return
    rest = group[opening[0] :]
    if len(rest) > 1 or rest[0].kind == "audience":
        yield rest[0].ordinal, rest[-1].ordinal


def _demos(
    cues: Sequence[_Cue], chunks: Sequence[Chunk], *, taken: set[int]
) -> Iterator[tuple[int, int]]:
    """Return the demonstrations, each up to its closing cue or the maximum length."""
    after = -1
    for number, cue in enumerate(cues):
        if cue.kind != "demo" or cue.ordinal <= after or cue.ordinal in taken:
            continue
        over = [cue.ordinal for cue in cues[number + 1 :] if cue.kind == "slides"]
        free = cue.ordinal
        while free + 1 < len(chunks) and free + 1 not in taken:
            free += 1
        after = min(over[0] if over else _reach(chunks, cue.ordinal), free)
        yield cue.ordinal, after


def _reach(chunks: Sequence[Chunk], first: int) -> int:
    """Return the last chunk that begins within DEMO_SECONDS of the first."""
    begun = _second(chunks[first])
    last = first
    while last + 1 < len(chunks) and _second(chunks[last + 1]) <= begun + DEMO_SECONDS:
        last += 1
    return last


def _second(chunk: Chunk) -> float:
    return chunk.locator.start if isinstance(chunk.locator, Seconds) else float("inf")

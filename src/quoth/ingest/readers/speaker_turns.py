"""Speaker labels and dashes in captions, removed from the text when unambiguous."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MIN_SPEAKER_PARAGRAPHS = 3
MIN_TIME_MARKS = 2
"""What makes a Markdown text a transcript beyond doubt."""

SPEAKER_PARAGRAPH = re.compile(
    r"\s*(?:\*\*|__)(?P<name>[^*_\n]{1,60}?)(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s*"
)
TIME_MARK = re.compile(r"\\?\[(?P<time>(?:\d{1,2}:)?\d{1,2}:\d{2})(?:\.\d+)?\\?\](?!\()")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?\s++([^<>]*+)>")
_LABEL = re.compile(
    r"(?P<turn>(?:>>+|[-–—])\s*)?(?P<name>[^\W\d_][\w.'’\- ]{0,38}?)"
    r"(?: ?\(\w[\w ]{0,20}\))?:(?=\s|$)\s*"
)
_TURN = re.compile(r"(?:>>+\s*|[-–—]\s+)(?=\S)")
_TIGHT_DASH = re.compile(r"[-–—](?=[^\W\d_])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a person is called who is not named.
_ROLES = _words(
    "PROFESSOR INSTRUCTOR LECTURER TEACHER STUDENT STUDENTS AUDIENCE SPEAKER HOST GUEST MODERATOR "
    "INTERVIEWER INTERVIEWEE NARRATOR PRESENTER ANNOUNCER MAN WOMAN CROWD PROFESSEUR ÉTUDIANT "
    "PARTICIPANT PARTICIPANTE LOCUTEUR LOCUTRICE SPRECHER SPRECHERIN "
    "ÉTUDIANTE PUBLIC ORATEUR ANIMATEUR INTERVENANT INTERVENANTE NARRATEUR JOURNALISTE"
)
# Those of them who give a lecture.
_LECTURERS = _words("PROFESSOR INSTRUCTOR LECTURER TEACHER PROFESSEUR")
# Words before a colon that are not speakers.
_THINGS = _words(
    "note notes example exemple examples exemples question questions answer answers réponse "
    "réponses warning attention tip hint step étape theorem théorème proof preuve definition "
    "définition remark remarque summary résumé conclusion result résultat input output entrée "
    "sortie first second third next finally okay ok so well now then also but and or because "
    "mais donc alors ensuite enfin premièrement deuxièmement todo ps nb https http exercise "
    "exercice problem problème solution case cas rule règle idea idée goal but"
)


MIN_TIMES = 3
"""How often a name begins a line that is certainly that of a speaker."""


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """A part of a cue; ``new`` marks a change of speaker, ``speaker`` is None if unknown."""

    text: str
    new: bool
    speaker: str | None = None


def find_speaker_labels(texts: Iterable[str]) -> frozenset[str]:
    """Return the labels that are unambiguously speakers.

    These are roles ("PROFESSOR"), names after ">>", names in capitals that occur at least twice,
    and other names written as names that occur at least three times. Where one does and most cues
    begin with a label, as meetings are exported, once is enough for the others.
    """
    seen: Counter[str] = Counter()
    marked: set[str] = set()
    cues = labelled = 0
    for text in texts:
        cues += 1
        for number, line in enumerate(text.split("\n")):
            label = _LABEL.match(line.strip())
            if label is None:
                continue
            name = label["name"].strip()
            seen[name] += 1
            labelled += not number
            if label["turn"] and label["turn"].startswith(">>"):
                marked.add(name)
    if 2 * labelled > cues and max(seen.values(), default=0) >= MIN_TIMES:
        marked.update(seen)
    return frozenset(
        name for name, times in seen.items() if _is_name(name, times=times, marked=name in marked)
    )


def _is_name(name: str, *, times: int, marked: bool) -> bool:
    words = name.split()
    if len(words) > 4 or len(name) < 2 or words[0].lower() in _THINGS:
        return False
    if name.upper() == name:
        return times >= 2 or marked or words[0] in _ROLES
    role = is_role(name)
    capital = all(
        word[0].isupper()
        or word in ("de", "du", "van", "von", "la")
        or (role and word.isdecimal())  # "Speaker 1"
        for word in words
    )
    return capital and (times >= MIN_TIMES or marked or words[0].upper() in _ROLES)


def is_speaker_name(label: str) -> bool:
    """Return whether a label is written as the name or the role of a person."""
    return _is_name(label, times=1, marked=True)


def is_role(label: str) -> bool:
    """Return whether a label is the role of a person without a name: "Speaker 1"."""
    return not _ROLES.isdisjoint(label.upper().split())


def is_lecturer(label: str) -> bool:
    """Return whether a label is the role of who gives a lecture: "PROFESSOR"."""
    return label.upper() in _LECTURERS


def turns(text: str, *, names: frozenset[str]) -> Iterator[SpeakerTurn]:
    """Split the text of one cue where a line starts with another speaker."""
    lines = [line.strip() for line in text.split("\n")]
    dialogue = len(lines) > 1 and all(_TIGHT_DASH.match(line) for line in lines if line)
    kept: list[str] = []
    current = SpeakerTurn("", new=False)
    for line in lines:
        turn = _turn(line, names=names, dialogue=dialogue)
        if turn.new:
            if any(kept):
                yield SpeakerTurn("\n".join(kept), new=current.new, speaker=current.speaker)
            current, kept = turn, []
        kept.append(turn.text)
    yield SpeakerTurn("\n".join(kept), new=current.new, speaker=current.speaker)


def _turn(line: str, *, names: frozenset[str], dialogue: bool) -> SpeakerTurn:
    label = _LABEL.match(line)
    if label is not None and label["name"].strip() in names:
        return SpeakerTurn(line[label.end() :], new=True, speaker=label["name"].strip())
    mark = _TURN.match(line) or (_TIGHT_DASH.match(line) if dialogue else None)
    return SpeakerTurn(line[mark.end() :], new=True) if mark else SpeakerTurn(line, new=False)


def split_label(text: str) -> SpeakerTurn:
    """Split the name of a speaker off what is said at a time: "Ada Lovelace: Yes."."""
    label = _LABEL.match(text)
    if label is None or not is_speaker_name(label["name"].strip()):
        return SpeakerTurn(text, new=False)
    return SpeakerTurn(text[label.end() :], new=True, speaker=label["name"].strip())


def voices(text: str, *, speaker: str | None) -> list[SpeakerTurn]:
    """Split the text of a WebVTT cue at its ``<v Name>`` tags; ``speaker`` is the default."""
    found = list(_VOICE.finditer(text))
    if not found:
        return [SpeakerTurn(text, new=speaker is not None, speaker=speaker)]
    ends: Sequence[int] = [match.start() for match in found[1:]] + [len(text)]
    pieces = [
        SpeakerTurn(
            text[match.end() : end], new=True, speaker=" ".join(match[1].split()) or speaker
        )
        for match, end in zip(found, ends, strict=True)
    ]
    before = text[: found[0].start()]
    return [SpeakerTurn(before, new=False, speaker=speaker), *pieces] if before.strip() else pieces


def is_spoken(text: str) -> bool:
    """Return whether a Markdown text is clearly a transcript with speakers and times."""
    parts = paragraphs(text)
    named = sum(SPEAKER_PARAGRAPH.match(paragraph) is not None for paragraph in parts)
    enough = named >= MIN_SPEAKER_PARAGRAPHS and 4 * named >= len(parts)
    return enough and sum(1 for _ in TIME_MARK.finditer(text)) >= MIN_TIME_MARKS


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, stripped of white space."""
    return [part.strip() for part in re.split(r"\n[ \t]*\n", text) if part.strip()]

"""Speaker labels and dashes in captions, removed from the text when unambiguous."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from quoth.text.tables import language_tables, word_list

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
_GOES_ON = re.compile(r"[\w,;:]\s*$")
"""The end of a line within a sentence."""
_TIGHT_DASH = re.compile(r"[-–—](?=[^\W\d_])")


_words = partial(word_list, "quoth.ingest.readers", "dialogue")
_ROLES, _LECTURERS = _words("roles"), _words("lecturers")
_ARTICLES, _AFTER_ROLE = _words("role_articles"), _words("after_role")
_THINGS, _PARTICLES = _words("things"), _words("particles")
_DIALOGUES = language_tables("quoth.ingest.readers", "dialogue").values()
_ASKED = re.compile(f"(?i){'|'.join(row for table in _DIALOGUES for row in table['asked'])}")
"""A label that says where a question comes from: "Question from the floor"."""

MIN_TIMES = 3
"""How often a name begins a line that is certainly that of a speaker."""


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """A part of a cue; ``new`` marks a change of speaker, ``speaker`` is None if unknown.

    ``labelled`` says that the text begins with the label of an unknown speaker.
    """

    text: str
    new: bool
    speaker: str | None = None
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class SpeakerLabels:
    """The labels of a transcript at which another person begins to speak."""

    names: frozenset[str] = frozenset()
    """Those that are certainly names or roles."""
    unsure: frozenset[str] = frozenset()
    """Those that may be, or that describe a person without a name."""


def find_speaker_labels(texts: Iterable[str], *, speaker: str | None = None) -> SpeakerLabels:
    """Return the labels of a transcript; ``speaker`` is the name that is known for it.

    Names are roles ("PROFESSOR"), this name, names after ">>", names in capitals that occur at
    least twice, and other names written as names that occur at least three times. Where one does
    and most cues begin with a label, as meetings are exported, once is enough for the others. A
    rarer label that looks like a name and stands before a sentence is unsure: it may be a place.
    """
    seen: Counter[str] = Counter()
    marked: set[str] = {speaker} if speaker else set()
    within: set[str] = set()
    cues = labelled = 0
    before = ""
    for text in texts:
        cues += 1
        for number, line in enumerate(map(str.strip, text.split("\n"))):
            label = _LABEL.match(line)
            if label is not None:
                name = label["name"].strip()
                seen[name] += 1
                labelled += not number
                if label["turn"] and label["turn"].startswith(">>"):
                    marked.add(name)
                if _GOES_ON.search(before) or line[label.end() :][:1].islower():
                    within.add(name)
            before = line or before
    if 2 * labelled > cues and max(seen.values(), default=0) >= MIN_TIMES:
        marked.update(seen)
    names = frozenset(
        name for name, times in seen.items() if _is_name(name, times=times, marked=name in marked)
    )
    rare = {name for name in seen if name not in names and name not in within}
    unsure = {name for name in rare if _is_likely_name(name, names=names) or _is_described(name)}
    return SpeakerLabels(names, frozenset(unsure))


def _is_likely_name(label: str, *, names: frozenset[str]) -> bool:
    """Return whether a label may be a name as others of the transcript are."""
    if not names or not is_speaker_name(label) or not _THINGS.isdisjoint(label.lower().split()):
        return False
    return " " in label or any(
        " " not in name
        and name.isupper() == label.isupper()
        and (name.isupper() or not is_role(name))
        for name in names
    )


def _is_described(label: str) -> bool:
    """Return whether a label says who speaks without a name: "Woman in the audience"."""
    words = label.upper().split()
    first, *rest = words[1:] if words[0] in _ARTICLES and words[1:] else words
    is_alone = all(word in _AFTER_ROLE or word.isdecimal() for word in rest)
    is_person = first in _ROLES and (is_alone or rest[-1] in _ROLES)
    return is_person or _ASKED.match(label) is not None


def _is_name(name: str, *, times: int, marked: bool) -> bool:
    words = name.split()
    if len(words) > 4 or len(name) < 2 or words[0].lower() in _THINGS:
        return False
    if name.upper() == name:
        return times >= 2 or marked or words[0] in _ROLES
    role = is_role(name)
    capital = all(
        word[0].isupper() or word in _PARTICLES or (role and word.isdecimal())  # "Speaker 1"
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


def turns(text: str, *, labels: SpeakerLabels) -> Iterator[SpeakerTurn]:
    """Split the text of one cue where a line starts with another speaker."""
    lines = [line.strip() for line in text.split("\n")]
    dialogue = len(lines) > 1 and all(_TIGHT_DASH.match(line) for line in lines if line)
    kept: list[str] = []
    current = SpeakerTurn("", new=False)
    for line in lines:
        turn = _turn(line, labels=labels, dialogue=dialogue)
        if turn.new:
            if any(kept):
                yield replace(current, text="\n".join(kept))
            current, kept = turn, []
        kept.append(turn.text)
    yield replace(current, text="\n".join(kept))


def _turn(line: str, *, labels: SpeakerLabels, dialogue: bool) -> SpeakerTurn:
    label = _LABEL.match(line)
    name = label["name"].strip() if label else ""
    if label is not None and name in labels.names:
        return SpeakerTurn(line[label.end() :], new=True, speaker=name)
    mark = _TURN.match(line) or (_TIGHT_DASH.match(line) if dialogue else None)
    labelled = name in labels.unsure
    if mark is None:
        return SpeakerTurn(line, new=labelled, labelled=labelled)
    return SpeakerTurn(line[mark.end() :], new=True, labelled=labelled)


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

"""Turns of a conversation that are no question of their own: thanks, "more", "who said that?".

A turn is one of these if phrases of a table (``data/turns.LANGUAGE.toml``) cover all its words;
"Thanks to whom?" and "Tell me more about bees" remain questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from quoth.core.types import Turn
from quoth.query.filters.patterns import mapping
from quoth.query.tokens import (
    compile_phrases,
    normalized_query_words,
    read_table,
    table_languages,
    tokenize_query,
)
from quoth.text.analyzer import analyze
from quoth.text.sentences import sentences

ActKind = Literal[
    "greeting", "thanks", "farewell", "acknowledgement", "more", "source", "language", "acceptance"
]
SMALL_TALK: tuple[ActKind, ...] = ("farewell", "thanks", "greeting", "acknowledgement")
"""Acts that need no search; of several in one turn the first of these is replied to."""
SOURCE: tuple[ActKind, ...] = ("source", "thanks", "acknowledgement")
"""Acts of one turn: "Ok, who said that?"."""
MAX_WORDS = 12
"""Maximum words of such a turn."""
MAX_OFFER = 500
"""Characters of the end of an answer in which its last question is looked for."""
_CITED = re.compile(r"\[\d{1,3}\]")


@dataclass(frozen=True, slots=True)
class DialogueAct:
    """What a turn does: ``languages`` are those of its words, ``wanted`` the one asked for."""

    kind: ActKind
    languages: tuple[str, ...]
    wanted: str = ""


def read_act(text: str) -> DialogueAct | None:
    """Return the dialogue act of a turn, None for a question."""
    words = normalized_query_words(text)
    if not 0 < len(words) <= MAX_WORDS:
        return None
    line = "".join(f"{word} " for word in words)
    for kinds in (SMALL_TALK, ("more",), SOURCE, ("language",), ("acceptance",)):
        spoken: dict[str, set[ActKind]] = {}
        for language in table_languages("turns"):
            if _cover(kinds, language).fullmatch(line):
                spoken[language] = {k for k in kinds if _phrases(k, language).search(line)}
        found = [kind for kind in kinds if any(kind in each for each in spoken.values())]
        if found:
            languages = tuple(each for each, there in spoken.items() if found[0] in there)
            codes = [mapping("languages")[word] for word in words if word in mapping("languages")]
            if found[0] == "language" and not codes:
                continue
            return DialogueAct(found[0], languages, codes[-1] if codes else "")
    return None


def names_a_language(text: str) -> bool:
    """Return whether a question names a language and is no request for one."""
    act = read_act(text)
    named = any(word in mapping("languages") for word in normalized_query_words(text))
    return named and (act is None or act.kind != "language")


def asked_before(question: str, history: Sequence[Turn]) -> tuple[str, tuple[Turn, ...]]:
    """Return the question whose source a turn asks for, and the turns before it.

    A turn that asks something else is returned as it is, with all its history.
    """
    act = read_act(question) if history else None
    turns = without_small_talk(history) if act is not None and act.kind == "source" else []
    return (turns[-1].question, tuple(turns[:-1])) if turns else (question, tuple(history))


def without_small_talk(history: Iterable[Turn]) -> list[Turn]:
    """Return the turns that searched for something new: neither thanks nor "who said that?"."""
    acts = ((turn, read_act(turn.question)) for turn in history)
    return [turn for turn, act in acts if act is None or act.kind not in (*SMALL_TALK, "source")]


def continuations(history: Sequence[Turn]) -> int:
    """Return how many answers the question that "more" continues has had."""
    count = 0
    for turn in reversed(without_small_talk(history)):
        count += 1
        act = read_act(turn.question)
        if act is None or act.kind != "more":
            break
    return count


def topical_turns(history: Iterable[Turn]) -> list[Turn]:
    """Return the turns that searched, each "more" joined to the question that it continues."""
    turns: list[Turn] = []
    for turn in without_small_talk(history):
        act = read_act(turn.question)
        if turns and act is not None:
            last = turns.pop()
            accepted = accepted_question(last) if act.kind == "acceptance" else ""
            turn = replace(turn, question=accepted or last.question)
        turns.append(turn)
    return turns


def accepted_question(turn: Turn) -> str:
    """Return the question that an answer ends with: "Do you want to know how …?" is "How …?".

    Empty if it ends otherwise, or with one that has no subject ("Correct?", "Anything else?").
    """
    text = _CITED.sub("", turn.answer[-MAX_OFFER:]).rstrip()
    spans = sentences(text)
    query = tokenize_query(text[slice(*spans[-1])] if spans else "")
    if not query.clean.endswith("?"):
        return ""
    languages = table_languages("turns")
    count = longest_opening([_phrases("offers", language) for language in languages], query.words)
    if not all(has_subject(query.words[count:], language) for language in languages):
        return ""
    asked = query.clean[query.starts[count] :]
    return "" if read_act(asked) else f"{asked[:1].upper()}{asked[1:]}"


@cache
def _cover(kinds: tuple[ActKind, ...], language: str) -> re.Pattern[str]:
    names = (*kinds, "filler")
    either = "|".join(_phrases(name, language).pattern for name in names)
    return re.compile(rf"(?:{either})+")


@cache
def _phrases(name: str, language: str) -> re.Pattern[str]:
    codes = "/".join(sorted(mapping("languages")))
    phrases = read_table("turns", language)[name]
    return compile_phrases([phrase.replace("{language}", codes) for phrase in phrases])


def longest_opening(
    patterns: Sequence[re.Pattern[str]],
    words: Sequence[str],
    *,
    fits: Callable[[int, int], bool] = lambda _start, _end: True,
) -> int:
    """Return how many words the longest opening takes.

    ``fits`` tells of the words from one place to another whether they may stand for ``...``.
    """
    text = "".join(f"{word} " for word in words)

    def all_fit(found: re.Match[str]) -> bool:
        groups = (found.span(number) for number in range(1, found.re.groups + 1) if found[number])
        return all(fits(text[:start].count(" "), text[:end].count(" ")) for start, end in groups)

    ends = [found.end() for each in patterns if (found := each.match(text)) and all_fit(found)]
    return text[: max(ends, default=0)].count(" ")


def has_subject(words: Sequence[str], language: str) -> bool:
    """Return whether a word is more than a stop word of the language."""
    return any(analyze(word, language=language) for word in words)

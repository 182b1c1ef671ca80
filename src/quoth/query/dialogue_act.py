"""Turns of a conversation that are no question of their own: thanks, "more", "yes, please".

A turn is one of these if phrases of a table (``data/turns.LANGUAGE.toml``) cover all its words;
"Thanks to whom?" and "Tell me more about bees" remain questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

from quoth.core.types import Query, Turn
from quoth.query.filters.patterns import has_match, mapping
from quoth.query.keywords import names_a_place
from quoth.query.tokens import (
    FUNCTION_WORDS,
    TokenizedQuery,
    compile_phrases,
    has_phrase,
    normalized_query_words,
    read_table,
    table_languages,
    tokenize_query,
)
from quoth.text.analyzer import analyze
from quoth.text.sentences import sentences

ActKind = Literal[
    "greeting", "thanks", "farewell", "acknowledgement", "more", "language", "acceptance"
]
SMALL_TALK: tuple[ActKind, ...] = ("farewell", "thanks", "greeting", "acknowledgement")
"""Acts that need no search; of several in one turn the first of these is replied to."""
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
    for kinds in (SMALL_TALK, ("more",), ("language",), ("acceptance",)):
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


def is_small_talk(text: str) -> bool:
    """Return whether a turn needs no search: a greeting, thanks, a farewell, "ok"."""
    act = read_act(text)
    return act is not None and act.kind in SMALL_TALK


def names_a_language(text: str) -> bool:
    """Return whether a question names a language and is no request for one."""
    act = read_act(text)
    named = any(word in mapping("languages") for word in normalized_query_words(text))
    return named and (act is None or act.kind != "language")


def without_small_talk(history: Iterable[Turn]) -> list[Turn]:
    """Return the turns that searched for something."""
    return [turn for turn in history if not is_small_talk(turn.question)]


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
    count = _longest([_phrases("offers", language) for language in languages], query.words)
    if not all(_has_subject(query.words[count:], language) for language in languages):
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


def two_questions(query: Query) -> tuple[str, ...]:
    """Return both questions of "What is X and why is it useful?", the second with X.

    Empty for one question. The table ``data/two_questions.LANGUAGE.toml`` has a pattern of both.
    """
    rows = read_table("two_questions", query.language)
    found = None
    if rows and not query.aspects:
        found = re.compile(rows["pattern"], re.IGNORECASE).search(query.standalone.strip())
    if found is None:
        return ()
    second = found["second"]
    if pronoun := re.compile(rows["pronoun"], re.IGNORECASE).search(second):
        subject = found["subject"].strip()
        second = f"{second[: pronoun.start()]} {subject}{second[pronoun.end() :]}"
    return f"{found['first']}?", f"{' '.join(second.split())}?"


MAX_ROUNDS = 3
"""Openings before the subject: "Hello, can you tell me what the book says about tides?"."""
_OUTSIDE = " \t\n?!.,;:…-"


@dataclass(frozen=True, slots=True)
class _Table:
    sources: re.Pattern[str]
    openings: tuple[re.Pattern[str], ...]
    endings: tuple[re.Pattern[str], ...]
    frames: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    questions: frozenset[str]
    template: str


@cache
def _table(language: str) -> _Table | None:
    rows = read_table("asking", language)
    if not rows:
        return None

    # Each opening and ending, with every word for a source in its place.
    openings, endings = (
        [
            phrase.replace("{source}", source)
            for phrase in rows[key]
            for source in (rows["sources"] if "{source}" in phrase else [""])
        ]
        for key in ("openings", "endings")
    )
    return _Table(
        compile_phrases(f"{source}$" for source in rows["sources"]),
        tuple(compile_phrases([opening]) for opening in openings),
        tuple(compile_phrases([f"{ending}$"]) for ending in endings),
        tuple(
            (compile_phrases([opening]), compile_phrases([f"{ending}$"]))
            for opening, endings in rows["frames"]
            for source in (rows["sources"] if "{source}" in endings else [""])
            for ending in [endings.replace("{source}", source)]
        ),
        frozenset(rows["questions"].split()),
        rows["template"],
    )


def direct_question(query: TokenizedQuery, *, language: str, known: bool = True) -> str:
    """Return a question that asks directly for its subject; unchanged where it does already.

    A language without a table, and a question that is nothing but words of asking, stay as they
    are. Where no source is ``known`` from the question, the names before the subject follow it:
    "What does Ada Byron say about engines?" is "What is engines? Ada Byron".
    """
    table = _table(language)
    if table is None:
        return query.clean
    words = query.words
    first, last = _framed(table, words, language)
    for _ in range(MAX_ROUNDS):
        fits = partial(_is_source, table, query, first)
        found = _longest(table.openings, words[first:last], fits=fits)
        if not found or not _has_subject(words[first + found : last], language):
            break
        first += found
    trailing = max((_trailing(each, words[first:last]) for each in table.endings), default=0)
    if trailing and _has_subject(words[first : last - trailing], language):
        last -= trailing
    if (first, last) == (0, len(words)):
        return query.clean
    end = query.ends[last - 1] if last < len(words) else len(query.clean)
    subject = query.clean[query.starts[first] : end].strip(_OUTSIDE)
    direct = table.template.format(subject=subject)
    if words[first] in table.questions:
        direct = f"{subject[:1].upper()}{subject[1:]}?"
    return " ".join([direct, *([] if known else _names(query, first))])


def _names(query: TokenizedQuery, end: int) -> list[str]:
    """Return the capitalised words before a place, without the first word of the question."""
    written = [query.clean[query.starts[at] : query.ends[at]] for at in range(1, end)]
    return [
        each
        for each, word in zip(written, query.words[1:end], strict=True)
        if each[0].isupper() and word not in FUNCTION_WORDS
    ]


def _framed(table: _Table, words: Sequence[str], language: str) -> tuple[int, int]:
    """Return the words between an opening and the ending that belongs to it, or all."""
    for opening, ending in table.frames:
        first, after = _longest((opening,), words), _trailing(ending, words)
        last = len(words) - after
        if first and after and _has_subject(words[first:last], language):
            return first, last
    return 0, len(words)


def _is_source(table: _Table, query: TokenizedQuery, first: int, start: int, end: int) -> bool:
    """Return whether words, counted from ``first`` on, are a source or names.

    "What does the guide say about tides?" is about tides, "What does his father think of tides?"
    about his father too.
    """
    words = query.words[first + start : first + end]
    if has_phrase(table.sources, words):
        return True
    if any(names_a_place(word) or has_match("source", word) for word in words):
        return True
    return not query.clean.isupper() and all(
        word in FUNCTION_WORDS or not query.clean[query.starts[at]].islower()
        for at, word in enumerate(words, start=first + start)
    )


def _longest(
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


def _trailing(pattern: re.Pattern[str], words: Sequence[str]) -> int:
    text = "".join(f"{word} " for word in words)
    found = pattern.search(text)
    return text[found.start() :].count(" ") if found else 0


def _has_subject(words: Sequence[str], language: str) -> bool:
    return any(analyze(word, language=language) for word in words)

"""Rewrites a follow-up into a standalone query.

The content words of earlier questions and answers are added to it (historical query expansion, cf.
Yang et al., TREC CAsT 2019): those of the questions back to the last standalone one, and those of
the last answer. Of things that were named together, "the second one" selects one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from quoth.core.translations import translate
from quoth.core.types import Turn
from quoth.query.intent import (
    asks_what_it_is,
    has_only_question_words,
    is_content_bearing,
    is_followup,
    names_only_a_subject,
)
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem, tokenize_query

MAX_TERMS = 8
"""Maximum terms from earlier queries."""
MOST_SAID, MOST_NAMES = 6, 3
"""Maximum terms from the last answer if referred to, and maximum names otherwise."""
_SAID = re.compile(
    r"(?<![\w'-])(?:that|this|these|those|each|them|ca|cela|ceci|c'est|ce|cette|cet|ces|eux|elles)"
    r"(?![\w'-])"
)
NOTICE_START = 30
"""Characters by which a notice is recognized: answers of the history are cut."""
_THE = r"\b(?:the|l[ae]|du|au) "
"""Required for ordinals: "When was it first seen?" selects nothing."""
_NO_TIME = (
    r"(?! (?:\w+ )?(?:days?|weeks?|months?|years?|decades?|centur(?:y|ies)|times?"
    r"|fois|jours?|semaines?|mois|annees?|ans)\b)"
)
_ORDINALS = (
    re.compile(_THE + r"(?:first|former|premiere?)\b(?! \w+ (?:of|de|du|des|in)\b)" + _NO_TIME),
    re.compile(_THE + r"(?:second|latter|deuxieme|seconde)\b" + _NO_TIME),
    re.compile(_THE + r"(?:third|troisieme)\b" + _NO_TIME),
)
_LAST = re.compile(_THE + r"(?:last|derniere?)\b" + _NO_TIME)
_ARTICLE = re.compile(r"\b(?:an?|une?|des|the|l[ae]|les) $", re.IGNORECASE)
_PARTED = re.compile(r",? (?:and|or|et|ou) |, ")


def rewrite_standalone(
    asked: TokenizedQuery, turns: Sequence[Turn], *, without: Iterable[str] = ()
) -> str:
    """Return the query with content words of earlier turns, newest questions first.

    ``without`` are words that the query replaces, such as a speaker.
    """
    meant, others = _meant(asked, turns)
    barred = {stem(word) for word in (*without, *others)}
    seen = {stem(word) for word in asked.words} | barred
    terms = _fresh(meant, seen, barred=barred) if meant else []
    for at in range(len(turns) - 1, -1, -1):
        found = tokenize_query(turns[at].question)
        terms += _fresh(found, seen, barred=barred)
        if len(terms) >= 2 and not is_followup(found.clean, history=turns[:at]):
            break
    terms = terms[:MAX_TERMS]
    answer = tokenize_query(turns[-1].answer if turns else "")
    if not meant and not _says_nothing(answer.clean):
        terms += _of_answer(asked, _fresh(answer, seen, barred=barred), known=bool(terms))
    if not terms:
        return asked.clean
    return f"{asked.clean.rstrip()} ({' '.join(terms)})"


def with_last_turn(asked: TokenizedQuery, last: Turn) -> str:
    """Return the query after the last question and its answer, if it has one."""
    said = "" if _says_nothing(last.answer) else last.answer
    return " ".join(f"{last.question} {said} {asked.clean}".split())


def ask_again_about(asked: TokenizedQuery, turns: Sequence[Turn]) -> str:
    """Return the last question about another subject: "And a decoder?" after "What is an encoder?".

    Empty unless the query is nothing but a subject, and the last question asks what its only
    subject is, or something about one named before ("When should I use it?") and this one has an
    article.
    """
    *earlier, last = turns
    question = tokenize_query(last.question)
    if depends := is_followup(question.clean, history=earlier):
        question = tokenize_query(rewrite_standalone(question, earlier))
    runs, subjects = _runs(asked), _runs(question)
    if len(runs) != 1 or len(subjects) != 1:
        return ""
    (start, end), (first, after) = runs[0], subjects[0]
    opening, before = asked.clean[:start], question.clean[:first]
    if not names_only_a_subject(asked.folded[:start], asked.folded[end:]):
        return ""
    article = _ARTICLE.search(opening)
    if not asks_what_it_is(question) and not (depends and article):
        return ""
    if article:  # "an encoder", but "a decoder"
        before = _ARTICLE.sub(article[0], before)
    return before + asked.clean[start:end] + question.clean[after:]


def _says_nothing(answer: str) -> bool:
    """Return whether an answer is one of the notices that there is none."""
    notices = (
        translate(f"answering.{kind}", language)
        for kind in ("no_results", "nothing", "no_more", "low_relevance", "empty")
        for language in ("en", "fr")
    )
    return any(answer.startswith(notice[:NOTICE_START]) for notice in notices)


def _of_answer(asked: TokenizedQuery, fresh: Sequence[str], *, known: bool) -> Sequence[str]:
    """Return words of the last answer: all if the query refers to it, else names.

    "Who bought it?" refers to the previous subject, "What does that mean?" and "Why?" to the
    previous answer. Where the subject is ``known`` from the questions, names of the answer would
    only lead away from it.
    """
    if _SAID.search(asked.folded) or has_only_question_words(asked):
        return fresh[:MOST_SAID]
    if known:
        return ()
    return [each for each in fresh if not each.islower()][:MOST_NAMES]


def _fresh(asked: TokenizedQuery, seen: set[str], *, barred: Collection[str]) -> list[str]:
    """Return the content words not seen before, and mark them as seen.

    A hyphenated word is one word: "GPT-2", "text-generation"; but "rend-il" is "rend".
    """
    fresh = []
    for start, end, words in _joined(asked):
        stems = {stem(word) for word in words}
        if any(map(is_content_bearing, words)) and not stems <= seen and stems.isdisjoint(barred):
            seen |= stems
            fresh.append(asked.clean[start:end])
    return fresh


def _joined(asked: TokenizedQuery) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each word with those joined to it by hyphens, and its position."""
    pending: tuple[int, int, list[str]] | None = None
    for start, end, word in zip(asked.starts, asked.ends, asked.words, strict=True):
        if pending and word not in FUNCTION_WORDS and asked.folded[pending[1] : start] == "-":
            pending = (pending[0], end, [*pending[2], word])
            continue
        if pending:
            yield pending
        pending = None if word in FUNCTION_WORDS else (start, end, [word])
    if pending:
        yield pending


def _meant(asked: TokenizedQuery, turns: Sequence[Turn]) -> tuple[TokenizedQuery | None, list[str]]:
    """Return the item that an ordinal selects ("the second one"), and the others' words."""
    place = next((at for at, ordinal in enumerate(_ORDINALS) if ordinal.search(asked.folded)), None)
    if place is None and not _LAST.search(asked.folded):
        return None, []
    for text in (turns[-1].question, turns[-1].answer) if turns else ():
        things = _noun_phrases(tokenize_query(text))
        at = len(things) - 1 if place is None else place
        if len(things) > max(1, at):
            words = {word for thing in things for word in tokenize_query(thing).words}
            return tokenize_query(things[at]), sorted(
                words.difference(tokenize_query(things[at]).words)
            )
    return None, []


def _noun_phrases(asked: TokenizedQuery) -> list[str]:
    """Return the items of a list: "BERT and GPT-2"; empty if uncertain."""
    cuts = list(_PARTED.finditer(asked.folded))
    if not cuts or cuts[-1].group() == ", ":
        return []
    starts = [0, *(cut.end() for cut in cuts)]
    ends = [*(cut.start() for cut in cuts), len(asked.folded)]
    things = [
        _run(asked, start, end, last=not start) for start, end in zip(starts, ends, strict=True)
    ]
    return things if all(things) else []


def _run(asked: TokenizedQuery, start: int, end: int, *, last: bool) -> str:
    """Return the first run of content words of a span, or its last."""
    runs = [run for run in _runs(asked, bearing=False) if start <= run[0] < end]
    return asked.clean[slice(*runs[-1 if last else 0])] if runs else ""


def _runs(asked: TokenizedQuery, *, bearing: bool = True) -> list[tuple[int, int]]:
    """Return the spans of neighbouring content words, without those that name no subject."""
    runs: list[tuple[int, int]] = []
    for begins, ends, words in _joined(asked):
        if bearing and not any(map(is_content_bearing, words)):
            continue
        if runs and not asked.folded[runs[-1][1] : begins].strip():
            runs[-1] = (runs[-1][0], ends)
        else:
            runs.append((begins, ends))
    return runs

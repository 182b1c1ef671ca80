"""Rewrites a query: a follow-up into a standalone one, any into a direct question.

The content words of earlier questions and answers are added to a follow-up (historical query
expansion, cf. Yang et al., TREC CAsT 2019): those of the questions back to the last standalone one,
and those of the last answer. Of things that were named together, "the second one" selects one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from quoth.core.translations import languages, translate
from quoth.core.types import Turn
from quoth.query.dialogue_act import has_subject, longest_opening
from quoth.query.filters.patterns import find_matches, has_match
from quoth.query.intent import (
    asks_what_it_is,
    follows_preposition,
    has_only_question_words,
    is_content_bearing,
    is_followup,
    names_only_a_subject,
)
from quoth.query.keywords import names_a_place
from quoth.query.tokens import (
    FUNCTION_WORDS,
    TokenizedQuery,
    compile_phrases,
    has_phrase,
    normalize_query,
    read_table,
    stem,
    tokenize_query,
)
from quoth.text.stop_words import query_stop_words
from quoth.text.tables import tables_for

MAX_TERMS = 8
"""Maximum terms from earlier queries."""
MOST_SAID, MOST_NAMES = 6, 3
"""Maximum terms from the last answer if referred to, and maximum names otherwise."""
NOTICE_START = 30
"""Characters by which a notice is recognized: answers of the history are cut."""


@cache
def _alternatives(name: str, language: str) -> str:
    """Return the words of a row of follow-ups in a language, as a part of a pattern."""
    tables = tables_for("quoth.query", "followup", language)
    return "|".join(word for table in tables for word in table[name].split()) or "(?!)"


def rewrite_standalone(
    asked: TokenizedQuery, turns: Sequence[Turn], *, language: str, without: Iterable[str] = ()
) -> str:
    """Return the query with content words of earlier turns, newest questions first.

    ``without`` are words that the query replaces, such as a speaker.
    """
    meant, others = _meant(asked, turns, language)
    barred = {stem(word) for word in (*without, *others)}
    seen = {stem(word) for word in asked.words} | barred
    terms = _fresh(meant, seen, barred=barred) if meant else []
    later = [asked]
    for at in range(len(turns) - 1, -1, -1):
        found = tokenize_query(turns[at].question)
        barred.update(stem(word) for each in later for word in _replaced(each, found))
        later.append(found)
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


def after_turns(asked: TokenizedQuery, turns: Sequence[Turn]) -> str:
    """Return the query after earlier questions, each with its answer if it has one."""
    said = (
        each.question if _says_nothing(each.answer) else f"{each.question} {each.answer}"
        for each in turns
    )
    return " ".join(" ".join((*said, asked.clean)).split())


def ask_again_about(asked: TokenizedQuery, turns: Sequence[Turn], *, language: str) -> str:
    """Return the last question about another subject: "And a decoder?" after "What is an encoder?".

    Empty unless the query is nothing but a subject, and the last question asks what its only
    subject is, or something about one named before ("When should I use it?") and this one has an
    article.
    """
    if has_only_question_words(asked):  # "Warum?", capitalised as a subject
        return ""
    *earlier, last = turns
    question = tokenize_query(last.question)
    if depends := is_followup(question.clean, history=earlier):
        question = tokenize_query(rewrite_standalone(question, earlier, language=language))
    runs, subjects = _runs(asked), _runs(question)
    if len(runs) != 1 or len(subjects) != 1:
        return ""
    (start, end), (first, after) = runs[0], subjects[0]
    opening, before = asked.clean[:start], question.clean[:first]
    if not names_only_a_subject(asked.folded[:start], asked.folded[end:]):
        return ""
    last_article = re.compile(rf"\b(?:{_alternatives('determiners', language)}) $", re.IGNORECASE)
    article = last_article.search(opening)
    if not asks_what_it_is(question) and not (depends and article):
        return ""
    if article:  # "an encoder", but "a decoder"
        before = last_article.sub(article[0], before)
    return before + asked.clean[start:end] + question.clean[after:]


def _says_nothing(answer: str) -> bool:
    """Return whether an answer is one of the notices that there is none."""
    kinds = ("no_results", "nothing", "nothing_there", "no_more", "low_relevance", "empty")
    notices = (
        translate(f"answering.{kind}", language) for kind in kinds for language in languages()
    )
    return any(answer.startswith(notice[:NOTICE_START]) for notice in notices)


def _of_answer(asked: TokenizedQuery, fresh: Sequence[str], *, known: bool) -> Sequence[str]:
    """Return words of the last answer: all if the query refers to it, else names.

    "Who bought it?" refers to the previous subject, "What does that mean?" and "Why?" to the
    previous answer. Where the subject is ``known`` from the questions, names of the answer would
    only lead away from it.
    """
    if has_match("said", asked.folded) or has_only_question_words(asked):
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
    """Yield each word with those joined to it by hyphens or in an identifier, and its position."""
    pending: tuple[int, int, list[str]] | None = None
    for start, end, word in zip(asked.starts, asked.ends, asked.words, strict=True):
        sign = asked.folded[pending[1] : start] if pending else ""
        if pending and (sign == "_" or (sign == "-" and word not in FUNCTION_WORDS)):
            pending = (pending[0], end, [*pending[2], word])
            continue
        if pending:
            yield pending
        pending = None if word in FUNCTION_WORDS else (start, end, [word])
    if pending:
        yield pending


def _meant(
    asked: TokenizedQuery, turns: Sequence[Turn], language: str
) -> tuple[TokenizedQuery | None, list[str]]:
    """Return the item that an ordinal selects ("the second one"), and the others' words."""
    place = min((each.settings["item"] for each in find_matches("item", asked.folded)), default="")
    for text in (turns[-1].question, turns[-1].answer) if place and turns else ():
        things = _noun_phrases(tokenize_query(text), language)
        at = len(things) - 1 if place == "last" else int(place) - 1
        if len(things) > max(1, at):
            words = {word for thing in things for word in tokenize_query(thing).words}
            meant = tokenize_query(things[at])
            return meant, sorted(words.difference(meant.words))
    return None, []


def _replaced(asked: TokenizedQuery, earlier: TokenizedQuery) -> list[str]:
    """Return the words of an earlier question that a mere name or number stands for.

    "And in 2007?" replaces the only number after a preposition, "And France?" the only such name.
    """
    values = _values(asked)
    edges = [0, *(edge for span in values for edge in span), len(asked.folded)]
    beside = [asked.folded[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if not values or not names_only_a_subject(*beside, prepositions=True):
        return []
    words: list[str] = []
    old = [span for span in _values(earlier) if follows_preposition(earlier.folded[: span[0]])]
    for is_number in (False, True):
        pairs = [
            [span for span in spans if text.clean[slice(*span)].isdecimal() == is_number]
            for text, spans in ((asked, values), (earlier, old))
        ]
        if all(len(spans) == 1 for spans in pairs):
            words += tokenize_query(earlier.clean[slice(*pairs[1][0])]).words
    return words


def _values(asked: TokenizedQuery) -> list[tuple[int, int]]:
    """Return the spans of numbers and of names, by their capitals; "May 2005" is one."""
    spans = [
        (start, end)
        for start, end, _words in _joined(asked)
        if asked.clean[start:end].isdecimal() or (start and asked.clean[start].isupper())
    ]
    return _merged(asked, spans)


def _noun_phrases(asked: TokenizedQuery, language: str) -> list[str]:
    """Return the items of a list: "BERT and GPT-2"; empty if uncertain."""
    cuts = list(re.finditer(rf",? (?:{_alternatives('joints', language)}) |, ", asked.folded))
    if not cuts or cuts[-1].group() == ", ":
        return []
    starts = [0, *(cut.end() for cut in cuts)]
    ends = [*(cut.start() for cut in cuts), len(asked.folded)]
    stops = frozenset(map(normalize_query, query_stop_words(language)))
    spans = [(low, high) for low, high, words in _joined(asked) if not stops.issuperset(words)]
    runs = _merged(asked, spans)
    things = [
        _run(asked, [run for run in runs if start <= run[0] < end], last=not start)
        for start, end in zip(starts, ends, strict=True)
    ]
    return things if all(things) else []


def _run(asked: TokenizedQuery, runs: Sequence[tuple[int, int]], *, last: bool) -> str:
    """Return the first run of content words, or the last."""
    return asked.clean[slice(*runs[-1 if last else 0])] if runs else ""


def _runs(asked: TokenizedQuery) -> list[tuple[int, int]]:
    """Return the spans of neighbouring content words, without those that name no subject."""
    spans = [
        (start, end) for start, end, words in _joined(asked) if any(map(is_content_bearing, words))
    ]
    return _merged(asked, spans)


def _merged(asked: TokenizedQuery, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans with those that only blanks separate joined."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and not asked.folded[found[-1][1] : start].strip():
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


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

    A question stays as it is in a language without a table, and where only phrases such as "can you
    tell me" are left of it. Where no source is ``known`` from the question, the names before the
    subject follow it: "What does Ada Byron say about engines?" is "What is engines? Ada Byron".
    """
    table = _table(language)
    if table is None:
        return query.clean
    words = query.words
    first, last = _framed(table, words, language)
    for _ in range(MAX_ROUNDS):
        fits = partial(_is_source, table, query, first)
        found = longest_opening(table.openings, words[first:last], fits=fits)
        if not found or not has_subject(words[first + found : last], language):
            break
        first += found
    trailing = max((_trailing(each, words[first:last]) for each in table.endings), default=0)
    if trailing and has_subject(words[first : last - trailing], language):
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
        first, after = longest_opening((opening,), words), _trailing(ending, words)
        last = len(words) - after
        if first and after and has_subject(words[first:last], language):
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


def _trailing(pattern: re.Pattern[str], words: Sequence[str]) -> int:
    text = "".join(f"{word} " for word in words)
    found = pattern.search(text)
    return text[found.start() :].count(" ") if found else 0

"""Suggested questions: from past questions, headings and names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from quoth.core.translations import translate
from quoth.query.filters.patterns import word_set
from quoth.query.keywords import content_words
from quoth.text.analyzer import analyze, normalize_name
from quoth.text.language import detect_language

MAX_LENGTH = 80
"""Maximum characters of a heading or a name that makes a suggestion."""
MAX_QUESTION = 120
"""Maximum characters of a past question that is suggested."""
MIN_OVERLAP = 0.6
"""Minimum word overlap (Jaccard) of duplicate questions."""
MIN_NAMED = 2
"""How often the texts must hold a name."""

_NUMBERED = re.compile(
    r"^(?:(?:chapter|chapitre|part|partie|section)\b\W*)?[\dIVXivx]*(?:\.\d+)*[.:)\s–—-]+"
)
_WORD = re.compile(r"\w+(?:[-.]\w+)*")
_UPPER = "A-ZÀ-ÖØ-ÞŒŠŽ"
_NAME = re.compile(
    rf"(?<=[a-zà-öø-ÿ,] )[{_UPPER}][\w+#-]++(?: [{_UPPER}][\w+#-]++){{0,3}}+(?! ?\d)"
)
"""Words with capitals after a word or a comma, which no sentence begins with, and before no number,
as those of "Chapter 3" are."""
_SMALL = re.compile(r"\b[^\W\d_A-Z]\w+")


def suggest(
    question: str,
    *,
    language: str,
    headings: Iterable[str],
    names: Iterable[str],
    asked: Iterable[str],
    limit: int,
    earlier: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return up to ``limit`` questions, round-robin from history, headings and names.

    ``headings`` and ``names`` are those near the last answer, nearest first; ``asked`` are past
    questions, newest first, of which the short ones count that share a word with the question.
    None repeats the question, one of ``earlier`` in the conversation, or another suggestion.
    """
    about = content_stems(question, language)
    short = (each for each in asked if len(each) <= MAX_QUESTION)
    past = (each for each in short if about & content_stems(each, language))
    subjects = [_about(headings, language), _about(names, language)]
    said = (about, *(content_stems(each, language) for each in earlier))
    taken = [words for words in said if words]
    found: list[str] = []
    for each in chain.from_iterable(zip_longest(past, *subjects)):
        words = content_stems(each or "", language)
        if each and words and not any(_is_similar(words, other) for other in taken):
            found.append(each)
            taken.append(words)
        if len(found) >= limit:
            break
    return tuple(found)


def completions(
    beginning: str, *, language: str, headings: Iterable[str], asked: Iterable[str], limit: int
) -> tuple[str, ...]:
    """Return up to ``limit`` completions: past questions, then headings.

    A past question must have this prefix; a heading must contain every word, the last one as a
    prefix.
    """
    typed = normalize_name(beginning).lower().strip()
    if not typed:
        return ()
    words = content_words(beginning, language=language) or beginning.split()
    sought = [normalize_name(each).lower() for each in words]
    past = [each for each in asked if normalize_name(each).lower().startswith(typed)]
    fitting = [
        heading
        for heading in headings
        if all(word in normalize_name(heading).lower() for word in sought)
    ]
    return tuple(dict.fromkeys([*past, *_about(fitting, language)]))[:limit]


def content_stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of a question's content words, for comparison."""
    own = detect_language(text, among=("en", "fr", language), fallback=language)
    words = content_words(text, language=own)
    return frozenset(stem for word in words for stem in analyze(word, language=own))


def _about(subjects: Iterable[str], language: str) -> Iterator[str]:
    """Turn each heading or name into a question; existing questions stay."""
    for each in subjects:
        subject = " ".join(_NUMBERED.sub("", each).split())
        plain = normalize_name(subject).lower()
        if (
            not 2 < len(subject) <= MAX_LENGTH
            or plain in word_set("empty_headings")
            or not re.search(r"[^\W\d_]{3}", plain)
        ):
            continue
        if subject.endswith("?"):
            yield subject
        else:
            yield translate("query.suggestion", language, name=subject.rstrip(" .:"))


def _is_similar(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) >= MIN_OVERLAP * len(first | second)


def sort_by_similarity(titles: Sequence[Sequence[str]], *, at: int) -> Iterator[str]:
    """Return the last titles of paths, those after index ``at`` first, then those before."""
    order = [*range(at + 1, len(titles)), *range(at - 1, -1, -1)]
    for place in sorted(order, key=lambda each: (abs(each - at), each < at)):
        if titles[place]:
            yield titles[place][-1]


def frequent_names(texts: Iterable[str], *, without: str) -> list[str]:
    """Return the names that the texts hold at least twice, most frequent first.

    A name is a run of words with capitals within a sentence, of which one is never written without;
    one that shares a word with the text ``without`` is left out.
    """
    texts = list(texts)
    known = set(_words(without))
    common = {word for text in texts for word in _SMALL.findall(text)}
    counts = Counter(name for text in texts for name in _NAME.findall(text))
    return [
        name
        for name, count in counts.most_common()
        if count >= MIN_NAMED
        and known.isdisjoint(_words(name))
        and not common.issuperset(name.lower().split())
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(normalize_name(text))

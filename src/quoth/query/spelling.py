"""Mends slips of the pen in the words that the rules read: "sumarize", "diference", "coment".

Only words of asking are mended, by one letter changed, left out, added or swapped inside them
(F. Damerau, 1964), and never a word that the names of the collection have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from quoth.query.entity_index import EntityIndex, slips_of
from quoth.query.tokens import (
    FUNCTION_WORDS,
    TokenizedQuery,
    stem,
    tokenize_query,
)

MOST_READ = 40
"""Words of a question that are looked at; the word that tells what is asked is one of the first."""
SHORTEST, LONGEST = 5, 16
_MEANT = frozenset(
    "summarize summarise summary overview compare comparison difference differences similarities "
    "between explain describe chapter section which because audience question questions "
    "resume resumer resumez comparer comparez comparaison comment pourquoi explique expliquer "
    "expliquez chapitre presentation conference combien exemples examples quelle quelles synthese "
    "seance lequel laquelle according differ lecture".split()
)
_OTHERS = frozenset(
    "differencie differencies differencient differencier charter chatter chanter "
    "chapelle synthase differente differentes defer commend command commet commits "
    "contract compared compares compere compare comparte compre compose explode explicit "
    "expliques expliquent prescribe summery summaries seccion suction action cambien combine "
    "combines commence resumed reclame seances sciences lector lecteur presentiment exampled "
    "quelques querelle diction".split()
)
"""Real words beside those."""
_SHORT: Mapping[str, str] = {
    "wich": "which", "whcih": "which", "whihc": "which", "waht": "what", "wath": "what",
    "hwo": "how", "hwy": "why", "paje": "page", "pgae": "page", "paeg": "page", "apge": "page",
    "pagge": "page", "chpater": "chapter", "pourkoi": "pourquoi", "pkoi": "pourquoi",
    "qel": "quel", "qelle": "quelle", "kel": "quel", "kelle": "quelle", "koi": "quoi",
    "becuase": "because",
}  # fmt: skip
_FIRST: Mapping[str, str] = {"pk": "pourquoi", "pq": "pourquoi", "cmt": "comment"}
"""What people shorten at the head of a question; elsewhere it may be a name."""


def _deletions() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for word in sorted(_MEANT):
        for slip in slips_of(word):
            found[slip].append(word)
    return {slip: tuple(words) for slip, words in found.items()}


_SLIPS = _deletions()


def correct_spelling(asked: TokenizedQuery, names: EntityIndex) -> TokenizedQuery:
    """Give the question with its words of asking spelled right; the same one where they are."""
    found = [
        (place, meant)
        for place, word in enumerate(asked.words[:MOST_READ])
        if (meant := _meant(word, first=not place)) and not _is_a_name(word, names)
    ]
    if not found:
        return asked
    text = asked.clean
    for place, meant in reversed(found):
        start, end = asked.starts[place], asked.ends[place]
        shown = meant.capitalize() if text[start].isupper() else meant
        text = text[:start] + shown + text[end:]
    return tokenize_query(text)


def _is_a_name(word: str, names: EntityIndex) -> bool:
    known = stem(word)
    return any(known in each.by_word for each in (names.titles, names.topics, names.speakers))


def _meant(word: str, *, first: bool) -> str:
    """Give the word of asking that a word is a slip of; empty where it is none."""
    if word in _SHORT or (first and word in _FIRST):
        return _SHORT.get(word) or _FIRST[word]
    size = len(word)
    if not SHORTEST <= size <= LONGEST or word in _MEANT or word in FUNCTION_WORDS:
        return ""
    if word in _OTHERS:
        return ""
    near = {each for slip in slips_of(word) for each in _SLIPS.get(slip, ())}
    return next((each for each in sorted(near) if _within_edit_distance(word, each)), "")


def _within_edit_distance(typed: str, meant: str) -> bool:
    """Whether one letter inside a word went wrong; another ending is another form of it."""
    if typed[0] != meant[0] or typed.startswith(meant) or meant.startswith(typed):
        return False
    at = next(i for i in range(min(len(typed), len(meant))) if typed[i] != meant[i])
    if len(typed) > len(meant):
        return typed[at + 1 :] == meant[at:]
    if len(typed) < len(meant):
        return typed[at:] == meant[at + 1 :]
    if at == len(typed) - 1:
        return False
    swapped = typed[at + 1] + typed[at] + typed[at + 2 :]
    return swapped == meant[at:] or typed[at + 1 :] == meant[at + 1 :]

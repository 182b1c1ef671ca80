"""The terms that a sentence defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from quoth.answering.extractive.candidates import Quotable
from quoth.text.analyzer import analyze
from quoth.text.locators import CELL_GAP
from quoth.text.tables import language_tables

_ENTRY = re.compile(r"(.{1,40}?)(?:\n|: | [–—-] )")
"""A term before its explanation, as a list of definitions has it."""


def defined_terms(sentence: Quotable, *, in_prose: bool) -> Iterator[frozenset[str]]:
    """Yield the stems of each term that a sentence may define.

    It does so as an entry of a list of terms ("kedge: …"), as a cell of a table's row or,
    ``in_prose``, as a sentence: "A kedge is a …".
    """
    cell, in_row, _ = sentence.text.partition(CELL_GAP)
    matches = [_ENTRY.match(sentence.text), _ENTRY.match(cell)]
    if in_prose:
        matches.append(_defining().match(sentence.text))
    terms = [match[1] for match in matches if match]
    if in_row:
        terms.append(cell.partition(": ")[2])
    for term in terms:
        yield frozenset(analyze(term, language=sentence.language))


@cache
def _defining() -> re.Pattern[str]:
    """Return the pattern of a term before its definition in a sentence, in all languages."""
    tables = language_tables("quoth.text", "sentences").values()
    verbs = "|".join(verb for table in tables for verb in table["defining"])
    return re.compile(rf"(.{{1,40}}?)\s(?:{verbs})\b", re.IGNORECASE)

"""What a question holds two of: the aspects of a comparison ("A vs B"), or another question."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from quoth.core.types import Query
from quoth.query.tokens import TokenizedQuery, read_table

MAX_ASPECTS = 3
"""More aspects are only noted, not searched separately."""
MAX_ASPECT = 60
"""Maximum characters of an aspect."""

Span = tuple[int, int]


def extract_aspects(query: TokenizedQuery) -> tuple[str, ...]:
    """Return the aspects of a comparison as the user wrote them: two or more, or none.

    Masked spans of ``query`` are not split. Without a clear pattern the whole query is searched.
    """
    for pattern in _compiled("patterns"):
        found = pattern.search(query.folded)
        if not found:
            continue
        if "list" in found.groupdict():
            spans = _split(query, *_until_tail(query, *found.span("list")))
        else:
            spans = [found.span("a"), _until_tail(query, *found.span("b"))]
        named = [_shown(query, *span) for span in spans]
        distinct = list(dict.fromkeys(each for each in named if 0 < len(each) <= MAX_ASPECT))
        if len(distinct) > 1:
            return tuple(distinct)
    return ()


def _split(query: TokenizedQuery, start: int, end: int) -> list[Span]:
    """Split a list: at commas and conjunctions, else at "with", else at "from"."""
    for joint in _compiled("joints"):
        cuts = [found.span() for found in joint.finditer(query.folded, start, end)]
        if cuts:
            starts = [start, *(after for _, after in cuts)]
            ends = [*(before for before, _ in cuts), end]
            return list(zip(starts, ends, strict=True))
    return []


def _until_tail(query: TokenizedQuery, start: int, end: int) -> Span:
    """Return the span before the part shared by all aspects: "in terms of cost"."""
    found = _compiled("tail")[0].search(query.folded, start + 1, end)
    return start, found.start() if found else end


def _shown(query: TokenizedQuery, start: int, end: int) -> str:
    lead = _compiled("lead")[0].match(query.folded, start, end)
    start = lead.end() if lead and lead.end() < end else start
    return query.shown(start, end).strip(" ,.;:?!\"'«»“”()")


@cache
def _compiled(name: str) -> tuple[re.Pattern[str], ...]:
    table = tomllib.loads((files("quoth.query") / "data" / "aspects.toml").read_text("utf-8"))
    patterns = table[name] if isinstance(table[name], list) else [table[name]]
    return tuple(map(re.compile, patterns))


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

"""Cross-lingual verification, where statement and source share no words.

The cosines of a multilingual embedder lie close together, so the best sentence is scored by how far
it stands out among all sentences of the sources. Numbers must be the same in any language; a "not"
on one side only, or names without any match, reduce confidence. Cosines hardly reflect a "not", so
they never exceed what the lexical check allows (docs/decisions/024).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import numpy as np

from quoth.answering.verification.align import Alignment
from quoth.answering.verification.contradiction_rules import Fault
from quoth.answering.verification.source_index import (
    ReadLine,
    Sources,
    SourceSentence,
    read_line,
)
from quoth.answering.verification.tokens import TextToken, negations, tokens
from quoth.answering.verification.values import Value, is_number, read_values
from quoth.core.protocols import Matrix

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]
"""Returns one unit row per text, embedded as documents."""

MAX_CANDIDATES = 24
"""Maximum number of embedded sentences of the checked sources."""
MAX_COMPARED = 36
"""Maximum number of embedded sentences of all sources."""
MIN_COMPARED = 8
"""Minimum number of sentences for a meaningful standard score."""
NEGATION_LANGUAGES = frozenset(("de", "en", "es", "fr"))
"""Languages with known negations; in others this check alone supports nothing."""
NAME_PREFIX = 3
"""Prefix length by which names match across languages."""


def cache_embeddings(embed: Embed) -> Embed:
    """Cache an embedder that receives the same sentences with every statement."""
    known: dict[str, Matrix] = {}

    async def remembered(texts: Sequence[str]) -> Matrix:
        absent = [text for text in dict.fromkeys(texts) if text not in known]
        if absent:
            known.update(zip(absent, await embed(absent), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered


async def align_cross_lingual(
    statement: str,
    lines: Sequence[SourceSentence],
    *,
    sources: Sources,
    language: str,
    embed: Embed,
) -> Alignment | None:
    """Find the equivalent sentence of another language; None where too few exist.

    The features are the standard score of its cosine among all (``stands_out``) and its lead before
    the next one, in the same unit (``leads``). Raises EmbeddingError.
    """
    parts = tokens(statement, language=language)
    values = read_values(statement, parts, language=language)
    numbers = {value.key for value in values if value.kind == "number"}
    words = [len(numbers & {part.stem for part in line.tokens}) for line in lines]
    ranked = sorted(range(len(lines)), key=lambda at: -words[at])
    among = [lines[at] for at in ranked[:MAX_CANDIDATES]]
    others = [each for each in _all(sources) if each not in among]
    yardstick = others[: max(0, MAX_COMPARED - len(among))]
    if len(among) + len(yardstick) < MIN_COMPARED:
        return None
    texts = [" ".join(line.text.split()) for line in (*among, *yardstick)]
    vectors = await embed([statement, *texts])
    cosines = vectors[1:].astype(np.float64) @ vectors[0].astype(np.float64)
    best = int(cosines[: len(among)].argmax())
    rest = np.delete(cosines, best)
    spread = float(rest.std()) + 1e-3
    signs = {
        "stands_out": float(cosines[best] - rest.mean()) / spread,
        "leads": float(cosines[best] - rest.max()) / spread,
    }
    found = list(_faults(statement, parts, values=values, line=read_line(among[best])))
    unread = {language, among[best].language} - NEGATION_LANGUAGES
    found += [Fault(f"language {each}", "doubtful") for each in sorted(unread)]
    return Alignment((among[best],), signs, tuple(found), len(parts))


def _all(sources: Sources) -> Iterator[SourceSentence]:
    """Return the sentences of all sources, interleaved round-robin."""
    lists = [source.lines for source in sources.by_number.values()]
    for turn in range(max(map(len, lists), default=0)):
        for lines in lists:
            yield from lines[turn : turn + 1]


def _faults(
    statement: str, parts: Sequence[TextToken], *, values: Sequence[Value], line: ReadLine
) -> Iterator[Fault]:
    for value in values:
        shown = statement[parts[value.first].start : parts[value.last].end]
        if value.kind == "number" and not line.holds(value):
            # A number in words may be an article or a pronoun in the other language.
            digits = is_number(parts[value.first])
            yield Fault(f"number {shown}", "wrong" if digits else "doubtful")
    ours, theirs = negations(parts), negations(line.line.tokens)
    if bool(ours) != bool(theirs):
        yield Fault(f"negation {(ours or theirs)[0]}", "doubtful")
    names = [
        each.key for each in values if each.kind == "name" and each.sure and each.key.isascii()
    ]
    known = {word[:NAME_PREFIX] for word in line.words}
    strange = [name for name in names if name[:NAME_PREFIX] not in known]
    if len(strange) * 2 > len(names):
        yield Fault(f"name {strange[0]}", "doubtful")

"""Cross-lingual verification, where statement and source share no words.

The cosines of a multilingual embedder lie close together, so the best sentence is scored by how far
it stands out among all sentences of the sources. Cosines hardly tell order, direction, negation or
words of opposite meaning: false statements stand out nearly as often as true ones. So no statement
is supported by them: at most it is "unverified" beside the nearest sentence (docs/decisions/069).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quoth.answering.verification.claim import LANGUAGES
from quoth.answering.verification.reasons import OMITTED
from quoth.answering.verification.source_index import ReadLine, Sources, SourceSentence, read_line
from quoth.answering.verification.tokens import (
    TextToken,
    Value,
    is_number,
    negations,
    read_values,
    tokens,
)
from quoth.core.calibration import logistic
from quoth.core.protocols import Matrix
from quoth.core.types import Support

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]
"""Returns one unit row per text, embedded as documents."""

MAX_CANDIDATES = 24
"""Maximum number of embedded sentences of the checked sources."""
MAX_COMPARED = 36
"""Maximum number of embedded sentences of all sources."""
MIN_COMPARED = 8
"""Minimum number of sentences for a meaningful standard score."""
STANDS_OUT = 0.8
"""The probability of being about the same from which the best sentence is named."""
MAX_SCORE = 0.5
"""Maximum probability of support: of the statements that stand out about half are true."""
BIAS, DISTANCE, LEADS = -5.8, 1.685, 0.737
"""Weights fitted on sentences of XQuAD in four languages against the English passages."""
NAME_PREFIX = 3
"""Prefix length by which names match across languages."""


@dataclass(frozen=True, slots=True)
class ForeignClaim:
    """A statement with the sentence of another language that is nearest to it.

    ``lines`` is empty where none stands out or something is against it. ``missing`` is what that
    sentence does not have, such as "number 45".
    """

    lines: tuple[SourceSentence, ...]
    score: float
    support: Support
    missing: tuple[str, ...]


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
) -> ForeignClaim | None:
    """Find the equivalent sentence of another language; None where too few exist.

    The features are the standard score of its cosine among all and its lead before the next one, in
    the same unit. It is "unverified"; where a number or month differs, or no sentence stands out,
    "unsupported". Raises EmbeddingError.
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
    odds = BIAS + DISTANCE * float(cosines[best] - rest.mean()) / spread
    odds += LEADS * float(cosines[best] - rest.max()) / spread
    score = logistic(odds)
    line = read_line(among[best])
    wrong = list(_wrong(statement, parts, values=values, line=line))
    doubts = list(_doubts(parts, values=values, line=line))
    unread = {language, among[best].language} - set(LANGUAGES)
    doubts += [f"language {each}" for each in sorted(unread)]
    support: Support = "unsupported" if wrong or score < STANDS_OUT else "unverified"
    proofs = () if support == "unsupported" or doubts else (among[best],)
    missing = tuple(dict.fromkeys(wrong + doubts))
    return ForeignClaim(proofs, min(score, MAX_SCORE), support, missing)


def _all(sources: Sources) -> Iterator[SourceSentence]:
    """Return the sentences of all sources, interleaved round-robin."""
    lists = [source.lines for source in sources.by_number.values()]
    for turn in range(max(map(len, lists), default=0)):
        for lines in lists:
            yield from lines[turn : turn + 1]


def _wrong(
    statement: str, parts: Sequence[TextToken], *, values: Sequence[Value], line: ReadLine
) -> Iterator[str]:
    for value in values:
        # A number in words may be an article or a pronoun in the other language.
        if value.kind == "number" and not line.holds(value) and is_number(parts[value.first]):
            yield f"number {statement[parts[value.first].start : parts[value.last].end]}"


def _doubts(
    parts: Sequence[TextToken], *, values: Sequence[Value], line: ReadLine
) -> Iterator[str]:
    ours, theirs = negations(parts), negations(line.line.tokens)
    if bool(ours) != bool(theirs):
        yield f"negation {ours[0]}" if ours else f"{OMITTED}negation {theirs[0]}"
    names = [
        each.key for each in values if each.kind == "name" and each.sure and each.key.isascii()
    ]
    known = {word[:NAME_PREFIX] for word in line.words}
    strange = [name for name in names if name[:NAME_PREFIX] not in known]
    if len(strange) * 2 > len(names):
        yield f"name {strange[0]}"

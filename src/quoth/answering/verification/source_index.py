"""Index of the sources in the prompt, tokenized once per answer."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quoth.answering.context import ContextBlock
from quoth.answering.extractive.candidates import HEADING, quotable_sentences
from quoth.answering.verification.tokens import (
    BETWEEN,
    TextToken,
    Value,
    concatenate,
    read_values,
    tokens,
)
from quoth.text.analyzer import normalize_name
from quoth.text.sentences import Span

MIN_SENTENCES = 30
"""Minimum number of sentences for word rarity: among fewer each word would be rare."""


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A complete sentence of a source; ``start`` and ``end`` count characters of its document."""

    number: int
    start: int
    end: int
    text: str
    language: str
    tokens: tuple[TextToken, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A fully parsed sentence: its values, all its words and parts of words."""

    line: SourceSentence
    values: tuple[Value, ...]
    words: frozenset[str]

    def holds(self, value: Value) -> bool:
        """Return whether a value of a statement occurs in this sentence."""
        if value.kind == "name":
            parts = value.parts
            return value.key in self.words or (bool(parts) and self.words >= parts)
        return any(each.key == value.key and each.kind == value.kind for each in self.values)


def read_line(line: SourceSentence) -> ReadLine:
    """Parse a sentence fully, which doubles the work done on it."""
    found = {part.word for part in line.tokens}
    found |= {one.word + two.word for one, two in pairwise(line.tokens)}
    for part in line.tokens:
        raw = line.text[part.start - line.start : part.end - line.start]
        if "-" in raw:
            found |= {normalize_name(each) for each in raw.split("-")}
    values = read_values(line.text, line.tokens, language=line.language, offset=line.start)
    return ReadLine(line, values, frozenset(found))


@dataclass(frozen=True, slots=True)
class IndexedSource:
    """A numbered source in the prompt: its tokens in order, and its sentences."""

    number: int
    language: str
    tokens: tuple[TextToken, ...]
    joined: str
    lines: tuple[SourceSentence, ...]
    title: frozenset[str]

    def find(self, wanted: Sequence[TextToken]) -> Iterator[Span]:
        """Yield the document spans where a quotation occurs word by word."""
        searched = concatenate(wanted)
        at = self.joined.find(searched) if wanted else -1
        while at >= 0:
            first = self.joined.count(BETWEEN, 0, at)
            yield self.tokens[first].start, self.tokens[first + len(wanted) - 1].end
            at = self.joined.find(searched, at + 1)

    def around(self, start: int, end: int) -> tuple[SourceSentence, ...]:
        """Return the sentences that overlap a span of the document."""
        return tuple(line for line in self.lines if line.start < end and start < line.end)


@dataclass(frozen=True, slots=True)
class Sources:
    """All sources in the prompt, by number, and the frequency of each stem in them."""

    by_number: Mapping[int, IndexedSource]
    counts: Mapping[str, int]
    lines: int

    def weight(self, stem: str) -> float:
        """Weight a stem by its rarity, ln(1 + (N − n + .5) / (n + .5)), as BM25 does."""
        whole = max(self.lines, MIN_SENTENCES)
        held = self.counts.get(stem, 0)
        return math.log(1 + (whole - held + 0.5) / (held + 0.5))


def read_sources(
    blocks: Sequence[ContextBlock], *, kept: Mapping[int, Sequence[Span]] | None = None
) -> Sources:
    """Split the sources in the prompt into sentences and tokens.

    ``kept`` are the shown spans of pruned passages, by number, as
    `quoth.answering.context.build_context` takes them; pruned text is no evidence.
    """
    found = [_read(block, spans=(kept or {}).get(block.number)) for block in blocks]
    lines = [line for source in found for line in source.lines]
    counts = Counter(stem for line in lines for stem in line.stems)
    by_number: dict[int, IndexedSource] = {}
    for source in found:
        by_number.setdefault(source.number, source)
    return Sources(by_number, counts, len(lines))


def _read(block: ContextBlock, *, spans: Sequence[Span] | None) -> IndexedSource:
    passage = block.passage
    # A truncated block is shown from its beginning up to the cut.
    whole = [(block.start, block.end)]
    shown = spans if spans and spans[-1][1] <= block.end else whole
    language = passage.chunks[0].language
    parts: list[TextToken] = []
    for low, high in shown:
        text = passage.text[low - passage.start : high - passage.start]
        parts += tokens(text, language=language, offset=low)
    return IndexedSource(
        number=block.number,
        language=language,
        tokens=tuple(parts),
        joined=concatenate(parts),
        lines=tuple(_lines(block, shown, parts)),
        title=_title_words(block),
    )


def _lines(
    block: ContextBlock, shown: Sequence[Span], parts: Sequence[TextToken]
) -> Iterator[SourceSentence]:
    """Return the whole sentences that were shown; their tokens are those of the source."""
    starts = [part.start for part in parts]
    headings = {normalize_name(each) for chunk in block.passage.chunks for each in chunk.section}
    language = block.passage.chunks[0].language
    for sentence in quotable_sentences([block.passage]):
        if not any(low <= sentence.start and sentence.end <= high for low, high in shown):
            continue
        if (
            sentence.standalone_score <= HEADING
            and normalize_name(" ".join(sentence.text.split())) in headings
        ):
            continue  # a title names what follows and claims nothing
        held = tuple(parts[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)])
        if sentence.language != language:
            held = tokens(sentence.text, language=sentence.language, offset=sentence.start)
        yield SourceSentence(
            number=block.number,
            start=sentence.start,
            end=sentence.end,
            text=sentence.text,
            language=sentence.language,
            tokens=held,
            stems=frozenset(part.stem for part in held if part.stem),
        )


def _title_words(block: ContextBlock) -> frozenset[str]:
    """Return the words of a source's header lines, by which a statement may refer to it."""
    passage = block.passage
    texts = [passage.document.title.replace("_", " "), passage.document.speaker or ""]
    for chunk in passage.chunks:
        texts += chunk.section
        texts.append(chunk.locator.speaker or "")
    language = passage.chunks[0].language
    parts = (tokens(text, language=language) for text in dict.fromkeys(texts))
    return frozenset(part.word for each in parts for part in each)

"""Builds the language model's context: passages within a token budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from quoth.answering.prompts import defuse
from quoth.core.plan import ContextOrder
from quoth.core.types import Passage, Seconds
from quoth.text.analyzer import estimate_tokens
from quoth.text.locators import label, locate_in
from quoth.text.sentences import Span, sentences, trim_span

CountTokens = Callable[[Sequence[str]], Sequence[int]]
"""Counts the tokens of each text with the answering model's tokenizer, or over-estimates them."""
HEADER_TOKENS = 45
"""Tokens that the title and the place of a passage take in a prompt, about."""
LEFT_OUT = " […] "
"""Marks pruned sentences in a block."""


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """A passage in the context: the text from `start` to `end` of its document."""

    passage: Passage
    start: int
    end: int
    text: str
    tokens: int

    @property
    def number(self) -> int:
        """Return the number in its header line."""
        return self.passage.number


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a prompt: the blocks in order, and their joined text with its tokens."""

    blocks: tuple[ContextBlock, ...]
    text: str
    tokens: int

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the passages in the context, in its order, with their own numbers."""
        return tuple(block.passage for block in self.blocks)


def passages_within(passages: Sequence[Passage], *, max_tokens: int) -> list[Passage]:
    """Return the passages, best first, that fit the budget, the first in any case.

    One that is too big is left out, and those after it are still tried.
    """
    taken: list[Passage] = []
    left = max_tokens
    counts = estimate_tokens([passage.text for passage in passages])
    for passage, tokens in zip(passages, counts, strict=True):
        if not taken or tokens + HEADER_TOKENS <= left:
            taken.append(passage)
            left -= tokens + HEADER_TOKENS
    return taken


def build_context(
    passages: Sequence[Passage],
    *,
    max_tokens: int,
    count_tokens: CountTokens,
    order: ContextOrder = "best_first",
    kept: Mapping[int, Sequence[Span]] | None = None,
) -> Context:
    """Add passages, best first, as long as their blocks fit the budget, headers included.

    The first one is always included, truncated at the end of a sentence if necessary; only a budget
    below its header and one word is exceeded. A later one that is too big is skipped and those
    after it are still tried. ``edges`` puts the best at the beginning and at the end, where models
    read best (Liu et al. 2023); ``document`` follows documents and their text. ``kept`` holds the
    spans shown of each pruned passage, by its number, in characters of the document
    (`quoth.retrieval.prune.prune`); other passages are shown whole.
    """
    if not passages:
        return Context((), "", 0)
    taken: list[ContextBlock] = []
    left = max_tokens
    # Blocks are separated by an empty line, which costs at most two tokens.
    for block in _whole_blocks(passages, count_tokens, kept or {}):
        cost = block.tokens + (2 if taken else 0)
        if cost <= left:
            taken.append(block)
            left -= cost
        elif not taken and block.passage is passages[0]:
            block = _cut_block(passages[0], max_tokens=left, count_tokens=count_tokens)
            taken.append(block)
            left -= block.tokens
    # Tokens may merge or split at block borders, so the joined text is counted once more.
    while True:
        ordered = _in_order(taken, order)
        text = "\n\n".join(block.text for block in ordered)
        tokens = count_tokens([text])[0]
        if tokens <= max_tokens or len(taken) == 1:
            return Context(tuple(ordered), text, tokens)
        taken.pop()


def header(passage: Passage, *, start: int, end: int) -> str:
    """Return the line ``[Source N]`` and the lines with the source's metadata."""
    locator = locate_in(passage.chunks, start, end)
    lines = [f"[Source {passage.number}]", f"Title: {_line(passage.document.title)}"]
    speaker = locator.speaker or passage.document.speaker
    locator = replace(locator, speaker=None)
    if speaker:
        lines.append(f"Speaker: {_line(speaker)}")
    if locator.kind == "pages":
        lines.append(f"Page: {_line(label(locator).removeprefix('p. '))}")
    elif isinstance(locator, Seconds):
        lines.append(f"Time: {label(locator)}")
    section = " ▸ ".join(passage.chunks[0].section) or locator.section
    if section:
        lines.append(f"Section: {_line(section)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(defuse(text).split())


def _block_text(passage: Passage, *, start: int, end: int, parts: Sequence[Span] = ()) -> str:
    text, first = passage.text, passage.start
    shown = (defuse(text[low - first : high - first]) for low, high in parts or [(start, end)])
    return f"{header(passage, start=start, end=end)}\n{LEFT_OUT.join(shown)}"


def _bounds(passage: Passage) -> tuple[int, int]:
    """Return the passage without surrounding white space, in characters of the document."""
    start, end = trim_span(passage.text, 0, len(passage.text))
    return passage.start + start, passage.start + end


def _whole_blocks(
    passages: Sequence[Passage], count_tokens: CountTokens, kept: Mapping[int, Sequence[Span]]
) -> list[ContextBlock]:
    bounds = [_bounds(passage) for passage in passages]
    texts = [
        _block_text(passage, start=start, end=end, parts=kept.get(passage.number, ()))
        for passage, (start, end) in zip(passages, bounds, strict=True)
    ]
    return [
        ContextBlock(passage, start, end, text, tokens)
        for passage, (start, end), text, tokens in zip(
            passages, bounds, texts, count_tokens(texts), strict=True
        )
    ]


def _cut_block(passage: Passage, *, max_tokens: int, count_tokens: CountTokens) -> ContextBlock:
    """Keep as many whole sentences as fit, else as many words, else the first word."""
    start, end = _bounds(passage)
    text = passage.text
    spans = sentences(text)
    ends = [passage.start + last for _, last in spans]
    first = text[start - passage.start : (ends[0] if ends else end) - passage.start]
    words: list[int] = []
    at = start
    for word in first.split():
        at = text.index(word, at - passage.start) + passage.start + len(word)
        words.append(at)

    def block(stop: int) -> ContextBlock:
        text = _block_text(passage, start=start, end=stop)
        return ContextBlock(passage, start, stop, text, count_tokens([text])[0])

    for stops in (ends, words):
        fitting = bisect_right(stops, max_tokens, key=lambda stop: block(stop).tokens)
        if fitting:
            return block(stops[fitting - 1])
    return block(words[0] if words else end)


def _in_order(taken: Sequence[ContextBlock], order: ContextOrder) -> list[ContextBlock]:
    if order == "edges":
        return [*taken[0::2], *reversed(taken[1::2])]
    if order == "document":
        documents: dict[str, int] = {}
        for block in taken:
            documents.setdefault(block.passage.document.document_id, len(documents))
        return sorted(
            taken,
            key=lambda block: (documents[block.passage.document.document_id], block.start),
        )
    return list(taken)

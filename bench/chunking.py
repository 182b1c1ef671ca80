"""Turns documentation files into chunks of equal length and chunks into known-item questions."""

from __future__ import annotations

import gzip
import html
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CHUNK_WORDS = 90
SHORTEST_WORDS = 30
SHORTEST_PARAGRAPH = 40
LONGEST_WORD = 60
HIDDEN = re.compile(r"<(script|style|nav|head)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
BLOCK_END = re.compile(r"</(p|li|div|dd|dt|h\d|tr|pre)>", re.IGNORECASE)
TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk's text and the name of the file it comes from."""

    title: str
    text: str


def read_plain(path: Path) -> str:
    """Read a text or HTML file, packed or not, as paragraphs set apart by empty lines."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8", "replace")
    return strip_html(text) if path.name.removesuffix(".gz").endswith(".html") else text


def strip_html(text: str) -> str:
    """Take out the markup and leave an empty line behind each block."""
    visible = BLOCK_END.sub("\n\n", HIDDEN.sub(" ", text))
    return html.unescape(TAG.sub(" ", visible))


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs that are mostly words, white space folded."""
    for block in re.split(r"\n\s*\n", text):
        folded = " ".join(block.split())
        letters = sum(character.isalpha() for character in folded)
        if len(folded) >= SHORTEST_PARAGRAPH and letters >= 0.6 * len(folded):
            yield folded


def chunks(blocks: Iterable[str]) -> Iterator[str]:
    """Join paragraphs and cut them every 90 words; a rest of more than 30 is a chunk too."""
    words: list[str] = []
    for block in blocks:
        words += [word[:LONGEST_WORD] for word in block.split()]
        while len(words) >= CHUNK_WORDS:
            yield " ".join(words[:CHUNK_WORDS])
            words = words[CHUNK_WORDS:]
    if len(words) > SHORTEST_WORDS:
        yield " ".join(words)


def pieces(sources: Iterable[tuple[str, str]], *, enough: int) -> list[Piece]:
    """Cut (title, text) pairs into chunks, each paragraph once, until there are enough."""
    seen: set[str] = set()
    made: list[Piece] = []
    for title, text in sources:
        new = [block for block in dict.fromkeys(paragraphs(text)) if block not in seen]
        seen.update(new)
        made += [Piece(title=title, text=chunk) for chunk in chunks(new)]
        if len(made) >= enough:
            break
    return made


def span(text: str, *, randomly: random.Random) -> str:
    """Lift 6 to 12 words in a row out of a chunk: a question whose answer is known."""
    words = text.split()
    length = randomly.randint(6, 12)
    begin = randomly.randrange(max(1, len(words) - length))
    return " ".join(words[begin : begin + length])


def mix(real: Sequence[Piece], *, wanted: int, randomly: random.Random) -> list[Piece]:
    """Fill up with chunks made of the halves of two real ones, where text is scarce."""
    made = list(real)
    while len(made) < wanted:
        first, second = randomly.choice(real), randomly.choice(real)
        words = first.text.split()[: CHUNK_WORDS // 2] + second.text.split()[CHUNK_WORDS // 2 :]
        made.append(Piece(title=f"{first.title} + {second.title}", text=" ".join(words)))
    return made

"""Make hard pairs of questions for `quoth eval cache` out of banking77.

    python scripts/make_cache_pairs.py BANKING77 TARGET

BANKING77 holds ``train.jsonl`` and ``test.jsonl`` (plain or gzipped; rows of text and intent). Its
questions are parted by a hash into ``TARGET/dev``, which may be looked at, and ``TARGET/heldout``,
which is only measured. Different are the nearest questions of different intents, and questions with
one number, name, negation or direction changed; the same are the paraphrases of ``written.txt``,
questions put in other words by rule, and the nearest questions of one intent. Intents are not
meanings: nearest pairs of different intents that were read and found to ask the same stand in
``judged.txt`` and are left out.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from quoth.bootstrap import open_embedder
from quoth.core.protocols import Matrix
from quoth.core.settings import Settings

NEAREST = 150
EDITS = 40
CLOSE = 60
REWORDED = 20
Pair = tuple[str, str]

NAMES = (
    ("USD", "EUR", "GBP", "AUD"),
    ("Visa", "Mastercard"),
    ("Apple Pay", "Google Pay"),
    ("the US", "the UK", "the EU"),
    ("China", "France", "Japan"),
    ("American Express", "Diners Club"),
    ("ATM", "POS"),
)
DIRECTIONS = (
    (r"\bto my\b", "from my"),
    (r"\bfrom my\b", "to my"),
    (r"\binto\b", "out of"),
    (r"\bbefore\b", "after"),
    (r"\btop[ -]up\b", "withdraw"),
    (r"\bsend\b", "receive"),
    (r"\breceive\b", "send"),
    (r"\bactivate\b", "block"),
    (r"\bmore\b", "less"),
    (r"\blost\b", "stolen"),
    (r"\bdeposit\b", "withdrawal"),
    (r"\bdeclined\b", "reverted"),
    (r"\bwithout\b", "with"),
    (r"\bvirtual\b", "physical"),
    (r"\bminimum\b", "maximum"),
    (r"\bmy\b", "his"),
    (r"^Why\b", "When"),
    (r"^When\b", "Why"),
    (r"^Where\b", "When"),
    (r"^How long\b", "How often"),
)
NEGATIONS = (
    (r"\b(can|did|does|is|was|has|have|will|could|should|do) (I|it|my|the|you)\b", r"\1 \2 not"),
    (r"\b(did|does|is|was|has|have|could|do)n['’`]t\b", r"\1"),
    (r"\bcan['’`]?t\b", "can"),
    (r"\b(is|was|has|have|did|can|will|do) not\b", r"\1"),
    (r"\bnever\b ?", ""),
    (r"\b(is|was|has been|will be|am)\b(?! not)", r"\1 not"),
)
IN_OTHER_WORDS = (
    (r"^(How|What|Why|When|Where) (.+?)\??$", r"Could you please tell me \1 \2?"),
    (r"^(.+\?)$", r"Hello, \1 Thank you!"),
    (r"^How do I (.+?)\?$", r"What do I have to do to \1?"),
    (r"^How (?:do|can) I (.+?)\?$", r"What is the procedure to \1?"),
    (r"^How do I (.+)$", r"How can I \1"),
    (r"^Can I (.+)$", r"Is it possible to \1"),
    (r"^Is it possible to (.+)$", r"Am I able to \1"),
    (r"^Why (.+?)\??$", r"Can you explain why \1?"),
    (r"^(?:Do I need|Do I have) to (.+)$", r"Is it necessary to \1"),
    (r"^What is (.+)$", r"What's \1"),
    (r"^(.*)\b(did|does|is|was|has|have)n't\b(.*)$", r"\1\2 not\3"),
    (r"^(.*)\babroad\b(.*)$", r"\1overseas\2"),
    (r"^(.*)\breceive\b(.*)$", r"\1get\2"),
    (r"^(.*)\bfees?\b(.*)$", r"\1charge\2"),
    (r"^How long (?:does|will) (.+?) take(.*)$", r"How much time does \1 take\2"),
    (r"^(How|Where|Can|What|Why) (.+) in the app\?$", r"In the app, \1 \2?"),
)


def first_half(key: str) -> bool:
    """Whether a question belongs to the half that may be looked at."""
    return hashlib.sha256(key.encode()).digest()[0] % 2 == 0


def read(folder: Path) -> dict[str, str]:
    """Give every question with its intent; of two intents for one text, the first."""
    found: dict[str, str] = {}
    for name in ("train.jsonl", "test.jsonl"):
        path = folder / name
        opened = open if path.is_file() else gzip.open
        path = path if path.is_file() else folder / f"{name}.gz"
        with opened(path, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                found.setdefault(" ".join(row["text"].split()), row["intent"])
    return found


def read_pairs(path: Path) -> list[Pair]:
    """Read the pairs of a text file: two questions to a line, parted by a bar."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    found = [line.partition(" | ") for line in lines if " | " in line]
    return [(one.strip(), other.strip()) for one, _, other in found]


def nearest(texts: Sequence[str], vectors: Matrix, *, allowed: np.ndarray) -> Iterator[Pair]:
    """Yield each question with its nearest allowed one, the nearest pair first."""
    cosines = np.where(allowed, vectors @ vectors.T, -1)
    best = cosines.argmax(axis=1)
    seen = set()
    for at in np.argsort(-cosines.max(axis=1), kind="stable"):
        pair = frozenset((int(at), int(best[at])))
        if pair not in seen:
            seen.add(pair)
            yield texts[at], texts[best[at]]


def edited(texts: Sequence[str], change: Callable[[str], Iterator[str]]) -> Iterator[Pair]:
    """Yield questions with one thing changed, in an order that has nothing to do with them."""
    for text in sorted(texts, key=lambda each: hashlib.sha256(each.encode()).hexdigest()):
        if len(text) < 120:
            yield from ((text, other) for other in list(change(text))[:1] if other != text)


def numbers(text: str) -> Iterator[str]:
    """Change a number."""
    for found in re.finditer(r"\d+", text):
        value = int(found[0])
        other = value * 10 if len(text) % 2 else value + 1
        yield text[: found.start()] + str(other) + text[found.end() :]


def names(text: str) -> Iterator[str]:
    """Change a name."""
    for group in NAMES:
        for at, name in enumerate(group):
            if re.search(rf"\b{name}\b", text):
                yield re.sub(rf"\b{name}\b", group[at - 1], text)


def rewritten(rules: Sequence[Pair]) -> Callable[[str], Iterator[str]]:
    """Change what the first rule that applies says; the rules take turns in being first."""

    def change(text: str) -> Iterator[str]:
        start = hashlib.sha256(text.encode()).digest()[1] % len(rules)
        for pattern, stands in (*rules[start:], *rules[:start]):
            if re.search(pattern, text):
                yield re.sub(pattern, stands, text, count=1)

    return change


def take(pairs: Iterator[Pair], most: int, *, without: Sequence[Pair] = ()) -> list[Pair]:
    """Give the first pairs that are not among others."""
    left_out = {frozenset(each) for each in without}
    found: list[Pair] = []
    for pair in pairs:
        if len(found) == most:
            break
        if frozenset(pair) not in left_out:
            found.append(pair)
    return found


def reworded(texts: Sequence[str]) -> list[Pair]:
    """Put questions in other words by rule, as many by each."""
    found: list[Pair] = []
    for rule in IN_OTHER_WORDS:
        fresh = [each for each in texts if not any(each == one for one, _ in found)]
        found += take(edited(fresh, rewritten([rule])), REWORDED // 2)
    return found


def pairs_of(
    half: Mapping[str, str], vectors: Matrix, *, judged: Sequence[Pair]
) -> Iterator[tuple[str, bool, Pair]]:
    """Yield the pairs of one half with their tag and whether they ask the same."""
    texts = list(half)
    intents = np.array([half[each] for each in texts])
    alike = intents[:, None] == intents[None, :]
    np.fill_diagonal(alike, True)
    others = nearest(texts, vectors, allowed=~alike)
    for pair in take(others, NEAREST, without=judged):
        yield "intent", False, pair
    for tag, change in (
        ("number", numbers),
        ("name", names),
        ("negation", rewritten(NEGATIONS)),
        ("direction", rewritten(DIRECTIONS)),
    ):
        for pair in take(edited(texts, change), EDITS):
            yield tag, False, pair
    np.fill_diagonal(alike, False)
    for pair in take(nearest(texts, vectors, allowed=alike), CLOSE):
        yield "close", True, pair
    for pair in reworded(texts):
        yield "reworded", True, pair


async def embedded(texts: Sequence[str]) -> Matrix:
    """Give the questions' vectors, as the cache compares them."""
    embedder = open_embedder(Settings())
    try:
        return await embedder.embed(texts, role="query")
    finally:
        embedder.close()


def main(source: Path, target: Path) -> None:
    """Write both halves."""
    questions = read(source)
    for name, first in (("dev", True), ("heldout", False)):
        half = {text: intent for text, intent in questions.items() if first_half(text) == first}
        rows = [("written", True, pair) for pair in read_pairs(target / name / "written.txt")]
        judged = read_pairs(target / name / "judged.txt")
        rows += pairs_of(half, asyncio.run(embedded(list(half))), judged=judged)
        with (target / name / "pairs.jsonl").open("w", encoding="utf-8") as file:
            for tag, same, (one, other) in rows:
                row = {"a": one, "b": other, "same": same, "tags": [tag]}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Runs of sentences: how a quotation grows from its best sentence."""

from __future__ import annotations

from dataclasses import dataclass

from quoth.answering.extractive.score import QueryContext, Scores
from quoth.core.types import Passage

REACH = 3.0
"""Maximum distance, in log-odds, of a neighbour that joins a run (docs/decisions/042)."""
MAX_LIST = 1000
"""The same for a run with a list."""
MIN_CHARACTERS = 160
"""A shorter run takes a neighbour along, rather the next one, whatever its score."""
FRAGMENT = 80
"""A run that is shorter still takes the sentence after it along, even of the next paragraph."""


@dataclass(slots=True)
class SentenceRun:
    """A run of sentences of a passage while it grows, from ``first`` to ``last``."""

    material: QueryContext
    passage: Passage
    used: set[int]
    left: int
    first: int
    last: int

    def adds(self, at: int, *, longest: int) -> bool:
        """Add the sentence before or after the run if it is free and fits; return whether."""
        sentences = self.material.sentences
        if not 0 <= at < len(sentences) or at in self.used:
            return False
        first, last = min(self.first, at), max(self.last, at)
        if (
            sentences[at].passage != sentences[self.first].passage
            or last - first >= self.left
            or sentences[last].end - sentences[first].start > longest
        ):
            return False
        self.first, self.last = first, last
        return True

    @property
    def length(self) -> int:
        """Return the characters of the run."""
        sentences = self.material.sentences
        return sentences[self.last].end - sentences[self.first].start

    def opens_in_passing(self) -> bool:
        """Return whether the first sentence refers to the one before it, in its paragraph."""
        first = self.material.sentences[self.first]
        return first.anaphoric and first.joined

    def precedes_item(self) -> bool:
        """Return whether a list marker stands between the run and the sentence after it."""
        sentences, start = self.material.sentences, self.passage.start
        if self.last + 1 == len(sentences):
            return False
        after = sentences[self.last].end, sentences[self.last + 1].start
        return bool(self.passage.text[after[0] - start : after[1] - start].strip())

    def neighbours(self) -> list[int]:
        """Return the sentences before and after the run in its paragraph."""
        sentences = self.material.sentences
        before = [self.first - 1] if sentences[self.first].joined else []
        after = self.last + 1
        return before + ([after] if after < len(sentences) and sentences[after].joined else [])


def grow(run: SentenceRun, *, scores: Scores, longest: int) -> range:
    """Extend a run to its neighbours, best first, and then to what it cannot be read without."""
    sentences, seed = run.material.sentences, run.first
    if run.opens_in_passing():
        run.adds(run.first - 1, longest=longest)
    growing = True
    while growing:
        beside = run.neighbours()
        near = [at for at in beside if scores[seed] - scores[at] <= REACH]
        near.sort(key=lambda at: -scores[at])
        if run.length < MIN_CHARACTERS:
            near += sorted(beside, reverse=True)
        growing = any(run.adds(at, longest=longest) for at in near)
    while run.opens_in_passing() and run.adds(run.first - 1, longest=longest):
        pass
    alone = run.first == run.last and run.length < FRAGMENT
    if alone or sentences[run.last].text.endswith(":"):
        run.adds(run.last + 1, longest=longest)
    if run.last > run.first:  # A list is quoted with all its items.
        while run.precedes_item() and run.adds(run.last + 1, longest=MAX_LIST):
            pass
    return range(run.first, run.last + 1)

"""A claim word by word in its sentences, and the values that they do not have in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from quoth.answering.verification.claim import Claim, WordClasses
from quoth.answering.verification.reasons import IN_ANOTHER_PLACE, OMITTED
from quoth.answering.verification.source_index import ReadLine, Sources
from quoth.answering.verification.tokens import TextToken, Value

CONTEXT_WORDS = 5
"""Context words on either side of a value."""
CLAUSE = 8
"""Words before a fragment that may change its meaning."""
FUNCTION_WORD_WEIGHT = 0.5
ELSEWHERE = 1.2
"""Factor by which a context must match another place better than its own."""

Block = tuple[int, int, int]
"""A run of equal tokens: where it begins in the claim, in the sentence, and its length."""


@dataclass(frozen=True, slots=True)
class Found:
    """A claim word by word in its sentences.

    ``first`` and ``others`` say of each token whether the first sentence, or another, has it.
    """

    claim: Claim
    lines: tuple[ReadLine, ...]
    words: WordClasses
    first: tuple[bool, ...]
    others: tuple[bool, ...]
    titles: frozenset[str]
    before: tuple[TextToken, ...]
    """The tokens of the sentence right before the first one."""

    def has(self, at: int) -> bool:
        """Return whether any of the sentences, or the title, has a token."""
        return self.first[at] or self.others[at]

    @property
    def parts(self) -> tuple[TextToken, ...]:
        """Return the tokens of the first sentence."""
        return self.lines[0].line.tokens


def missing_values(found: Found, *, sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield the kind of each value that no sentence has in its place, and the value as written."""
    claim, lines = found.claim, found.lines
    for value in claim.values:
        shown = f"{value.kind} {claim.shown(value)}"
        holders = [line for line in lines if line.holds(value)]
        if not holders and _is_elsewhere(value, claim, sources):
            shown = f"{IN_ANOTHER_PLACE}{shown}"
        if value.kind == "name":
            if not holders and not _is_known(value, found):
                yield "name" if value.sure else "first_word", shown
            elif (
                holders
                and value.sure
                and all(_is_displaced(claim, value, each) for each in holders)
            ):
                yield "displaced_name", f"{IN_ANOTHER_PLACE}{shown}"
        elif not holders:
            yield value.kind, shown
        elif value.unit and not _unit_fits(value, holders):
            yield "unit", f"unit {claim.shown(value)} {value.unit}"
        elif value.kind == "number" and not _same_thing(claim, value, holders):
            yield "thing", f"{IN_ANOTHER_PLACE}{shown}"
        elif all(_is_displaced(claim, value, line) for line in holders):
            yield "displaced", f"{IN_ANOTHER_PLACE}{shown}"
        elif _belongs_elsewhere(claim, value, holders, lines):
            yield "elsewhere", f"{IN_ANOTHER_PLACE}{shown}"


def missing_negation(found: Found, blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Yield the word that negates on one side only, within the part that corresponds."""
    negating = found.words.negations
    low, high = matching_span(blocks, found.parts)
    ours = [part.word for part in found.claim.tokens if part.word in negating]
    theirs = [
        part.word for part in found.parts[max(0, low - CLAUSE) : high] if part.word in negating
    ]
    if len(ours) % 2 != len(theirs) % 2:
        yield "negation", f"negation {ours[0]}" if ours else f"{OMITTED}negation {theirs[0]}"


def _is_elsewhere(value: Value, claim: Claim, sources: Sources) -> bool:
    """Return whether a source has the words of a value one after another."""
    wanted = claim.tokens[value.first : value.last + 1]
    return bool(wanted) and any(
        next(source.find(wanted), None) for source in sources.by_number.values()
    )


def _is_known(value: Value, found: Found) -> bool:
    """Return whether a name is in the title, or an abbreviation of neighbouring words."""
    if value.key in found.titles:
        return True
    letters = value.key
    if not 2 <= len(letters) <= 6 or not letters.isalpha():
        return False
    return any(
        letters in "".join(part.word[0] for part in line.line.tokens if part.stem or not telling)
        for line in found.lines
        for telling in (True, False)
    )


def _unit_fits(value: Value, holders: Sequence[ReadLine]) -> bool:
    units = [each.unit for line in holders for each in line.values if each.key == value.key]
    return not units or value.unit in units


def _same_thing(claim: Claim, value: Value, holders: Sequence[ReadLine]) -> bool:
    """Return whether a number is followed by the same word, or one that its sentence has."""
    following = claim.tokens[value.last + 1 : value.last + 2]
    if not following or not following[0].stem:
        return True
    return any(holds_token(following[0], [line], frozenset()) for line in holders)


def _belongs_elsewhere(
    claim: Claim, value: Value, holders: Sequence[ReadLine], chosen: Sequence[ReadLine]
) -> bool:
    """Return whether a sentence without the value matches its context better."""
    parts = claim.tokens
    low, high = max(0, value.first - CONTEXT_WORDS), value.last + 1 + CONTEXT_WORDS
    around = {part.stem for part in parts[low:high] if part.stem}
    around -= {part.stem for part in parts[value.first : value.last + 1]}

    def held(line: ReadLine) -> float:
        return sum(claim.weights[stem] for stem in around if stem in line.line.stems)

    others = [line for line in chosen if line not in holders]
    return max(map(held, others), default=0.0) > ELSEWHERE * max(map(held, holders))


def _is_displaced(claim: Claim, value: Value, line: ReadLine) -> bool:
    """Return whether another value of the sentence is in this value's place."""
    ours = words_around(claim.tokens, value.first, value.last)
    fits: dict[bool, float] = {}
    for each in line.values:
        if each.kind == value.kind:
            fit = context_fit(
                ours, words_around(line.line.tokens, each.first, each.last), claim.weights
            )
            fits[each.key == value.key] = max(fit, fits.get(each.key == value.key, 0.0))
    return True in fits and fits.get(False, 0.0) > ELSEWHERE * fits[True]


def words_around(parts: Sequence[TextToken], first: int, last: int) -> list[tuple[str, int]]:
    """Return the words near a token range with their distance, negative before it."""
    before = [part.stem or part.word for part in parts[max(0, first - CONTEXT_WORDS) : first]]
    after = [part.stem or part.word for part in parts[last + 1 : last + 1 + CONTEXT_WORDS]]
    return [
        *((stem, -at) for at, stem in enumerate(reversed(before), start=1)),
        *((stem, at) for at, stem in enumerate(after, start=1)),
    ]


def context_fit(
    ours: Sequence[tuple[str, int]],
    theirs: Sequence[tuple[str, int]],
    weights: Mapping[str, float],
) -> float:
    """Return how well the words around two places agree, weighted by rarity and nearness."""
    found = 0.0
    for stem, at in ours:
        near = [1 / (1 + abs(at - other)) for word, other in theirs if word == stem]
        found += weights.get(stem, FUNCTION_WORD_WEIGHT) * max(near, default=0.0) / abs(at)
    return found


def sentence_before(read: ReadLine, sources: Sources) -> tuple[TextToken, ...]:
    """Return the tokens of the sentence right before another one of its source."""
    among = sources.by_number[read.line.number].lines
    at = next((at for at, line in enumerate(among) if line.start == read.line.start), 0)
    return among[at - 1].tokens if at else ()


def holds_token(part: TextToken, lines: Sequence[ReadLine], titles: frozenset[str]) -> bool:
    """Return whether a title or a sentence has a word."""
    return part.word in titles or any(
        (part.stem and part.stem in line.line.stems) or part.word in line.words for line in lines
    )


def matching_blocks(ours: Sequence[TextToken], theirs: Sequence[TextToken]) -> list[Block]:
    """Return the runs of equal tokens that are in order."""
    words, others = ([part.stem or part.word for part in each] for each in (ours, theirs))
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    return [block for block in matcher.get_matching_blocks() if block[2]]


def matching_span(blocks: Sequence[Block], parts: Sequence[TextToken]) -> tuple[int, int]:
    """Return the token range of the sentence that corresponds to the claim."""
    if not blocks:
        return 0, len(parts)
    return blocks[0][1], blocks[-1][1] + blocks[-1][2]

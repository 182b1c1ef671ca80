"""Support features: how the words, values and clauses of a claim lie in its best sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, takewhile

from quoth.answering.verification.claim import Claim, WordClasses, word_classes
from quoth.answering.verification.governance import comma_places, governing_words
from quoth.answering.verification.located_claim import (
    CLAUSE,
    ELSEWHERE,
    Block,
    Found,
    context_fit,
    holds_token,
    matching_blocks,
    matching_span,
    missing_negation,
    missing_values,
    sentence_before,
    words_around,
)
from quoth.answering.verification.reasons import OMITTED
from quoth.answering.verification.source_index import ReadLine, Sources
from quoth.answering.verification.tokens import TextToken

ROOT = 5
"""Common prefix in letters of related words."""
SLOT = 3
"""Maximum words that can replace others; longer parts are other clauses."""
MAX_ORDERED = 16
"""Maximum words of a claim whose places are compared in pairs."""


FAULTS = frozenset(
    """
    lost_name lost_displaced_name lost_number lost_date lost_unit lost_displaced negations_new
    negated_before condition_before opposite attribution condition contrast clause_crossed
    """.split()
)
"""Features of what no wording makes up for: one of them, and a claim is not supported."""


def support_features(
    claim: Claim, lines: Sequence[ReadLine], *, sources: Sources
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the features of a claim with its sentences, the best first, and what they lack."""
    words = word_classes(lines[0].line.language)
    titles = frozenset().union(*(sources.by_number[each.line.number].title for each in lines))
    found = Found(
        claim,
        tuple(lines),
        words,
        tuple(holds_token(part, lines[:1], frozenset()) for part in claim.tokens),
        tuple(holds_token(part, lines[1:], titles) for part in claim.tokens),
        titles,
        sentence_before(lines[0], sources),
    )
    blocks = matching_blocks(claim.tokens, found.parts)
    missing = [*missing_values(found, sources=sources), *missing_negation(found, blocks)]
    features = _recall(found) | _unmatched(found) | _values(found, missing)
    features |= _sequence(found, blocks) | _polarity(found, blocks) | _order(found)
    governing, crossed = _governing(found, blocks)
    features |= _clauses(found) | {kind: float(len(each)) for kind, each in governing.items()}
    features["clause_crossed"] = float(crossed)
    omitted = [
        f"{OMITTED}{kind} {word}"
        for kind, each in governing.items()
        for word in dict.fromkeys(each)
    ]
    return features, tuple(dict.fromkeys([*(what for _, what in missing), *omitted]))


def _recall(found: Found) -> dict[str, float]:
    claim = found.claim
    held = frozenset().union(*(each.line.stems for each in found.lines))
    said = [at for at, part in enumerate(claim.tokens) if claim.weights.get(part.stem)]
    total = sum(claim.weights[claim.tokens[at].stem] for at in said) or 1.0
    first = sum(claim.weights[claim.tokens[at].stem] for at in said if found.first[at])
    both = sum(claim.weights[claim.tokens[at].stem] for at in said if found.has(at))
    stems = [part.stem for part in claim.tokens if part.stem]
    beside = {pair for each in found.lines for pair in _pairs(each)}
    pairs = list(pairwise(stems))
    return {
        "shared": float(len({claim.tokens[at].stem for at in said if found.has(at)})),
        "length": math.log(1 + len(said)),
        "first": first / total,
        "cover": both / total,
        "kin": claim.kinship(held),
        "pairs": sum(pair in beside for pair in pairs) / len(pairs) if pairs else 1.0,
        "lines": float(len(found.lines)),
    }


def _pairs(read: ReadLine) -> Iterator[tuple[str, str]]:
    stems = [part.stem for part in read.line.tokens if part.stem]
    for at, stem in enumerate(stems):
        for other in stems[at + 1 : at + 4]:
            yield stem, other
            yield other, stem


def _unmatched(found: Found) -> dict[str, float]:
    """Count the words without a counterpart, and how they lie together."""
    claim, words = found.claim, found.words
    content = [at for at, part in enumerate(claim.tokens) if claim.weights.get(part.stem)]
    lost = [at for at in content if not found.has(at)]
    roots = {part.stem[:ROOT] for each in found.lines for part in each.line.tokens if part.stem}
    strange = [at for at in lost if claim.tokens[at].stem[:ROOT] not in roots]
    runs, run = [0], 0
    for at in content:
        run = 0 if found.has(at) else run + 1
        runs.append(run)
    tail = next((n for n, at in enumerate(reversed(content)) if found.has(at)), len(content))
    head = next((n for n, at in enumerate(content) if found.has(at)), len(content))
    opposite = 0
    for at in [at for at in range(len(claim.tokens)) if not found.first[at]]:
        part = claim.tokens[at]
        other = words.opposites.get(part.stem or part.word, frozenset()) | words.opposites.get(
            part.word, frozenset()
        )
        opposite += any(other & (each.words | each.line.stems) for each in found.lines)
    small = [
        at
        for at, part in enumerate(claim.tokens)
        if not part.stem and not found.has(at) and part.word not in words.reporting
    ]
    return {
        "unmatched": float(len(lost)),
        "strange": float(len(strange)),
        "unmatched_run": float(max(runs)),
        "unmatched_tail": float(tail),
        "unmatched_head": float(head),
        "unmatched_small": float(len(small)),
        "opposite": float(opposite),
    }


def _values(found: Found, missing: Sequence[tuple[str, str]]) -> dict[str, float]:
    kinds = [kind for kind, _ in missing]
    names = [v for v in found.claim.values if v.kind == "name"]
    apart = [v for v in names if not found.lines[0].holds(v) and v.sure]
    return {
        f"lost_{kind}": float(kinds.count(kind))
        for kind in (
            *("name", "first_word", "displaced_name", "number", "date", "unit"),
            *("displaced", "elsewhere", "thing"),
        )
    } | {"names": float(len(names)), "names_apart": float(len(apart))}


def _sequence(found: Found, blocks: Sequence[Block]) -> dict[str, float]:
    """Compare the claim with its first sentence word by word, in order."""
    ours, theirs = found.claim.tokens, found.parts
    same = sum(size for _, _, size in blocks)
    replaced = inserted = dropped = 0
    for (i, j, size), (i2, j2, _) in pairwise(blocks):
        mine = [part for part in ours[i + size : i2] if part.stem]
        other = [part for part in theirs[j + size : j2] if part.stem]
        kept = {part.stem[:ROOT] for part in other}
        new = [part for part in mine if part.stem[:ROOT] not in kept]
        replaced += bool(new and other and max(len(new), len(other)) <= SLOT)
        inserted += len(new)
        dropped += len(other)
    lead = theirs[: blocks[0][1]] if blocks else theirs
    rest = theirs[blocks[-1][1] + blocks[-1][2] :] if blocks else ()
    adjacent = {
        (a.stem or a.word, b.stem or b.word)
        for each in found.lines
        for a, b in pairwise(each.line.tokens)
    }
    running = list(pairwise([part.stem or part.word for part in ours]))
    return {
        "order": same / max(1, len(ours)),
        "blocks": len(blocks) / max(1, len(ours)),
        "n_blocks": float(len(blocks)),
        "breaks": float(sum(pair not in adjacent for pair in running)),
        "adjacent": sum(pair in adjacent for pair in running) / max(1, len(running)),
        "replaced": float(replaced),
        "inserted": float(inserted),
        "dropped": float(dropped),
        "lead": float(
            sum(1 for part in lead if part.stem and part.stem not in found.claim.weights)
        ),
        "rest": float(
            sum(1 for part in rest if part.stem and part.stem not in found.claim.weights)
        ),
    }


def _polarity(found: Found, blocks: Sequence[Block]) -> dict[str, float]:
    """Compare negations, conditions and quantifiers within the part that corresponds."""
    words, ours, theirs = found.words, found.claim.tokens, found.parts
    low, high = matching_span(blocks, theirs)
    span = theirs[low:high]
    before = theirs[max(0, low - CLAUSE) : low]
    elsewhere = [part for each in found.lines[1:] for part in each.line.tokens]

    def count(parts: Sequence[TextToken], of: frozenset[str]) -> int:
        return sum(part.word in of for part in parts)

    mine, other = count(ours, words.negations), count(span, words.negations)
    anywhere = count(theirs, words.negations) + count(elsewhere, words.negations)
    inside = [part.word for part in span]
    quantifiers = {part.word for part in ours if part.word in words.quantifiers}
    theirs_all = {part.word for each in found.lines for part in each.line.tokens}
    kept = {part.word for part in ours}
    lost = {word for word in inside if word in words.quantifiers and word not in kept}
    return {
        "negations": float(mine),
        "negations_more": float(max(0, mine - other)),
        "negations_new": float(max(0, mine - anywhere)),
        "negations_less": float(max(0, other - mine)),
        "negated_before": float(count(before, words.negations)),
        "condition_before": float(count(before, words.conditions) - count(ours, words.conditions)),
        "quantifiers_new": float(len(quantifiers - theirs_all)),
        "quantifiers_moved": float(len((quantifiers & theirs_all) - set(inside))),
        "quantifiers_lost": float(len(lost)),
    }


def _governing(found: Found, blocks: Sequence[Block]) -> tuple[dict[str, list[str]], int]:
    """Find the words that say of what corresponds who says it, or under which condition.

    The second value counts the places where a claim goes on in another clause and leaves out its
    subject: "…, and students".
    """
    parts, line = found.parts, found.lines[0].line
    low, high = matching_span(blocks, parts)
    ours = found.claim.tokens
    commas, words = comma_places(line), found.words
    governing = governing_words(ours, parts[:low], parts[high:], words=words, commas=commas)
    crossed = 0
    for one, two in pairwise(blocks):
        gap = parts[one[1] + one[2] : two[1]]
        inside = governing_words(ours, gap, (), words=words, commas=commas)
        governing["attribution"] += inside["attribution"]
        governing["contrast"] += inside["contrast"]
        joins = [at for at, part in enumerate(gap) if part.word in words.joins]
        crossed += any(
            line.text[: gap[at].start - line.start].rstrip().endswith((",", ";"))
            and any(part.stem for part in gap[at + 1 :])
            for at in joins[-1:]
        )
    return governing, crossed


def _order(found: Found) -> dict[str, float]:
    """Compare the order of shared words, and of names, with that of the first sentence."""
    claim, parts, words = found.claim, found.parts, found.words
    places: dict[str, list[int]] = {}
    for at, part in enumerate(parts):
        if part.stem:
            places.setdefault(part.stem, []).append(at)
    once = [
        (at, places[part.stem][0])
        for at, part in enumerate(claim.tokens)
        if len(places.get(part.stem, ())) == 1
    ]
    names = {at for v in claim.values if v.kind == "name" for at in range(v.first, v.last + 1)}
    agents = [any(part.word in words.agents for part in each) for each in (claim.tokens, parts)]
    jumps = [two - one for (_, one), (_, two) in pairwise(once)]
    swapped = _swapped(found) if len(once) >= 2 else 0
    return {
        "inversions": _inversions([place for _, place in once]),
        "name_inversions": _inversions([place for at, place in once if at in names]),
        "jumps_back": float(sum(jump < 0 for jump in jumps)),
        "jumps_far": float(sum(jump > SLOT + 3 for jump in jumps)),
        "passive": float(agents[0] != agents[1]),
        "swapped": float(swapped),
        "cause_turned": _cause_turned(found),
    }


def _inversions(places: Sequence[int]) -> float:
    pairs = list(combinations(places, 2))
    return sum(one > two for one, two in pairs) / len(pairs) if pairs else 0.0


def _swapped(found: Found) -> int:
    """Count the pairs of words each of which fits the place of the other better."""
    claim, parts = found.claim, found.parts
    held = found.lines[0].line.stems
    shared = [at for at, part in enumerate(claim.tokens) if part.stem in held][:MAX_ORDERED]
    ours = {claim.tokens[at].stem: words_around(claim.tokens, at, at) for at in shared}
    places = {part.stem: at for at, part in enumerate(parts) if part.stem in ours}
    theirs = {stem: words_around(parts, at, at) for stem, at in places.items()}
    fit = {
        (one, two): context_fit(ours[one], theirs[two], claim.weights)
        for one in ours
        for two in theirs
    }
    return sum(
        fit[one, two] > ELSEWHERE * fit[one, one] and fit[two, one] > ELSEWHERE * fit[two, two]
        for one, two in combinations(ours, 2)
    )


def _cause_turned(found: Found) -> float:
    """Return how far the words of cause and effect stand on the other side, from −1 to 1."""
    ours = _cause_sides(found.claim.tokens, found.words)
    theirs = _cause_sides(found.parts, found.words)
    if ours is None or theirs is None:
        return 0.0
    (cause, effect), (their_cause, their_effect) = ours, theirs
    straight = len(cause & their_cause) + len(effect & their_effect)
    turned = len(cause & their_effect) + len(effect & their_cause)
    return (turned - straight) / (turned + straight) if turned + straight else 0.0


def _cause_sides(
    parts: Sequence[TextToken], words: WordClasses
) -> tuple[frozenset[str], frozenset[str]] | None:
    for at, part in enumerate(parts[:-1]):
        if part.word in words.forward_causes or part.word in words.backward_causes:
            before = frozenset(each.stem for each in parts[:at] if each.stem)
            after = frozenset(each.stem for each in parts[at + 1 :] if each.stem)
            if not before or not after:
                continue
            return (before, after) if part.word in words.forward_causes else (after, before)
    return None


def _clauses(found: Found) -> dict[str, float]:
    """Tell joined facts from a subject that was taken from another sentence."""
    claim, words = found.claim, found.words
    content = [at for at, part in enumerate(claim.tokens) if claim.weights.get(part.stem)]
    sides = [found.first[at] for at in content if found.has(at)]
    changes = sum(one != two for one, two in pairwise(sides))
    head = next((n for n, side in enumerate(sides) if side), len(sides))
    tail = next((n for n, side in enumerate(reversed(sides)) if side), len(sides))
    opening = [part.word in words.pronouns for part in found.parts[:2]]
    leads = next(
        (at for at, part in enumerate(found.parts) if part.stem in claim.weights), len(found.parts)
    )
    return {
        "side_changes": float(changes),
        "other_head": float(head),
        "other_tail": float(tail),
        "other_share": sum(not side for side in sides) / max(1, len(sides)),
        "pronoun_first": float(bool(opening) and opening[0]),
        "subject_before": _subject_before(found),
        "lead_words": float(leads),
        "near_lines": float(
            all(
                abs(a.line.start - b.line.end) < 400 or abs(b.line.start - a.line.end) < 400
                for a, b in pairwise(found.lines)
            )
        ),
    }


def _subject_before(found: Found) -> float:
    """Return the share of the claim's first words that open the sentence before the first one."""
    head = list(takewhile(lambda at: not found.first[at], range(len(found.claim.tokens))))
    stems = [found.claim.tokens[at].stem for at in head if found.claim.tokens[at].stem]
    before = found.before[:CLAUSE]
    held = {part.stem for part in before if part.stem}
    return sum(stem in held for stem in stems) / len(stems) if stems else 0.0

"""False claims: a true one with one thing changed, in twelve ways."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from claims.words import (
    CAPITAL,
    FUNCTION_WORDS,
    NAME,
    NUMBER,
    YEAR,
    Pairs,
    Words,
    find_word,
    lower_first,
    put,
)


@dataclass(frozen=True)
class Base:
    """A true claim, the text that it is from, and what stands near by."""

    claim: str
    source: str
    sentences: tuple[str, ...]
    others: tuple[str, ...]
    """Texts of other passages, the nearest first."""
    answer: str = ""
    answers: tuple[str, ...] = ()
    """The answers to other questions on the same text."""


Change = Callable[[Base, Words, random.Random], str | None]


def false_claims(base: Base, words: Words, dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each kind of change that can be made to a claim, with the changed claim."""
    for name, change in CHANGES.items():
        made = change(base, words, dice)
        source = base.others[0] if name == "other passage" and base.others else base.source
        if (
            made
            and made != base.claim
            and " ".join(made.split()).rstrip(".") not in " ".join(source.split())
        ):
            yield name, made


def _names(text: str) -> list[str]:
    return [
        each for each in dict.fromkeys(NAME.findall(text)) if each.lower() not in FUNCTION_WORDS
    ]


def _swap_name(base: Base, words: Words, dice: random.Random) -> str | None:
    mine = [each for each in _names(base.claim) if each in base.source and each not in words.months]
    if base.answer and base.answer[:1].isupper() and base.answer in base.claim:
        mine = [base.answer]
    theirs = [
        each
        for each in (
            *_names(base.source),
            *(a for a in base.answers if re.fullmatch(rf"(?:[{CAPITAL}][\w'-]+ ?){{1,4}}", a)),
        )
        if not _shares(each, base.claim) and each not in words.months
    ]
    if not mine or not theirs:
        return None
    old = dice.choice(mine)
    same = [each for each in theirs if len(each.split()) == len(old.split())]
    return base.claim.replace(old, dice.choice(same or theirs), 1)


def _shares(name: str, claim: str) -> bool:
    return any(find_word(claim, part) for part in name.split() if len(part) > 2)


def _swap_number(base: Base, words: Words, dice: random.Random) -> str | None:
    mine = [m for m in NUMBER.finditer(base.claim) if not YEAR.fullmatch(m.group())]
    spelled = [m for word in words.numbers if (m := find_word(base.claim, word))]
    if not mine and not spelled:
        return None
    found = dice.choice(mine or spelled)
    if not mine:
        return put(
            base.claim, found, dice.choice([w for w in words.numbers if w != found.group().lower()])
        )
    inside = [
        n for n in NUMBER.findall(base.source) if n not in base.claim and not YEAR.fullmatch(n)
    ]
    if inside and dice.random() < 0.6:
        return put(base.claim, found, dice.choice(inside))
    digit = dice.choice([str(n) for n in range(1, 10) if str(n) != found.group()[0]])
    return put(base.claim, found, digit + found.group()[1:])


def _swap_date(base: Base, words: Words, dice: random.Random) -> str | None:
    years = list(YEAR.finditer(base.claim))
    months = [m for month in words.months if (m := re.search(rf"\b{month}\b", base.claim))]
    if not years and not months:
        return None
    found = dice.choice([*years, *months])
    if found in months:
        return put(base.claim, found, dice.choice([m for m in words.months if m != found.group()]))
    inside = [y for y in YEAR.findall(base.source) if y not in base.claim]
    other = (
        dice.choice(inside)
        if inside and dice.random() < 0.6
        else str(int(found.group()) + dice.choice([-20, -7, -3, -1, 1, 2, 5, 10]))
    )
    return put(base.claim, found, other)


def _swap_unit(base: Base, words: Words, dice: random.Random) -> str | None:
    before = rf"(?:\d|\b(?:{'|'.join(words.numbers)})\b)"
    for old, *new in words.units:
        if found := re.search(rf"({before}[ \u00a0]?){re.escape(old)}(?!\w)", base.claim):
            return base.claim[: found.end(1)] + dice.choice(new) + base.claim[found.end() :]
    return None


def _table(pairs: Pairs) -> Change:
    def change(base: Base, words: Words, dice: random.Random) -> str | None:
        order = list(pairs_of(words))
        dice.shuffle(order)
        for old, new in order:
            if found := find_word(base.claim, old):
                return put(base.claim, found, new)
        return None

    name = pairs[0][0]

    def pairs_of(words: Words) -> Pairs:
        return getattr(words, name)  # type: ignore[no-any-return]

    return change


def _swap_roles(base: Base, words: Words, dice: random.Random) -> str | None:
    plain = base.claim
    found = re.fullmatch(
        r"(.{3,60}?) (?:was|were) ([a-z]+ed|won|led|built|written) by ([^,.;]{3,60})(.*)",
        plain,
    )
    if found and words.language == "en" and "," not in found[1]:
        by = plain[found.start(2) - 4 : found.start(2)].strip()
        agent = found[3][:1].upper() + found[3][1:]
        return f"{agent} {by} {found[2]} by {lower_first(found[1])}{found[4]}"
    names = [
        m for m in re.finditer(rf"\b[{CAPITAL}][\w'’-]*[a-z][\w-]*(?: [{CAPITAL}][\w-]+)*", plain)
    ]
    names = [
        m
        for m in names
        if m.group() in base.source
        and m.group().lower() not in words.pronouns
        and m.group().split()[0].lower()
        not in ("the", "in", "le", "la", "les", "un", "en", "on", "at", "after")
    ]
    for one, two in itertools.pairwise(names):
        between = plain[one.end() : two.start()]
        if (
            len(between.split()) >= 2
            and not re.search(r"[,;()]|\b(?:and|or|et|ou|with|avec)\b", between)
            and one.group() != two.group()
        ):
            return plain[: one.start()] + two.group() + between + one.group() + plain[two.end() :]
    return None


def _negate(base: Base, words: Words, dice: random.Random) -> str | None:
    plain = base.claim
    if words.language == "fr":
        if found := re.search(r"\bn(?:e |')(\w+) (?:pas|plus|jamais) ", plain):
            return plain[: found.start()] + found[1] + " " + plain[found.end() :]
        for aux in (
            "est",
            "sont",
            "était",
            "étaient",
            "fut",
            "furent",
            "a",
            "ont",
            "avait",
            "peut",
            "peuvent",
            "doit",
            "permet",
        ):
            if (found := find_word(plain, aux)) and not plain[: found.start()].endswith(
                ("'", "-", "n'")
            ):
                ne = "n'" if aux[0] in "aeéo" else "ne "
                return f"{plain[: found.start()]}{ne}{found.group()} pas{plain[found.end() :]}"
        return None
    if found := re.search(r"\b(?:not|never) |n't\b", plain):
        return plain[: found.start()] + plain[found.end() :]
    if found := re.search(
        r"\b(?:is|are|was|were|has|had|can|could|may|will|would|must|should)\b", plain
    ):
        word = dice.choice(["not", "not", "never"])
        return f"{plain[: found.end()]} {word}{plain[found.end() :]}"
    if found := re.search(r"\b(?:he|she|it|they|[A-Z]\w+) ([a-z]{3,})(ed)\b (?!by)", plain):
        stem = found[1] + ("e" if found[1][-1] in "vsczu" and not found[1].endswith("ss") else "")
        return f"{plain[: found.start(1)]}did not {stem}{plain[found.end(2) :]}"
    return None


def _swap_cause(base: Base, words: Words, dice: random.Random) -> str | None:
    for cause in words.causes:
        found = find_word(base.claim, cause)
        if found is None or found.start() < 15 or len(base.claim) - found.end() < 15:
            continue
        before, after = (
            base.claim[: found.start()].strip(" ,"),
            base.claim[found.end() :].strip(" ,."),
        )
        if len(re.split(r"[,;]", after)[0].split()) >= 3:
            after = re.split(r"[,;]", after)[0]
            return f"{after[:1].upper()}{after[1:]} {found.group()} {lower_first(before)}."
    return None


def subject(sentence: str, words: Words) -> tuple[str, str] | None:
    """Return the subject of a sentence and the rest; None where it is not clear."""
    parts = sentence.split()
    for at, part in enumerate(parts[1:9], start=1):
        if part in words.auxiliaries or (
            words.language == "en" and at > 0 and re.fullmatch(r"[a-z]{3,}ed", part)
        ):
            named = " ".join(parts[:at])
            if (
                parts[0].lower() in words.pronouns
                or re.search(r"[,;(]", named)
                or len(parts) - at < 4
            ):
                return None
            return (
                (named, " ".join(parts[at:]))
                if re.match(rf"(?:The |Le |La |Les |L')?[{CAPITAL}]", named)
                else None
            )
    return None


def _merge(base: Base, words: Words, dice: random.Random) -> str | None:
    mine = subject(base.claim, words)
    theirs = [found for each in base.sentences if (found := subject(each, words))]
    if mine is None:
        return None
    theirs = [
        each for each in theirs if not _shares(each[0], mine[0]) and each[0] not in base.claim
    ]
    return f"{dice.choice(theirs)[0]} {mine[1]}" if theirs else None


def _other(base: Base, words: Words, dice: random.Random) -> str | None:
    """Return the claim itself, if the nearest other passage, its source, has few of its words."""
    said = set(re.findall(r"\w{4,}", base.claim.lower()))
    if not base.others or not said:
        return None
    known = said & set(re.findall(r"\w{4,}", base.others[0].lower()))
    return base.claim + " " if len(known) <= 0.6 * len(said) else None


def _add(base: Base, words: Words, dice: random.Random) -> str | None:
    clauses = [
        m.group()
        for text in base.others[:3]
        for m in re.finditer(
            r"(?:,| (?:in|by|after|with|for|à|dans|par|avec|pour)) [^,.;:()]{8,50}(?=[,.])", text
        )
    ]
    new = dice.choice(clauses) if clauses and dice.random() < 0.5 else dice.choice(words.additions)
    if find_word(base.source, new.strip(" ,")):
        return None
    return base.claim.rstrip(" .") + new + "."


CHANGES: dict[str, Change] = {
    "name": _swap_name,
    "number": _swap_number,
    "unit": _swap_unit,
    "date": _swap_date,
    "role": _swap_roles,
    "direction": _table((("directions",),)),
    "negation": _negate,
    "quantifier": _table((("quantifiers",),)),
    "cause": _swap_cause,
    "merged": _merge,
    "other passage": _other,
    "addition": _add,
}


def nearest(texts: Sequence[str], *, limit: int = 3) -> list[list[int]]:
    """Return for each text the places of those that share most words with it."""
    bags = [frozenset(re.findall(r"\w{4,}", text.lower())) for text in texts]
    found = []
    for at, bag in enumerate(bags):
        scores = sorted(
            range(len(bags)),
            key=lambda o: -len(bag & bags[o]) / (len(bags[o]) + 20) if o != at else 1,
        )
        found.append(scores[:limit])
    return found

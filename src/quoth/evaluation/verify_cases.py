"""Statements with their sources and whether those bear them out, made from evidence by rule.

Claims that people wrote come with the sentences that support or contradict them. Quotations of
those sentences are made too, as answers quote: whole, with an opening, without their last clause;
and then each with one thing exchanged: a number or a name for another one of the same source or
for one from outside, or a "not" put in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from quoth.answering.context import ContextBlock
from quoth.answering.verification.tokens import Value, read_values, tokens
from quoth.core.errors import InputError
from quoth.core.types import Chars, Chunk, Document, Passage
from quoth.evaluation.jsonl import Row, locate_file, read_rows, text

EVIDENCE, CORPUS = "evidence.jsonl", "corpus.jsonl"
Label = Literal["support", "contradict", "neither"]
Part = Literal["dev", "heldout"]

_LABELS: dict[str, Label] = {
    **dict.fromkeys(("support", "supported", "supports", "entailment", "true"), "support"),
    **dict.fromkeys(("contradict", "contradicted", "refutes", "refuted", "false"), "contradict"),
}
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|may|might|will|would)\b")
_OPENINGS = ("According to the source, ", "The text says that ", "In this study, ", "Also, ")


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim with the sentences said to bear on it and, where known, all of their document."""

    id: str
    claim: str
    label: Label
    chosen: tuple[str, ...]
    document: tuple[str, ...]
    document_id: str
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Case:
    """A statement, the sentences it is held against, and whether they bear it out.

    ``group`` says what the case is about, ``id`` which claim it was made from.
    """

    id: str
    group: str
    statement: str
    sentences: tuple[str, ...]
    true: bool
    language: str = "en"


def load_evidence(folder: Path) -> tuple[ClaimCase, ...]:
    """Read ``evidence.jsonl`` {claim, sentences, label}; raises InputError naming file and line.

    ``sentences`` are texts, or places of sentences in the document ``corpus_id`` of a
    ``corpus.jsonl`` beside it, whose rows have a list of ``sentences``.
    """
    rows = list(read_rows(locate_file(folder, EVIDENCE)))
    if not rows:
        raise InputError(f"{folder / EVIDENCE} is empty.")
    wanted = {str(row["corpus_id"]) for row, _ in rows if "corpus_id" in row}
    documents = _documents(folder, wanted) if wanted else {}
    return tuple(_evidence(row, at, documents, order) for order, (row, at) in enumerate(rows))


def _documents(folder: Path, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    found = {}
    for row, at in read_rows(locate_file(folder, CORPUS)):
        sentences = row.get("sentences")
        if str(row.get("id")) in wanted and isinstance(sentences, list):
            found[text(row, "id", at)] = tuple(str(each).strip() for each in sentences)
    return found


def _evidence(row: Row, at: str, documents: dict[str, tuple[str, ...]], order: int) -> ClaimCase:
    chosen = row.get("sentences")
    if not isinstance(chosen, list) or not chosen:
        raise InputError(f"{at} needs a list of texts or of places under 'sentences'.")
    document_id = str(row.get("corpus_id", order))
    document = documents.get(document_id, ())
    if all(isinstance(each, int) for each in chosen):
        if not all(0 <= each < len(document) for each in chosen):
            raise InputError(f"{at} names sentences that document '{document_id}' does not have.")
        chosen = [document[each] for each in chosen]
    label = _LABELS.get(text(row, "label", at).strip().lower(), "neither")
    return ClaimCase(
        id=str(row.get("query_id", row.get("id", order))),
        claim=text(row, "claim", at),
        label=label,
        chosen=tuple(map(str, chosen)),
        document=document or tuple(map(str, chosen)),
        document_id=document_id,
        language=str(row.get("language", "en")),
    )


def part_of(identity: str) -> Part:
    """Say which half a claim belongs to, by a hash of its id."""
    return "dev" if sha256(identity.encode()).digest()[0] % 2 == 0 else "heldout"


def claim_cases(evidence: Sequence[ClaimCase]) -> Iterator[Case]:
    """Hold each claim against its evidence, against other sentences of its document, and others."""
    for each in evidence:
        yield _case(each, f"claim {each.label}", each.claim, each.chosen, each.label == "support")
        if each.label != "support":
            continue
        yield _case(each, "claim own passage", each.claim, each.document, True)
        size = len(each.chosen)
        dice = _dice(each, "other")
        beside = _beside(each, evidence)
        if len(beside) >= size:
            other = dice.sample(beside, size)
            yield _case(each, "claim same document", each.claim, other, False)
        strangers = [other for other in evidence if other.document_id != each.document_id]
        if strangers:
            pool = dice.choice(strangers).document
            other = dice.sample(pool, min(size, len(pool)))
            yield _case(each, "claim other document", each.claim, other, False)
            yield _case(each, "claim other passage", each.claim, pool, False)


def quote_cases(evidence: Sequence[ClaimCase]) -> Iterator[Case]:
    """Quote each evidence sentence once, as it is and with one thing exchanged."""
    seen: set[str] = set()
    for each in evidence:
        for sentence in each.chosen:
            if sentence in seen or len(sentence) > 400:
                continue
            seen.add(sentence)
            yield from _quotes(each, sentence, evidence)


def _quotes(each: ClaimCase, sentence: str, evidence: Sequence[ClaimCase]) -> Iterator[Case]:
    for manner, statement in _negation_variants(each, sentence):
        yield _case(each, f"quote {manner}", statement, each.document, True)
        for swap, changed in _swaps(each, statement, evidence):
            yield _case(each, f"swap {swap}", changed, each.document, False)


def _negation_variants(each: ClaimCase, sentence: str) -> Iterator[tuple[str, str]]:
    yield "whole", sentence
    dice = _dice(each, sentence)
    yield "opened", dice.choice(_OPENINGS) + sentence[:1].lower() + sentence[1:]
    comma = sentence.rfind(", ", len(sentence) // 2)
    if comma > 0:
        yield "shortened", sentence[:comma] + "."


def _swaps(
    each: ClaimCase, statement: str, evidence: Sequence[ClaimCase]
) -> Iterator[tuple[str, str]]:
    dice = _dice(each, statement)
    ours = _values(statement, each.language)
    inside = [value for line in each.document for value in _values(line, each.language)]
    outside = [
        value
        for other in dice.sample(list(evidence), min(8, len(evidence)))
        for line in other.document
        for value in _values(line, each.language)
    ]
    kinds = (("number", "number"), ("name", "entity"))
    for kind, group in kinds:
        held = [value for value in ours if value[0].kind == kind and value[0].sure]
        known = {value[0].key for value in inside}
        for where, pool in (("in source", inside), ("out of source", outside)):
            others = sorted(
                {
                    raw
                    for value, raw in pool
                    if value.kind == kind
                    and value.sure
                    and value.key not in {one[0].key for one in ours}
                    and (where == "in source" or value.key not in known)
                }
            )
            if held and others:
                value, raw = dice.choice(held)
                yield f"{group} {where}", _exchanged(statement, value, raw, dice.choice(others))
        if len({value.key for value, _ in held}) > 1:
            one = dice.choice(held)
            two = dice.choice([each for each in held if each[0].key != one[0].key])
            yield f"{group} with its neighbour", _crossed(statement, one, two)
    place = _AUXILIARY.search(statement)
    if place and not re.match(r" not\b| no\b", statement[place.end() :]):
        yield "negation", f"{statement[: place.end()]} not{statement[place.end() :]}"


def _values(line: str, language: str) -> list[tuple[Value, str]]:
    parts = tokens(line, language=language)
    return [
        (value, line[parts[value.first].start : parts[value.last].end])
        for value in read_values(line, parts, language=language)
        if value.first <= value.last
    ]


def _exchanged(statement: str, value: Value, raw: str, other: str) -> str:
    parts = tokens(statement, language="en")
    at = parts[value.first].start
    return statement[:at] + other + statement[at + len(raw) :]


def _crossed(statement: str, one: tuple[Value, str], two: tuple[Value, str]) -> str:
    """Set each of two values in the other's place."""
    (value, raw), (later, last) = sorted((one, two), key=lambda each: each[0].first)
    return _exchanged(_exchanged(statement, later, last, raw), value, raw, last)


def _beside(each: ClaimCase, evidence: Sequence[ClaimCase]) -> list[str]:
    gold = {
        sentence
        for other in evidence
        if other.id == each.id and other.document_id == each.document_id
        for sentence in other.chosen
    }
    return [sentence for sentence in each.document if sentence not in gold]


def _case(
    each: ClaimCase, group: str, statement: str, sentences: Sequence[str], true: bool
) -> Case:
    return Case(each.id, group, statement, tuple(sentences), true, each.language)


def _dice(each: ClaimCase, salt: str) -> random.Random:
    # The same cases every time, and others for every sentence.
    return random.Random(f"{each.id} {each.document_id} {salt}")  # noqa: S311


def as_block(sentences: Sequence[str], *, language: str = "en") -> ContextBlock:
    """Make a source of sentences, as a passage of a document without a title."""
    whole = " ".join(sentences)
    name = "d1"
    chunk = Chunk(
        chunk_id=name,
        document_id=name,
        ordinal=0,
        start=0,
        end=len(whole),
        text=whole,
        locator=Chars(0, len(whole)),
        kind="text",
        language=language,
    )
    passage = Passage(1, Document(name, "", "text", "ready"), (chunk,), (name,), 1.0)
    return ContextBlock(passage, 0, len(whole), whole, 0)

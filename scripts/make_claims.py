"""Make true and false claims about passages of judged sets, to train and measure verification.

    python scripts/make_claims.py DATA OUT           # every set: OUT/<set>/claims.jsonl
    python scripts/make_claims.py DATA OUT --ship    # those that may be published, in one file

DATA holds the sets as folders (squad2, fquad, hotpotqa-100, scifact, xquad, …).
True claims are quotations, sentences in other words, questions with their answers as statements,
two statements joined, and claims that people wrote. Each false claim differs from a true one by
one of twelve kinds of change. The same input gives the same claims.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from claims.changes import Base, false_claims, nearest, subject
from claims.statements import declare, reword
from claims.words import Words, lower_first, read_words

from quoth.text.sentences import sentences

SHIPPED = ("squad2", "hotpotqa-100", "xquad-en", "xquad-de", "xquad-es", "doc2dial", "scifact")
"""Sets whose licences allow publication: CC BY-SA, CC BY, ODC-By."""
PER_SET = 1600
MAX_SOURCE = 2500
MAX_JOINED = 45
PRONOUNS = ("He", "She", "It", "They", "Il", "Elle", "Ils", "Elles")
Claim = tuple[str, bool, str, str]
"""A claim, whether it is true, how it was made, and its source."""


@dataclass(frozen=True)
class Item:
    """A passage, its evidence sentences, and its questions with short answers."""

    id: str
    language: str
    source: str
    sentences: tuple[str, ...]
    questions: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, bool], ...] = ()
    """Claims that people wrote, and whether they are true."""
    resolved: tuple[tuple[str, str], ...] = ()
    """Sentences that began with a pronoun, with what it stands for in its place."""
    translated: tuple[tuple[str, str], ...] = field(default=())
    """Sentences of the same text in other languages, with the language."""


def main() -> None:
    """Write the claims of all sets and print how many there are of each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ship", action="store_true")
    parser.add_argument("--per-set", type=int, default=PER_SET)
    given = parser.parse_args()
    shipped: list[dict[str, Any]] = []
    for name, items in read_sets(given.data):
        if given.ship and name not in SHIPPED:
            continue
        rows = choose(list(make_rows(name, items)), limit=given.per_set)
        counts = Counter((row["supported"], row["change"]) for row in rows)
        print(name, len(rows), dict(sorted(counts.items())))
        shipped += rows
        if not given.ship:
            write(given.out / name, rows)
    if given.ship:
        write(given.out, shipped, packed=True)


def write(folder: Path, rows: Sequence[dict[str, Any]], *, packed: bool = False) -> None:
    """Write the claims of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if packed:
        (folder / "claims.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        (folder / "claims.jsonl").write_text(text, encoding="utf-8")


def choose(rows: Sequence[dict[str, Any]], *, limit: int) -> list[dict[str, Any]]:
    """Keep at most ``limit`` claims, about as many of each kind as there are."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kinds[f"{row['supported']} {row['change']}"].append(row)
    dice = random.Random(7)
    for each in kinds.values():
        dice.shuffle(each)
    chosen: list[dict[str, Any]] = []
    while len(chosen) < limit and any(kinds.values()):
        for name in sorted(kinds):
            # True claims are of fewer kinds than false ones, so they get three turns.
            for _ in range(3 if name.startswith("True") else 1):
                if kinds[name]:
                    chosen.append(kinds[name].pop())
    return sorted(chosen[:limit], key=lambda row: row["id"])


def make_rows(name: str, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """Make the claims of a set."""
    near = nearest([item.source for item in items])
    for at, item in enumerate(items):
        dice = random.Random(f"{name} {item.id}")
        words = read_words(item.language if item.language in ("en", "fr") else "en")
        others = tuple(items[other].source for other in near[at])
        base = Base("", item.source, item.sentences, others)
        made = [*_quotations(item, base, words, dice)]
        if item.language in ("en", "fr"):
            made += _statements(item, base, words, dice)
            made += _in_other_words(item, base, words, dice)
        made += [
            (claim, true, "written" if true else "contradicted", item.source)
            for claim, true in item.written
        ]
        rows = [(*each, item.language) for each in made]
        rows += [(text, True, "translated", item.source, other) for text, other in item.translated]
        for order, (claim, true, change, source, language) in enumerate(rows):
            yield {
                "id": f"{name}-{item.id}-{order}",
                "claim": " ".join(claim.split()),
                "source": source,
                "supported": true,
                "change": change,
                "language": language,
            }


def _quotations(item: Item, base: Base, words: Words, dice: random.Random) -> Iterator[Claim]:
    for sentence in item.sentences:
        yield sentence, True, "verbatim", item.source
        yield from _false(replace(base, claim=sentence), words, dice)


def _statements(item: Item, base: Base, words: Words, dice: random.Random) -> Iterator[Claim]:
    stated = [
        (made, answer)
        for question, answer in item.questions
        if (made := declare(question, answer, words))
    ]
    answers = tuple(answer for _, answer in item.questions)
    for made, answer in stated:
        yield made, True, "statement", item.source
        yield from _false(replace(base, claim=made, answer=answer, answers=answers), words, dice)
        for kind, other in reword(made, words, dice):
            if kind == "synonyms":
                yield other, True, "statement, synonyms", item.source
    for one, two in itertools.pairwise(stated):
        joined = one[0].rstrip(".") + words.join + lower_first(two[0])
        yield joined, True, "joined", item.source
        yield from _false(replace(base, claim=joined), words, dice)


def _in_other_words(item: Item, base: Base, words: Words, dice: random.Random) -> Iterator[Claim]:
    shorter = []
    for sentence in item.sentences:
        made = list(reword(sentence, words, dice))
        shorter.append(dict(made).get("clause left out", sentence))
        for kind, claim in made:
            yield claim, True, kind, item.source
            yield from _false(replace(base, claim=claim), words, dice)
    for one, two in itertools.pairwise(shorter):
        if len(one.split()) + len(two.split()) < MAX_JOINED:
            yield one.rstrip(". ") + words.join + lower_first(two), True, "joined", item.source
    for named, claim in (*item.resolved, *_subjects(item, words, dice)):
        yield claim, True, "pronoun", item.source
        yield from _false(replace(base, claim=claim, answer=named), words, dice)


def _subjects(item: Item, words: Words, dice: random.Random) -> Iterator[tuple[str, str]]:
    """Put the subject of the sentence before in the place of a pronoun that begins one."""
    for one, two in itertools.pairwise(_sentences(item.source, limit=12)):
        found = subject(one, words)
        first, _, rest = two.partition(" ")
        if found and first in PRONOUNS:
            whole = f"{found[0]} {rest}"
            yield found[0], whole
            for kind, made in reword(whole, words, dice):
                if kind in ("clause left out", "second fact alone"):
                    yield found[0], made


def _false(base: Base, words: Words, dice: random.Random) -> Iterator[Claim]:
    for change, made in false_claims(base, words, dice):
        yield made, False, change, base.others[0] if change == "other passage" else base.source


def read_sets(data: Path) -> Iterator[tuple[str, list[Item]]]:
    """Read every set of which there is a reader."""
    for name, language in (("squad2", "en"), ("fquad", "fr"), ("doc2dial", "en")):
        yield name, list(_questions(data / name, language, cut=name == "doc2dial"))
    yield "hotpotqa-100", list(_hotpot(data / "hotpotqa-100"))
    yield "scifact", list(_scifact(data / "scifact"))
    yield "qmsum", list(_qmsum(data / "qmsum"))
    for language in ("en", "de", "es"):
        yield f"xquad-{language}", list(_xquad(data / "xquad", language))
    yield "debian-faq-fr", list(_plain(data / "debian-faq" / "fr", "fr"))


def _rows(path: Path) -> list[dict[str, Any]]:
    path = path if path.exists() else path.with_name(path.name + ".gz")
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in raw.decode().splitlines() if line]


def _claimable(text: str) -> bool:
    words = text.split()
    return 6 <= len(words) <= 45 and text[:1].isupper() and text.rstrip()[-1:] == "."


def _sentences(text: str, *, limit: int = 6) -> tuple[str, ...]:
    found = [text[start:end] for start, end in sentences(text)]
    return tuple(each for each in found if _claimable(each))[:limit]


def _questions(folder: Path, language: str, *, cut: bool) -> Iterator[Item]:
    corpus = {row["id"]: row for row in _rows(folder / "corpus.jsonl")}
    asked = {row["id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    by_passage: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(folder / "references.jsonl"):
        if row["answerable"] and row["query_id"] in asked and row.get("answers"):
            by_passage[row["corpus_id"]].append(row)
    for key, rows in by_passage.items():
        text = corpus[key]["text"]
        evidence = [s.strip() for row in rows for s in row["answers"][0]["selected_sentences"]]
        start = max(0, text.find(evidence[0][:40]) - 800) if cut and evidence else 0
        source = text[start : start + MAX_SOURCE]
        own = dict.fromkeys(each for each in evidence if _claimable(each) and each in source)
        pairs = (
            ()
            if cut
            else tuple((asked[row["query_id"]], row["answers"][0]["answer"]) for row in rows)
        )
        yield Item(key, language, source, tuple(own) or _sentences(source, limit=3), pairs)


def _hotpot(folder: Path) -> Iterator[Item]:
    corpus = {row["id"]: row for row in _rows(folder / "corpus.jsonl")}
    asked = {row["id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    for row in _rows(folder / "references.jsonl"):
        source = "\n\n".join(corpus[each]["text"] for each in row["corpus_ids"])
        answer = row["answers"][0]
        own = tuple(
            " ".join(each.split()) for each in answer["selected_sentences"] if _claimable(each)
        )
        pairs = (
            ()
            if answer["answer"] in ("yes", "no")
            else ((asked[row["query_id"]], answer["answer"]),)
        )
        resolved = tuple(each for key in row["corpus_ids"] for each in _resolve(corpus[key]))
        yield Item(row["query_id"], "en", source[:MAX_SOURCE], own, pairs, resolved=resolved)


def _resolve(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Put the title of an encyclopedia's article in the place of the pronouns that mean it."""
    title = row["title"].partition(" (")[0]
    for sentence in _sentences(row["text"], limit=6):
        first, _, rest = sentence.partition(" ")
        if first in ("He", "She", "It") and title in row["text"]:
            yield title, f"{title} {rest}"


def _scifact(folder: Path) -> Iterator[Item]:
    corpus = {str(row["id"]): row["sentences"] for row in _rows(folder / "corpus.jsonl")}
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    gold: dict[str, list[int]] = defaultdict(list)
    for row in _rows(folder / "evidence.jsonl"):
        found[str(row["corpus_id"])][row["claim"]] = row["label"] == "SUPPORT"
        gold[str(row["corpus_id"])] += row["sentences"]
    for key, claims in found.items():
        lines = [each.strip() for each in corpus[key]]
        own = tuple(lines[at] for at in dict.fromkeys(gold[key]) if _claimable(lines[at]))
        yield Item(key, "en", " ".join(lines), own, written=tuple(claims.items()))


def _qmsum(folder: Path) -> Iterator[Item]:
    corpus = {row["id"]: row["text"] for row in _rows(folder / "corpus.jsonl")}
    for row in _rows(folder / "references.jsonl"):
        text = "\n".join(corpus[each] for each in row["corpus_ids"][:3])[:MAX_SOURCE]
        turns = [line.partition(": ")[2] for line in text.splitlines()]
        said = [
            each
            for turn in turns
            for each in _sentences(turn.replace(" .", ".").replace(" ,", ","), limit=2)
        ]
        yield Item(
            row["query_id"],
            "en",
            "\n".join(turn.replace(" .", ".").replace(" ,", ",") for turn in turns),
            tuple(said[:2]),
        )


def _xquad(folder: Path, language: str) -> Iterator[Item]:
    asked = {row["id"]: row["text"] for row in _rows(folder / language / "queries.jsonl")}
    answers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in _rows(folder / language / "answers.jsonl"):
        answers[row["corpus_id"]].append((asked[row["query_id"]], row["answers"][0]["text"]))
    english = {row["id"]: row["text"] for row in _rows(folder / "en" / "corpus.jsonl")}
    for row in _rows(folder / language / "corpus.jsonl"):
        own = _sentences(row["text"], limit=2)
        other = (
            ()
            if language == "en"
            else tuple((each, "en") for each in _sentences(english[row["id"]], limit=2))
        )
        yield Item(
            row["id"],
            language,
            row["text"][:MAX_SOURCE],
            tuple(s for s in own if s in row["text"][:MAX_SOURCE]),
            tuple(answers[row["id"]]),
            translated=other,
        )


def _plain(folder: Path, language: str) -> Iterator[Item]:
    for row in _rows(folder / "corpus.jsonl"):
        source = row["text"][:MAX_SOURCE]
        yield Item(row["id"], language, source, _sentences(source, limit=3))


if __name__ == "__main__":
    main()

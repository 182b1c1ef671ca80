"""Turn scifact, xquad and RGB into the format of `quoth eval answers`.

    python scripts/make_answers.py DATA TARGET

DATA holds the folders ``scifact``, ``xquad`` and ``rgb-fact``. Below TARGET a folder is made for
each set; claims of scifact and articles of xquad are parted by a hash of their ids. RGB is licensed
for non-commercial use: measure with it, and keep what is made of it to yourself.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quoth.text.sentences import sentences

Row = Mapping[str, Any]


def rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a file of JSON lines, plain or gzipped."""
    if not path.is_file():
        path = path.with_name(f"{path.name}.gz")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def first_half(key: str) -> bool:
    """Whether an id belongs to the half that may be looked at."""
    return hashlib.sha256(key.encode()).digest()[0] % 2 == 0


def write(
    folder: Path, *, corpus: Iterable[Row], queries: Iterable[Row], references: Iterable[Row]
) -> None:
    """Write the three files of a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in (("corpus", corpus), ("queries", queries), ("references", references)):
        lines = (json.dumps(row, ensure_ascii=False) for row in each)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def query(key: str, text: str, *, answerable: bool = True) -> Row:
    """A row of ``queries.jsonl``."""
    return {"id": key, "text": text, "answerable": answerable}


def reference(key: str, answers: Sequence[tuple[str, Sequence[str]]]) -> Row:
    """A row of ``references.jsonl``: answers, each with its selected sentences."""
    held = [{"answer": answer, "selected_sentences": list(each)} for answer, each in answers]
    return {"query_id": key, "answerable": bool(held), "answers": held}


def scifact(data: Path, target: Path) -> None:
    """Claims with the sentences that support or contradict them, in two halves of the claims.

    The evidence of one abstract is one reference, that of all of them together another.
    """
    corpus = list(rows(data / "corpus.jsonl"))
    texts = {str(each["id"]): each for each in corpus}
    evidence: dict[str, dict[str, set[int]]] = {}
    claims: dict[str, str] = {}
    for row in rows(data / "evidence.jsonl"):
        claims[row["query_id"]] = row["claim"]
        held = evidence.setdefault(row["query_id"], {}).setdefault(row["corpus_id"], set())
        held.update(row["sentences"])
    documents = [
        {"id": key, "title": each["title"], "text": each["text"]} for key, each in texts.items()
    ]
    for half in (True, False):
        chosen = [key for key in claims if first_half(key) == half]
        references = []
        for key in chosen:
            single = [
                [str(texts[document]["sentences"][at]).strip() for at in sorted(places)]
                for document, places in evidence[key].items()
            ]
            together = [[one for each in single for one in each]] if len(single) > 1 else []
            answers = [(" ".join(each), each) for each in (*single, *together)]
            references.append(reference(key, answers))
        write(
            target / ("scifact-dev" if half else "scifact-heldout"),
            corpus=documents,
            queries=[query(key, claims[key]) for key in chosen],
            references=references,
        )


def sentence_at(text: str, place: int) -> str:
    """Give the sentence that holds the character at a place."""
    for start, end in sentences(text):
        if start <= place < end:
            return text[start:end]
    return text


def xquad(data: Path, target: Path) -> None:
    """Spans and the sentences that hold them; and again without half of the articles.

    Questions on an article that was taken out are near to what is left, and unanswerable.
    """
    corpus = list(rows(data / "en" / "corpus.jsonl"))
    texts = {each["id"]: each for each in corpus}
    asked = {each["id"]: each["text"] for each in rows(data / "en" / "queries.jsonl")}
    references = {}
    article = {}
    for row in rows(data / "en" / "answers.jsonl"):
        text = texts[row["corpus_id"]]["text"]
        article[row["query_id"]] = texts[row["corpus_id"]]["title"]
        found = [(each["text"], [sentence_at(text, each["start"])]) for each in row["answers"]]
        references[row["query_id"]] = reference(row["query_id"], found)
    for half in (True, False):
        chosen = [key for key in references if first_half(article[key]) == half]
        write(
            target / ("xquad-dev" if half else "xquad-heldout"),
            corpus=corpus,
            queries=[query(key, asked[key]) for key in chosen],
            references=[references[key] for key in chosen],
        )
    write(
        target / "xquad-without",
        corpus=[each for each in corpus if first_half(each["title"])],
        queries=[query(key, asked[key], answerable=first_half(article[key])) for key in references],
        references=[row for key, row in references.items() if first_half(article[key])],
    )


def rgb(data: Path, target: Path) -> None:
    """Noise, rejection and counterfactual passages among web snippets, all questions in one corpus.

    - noise: right snippets among others; the sentences that hold the answer are the references;
    - rejection: only the others, so that nothing is to be said;
    - counterfactual: right snippets beside copies with a wrong answer.
    """
    asked = list(rows(data / "en_fact.jsonl"))
    kinds = {
        "rgb-noise": ("positive", "negative"),
        "rgb-rejection": ("negative",),
        "rgb-counterfactual": ("positive", "positive_wrong"),
    }
    for name, parts in kinds.items():
        corpus = [
            {"id": f"{row['id']}-{part}-{at}", "title": "", "text": text}
            for row in asked
            for part in parts
            for at, text in enumerate(row[part])
        ]
        references = []
        for row in asked:
            answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
            flat = [one for each in answers for one in (each if isinstance(each, list) else [each])]
            held = [
                text[start:end]
                for text in (row["positive"] if "positive" in parts else ())
                for start, end in sentences(text)
                if any(one.casefold() in text[start:end].casefold() for one in flat)
            ]
            # Each snippet says the same: one is enough, and more of them are right as well.
            ways = [[each] for each in held] + ([held] if len(held) > 1 else [])
            references.append(reference(str(row["id"]), [(flat[0], each) for each in ways]))
        judged = zip(asked, references, strict=True)
        write(
            target / name,
            corpus=corpus,
            queries=[
                query(str(row["id"]), row["query"], answerable=each["answerable"])
                for row, each in judged
            ],
            references=references,
        )


def main(data: Path, target: Path) -> None:
    """Make every set."""
    scifact(data / "scifact", target)
    xquad(data / "xquad", target)
    rgb(data / "rgb-fact", target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

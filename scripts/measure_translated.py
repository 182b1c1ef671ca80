"""Measures how claims are checked against a source in another language.

    python scripts/make_claims.py DATA CLAIMS
    python scripts/measure_translated.py DATA CLAIMS   # xquad

The true and false claims of `make_claims.py` about a paragraph are checked against the same
paragraph in another language, with the four paragraphs around it. Months, weekdays and words of
opposite meaning are exchanged as well. A claim "stands out" where the nearest sentence is named by
its cosine, no number, name or negation being against it.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quoth.answering.verification import cache_embeddings, read_sources, verify
from quoth.bootstrap import open_embedder
from quoth.core.protocols import Matrix
from quoth.core.settings import Settings
from quoth.evaluation.claims import SourceClaim, load_claims
from quoth.evaluation.verify_cases import as_block

PAIRS = (("en", "de"), ("en", "es"), ("en", "ru"), ("de", "en"), ("es", "en"))
"""The languages of claims and of their sources."""
AROUND = 2
EXCHANGED = {
    "en": "January July, March October, Monday Thursday, Sunday Tuesday, allowed forbidden, "
    "opened closed",
    "de": "Januar Juli, März Oktober, Montag Donnerstag, Sonntag Dienstag, erlaubt verboten, "
    "mehr weniger, größte kleinste, älteste jüngste, vor nach, Norden Süden, Osten Westen, "
    "erste letzte, gewann verlor, höher niedriger",
    "es": "enero julio, marzo octubre, lunes jueves, domingo martes, permitido prohibido, "
    "más menos, mayor menor, antes después, norte sur, este oeste, primera última, ganó perdió, "
    "alto bajo",
}


@dataclass(frozen=True)
class Row:
    """A claim, whether it is true, and what the check says of it."""

    pair: str
    change: str
    true: bool
    support: str
    named: bool


def main() -> None:
    """Print the shares of true and false claims that are shown, per pair and per change."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--per-pair", type=int, default=500)
    given = parser.parse_args()
    rows = asyncio.run(measure(given.data / "xquad", given.claims, limit=given.per_pair))
    table(rows)


async def measure(data: Path, claims: Path, *, limit: int) -> list[Row]:
    """Check the claims of every pair."""
    embedder = open_embedder(Settings())

    async def embed(texts: Sequence[str]) -> Matrix:
        return await embedder.embed(texts, role="document")

    remembered = cache_embeddings(embed)
    rows = []
    for ours, theirs in PAIRS:
        paragraphs = list(read_paragraphs(data / theirs))
        for claim in chosen(claims / f"xquad-{ours}", language=ours, limit=limit):
            at = paragraphs_of(claim, paragraphs)
            blocks = [as_block([paragraphs[near][1]], language=theirs) for near in at]
            sources = read_sources(
                [
                    replace(block, passage=replace(block.passage, number=number))
                    for number, block in enumerate(blocks, start=1)
                ]
            )
            found = await verify(claim.claim, sources, cited=[1], language=ours, embed=remembered)
            rows.append(
                Row(
                    f"{ours} in {theirs}",
                    claim.change,
                    claim.supported,
                    found.support,
                    bool(found.proofs),
                )
            )
    return rows


def read_paragraphs(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the id and the text of each paragraph."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            yield row["id"], row["text"]


def paragraphs_of(claim: SourceClaim, paragraphs: Sequence[tuple[str, str]]) -> list[int]:
    """Return the places of a claim's paragraph and of those around it; the first is its own."""
    name = claim.id.split("-")[2]
    at = next(at for at, (each, _) in enumerate(paragraphs) if each == name)
    near = range(max(0, at - AROUND), min(len(paragraphs), at + AROUND + 1))
    return [at, *(each for each in near if each != at)]


def chosen(folder: Path, *, language: str, limit: int) -> list[SourceClaim]:
    """Choose claims in the language, with what is exchanged in true ones added."""
    own = [
        each
        for each in load_claims(folder)
        if each.language == language and each.change != "other passage"
    ]
    own += [made for each in own if each.change == "verbatim" for made in exchanged(each, language)]
    random.Random(7).shuffle(own)
    return own[:limit]


def exchanged(claim: SourceClaim, language: str) -> Iterator[SourceClaim]:
    """Exchange a month, a weekday or a word of opposite meaning, either way."""
    for pair in EXCHANGED[language].split(", "):
        one, two = pair.split()
        for word, other in ((one, two), (two, one)):
            text, n = re.subn(rf"\b{word}\b", other, claim.claim, count=1)
            if n:
                yield replace(claim, claim=text, supported=False, change="opposite, month, weekday")


def table(rows: Sequence[Row]) -> None:
    """Print the shares per pair, then per change."""
    for key in ("pair", "change"):
        groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
        for row in rows:
            groups[getattr(row, key), row.true].append(row)
        for (name, true), found in sorted(groups.items()):
            print(f"{name:26} {true!s:5} {len(found):4} {shares(found)}")
    for true in (True, False):
        print(f"{'all':26} {true!s:5} {shares([row for row in rows if row.true is true])}")


def shares(rows: Sequence[Row]) -> str:
    """Return the shares that are supported, and that stand out."""
    n = len(rows) or 1
    supported = sum(row.support == "supported" for row in rows) / n
    out = sum(row.named for row in rows) / n
    return f"supported {supported:.3f} stands out {out:.3f}"


if __name__ == "__main__":
    main()

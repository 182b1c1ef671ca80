"""Trains the head of `quoth.answering.verification` on the claims of `make_claims.py`.

    python scripts/train_support.py CLAIMS            # CLAIMS/<set>/claims.jsonl: left-out table
    python scripts/train_support.py CLAIMS --write    # writes data/support.npz and its checksum

Every set is left out in turn: the trees and the threshold come from the others. Needs
scikit-learn, which the package does not.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from quoth.answering.verification import evidence
from quoth.answering.verification.claim import read_claim
from quoth.answering.verification.evidence import (
    FAULT_FACTOR,
    choose_evidence,
    has_fault,
    is_covered,
)
from quoth.answering.verification.features import support_features
from quoth.answering.verification.source_index import read_line
from quoth.answering.verification.verify import find_quotation
from quoth.evaluation.claims import claim_sources, load_claims

FOLDER = Path(evidence.__file__).parent
SETS = (
    *("squad2", "xquad-en", "fquad", "doc2dial", "hotpotqa-100", "scifact", "qmsum"),
    "debian-faq-fr",
)
SAME_TEXTS = {"squad2": "wikipedia", "xquad-en": "wikipedia"}
"""Sets of the same paragraphs are left out together."""
MAX_FALSE = 0.025
"""The share of false claims on other sets that the threshold lets pass."""

FALLING = frozenset(
    """
    lost_name lost_first_word lost_displaced_name lost_number lost_date lost_unit lost_displaced
    lost_elsewhere lost_thing negations_more negations_new negations_less negated_before
    condition_before quantifiers_new quantifiers_moved quantifiers_lost opposite cause_turned
    """.split()
)
"""Features that never raise the probability of support."""


@dataclass(frozen=True)
class Row:
    """A claim with its features; a quotation needs none."""

    group: str
    change: str
    true: bool
    quoted: bool
    features: dict[str, float]


def main() -> None:
    """Print the table of sets left out; fit on all of them and write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("claims", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = [row for name in SETS for row in read_rows(given.claims / name, name)]
    names = sorted({name for row in rows for name in row.features})
    scores = left_out(rows, names)
    table(rows, scores)
    if given.write:
        false = [score for row, score in zip(rows, scores, strict=True) if not row.true]
        threshold = float(np.quantile(false, 1 - MAX_FALSE))
        chosen = [row for row in rows if row.features and not row.quoted]
        write(fit(chosen, names), names, threshold=threshold)


def read_rows(folder: Path, name: str) -> Iterator[Row]:
    """Compute the features of the claims of a set."""
    for claim in load_claims(folder):
        sources = claim_sources(claim.source, claim.language)
        lines = sources.by_number[1].lines
        features: dict[str, float] = {}
        if lines:
            read = read_claim(claim.claim, language=lines[0].language, sources=sources)
            if chosen := choose_evidence(read, lines):
                found = [read_line(line) for line in chosen]
                features, _ = support_features(read, found, sources=sources)
        quoted = find_quotation(claim.claim, list(sources.by_number.values())) is not None
        group = SAME_TEXTS.get(name, name)
        yield Row(group, claim.change, claim.supported, quoted, features)


def fit(rows: Sequence[Row], names: Sequence[str]) -> HistGradientBoostingClassifier:
    """Fit trees in which nothing that the evidence lacks raises the probability."""
    model = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.06,
        max_leaf_nodes=16,
        min_samples_leaf=25,
        l2_regularization=1.0,
        monotonic_cst=[-(name in FALLING) for name in names],
        random_state=0,
    )
    return model.fit(matrix(rows, names), [row.true for row in rows])


def matrix(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Return the features as a matrix."""
    return np.array([[row.features[name] for name in names] for row in rows])


def left_out(rows: Sequence[Row], names: Sequence[str]) -> list[float]:
    """Score every claim by trees that were fitted without its set."""
    scores = [float(row.quoted) for row in rows]
    for group in sorted({row.group for row in rows}):
        usable = [at for at, row in enumerate(rows) if row.features and not row.quoted]
        model = fit([rows[at] for at in usable if rows[at].group != group], names)
        own = [at for at in usable if rows[at].group == group]
        found = model.predict_proba(matrix([rows[at] for at in own], names))[:, 1]
        for at, score in zip(own, found, strict=True):
            ruled_out = has_fault(rows[at].features) or not is_covered(rows[at].features)
            scores[at] = float(score) * (FAULT_FACTOR if ruled_out else 1)
    return scores


def table(rows: Sequence[Row], scores: Sequence[float]) -> None:
    """Print the share supported per set left out and per change; thresholds from the others."""
    changes: dict[tuple[bool, str], list[float]] = defaultdict(list)
    sums = []
    pairs = list(zip(rows, scores, strict=True))
    for group in sorted({row.group for row in rows}):
        others = [score for row, score in pairs if row.group != group and not row.true]
        threshold = np.quantile(others, 1 - MAX_FALSE)
        own = [(row, score >= threshold) for row, score in pairs if row.group == group]
        shares = [
            np.mean([shown for row, shown in own if not row.true]),
            np.mean([shown for row, shown in own if row.true]),
            np.mean([shown for row, shown in own if row.true and row.change != "verbatim"]),
        ]
        sums.append(shares)
        print(f"{group:14} false {shares[0]:.3f} true {shares[1]:.3f} reworded {shares[2]:.3f}")
        for kind in sorted({(row.true, row.change) for row, _ in own}):
            mine = [shown for row, shown in own if (row.true, row.change) == kind]
            changes[kind].append(float(np.mean(mine)))
    print("mean          ", *(f"{each:.3f}" for each in np.mean(sums, axis=0)))
    for (true, change), found in sorted(changes.items()):
        print(f"{true!s:5} {change:26} {np.mean(found):.3f}  worst {max(found):.2f}")


def write(model: HistGradientBoostingClassifier, names: Sequence[str], *, threshold: float) -> None:
    """Write the trees as arrays, and their checksum into the module that reads them."""
    parts: dict[str, list[Any]] = defaultdict(list)
    roots, depth = [], 0
    for (tree,) in model._predictors:
        nodes = tree.nodes
        first = len(parts["feature"])
        roots.append(first)
        leaf = nodes["is_leaf"].astype(bool)
        own = first + np.arange(len(nodes))
        parts["feature"] += list(np.where(leaf, 0, nodes["feature_idx"]))
        parts["limit"] += list(np.where(leaf, 0.0, nodes["num_threshold"]))
        parts["left"] += list(np.where(leaf, own, first + nodes["left"]))
        parts["right"] += list(np.where(leaf, own, first + nodes["right"]))
        parts["value"] += list(np.where(leaf, nodes["value"], 0.0))
        depth = max(depth, int(nodes["depth"].max()))
    np.savez_compressed(
        FOLDER / evidence.FILE,
        names=np.array(names),
        roots=np.array(roots, np.int32),
        feature=np.array(parts["feature"], np.int32),
        limit=np.array(parts["limit"]),
        left=np.array(parts["left"], np.int32),
        right=np.array(parts["right"], np.int32),
        value=np.array(parts["value"]),
        bias=float(np.ravel(model._baseline_prediction)[0]),
        depth=depth,
        threshold=threshold,
    )
    checksum = hashlib.sha256((FOLDER / evidence.FILE).read_bytes()).hexdigest()
    code = Path(evidence.__file__)
    text = re.sub(r'CHECKSUM = "\w*"', f'CHECKSUM = "{checksum}"', code.read_text("utf-8"))
    code.write_text(text, "utf-8")
    print(f"threshold {threshold:.3f}, {len(roots)} trees, {checksum[:12]}")


if __name__ == "__main__":
    main()

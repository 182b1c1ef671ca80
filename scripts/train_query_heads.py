"""Trains the classifiers of `quoth.query.intent` from the rows in ``eval`` that may be looked at.

    python scripts/train_query_heads.py            # writes src/quoth/query/data/heads.npz
    python scripts/train_query_heads.py --folds 5  # measures by cross-validation, writes nothing

Held-out and sealed rows are not read. The default embedder must be built (`quoth models build`).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize

from quoth.bootstrap import open_embedder
from quoth.core.settings import Settings
from quoth.evaluation.jsonl import read_rows
from quoth.evaluation.questions import load_understanding
from quoth.query import understand as reading
from quoth.query.entity_index import EntityIndex, build_entity_index
from quoth.query.intent import (
    KINDS,
    VECTOR_WEIGHT,
    Array,
    embed_features,
    followup_cues,
    phrase_cues,
)
from quoth.query.tokens import normalized_query_words

ROOT = Path(__file__).parent.parent
EVAL = ROOT / "eval"
TARGET = ROOT / "src/quoth/query/data/heads.npz"
L2 = {"intent": 0.3, "followup": 0.3}
STEPS = 150


@dataclass(frozen=True)
class Row:
    """A training question: its features without the vector, and which classes are right."""

    text: str
    features: Array
    classes: tuple[int, ...]
    weight: float = 1.0


def intent_rows() -> list[Row]:
    """Return the typed questions, with titles and names hidden as they are when asked."""
    data = load_understanding(EVAL / "understanding", split="dev")
    names = build_entity_index(data.shelf, labels=data.labels)
    asked = [(row.text, row.kinds) for row in data.questions]
    rows = [_intent_row(text, kinds, names) for text, kinds in asked]
    phrases = read_rows(EVAL / "understanding/phrases.jsonl")
    rows += [_intent_row(row["text"], (row["kind"],), names, 1.5) for row, _ in phrases]
    return [row for row in rows if row.classes]


def _intent_row(text: str, kinds: Sequence[str], names: EntityIndex, weight: float = 1.0) -> Row:
    with patch.object(reading, "classify_intent", return_value="factual") as classify:
        reading.understand(text, names=names)
    call = classify.call_args
    words = normalized_query_words(call.args[0])
    classes = tuple(KINDS.index(kind) for kind in kinds if kind in KINDS)
    features = embed_features(words, phrase_cues(words, call.kwargs["language"]))
    return Row(text, features, classes, weight)


def followup_rows() -> list[Row]:
    """Return questions that depend on a conversation (class 1) and ones that do not (class 0)."""
    found: dict[str, tuple[bool, float]] = {}
    for row, _ in read_rows(EVAL / "answers/dev/queries.jsonl"):
        found[row["text"]] = (False, 1.0)
    for row, _ in read_rows(EVAL / "understanding/dev.jsonl"):
        found[row["text"]] = (bool(row.get("is_followup")), 3.0 if "history" in row else 1.0)
    for path in ("conversation/dev", "conversation/more", "answers/dev/followups"):
        for row, _ in read_rows(EVAL / f"{path}.jsonl"):
            found[row["turns"][0]["text"]] = (False, 1.0)
            found[row["rewrite"]] = (False, 1.0)
            found[row["question"]] = (row["rewrite"] != row["question"], 3.0)
    for row, _ in read_rows(EVAL / "conversation/phrases.jsonl"):
        found[row["text"]] = (row["is_followup"], 2.0)
    rows = []
    for text, (is_followup, weight) in found.items():
        words = normalized_query_words(text)
        features = embed_features(words, followup_cues(words))
        rows.append(Row(text, features, (int(is_followup),), weight))
    return rows


def fit(features: Array, rows: Sequence[Row], *, classes: int, l2: float) -> Array:
    """Return the weights of a multinomial logistic regression; any right class counts."""
    right = np.zeros((len(rows), classes))
    for at, row in enumerate(rows):
        right[at, list(row.classes)] = 1
    weights = np.array([row.weight for row in rows])
    data = features.astype(np.float64)

    def loss(flat: Array) -> tuple[float, Array]:
        coefficients = flat.reshape(-1, classes)
        logits = data @ coefficients
        logits -= logits.max(1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(1, keepdims=True)
        hit = (chances * right).sum(1)
        wanted = chances * right / hit[:, None]
        shrink = l2 * coefficients
        shrink[-1] = 0
        gradient = data.T @ ((chances - wanted) * weights[:, None]) + shrink
        value = -(weights * np.log(hit)).sum() + (shrink * coefficients).sum() / 2
        return value, gradient.ravel()

    start = np.zeros(data.shape[1] * classes)
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x.reshape(
        -1, classes
    )


def measure(head: str, key: str, features: Array, rows: Sequence[Row], *, folds: int) -> None:
    """Print the accuracy by cross-validation."""
    classes = len(KINDS) if head == "intent" else 2
    fold_of = np.array([int(hashlib.sha256(r.text.encode()).hexdigest(), 16) % folds for r in rows])
    right = np.zeros(len(rows), bool)
    for fold in range(folds):
        training = [row for row, other in zip(rows, fold_of, strict=True) if other != fold]
        weights = fit(features[fold_of != fold], training, classes=classes, l2=L2[head])
        for at in np.flatnonzero(fold_of == fold):
            right[at] = int((features[at] @ weights).argmax()) in rows[at].classes
    print(f"{key}: {right.mean():.3f} of {len(rows)}")


def main() -> None:
    """Train both heads, each with and without the question's vector."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=0)
    folds = parser.parse_args().folds
    sets = {"intent": (intent_rows(), len(KINDS)), "followup": (followup_rows(), 2)}
    texts = sorted({row.text for rows, _ in sets.values() for row in rows})
    vectors = dict(zip(texts, embed(texts), strict=True))
    mean = np.mean([vectors[row.text] for row in sets["intent"][0]], axis=0)
    stored = {"mean": mean}
    for name, (rows, classes) in sets.items():
        words = np.array([row.features for row in rows])
        scaled = np.array([(vectors[row.text] - mean) * VECTOR_WEIGHT for row in rows])
        for key, features in ((name, np.hstack([scaled, words])), (f"{name}_words", words)):
            if folds:
                measure(name, key, features, rows, folds=folds)
                continue
            weights = fit(features, rows, classes=classes, l2=L2[name])
            stored[key] = weights if classes > 2 else weights[:, 1:] - weights[:, :1]
    if not folds:
        write(stored)
        print(TARGET.stat().st_size, hashlib.sha256(TARGET.read_bytes()).hexdigest())


def write(stored: Mapping[str, Array]) -> None:
    """Write the arrays as 16-bit floats, with the same bytes every time."""
    with zipfile.ZipFile(TARGET, "w") as archive:
        for name, value in stored.items():
            buffer = io.BytesIO()
            np.save(buffer, value.astype(np.float16))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue())


def embed(texts: Sequence[str]) -> Array:
    """Return the default embedder's query vectors."""
    embedder = open_embedder(Settings())
    try:
        return asyncio.run(embedder.embed(texts, role="query"))
    finally:
        embedder.close()


if __name__ == "__main__":
    main()

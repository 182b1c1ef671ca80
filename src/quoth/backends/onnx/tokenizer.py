"""Tokenizers of models, read from ``tokenizer.json``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from quoth.core.errors import BackendError, ConfigError

SURROGATES = re.compile("[\ud800-\udfff]")


def open_tokenizer(path: Path) -> Tokenizer:
    """Open a tokenizer without limits of its own; raises ConfigError."""
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The tokenizer {path} cannot be read ({error}). Save the model's fast tokenizer "
            "there, or name another folder."
        ) from error
    # The file may contain the limits of a training run; the caller's limit applies.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encode_texts(
    tokenizer: Tokenizer, texts: Sequence[str], *, error: Callable[[str], BackendError]
) -> list[Encoding]:
    """Encode texts without special tokens; ``error`` makes what is raised."""
    try:
        return tokenizer.encode_batch_fast(replace_surrogates(texts), add_special_tokens=False)
    except Exception as problem:
        # The library raises plain `Exception`; subclasses come from elsewhere.
        if type(problem) is not Exception:
            raise
        raise error(f"The tokenizer failed on a text: {problem}") from problem


def replace_surrogates(texts: Sequence[str]) -> list[str]:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return [SURROGATES.sub("\ufffd", text) for text in texts]

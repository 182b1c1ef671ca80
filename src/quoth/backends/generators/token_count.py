"""Counts tokens as a language model does, with its own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from quoth.backends.generators.access import CountTokens
from quoth.core.errors import ConfigError


def open_counter(file: Path) -> CountTokens:
    """Open a ``tokenizer.json``; raises ConfigError for a file that is none."""
    try:
        tokenizer = Tokenizer.from_buffer(file.read_bytes())
    except (OSError, ValueError):
        raise ConfigError(
            f"The setting 'llm_tokenizer' names {file}, which is not there or is no "
            "tokenizer.json. Leave it out to over-estimate tokens."
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(texts: Sequence[str]) -> list[int]:
        plain = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        found = tokenizer.encode_batch(plain, add_special_tokens=False)
        return [len(each.ids) for each in found]

    return count

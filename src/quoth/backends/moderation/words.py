"""Moderation by the operator's own list of words and phrases, on this machine."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from quoth.core.errors import ConfigError

WORD = re.compile(r"\w+")


class WordModerator:
    """A `Moderator` that flags the words and phrases of a file, one on each line.

    They are compared as whole words, in any case; a line that begins with # is a comment. Raises
    ConfigError for a file that cannot be read or has no words.
    """

    name = "rules"

    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"The list of words {path} cannot be read: {error}.") from None
        phrases = (tuple(_words(line)) for line in lines if not line.startswith("#"))
        self._phrases = frozenset(phrase for phrase in phrases if phrase)
        self._lengths = sorted({len(phrase) for phrase in self._phrases})
        if not self._phrases:
            raise ConfigError(f"The list of words {path} is empty. Write a word on each line.")

    async def check(self, text: str) -> str:
        """Return the first listed phrase of a text, empty where there is none."""
        words = _words(text)
        for length in self._lengths:
            for at in range(len(words) - length + 1):
                if tuple(words[at : at + length]) in self._phrases:
                    return " ".join(words[at : at + length])
        return ""

    async def close(self) -> None:
        """Do nothing; there is nothing to close."""


def _words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", text).casefold())

"""Estimate token counts where no tokenizer is available."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

_PROSE = f"{ascii_letters} ".encode()


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Over-estimate the tokens of each text.

    One token per three unaccented letters or blanks, and one per other character:
    tokenizers need 3.5 to 4.5 characters of English or French prose for a token, and one or
    two of digits, signs, Chinese or Japanese.
    """
    counts = []
    for text in texts:
        # Letters and blanks are single bytes, distinct from all bytes of other characters.
        whole = text.encode("utf-8", "surrogatepass")
        prose = len(whole) - len(whole.translate(None, _PROSE))
        counts.append(len(text) - prose + -(-prose // 3))
    return counts

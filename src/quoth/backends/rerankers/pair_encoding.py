"""Encode query and passages as token rows for a reranking model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from quoth.backends.onnx.session import TokenRow, encode_texts, open_tokenizer
from quoth.core.errors import ConfigError, RerankError

QUESTION_SHARE = 0.5
"""A question is cut only when it would take more than this share of the room."""
# The prompt that Qwen3-Reranker was trained with, from its model card.
HEAD = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n"
)
TASK = "Given a web search query, retrieve relevant passages that answer the query"
TAIL = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
YES, NO = "yes", "no"


class RowEncoder(Protocol):
    """Encodes one query with several passages."""

    size: int

    def of(self, question: str, passages: Sequence[str]) -> list[TokenRow]:
        """Return a row per passage; raises RerankError."""
        ...


class PairRows:
    """Encodes query and passage with the model's special tokens.

    Only the passage is truncated; raises ConfigError for an invalid tokenizer file.
    """

    def __init__(self, path: Path, *, limit: int) -> None:
        self._tokenizer = open_tokenizer(path)
        # A text that spells a special token stays a text.
        self._tokenizer.encode_special_tokens = True
        self.size = self._tokenizer.get_vocab_size(with_added_tokens=True)
        self._room = limit - self._tokenizer.num_special_tokens_to_add(is_pair=True)

    def of(self, question: str, passages: Sequence[str]) -> list[TokenRow]:
        """Return a row per passage; raises RerankError."""
        asked, *texts = encode_texts(self._tokenizer, [question, *passages], error=RerankError)
        asked.truncate(max(1, int(self._room * QUESTION_SHARE)))
        rows = []
        for text in texts:
            text.truncate(max(0, self._room - len(asked.ids)))
            pair = self._tokenizer.post_process(asked, text)
            rows.append(TokenRow(pair.ids, pair.type_ids))
        return rows


class PromptRows:
    """Encodes the prompt of Qwen3-Reranker, whose next token is yes or no.

    https://arxiv.org/abs/2506.05176. Only the document is truncated. Raises ConfigError where
    the tokenizer lacks one of the two words.
    """

    def __init__(self, path: Path, *, limit: int) -> None:
        self._tokenizer = open_tokenizer(path)
        self.size = self._tokenizer.get_vocab_size(with_added_tokens=True)
        yes, no = (self._tokenizer.token_to_id(word) for word in (YES, NO))
        if yes is None or no is None:
            raise ConfigError(
                f"The tokenizer {path} has no single tokens for '{YES}' and '{NO}', which "
                "Qwen3-Reranker answers with. Save the tokenizer of that model there."
            )
        self.yes: int = yes
        self.no: int = no
        self._tokenizer.encode_special_tokens = False
        self._head, self._tail = (
            encoding.ids
            for encoding in encode_texts(self._tokenizer, [HEAD, TAIL], error=RerankError)
        )
        # From here on a text that spells a special token stays a text.
        self._tokenizer.encode_special_tokens = True
        self._room = limit - len(self._head) - len(self._tail)

    def of(self, question: str, passages: Sequence[str]) -> list[TokenRow]:
        """Return a row per passage; raises RerankError."""
        start = f"<Instruct>: {TASK}\n<Query>: {question}\n<Document>:"
        asked, *texts = encode_texts(
            self._tokenizer, [start, *(f" {text}" for text in passages)], error=RerankError
        )
        before = asked.ids[: max(1, int(self._room * QUESTION_SHARE))]
        rows = []
        for text in texts:
            passage = text.ids[: max(0, self._room - len(before))]
            ids = [*self._head, *before, *passage, *self._tail]
            rows.append(TokenRow(ids, [0] * len(ids)))
        return rows

"""The tokens of ColBERT: marks of queries and documents, masks and skipped words."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from quoth.backends.onnx.model_folder import ModelFolder, read_json
from quoth.backends.onnx.session import TokenRow, encode_texts, open_tokenizer
from quoth.core.errors import ConfigError, RerankError

QUESTION_TOKENS = 32
MARKERS = (("[unused0]", "[unused1]"), ("[Q]", "[D]"))
MASKS = ("[MASK]", "<mask>")


class SpecialTokens:
    """Sets the marks of questions and documents; raises ConfigError where they are missing."""

    def __init__(self, folder: ModelFolder) -> None:
        self._tokenizer = open_tokenizer(folder.tokenizer)
        self._tokenizer.encode_special_tokens = True
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        told = marker_settings(folder.path)
        self._ids = self._marker_ids(folder, told)
        self._mask = _first_id(self._tokenizer, MASKS)
        if self._mask is None:
            raise ConfigError(
                f"The tokenizer {folder.tokenizer} has no mask token, with which ColBERT fills "
                "questions up. Save the tokenizer of the same model there."
            )
        self._attends = bool(
            told.get("attend_to_mask_tokens") or told.get("attend_to_expansion_tokens")
        )
        self._question = int(
            told.get("query_length") or told.get("query_maxlen") or QUESTION_TOKENS
        )
        document = told.get("document_length") or told.get("doc_maxlen") or folder.max_tokens
        self._document = min(int(document), folder.max_tokens)
        skipped = told.get("skiplist_words", list(string.punctuation))
        ids = [self._tokenizer.token_to_id(word) for word in skipped]
        self._skipped = frozenset(id_ for id_ in ids if id_ is not None)

    def question(self, text: str) -> TokenRow:
        """Mark a query and pad it with masks, to a multiple of the query length."""
        ids = self._marked(text, self._ids[0], limit=self._document)
        length = min(self._document, -(-len(ids) // self._question) * self._question)
        filled = ids + [self._mask or 0] * (length - len(ids))
        return token_row(filled, length if self._attends else len(ids), list(range(length)))

    def document(self, text: str) -> TokenRow:
        """Mark a document; punctuation is encoded, but its vectors are dropped."""
        ids = self._marked(text, self._ids[1], limit=self._document)
        kept = [at for at, id_ in enumerate(ids) if id_ not in self._skipped]
        return token_row(ids, len(ids), kept)

    def _marked(self, text: str, marker: int, *, limit: int) -> list[int]:
        (encoding,) = encode_texts(self._tokenizer, [text], error=RerankError)
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        encoding.truncate(max(0, limit - special - 1))
        first, *rest = self._tokenizer.post_process(encoding).ids
        return [first, marker, *rest]

    def _marker_ids(self, folder: ModelFolder, told: dict[str, Any]) -> tuple[int, int]:
        named = [
            (told.get("query_prefix"), told.get("document_prefix")),
            (told.get("query_token_id"), told.get("doc_token_id")),
            (told.get("query_token"), told.get("doc_token")),
            *MARKERS,
        ]
        for pair in named:
            ids = [self._tokenizer.token_to_id(str(each or "").strip()) for each in pair]
            if ids[0] is not None and ids[1] is not None:
                return ids[0], ids[1]
        raise ConfigError(
            f"The tokenizer {folder.tokenizer} has no tokens that mark questions and documents "
            f"({' or '.join('/'.join(pair) for pair in MARKERS)}). Save the model's "
            "artifact.metadata or config_sentence_transformers.json and its own tokenizer there."
        )


def token_row(ids: list[int], attended: int, kept: list[int]) -> TokenRow:
    """Return the row of a text, with the positions ``kept`` of the vectors to return."""
    return TokenRow(ids, [0] * len(ids), attended, kept)


def marker_settings(folder: Path) -> dict[str, Any]:
    """Return the marker tokens and lengths of the folder, in either library's format."""
    return {
        **read_json(folder / "artifact.metadata"),
        **read_json(folder / "config_sentence_transformers.json"),
    }


def _first_id(tokenizer: Tokenizer, names: Sequence[str]) -> int | None:
    ids = (tokenizer.token_to_id(name) for name in names)
    return next((id_ for id_ in ids if id_ is not None), None)

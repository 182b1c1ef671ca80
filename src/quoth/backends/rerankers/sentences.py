"""Scores the sentences of passages with the model that reads them together with the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

from quoth.backends.embedders.onnx_model import OnnxTokenizer, open_tokens
from quoth.backends.onnx.session import (
    BackgroundModel,
    Numbers,
    TokenRow,
    compute,
    open_runtime,
    replace_surrogates,
)
from quoth.core.errors import ConfigError, EmbeddingError, RerankError

MAX_TOKENS = 512
QUESTION, PASSAGE = "query: ", "passage:"


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """The open model with its tokenizer."""

    runtime: onnxruntime.InferenceSession
    tokens: OnnxTokenizer

    def rows(self, question: str, passages: Sequence[Sequence[str]]) -> list[TokenRow]:
        """Encode the question with each passage; ``marked`` are where sentences begin and end.

        The question takes at most half of the tokens; sentences that do not fit have none.
        """
        asked, opening, *sentences = self.tokens.encode(
            replace_surrogates(
                [QUESTION + question, PASSAGE, *(each for one in passages for each in one)]
            ),
            limit=MAX_TOKENS,
        )
        asked = [*asked[:-1][: MAX_TOKENS // 2 - 1], asked[-1]]
        coming = iter(sentences)
        found = []
        for passage in passages:
            ids, marked = [*asked, *opening[1:-1]], []
            for _ in passage:
                marked.append(len(ids))
                ids += next(coming)[1:-1]
            last = MAX_TOKENS - 1
            marked = [min(at, last) for at in (*marked, len(ids))]
            ids = [*ids[:last], asked[-1]]
            types = [0] * len(asked) + [1] * (len(ids) - len(asked))
            found.append(TokenRow(ids, types, marked=marked))
        return found

    def scores(self, batch: Sequence[TokenRow]) -> list[Numbers]:
        """Score the sentences of each row; raises RerankError."""
        return [self._scored(row) for row in batch]

    def _scored(self, row: TokenRow) -> Numbers:
        (found,) = compute(self.runtime, [row], outputs=["scores"], error=_failed)
        answering, nothing = found[0].T.astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(answering)])[list(row.marked)]
        lengths = np.diff(row.marked)
        means = np.diff(sums) / np.maximum(lengths, 1)
        return np.where(lengths > 0, means - nothing[0], np.nan)


class OnnxSentenceScorer:
    """A `SentenceScorer` with the model that is built beside the default embedder.

    The first call opens it: what only adds documents needs no such model. Each passage is read by
    itself, since the rounding of a batch would make its scores depend on the others.
    """

    def __init__(self, path: Path, *, threads: int) -> None:
        self._path = path
        self._threads = threads
        self._model: BackgroundModel[SentenceModel, TokenRow, Numbers] | None = None

    async def score(
        self, question: str, passages: Sequence[Sequence[str]]
    ) -> list[Sequence[float]]:
        """Return a score for each sentence of each passage; raises RerankError."""
        if not passages:
            return []
        try:
            found = await self._opened().run(lambda model: model.rows(question, passages))
        except (ConfigError, EmbeddingError) as error:
            raise RerankError(f"The sentence scorer cannot be used: {error}") from error
        return [each.tolist() for each in found]

    def _opened(self) -> BackgroundModel[SentenceModel, TokenRow, Numbers]:
        if self._model is None:
            path = self._path
            self._model = BackgroundModel(
                lambda: SentenceModel(open_runtime(path), open_tokens(path.parent)),
                SentenceModel.scores,
                max_batch=1,
                threads=self._threads,
                name="sentences",
            )
        return self._model

    def close(self) -> None:
        """Release threads and memory; running work is finished first."""
        if self._model is not None:
            self._model.close()


def _failed(reason: str) -> RerankError:
    return RerankError(f"The sentence scorer failed on a passage: {reason}")

"""Everything that quoth raises on purpose.

    QuothError
    ├─ InputError      the request cannot be served as it stands
    │  ├─ Moderated        the question was flagged by moderation
    │  └─ TooLarge         what was sent is over a limit
    ├─ NotFound        the thing that was named is not there
    ├─ Gone            it was there, and is so no more
    ├─ Conflict        it contradicts what was asked before
    ├─ Denied          who asks may not do this
    ├─ ConfigError     the set-up is wrong; nothing is started
    │  ├─ StoreDown        the catalogue cannot be opened, or is damaged
    │  ├─ MissingExtra     an optional package is not installed
    │  ├─ IndexMismatch    the index was built by another model or analyser
    │  └─ IndexCorrupt     the index is not as it was written
    ├─ NoTranscriber   there is no speech to text here
    ├─ DocumentError   one document cannot be read; the others go on
    └─ BackendError    a part failed while it ran; the stage's fallback may take over
       ├─ Busy            what is needed is in other hands; try later
       ├─ EmbeddingError
       ├─ RetrievalError
       │  └─ OutOfTime        the request allowed too little time to search
       ├─ StorageFull
       ├─ RerankError
       ├─ GenerationError
       ├─ ModerationError
       └─ JudgeError

Messages are sentences for people: they name the thing and the way out.
"""

from __future__ import annotations

from typing import Literal

DocumentCode = Literal[
    "damaged",
    "empty",
    "encrypted",
    "missing_extra",
    "needs_ocr",
    "not_found",
    "parser_memory",
    "parser_timeout",
    "too_large",
    "unreadable",
    "unsupported",
]
GenerationCode = Literal[
    "generation_failed",
    "llm_denied",
    "llm_empty",
    "llm_garbled",
    "llm_refused",
    "llm_limited",
    "llm_timeout",
    "llm_too_long",
    "llm_unavailable",
    "llm_unknown_model",
]
"""Kinds of language model failure: missing or invalid key, empty output, invalid output, refusal,
rate limit, timeout, too much output, unreachable, unknown model."""


class QuothError(Exception):
    """The root of the tree; `code` is for programs, `status` is the HTTP status."""

    code: str = "error"
    status: int = 500


class InputError(QuothError):
    """The request cannot be served in this form."""

    code = "invalid_input"
    status = 422


class NotFound(QuothError):
    """The thing that was named is not there."""

    code = "not_found"
    status = 404


class Gone(QuothError):
    """Something of the caller's expired, was removed or has changed."""

    code = "gone"
    status = 410


class Conflict(QuothError):
    """The request contradicts an earlier one or the present state, which stays as it is."""

    code = "conflict"
    status = 409


class Denied(QuothError):
    """The caller may not do this; `status` 401 means a missing or invalid key."""

    code = "denied"
    status = 403

    def __init__(self, message: str, *, status: Literal[401, 403] = 403) -> None:
        super().__init__(message)
        self.status = status


class Moderated(InputError):
    """The question was flagged by moderation."""

    code = "moderated"


class TooLarge(InputError):
    """The request exceeds a limit, which the message names."""

    code = "too_large"
    status = 413


class ConfigError(QuothError):
    """The configuration is wrong, so nothing is started."""

    code = "configuration"
    status = 500


class StoreDown(ConfigError):
    """The catalogue cannot be opened or is damaged; no queries are answered."""

    code = "store_down"
    status = 503

    def __init__(self, message: str, *, damaged: bool = False) -> None:
        super().__init__(message)
        self.damaged = damaged


class MissingExtra(ConfigError):
    """An optional package is not installed."""

    code = "missing_extra"


class IndexMismatch(ConfigError):
    """The index was built by another model, analyser or pipeline."""

    code = "index_mismatch"
    status = 409


class IndexCorrupt(ConfigError):
    """The index is damaged; no queries are answered until it is rebuilt."""

    code = "index_corrupt"
    status = 503


class DocumentError(QuothError):
    """One document cannot be read; the others go on."""

    status = 422

    def __init__(self, code: DocumentCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class BackendError(QuothError):
    """A component failed at run time; `retryable` says whether a retry may help."""

    code = "backend"
    status = 503

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class Busy(BackendError):
    """A resource is in use, or a rate limit was reached; try again later.

    ``status`` is 429 if this caller exceeded its limit; ``retry_after_s`` is the time until a
    retry, in seconds.
    """

    code = "busy"
    status = 503

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        status: Literal[429, 503] = 503,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.status = status
        self.retry_after_s = retry_after_s


class EmbeddingError(BackendError):
    """The embedder failed."""

    code = "embedding_failed"


class RetrievalError(BackendError):
    """A retriever or the catalogue failed."""

    code = "retrieval_failed"


class OutOfTime(RetrievalError):
    """The request allowed too little time to search; it can allow more."""

    code = "out_of_time"
    status = 422


class NoTranscriber(QuothError):
    """There is no speech to text here: the package or the weights are missing."""

    code = "no_speech_to_text"
    status = 501


class StorageFull(BackendError):
    """The disk is full; nothing partial is stored."""

    code = "storage_full"
    status = 507


class RerankError(BackendError):
    """The reranker failed."""

    code = "rerank_failed"


class GenerationError(BackendError):
    """The generator failed; `code` gives the kind of failure.

    ``retry_after_s`` is how long the provider asks to wait, in seconds.
    """

    code = "generation_failed"

    def __init__(
        self,
        message: str,
        *,
        code: GenerationCode = "generation_failed",
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.code = code
        self.retry_after_s = retry_after_s


class ModerationError(BackendError):
    """The moderation failed."""

    code = "moderation_failed"


class JudgeError(BackendError):
    """The entailment judge failed."""

    code = "judge_failed"

"""Errors form one tree, each with a code for programs and an HTTP status."""

from __future__ import annotations

from collections.abc import Iterator

from quoth.core import errors
from quoth.core.errors import (
    BackendError,
    ConfigError,
    DocumentError,
    GenerationError,
    InputError,
    QuothError,
)

TABLE = {
    "BackendError": (QuothError, "backend", 503),
    "Busy": (BackendError, "busy", 503),
    "Conflict": (QuothError, "conflict", 409),
    "ConfigError": (QuothError, "configuration", 500),
    "StoreDown": (ConfigError, "store_down", 503),
    "Denied": (QuothError, "denied", 403),
    "DocumentError": (QuothError, "error", 422),
    "EmbeddingError": (BackendError, "embedding_failed", 503),
    "GenerationError": (BackendError, "generation_failed", 503),
    "Gone": (QuothError, "gone", 410),
    "OutOfTime": (errors.RetrievalError, "out_of_time", 422),
    "IndexMismatch": (ConfigError, "index_mismatch", 409),
    "IndexCorrupt": (ConfigError, "index_corrupt", 503),
    "InputError": (QuothError, "invalid_input", 422),
    "Moderated": (InputError, "moderated", 422),
    "ModerationError": (BackendError, "moderation_failed", 503),
    "JudgeError": (BackendError, "judge_failed", 503),
    "MissingExtra": (ConfigError, "missing_extra", 500),
    "NotFound": (QuothError, "not_found", 404),
    "NoTranscriber": (QuothError, "no_speech_to_text", 501),
    "RerankError": (BackendError, "rerank_failed", 503),
    "RetrievalError": (BackendError, "retrieval_failed", 503),
    "StorageFull": (BackendError, "storage_full", 507),
    "TooLarge": (InputError, "too_large", 413),
}


def _all(root: type[QuothError]) -> Iterator[type[QuothError]]:
    for each in root.__subclasses__():
        if each.__module__ == errors.__name__:
            yield each
            yield from _all(each)


def test_the_table_below_is_the_whole_tree() -> None:
    assert {each.__name__ for each in _all(QuothError)} == set(TABLE)


def test_codes_are_told_apart() -> None:
    codes = [each.code for each in _all(QuothError)]
    assert len(set(codes)) == len(codes)


def test_every_error_has_its_place_code_and_status() -> None:
    for name, expected in TABLE.items():
        kind = getattr(errors, name)
        assert (kind.__base__, kind.code, kind.status) == expected
        assert name in (errors.__doc__ or "")


def test_an_error_carries_the_code_it_was_given() -> None:
    document = DocumentError("damaged", "The file cannot be read.")
    assert (document.code, str(document)) == ("damaged", "The file cannot be read.")
    model = GenerationError("No answer.", code="llm_timeout", retry_after_s=2.0)
    assert (model.code, model.retry_after_s, model.retryable) == ("llm_timeout", 2.0, False)
    assert BackendError("It failed.", retryable=True).retryable

"""Errors form one tree, each with a code for programs and an HTTP status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from quoth.core import errors
from quoth.core.errors import (
    BackendError,
    ConfigError,
    DocumentCode,
    DocumentError,
    GenerationCode,
    GenerationError,
    InputError,
    QuothError,
)

TABLE = {
    "BackendError": (QuothError, "backend", 503),
    "Busy": (BackendError, "busy", 503),
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
    "JudgeError": (BackendError, "judge_failed", 503),
    "MissingExtra": (ConfigError, "missing_extra", 500),
    "NotFound": (QuothError, "not_found", 404),
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


@pytest.mark.parametrize("name", TABLE)
def test_every_error_has_its_place_code_and_status(name: str) -> None:
    kind = getattr(errors, name)
    assert (kind.__base__, kind.code, kind.status) == TABLE[name]


def test_codes_are_told_apart() -> None:
    codes = [each.code for each in _all(QuothError)]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", TABLE)
def test_every_error_is_drawn_in_the_tree_on_top(name: str) -> None:
    assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("code", get_args(DocumentCode))
def test_a_document_error_carries_the_code_it_was_given(code: DocumentCode) -> None:
    error = DocumentError(code, "The file cannot be read.")
    assert (error.code, str(error)) == (code, "The file cannot be read.")


@pytest.mark.parametrize("retryable", [True, False])
def test_a_backend_error_says_whether_to_try_again(retryable: bool) -> None:
    assert BackendError("It failed.", retryable=retryable).retryable is retryable


@pytest.mark.parametrize("code", get_args(GenerationCode))
def test_a_generation_error_carries_the_code_it_was_given(code: GenerationCode) -> None:
    error = GenerationError("The model did not answer.", code=code, retry_after_s=2.0)
    assert (error.code, error.retry_after_s, error.retryable) == (code, 2.0, False)

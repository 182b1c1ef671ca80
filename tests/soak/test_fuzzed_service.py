"""The whole service under what schemathesis makes of its description, three times over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fuzzing import fuzz

pytestmark = pytest.mark.soak

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,response_headers_conformance,unsupported_method"
)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_that_is_sent_is_a_failure_of_the_service(tmp_path: Path, seed: int) -> None:
    report = fuzz(tmp_path, seed=seed, examples=300, phases="coverage,fuzzing", checks=CHECKS)
    assert not report, report

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.web_app import WebApp, open_web_app


# Ended with the last test of this folder: Playwright keeps an event loop running, beside which no
# asynchronous test can run.
@pytest.fixture(scope="package")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    with open_web_app(tmp_path_factory.mktemp("web")) as app:
        yield app

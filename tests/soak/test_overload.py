"""Goodput of the sample library with its real model at 1, 8, 64 and 500 clients, in one run."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.load import Orders, from_outside, quantile
from bench.service import cpu_seconds, service
from quoth.bootstrap import default_model, open_tenants
from quoth.core.settings import Settings
from quoth.core.types import Document

pytestmark = [pytest.mark.soak, pytest.mark.timed]

SAMPLES = Path("examples/hf-course").resolve()
ASKED = Path("tests/data/hf-course/answers.jsonl")
CLIENTS = {1: 60, 8: 240, 64: 400, 500: 1500}
"""Clients at once, and their questions in all: of the many, most are told to come again."""
SETTINGS = {
    "QUOTH_KEY_QUESTIONS_PER_MINUTE": "1000000",
    "QUOTH_KEY_QUESTIONS_BURST": "1000000",
    "QUOTH_KEY_QUESTIONS_AT_ONCE": "10000",
}


def bodies(count: int) -> Sequence[dict[str, Any]]:
    """So many questions, each computed anew."""
    texts = [json.loads(line)["text"] for line in ASKED.read_text("utf-8").splitlines()]
    return [{"query": texts[at % len(texts)], "cache": "none"} for at in range(count)]


@pytest.mark.timeout(3600)
async def test_five_hundred_clients_get_nearly_as_much_as_eight(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    if not default_model(settings)[1]:
        pytest.skip("the model is not built")
    async with open_tenants(settings) as tenants:
        async for step in tenants.engine("local").add([SAMPLES / "books", SAMPLES / "talks"]):
            assert not isinstance(step, Document) or step.status == "ready"
    found: dict[int, dict[str, Any]] = {}
    async with service(settings.home, "--workers", "0", settings=SETTINGS) as (port, pid):
        await from_outside(Orders(port, bodies(94), 8))  # everything that is kept is filled
        empty = await from_outside(Orders(port, bodies(2000), 8, path="/healthz"))
        for clients, count in CLIENTS.items():
            used = cpu_seconds(pid)
            orders = Orders(port, bodies(count), clients, probe=True, patient=True)
            report = await from_outside(orders)
            used = cpu_seconds(pid) - used
            told = Counter(each.status for each in report.told)
            right = [each.seconds for each in report.told if each.status == 200]
            found[clients] = {
                "told": dict(told),
                "goodput": round(told[200] / report.seconds, 1),
                "cpu_ms": round(1000 * used / told[200], 1),
                "a_cpu_second": round(told[200] / used, 1),
                "p95_s": round(quantile(right, 0.95), 2),
                "healthz_p99_s": round(quantile(report.probes, 0.99), 3),
            }
    route = round(len(empty.told) / empty.seconds)
    logging.getLogger("quoth").warning("empty route %s a second; %s", route, found)
    assert all(set(each["told"]) <= {200, 503} for each in found.values()), found
    # In processor seconds of the service, so that others on the machine count as little as can be.
    assert found[500]["a_cpu_second"] >= 0.9 * found[8]["a_cpu_second"], found

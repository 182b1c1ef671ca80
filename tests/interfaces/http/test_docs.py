"""Every request that the page about the API shows is served."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
from pathlib import Path

from tests.conftest import ROOT
from tests.support.service_client import served

PAGE = ROOT / "docs" / "service" / "api.md"
QUESTION = "What is transfer learning?"


def requests() -> list[list[str]]:
    text = PAGE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in code.splitlines() if line]


async def test_every_request_of_the_page_is_served(sample_home: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_home, tmp_path / "home")
    async with served(tmp_path / "home") as house, house.client(house.key("local")) as client:
        answer = (await client.post("/v1/query", json={"query": QUESTION})).json()
        cited = answer["citations"][0]
        known = {
            "$QUERY": answer["query_id"],
            "$DOCUMENT": cited["document_id"],
            "$CHUNK": cited["chunk_id"],
            "$QUOTH": "",
        }
        for words in requests():
            for name, value in known.items():
                words = [word.replace(name, value) for word in words]
            options = dict(itertools.pairwise(words))
            (path,) = [each for each in words if each.startswith("/v1/")]
            body = options.get("-d")
            found = await client.request(
                options.get("-X", "POST" if body else "GET"),
                path,
                content=body,
                headers={"content-type": "application/json"} if body else {},
            )
            assert found.status_code < 300, f"{path}: {found.text}"

"""`quoth mcp`: the tools for agents over standard input and output, for the official client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from quoth.core.errors import MissingExtra
from quoth.core.extras import is_installed, require_extra
from quoth.interfaces.mcp.results import OPENED, PASSAGE, sanitize_text

TOOLS = ["ask", "list_documents", "open_passage", "search"]
QUOTH = [sys.executable, "-m", "quoth"]


async def values(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error
    assert result.structured_content is not None
    found: dict[str, Any] = result.structured_content
    return found


def environment(home: Path) -> dict[str, str]:
    source = str(Path(__file__).parents[3] / "src")
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": source,
        "QUOTH_HOME": str(home),
        "QUOTH_EMBEDDER": "fake",
        "QUOTH_CHUNK_TOKENS": "32",
    }


async def test_quoth_mcp_serves_over_stdin_and_stdout(home: Path, tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=QUOTH[0], args=[*QUOTH[1:], "mcp"], env=environment(home)
    )
    with (tmp_path / "stderr").open("w", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            assert sorted(each.name for each in (await client.list_tools()).tools) == TOOLS
            found = await values(client, "ask", question="When does a colony swarm?")
            listed = await values(client, "list_documents")
            gone = await client.call_tool("search", {"question": "hi"})
    assert found["citations"][-1]["snippet"].startswith("A colony swarms")
    # A file of this machine has no address to hand on; its place and passage_id say where it is.
    assert found["citations"][-1]["link"] is None
    assert str(tmp_path) not in json.dumps([found, listed])
    assert gone.is_error
    assert (tmp_path / "stderr").read_text(encoding="utf-8") == ""


def test_without_its_packages_the_command_says_what_to_install(tmp_path: Path) -> None:
    hidden = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['quoth', 'mcp'];"
        "from quoth.interfaces.cli.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden],
        env=environment(tmp_path),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "pip install 'quoth[mcp]'" in done.stderr
    assert done.stdout == ""


def test_an_extra_is_looked_for_and_not_loaded() -> None:
    assert is_installed("json.decoder")
    assert not is_installed("no_such_package.inner")
    with pytest.raises(MissingExtra, match=r"pip install 'quoth\[some\]'"):
        require_extra("some", module="no_such_package", what="This")


def test_texts_are_bounded_and_hold_nothing_hidden() -> None:
    assert len(sanitize_text("a" * 10**5, PASSAGE)) <= PASSAGE < OPENED
    assert sanitize_text("safe\U000e0041\u202e\x1b[31m text", 100) == "safe text"

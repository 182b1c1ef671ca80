"""Calling the command line: in this process, which is quick, or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from quoth.interfaces.cli.app import app

COLUMNS = {"COLUMNS": "100", "TERM": "dumb"}


@dataclass(frozen=True, slots=True)
class Said:
    """What a call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one value on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The values on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def quoth(home: Path, *words: str, embedder: str | None = "fake", typed: str = "") -> Said:
    """Run a command in this process; ``typed`` is its standard input."""
    runner = CliRunner(env={**COLUMNS, "QUOTH_HOME": str(home), "QUOTH_EMBEDDER": embedder})
    result = runner.invoke(app, list(words), input=typed)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


def quoth_process(home: Path, *words: str | bytes, **variables: str) -> Said:
    """Run a command in a process of its own."""
    environment = {**os.environ, **COLUMNS, "QUOTH_HOME": str(home), "QUOTH_EMBEDDER": "fake"}
    done = subprocess.run(
        [sys.executable, "-m", "quoth", *words],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)

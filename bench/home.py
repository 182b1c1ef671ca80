"""Where the bench keeps its things: environments, data, indexes, results; never in the checkout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

VARIABLE = "QUOTH_BENCH_HOME"
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Home:
    """The folders of the bench under one root."""

    root: Path

    @property
    def peers(self) -> Path:
        """The virtual environment of the peers."""
        return self.root / "peers"

    @property
    def data(self) -> Path:
        """Corpora with their vectors and questions."""
        return self.root / "data"

    @property
    def indexes(self) -> Path:
        """What the systems built; each has its own folder per corpus."""
        return self.root / "indexes"

    @property
    def runs(self) -> Path:
        """Results, one file of JSON lines and one Markdown file per run."""
        return self.root / "runs"


def take_home(option: Path | None) -> Home:
    """Choose the root: the option, the environment variable, or the platform's cache folder.

    The variable is taken out of the environment, since quoth refuses variables that begin with
    its name and are not settings of its own.
    """
    variable = os.environ.pop(VARIABLE, None)
    root = option or (Path(variable) if variable else user_cache_path("quoth") / "bench")
    return Home(root.expanduser().resolve())

"""The sample collection: talks and books to try quoth with."""

from __future__ import annotations

from pathlib import Path

from quoth.ingest.sources.files import find_files

PACKAGED = Path(__file__).parents[1] / "sample"
"""Where a wheel has it; a checkout has it among the examples."""
CHECKOUT = Path(__file__).parents[3] / "examples" / "hf-course"


def sample_folder() -> Path | None:
    """Return the folder of the sample collection, None where it was not installed."""
    return next((folder for folder in (PACKAGED, CHECKOUT) if folder.is_dir()), None)


def sample_files() -> list[Path]:
    """Return the files of the sample collection, none where it was not installed."""
    folder = sample_folder()
    return [] if folder is None else find_files([folder])

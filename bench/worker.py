"""One phase of one system: `python -m bench.worker` is started by `runs` and writes one line."""

from __future__ import annotations

import argparse
import importlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import cast

# First of all: with numkong 7.8 (usearch) in the process, importing onnxruntime 1.31 crashes it.
import onnxruntime  # noqa: F401

from bench.phases import Effort, measure_build, measure_cold, measure_queries
from bench.results import Figures
from bench.system import System
from bench.systems import SYSTEMS

ADDED = 100_000
"""Chunks that are added in the last phase, at most a tenth of those that are there."""


def main() -> None:
    """Measure what the options say and write the figures to the file they name."""
    options = _options()
    system = cast(
        System, importlib.import_module(f"bench.systems.{SYSTEMS[options.system].module}")
    )
    figures = _measure(system, options)
    options.out.write_text(json.dumps(asdict(figures)), encoding="utf-8")
    # Some libraries leave threads behind that would hold up an ordinary exit.
    os._exit(0)


def _measure(system: System, options: argparse.Namespace) -> Figures:
    if options.phase == "build":
        return measure_build(
            system, data=options.data, folder=options.folder, chunks=options.chunks
        )
    if options.phase == "grow":
        from bench.growth import measure_growth

        return measure_growth(
            data=options.data,
            folder=options.folder,
            model=options.model,
            chunks=options.chunks,
            added=min(ADDED, options.chunks // 10),
        )
    if options.phase == "cold":
        return measure_cold(system, model=options.model, folder=options.folder, began=options.began)
    effort = Effort(alone_s=options.alone, together_s=options.together)
    return measure_queries(
        system,
        data=options.data,
        chunks=options.chunks,
        model=options.model,
        folder=options.folder,
        effort=effort,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", choices=SYSTEMS, required=True)
    parser.add_argument("--phase", choices=("build", "query", "cold", "grow"), required=True)
    parser.add_argument("--chunks", type=int)
    parser.add_argument("--began", type=float, required=True)
    parser.add_argument("--alone", type=float, required=True)
    parser.add_argument("--together", type=float, required=True)
    for name in ("data", "folder", "model", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""The sources that the recorded outputs of ``tests/data/hostile`` were written to."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.support.small_library import add, open_tour

HOSTILE = Path(__file__).parents[1] / "data" / "hostile"
SOURCES = json.loads((HOSTILE / "sources.json").read_text(encoding="utf-8"))
OUTPUTS = {file.stem: file.read_text(encoding="utf-8") for file in sorted(HOSTILE.glob("*.txt"))}
"""What models wrote, by name."""


def make_lighthouse(folder: Path, **more: str) -> Path:
    """Make a library of them and of ``more`` notes; return its home."""
    sources = folder / "sources"
    sources.mkdir()
    texts = {name: f"# {s['title']}\n\n{s['text']}\n" for name, s in SOURCES["sources"].items()}
    for name, text in {**texts, **more}.items():
        (sources / f"{name}.md").write_text(text, encoding="utf-8")

    async def fill() -> None:
        async with open_tour(folder / "home", stored=True) as engine:
            await add(engine, sources)

    asyncio.run(fill())
    return folder / "home"

"""Check the set: gold occurs together in a file of the library, what is absent in none.

Run it with the environment of quoth: ``.venv/bin/python eval/people/check.py [FOLDER]``.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

from quoth.ingest.sandbox.parent import ParserPool

HERE = Path(sys.argv[1] if sys.argv[1:] else Path(__file__).parent)


async def read_texts() -> dict[str, str]:
    """Return the text of every file as quoth reads it, white space folded."""
    texts = {}
    async with ParserPool(seconds=60, memory_mb=2000) as readers:
        for path in sorted((HERE / "library").rglob("*.*")):
            outcome = await readers.outcome(path)
            if outcome.made is None:
                raise SystemExit(f"{path.name} cannot be read: {outcome.problem}")
            texts[str(path.relative_to(HERE))] = " ".join(outcome.made.text.split())
    return texts


def faults(row: dict[str, Any], *, texts: dict[str, str]) -> list[str]:
    """Say what is wrong with one question."""
    patterns = [re.compile(each, re.IGNORECASE) for each in row["gold"]]
    if row["answerable"] and not any(
        all(each.search(text) for each in patterns) for text in texts.values()
    ):
        return [f"{row['id']}: no file holds {row['gold']}"]
    return [
        f"{row['id']}: {name} holds {each}"
        for each in row.get("absent", [])
        for name, text in texts.items()
        if re.search(each, text, re.IGNORECASE)
    ]


if __name__ == "__main__":
    read = asyncio.run(read_texts())
    rows = [json.loads(each) for each in (HERE / "questions.jsonl").read_text("utf-8").splitlines()]
    found = [fault for row in rows for fault in faults(row, texts=read)]
    said = "\n".join(found) or f"{len(rows)} questions, {len(read)} files: all as it should be."
    sys.stdout.write(said + "\n")
    sys.exit(bool(found))

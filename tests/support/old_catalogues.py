"""Catalogues as each version of quoth wrote them, and what a library of them answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from quoth.core.types import Answer
from quoth.engine import Engine
from quoth.text.json_codec import to_json

FOLDER = Path(__file__).parents[1] / "data" / "catalogues"
VERSIONS = sorted(each.name[:4] for each in FOLDER.glob("*.sqlite.gz"))
QUESTIONS = (
    "What is honey made from?",
    "How do workers carry nectar home?",
    "Who is the mother of every bee?",
    "What does the colony do in winter?",
    "How many kilograms of honey does a colony need?",
    "When does a colony swarm?",
    "Who leaves with half of the workers?",
    "Why is honey thick enough to keep?",
    "Quel goût a le miel de châtaignier ?",
    "Pourquoi le miel d'acacia reste-t-il liquide ?",
    "What is in the notes about winter?",
    "What is said at the beginning of the talk?",
    "What do the workers do with their wings?",
    "Which documents speak of the queen?",
    "What stands on page 2 of the book?",
    "queen",
    "nectar wings",
    "Where does a new queen hatch?",
    "What does the book say in its first chapter?",
    "Who won the football world cup in 1998?",
)


def unpack(version: str, home: Path) -> Path:
    """Lay out the catalogue of a version in a home folder; gives the file."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "catalogue.sqlite"
    file.write_bytes(gzip.decompress((FOLDER / f"{version}.sqlite.gz").read_bytes()))
    return file


async def answers(engine: Engine) -> list[Any]:
    """Ask every question of a library in step; gives what does not depend on time."""
    return [_lasting(await engine.answer(question)) for question in QUESTIONS]


def _lasting(answer: Answer) -> Any:
    cited = [
        (each.number, each.snippet, to_json(each.locator), each.link) for each in answer.citations
    ]
    return json.loads(json.dumps([answer.status, answer.text, cited]))

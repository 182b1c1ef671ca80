"""Two questions that are asked in one: "What is X and why is it useful?"."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from quoth.core.types import Query


def two_questions(query: Query) -> tuple[str, ...]:
    """Return both questions, the second with the subject of the first; empty for one question."""
    patterns = _patterns().get(query.language)
    if patterns is None or query.aspects:
        return ()
    pattern, pronoun = patterns
    found = pattern.search(query.standalone.strip())
    if found is None:
        return ()
    subject = found["subject"].strip()
    second = pronoun.sub(lambda _: f" {subject}", found["second"], count=1)
    return f"{found['first']}?", f"{' '.join(second.split())}?"


@cache
def _patterns() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    text = (files("quoth.query") / "data" / "two_questions.toml").read_text(encoding="utf-8")
    return {
        language: (
            re.compile(rows["pattern"], re.IGNORECASE),
            re.compile(rows["pronoun"], re.IGNORECASE),
        )
        for language, rows in tomllib.loads(text).items()
    }

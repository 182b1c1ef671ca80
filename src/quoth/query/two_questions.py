"""Two questions in one: "What is X and why is it useful?"."""

from __future__ import annotations

import re

from quoth.core.types import Query
from quoth.query.tokens import read_table


def two_questions(query: Query) -> tuple[str, ...]:
    """Return both questions of "What is X and why is it useful?", the second with X.

    Empty for one question. The table ``data/two_questions.LANGUAGE.toml`` has a pattern of both.
    """
    rows = read_table("two_questions", query.language)
    found = None
    if rows and not query.aspects:
        found = re.compile(rows["pattern"], re.IGNORECASE).search(query.standalone.strip())
    if found is None:
        return ()
    second = found["second"]
    if pronoun := re.compile(rows["pronoun"], re.IGNORECASE).search(second):
        subject = found["subject"].strip()
        second = f"{second[: pronoun.start()]} {subject}{second[pronoun.end() :]}"
    return f"{found['first']}?", f"{' '.join(second.split())}?"

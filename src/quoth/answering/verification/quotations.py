"""Quotations within a statement must occur verbatim in a source."""

from __future__ import annotations

import re

from quoth.answering.verification.source_index import Sources
from quoth.answering.verification.tokens import tokens

MIN_WORDS = 3
"""Minimum words of a quotation; fewer in quotation marks may be a term."""

_QUOTED = re.compile(r"“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]|\"([^\"]+)\"")
_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?|\[[^\[\]]*\]")


def invented_quotation(statement: str, sources: Sources) -> str | None:
    """Return the first quotation that occurs in no source, None if all occur.

    The parts around "…" and around square brackets are searched separately.
    """
    for match in _QUOTED.finditer(statement):
        whole = next(group for group in match.groups() if group is not None)
        for part in _LEFT_OUT.split(whole):
            if not _occurs(part, sources):
                return " ".join(part.split())
    return None


def _occurs(part: str, sources: Sources) -> bool:
    return any(
        len(wanted := tokens(part, language=source.language)) < MIN_WORDS
        or next(source.find(wanted), None) is not None
        for source in sources.by_number.values()
    )

"""The commonest wordings by which German, Spanish, Italian, Portuguese and Dutch questions ask."""

from __future__ import annotations

import re

from quoth.core.types import QueryKind

_WORDINGS: tuple[tuple[QueryKind, re.Pattern[str]], ...] = (
    (
        "comparison",
        re.compile(
            r"\bunterschiede? zwischen\b|\bvergleich\w* \w|\bdiferencias? entre\b|\bdiferencas? "
            r"entre\b|\bdifferenz[ae] (?:tra|fra)\b|\bverschil(?:len)? tussen\b|\bcompara[r]? \w"
            r"|\bconfronta\b|\bvergelijk\b"
        ),
    ),
    (
        "summary",
        re.compile(
            r"\bfass(?:e|en|t)\b.{1,80}\bzusammen\b|\bzusammenfass\w*|\bworum geht\b"
            r"|\bresum(?:e|ir|a) (?:la|el|los|las|o)\b|\bresum(?:en|o) d(?:el|[aeo])\b"
            r"|\bde que trata\b|\briassum\w+|\bdi cosa parla\b|\bsamenvatt\w+|\bvat .{1,80} samen\b"
        ),
    ),
    (
        "exploratory",
        re.compile(
            r"\berzahl\w* (?:mir|uns)\b|\bwelche \w+ gibt es\b|\bwas gibt es (?:uber|zu)\b"
            r"|\bcuentame\b|\bhablame\b|\bque hay sobre\b|\bparlami\b|\braccontami\b|\bvertel (?:me"
            r"|mij|ons)\b|\bfale me\b"
        ),
    ),
    (
        "conceptual",
        re.compile(
            r"\b(?:warum|wieso|weshalb|waarom)\b|\bwie (?:funktion|entsteh|arbeite)\w*"
            r"|\berklar(?:e|en|t|ung)\b|\bpor que\b|\b(?:como|come) (?:funziona|funciona|se)\b"
            r"|\bexplica(?:me|r)?\b|^perche (?!a\b|de\b)|\bspiega\w*|\bhoe werk(?:t|en)\b"
            r"|\bwas bedeutet\b|\b(?:que|cosa) significa\b|\bwat betekent\b"
        ),
    ),
)


def classify_other_language(words: str) -> QueryKind | None:
    """Give the type that the folded words of a question tell by themselves, if they do."""
    return next((kind for kind, pattern in _WORDINGS if pattern.search(words)), None)

"""What a question asks for, as far as a sentence shows by its shape that it has it.

A time, a number, a name or a reason: a sentence without one seldom answers such a question. A
language that is not listed has no such words, and nothing is expected of its sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from quoth.answering.extractive.wording import normalize

Sought = Literal["time", "number", "name", "reason"]

_SOUGHT: tuple[tuple[Sought, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(
            r"\b(?:when|(?:what|which) (?:year|date|day|time|century|decade|month)"
            r"|quand|en quelle annee|a quelle (?:date|epoque|heure)|quel (?:jour|siecle|mois))\b"
        ),
    ),
    (
        "number",
        re.compile(
            r"\b(?:how (?:many|much|long|old|big|far|tall|large|fast|deep|high|often|wide|heavy)"
            r"|what (?:percentage|percent|proportion|number|fraction|share)"
            r"|combien|quel (?:pourcentage|nombre|age))\b"
        ),
    ),
    ("name", re.compile(r"\b(?:who|whom|whose)\b|^(?:a |de |par |avec )?qui\b")),
    (
        "name",
        re.compile(
            r"\b(?:where|(?:what|which) (?:city|country|countries|place|state|region))\b"
            r"|^(?:d')?ou\b|\bquel(?:le)?s? (?:ville|pays|endroit|region)"
        ),
    ),
    ("reason", re.compile(r"\b(?:why|reasons?|pourquoi|raisons?)\b")),
)
_SHOWN: Mapping[Sought, re.Pattern[str]] = MappingProxyType(
    {
        "time": re.compile(
            r"\b(?:1\d{3}|20\d{2})\b|\d0s\b|\b(?:january|february|march|april|may|june|july"
            r"|august|september|october|november|december|centur(?:y|ies)|decades?|today|since"
            r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|janvier|fevrier|mars|avril|mai|juin"
            r"|juillet|aout|septembre|octobre|novembre|decembre|siecles?|aujourd'hui|depuis)\b"
        ),
        "number": re.compile(
            r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?"
            r"|hundreds?|thousands?|millions?|billions?|half|thirds?|quarters?|once|twice|most"
            r"|majority|deux|trois|quatre|cinq|sept|huit|neuf|dix|douze|cent|mille|moitie|tiers"
            r"|plupart)\b"
        ),
        "reason": re.compile(
            r"\b(?:because|since|due to|so that|in order|therefore|thus|hence|reasons?|cause[sd]?"
            r"|le(?:a)?ds? to|result(?:s|ed|ing)?|to (?:be|avoid|make|prevent|reduce|keep)"
            r"|allow(?:s|ed|ing)?|parce qu|car|afin|grace a|a cause|donc|pour que|permet)"
        ),
    }
)
_ASKING = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how"
    r"|qui|quoi|quel(?:le)?s?|quand|où|pourquoi|comment|combien)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:)(\"'«“’—–-] )[\"'(«“]?([A-ZÀ-ÖØ-Þ][\w'’.-]+)")


def asking_place(question: str) -> int | None:
    """Return the character at which a question's asking word begins, None where it has none."""
    found = _ASKING.search(question)
    return found.start() if found else None


def expected_answer_type(question: str) -> Sought | None:
    """Say what kind of thing a question asks for, None where its words do not tell."""
    folded = normalize(question)
    return next((kind for kind, asked in _SOUGHT if asked.search(folded)), None)


def matches_answer_type(text: str, kind: Sought, *, question: str) -> bool:
    """Whether a sentence has a thing of the kind that the question did not name itself."""
    known = normalize(question)
    if kind == "name":
        return any(normalize(name).strip(".'-") not in known for name in _NAME.findall(text))
    return any(each not in known for each in _SHOWN[kind].findall(normalize(text)))

"""Formulas that a page shows as images, each with its LaTeX as the alternative text."""

from __future__ import annotations

import re
import unicodedata

from selectolax.lexbor import LexborNode

_CLASS = re.compile(r"(?:^|\s)(?:math|tex|latex|mwe-math-fallback-image\S*)(?:\s|$)")
_COMMAND = re.compile(r"\\([a-zA-Z]+) ?|\\([ ,;:!%#&_${}])|(~)")
_STYLE = re.compile(
    r"\\(?:displaystyle|textstyle|math[a-z]+|text[a-z]*|operatorname|left|right)\b ?"
)
_FRACTION = re.compile(r"\\[dt]?frac ?\{([^{}]*)\}\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt ?\{([^{}]*)\}")
_GROUP = re.compile(r"(?<![a-zA-Z\\])\{([^{}\\]*+(?:\\.[^{}\\]*+)*+)\}")
_SIGNS = {
    "pm": "±",
    "times": "×",
    "cdot": "·",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "approx": "≈",
    "infty": "∞",
    "circ": "°",
    "to": "→",
    "rightarrow": "→",
}
DEPTH = 5
"""Braces within braces that are opened."""
PARENTS = 2
"""Elements around an image that may name it a formula."""


def formula_text(image: LexborNode) -> str:
    """Return the formula that an image shows, "" for any other image."""
    node: LexborNode | None = image
    for _ in range(PARENTS + 1):
        if node is not None and _CLASS.search(node.attributes.get("class") or ""):
            return readable_formula(image.attributes.get("alt") or "")
        node = node.parent if node is not None else None
    return ""


def readable_formula(latex: str) -> str:
    """Return LaTeX with its letters and common signs as characters: "100 kΩ", "±5 V"."""
    text = _STYLE.sub("", latex)
    for _ in range(DEPTH):  # the innermost first
        text = _ROOT.sub(r"√(\1)", _FRACTION.sub(_fraction, text))
        text = _GROUP.sub(r"\1", text)
    return " ".join(_COMMAND.sub(_character, text).split())


def _fraction(match: re.Match[str]) -> str:
    return "/".join(part if part.isalnum() else f"({part})" for part in match.groups())


def _character(command: re.Match[str]) -> str:
    name = (command[1] or "").removeprefix("var")
    if not name:
        return command[2] if command[2] and command[2] in "%#&_${}" else " "
    if name in _SIGNS:
        return _SIGNS[name]
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return command[0]

"""Formulas that a page shows as images, each with its LaTeX as the alternative text."""

from __future__ import annotations

import re
import unicodedata

from selectolax.lexbor import LexborNode

_CLASS = re.compile(r"(?:^|\s)(?:math|tex|latex|mwe-math-fallback-image\S*)(?:\s|$)")
_COMMAND = re.compile(r"\\([a-zA-Z]+) ?")
_ESCAPE = re.compile(r"\\([ ,;:!%#&_${}])|~")
_STYLE = re.compile(
    r"\\(?:displaystyle|textstyle|math[a-z]+|text[a-z]*|operatorname|left|right)\b ?"
)
_FRACTION = re.compile(r"\\[dt]?frac ?\{([^{}]*)\}\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt ?\{([^{}]*)\}")
_GROUP = re.compile(r"(\\[a-zA-Z]+ ?|[\^_])?(?<!\\)\{([^{}\\]*+(?:\\.[^{}\\]*+)*+)\}")
"""Braces without braces in them, and the command or the sign of an index before them."""
_ONE = re.compile(r"\w*|\S|\\[a-zA-Z]+ ?")
"""What needs no parentheses: a word, a number, a sign, a command."""
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
_UNICODE_NAMES = {"lambda": "lamda"}
"""Letters that Unicode spells in another way than LaTeX."""
MAX_CLASS = 200
"""Characters of an element's classes that are read."""
DEPTH = 5
"""Braces within braces that are opened."""
PARENTS = 2
"""Elements around an image that may name it a formula."""


def formula_text(image: LexborNode) -> str:
    """Return the formula that an image shows, "" for any other image."""
    node: LexborNode | None = image
    for _ in range(PARENTS + 1):
        if node is not None and _CLASS.search(node.attributes.get("class") or "", 0, MAX_CLASS):
            return readable_formula(image.attributes.get("alt") or "")
        node = node.parent if node is not None else None
    return ""


def readable_formula(latex: str) -> str:
    """Return LaTeX with its letters and common signs as characters: "100 kΩ", "±5 V"."""
    text = _COMMAND.sub(_character, _STYLE.sub("", latex))
    for _ in range(DEPTH):  # the innermost first
        text = _ROOT.sub(r"√(\1)", _FRACTION.sub(_fraction, text))
        text = _GROUP.sub(_group, text)
    return " ".join(_ESCAPE.sub(_escaped, text).split())


def _escaped(match: re.Match[str]) -> str:
    return match[1] if match[1] and match[1] in "%#&_${}" else " "


def _group(match: re.Match[str]) -> str:
    before, inside = match[1] or "", match[2]
    if before.startswith("\\"):  # the argument of a command
        return match[0]
    return f"{before}({inside})" if before and not _ONE.fullmatch(inside) else before + inside


def _fraction(match: re.Match[str]) -> str:
    return "/".join(part if _ONE.fullmatch(part) else f"({part})" for part in match.groups())


def _character(command: re.Match[str]) -> str:
    name = command[1].removeprefix("var") or command[1]
    if name in _SIGNS:
        return _SIGNS[name]
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    name = _UNICODE_NAMES.get(name.lower(), name)
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return command[0]

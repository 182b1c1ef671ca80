"""Formulas that a page shows as images, each with its LaTeX as the alternative text."""

from __future__ import annotations

import re
from html.entities import html5
from unicodedata import name

from selectolax.lexbor import LexborNode

_CLASS = re.compile(r"(?:^|\s)(?:math|tex|latex|mwe-math-fallback-image\S*)(?:\s|$)")
MAX_CLASS = 200
"""Characters of an element's classes that are read."""
PARENTS = 2
"""Elements around an image that may name it a formula."""

_BLANK = re.compile(r"~|\\[ ,;:]")
_COMMAND = re.compile(r"\\([a-zA-Z]+) ?")
_SIGNS = {"times": "×", "cdot": "·", "pm": "±", "to": "→", "infty": "∞", "degree": "°"}
_SIGNS |= {"leq": "≤", "geq": "≥", "neq": "≠", "approx": "≈", "dots": "…", "ldots": "…"}


def formula_text(image: LexborNode) -> str:
    r"""Return the LaTeX of the formula that an image shows, "" for any other image.

    Its blanks, Greek letters and commonest signs are written as such: "1 kΩ" for "1~k\Omega".
    """
    node: LexborNode | None = image
    for _ in range(PARENTS + 1):
        if node is not None and _CLASS.search(node.attributes.get("class") or "", 0, MAX_CLASS):
            latex = image.attributes.get("alt") or ""
            return _COMMAND.sub(_sign, _BLANK.sub(" ", latex))
        node = node.parent if node is not None else None
    return ""


def _sign(command: re.Match[str]) -> str:
    """Return the letter or sign of a command, any other command as it is."""
    letter = html5.get(f"{command[1]};", "")
    if len(letter) == 1 and name(letter, "").startswith("GREEK"):
        return letter  # the blank after it only ends the command
    sign = _SIGNS.get(command[1])
    return command[0] if sign is None else command[0].replace(f"\\{command[1]}", sign)

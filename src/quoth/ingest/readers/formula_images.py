"""Formulas that a page shows as images, each with its LaTeX as the alternative text."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_CLASS = re.compile(r"(?:^|\s)(?:math|tex|latex|mwe-math-fallback-image\S*)(?:\s|$)")
MAX_CLASS = 200
"""Characters of an element's classes that are read."""
PARENTS = 2
"""Elements around an image that may name it a formula."""


def formula_text(image: LexborNode) -> str:
    """Return the LaTeX of the formula that an image shows, "" for any other image."""
    node: LexborNode | None = image
    for _ in range(PARENTS + 1):
        if node is not None and _CLASS.search(node.attributes.get("class") or "", 0, MAX_CLASS):
            return image.attributes.get("alt") or ""
        node = node.parent if node is not None else None
    return ""

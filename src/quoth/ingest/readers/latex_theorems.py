"""Theorems, definitions and the like in LaTeX: the heading that is printed before each."""

from __future__ import annotations

import re
from collections.abc import Callable

_DECLARED = re.compile(r"\\newtheorem\*?\{(\w+)\}(?:\[\w+\])?\{([^{}]{1,60})\}(?:\[\w+\])?")
_BEGIN = re.compile(r"\\begin\{(\w+)\*?\}(?:\[((?:[^\[\]]|\[[^\[\]]{0,100}\]){1,200})\])?")
_USUAL = ("theorem", "lemma", "corollary", "proposition", "definition", "example", "remark")
"""Environments that document classes declare."""


def theorem_headings(text: str) -> Callable[[str], str]:
    """Return what writes the beginnings of theorems in a line as printed: "Theorem (Turing). ".

    ``text`` is the document, which may declare environments of its own. They have no number, which
    only LaTeX knows.
    """
    names = {name: name.capitalize() for name in _USUAL} | dict(_DECLARED.findall(text))

    def heading(begin: re.Match[str]) -> str:
        if begin[1] not in names:
            return begin[0]
        return f"{names[begin[1]]} ({begin[2]}). " if begin[2] else f"{names[begin[1]]}. "

    return lambda line: _BEGIN.sub(heading, _DECLARED.sub("", line))

"""Texts that mean to run, or to send something out, where somebody shows them carelessly.

They stand in ``tests/data/payloads``, a line each. Each names the address CANARY, which a test
puts its listener in for; a script that ran would set ``window.ran``.
"""

from __future__ import annotations

from pathlib import Path

CANARY = "http://canary.test"

_FOLDER = Path(__file__).parents[1] / "data" / "payloads"
_AROUND = (
    "{}",
    "\"'>{}",
    "</title></style></script></textarea>-->]]>{}",
    "</h1>\n\n{}\n\n<b ",
)
_FORMS = ("{}", "As the text says, {} and so on.", "> {}")


def _lines(name: str) -> list[str]:
    text = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return [line.replace(r"\n", "\n").replace(r"\u200b", "\u200b") for line in text.splitlines()]


def at(address: str, texts: tuple[str, ...]) -> list[str]:
    """Give the texts with another address for the canary's."""
    host = address.partition("//")[2]
    return [
        each.replace(CANARY, address).replace("canary.test", host).replace("CANARY", address)
        for each in texts
    ]


def _all(name: str, around: tuple[str, ...]) -> tuple[str, ...]:
    made = tuple(form.format(each) for each in _lines(name) for form in around)
    return tuple(at(CANARY, made))


ACTIVE = _all("active", _AROUND)
"""What runs or loads something in a page that is put together without care."""
SENDING = _all("sending", _FORMS)
"""What takes words out in an address once a program makes Markdown of it."""

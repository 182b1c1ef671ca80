"""Removes the reasoning that a model writes before its answer."""

from __future__ import annotations

from typing import Literal

_OPENS, _CLOSES = "<think>", "</think>"


class ReasoningStripper:
    """Leaves out a ``<think>…</think>`` that a text begins with, however it is cut into pieces.

    Servers that do not know a model's way of thinking pass its thoughts on as text. Only the
    beginning is looked at: later on the words may be quoted from a source.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state: Literal["before", "thinking", "after", "answer"] = "before"

    def feed(self, piece: str) -> str:
        """Take a piece and give what is sure to be answer."""
        if self._state == "answer":
            return piece
        self._held += piece
        if self._state == "before":
            begun = self._held.lstrip()
            if len(begun) < len(_OPENS) and _OPENS.startswith(begun):
                return ""
            if not begun.startswith(_OPENS):
                return self._release(self._held)
            self._state, self._held = "thinking", begun[len(_OPENS) :]
        if self._state == "thinking":
            _thought, closes, answer = self._held.partition(_CLOSES)
            if not closes:
                self._held = self._held[-len(_CLOSES) + 1 :]
                return ""
            self._state, self._held = "after", answer
        answer = self._held.lstrip()
        return self._release(answer) if answer else ""

    def end(self) -> str:
        """Return what was held back when nothing more comes."""
        return self._release("" if self._state == "thinking" else self._held.lstrip())

    def _release(self, text: str) -> str:
        self._state, self._held = "answer", ""
        return text

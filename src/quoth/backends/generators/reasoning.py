"""Reasoning that a model writes before its answer."""

from __future__ import annotations

from typing import Literal

_OPENS, _CLOSES = "<think>", "</think>"


def without_reasoning(text: str) -> str:
    """Return the answer in a complete text.

    The opening tag of its reasoning may be in the prompt of the model's template. A closing tag
    within a line may be quoted from a source.
    """
    said = ReasoningStripper()
    answer = said.feed(text) + said.end()
    thought, closes, rest = answer.partition(_CLOSES)
    begins_line = not thought.rpartition("\n")[2].strip()
    is_alone = closes and (begins_line or rest.lstrip(" \t").startswith("\n"))
    return rest.lstrip() if is_alone and _OPENS not in thought else answer


class ReasoningStripper:
    """Strips a leading ``<think>…</think>`` from a text that arrives in pieces.

    Servers that do not support a model's reasoning format pass it on as text. Only the beginning is
    examined: later the tags may be quoted from a source.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state: Literal["before", "thinking", "after", "answer"] = "before"

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that certainly belongs to the answer."""
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
        """Return the buffered text at the end of the stream."""
        return self._release("" if self._state == "thinking" else self._held.lstrip())

    def _release(self, text: str) -> str:
        self._state, self._held = "answer", ""
        return text

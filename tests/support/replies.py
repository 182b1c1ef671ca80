"""A language model for small tasks, which replies what it was given."""

from __future__ import annotations

import asyncio
from typing import Any

from quoth.testing import ScriptedGenerator


class RepliesGenerator(ScriptedGenerator):
    """Replies to each task with the next of what it was given, and to all further ones with the
    last; an error is raised. ``asked`` are the instructions and the text of each task.

    ``attributes`` replace those of the class, such as the model's name.
    """

    def __init__(self, *replies: str | Exception, pause_s: float = 0.0, **attributes: Any) -> None:
        super().__init__(*replies, pause_s=pause_s)
        self.asked: list[tuple[str, str]] = []
        for name, value in attributes.items():
            setattr(self, name, value)

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        self.asked.append((instructions, text))
        reply = self._pieces[min(len(self.asked), len(self._pieces)) - 1]
        await asyncio.sleep(self._pause_s)
        if isinstance(reply, Exception):
            raise reply
        return reply

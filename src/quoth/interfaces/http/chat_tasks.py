"""Replies to the prompts that chat programs send for themselves: titles, tags, follow-ups.

They ask for a small JSON object about the conversation, which holds nothing to search for.
"""

from __future__ import annotations

import json
import re

MAX_TITLE_WORDS = 6
KEYS = ("title", "tags", "follow_ups", "queries")
CHAT = re.compile(r"(?>(.*?)<chat_history>)(.*?)</chat_history>(.*)", re.DOTALL | re.IGNORECASE)
FIRST_QUESTION = re.compile(r"^\s*(?:user|human)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)


def task_reply(prompt: str) -> str | None:
    """Return the JSON object that such a prompt asks for; None for any other text."""
    chat = CHAT.match(prompt)
    if chat is None or not prompt.lstrip().startswith("### Task:"):
        return None
    before, said, after = chat.groups()
    rest = before + after
    key = next((key for key in KEYS if re.search(rf'"{key}"\s*:', rest)), None)
    if key is None:
        return None
    question = FIRST_QUESTION.search(said)
    words = question[1].split() if question else []
    title = " ".join(words[:MAX_TITLE_WORDS]).rstrip("?.!,;:")
    return json.dumps({key: title if key == "title" else []}, ensure_ascii=False)

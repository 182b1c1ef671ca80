"""Replies of chat completions that are JSON objects.

In JSON mode a language model puts a checked answer into one. The model is given the supported
sentences of the answer and no others; what it makes of them is not verified again. Chat programs
send prompts of their own (titles, tags, follow-ups), which ask for a small object about the
conversation and hold nothing to search for.
"""

from __future__ import annotations

import json
import re
from typing import Any

from quoth.core.errors import InputError
from quoth.core.protocols import Generator
from quoth.core.types import Answer
from quoth.pipeline.components import Components
from quoth.pipeline.egress import BUDGET_EXHAUSTED
from quoth.text.json_codec import json_object

MAX_TOKENS = 2000
TRIES = 2
NO_GENERATOR = (
    "response_format asks for JSON, and no language model is configured here that could write it. "
    "Leave it out, or ask the operator to set one (QUOTH_GENERATOR)."
)
USED_UP = (
    "response_format asks for JSON, and the language model that would write it has used up its "
    "tokens for today. Leave it out, or ask again tomorrow."
)
NOT_ALLOWED = (
    "response_format asks for JSON, and the privacy settings do not allow the language model that "
    "would write it. Leave it out."
)
INSTRUCTIONS = (
    "Write one JSON object that holds what the answer says, and nothing else: no comment, no "
    "Markdown. Take every value from the answer; what it does not say is null."
)
MAX_TITLE_WORDS = 6
KEYS = ("title", "tags", "follow_ups", "queries")
CHAT = re.compile(r"(?>(.*?)<chat_history>)(.*?)</chat_history>(.*)", re.DOTALL | re.IGNORECASE)
FIRST_QUESTION = re.compile(r"^\s*(?:user|human)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)


class NoJsonMode(InputError):
    """JSON was asked for, and no language model is there to write it, or it wrote none."""

    code = "unsupported_response_format"


def no_json_mode(parts: Components, allowed: Components) -> NoJsonMode:
    """Return why no language model writes JSON: of ``parts`` the tenant is ``allowed`` none."""
    if parts.generator is None:
        return NoJsonMode(NO_GENERATOR)
    used_up = allowed.generation_disabled_reason == BUDGET_EXHAUSTED
    return NoJsonMode(USED_UP if used_up else NOT_ALLOWED)


async def write_json(answer: Answer, *, schema: dict[str, Any], generator: Generator) -> str:
    """Return the answer as a JSON object with the schema's fields; raises NoJsonMode.

    The fields that the schema requires are checked, their values are the client's to check. They
    are null where no sentence of the answer is supported.
    """
    wanted = f" Its JSON schema: {json.dumps(schema, ensure_ascii=False)}" if schema else ""
    text = supported_text(answer)
    if not text:
        return json.dumps(dict.fromkeys(schema.get("required", ())))
    given = json.dumps({"question": answer.query.standalone, "answer": text}, ensure_ascii=False)
    for _ in range(TRIES):
        reply = await generator.complete(INSTRUCTIONS + wanted, given, max_tokens=MAX_TOKENS)
        found = json_object(reply)
        if found is not None and set(schema.get("required", ())) <= set(found):
            return json.dumps(found, ensure_ascii=False)
    raise NoJsonMode(
        "The language model wrote no such JSON object. Ask for fewer or simpler fields."
    )


def supported_text(answer: Answer) -> str:
    """Return the sentences of an answer that its sources support."""
    return " ".join(
        answer.text[sentence.start : sentence.end]
        for sentence in answer.sentences
        if sentence.support == "supported" and sentence.citations
    )


def task_reply(prompt: str) -> str | None:
    """Return the object that the prompt of a chat program asks for; None for any other text."""
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

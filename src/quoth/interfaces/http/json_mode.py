"""JSON mode of chat completions: a language model puts a checked answer into a JSON object.

The model is given the supported sentences of the answer and no others. What it makes of them is
not verified again.
"""

from __future__ import annotations

import json
from typing import Any

from quoth.core.errors import GenerationError, InputError
from quoth.core.protocols import Generator
from quoth.core.types import Answer
from quoth.text.json_codec import json_object

MAX_TOKENS = 2000
TRIES = 2
NO_GENERATOR = (
    "response_format asks for JSON, and no language model is configured here that could write it. "
    "Leave it out, or ask the operator to set one (QUOTH_GENERATOR)."
)
INSTRUCTIONS = (
    "Write one JSON object that holds what the answer says, and nothing else: no comment, no "
    "Markdown. Take every value from the answer; what it does not say is null."
)


class NoJsonMode(InputError):
    """JSON was asked for, and no language model is there to write it."""

    code = "unsupported_response_format"


def require_generator(generator: Generator | None) -> Generator:
    """Return the language model; raises NoJsonMode without one."""
    if generator is None:
        raise NoJsonMode(NO_GENERATOR)
    return generator


async def write_json(answer: Answer, *, schema: dict[str, Any], generator: Generator) -> str:
    """Return the answer as a JSON object with the schema's fields; raises GenerationError.

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
    raise GenerationError("The language model wrote no such JSON object. Ask again.")


def supported_text(answer: Answer) -> str:
    """Return the sentences of an answer that its sources support."""
    return " ".join(
        answer.text[sentence.start : sentence.end]
        for sentence in answer.sentences
        if sentence.support == "supported" and sentence.citations
    )

"""Schemathesis against a service on this machine: what it sends is made from the description."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import httpx

from quoth.interfaces.http.schemas import FilterKey
from quoth.interfaces.http.signed_links import LinkSigner, LinkTarget
from quoth.store.keys import Keys
from quoth.testing import HashEmbedder
from tests.support.service_client import House, listening
from tests.support.small_library import write_sources

LEFT_OUT = (
    *("/mcp", "/metrics", "/v1/uploads/{upload_id}/events"),
    *("/v1/privacy/data", "/v1/privacy/purge"),
)
"""Addresses that wait, have a protocol of their own, look at the server, or delete the library."""
FORMS = {"application/offset+octet-stream": "application/octet-stream"}
"""A media type that the tool cannot write, and one with the same bytes that it can."""
MAX_LINE = 500
HOLLOW = "returned only 401/403"
"""What the tool says of a run in which nobody let it in."""
KEPT = "kept"
"""A collection that nothing deletes, so that questions find something to the end."""
WORDS = {"type": "string", "minLength": 1, "pattern": "^[a-z ]*[a-z][a-z ]*$"}
SHORT = {"type": "string", "pattern": "^[a-z]{1,9}$"}
OWN = {"enum": ['{"team": "legal"}', '{"year": 2024}']}
"""Metadata of one's own as they stand beside an upload: JSON in a text, which cannot be said."""
IN_ADDRESS = {"start": {"enum": [0]}, "end": {"enum": [1]}, "metadata": OWN}
"""Parameters: a span is within its text, which no description can say; this is in every one."""
UNSAYABLE: dict[str, dict[str, Any]] = {
    "EmbeddingsRequest": {"dimensions": {"enum": [HashEmbedder.dimension]}},
    "ChatMessage": {"content": WORDS},
    "SegmentRequest": {"start": {"enum": [0, 1]}, "end": {"enum": [2, 9]}, "text": WORDS},
    "NewCollection": {"name": SHORT},
    "TalkRequest": {"collection": SHORT},
    "DocumentChanges": {"metadata": {"enum": [{"team": "legal", "year": 2024}, {}, None]}},
}
"""Fields of requests whose values depend on the model or on each other, or are too long a text for
the tool."""
REFUSED = ["400", "405", "406", "415", "422"]
EITHER_WAY = ["401", "403", "404", "409", "413", "429", "431", "5xx"]
"""What may be said to any request: 409 is about the state, 413 and 431 about a limit of this
service."""
NARROWER = (
    *("/v1/sessions/{session_id}/segments", "/v1/sessions/{session_id}/talk"),
    *("/v1/collections", "/v1/documents/{document_id}", "/v1/uploads"),
)
"""Addresses of whose fields less is said here than the service takes (see `UNSAYABLE`)."""
EXPECTED = f"""[checks]
positive_data_acceptance.expected-statuses = {json.dumps(["2xx", "3xx", *EITHER_WAY])}
negative_data_rejection.expected-statuses = {json.dumps(REFUSED + EITHER_WAY)}
"""
EXPECTED += "".join(
    f"""
[[operations]]
include-path = "{path}"
checks.negative_data_rejection.expected-statuses = {json.dumps(["2xx", *REFUSED, *EITHER_WAY])}
"""
    for path in NARROWER
)
QUESTIONS = ("How does a colony stay warm?", "When does a colony swarm?", "What is honey made of?")


def fuzz(folder: Path, *, seed: int, examples: int, phases: str, checks: str) -> str:
    """Send what the description allows and what it forbids; gives the report, "" if all is well."""
    sources = write_sources(folder / "sources")

    async def prepare(house: House) -> tuple[str, dict[str, list[str]]]:
        documents = await house.add("ada", sources)
        await house.add("ada", sources, collection=KEPT)
        engine = house.tenants.engine("ada")
        asked = [(await engine.answer(each)).query_id for each in QUESTIONS]
        signer = LinkSigner(house.tenants.settings)
        chunks = engine.parts.catalogue.chunk_ranges([(documents[0], 0, 3)])
        return house.key("ada"), {
            "document_id": documents,
            "query_id": asked,
            "after": asked,
            "around": [each.chunk_id for each in chunks],
            "name": ["default"],
            "collection": ["default", KEPT],
            "query": list(QUESTIONS),
            "model": ["quoth", f"quoth/{KEPT}"],
            "token": [signer.sign(LinkTarget("ada", each, None)) for each in documents],
        }

    with (
        listening(folder / "home", prepare, tenant="ada") as (address, (key, known), _house),
        patch.object(Keys, "revoke", sparing(key)),
    ):
        schema = folder / "openapi.json"
        (folder / "schemathesis.toml").write_text(EXPECTED, encoding="utf-8")
        headers = {"authorization": f"Bearer {key}"}
        told = httpx.get(f"{address}/openapi.json", headers=headers, timeout=60).json()
        schema.write_text(json.dumps(with_ids(told, known)), encoding="utf-8")
        left_out = [word for path in LEFT_OUT for word in ("--exclude-path", path)]
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", str(schema)),
                *("--url", address, "--header", f"Authorization: Bearer {key}"),
                *("--checks", checks, "--continue-on-failure", "--seed", str(seed)),
                *("--max-examples", str(examples), "--generation-database", "none"),
                *("--generation-with-security-parameters", "false"),
                *("--phases", phases, "--no-color", "--no-shrink"),
                *("--suppress-health-check", "all"),
                *left_out,
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=3600,
            check=False,
        )
    if done.returncode == 0 and HOLLOW not in done.stdout:
        return ""
    lines = (line[:MAX_LINE] for line in done.stdout.splitlines())  # a value may be a megabyte
    return "\n".join(lines)[-100_000:] + done.stderr[-2000:]


def sparing(token: str) -> Callable[[Keys, str], None]:
    """Give a way to revoke keys that leaves this one, without which the tool is let in nowhere."""
    own, revoke = token.split("_")[1], Keys.revoke
    return lambda keys, key_id: None if key_id == own else revoke(keys, key_id)


def with_ids(schema: Any, known: dict[str, list[str]]) -> Any:
    """Let parameters and fields name things that are there, too: else all that is met is a 404."""
    if isinstance(schema, list):
        return [with_ids(each, known) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {FORMS.get(name, name): with_ids(each, known) for name, each in schema.items()}
    if "(?!" in str(plain.get("pattern", "")):
        # What cannot be seen is in no name that is part of an address: no pattern says so.
        return SHORT
    if "propertyNames" in plain:
        # Which metadata there are to filter by depends on the library.
        plain["propertyNames"] = {"enum": list(get_args(FilterKey))}
    if plain.get("in") in ("path", "query") and plain.get("name") in known:
        there = {"enum": known[plain["name"]]}
        # No token that is made up is ever right.
        made_up = [] if plain["name"] == "token" else [plain["schema"]]
        plain["schema"] = {"anyOf": [*made_up, there]}
    if plain.get("in") == "query" and plain.get("name") in IN_ADDRESS:
        plain["schema"] = IN_ADDRESS[plain["name"]]
    if plain.get("operationId") == "send_file":
        # With Upload-Length there is no body, else there must be one, which cannot be said.
        plain["requestBody"]["required"] = True
        kept = [each for each in plain["parameters"] if each["name"] != "upload-length"]
        plain["parameters"] = kept
    if isinstance(fields := plain.get("properties"), dict):
        if (own := UNSAYABLE.get(plain.get("title", ""))) is not None:
            fields |= own
            plain["required"] = sorted({*plain.get("required", ()), *own})
        if "sidecar" in fields:
            fields["metadata"] = OWN if "file" in fields else {"anyOf": [OWN, {"type": "null"}]}
        for name in fields.keys() & known.keys():
            fields[name] = {"anyOf": [fields[name], {"enum": known[name]}]}
    return plain

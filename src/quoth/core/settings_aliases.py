"""Aliases of settings under other programs' names.

Environment variables rank as the environment does, below quoth's own ``QUOTH_`` names; the file
``quoth.yaml`` ranks below ``quoth.toml``. What has no counterpart may be given and is named by
``quoth doctor``, so that no setting is silently ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quoth.core.errors import ConfigError

PLAN: Mapping[str, tuple[str, type]] = {
    "GOOGLE_TEMPERATURE": ("temperature", float),
    "GOOGLE_MAX_TOKENS": ("max_tokens", int),
    "RAG_TOP_K": ("final_k", int),
    "RAG_MMR_LAMBDA": ("mmr_lambda", float),
    "RAG_MAX_CONTEXT_TOKENS": ("max_context_tokens", int),
    "RAG_TEMPERATURE": ("temperature", float),
    "RETRIEVAL_METHOD": ("mode", str),
    "RRF_K": ("rrf_k", int),
}
"""Names and the plan fields that they set; of two for one field the later one counts."""
SETTINGS: Mapping[str, str] = {
    "LLM_MAX_RETRIES": "llm_retries",
    "LLM_TIMEOUT_SECONDS": "llm_seconds",
}
"""Names and the settings that they set."""
NOT_USED: Mapping[str, str] = {
    "BM25_K1": "it is 1.2 in every index",
    "BM25_B": "it is 0.75 in every index",
}
"""Variables that may have any value and set nothing, and why."""
KEYS_NOT_USED: Mapping[str, str] = {
    "retrieval.similarity_threshold": "the scores of hits order them and have no common scale",
    "reranker.use_fp16": "a model is used as it is stored",
    "llm.streaming": "each request says whether it wants the answer as it comes",
}
"""The same for keys of the file."""


ALIASES = frozenset((*PLAN, *SETTINGS))


@dataclass(frozen=True, slots=True)
class Aliased:
    """Settings and plan fields that aliases set, by our names, and the aliases that set nothing."""

    settings: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    not_used: list[str] = field(default_factory=list)


def read_aliases(environment: Mapping[str, str]) -> Aliased:
    """Read the alias variables; raises ConfigError naming the wrong one."""
    found = Aliased()
    for name, (place, kind) in PLAN.items():
        if text := environment.get(name, "").strip():
            found.plan[place] = _read(name, text, kind=kind)
    for name, place in SETTINGS.items():
        if text := environment.get(name, "").strip():
            found.settings[place] = text
    found.not_used.extend(name for name in NOT_USED if environment.get(name, "").strip())
    return found


def variables_of(setting: str, environment: Mapping[str, str]) -> list[str]:
    """Return the alias variables that set a setting and are given."""
    return [name for name, place in SETTINGS.items() if place == setting and environment.get(name)]


def _read(name: str, text: str, *, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise ConfigError(
            f"The environment variable {name} must be {wanted}, not '{text[:40]}'."
        ) from None


# --- the file quoth.yaml ----------------------------------------------------------------------

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Knob:
    """Target of a key of the file; ``made`` converts its value, of that kind, into ours."""

    kind: type
    place: str
    made: Callable[[Any], Any] = lambda value: value


_ACCELERATORS = ("gpu", "cuda", "rocm", "mps", "auto")
"""Devices other than the processor, as programs name them; a number may follow: "cuda:0"."""


def _on_gpu(device: str) -> bool:
    kind = device.casefold().partition(":")[0]
    if kind not in ("cpu", *_ACCELERATORS):
        known = ", ".join(("cpu", *_ACCELERATORS))
        raise ConfigError(f"'reranker.device' in quoth.yaml is one of {known}, not '{device}'.")
    return kind != "cpu"


KNOBS: Mapping[str, Knob] = {
    "retrieval.top_k_initial": Knob(int, "plan.rerank_pool"),
    "retrieval.top_k_final": Knob(int, "plan.final_k"),
    "retrieval.include_context": Knob(bool, "plan.context_window", int),
    "retrieval.diversity_lambda": Knob(float, "plan.mmr_lambda", lambda share: 1 - share),
    "retrieval.hybrid_alpha": Knob(float, "plan.dense_weight"),
    "retrieval.use_reranker": Knob(bool, "plan.rerank"),
    "reranker.model": Knob(str, "reranker"),
    "reranker.device": Knob(str, "gpu", _on_gpu),
    "llm.provider": Knob(str, "generator"),
    "llm.model": Knob(str, "generator"),
    "llm.temperature": Knob(float, "plan.temperature"),
    "llm.max_tokens": Knob(int, "plan.max_tokens"),
}
"""Keys of the file and the setting or plan field that they set."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?P<part>\.[0-9]{1,15})?")


def read_yaml(text: str) -> Aliased:
    """Read the file ``quoth.yaml``: sections of keys with one value each, and no other YAML.

    Raises ConfigError naming the line, or the key by its path.
    """
    found = Aliased()
    given = _scalars(text)
    for path, value in given.items():
        if path in KEYS_NOT_USED:
            found.not_used.append(path)
            continue
        knob = KNOBS.get(path)
        if knob is None:
            known = ", ".join((*KNOBS, *KEYS_NOT_USED))
            raise ConfigError(f"'{path}' in quoth.yaml is no setting. Its settings are: {known}.")
        plain = float(value) if knob.kind is float and type(value) is int else value
        if type(plain) is not knob.kind:
            raise ConfigError(f"'{path}' in quoth.yaml must be {_KINDS[knob.kind]}, not '{value}'.")
        place, _, name = knob.place.rpartition(".")
        (found.plan if place else found.settings)[name] = knob.made(plain)
    if "llm.model" in given:
        if "llm.provider" not in given:
            raise ConfigError("'llm.model' in quoth.yaml needs 'llm.provider' too.")
        found.settings["generator"] = f"{given['llm.provider']}:{given['llm.model']}"
    return found


_KINDS: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
}


def _scalars(text: str) -> dict[str, Scalar]:
    """Return the scalar values by key path, as section.key."""
    found: dict[str, Scalar] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        key, colon, rest = line.partition(":")
        if not key.strip() or key.lstrip().startswith("#"):
            if line.strip() and not line.lstrip().startswith("#"):
                raise _unread(number)
            continue
        value = _scalar(rest.strip()) if not rest or rest.startswith(" ") else None
        nested = key.startswith(" ")
        wrong = not colon or not key.strip(" ").isidentifier() or value is None
        if wrong or nested is (value == "") or (nested and not section):
            raise _unread(number)
        if not nested:
            section = key
            continue
        path = f"{section}.{key.strip()}"
        if path in found:
            raise ConfigError(f"'{path}' stands twice in quoth.yaml.")
        assert value is not None
        found[path] = value
    return found


def _unread(number: int) -> ConfigError:
    return ConfigError(
        f"Line {number} of quoth.yaml cannot be read. Write sections of lines KEY: VALUE, and "
        "everything else into quoth.toml."
    )


def _scalar(text: str) -> Scalar | None:
    """Parse a value and strip its comment; empty if missing, None if not a scalar."""
    if text[:1] in ("'", '"'):
        inside, mark, behind = text[1:].partition(text[0])
        plain = mark and "\\" not in inside and inside
        return plain if plain and (not behind or behind.lstrip().startswith("#")) else None
    bare = "" if text.startswith("#") else text.partition(" #")[0].rstrip()
    if bare in ("true", "false"):
        return bare == "true"
    if number := _NUMBER.fullmatch(bare):
        return float(bare) if number["part"] else int(bare)
    # Lists, maps, anchors, tags and blocks of text are YAML too, but not supported here.
    return None if bare[:1] in tuple("[]{}&*!|>%@`-?,") else bare

"""Words of languages: files ``data/TOPIC.LANGUAGE.toml`` in the package that reads them.

A further language is a further file: no code names the languages that have one. A row that a file
lacks is empty; the English one has all rows, and says what they mean.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Any

Table = Mapping[str, Any]

_NAME = re.compile(r"\{([a-z_]+)\}")

REFERENCE = "en"
EVERYWHERE = ("en", "fr")
"""The languages of the interface: their words count together, also in languages without a file."""


@cache
def language_tables(package: str, topic: str) -> Mapping[str, Table]:
    """Return the tables of a topic by language, sorted."""
    paths = sorted(files(package).joinpath("data").iterdir(), key=attrgetter("name"))
    parts = ((path, path.name.split(".")) for path in paths)
    found = {
        name[1]: tomllib.loads(path.read_text("utf-8"))
        for path, name in parts
        if len(name) == 3 and name[0] == topic
    }
    empty = {row: type(value)() for row, value in found[REFERENCE].items()}
    return {language: empty | table for language, table in found.items()}


@cache
def tables_for(package: str, topic: str, language: str) -> tuple[Table, ...]:
    """Return the table of a language; those of `EVERYWHERE` for these and where it has none."""
    tables = language_tables(package, topic)
    known = language in tables and language not in EVERYWHERE
    return tuple(tables[each] for each in ((language,) if known else EVERYWHERE))


def word_list(package: str, topic: str, name: str) -> frozenset[str]:
    """Return the words of a row in all languages."""
    tables = language_tables(package, topic).values()
    return frozenset().union(*(table[name].split() for table in tables))


def expand(pattern: str, words: Mapping[str, str]) -> str:
    """Return a pattern with every ``{name}`` replaced by its word list, in a group."""
    fixed, names = _NAME.split(pattern)[::2], _NAME.findall(pattern)
    return fixed[0] + "".join(
        f"(?:{words[name]}){after}" for name, after in zip(names, fixed[1:], strict=True)
    )

"""Sentences for users, from one file per language: ``locales/en.toml``, ``locales/fr.toml``.

A further language is a further file with the same keys; what a file lacks is said in English.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

DEFAULT_LANGUAGE = "en"


def translate(key: str, language: str, **values: object) -> str:
    """Return the sentence ``section.name`` in a language, its ``{names}`` filled with the values.

    Raises KeyError for a key that the English file does not have.
    """
    sentence = _sentences(language).get(key) or _sentences(DEFAULT_LANGUAGE)[key]
    return sentence.format_map(values)


def languages() -> tuple[str, ...]:
    """Return the languages that have a file, sorted."""
    names = (file.name for file in files("quoth.core").joinpath("locales").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def _sentences(language: str) -> dict[str, str]:
    if language not in languages():
        return {}
    text = files("quoth.core").joinpath("locales", f"{language}.toml").read_text("utf-8")
    return {
        f"{section}.{name}": sentence
        for section, sentences in tomllib.loads(text).items()
        for name, sentence in sentences.items()
    }

"""Sentences for users, from one file per language: ``locales/en.toml``, ``locales/fr.toml``.

A further language is a further file with the same keys; what a file lacks is said in English.
Errors and warnings are written in English where they arise; ``locales/messages`` has them in the
other languages of the interface, by their English words. A language with sentences alone is one of
answers, not of the interface.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

DEFAULT_LANGUAGE = "en"
MIN_LETTERS = 8
"""Letters of its own that a sentence needs to be recognized."""
MAX_MESSAGE = 4_000
"""Characters of a message that is restated: the time to recognize one grows with their square."""

_VALUE = re.compile(r"{(\w*)}")


def translate(key: str, language: str, **values: object) -> str:
    """Return the sentence ``section.name`` in a language, its ``{names}`` filled with the values.

    Raises KeyError for a key that the English file does not have.
    """
    sentence = _sentences(language).get(key) or _sentences(DEFAULT_LANGUAGE)[key]
    return sentence.format_map(values)


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a file, sorted."""
    names = (file.name for file in files("quoth.core").joinpath("locales").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def interface_languages() -> tuple[str, ...]:
    """Return the languages that errors are said in, too, sorted."""
    return tuple(each for each in languages() if each == DEFAULT_LANGUAGE or _messages(each))


def preferred_language(accepted: str) -> str | None:
    """Return the first language of a header Accept-Language that the interface has, else None.

    None also where English follows a language of answers alone ("de,en;q=0.8"): notes are then in
    the language of the question, and errors in English.
    """
    known = [each for each in _by_preference(accepted) if each in languages()]
    spoken = [each for each in known if each in interface_languages()]
    if spoken[:1] == [DEFAULT_LANGUAGE] and known[0] not in spoken:
        return None
    return spoken[0] if spoken else None


def restate(message: str, language: str | None) -> str:
    """Return a message of any language in another; an unknown or a long one stays.

    So does every message for a language without a file.
    """
    if language not in languages() or len(message) > MAX_MESSAGE:
        return message
    for pattern, names, sentence, joint in _known(language):
        if found := pattern.fullmatch(message):
            values = [_restate_value(each, language, joint) for each in found.groups()]
            named = {name: value for name, value in zip(names, values, strict=True) if name}
            return sentence.format(*values, **named)
    return message


def _restate_value(value: str, language: str, joint: str) -> str:
    """Restate a value that is made of sentences itself, such as the places that were searched."""
    parts = value.split(joint) if joint else [value]
    own = translate("query.place_joint", language) if joint else ""
    return own.join(restate(part, language) for part in parts)


def _by_preference(accepted: str) -> list[str]:
    """Return the languages of a header, such as ``fr-CA,fr;q=0.8,en;q=0.5``, the best first."""
    weighed = []
    for each in accepted.split(",")[:20]:
        name, _, weight = each.strip().partition(";q=")
        share = float(weight) if re.fullmatch(r"[01](\.\d{1,3})?", weight) else float(not weight)
        weighed.append((-share, name.partition("-")[0].lower()))
    return [name for share, name in sorted(weighed, key=lambda one: one[0]) if share]


@cache
def _known(language: str) -> list[tuple[re.Pattern[str], list[str], str, str]]:
    """Return patterns of the messages of other languages with their sentences in this one."""
    pairs = [(each, said, "") for each, said in _messages(language).items()]
    for other in languages():
        if other != language:
            joint = translate("query.place_joint", other)
            own = _sentences(DEFAULT_LANGUAGE) | _sentences(language)
            pairs += [(each, own[key], joint) for key, each in _sentences(other).items()]
    pairs.sort(key=lambda pair: -_letters(pair[0]))
    return [
        (_pattern(each), _VALUE.findall(each), said, joint)
        for each, said, joint in pairs
        if _letters(each) >= MIN_LETTERS
    ]


def _letters(sentence: str) -> int:
    return sum(char.isalpha() for char in _VALUE.sub("", sentence))


def _pattern(sentence: str) -> re.Pattern[str]:
    fixed = [re.escape(part) for part in _VALUE.split(sentence)[::2]]
    # Stored messages may be in the typography of earlier versions.
    fixed = [part.replace("’", "['’]").replace("\u202f", "[ \u202f]") for part in fixed]
    return re.compile("(.*?)".join(fixed), re.DOTALL)


@cache
def _messages(language: str) -> dict[str, str]:
    file = files("quoth.core").joinpath("locales", "messages", f"{language}.toml")
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


@cache
def _sentences(language: str) -> dict[str, str]:
    if language not in languages():
        return {}
    file = files("quoth.core").joinpath("locales", f"{language}.toml")
    sections = tomllib.loads(file.read_text("utf-8"))
    return {
        f"{section}.{name}": sentence
        for section, sentences in sections.items()
        for name, sentence in sentences.items()
    }

"""Every language has the same sentences with the same values to fill in."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quoth.core import translations
from quoth.core.errors import IndexMismatch
from quoth.interfaces.http import problem_details

ENGLISH = translations._sentences("en")
SOURCE = Path(translations.__file__).parents[1]
READ = ("history", "ingest", "interfaces/http", "query", "pipeline/uploads.py")
"""Where the errors arise that users of the web app read."""
NOT_READ = ("openai", "embeddings", "microphone", "lectures", "cli", "server/start", "server/run")
"""Modules whose errors only programs and operators read."""
RAISED = frozenset(
    "InputError DocumentError Conflict Denied Busy Gone OutOfTime QuotaExceeded TooLarge".split()
)


@pytest.mark.parametrize("language", translations.languages())
def test_every_language_has_every_sentence_with_the_same_values(language: str) -> None:
    sentences = translations._sentences(language)
    assert sentences.keys() == ENGLISH.keys()
    for key, sentence in sentences.items():
        assert set(re.findall(r"{(\w+)}", sentence)) == set(re.findall(r"{(\w+)}", ENGLISH[key]))


def test_french_has_its_typography_everywhere() -> None:
    """No-break spaces before high signs, and one kind of apostrophe."""
    web = json.loads((SOURCE / "interfaces/web/static/locales/fr.json").read_text("utf-8"))
    said = [*translations._sentences("fr").values(), *translations._messages("fr").values()]
    for sentence in (*said, *web.values()):
        assert not re.search(r"[ \u00a0][!?:;»]|«[ \u00a0]|\w'\w", sentence), sentence


def test_messages_of_earlier_versions_are_restated() -> None:
    old = "Je n'ai rien trouvé à ce sujet dans la partie recherchée. Sans le filtre, tout est "
    old += "recherché ; d'autres mots ou un nom peuvent aussi aider."
    assert translations.restate(old, "en").startswith("I found nothing on this in the part")


def test_an_unknown_language_is_answered_in_english() -> None:
    assert translations._sentences("xx") == {}
    note = translations.translate("answering.uncertain", "xx")
    assert note == translations.translate("answering.uncertain", "en")
    assert translations.restate(note, "xx") == note


def test_an_unknown_key_is_a_bug() -> None:
    with pytest.raises(KeyError):
        translations.translate("query.nothing_of_that_name", "fr")


def raised(folder: str) -> Iterator[str]:
    """The sentences of the errors that the modules of a folder raise, {} for each value."""
    root = SOURCE / folder
    for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
        if any(each in path.as_posix() for each in NOT_READ):
            continue
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in RAISED:
                yield from (said for said in map(template, call.args) if " " in said)


def template(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            parts = (getattr(each, "value", "") for each in node.values)
            return "".join(each if isinstance(each, str) else "{}" for each in parts)
        case _:
            return ""


def test_the_languages_of_the_interface_are_those_of_the_web_app() -> None:
    web = (SOURCE / "interfaces/web/static/locales").glob("*.json")
    assert list(translations.interface_languages()) == sorted(path.stem for path in web)
    assert {"de", "es"} < set(translations.languages())


@pytest.mark.parametrize("language", set(translations.interface_languages()) - {"en"})
def test_every_error_that_users_read_is_said_in_every_language(language: str) -> None:
    known = translations._messages(language)
    found = {each for folder in READ for each in raised(folder)}
    assert len(found) > 100
    long = {each for each in found if translations._letters(each) >= translations.MIN_LETTERS}
    assert {each for each in long if translations.restate(each, language) == each} == set()
    for english, said in known.items():
        assert english.count("{}") == said.count("{}")


def test_a_message_is_restated_with_its_values() -> None:
    restate = translations.restate
    said = restate("tea.pdf is not a PDF file, despite its name.", "fr")
    assert said == "tea.pdf n’est pas un fichier PDF, malgré son nom."
    page = translations.translate("query.filter_label", "en", one="3")
    speaker = translations.translate("query.filter_speaker", "en", one="Ada")
    places = f"{page} and {speaker}"
    note = translations.translate("query.filtered", "en", places=places, keys="label=any")
    assert "page 3, ce que dit Ada" in restate(note, "fr")
    assert restate(restate(note, "fr"), "en") == note
    starting = restate("The service is starting. Ask again in a moment.", "fr")
    assert starting == "Le service démarre. Réessayez dans un moment."
    assert restate("What no file has.", "fr") == "What no file has."
    assert restate(note, None) == note
    long = "The file. " * 100_000  # would take minutes to recognize
    assert restate(long, "fr") == long


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("fr-CA,fr;q=0.9,en;q=0.8", "fr"),
        ("de, en;q=0.3, fr;q=0.7", "fr"),
        ("fr;q=0, en", "en"),
        ("de", None),
        ("", None),
        ("*;q=x,;;q=,\0", None),
    ],
)
def test_the_language_that_a_client_prefers(accepted: str, language: str | None) -> None:
    assert translations.preferred_language(accepted) == language


def test_an_embedder_that_cannot_be_opened_is_named_in_french_too() -> None:
    said = (
        "The collection 'bees' was indexed with voyage:voyage-3.5, which cannot be opened here. "
        "The embedder 'voyage' needs a key, and there is none. Set VOYAGE_API_KEY, or choose "
        "another with --embedder."
    )
    told = translations.restate(said, "fr")
    assert "a été indexée avec voyage:voyage-3.5" in told
    assert "a besoin d’une clé" in told


def test_an_index_of_another_model_is_named_without_its_store() -> None:
    said = IndexMismatch("Rebuild it with: quoth --store qdrant@http://10.0.0.7:6333 reindex")
    english = problem_details._detail(said)
    assert "10.0.0.7" not in english
    assert english.endswith("quoth --collection NAME reindex")
    assert problem_details.public_message(said.code, str(said)) == english
    assert "fait par un autre modèle" in translations.restate(english, "fr")

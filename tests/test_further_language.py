"""A further language is files: Italian, which has few, gets some in a copy of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "quoth"

FILES = {
    "text/data/numbers.it.toml": 'cardinals = "uno, due, tre"\nordinals = "prim, second, terz"\n'
    'endings = ["o", "a"]\nvague = "uno"\n',
    "text/data/sentences.it.toml": 'pointers = "p.es"\nanaphoric = ["(?:esso|essa|questo)\\\\b"]\n'
    'connectives = ["tuttavia\\\\b"]\n',
    "query/data/followup.it.toml": 'joints = "e"\ndeterminers = "un il la"\nempty = "ci sono"\n',
    "query/data/filters.it.toml": '[[page]]\npattern = "pagina (?P<first>\\\\d+)"\n'
    '[[item]]\nitem = "2"\npattern = "\\\\bil secondo\\\\b"\n'
    '[[said]]\npattern = "\\\\bquesto\\\\b"\n',
    "answering/verification/data/words.it.toml": 'negations = "non mai"\ndenials = "mai"\n',
    "answering/verification/data/units.it.toml": '[scales]\n3 = "mila"\n[units]\nyear = "anni"\n',
    "core/locales/it.toml": '[interfaces]\nnote = "Nota bene: {text}"\n',
}
ADDED = {"ingest/readers/data/divisions.it.toml": '\nformal = ["ringraziamenti"]\n'}
CHECKS = """
from pathlib import Path
import quoth
from quoth.answering.verification.claim import word_classes
from quoth.answering.verification.tokens import NEGATIONS, read_values, tokens
from quoth.core.translations import languages, restate, translate
from quoth.core.types import Turn
from quoth.ingest.enrich.chapters import names_matter
from quoth.query.entity_index import EntityIndex
from quoth.query.filters.patterns import find_matches
from quoth.query.rewrite import rewrite_standalone
from quoth.query.tokens import tokenize_query
from quoth.query.understand import understand
from quoth.text.numbers import number_of
from quoth.text.sentences import is_anaphoric, openings, sentences

assert Path(quoth.__file__).is_relative_to(Path.cwd())
assert (number_of("tre"), number_of("terza")) == (3, 3)
assert is_anaphoric("questo vale", language="it")
assert not is_anaphoric("il vale", language="it")
assert openings("connectives", "it").match("tuttavia piove")
assert len(sentences("Vedi p.es. Roma. Piove.")) == 2
assert find_matches("page", "a pagina 12")[0].groups == {"first": "12"}
turn = Turn("Ci sono api e vespe?", "Si.")
asked = tokenize_query("E il secondo?")
standalone = rewrite_standalone(asked, [turn], language="it")
assert standalone == "E il secondo? (vespe)", standalone
text = "Dura tre anni, 2 mila anni."
values = read_values(text, tokens(text, language="it"), language="it")
numbers = [(each.key, each.unit) for each in values if each.kind == "number"]
assert numbers == [("3", "year"), ("2000", "year")]
assert "mai" in NEGATIONS and "non" in word_classes("it").negations
assert names_matter("Ringraziamenti")
assert "it" in languages()
assert translate("interfaces.note", "it", text="x") == "Nota bene: x"
note = translate("answering.uncertain", "en")
assert translate("answering.uncertain", "it") == note == restate(note, "it")
query = understand("Che cosa dice il libro delle api?", names=EntityIndex())
assert query.language == "it"
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("italian")
    ignored = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(SOURCE, folder / "quoth", ignore=ignored)
    return folder


def test_a_further_language_is_files_alone(copy: Path) -> None:
    for name, text in FILES.items():
        path = copy / "quoth" / name
        assert not path.exists()
        path.write_text(text, encoding="utf-8")
    for name, text in ADDED.items():
        with (copy / "quoth" / name).open("a", encoding="utf-8") as file:
            file.write(text)
    ran = subprocess.run(
        [sys.executable, "-c", CHECKS],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

"""The house keeps its shape: arrows point down, help is light, files and functions stay small."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "quoth"
FILES = sorted(SOURCE.rglob("*.py"))

GROUND = {
    *("errors", "types", "protocols", "codec", "analyse", "places", "sentences"),
    *("shelf", "tuning", "subject", "numerals", "openings", "slots", "events", "writing"),
    *("token_estimate", "decode", "breaker", "costs", "ledger", "asked", "rewordings"),
    *("settings_aliases", "extras", "nearby"),
}
"""Values, verbs and pure functions that everybody may use."""
ENGINE_AND_BELOW = GROUND | {
    *("settings", "plan", "trace", "catalogue"),
    *("ingest", "retrieval", "answering", "shelves", "parts", "commit", "add", "upkeep"),
    *(
        "strategies",
        "retrieve",
        "quote",
        "respond",
        "suggest",
        "cache",
        "budget",
        "prompts",
        "record",
        "kept",
        "consent",
        "folders",
        "blobs",
        "uploads",
        "engine",
    ),
}
BELOW: dict[str, set[str]] = {
    "errors": set(),
    "types": set(),
    "analyse": {"errors"},
    "sentences": set(),
    "numerals": set(),
    "openings": set(),
    "rewordings": set(),
    "asked": {"analyse", "numerals", "rewordings"},
    "slots": {"asked"},
    "costs": {"types"},
    "ledger": {"protocols", "types", "writing"},
    "budget": GROUND | {"plan", "trace"},
    "protocols": {"types", "writing"},
    "events": {"types"},
    "writing": {"types"},
    "shelf": {"types"},
    "subject": {"analyse", "numerals", "types"},
    "tuning": set(),
    "codec": {"types"},
    "places": {"types"},
    "settings": {"errors", "settings_aliases"},
    "settings_aliases": {"errors"},
    "extras": {"errors"},
    "nearby": set(),
    "plan": {"errors", "types"},
    "trace": {"errors"},
    "token_estimate": set(),
    "decode": {"codec", "types"},
    "breaker": {"errors"},
    "prompts": {"errors", "types", "writing"},
    "cache": {"asked", "plan", "protocols", "slots", "types"},
    "catalogue": GROUND,
    # The work looks up no configuration and knows no other kind of work.
    "ingest": GROUND,
    "retrieval": GROUND | {"plan", "trace", "catalogue"},
    "answering": GROUND | {"plan", "prompts"},
    "shelves": GROUND | {"catalogue", "retrieval"},
    "parts": GROUND | {"settings", "catalogue", "ingest", "shelves", "prompts", "cache", "trace"},
    "blobs": {"errors", "catalogue"},
    "folders": {"catalogue", "settings"},
    "consent": GROUND | {"catalogue", "parts"},
    "commit": GROUND | {"catalogue", "ingest", "parts"},
    "add": GROUND | {"blobs", "catalogue", "ingest", "parts", "commit"},
    "uploads": GROUND | {"catalogue", "parts", "add", "blobs"},
    "upkeep": GROUND | {"catalogue", "parts", "add", "commit"},
    "strategies": GROUND | {"plan", "trace", "catalogue", "parts", "retrieval"},
    "retrieve": GROUND
    | {"budget", "plan", "trace", "catalogue", "parts", "retrieval", "strategies"},
    "quote": GROUND | {"plan", "trace", "catalogue", "parts", "retrieval", "answering", "retrieve"},
    "respond": GROUND
    | {"plan", "trace", "catalogue", "parts", "prompts", "retrieval", "answering"}
    | {"retrieve", "quote"},
    "suggest": GROUND | {"catalogue", "parts", "retrieval"},
    "record": GROUND | {"plan", "trace", "catalogue", "parts", "strategies", "retrieve"},
    "kept": GROUND | {"plan", "catalogue", "record", "retrieve"},
    "engine": ENGINE_AND_BELOW - {"engine"},
    "webpage": set(),
    "history": ENGINE_AND_BELOW | {"webpage"},
    "backends": GROUND,
    "wiring": ENGINE_AND_BELOW | {"backends", "tenants"},
    "tenants": ENGINE_AND_BELOW,
    "work": ENGINE_AND_BELOW | {"tenants"},
    "telling": {"trace", "types"},
    "outside": GROUND | {"ingest", "add", "parts", "uploads"},
    "privacy": ENGINE_AND_BELOW,
    "backups": GROUND | {"settings", "catalogue"},
    "agents": ENGINE_AND_BELOW | {"history"},
    "chainlit_app": ENGINE_AND_BELOW | {"agents", "service", "wiring"},
    "facade": ENGINE_AND_BELOW | {"wiring"},
    "": {"errors", "types", "facade"},
    "evaluation": ENGINE_AND_BELOW | {"webpage", "wiring", "backends", "facade", ""},
    "__main__": {"cli"},
    "service": ENGINE_AND_BELOW
    | {"history", "tenants", "wiring", "webpage", ""}
    | {"agents", "outside", "privacy", "telling", "work"},
    "cli": ENGINE_AND_BELOW
    | {"history", "wiring", "backends", "facade", "evaluation", "service", "tenants", ""}
    | {"agents", "backups", "outside", "privacy", "telling", "work"},
}
"""What each room may import; the package itself is the room without a name."""

HEAVY = {
    *("lancedb", "onnx", "onnxruntime", "numpy", "sqlalchemy", "alembic", "pyarrow"),
    *("pypdfium2", "tokenizers", "py3langid", "selectolax"),
    *("pydantic_ai", "openai", "anthropic", "google", "httpx2", "genai_prices"),
    *(
        "fastapi",
        "starlette",
        "uvicorn",
        "mcp",
        "psycopg",
        "prometheus_client",
        "structlog",
        "chainlit",
    ),
}
MODEL_FILES = {"backends.e5_build", "backends.e5_card"}
"""They make and describe the files of a model; they open nothing."""

MOST_LINES = 400
LONGER = {"types": 480}
"""The nouns are one list to read from top to bottom; half of its lines are docstrings and air."""
MOST_FUNCTION_LINES = 60


def _module(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    return module.partition(".")[0]


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _running(other)
            continue
        yield child
        yield from _running(child)


def _imported(file: Path) -> Iterator[str]:
    """The modules of quoth that a file imports, without ``quoth.``; "" is the package."""
    for node in _running(_tree(file)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relative to itself"
            if node.module == "quoth":
                yield from (_known(each.name) for each in node.names)
            elif (node.module or "").startswith("quoth."):
                yield str(node.module).removeprefix("quoth.")
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.partition(".")[0] == "quoth":
                    yield each.name.removeprefix("quoth").removeprefix(".")


def _known(name: str) -> str:
    there = (SOURCE / f"{name}.py").exists() or (SOURCE / name).is_dir()
    return name if there else ""


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_imports_point_down(file: Path) -> None:
    room = _room(_module(file))
    assert room in BELOW, f"the room '{room}' has no place in the house yet"
    wrong = [name for name in _imported(file) if _room(name) not in BELOW[room] | {room}]
    assert not wrong


def test_no_two_rooms_import_each_other() -> None:
    order: list[str] = []
    left = dict(BELOW)
    while left:
        free = [room for room, below in left.items() if not below - {room} - set(order)]
        assert free, f"these rooms go in a circle: {sorted(left)}"
        order += free
        left = {room: below for room, below in left.items() if room not in free}


def test_backends_are_opened_through_the_table_only() -> None:
    outside = [file for file in FILES if _room(_module(file)) not in ("backends", "wiring")]
    direct = {
        _module(file): name
        for file in outside
        for name in _imported(file)
        if name.startswith("backends.") and name not in MODEL_FILES
    }
    assert not direct


@pytest.mark.parametrize(
    "code",
    [
        "import quoth",
        "import sys; sys.argv = ['quoth', '--help']; from quoth.cli.app import main; main()",
    ],
    ids=["import quoth", "quoth --help"],
)
def test_looking_at_quoth_loads_nothing_heavy(code: str) -> None:
    ask = f"""
import json, sys
try:
    exec({code!r})
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""
    found = subprocess.run(
        [sys.executable, "-c", ask],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE.parent), "PATH": "", "HOME": "/nonexistent"},
    )
    loaded = {name.partition(".")[0] for name in json.loads(found.stderr.splitlines()[-1])}
    assert not loaded & HEAVY


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_nothing_is_printed(file: Path) -> None:
    calls = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.Call)]
    assert not [
        call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"
    ]


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_no_error_is_caught_wholesale(file: Path) -> None:
    caught = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.ExceptHandler)]
    assert not [each.lineno for each in caught if _wholesale(each) and not _raises_again(each)]


def _wholesale(caught: ast.ExceptHandler) -> bool:
    names = {node.id for node in ast.walk(caught) if isinstance(node, ast.Name)}
    return caught.type is None or bool(names & {"Exception", "BaseException"})


def _raises_again(caught: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(caught))


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_files_are_short(file: Path) -> None:
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGER.get(_module(file), MOST_LINES)


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_functions_are_short(file: Path) -> None:
    functions = [
        node
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and "migrations" not in file.parts
    ]
    assert not {
        node.name: length
        for node in functions
        if (length := (node.end_lineno or 0) - node.lineno + 1) > MOST_FUNCTION_LINES
    }

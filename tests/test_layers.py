"""The structure of the package: imports point down, help loads little, files are short.

Each test reads every source file and lists what breaks its rule.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scripts.plant_faults import read_table, stale_reason
from tests.conftest import LONGEST, ROOT

SOURCE = Path(__file__).parents[1] / "src" / "quoth"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = (
    *("core", "text", "backends", "store"),
    *("ingest", "query", "retrieval", "answering", "live"),
    *("pipeline", "engine", "tenants", "history", "operations"),
    *("bootstrap", "library", "", "testing", "protocols", "evaluation", "interfaces", "__main__"),
)
"""From the bottom to the top: each may import those before it; "" is the package itself."""

MAY_OPEN_BACKENDS = {"bootstrap", "testing", "protocols", "backends"}
"""`protocols` opens none: it names the types of stores for other packages."""
MAX_TOP_LEVEL_MODULES = 10
MAX_LINES = 400
MAX_BACKEND_LINES = 250
LONGER = {"core.types": 500}
"""The value types are one list to read from top to bottom; half of it is docstrings."""
MAX_FUNCTION_LINES = 60

HEAVY = {
    *("lancedb", "onnx", "onnxruntime", "numpy", "sqlalchemy", "alembic", "pyarrow"),
    *("pypdfium2", "tokenizers", "py3langid", "selectolax"),
    *("pydantic_ai", "openai", "anthropic", "google", "httpx2", "genai_prices"),
    *("fastapi", "starlette", "uvicorn", "mcp", "psycopg", "prometheus_client"),
    *("chainlit", "chromadb", "pinecone", "qdrant_client", "pymilvus", "apsw"),
}


def _module(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _package(module: str) -> str:
    return module.partition(".")[0]


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _nodes(file: Path) -> tuple[ast.AST, ...]:
    """All nodes that the rules ask for; looking for them takes as long as reading the file."""
    asked = (ast.ClassDef, ast.Call, ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef)
    return tuple(node for node in ast.walk(_tree(file)) if isinstance(node, asked))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those that only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _names(child.test) & {"TYPE_CHECKING"}:
            for other in child.orelse:
                yield other
                yield from _running(other)
            continue
        yield child
        yield from _running(child)


def _names(node: ast.expr) -> set[str]:
    """The names and attributes in an expression."""
    parts = list(ast.walk(node))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names | {part.attr for part in parts if isinstance(part, ast.Attribute)}


@cache
def _imported(file: Path) -> tuple[str, ...]:
    """The modules of quoth that a file imports, without ``quoth.``; "" is the package."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    for node in _running(_tree(file)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} is a relative import"
            if node.module == "quoth":
                yield from (_known(each.name) for each in node.names)
            elif (node.module or "").startswith("quoth."):
                yield str(node.module).removeprefix("quoth.")
        elif isinstance(node, ast.Import):
            for each in node.names:
                if _package(each.name) == "quoth":
                    yield each.name.removeprefix("quoth").removeprefix(".")


def _known(name: str) -> str:
    exists = (SOURCE / f"{name}.py").exists() or (SOURCE / name).is_dir()
    return name if exists else ""


def test_imports_point_down() -> None:
    rank = {name: place for place, name in enumerate(LAYERS)}
    unknown = {_package(_module(file)) for file in FILES} - set(LAYERS)
    assert not unknown, f"LAYERS does not know {sorted(unknown)}"
    upward = [
        f"{_module(file)} imports {name}"
        for file in FILES
        for name in _imported(file)
        if rank[_package(name)] > rank[_package(_module(file))]
    ]
    assert not upward


def test_backends_are_opened_by_the_composition_root_only() -> None:
    direct = [
        f"{_module(file)} imports {name}"
        for file in FILES
        for name in _imported(file)
        if _package(name) == "backends" and _package(_module(file)) not in MAY_OPEN_BACKENDS
    ]
    assert not direct


def test_the_top_level_is_small() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= MAX_TOP_LEVEL_MODULES


def test_no_class_shares_its_name() -> None:
    names = Counter(
        node.name for file in FILES for node in _nodes(file) if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize(
    "code",
    [
        "import quoth",
        "import sys; sys.argv = ['quoth', '--help']\n"
        "from quoth.interfaces.cli.app import main; main()",
    ],
    ids=["import quoth", "quoth --help"],
)
def test_import_and_help_load_nothing_heavy(code: str) -> None:
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


def test_nothing_is_printed() -> None:
    assert not [
        f"{file}:{node.lineno}"
        for file in FILES
        for node in _nodes(file)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]


def test_no_exception_is_caught_without_a_type() -> None:
    assert not [
        f"{file}:{node.lineno}"
        for file in FILES
        for node in _nodes(file)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node)
    ]


def _is_broad(caught: ast.ExceptHandler) -> bool:
    names = {node.id for node in ast.walk(caught) if isinstance(node, ast.Name)}
    return caught.type is None or bool(names & {"Exception", "BaseException"})


def _raises_again(caught: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(caught))


def test_files_and_functions_are_short() -> None:
    long_files = [
        f"{file}: {lines} lines"
        for file in FILES
        if (lines := len(file.read_text(encoding="utf-8").splitlines()))
        > LONGER.get(_module(file), MAX_BACKEND_LINES if "backends" in file.parts else MAX_LINES)
    ]
    long_functions = [
        f"{file}: {node.name} has {length} lines"
        for file in FILES
        if "migrations" not in file.parts
        for node in _nodes(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert not long_files + long_functions


def test_the_tests_that_begin_first_are_there() -> None:
    assert all(any((ROOT / "tests").glob(f"{each.rstrip('/')}*")) for each in LONGEST)


def test_every_fault_that_can_be_planted_has_its_place() -> None:
    table = read_table(ROOT / "scripts" / "faults.toml")
    stale = {fault.name: why for fault in table.faults if (why := stale_reason(fault, ROOT))}
    assert stale == {}

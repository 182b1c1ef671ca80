"""Finds text for the scale corpus: documentation packages, or what lies on the machine anyway."""

from __future__ import annotations

import ast
import re
import shutil
import site
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.chunking import read_plain

# Two Debian releases name their packages differently; those that are not there are passed over.
PACKAGES = (
    "linux-doc-6.1",
    "linux-doc-6.12",
    "python3.11-doc",
    "python3.13-doc",
    "postgresql-doc-15",
    "postgresql-doc-17",
    "erlang-doc",
    "git-doc",
    "gimp-help-en",
    "libreoffice-help-en-us",
    "debian-handbook",
)
READABLE = re.compile(r"\.(rst|txt|html)(\.gz)?$|\.yaml\.gz$")
# The kernel's HTML repeats its sources; the handbook comes in twenty-six languages.
REPEATED = re.compile(r"/linux-doc[^/]*/html/|/debian-handbook/html/(?!en-US/)")


def fetch_packages(tree: Path) -> list[str]:
    """Unpack the documentation packages into `tree`; give the names of those there are."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return []
    fetched = _download(tree)
    if not fetched:
        subprocess.run(["apt-get", "update"], capture_output=True, check=False)
        fetched = _download(tree)
    return fetched


def documentation(tree: Path) -> list[Path]:
    """List the readable files under `tree`, sorted, without repetitions."""
    return [
        path
        for path in sorted(tree.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and READABLE.search(path.name)
        and not REPEATED.search(str(path))
    ]


def texts(files: list[Path]) -> Iterator[tuple[str, str]]:
    """Read the files one by one as (name, text)."""
    for path in files:
        yield path.name, read_plain(path)


def docstrings() -> Iterator[tuple[str, str]]:
    """Read the docstrings of the standard library and of every installed package."""
    roots = [Path(sysconfig.get_path("stdlib")), *map(Path, site.getsitepackages())]
    for path in sorted({file for root in roots for file in root.rglob("*.py")}):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, nodes)]
        yield path.name, "\n\n".join(text for text in found if text)


def _download(tree: Path) -> list[str]:
    fetched = []
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                ["apt-get", "download", package], cwd=folder, capture_output=True, check=False
            )
            for archive in Path(folder).glob("*.deb"):
                target = tree / package
                target.mkdir(parents=True, exist_ok=True)
                subprocess.run(["dpkg", "-x", str(archive), str(target)], check=True)
                fetched.append(package)
    return fetched

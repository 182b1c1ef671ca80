"""What is installed is what was looked at: every package by its hash, from nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
PACKAGE = re.compile(
    r"[a-z0-9][a-z0-9._-]*(?:\[[a-z0-9, _-]+\])?==[^\s;\\]+(?: ;[^\\]+)?", re.IGNORECASE
)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def packages(lock: Path) -> list[str]:
    """The lines of a lock file, each package with its hashes on one."""
    lines = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def test_there_are_locks() -> None:
    assert {"requirements.lock", "requirements-dev.lock"} <= {lock.name for lock in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_has_one_version_and_its_hashes(lock: Path) -> None:
    found = packages(lock)
    assert found
    for line in found:
        package, *hashes = re.split(r"\s+(?=--)", line)
        assert PACKAGE.fullmatch(package.strip()), line
        assert hashes, line
        assert all(HASH.fullmatch(each.strip()) for each in hashes), line


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_no_lock_names_a_place_to_take_packages_from(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert not re.search(r"--(?:extra-)?index|--find-links|--trusted-host|https?://|git\+", text)


@pytest.mark.parametrize("name", ["Makefile", "pyproject.toml"])
def test_nothing_is_installed_past_the_locks(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "--extra-index" not in text
    assert "--trusted-host" not in text
    for line in re.findall(r"(?m)^.*\$\(PIP\) .*$", text):
        assert "--require-hashes" in line or "--no-deps" in line

"""What all tests share: no network, no settings from outside, and one library to read in."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import socket
import ssl
from collections.abc import Generator, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import certifi
import pytest
from hypothesis import settings

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.core.types import Document
from tests.support.databases import address, new_address, server

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background: processes begun here would never hear of Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = ["address", "new_address", "server"]

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "examples" / "hf-course"
FIXTURES = Path(__file__).parent / "fixtures"


# The same examples in every run: a test that fails only sometimes is broken. `make soak` has more.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    max_examples=int(os.environ.get("TEST_EXAMPLES", "25")),
)
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="Write the golden files anew and pass."
    )


LONGEST = (
    "evaluation/test_quality_gate",
    "interfaces/web/",
    "store/test_migrations",
    "operations/test_worker",
    "interfaces/cli/test_commands",
    "pipeline/test_kills",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests: at the end one process would work and the others wait."""
    first = tuple(f"tests/{each}" for each in LONGEST)
    items.sort(key=lambda item: not item.nodeid.startswith(first))


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))


class NetworkUse(RuntimeError):
    """A test tried to leave this machine."""


def _refuse_strangers(family: int, address: Any) -> None:
    if family == getattr(socket, "AF_UNIX", None):
        return
    host = address[0] if isinstance(address, tuple) and address else address
    try:
        near = host == "localhost" or ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        near = False
    if not near:
        raise NetworkUse(f"Tests need no network, and this one asked for {host}.")


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """Let sockets reach this machine only."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            _guard(patch, name)
        yield


def _guard(patch: pytest.MonkeyPatch, name: str) -> None:
    original = getattr(socket.socket, name)

    def guarded(self: socket.socket, *words: Any) -> Any:
        _refuse_strangers(self.family, words[-1])
        return original(self, *words)

    patch.setattr(socket.socket, name, guarded)


@pytest.fixture(scope="session", autouse=True)
def _no_public_authorities() -> Iterator[None]:
    """Load no certificates of public authorities: each client would read them, and asks nobody."""
    load, load_default = ssl.SSLContext.load_verify_locations, ssl.SSLContext.load_default_certs
    public = (certifi.where(), ssl.get_default_verify_paths().openssl_cafile)

    def load_own(self: ssl.SSLContext, cafile: Any = None, *rest: Any, **named: Any) -> None:
        if cafile not in public:
            load(self, cafile, *rest, **named)

    def load_named(self: ssl.SSLContext, *words: Any) -> None:
        if "SSL_CERT_FILE" in os.environ:
            load_default(self, *words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", load_own)
        patch.setattr(ssl.SSLContext, "load_default_certs", load_named)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """Take the variables of whoever runs the tests away, but for where the model is built.

    Authorities that a variable names would be read by each client.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            ours = name.startswith("QUOTH_") and name != "QUOTH_MODELS"
            if ours or name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def _read_files_in_this_process() -> Iterator[None]:
    """Save the start of a parser process per engine; tests of the sandbox open it themselves."""
    from tests.support.small_library import ReadHere

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quoth.bootstrap.open_readers", lambda _settings, **_given: ReadHere())
        yield


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a library that holds the sample collection; for reading only."""
    home = tmp_path_factory.mktemp("samples")

    async def fill() -> None:
        async with open_engine(Settings(home=home, embedder="fake")) as engine:
            steps = [step async for step in engine.add([SAMPLES])]
        documents = [step for step in steps if isinstance(step, Document)]
        assert {each.status for each in documents} == {"ready"}

    asyncio.run(fill())
    return home


@pytest.fixture(scope="session")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``sources`` and a ``home`` that holds them; copy it, do not change it."""
    from tests.support.small_library import add, write_sources

    folder = tmp_path_factory.mktemp("small")
    sources = write_sources(folder / "sources")

    async def fill() -> None:
        async with open_engine(Settings(home=folder / "home", embedder="fake")) as engine:
            assert {each.status for each in await add(engine, sources)} == {"ready"}

    asyncio.run(fill())
    return folder


@pytest.fixture
def home(small_library: Path, tmp_path: Path) -> Path:
    """The home of a small library for one test to change; ``sources`` are beside it."""
    shutil.copytree(small_library, tmp_path, dirs_exist_ok=True)
    return tmp_path / "home"


def pytest_collection() -> None:
    """Collect no garbage while thousands of tests are made, which stay to the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the tests from the garbage collector."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let what tests of odd texts have logged pass between the processes that share the tests."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report

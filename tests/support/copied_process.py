"""Real processes of quoth that start at once: copies of one process that has everything loaded.

Loading takes three seconds of the processor, which is more than most commands take. A test runs
`quoth_command` as it would run ``python -m quoth``, or `copied_python` with ``-c`` and code. That
starts a small process, this file without any package, which has the loaded process make a copy of
itself. The copy gets the words, the variables, the folder and the three open files of the small
process, which hands signals on and ends as the copy ends. What depends on the start of the
interpreter takes `sys.executable`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from functools import cache

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def quoth_command() -> list[str]:
    """Return the words that run quoth."""
    return [*copied_python(), "-m", "quoth"]


@cache
def copied_python() -> list[str]:
    """Return the words for an interpreter; the first call starts the process that is copied."""
    import atexit
    import subprocess
    from tempfile import TemporaryDirectory

    folder = TemporaryDirectory(prefix="quoth-")
    address = os.path.join(folder.name, "copies")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.copied_process", "loaded", address],
        cwd=os.path.dirname(__file__).removesuffix("/tests/support"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    def end() -> None:
        process.communicate()
        folder.cleanup()

    atexit.register(end)
    return [sys.executable, "-I", "-S", __file__, "copy", address]


# --- the small process ------------------------------------------------------------------------


def run_copy(address: str, words: list[str]) -> None:
    """Have a copy made that does what this process was told, and end as it does."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        # Arguments and variables may be bytes that are no text.
        told = json.dumps([words, dict(os.environ), os.getcwd()]).encode()
        socket.send_fds(server, [b"files"], [0, 1, 2])
        server.sendall(told + b"\n")
        with server.makefile() as said:
            copy = int(said.readline())
            for each in SIGNALS:
                signal.signal(each, lambda number, _frame: _hand_on(copy, number))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            code = int(said.readline() or 1)
    if code < 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def _hand_on(copy: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(copy, number)


# --- the loaded process, and its copies -------------------------------------------------------


def make_copies(address: str) -> list[str] | None:
    """Copy this process for each that asks, until its input ends; gives a copy its words."""
    load_all()
    waking, woken = os.pipe()
    for end in (waking, woken):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    waiting: dict[int, socket.socket] = {}
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([0, waking, listener, *waiting.values()], [], [])
        if 0 in ready:
            return None
        if waking in ready:
            os.read(waking, 4096)
            _tell_ends(waiting)
        for copy, asking in waiting.items():
            if asking in ready and not asking.recv(1):  # the small process was killed
                _hand_on(copy, signal.SIGKILL)
        if listener not in ready:
            continue
        asking, _ = listener.accept()
        _, files, _, _ = socket.recv_fds(asking, len(b"files"), 3)
        with asking.makefile("rb") as line:
            told = line.readline()
        if copy := _fork():
            waiting[copy] = asking
            asking.sendall(f"{copy}\n".encode())
            for each in files:
                os.close(each)
            continue
        for each in (listener, asking, *waiting.values()):
            each.close()
        os.close(waking)
        os.close(woken)
        words, variables, folder = json.loads(told)
        _become(files, variables, folder)
        return list(words)


def _fork() -> int:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LanceDB warns of copies, which it supports
        return os.fork()


def _tell_ends(waiting: dict[int, socket.socket]) -> None:
    while waiting:
        copy, status = os.waitpid(-1, os.WNOHANG)
        if not copy:
            return
        with waiting.pop(copy) as asking, suppress(BrokenPipeError):
            asking.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(files: list[int], variables: dict[str, str], folder: str) -> None:
    """Take the open files, variables and folder of the process that asked for a copy."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    streams = (
        ("stdin", "r", "strict"),
        ("stdout", "w", "strict"),
        ("stderr", "w", "backslashreplace"),
    )
    for number, (name, mode, errors) in enumerate(streams):
        buffering = 1 if name == "stderr" or os.isatty(number) else -1
        stream = open(  # noqa: SIM115 - open to the end of the process
            number, mode, buffering, encoding="utf-8", errors=errors, closefd=False
        )
        setattr(sys, name, stream)


def load_all() -> None:
    """Load what commands load."""
    import lancedb  # noqa: F401
    import pyarrow.dataset  # noqa: F401

    import quoth.backends.indexes.lancedb.index
    import quoth.bootstrap
    import quoth.interfaces.cli.app
    import quoth.interfaces.cli.ask
    import quoth.interfaces.http.app
    import quoth.interfaces.http.server.run  # noqa: F401
    from quoth.pipeline.add import LANGUAGES
    from quoth.query.entity_index import EntityIndex
    from quoth.query.understand import understand
    from quoth.text.analyzer import detect_language

    detect_language("What language is this?", among=LANGUAGES, fallback="en")
    understand("What is honey made from?", names=EntityIndex(languages=("en",)))


if __name__ == "__main__":
    role, place, *given = sys.argv[1:]
    if role == "copy":
        run_copy(place, given)
    elif (told := make_copies(place)) is not None:
        from runpy import run_module

        how, what, *told = told
        sys.argv = [what if how == "-m" else how, *told]
        if how == "-c":
            exec(what, {"__name__": "__main__"})
        else:
            run_module(what, run_name="__main__")

"""A command in a process of its own at a terminal, as somebody sits before it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE_S = 60


class Terminal:
    """Runs quoth with a terminal of 80 columns in place of files; ``seen`` is what it shows."""

    def __init__(self, home: Path, *words: str, **variables: str) -> None:
        self.seen = ""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        named = {"QUOTH_HOME": str(home), "QUOTH_EMBEDDER": "fake", "TERM": "xterm-256color"}
        environment = {**os.environ, **named, **variables}
        environment.pop("COLUMNS", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "quoth", *words],
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    async def until(self, words: str) -> str:
        """Wait until the screen shows the words behind what was waited for; gives what came."""
        begun = len(self.seen)
        async with asyncio.timeout(PATIENCE_S):
            while words not in self.seen[begun:]:
                self.seen += await self._more()
        return self.seen[begun:]

    def enter(self, words: str) -> None:
        """Type words; an entered line ends with a line break."""
        os.write(self._ours, words.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    async def end(self) -> int:
        """Wait for the end; gives the exit code."""
        async with asyncio.timeout(PATIENCE_S):
            while piece := await self._more(last=True):
                self.seen += piece
            return await asyncio.to_thread(self._process.wait)

    async def _more(self, *, last: bool = False) -> str:
        try:
            return (await asyncio.to_thread(os.read, self._ours, 65536)).decode(errors="replace")
        except OSError:  # the other side is closed
            if last:
                return ""
            raise AssertionError(f"It ended too early:\n{self.seen}") from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)

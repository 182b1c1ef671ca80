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
        self._at = 0
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
        begun = self._at
        async with asyncio.timeout(PATIENCE_S), self._news:
            while (found := self.seen.find(words, begun)) < 0:
                if self._reading.done():
                    raise AssertionError(f"It ended too early:\n{self.seen}")
                await self._news.wait()
        self._at = found + len(words)
        return self.seen[begun : self._at]

    def enter(self, words: str) -> None:
        """Type words; an entered line ends with a line break."""
        os.write(self._ours, words.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    async def end(self) -> int:
        """Wait for the end; gives the exit code."""
        async with asyncio.timeout(PATIENCE_S):
            await self._reading
            return await asyncio.to_thread(self._process.wait)

    async def _read(self) -> None:
        """Read all the time: a program waits for its terminal to take what it wrote."""
        piece = b" "
        while piece:
            try:
                piece = await asyncio.to_thread(os.read, self._ours, 65536)
            except OSError:  # the other side is closed
                piece = b""
            async with self._news:
                self.seen += piece.decode(errors="replace")
                self._news.notify_all()

    async def __aenter__(self) -> Self:
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())
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
        await self._reading
        os.close(self._ours)

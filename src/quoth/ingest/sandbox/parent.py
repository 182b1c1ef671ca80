"""Read files in child processes with limits on time and memory.

An untrusted file may crash its parser, loop for ever or exhaust the memory. So it is read in a
separate process: a fresh interpreter without inherited files and environment, in
its own session, with limits on processor time, address space, file size and core files where the
platform has them, without a network where the system lets it, and with a limit on the clock
everywhere. What it read comes back as JSON and is
rebuilt field by field; nothing it sends is executed.

A child exits when its standard input closes, so none outlives its parent, even if killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, get_args

from quoth.core.errors import ConfigError, DocumentCode, DocumentError
from quoth.core.page_images import PictureShape
from quoth.core.types import Json, ParsedDocument
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.ingest.readers.page_links import PageLinks
from quoth.ingest.readers.pdf.page_marks import MarkedLine, PageMarks
from quoth.ingest.sandbox.child import LENGTH, address_space_mb
from quoth.text.json_codec import decode_json

_START_SECONDS = 60
_WALL_PER_CPU = 4
_WATCH_SECONDS = 0.02
_MAX_GREETING = 1 << 16

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ParseResult(Generic[T]):
    """What a child made of one file, or why it could not, with time and memory used.

    ``seconds`` is wall time; ``peak_mb`` is the highest resident memory of the child so far,
    None when the child died or the platform does not report it.
    """

    made: T | None
    problem: DocumentError | None
    seconds: float
    peak_mb: float | None


class ParserPool:
    """Pool of parser processes, so that small files do not each pay for a process start.

    Each child reads one file at a time; it is replaced after a failure that may have left it in a
    bad state, and after `files_per_child` files. ``seconds`` limits the processor time of a file,
    and four times as much its wall time; ``memory_mb`` limits the memory of a file on top of the
    idle child. Use it in one event loop, as an async context manager, or `close` it.
    """

    def __init__(
        self, *, seconds: float, memory_mb: int, workers: int = 1, files_per_child: int = 100
    ) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._files_per_child = files_per_child
        self._places = asyncio.Semaphore(workers)
        self._idle: list[_Child] = []
        self.offline: bool | None = None
        """Whether children have no network; None until the first has started."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End all children."""
        while self._idle:
            await self._idle.pop().end()

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        """Read a file as `quoth.ingest.readers.registry.read` does.

        Raises DocumentError: those of the parser, and ``parser_timeout``, ``parser_memory``, or
        ``damaged`` when the parser broke down over the file.
        """
        return await self.run("read", path, decode=_decode_reading, given=asdict(given))

    async def outcome(self, path: Path) -> ParseResult[ParsedDocument]:
        """Read a file; return the result with its cost, also where the file cannot be read."""
        return await self._run(path, _decode_reading, {"task": "read", "given": asdict(EMPTY)})

    async def links(self, path: Path, address: str) -> PageLinks:
        """Read the links of a page or a sitemap; raises DocumentError as `read` does."""

        def decode(answer: Json) -> PageLinks:
            return decode_json(PageLinks, answer["links"])

        return await self.run("links", path, decode=decode, address=address)

    async def run(self, task: str, path: Path, *, decode: Callable[[Json], T], **details: Any) -> T:
        """Return what a task of `quoth.ingest.sandbox.child` makes of a file.

        ``decode`` reads it from the child's answer; raises DocumentError as `read` does.
        """
        done = await self._run(path, decode, {"task": task, **details})
        if done.made is None:
            raise done.problem or DocumentError("damaged", f"{path.name} could not be read.")
        return done.made

    async def _run(self, path: Path, decode: Callable[[Json], T], task: Json) -> ParseResult[T]:
        request: Json = {
            **task,
            "path": os.path.join(os.getcwd(), path),  # the child works elsewhere
            "seconds": self._seconds,
            "memory_mb": self._memory_mb,
        }
        async with self._places:
            child = self._idle.pop() if self._idle else await _Child.start()
            self.offline = child.offline
            try:
                outcome, sound = await child.ask(request, name=path.name, decode=decode)
            except BaseException:
                await child.kill()
                raise
            if sound and child.files < self._files_per_child:
                self._idle.append(child)
            elif sound:
                await child.end()
            else:
                await child.kill()
            return outcome


def _decode_reading(answer: Json) -> ParsedDocument:
    return decode_json(ParsedDocument, answer["reading"])


# --- the parent's side ------------------------------------------------------------------------


class _Child:
    """Handle of one child process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._bare_mb = 0.0
        self._largest_mb = 0.0
        self.offline = False
        self.files = 0

    @classmethod
    async def start(cls) -> _Child:
        """Start a child and wait until it has loaded the parsers; raises ConfigError."""
        child = cls(await start_process("quoth.ingest.sandbox.child"))
        try:
            async with asyncio.timeout(_START_SECONDS):
                greeting = await child._receive(limit=_MAX_GREETING)
        except (asyncio.IncompleteReadError, TimeoutError, ValueError):
            greeting = {}
        except BaseException:
            await child.kill()
            raise
        if not greeting.get("ready"):
            await child.kill()
            raise ConfigError(
                "The process that reads documents does not start"
                f" ({greeting.get('message', 'no reason given')}); check the installation."
            )
        child._bare_mb = float(greeting["bare_mb"])
        child.offline = bool(greeting.get("offline"))
        return child

    async def ask(
        self, request: Json, *, name: str, decode: Callable[[Json], T]
    ) -> tuple[ParseResult[T], bool]:
        """Return the outcome for a file, and whether the child can read another one."""
        self.files += 1
        began = time.perf_counter()
        stdin = self._process.stdin
        assert stdin is not None
        answer: Json = {}
        watch = asyncio.create_task(self._watch())
        try:
            async with asyncio.timeout(_WALL_PER_CPU * request["seconds"]):
                stdin.write(json.dumps(request).encode() + b"\n")
                await stdin.drain()
                answer = await self._receive(limit=request["memory_mb"] << 20)
            made: T | None = None
            problem: DocumentError | None = None
            if "code" in answer:
                problem = _refusal(answer, name=name, request=request)
            else:
                made = await asyncio.to_thread(decode, answer)
            sound = bool(answer.get("sound"))
        except TimeoutError:
            await self.kill()
            made, problem, sound = None, _too_slow(name, request["seconds"]), False
        except (asyncio.IncompleteReadError, ConnectionError):
            made, problem, sound = None, await self._exit_reason(request, name=name), False
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            await self.kill()
            made, problem, sound = None, _crash_error(name, "an answer without sense"), False
        finally:
            watch.cancel()
        peak = answer.get("peak_mb")
        peak_mb = float(peak) if isinstance(peak, int | float) else None
        return ParseResult(made, problem, time.perf_counter() - began, peak_mb), sound

    async def _watch(self) -> None:
        """Record the child's memory: a failed allocation looks like any other crash."""
        while True:
            self._largest_mb = max(self._largest_mb, address_space_mb(self._process.pid))
            await asyncio.sleep(_WATCH_SECONDS)

    async def _receive(self, *, limit: int) -> Json:
        stdout = self._process.stdout
        assert stdout is not None
        (length,) = LENGTH.unpack(await stdout.readexactly(LENGTH.size))
        if length > limit:
            return {"code": "parser_memory"}
        answer = await asyncio.to_thread(json.loads, await stdout.readexactly(length))
        if not isinstance(answer, dict):
            raise TypeError("an answer is an object")
        return answer

    async def _exit_reason(self, request: Json, *, name: str) -> DocumentError:
        """Return why a child died, from its exit status."""
        code = await self._process.wait()
        if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
            return _too_slow(name, request["seconds"])
        if hasattr(signal, "SIGKILL") and code == -signal.SIGKILL:
            return _too_large(name, request["memory_mb"])
        if self._largest_mb - self._bare_mb > 0.5 * request["memory_mb"]:
            return _too_large(name, request["memory_mb"])
        reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return _crash_error(name, reason)

    async def end(self) -> None:
        """Close the child's input, which makes it exit."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """Kill the child and its descendants."""
        kill_group(self._process)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()


async def start_process(module: str) -> asyncio.subprocess.Process:
    """Run a module in a fresh interpreter, without the environment of its parent."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-B", "-P", "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        cwd=Path(sys.executable).anchor,
        env=_bare_environment(),
    )


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a child that leads a process group, and its descendants."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _bare_environment() -> dict[str, str]:
    """Return a child what it needs to find packages and programs, and no secret of its parent."""
    environment = {
        "PATH": os.pathsep.join(os.get_exec_path()),
        "PYTHONPATH": os.pathsep.join(sys.path[:]),
        "PYTHONUTF8": "1",
    }
    if sys.platform == "win32":
        environment["SYSTEMROOT"] = r"C:\Windows"
    return environment


def _too_slow(name: str, seconds: float) -> DocumentError:
    return DocumentError(
        "parser_timeout",
        f"{name} took longer than the {seconds:g} s that a file may take to read; "
        "raise the setting parser_seconds or split the file.",
    )


def _too_large(name: str, memory_mb: int) -> DocumentError:
    return DocumentError(
        "parser_memory",
        f"{name} needs more than the {memory_mb} MB that a file may take to read; "
        "raise the setting parser_memory_mb or split the file.",
    )


def _crash_error(name: str, reason: str) -> DocumentError:
    return DocumentError(
        "damaged", f"{name} is damaged: the parser broke down over it ({reason}); repair the file."
    )


def _refusal(answer: Json, *, name: str, request: Json) -> DocumentError:
    code = answer["code"]
    if code == "parser_memory":
        return _too_large(name, request["memory_mb"])
    if code not in get_args(DocumentCode):
        return _crash_error(name, str(answer["message"])[:500])
    return DocumentError(code, str(answer["message"]))


PAGE_SECONDS = 10.0
PAGE_MEMORY_MB = 1024
"""What one page may take, in processor time and memory."""


class PdfPages:
    """Draws and marks pages in processes of its own, so that none waits for a file being read.

    Each method raises DocumentError as `ParserPool.read` does.
    """

    def __init__(self, *, workers: int = 1) -> None:
        self._pool = ParserPool(
            seconds=PAGE_SECONDS, memory_mb=PAGE_MEMORY_MB, workers=workers, files_per_child=500
        )

    async def draw(self, path: Path, *, page: int, width: int) -> bytes:
        """Return a page, counted from 1, as PNG of this width in pixels."""
        return await self._pool.run("draw", path, decode=_png, page=page, width=width)

    async def pixels(self, path: Path, *, page: int, shape: PictureShape) -> bytes:
        """Return a page's pixels in a shape, a byte each of red, green and blue."""

        def decode(answer: Json) -> bytes:
            found = b64decode(answer["pixels"], validate=True)
            if len(found) != 3 * shape.width * shape.height:
                raise ValueError("another number of pixels than was asked for")
            return found

        sent = asdict(shape)
        return await self._pool.run("pixels", path, decode=decode, page=page, shape=sent)

    async def mark(self, path: Path, lines: Sequence[MarkedLine]) -> list[PageMarks]:
        """Return the marks of lines, by page."""
        sent = [asdict(line) for line in lines]
        return await self._pool.run("mark", path, decode=_marks, lines=sent)

    async def close(self) -> None:
        """End the processes."""
        await self._pool.close()


def _png(answer: Json) -> bytes:
    return b64decode(answer["png"], validate=True)


def _marks(answer: Json) -> list[PageMarks]:
    return [decode_json(PageMarks, page) for page in answer["pages"]]

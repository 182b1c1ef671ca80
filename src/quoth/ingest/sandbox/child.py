"""Sandboxed parser process: reads files one at a time, within limits (see `sandbox`).

Started with ``python -m quoth.ingest.sandbox.child``. Requests come as lines of JSON on standard
input; answers go back as JSON prefixed with their length, on what was standard output at the
start (a library that prints cannot disturb them). When the input ends, so does the process, even
in the middle of a file.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import queue
import struct
import sys
import threading
from base64 import b64encode
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import IO, Any

from quoth.core.errors import DocumentError
from quoth.core.types import Json
from quoth.text.json_codec import decode_json, to_json

resource: Any
try:
    import resource
except ImportError:  # Windows has no such limits; the parent's timeout still ends this process.
    resource = None


LENGTH = struct.Struct(">Q")
"""Precedes each answer: its length in bytes."""
OCR_SHARE = 3
"""Wall time for the recognition of a file's scanned pages, in its limits of processor time."""
_NEW_NETWORK = 0x4000_0000
_NEW_USERS = 0x1000_0000
"""Flags of Linux's unshare."""


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.excepthook = partial(_report, answers)
    offline = leave_network()  # before there is a second thread, after which it is not allowed
    # Parsers are loaded before the limits.
    from quoth.ingest.readers import neighbours, registry, spoken_markdown, text  # noqa: F401

    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    bare_mb = address_space_mb()
    send(answers, {"ready": True, "bare_mb": bare_mb, "offline": offline})
    while True:
        request = json.loads(requests.get())
        limit(seconds=request["seconds"], memory_mb=bare_mb + request["memory_mb"])
        try:
            answer = respond(request)
            peak_mb = _peak_mb()
            send(answers, {**answer, "peak_mb": peak_mb, "sound": True})
        except MemoryError:
            send(answers, {"code": "parser_memory", "sound": False})


def respond(request: Json) -> Json:
    """Do what a request names with its file; that a document cannot be read is an answer, too."""
    task = TASKS[request.get("task", "read")]
    try:
        return task(Path(request["path"]), request)
    except DocumentError as error:
        return {"code": error.code, "message": str(error)}


def _read(path: Path, request: Json) -> Json:
    """Parse the file."""
    from quoth.ingest.readers.metadata import Metadata
    from quoth.ingest.readers.registry import read

    given = Metadata(**request["given"])
    return {"reading": to_json(read(path, given, ocr_seconds=OCR_SHARE * request["seconds"]))}


def _draw(path: Path, request: Json) -> Json:
    """Draw a page of the file as PNG."""
    from quoth.ingest.readers.pdf.page_image import draw_page

    drawn = draw_page(path, page=request["page"], width=request["width"])
    return {"png": b64encode(drawn).decode()}


def _pixels(path: Path, request: Json) -> Json:
    """Draw a page of the file in the shape that a model wants."""
    from quoth.core.page_images import PictureShape
    from quoth.ingest.readers.pdf.page_image import draw_pixels

    shape = decode_json(PictureShape, request["shape"])
    drawn = draw_pixels(path, page=request["page"], shape=shape)
    return {"pixels": b64encode(drawn).decode()}


def _mark(path: Path, request: Json) -> Json:
    """Find the glyphs of lines of the file."""
    from quoth.ingest.readers.pdf.marks import mark_lines
    from quoth.ingest.readers.pdf.page_marks import MarkedLine

    lines = [decode_json(MarkedLine, line) for line in request["lines"]]
    return {"pages": [to_json(page) for page in mark_lines(path, lines)]}


def _links(path: Path, request: Json) -> Json:
    """Read the links of a page or a sitemap."""
    from quoth.ingest.readers.links import page_links

    return {"links": to_json(page_links(path, address=request["address"]))}


def _transcribe(path: Path, request: Json) -> Json:
    """Transcribe a stretch of a recording, by the module that the parent names."""
    answer: Json = import_module(request["module"]).transcribe_stretch(path, request)
    return answer


TASKS = {
    "read": _read,
    "draw": _draw,
    "pixels": _pixels,
    "mark": _mark,
    "links": _links,
    "transcribe": _transcribe,
}


def send(answers: IO[bytes], answer: Json) -> None:
    """Write one answer; text that is not Unicode (a lone surrogate) is an error here."""
    data = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    answers.write(LENGTH.pack(len(data)) + data)
    answers.flush()


def limit(*, seconds: float, memory_mb: float) -> None:
    """Set the resource limits of this process.

    Processor time is counted from the start of a process, so its limit moves with every file.
    Files cannot be written, and a crash leaves no core file.
    """
    if resource is None:
        return
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_AS, int(memory_mb * (1 << 20)))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, math.ceil(usage.ru_utime + usage.ru_stime + seconds))


def leave_network() -> bool:
    """Enter a namespace without network, loopback included; return False where impossible.

    Linux allows it to privileged processes, and to others in their own user namespace unless the
    operator disabled that.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):
        return False
    return any(unshare(flags) == 0 for flags in (_NEW_NETWORK, _NEW_NETWORK | _NEW_USERS))


def _lower(kind: int, value: int) -> None:
    """Set the soft limit, below the hard one that this process was born with."""
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, hard))


def _listen(source: IO[bytes], requests: queue.SimpleQueue[bytes]) -> None:
    for line in source:
        requests.put(line)
    os._exit(0)


def _report(
    answers: IO[bytes], kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Report the parent which error ends this process, in place of a traceback, and end it."""
    where = ""
    for frame, _line in walk_tb(trace):
        where = f" in {Path(frame.f_code.co_filename).name}, {frame.f_code.co_name}"
    message = f"{kind.__name__}{where}: {error}"[:400].encode(errors="replace").decode()
    send(answers, {"code": "crash", "message": message, "sound": False})
    os._exit(1)


def address_space_mb(process: int | str = "self") -> float:
    """Return the address space of a process in MB; 0 where the system does not report it."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[0])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _peak_mb() -> float | None:
    """Return the peak resident memory so far in MB. The kernel's counter survives exec, so on Linux
    only the address space is reliable.
    """
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / (1 << 10)
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


if __name__ == "__main__":
    main()

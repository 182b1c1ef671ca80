"""Process that recognises live speech: sound in, sentences out, nothing written anywhere.

Started with ``python -m quoth.ingest.sandbox.listen``. The first line of standard input is the
request of `SpeechProcess.start` as JSON; what follows is PCM (16 bits, mono) until the end, unless
the request names a file. Answers are JSON prefixed with their length, as in
`quoth.ingest.sandbox.child`: segments, and the states of `quoth.core.lecture.SpeechState`. Sound is
taken as it comes, however slow recognition is, and the process cannot write files.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from quoth.core.errors import QuothError
from quoth.core.types import Json
from quoth.ingest.sandbox.child import address_space_mb, leave_network, limit, send

BLOCK = 3200
TICK_S = 0.2
LAG_S = 10.0
"""Seconds of waiting sound from which the smaller weights are taken."""
CAUGHT_UP_S = 2.0
MAX_WAITING_S = 60.0
"""Seconds of waiting sound beyond which the oldest is left out."""
MAX_HELD_S = 600.0
SILENT_S = 600.0
"""Seconds without speech after which that is said."""
FILE_AHEAD_S = 5.0
DAY_S = 86_400.0


class SoundQueue:
    """PCM that waits to be recognised; the only part that two threads share."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.closed = False
        self.error: QuothError | None = None
        self._blocks: deque[bytes] = deque()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """Return the seconds of sound that wait."""
        return self._bytes / 2 / self.rate

    def put(self, block: bytes) -> None:
        """Add sound; returns at once. More than can be spoken meanwhile is left out."""
        if self.seconds > MAX_HELD_S:
            return
        with self._lock:
            self._blocks.append(block)
            self._bytes += len(block)

    def take(self) -> bytes:
        """Return all sound that waits."""
        with self._lock:
            blocks, self._blocks, self._bytes = self._blocks, deque(), 0
        return b"".join(blocks)

    def leave_out(self, *, keep_s: float) -> float:
        """Leave out the oldest sound; return how many seconds."""
        before = self.seconds
        with self._lock:
            while self._blocks and self.seconds > keep_s:
                self._bytes -= len(self._blocks.popleft())
        return before - self.seconds


class Listener:
    """Recognises what is in a queue until it is closed; ``say`` sends an answer."""

    def __init__(self, request: Json, queue: SoundQueue, say: Callable[[Json], None]) -> None:
        self._request = request
        self._queue = queue
        self._say = say
        self._parts: Any = import_module(request["module"])
        self._folders = list(request["folders"])
        self._english: str | None = request["english"]
        self._state = "starting"
        self._lagging = False

    def run(self) -> None:
        """Recognise until the sound ends; raises QuothError."""
        request = self._request
        self._take_english(request["language"])
        recogniser = self._open_next()
        speech = self._parts.start_transcription(
            recogniser, language=request["language"], start=request["start"]
        )
        resample = self._parts.Resampler(self._queue.rate)
        self._tell("listening", recogniser.name)
        rested = 0.0  # provisional work takes half of the time at most, so that pauses are noticed
        while True:
            ended = self._queue.closed
            if self._queue.seconds > MAX_WAITING_S and not request["file"]:
                speech.skip(self._queue.leave_out(keep_s=LAG_S))
            waited = self._queue.seconds
            speech.recogniser = self._keep_up(speech.recogniser, waited)
            sound = resample(self._queue.take())
            began = time.monotonic()
            provisional = waited < CAUGHT_UP_S and began >= rested
            self._send(speech.add(sound, provisional=provisional), request["name"])
            rested = max(rested, 2 * time.monotonic() - began)
            if self._take_english(speech.language):
                speech.recogniser = self._open_next()
                self._tell(self._state, speech.recogniser.name)
            self._notice_silence(speech)
            if ended:
                break
            time.sleep(max(0.0, TICK_S - self._queue.seconds))
        self._send(speech.close(), request["name"])
        if self._queue.error is not None:
            raise self._queue.error

    def _open_next(self) -> Any:
        folder = Path(self._folders.pop(0))
        return self._parts.open_recogniser(folder, threads=self._request["threads"])

    def _take_english(self, language: str | None) -> bool:
        """Put the weights for English in place of all others, once that is the language."""
        if language != "en" or self._english is None:
            return False
        self._folders, self._english = [self._english], None
        return True

    def _keep_up(self, recogniser: Any, waited: float) -> Any:
        """Take the smaller weights where recognition lags, once; say both ends of a lag."""
        if self._request["file"]:
            return recogniser
        if waited >= LAG_S and not self._lagging:
            self._lagging = True
            if self._folders:
                recogniser = self._open_next()
            self._tell("lagging", recogniser.name, lag_s=round(waited, 1))
        elif waited <= CAUGHT_UP_S and self._lagging:
            self._lagging = False
            self._tell("listening", recogniser.name)
        return recogniser

    def _notice_silence(self, speech: Any) -> None:
        silent = speech.end - speech.heard_at >= SILENT_S
        if silent and self._state == "listening":
            self._tell("silent", speech.recogniser.name)
        elif not silent and self._state == "silent":
            self._tell("listening", speech.recogniser.name)

    def _tell(self, state: str, model: str, *, lag_s: float = 0.0) -> None:
        self._state = state
        self._say({"state": state, "model": model, "lag_s": lag_s})

    def _send(self, utterances: list[Any], name: str) -> None:
        for each in utterances:
            self._say(
                {
                    "segment_id": f"{name}-{each.number:06}",
                    "revision": each.revision,
                    "start": round(each.start, 2),
                    "end": round(each.end, 2),
                    "text": each.text,
                    "final": each.final,
                    "language": each.language,
                }
            )


def read_pipe(source: IO[bytes], queue: SoundQueue) -> None:
    """Take PCM from a pipe until it is closed."""
    rest = b""
    while block := source.read1(BLOCK):  # type: ignore[attr-defined]
        whole = rest + block
        cut = len(whole) - len(whole) % 2
        queue.put(whole[:cut])
        rest = whole[cut:]
    queue.closed = True


def read_file(path: Path, queue: SoundQueue, *, module: Any, speed: float) -> None:
    """Take the sound of a file as fast as it would be heard, and never ahead of recognition."""
    began, played = time.monotonic(), 0.0
    try:
        for block in module.sound_blocks(path):
            queue.put(block)
            played += len(block) / 2 / queue.rate
            while played > (time.monotonic() - began) * speed or queue.seconds > FILE_AHEAD_S:
                time.sleep(0.02)
    except QuothError as error:
        queue.error = error
    queue.closed = True


def main() -> None:
    """Answer one request until its sound ends."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    leave_network()  # before there is a second thread, after which it is not allowed
    request: Json = json.loads(sys.stdin.buffer.readline())
    limit(seconds=DAY_S, memory_mb=address_space_mb() + request["memory_mb"])
    queue = SoundQueue(request["rate"])
    try:
        if request["file"]:
            module = import_module(request["module"])
            work: Any = (Path(request["file"]), queue)
            how = {"module": module, "speed": request["speed"]}
            threading.Thread(target=read_file, args=work, kwargs=how, daemon=True).start()
            threading.Thread(target=_end_with_parent, args=(sys.stdin.buffer,), daemon=True).start()
        else:
            pipe = (sys.stdin.buffer, queue)
            threading.Thread(target=read_pipe, args=pipe, daemon=True).start()
        Listener(request, queue, lambda answer: send(answers, answer)).run()
    except QuothError as error:
        send(answers, {"state": "failed", "message": str(error)})
    except MemoryError:
        message = "Speech recognition needs more memory than the setting speech_memory_mb allows."
        send(answers, {"state": "failed", "message": message})
    os._exit(0)  # threads that wait for sound end with the process


def _end_with_parent(source: IO[bytes]) -> None:
    source.read()
    os._exit(0)


if __name__ == "__main__":
    main()

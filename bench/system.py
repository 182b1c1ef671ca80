"""What a system under test is, and the values it works with.

A system is a module of `bench.systems` with two plain functions:

    build(corpus, *, folder)          index the corpus; leave everything in `folder`
    load(folder, *, tools)            open what `build` left; give the function that answers

The answering function is called from many threads at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from bench.corpus import Corpus

P = ParamSpec("P")
T = TypeVar("T")

CANDIDATES = 50
"""Chunks that each leg gives to the fusion."""
CONTEXT_WORDS = 3000
"""Words that fit into a context of about 4,000 tokens."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk with its text."""

    chunk_id: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a system gives for a question: the ranked chunks and the context for a generator."""

    hits: tuple[Hit, ...]
    context: str


Retrieve = Callable[[str, int], Found]


class Stages:
    """Times the parts of single-client queries; does nothing until it is switched on."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.on = False

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time the block under this name."""
        if not self.on:
            yield
            return
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, seconds=time.perf_counter() - began)

    def timing(self, name: str, *, call: Callable[P, T]) -> Callable[P, T]:
        """Wrap a function of a library that offers no hook, so that its calls are timed."""

        @wraps(call)
        def timed(*given: P.args, **named: P.kwargs) -> T:
            with self(name):
                return call(*given, **named)

        return timed

    def add(self, name: str, *, seconds: float) -> None:
        """Note a time that was measured elsewhere."""
        if self.on:
            self.seconds.setdefault(name, []).append(seconds)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a system is handed: the folder of the shared model, and the clock of its stages."""

    model: Path
    stages: Stages


class System(Protocol):
    """The two functions of a system's module."""

    def build(self, corpus: Corpus, *, folder: Path) -> None:
        """Index the corpus and leave everything in `folder`, which does not exist yet."""
        ...

    def load(self, folder: Path, *, tools: Tools) -> Retrieve:
        """Open what `build` left and give the function that answers."""
        ...


def found(hits: Sequence[Hit]) -> Found:
    """Set a context out of numbered sources, best first, until it is full."""
    parts: list[str] = []
    words = 0
    for number, hit in enumerate(hits, start=1):
        words += len(hit.text.split())
        if words > CONTEXT_WORDS:
            break
        parts.append(f"[Source {number} | {hit.chunk_id}]\n{hit.text}")
    return Found(hits=tuple(hits), context="\n\n---\n\n".join(parts))

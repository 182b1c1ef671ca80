"""Count the files, functions and stack depth of quoth in one cold ``quoth ask``.

Prints one JSON line. Without ``--home`` a small library is made of ``examples/hf-course`` in a
temporary folder. Class bodies, comprehensions and module bodies are not counted.

    python scripts/trace_calls.py [--home FOLDER] [--list] [QUESTION]
"""

from __future__ import annotations

import argparse
import inspect
import io
import json
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from contextlib import redirect_stdout
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = f"{ROOT}/src/quoth/"
QUESTION = "What does a tokenizer do?"


class CallCounter:
    """A profile function that records the functions of quoth that are called."""

    def __init__(self) -> None:
        self.functions: dict[str, set[str]] = defaultdict(set)
        self.deepest: list[str] = []

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Record one call."""
        code = frame.f_code
        if event != "call" or not is_function(code):
            return
        self.functions[code.co_filename.removeprefix(PACKAGE)].add(code.co_qualname)
        stack = []
        caller: FrameType | None = frame
        while caller is not None:
            if is_function(caller.f_code):
                stack.append(name_of(caller.f_code))
            caller = caller.f_back
        if len(stack) > len(self.deepest):
            self.deepest = stack[::-1]


def is_function(code: CodeType) -> bool:
    """Return whether a code object is a function of quoth, lambdas included."""
    return (
        code.co_filename.startswith(PACKAGE)
        and bool(code.co_flags & inspect.CO_NEWLOCALS)
        and (not code.co_name.startswith("<") or code.co_name == "<lambda>")
    )


def name_of(code: CodeType) -> str:
    """Return the place and name of a function."""
    return f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_firstlineno} {code.co_qualname}"


def count_calls(home: str, question: str) -> CallCounter:
    """Run ``quoth ask`` in this process, which must not have imported quoth before."""
    sys.path.insert(0, str(ROOT / "src"))
    counter = CallCounter()
    threading.setprofile(counter)
    sys.setprofile(counter)
    try:
        from quoth.interfaces.cli.app import main

        sys.argv = ["quoth", "--home", home, "--quiet", "ask", question]
        with redirect_stdout(io.StringIO()):
            main()
    except SystemExit as finished:
        if finished.code:
            raise
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counter


def make_home(home: str) -> None:
    """Add the sample collection to a new home."""
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import quoth.__main__"
    main = f"{program}; quoth.__main__.main()"
    sample = str(ROOT / "examples" / "hf-course")
    subprocess.run([sys.executable, "-c", main, "--home", home, "--quiet", "add", sample],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="?", default=QUESTION)
    parser.add_argument("--home", help="a home folder that holds documents")
    parser.add_argument("--list", action="store_true", help="print files, functions and stack")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if options.home is None:
            make_home(temporary)
        counter = count_calls(options.home or temporary, options.question)
    if options.list:
        for file, names in sorted(counter.functions.items()):
            print(f"{len(names):4} {file}: {', '.join(sorted(names))}")
        print("deepest stack:", *counter.deepest, sep="\n  ")
    counts = {
        "files": len(counter.functions),
        "functions": sum(map(len, counter.functions.values())),
        "depth": len(counter.deepest),
    }
    print(json.dumps(counts))


if __name__ == "__main__":
    main()

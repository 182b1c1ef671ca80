"""The demonstration: adds the sample collection and asks it three questions.

Everything here is an ordinary quoth command, shown before it runs.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".demo"
QUOTH = Path(sys.executable).with_name("quoth")

QUESTIONS = (
    "In the book, what are the three main steps of a pipeline?",
    "What is transfer learning?",
    "Quels sont les trois types de modèles transformers ?",
)


def run(*words: str) -> None:
    """Show a command, run it, and stop here if it fails."""
    sys.stdout.write(f"\n$ quoth {shlex.join(words)}\n")
    sys.stdout.flush()
    done = subprocess.run([QUOTH, *words], env={**os.environ, "QUOTH_HOME": str(HOME)}, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    """Add the samples, ask, and say how to go on."""
    run("add", *(str(Path("examples") / "hf-course" / part) for part in ("books", "talks")))
    for question in QUESTIONS:
        run("ask", question)
    sys.stdout.write(
        f"\nGo on with your own questions and files:\n"
        f"  export QUOTH_HOME={shlex.quote(str(HOME))}\n"
        f'  .venv/bin/quoth ask "Which tasks can the pipeline function do?"\n'
        f"  .venv/bin/quoth add ~/Documents/some-book.pdf\n"
        f"  .venv/bin/quoth list\n"
    )


if __name__ == "__main__":
    os.chdir(ROOT)
    main()

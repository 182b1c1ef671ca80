"""Makes the peers' virtual environment, once per list of requirements."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from bench.home import Home

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


class SetUpError(Exception):
    """Something that the bench needs could not be made; the message says what and the way out."""


def make_environment(home: Home, *, say: Callable[[str], None]) -> None:
    """Install the pinned peers where that has not been done; raises SetUpError."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    done = home.peers / "requirements.sha256"
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return
    say(f"installing the peers into {home.peers} (once; about 1.3 GB)")
    venv.create(home.peers, clear=True, with_pip=True)
    finished = subprocess.run(
        [str(home.peers / "bin" / "python"), "-m", "pip", "install", "-q", "-r", str(REQUIREMENTS)],
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise SetUpError(
            f"pip could not install {REQUIREMENTS}; it says: {finished.stderr.strip()[-600:]}\n"
            "Run the bench with --systems quoth to do without the peers."
        )
    done.write_text(wanted, encoding="utf-8")

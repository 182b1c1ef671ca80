"""Logs of the command line: lines for people on stderr, set up when there is one to write.

What sets them up takes a tenth of a second to load, which a command without trouble never needs.
"""

from __future__ import annotations

import logging

HANDLER = "quoth"
"""The name of the handler whose place `begin_telling` takes."""


class DeferredStderr(logging.Handler):
    """Sets up the logs at the first line that is to be written, and writes it there."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        from quoth.operations.logging import configure_logging

        configure_logging(as_json=False, level=logging.WARNING).handle(record)


def tell_late() -> None:
    """Let warnings and errors of this process go to stderr, safe to read and without keys."""
    root = logging.getLogger()
    if not root.handlers:
        late = DeferredStderr(logging.WARNING)
        late.set_name(HANDLER)
        root.addHandler(late)

"""What the parts log while a command runs goes to a file in the home: stderr is for the person.

The file is opened by the first thing that is logged, so that a command that only looks leaves no trace.
"""

import logging
import os
from io import TextIOWrapper
from pathlib import Path

from backstory.atomic import make_private_dir
from backstory.paths import Home

_LARGEST = 1_000_000


class _LogFile(logging.FileHandler):
    """Owner-only, opened late, of bounded size; a log that cannot be written is let go."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        make_private_dir(path.parent)
        if path.exists() and path.stat().st_size > _LARGEST:
            path.replace(path.with_name(path.name + ".1"))
        return open(path, "a", encoding="utf-8", errors="replace", opener=_private)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Stay silent: the command goes on."""


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)  # nor does it wait for a pipe


def to_file(home: Home) -> Path:
    """Send what is logged to the home's log of commands; gives its path."""
    path = home.logs / "cli.log"
    logger = logging.getLogger("backstory")
    if not any(isinstance(h, _LogFile) and h.baseFilename == str(path) for h in logger.handlers):
        handler = _LogFile(path, delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        for old in logger.handlers:
            old.close()
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
    return path


def keep_traceback(error: BaseException) -> Path | None:
    """Write an unexpected error with all its lines into the log; None if that cannot be done."""
    path = to_file(Home.default())
    logging.getLogger("backstory.cli").error("unexpected", exc_info=error)
    return path if path.exists() else None

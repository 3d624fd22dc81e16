"""What a schedule runs: one quiet import of everything that agents have kept, with low priority and a limit.

Where there is no agent there is nothing to import, and that is a success. A home that was deleted on purpose
is not brought back. What the limit cuts short goes on with the next run.
"""

import contextlib
import os
import signal
import sys

from backstory.app import App
from backstory.capture.importer import ImportOptions
from backstory.capture.schedule_units import LIMIT_MINUTES
from backstory.cli import log_file
from backstory.cli.import_ import current_user
from backstory.cli.output import talk
from backstory.errors import BackstoryError


def main() -> int:
    """Import; gives the exit code."""
    with contextlib.suppress(OSError, AttributeError):  # not on Windows
        os.nice(19)
    if hasattr(signal, "alarm"):
        signal.alarm(LIMIT_MINUTES * 60)
    try:
        with App() as app:
            if not app.home.root.is_dir():
                return 0
            log_file.to_file(app.home)
            tally = app.import_history((), ImportOptions(user=current_user()))
    except BackstoryError as error:
        talk(f"backstory: {error}")
        return error.exit_code
    return 4 if tally.errors else 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether anything waits for a drain, or anybody for the worker's lock; asked often, so it is light."""

import os
import time
from pathlib import Path

from backstory.file_reader import open_file
from backstory.hook import spool
from backstory.paths import Home

# A file without its trailer may still be being written for as long as an agent lets a hook run.
UNFINISHED_SECONDS = 60
# A wish for the lock holds so long: whoever had it may have been killed.
_WANTED_SECONDS = 60


def has_waiting_files(home: Home, notes: bool = True) -> bool:
    """Whether a drain would find something to do: a finished file, one that was given up, or a mark.

    Without `notes` what people asked to remember does not count: it is found where it lies.
    """
    folder = str(home.spool)
    found = (entry for entry in spool.spool_entries(folder) if notes or entry.name.agent != spool.USER)
    return any(_finished(entry) or given_up(entry) for entry in found) or bool(failure_marks(folder))


def lock_is_wanted(home: Home) -> bool:
    """Whether a command waits for the worker's lock."""
    try:
        return time.time() - home.wanted.stat().st_mtime < _WANTED_SECONDS
    except OSError:
        return False


def asked_to_look(home: Home) -> bool:
    """Whether a command waits for jobs that it has asked for; told once."""
    try:
        home.due.unlink()
    except OSError:
        return False
    return True


def _finished(entry: spool.Entry) -> bool:
    try:
        with open_file(Path(entry.path)) as file:
            file.seek(-1, os.SEEK_END)
            return file.read() == spool.TRAILER
    except OSError:  # empty, gone, or not for us
        return False


def given_up(entry: spool.Entry) -> bool:
    """Whether a file is too old to be still being written, or so far ahead that no clock says its age."""
    age = abs(time.time() - entry.mtime_ns / 1e9)
    return age > UNFINISHED_SECONDS and os.access(entry.path, os.R_OK)


def failure_marks(folder: str) -> list[str]:
    """The names of the marks that hooks left about what they could not do."""
    try:
        listed = [entry for entry in os.scandir(folder) if entry.name.endswith(".fail")]
        names = [entry.name for entry in listed if not entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(name for name in names if spool.parse_fail(name))

"""What stands in the way of a database that is in order: a full or read-only disk, lost permissions.

SQLite then says "disk I/O error" or "unable to open database file", as it does of a damaged one. A person
must not be told to repair what only lacks room.
"""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

_FILES = 3  # a log, its index, and what is written next
_ROOM = 512 * 1024  # with less than this SQLite cannot even open a log


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What was found, and what to do about it."""

    found: str
    todo: str

    def __str__(self) -> str:
        return f"{self.found}: {self.todo}"


def find_obstacle(database: Path) -> Obstacle | None:
    """What keeps this user from writing the database, as far as its surroundings tell."""
    home = database.parent
    if not home.exists():
        return None
    if closed := next((path for path in (home, *_beside(database)) if _closed(path)), None):
        return Obstacle(
            f"{closed} cannot be read and written by this user",
            f"run `backstory doctor --fix`, or `chmod u+rwX {shlex.quote(str(closed))}`",
        )
    if not hasattr(os, "statvfs"):
        return None
    disk = os.statvfs(home)
    if disk.f_flag & os.ST_RDONLY:
        return Obstacle(
            f"the home {home} is on a read-only file system", "make it writable, or set BACKSTORY_HOME"
        )
    if disk.f_bavail * disk.f_frsize < _ROOM:
        return Obstacle(
            f"the disk that holds {home} is full",
            "make room on it; what was stored is safe, and what waits is taken in then",
        )
    if disk.f_files and disk.f_favail < _FILES:  # file systems without such a limit say 0
        return Obstacle(
            f"the disk that holds {home} has no room for new files (no inodes are free)",
            "remove files from it; what was stored is safe, and what waits is taken in then",
        )
    return None


def _beside(database: Path) -> list[Path]:
    """The database and the files that SQLite keeps beside it, those that are there."""
    every = (database, *(database.with_name(database.name + end) for end in ("-wal", "-shm")))
    return [path for path in every if os.access(path, os.F_OK)]


def _closed(path: Path) -> bool:
    wanted = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
    if os.access(path, wanted):
        return False
    return not _on_a_read_only_disk(path)  # there nobody may write, whatever the permissions say


def _on_a_read_only_disk(path: Path) -> bool:
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)

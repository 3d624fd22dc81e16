"""Programs on the PATH that may be started: none that a repository or another user could have put there.

`PATH=.:…`, `node_modules/.bin` and a folder that everybody may write to are how a planted `claude` would be
found. Only absolute folders outside of the current project, and of those that the caller names, count, and
only while nobody else may write there. What is started gets a PATH of such folders alone: `claude` may be a
script that begins with `#!/usr/bin/env node`, `xdg-open` one that starts others by their names. Nobody else
looks for programs (`tests/security/test_planted_programs.py`).
"""

import contextlib
import itertools
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


def find_program(name: str, folders: Iterable[str] = ()) -> str | None:
    """Where a program lies, None if nowhere that can be trusted; not below the projects of `folders`."""
    avoided = _avoided(folders)
    found = shutil.which(name, path=_path(avoided))
    # On Windows the current folder is looked at first, and a link may lead back into the project.
    if found is None or not Path(found).is_absolute() or _lies_in(found, avoided):
        return None
    return found


def trusted_path(folders: Iterable[str] = ()) -> str:
    """The PATH for a program that is started: what it finds by name can be trusted as it can itself."""
    return _path(_avoided(folders))


def _path(avoided: set[Path]) -> str:
    return os.pathsep.join(each for each in os.get_exec_path() if _is_trusted(each, avoided)) or os.defpath


def _avoided(folders: Iterable[str]) -> set[Path]:
    """The folder that we are in and those, each with the repository around it, but what holds the home."""
    with contextlib.suppress(OSError):  # the current folder may be gone
        folders = [str(Path.cwd()), *folders]
    home = Path(os.path.realpath(Path.home()))
    keep = {home, *home.parents}
    return {each for folder in folders if Path(folder).is_absolute() for each in _around(folder)} - keep


def _around(folder: str) -> Iterator[Path]:
    here = Path(os.path.realpath(folder))
    yield here
    yield from itertools.islice((each for each in (here, *here.parents) if (each / ".git").exists()), 1)


def _is_trusted(folder: str, avoided: set[Path]) -> bool:
    if not Path(folder).is_absolute() or _lies_in(folder, avoided):
        return False
    try:
        about = Path(folder).stat()
    except (OSError, ValueError):
        return False
    return os.name == "nt" or not about.st_mode & stat.S_IWOTH


def _lies_in(path: str, folders: set[Path]) -> bool:
    forms = Path(os.path.realpath(path)), Path(os.path.normpath(path))
    return any(not folders.isdisjoint((each, *each.parents)) for each in forms)
